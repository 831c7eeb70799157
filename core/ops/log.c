/* log: y = ln x, dx += dy / x. */
#include "../kernel.h"
#include "../kern/vmath.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = real_log(x[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] / x[i];
}

GRA_KERNEL(forward_all, forward, y, y->size, 8)
GRA_KERNEL(backward_all, backward, y, y->size, 4)

gra_tensor *gra_log(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "log", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
