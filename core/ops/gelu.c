/* gelu: y = x Phi(x), where Phi(x) = (1 + erf(x / sqrt 2)) / 2 is the normal distribution
 * function (Hendrycks & Gimpel 2016). dx += dy (Phi(x) + x phi(x)), phi(x) = e^(-x^2/2) / sqrt(2 pi). */
#include "../kernel.h"
#include "../kern/vmath.h"

static const real sqrt_half = (real)0.7071067811865476, rsqrt_2pi = (real)0.3989422804014327;

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, half = (real)0.5;
    for (size_t i = from; i < to; i++)
        y->data[i] = x[i] * half * (1 + real_erf(x[i] * sqrt_half));
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, half = (real)0.5, tiny = (real)1e-36;
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++) {
        real below = y->data[i] / x[i];                 /* Phi(x) = y / x, faster than erf, */
        below = x[i] * x[i] < tiny ? half : below;      /* but not at 0 */
        real density = rsqrt_2pi * real_exp_below_0(-half * x[i] * x[i]);
        dx[i] += y->grad[i] * (below + x[i] * density);
    }
}

GRA_KERNEL(forward_all, forward, y, y->size, 24)
GRA_KERNEL(backward_all, backward, y, y->size, 32)

gra_tensor *gra_gelu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "gelu", .forward = forward_all, .backward = backward_all };
    return gra_run(gra_result_like(t, &op, x));
}
