/* tanh: y = tanh(x), dx += dy (1 - y^2). With s = sigmoid, 1 - y^2 is computed as 4 s(2x) s(-2x): y may be
 * rounded to 1. */
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
    const real *x = y->in[0]->data;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] * 4 * real_sigmoid(2 * x[i]) * real_sigmoid(-2 * x[i]);
}

GRA_KERNEL(forward_all, forward, y, y->size, 16)
GRA_KERNEL(backward_all, backward, y, y->size, 16)

gra_tensor *gra_tanh(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "tanh", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
