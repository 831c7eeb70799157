/* cross_entropy: the mean over rows of -log softmax(x)[target]. For a row, with m = max_j x_j,
 *     loss = log sum_j e^(x_j - m) - (x_target - m),   dx_i += dy / rows (softmax(x)_i - [i = target]).
 * A row whose target is GRA_IGNORE_INDEX counts for nothing; when all do, the mean is 0/0: NaN, and
 * the gradient 0, as in PyTorch. A row that is -inf throughout (all masked) has a loss and a gradient of 0,
 * and counts. Of the logits no copy is kept: backward computes e^(x - m) again. */
#include "../op.h"
#include "../kern/vmath.h"

struct args {
    const int *target;                              /* our copy, one a row */
    size_t     counted;                             /* rows not ignored */
};

struct saved {                                      /* of a row */
    real max, log_sum;                              /* m, and log sum_j e^(x_j - m) */
};

static size_t classes(const gra_tensor *y)
{
    return (size_t)gra_dim(y->in[0], -1);
}

static size_t rows(const gra_tensor *y)
{
    return classes(y) ? y->in[0]->size / classes(y) : 0;
}

static size_t saved_size(const gra_tensor *y)      { return rows(y) * (sizeof(struct saved) / sizeof(real)); }
static struct saved *saved(const gra_tensor *y)    { return (struct saved *)(void *)y->saved; }

static bool counts(const gra_tensor *y, size_t r)   /* row r's loss and gradient are not 0 */
{
    return ((const struct args *)y->args)->target[r] != GRA_IGNORE_INDEX && saved(y)[r].max != -(real)INFINITY;
}

enum { BLOCK = 256 };

static void rows_forward(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = classes(y);
    real e[BLOCK];
    for (size_t r = from; r < to; r++) {
        const real *x = y->in[0]->data + r * n;
        real m = real_max(x, n), sum = 0;
        for (size_t i = 0; i < n; i += BLOCK) {
            size_t k = n - i < BLOCK ? n - i : BLOCK;
            for (size_t j = 0; j < k; j++)
                e[j] = real_exp_neg(x[i + j] - m);
            sum += real_sum(e, k);
        }
        saved(y)[r] = (struct saved){ m, real_log(sum) };
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const size_t n = classes(y);
    const real g = y->grad[0] / (real)a->counted;
    for (size_t r = from; r < to; r++) {
        if (!counts(y, r))
            continue;
        const real *x = y->in[0]->data + r * n;
        const real m = saved(y)[r].max, log_sum = saved(y)[r].log_sum;
        real *dx = y->in[0]->grad + r * n;
        for (size_t i = 0; i < n; i++)
            dx[i] += g * real_exp_neg(x[i] - m - log_sum);
        dx[a->target[r]] -= g;
    }
}

GRA_KERNEL(rows_forward_all, rows_forward, y, rows(y), 12 * classes(y))
GRA_KERNEL(backward_all, backward, y, rows(y), 12 * classes(y))

static void forward(gra_tensor *y)
{
    const struct args *a = y->args;
    const size_t n = classes(y);
    rows_forward_all(y);
    double loss = 0;
    for (size_t r = 0; r < rows(y); r++)
        if (counts(y, r)) {
            const real x = y->in[0]->data[r * n + (size_t)a->target[r]];
            loss += (double)saved(y)[r].log_sum - (double)(x - saved(y)[r].max);
        }
    y->data[0] = a->counted ? (real)(loss / (double)a->counted) : (real)NAN;
}

gra_tensor *gra_cross_entropy(gra_tape *t, gra_tensor *logits, const int *target)
{
    static const gra_op op = { .name = "cross_entropy", .forward = forward, .backward = backward_all,
                               .saved = saved_size, .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "cross_entropy", logits))
        return gra_empty(t);
    if (logits->shape.ndim == 0)
        return gra_fail(t, "cross_entropy: the logits are (): wanted (..., classes)");
    const int n = logits->shape.dim[logits->shape.ndim - 1];
    const size_t count = n ? logits->size / (size_t)n : 0;
    size_t counted = 0;
    if (count && !target)
        return gra_fail(t, "cross_entropy: the targets are NULL, but %zu are wanted", count);
    for (size_t r = 0; r < count; r++) {
        if (target[r] == GRA_IGNORE_INDEX)
            continue;
        if (target[r] < 0 || target[r] >= n)
            return gra_fail(t, "cross_entropy: target %d in row %zu: there are %d classes (0 to %d), "
                            "and %d skips a row", target[r], r, n, n - 1, GRA_IGNORE_INDEX);
        counted++;
    }
    gra_tensor *y = gra_result(t, &op, GRA_SCALAR, logits);
    int *copy = gra_alloc(t, count * sizeof *copy);
    if (copy && count)
        memcpy(copy, target, count * sizeof *copy);
    *(struct args *)y->args = (struct args){ copy, counted };
    return gra_run(y);
}
