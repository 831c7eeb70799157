/* neg: y = -x, dx -= dy. */
#include "../kernel.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = -x[i];
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] -= y->grad[i];
}

GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_KERNEL(backward_all, backward, y, y->size, 1)

gra_tensor *gra_neg(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "neg", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
