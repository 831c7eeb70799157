/* binary_cross_entropy: the mean of -(t log p + (1 - t) log(1 - p)); p are probabilities, t the targets,
 * from 0 to 1. dp += dy (p - t) / (p (1 - p)) / n, dt += dy (log(1 - p) - log p) / n. As in PyTorch no
 * logarithm is below -100 and no p (1 - p) below 1e-12, so that a p of 0 or 1 gives finite numbers (PyTorch's
 * gradient of t alone is infinite there). */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

static real at_least_100(real log) { return log < -100 ? -100 : log; }
static real log_of(real p)         { return at_least_100(real_log(p)); }
static real log_of_rest(real p)    { return at_least_100(real_log1p(-p)); }        /* log(1 - p) */

static void forward(gra_tensor *y)
{
    const real *p = y->in[0]->data, *target = y->in[1]->data;
    const size_t n = y->in[0]->size;
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum -= (double)(target[i] * log_of(p[i]) + (1 - target[i]) * log_of_rest(p[i]));
    y->data[0] = (real)(sum / (double)n);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    static const real least = (real)1e-12;
    const real *p = y->in[0]->data, *target = y->in[1]->data;
    const real g = y->grad[0] / (real)y->in[0]->size;
    real *dp = y->in[0]->grad, *dt = y->in[1]->grad;
    for (size_t i = from; dp && i < to; i++)
        dp[i] += g * (p[i] - target[i]) / real_larger(p[i] * (1 - p[i]), least);
    for (size_t i = from; dt && i < to; i++)
        dt[i] += g * (log_of_rest(p[i]) - log_of(p[i]));
}

GRA_KERNEL(backward_all, backward, y, y->in[0]->size, 24)

gra_tensor *gra_binary_cross_entropy(gra_tape *t, gra_tensor *p, gra_tensor *target)
{
    static const gra_op op = { .name = "binary_cross_entropy", .forward = forward, .backward = backward_all };
    if (!op_same_shape(t, "binary_cross_entropy", "p", p, target))
        return gra_empty(t);
    for (size_t i = 0; i < p->size; i++)
        if (!(p->data[i] >= 0 && p->data[i] <= 1))
            return gra_fail(t, "binary_cross_entropy: got %g in element %zu of p, expected a probability, "
                            "from 0 to 1: for logits call gra_binary_cross_entropy_with_logits",
                            (double)p->data[i], i);
    return gra_run(gra_result(t, &op, GRA_SCALAR, p, target));
}
