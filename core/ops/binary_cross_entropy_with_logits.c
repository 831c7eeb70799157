/* binary_cross_entropy_with_logits: the mean of -(t log s(x) + (1 - t) log(1 - s(x))), s the sigmoid, written
 * as x (1 - t) + log(1 + e^-x) for x > 0, else -x t + log(1 + e^x). These do not overflow, take no logarithm
 * of 0, and subtract no numbers that are nearly equal.
 * dx += dy (s(x) - t) / n, for x > 0 as (1 - t) - s(-x), since s(x) may be rounded to 1; dt -= dy x / n. */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

static real loss(real x, real target)
{
    const real log_part = real_log1p(real_exp_below_0(x > 0 ? -x : x));
    return (x > 0 ? 1 - target : -target) * x + log_part;
}

static void forward(gra_tensor *y)
{
    const real *x = y->in[0]->data, *target = y->in[1]->data;
    const size_t n = y->in[0]->size;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)loss(x[i], target[i]);
    y->data[0] = (real)(sum / (double)n);
}

static void forward_each(gra_tensor *y, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        y->data[i] = loss(y->in[0]->data[i], y->in[1]->data[i]);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *target = y->in[1]->data;
    const real g = y->grad[0] / (real)y->in[0]->size;
    real *dx = y->in[0]->grad, *dt = y->in[1]->grad;
    for (size_t i = from; dx && i < to; i++)
        dx[i] += g * (x[i] > 0 ? (1 - target[i]) - real_sigmoid(-x[i]) : real_sigmoid(x[i]) - target[i]);
    for (size_t i = from; dt && i < to; i++)
        dt[i] -= g * x[i];
}

static void backward_each(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *target = y->in[1]->data, *dy = y->grad;
    real *dx = y->in[0]->grad, *dt = y->in[1]->grad;
    for (size_t i = from; dx && i < to; i++)
        dx[i] += dy[i] * (real_sigmoid(x[i]) - target[i]);
    for (size_t i = from; dt && i < to; i++)
        dt[i] -= dy[i] * x[i];
}

GRA_KERNEL(backward_all, backward, y, y->in[0]->size, 14)
GRA_KERNEL(forward_each_all, forward_each, y, y->size, 14)
GRA_KERNEL(backward_each_all, backward_each, y, y->size, 14)

gra_tensor *gra_binary_cross_entropy_with_logits(gra_tape *t, gra_tensor *x, gra_tensor *target)
{
    static const gra_op op = { .name = "binary_cross_entropy_with_logits", .forward = forward,
                               .backward = backward_all };
    if (!op_same_shape(t, op.name, "x", x, target))
        return gra_empty(t);
    return gra_run(gra_result(t, &op, GRA_SCALAR, x, target));
}

gra_tensor *gra_binary_cross_entropy_with_logits_unreduced(gra_tape *t, gra_tensor *x, gra_tensor *target)
{
    static const gra_op op = { .name = "binary_cross_entropy_with_logits_unreduced",
                               .forward = forward_each_all, .backward = backward_each_all };
    if (!op_same_shape(t, op.name, "x", x, target))
        return gra_empty(t);
    return gra_run(gra_result(t, &op, x->shape, x, target));
}
