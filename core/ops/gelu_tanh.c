/* gelu_tanh: y = x (1 + tanh u) / 2 with u = a (x + b x^3), close to x Phi(x).
 * dx += dy ((1 + tanh u) + x (1 - tanh^2 u) a (1 + 3 b x^2)) / 2. */
#include "../kernel.h"
#include "../kern/vmath.h"

static const real a = (real)0.7978845608028654, b = (real)0.044715;      /* a = sqrt(2 / pi) */

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, half = (real)0.5;
    for (size_t i = from; i < to; i++)
        y->data[i] = half * x[i] * (1 + real_tanh(a * (x[i] + b * x[i] * x[i] * x[i])));
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, half = (real)0.5;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++) {
        real th = real_tanh(a * (x[i] + b * x[i] * x[i] * x[i]));
        real du = a * (1 + 3 * b * x[i] * x[i]);
        dx[i] += y->grad[i] * half * (1 + th + x[i] * (1 - th * th) * du);
    }
}

GRA_KERNEL(forward_all, forward, y, y->size, 20)
GRA_KERNEL(backward_all, backward, y, y->size, 24)

gra_tensor *gra_gelu_tanh(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "gelu_tanh", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
