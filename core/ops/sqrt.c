/* sqrt: y = x^(1/2), dx += dy / (2 y), which is infinite at 0. */
#include "../kernel.h"
#include "../kern/vmath.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = real_sqrt(x[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] / (2 * y->data[i]);
}

GRA_KERNEL(forward_all, forward, y, y->size, 4)
GRA_KERNEL(backward_all, backward, y, y->size, 4)

gra_tensor *gra_sqrt(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "sqrt", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
