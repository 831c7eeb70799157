/* gelu_tanh: y = x (1 + tanh u) / 2 = x s(2u), with u = a (x + b x^3) and s the sigmoid; close to x Phi(x).
 * dx += dy (s(2u) + 2 x s(2u) s(-2u) du/dx), du/dx = a (1 + 3 b x^2). With s the digits of 1 + tanh u stay
 * where tanh u is near -1. */
#include "../kernel.h"
#include "../kern/vmath.h"

static const real a = (real)0.7978845608028654, b = (real)0.044715;      /* a = sqrt(2 / pi) */

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] * real_sigmoid(2 * a * (x[i] + b * x[i] * x[i] * x[i]));
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++) {
        real v = 2 * a * (x[i] + b * x[i] * x[i] * x[i]), s = real_sigmoid(v);      /* v = 2u */
        real dv = 2 * a * (1 + 3 * b * x[i] * x[i]);
        dx[i] += y->grad[i] * (s + x[i] * s * real_sigmoid(-v) * dv);
    }
}

GRA_KERNEL(forward_all, forward, y, y->size, 20)
GRA_KERNEL(backward_all, backward, y, y->size, 24)

gra_tensor *gra_gelu_tanh(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "gelu_tanh", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
