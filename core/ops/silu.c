/* silu: y = x s with s = 1 / (1 + e^-x), dx += dy s (1 + x (1 - s)). */
#include "../kernel.h"
#include "../kern/vmath.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] * real_sigmoid(x[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++) {
        real s = real_sigmoid(x[i]);
        dx[i] += y->grad[i] * s * (1 + x[i] * (1 - s));
    }
}

GRA_KERNEL(forward_all, forward, y, y->size, 12)
GRA_KERNEL(backward_all, backward, y, y->size, 16)

gra_tensor *gra_silu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "silu", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
