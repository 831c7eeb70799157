/* tanh: y = tanh(x), dx += dy (1 - y^2). */
#include "../kernel.h"
#include "../kern/vmath.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = real_tanh(x[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] * (1 - y->data[i] * y->data[i]);
}

GRA_KERNEL(forward_all, forward, y, y->size, 16)
GRA_KERNEL(backward_all, backward, y, y->size, 2)

gra_tensor *gra_tanh(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "tanh", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
