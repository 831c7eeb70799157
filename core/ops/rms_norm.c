/* rms_norm: y = z w, where z = x r and r = 1 / sqrt(mean(x^2) + eps), along the last dimension.
 *     dx += r (g - z mean(g z)), where g = dy w,
 *     dw += dy z, summed over rows.
 * mean() is taken over a row of n values (Zhang & Sennrich 2019). */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

struct args {
    double      eps;
    const real *ones;                   /* instead of w if that is NULL */
};

/* Forward saves r of each row for backward. */

/* If the mean overflows, 0 * mean is NaN. Then y is NaN instead of 0, and gra_trace_nan finds the op. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const real *w = y->in[1] ? y->in[1]->data : a->ones;
    const size_t n = op_row_size(y);
    for (size_t row = from; row < to; row++) {
        const real *x = y->in[0]->data + row * n;
        const real mean = real_dot(x, x, n) / (real)n;
        const real r = real_rsqrt(mean + (real)a->eps) + 0 * mean;          /* 1 / sqrt(mean(x^2) + eps) */
        for (size_t i = 0; i < n; i++)
            y->data[row * n + i] = x[i] * r * w[i];                             /* y = z w */
        y->saved[row] = r;
    }
}

enum { PIECE = 128 };                   /* number of values whose g is kept at a time */

/* Computes g of the next piece of a row that has `left` more values. Returns the size of the piece. */
static inline size_t make_g(const real *w, const real *dy, size_t left, real *g)
{
    const size_t m = left < PIECE ? left : PIECE;
    for (size_t i = 0; i < m; i++)
        g[i] = dy[i] * w[i];
    return m;
}

static void backward_x(gra_tensor *y, size_t from, size_t to)
{
    const real *w = y->in[1] ? y->in[1]->data : ((const struct args *)y->args)->ones;
    const size_t n = op_row_size(y);
    real g[PIECE];
    for (size_t row = from; row < to; row++) {
        const real *x = y->in[0]->data + row * n, *dy = y->grad + row * n;
        real *dx = y->in[0]->grad + row * n;
        const real r = y->saved[row];
        double sum_gx = 0;
        for (size_t i = 0, m; i < n; i += m) {
            m = make_g(w + i, dy + i, n - i, g);
            sum_gx += (double)real_dot(g, x + i, m);
        }
        const real mean_gz = (real)sum_gx * r / (real)n;
        for (size_t i = 0, m; i < n; i += m) {
            m = make_g(w + i, dy + i, n - i, g);
            for (size_t j = 0; j < m; j++)
                dx[i + j] += r * (g[j] - x[i + j] * r * mean_gz);       /* dx += r (g - z mean(g z)) */
        }
    }
}

enum { TILE = 32 };                     /* columns at a time */

/* dw: each column is summed over all rows, in order and in double. */
static void backward_w(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = op_row_size(y), end = op_rows(y);
    for (size_t i = from, width; i < to; i += width) {
        const real *x = y->in[0]->data + i, *dy = y->grad + i;
        double sum[TILE] = { 0 };
        width = to - i < TILE ? to - i : TILE;
        for (size_t row = 0; row < end; row++)
            for (size_t j = 0; j < width; j++)
                sum[j] += (double)(dy[row * n + j] * (x[row * n + j] * y->saved[row]));
        for (size_t j = 0; j < width; j++)
            y->in[1]->grad[i + j] += (real)sum[j];              /* dw += dy z */
    }
}

GRA_KERNEL(forward_all, forward, y, op_rows(y), 6 * op_row_size(y))
GRA_KERNEL(backward_x_all, backward_x, y, op_rows(y), 10 * op_row_size(y))
GRA_KERNEL(backward_w_all, backward_w, y, y->size ? op_row_size(y) : 0, 3 * op_rows(y))

static void backward(gra_tensor *y)
{
    if (y->in[0]->grad)
        backward_x_all(y);
    if (y->in[1] && y->in[1]->grad)
        backward_w_all(y);
}

gra_tensor *gra_rms_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, double eps)
{
    static const gra_op op = { .name = "rms_norm", .forward = forward_all, .backward = backward,
                               .saved = op_rows, .args = sizeof(struct args), .args_text = "eps %g" };
    if (GRA_BAD_INPUTS(t, "rms_norm", x, w ? w : x))
        return gra_empty(t);
    if (!op_last_dim(t, "rms_norm", x, "weight", w))
        return gra_empty(t);
    const int n = gra_dim(x, -1);
    gra_tensor *y = gra_result(t, &op, x->shape, x, w);
    *(struct args *)y->args = (struct args){ .eps = eps, .ones = w ? NULL : gra_ones(t, GRA_SHAPE(n))->data };
    return gra_run(y);
}
