/* pow: y = x^p, dx += dy p x^(p-1); p is a number without a gradient. 0^0 is 1, and a negative x to a
 * non-integer power is NaN. */
#include "../kernel.h"
#include <tgmath.h>

struct args {
    double p;
};

/* libm's pow is slow, and squares are the most common powers. */
static inline real power(real x, real p)
{
    return p == 2 ? x * x : p == 1 ? x : pow(x, p);
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, p = (real)((const struct args *)y->args)->p;
    for (size_t i = from; i < to; i++)
        y->data[i] = power(x[i], p);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, p = (real)((const struct args *)y->args)->p;
    real *dx = y->in[0]->grad;
    if (p == 0)                                     /* y is constant, even at 0, where 0^-1 is infinite */
        return;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i] * p * power(x[i], p - 1);
}

GRA_KERNEL(forward_all, forward, y, y->size, 64)
GRA_KERNEL(backward_all, backward, y, y->size, 64)

gra_tensor *gra_pow(gra_tape *t, gra_tensor *x, double p)
{
    static const gra_op op = { .name = "pow", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "%g" };
    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){ p };
    return gra_run(y);
}
