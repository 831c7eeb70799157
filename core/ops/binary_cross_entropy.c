/* binary_cross_entropy: the mean of -(t log p + (1 - t) log(1 - p)) or, unreduced, each term; p are
 * probabilities, and t are targets from 0 to 1. dp += dy (p - t) / (p (1 - p)) / n,
 * dt += dy (log(1 - p) - log p) / n. As in PyTorch, logarithms are at least -100 and p (1 - p) is at least
 * 1e-12, so a p of 0 or 1 gives finite numbers (in PyTorch, only the gradient of t is infinite there). */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

static real at_least_100(real log) { return log < -100 ? -100 : log; }
static real log_of(real p)         { return at_least_100(real_log(p)); }
static real log_of_rest(real p)    { return at_least_100(real_log1p(-p)); }        /* log(1 - p) */

static real loss(real p, real target) { return -(target * log_of(p) + (1 - target) * log_of_rest(p)); }

static void forward(gra_tensor *y)
{
    const real *p = y->in[0]->data, *target = y->in[1]->data;
    const size_t n = y->in[0]->size;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)loss(p[i], target[i]);
    y->data[0] = (real)(sum / (double)n);
}

/* With two loops, only one product can be fused with the sum, in vectors and in the remaining values. */
static void forward_each(gra_tensor *y, size_t from, size_t to)
{
    const real *p = y->in[0]->data, *target = y->in[1]->data;
    for (size_t i = from; i < to; i++)
        y->data[i] = target[i] * log_of(p[i]);
    for (size_t i = from; i < to; i++)
        y->data[i] = -y->data[i] - (1 - target[i]) * log_of_rest(p[i]);
}

static real slope(real p, real target)                  /* in p */
{
    static const real least = (real)1e-12;
    return (p - target) / real_larger(p * (1 - p), least);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *p = y->in[0]->data, *target = y->in[1]->data;
    const real g = y->grad[0] / (real)y->in[0]->size;
    real *dp = y->in[0]->grad, *dt = y->in[1]->grad;
    for (size_t i = from; dp && i < to; i++)
        dp[i] += g * slope(p[i], target[i]);
    for (size_t i = from; dt && i < to; i++)
        dt[i] += g * (log_of_rest(p[i]) - log_of(p[i]));
}

static void backward_each(gra_tensor *y, size_t from, size_t to)
{
    const real *p = y->in[0]->data, *target = y->in[1]->data, *dy = y->grad;
    real *dp = y->in[0]->grad, *dt = y->in[1]->grad;
    for (size_t i = from; dp && i < to; i++)
        dp[i] += dy[i] * slope(p[i], target[i]);
    for (size_t i = from; dt && i < to; i++)
        dt[i] += dy[i] * (log_of_rest(p[i]) - log_of(p[i]));
}

GRA_KERNEL(backward_all, backward, y, y->in[0]->size, 24)
GRA_KERNEL(forward_each_all, forward_each, y, y->size, 24)
GRA_KERNEL(backward_each_all, backward_each, y, y->size, 24)

static gra_tensor *compute(gra_tape *t, const gra_op *op, bool each, gra_tensor *p, gra_tensor *target)
{
    if (!op_same_shape(t, op->name, "p", p, target))
        return gra_empty(t);
    for (size_t i = 0; i < p->size; i++)
        if (!(p->data[i] >= 0 && p->data[i] <= 1))
            return gra_fail(t, "%s: got %g in element %zu of p, expected a probability, from 0 to 1: for "
                            "logits call gra_binary_cross_entropy_with_logits", op->name, (double)p->data[i],
                            i);
    return gra_run(gra_result(t, op, each ? p->shape : GRA_SCALAR, p, target));
}

gra_tensor *gra_binary_cross_entropy(gra_tape *t, gra_tensor *p, gra_tensor *target)
{
    static const gra_op op = { .name = "binary_cross_entropy", .forward = forward, .backward = backward_all };
    return compute(t, &op, false, p, target);
}

gra_tensor *gra_binary_cross_entropy_unreduced(gra_tape *t, gra_tensor *p, gra_tensor *target)
{
    static const gra_op op = { .name = "binary_cross_entropy_unreduced", .forward = forward_each_all,
                               .backward = backward_each_all };
    return compute(t, &op, true, p, target);
}
