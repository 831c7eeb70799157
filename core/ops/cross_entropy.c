/* cross_entropy: y = the mean over N rows of log sum_j e^(x_j - m) - (x_target - m), where m = max_j x_j,
 *     dx_i += g softmax(x)_i and dx_target -= g, where g = dy / N.
 * A row's term is -log softmax(x)_target, since softmax(x)_i = e^(x_i - m) / sum_j e^(x_j - m). The largest x
 * adds 1 to the sum, so the logarithm is log1p of the sum of the other terms: this keeps all digits of that
 * sum even if it is far below 1. cross_entropy_unreduced: y_row = the row's term, and g = dy_row. Forward
 * saves m and the logarithm of the sum, from which backward computes softmax(x) again. */
#include "../kernel.h"
#include "../kern/vmath.h"

struct args {
    const int *target;                              /* a copy of the targets, one for each row */
    size_t     N;                                   /* the number of rows that are not ignored */
    bool       mean;                                /* y is the mean of the rows' terms, not all terms */
};

struct saved {                                      /* of each row */
    real m, log_sum;                                /* log_sum: log sum_j e^(x_j - m) */
};

static size_t classes(const gra_tensor *y)      { return (size_t)gra_dim(y->in[0], -1); }
static size_t rows(const gra_tensor *y)         { return classes(y) ? y->in[0]->size / classes(y) : 0; }
static size_t saved_size(const gra_tensor *y)   { return rows(y) * (sizeof(struct saved) / sizeof(real)); }
static struct saved *saved(const gra_tensor *y) { return (struct saved *)(void *)y->saved; }
static bool   contributes(const gra_tensor *y, size_t row);     /* false: the row's term and gradient are 0 */

enum { PIECE = 256 };                               /* exponentials of a row that are summed at a time */

/* The first half of forward, on all threads: m and log_sum of the rows. */
static void log_sums(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = classes(y);
    real e[PIECE];
    for (size_t row = from; row < to; row++) {
        const real *x = y->in[0]->data + row * n;
        const real m = real_max(x, n);
        real_bits largest = 0;                      /* how many x_j are m */
        double sum = 0;
        for (size_t i = 0; i < n; i += PIECE) {
            const size_t k = n - i < PIECE ? n - i : PIECE;
            for (size_t j = 0; j < k; j++) {
                const real d = x[i + j] - m;
                largest += d == 0;
                e[j] = d == 0 ? 0 : real_exp_below_0(d);
            }
            sum += (double)real_sum(e, k);          /* sum_j e^(x_j - m), without these x_j */
        }
        saved(y)[row] = (struct saved){ m, real_log1p((real)(sum + ((double)largest - 1))) };
    }
}

GRA_KERNEL(log_sums_all, log_sums, y, rows(y), 12 * classes(y))

static double term(const gra_tensor *y, size_t row)
{
    if (!contributes(y, row))
        return 0;
    const struct saved s = saved(y)[row];
    const size_t target = (size_t)((const struct args *)y->args)->target[row];
    const real x = y->in[0]->data[row * classes(y) + target];   /* x_target */
    return (double)s.log_sum - (double)(x - s.m);               /* log sum_j e^(x_j - m) - (x_target - m) */
}

static void forward(gra_tensor *y)
{
    const struct args *a = y->args;
    log_sums_all(y);
    double loss = 0;
    for (size_t row = 0; row < rows(y); row++)
        loss += term(y, row);
    y->data[0] = a->N ? (real)(loss / (double)a->N) : (real)NAN;        /* y = their mean */
}

static void unreduced(gra_tensor *y)
{
    log_sums_all(y);
    for (size_t row = 0; row < rows(y); row++)
        y->data[row] = (real)term(y, row);
}

/* y is the mean, or a value for each row. */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const size_t n = classes(y);
    for (size_t row = from; row < to; row++) {
        real *dx = y->in[0]->grad + row * n;
        if (y->in[0]->fresh)
            memset(dx, 0, n * sizeof *dx);          /* here, while the row is in a cache */
        if (!contributes(y, row))
            continue;
        const real g = a->mean ? y->grad[0] / (real)a->N : y->grad[row];
        const real *x = y->in[0]->data + row * n;
        const real m = saved(y)[row].m, log_sum = saved(y)[row].log_sum;
        real *at = &dx[a->target[row]];
        const real before = *at;
        for (size_t i = 0; i < n; i++)
            dx[i] += g * real_exp_below_0(x[i] - m - log_sum);  /* dx_i += g softmax(x)_i */
        /* dx_target += g (softmax(x)_target - 1) */
        *at = before + g * real_expm1_below_0(x[a->target[row]] - m - log_sum);
    }
}

GRA_KERNEL(backward_all, backward, y, rows(y), 12 * classes(y))

/* A row whose target is GRA_IGNORE_INDEX does not count; if no row counts, the mean is 0/0, NaN, and the
 * gradient is 0, as in PyTorch. A row whose values are all -inf (masked) counts, with a loss and a gradient
 * of 0. */
static bool contributes(const gra_tensor *y, size_t row)
{
    const int target = ((const struct args *)y->args)->target[row];
    return target != GRA_IGNORE_INDEX && saved(y)[row].m != -(real)INFINITY;
}

static gra_tensor *make(gra_tape *t, const gra_op *op, gra_tensor *logits, const int *target, bool mean)
{
    if (GRA_BAD_INPUTS(t, op->name, logits))
        return gra_empty(t);
    if (logits->shape.ndim == 0)
        return gra_fail(t, "%s: got logits (), expected (..., classes)", op->name);
    const int last = logits->shape.ndim - 1, n = logits->shape.dim[last];
    const size_t row_count = n ? logits->size / (size_t)n : 0;
    size_t N = 0;
    if (!n && !mean)
        return gra_fail(t, "%s: got logits %s, expected (..., classes) with at least one class: the loss of "
                        "a row is that of its target", op->name, GRA_SHAPE_OF(logits));
    if (row_count && !target)
        return gra_fail(t, "%s: got NULL for the targets, expected %zu", op->name, row_count);
    for (size_t row = 0; row < row_count; row++) {
        if (target[row] == GRA_IGNORE_INDEX)
            continue;
        if (target[row] < 0 || target[row] >= n)
            return gra_fail(t, "%s: got target %d in row %zu, expected one of %d classes (0 to %d), or %d to "
                            "skip the row", op->name, target[row], row, n, n - 1, GRA_IGNORE_INDEX);
        N++;
    }
    const gra_shape shape = mean ? GRA_SCALAR : gra_shape_without(logits->shape, last, false);
    gra_tensor *y = gra_result(t, op, shape, logits);
    int *copy = gra_alloc(t, row_count * sizeof *copy);
    if (copy && row_count)
        memcpy(copy, target, row_count * sizeof *copy);
    *(struct args *)y->args = (struct args){ copy, N, mean };
    return gra_run(y);
}

gra_tensor *gra_cross_entropy(gra_tape *t, gra_tensor *logits, const int *target)
{
    static const gra_op op = { .name = "cross_entropy", .forward = forward, .backward = backward_all,
                               .saved = saved_size, .args = sizeof(struct args), .overwrites_grad = true };
    return make(t, &op, logits, target, true);
}

gra_tensor *gra_cross_entropy_unreduced(gra_tape *t, gra_tensor *logits, const int *target)
{
    static const gra_op op = { .name = "cross_entropy_unreduced", .forward = unreduced,
                               .backward = backward_all, .saved = saved_size, .args = sizeof(struct args),
                               .overwrites_grad = true };
    return make(t, &op, logits, target, false);
}
