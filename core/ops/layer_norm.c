/* layer_norm: y = z w + b, where z = (x - mean) r and r = 1 / sqrt(var + eps), along the last dimension.
 *     dx += r (g - mean(g) - z mean(g z)), where g = dy w,
 *     dw += dy z and db += dy, summed over rows.
 * mean, var and mean() are taken over a row of n values (Ba, Kiros & Hinton 2016). If the values are nearly
 * equal, the rounding error of the mean would be a large part of z. So this error times r is kept as the
 * shift, and z is (x - mean) r - shift. */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

struct args {
    double      eps;
    const real *ones, *zeros;           /* instead of w and b if they are NULL */
};

struct saved {                          /* of each row, from forward to backward */
    real mean, r, shift;
};

static size_t saved_size(const gra_tensor *y)   { return op_rows(y) * (sizeof(struct saved) / sizeof(real)); }
static struct saved *saved(const gra_tensor *y) { return (struct saved *)(void *)y->saved; }
static inline real z_of(real x, struct saved s) { return (x - s.mean) * s.r - s.shift; }

/* If the variance overflows, 0 * var is NaN. Then y is NaN, as in PyTorch, instead of 0, and gra_trace_nan
 * finds the op.
 *
 * Three loops over the rows, one for each step, are faster than one: a step that ends in a single number,
 * such as a sum, delays the next step of the same row, but not the same step of the next row. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const real *x = y->in[0]->data;
    const real *w = y->in[1] ? y->in[1]->data : a->ones, *b = y->in[2] ? y->in[2]->data : a->zeros;
    const size_t n = op_row_size(y);
    struct saved *s = saved(y);
    for (size_t row = from; row < to; row++)
        s[row].mean = real_sum(x + row * n, n) / (real)n;                       /* mean */
    for (size_t row = from; row < to; row++) {
        const real near = s[row].mean;
        real var = real_sum_squared_from(x + row * n, near, n) / (real)n, rest = 0;
        if (var < near * near) {
            rest = real_sum_from(x + row * n, near, n) / (real)n;
            var = rest * rest < var ? var - rest * rest : 0;
            s[row].mean = near + rest;
            rest -= s[row].mean - near;
        }
        s[row].r = real_rsqrt(var + (real)a->eps) + 0 * var;                    /* r = 1 / sqrt(var + eps) */
        s[row].shift = rest * s[row].r;
    }
    for (size_t row = from; row < to; row++) {
        const struct saved of = s[row];
        for (size_t i = 0; i < n; i++)
            y->data[row * n + i] = z_of(x[row * n + i], of) * w[i] + b[i];      /* y = z w + b */
    }
}

enum { PIECE = 128 };                   /* number of values whose g and z are kept at a time */

/* Computes g and z of the next piece of a row that has `left` more values. Returns the size of the piece. */
static inline size_t make_g_z(const real *x, const real *w, const real *dy, struct saved s, size_t left,
                              real *g, real *z);

static void backward_x(gra_tensor *y, size_t from, size_t to)
{
    const real *w = y->in[1] ? y->in[1]->data : ((const struct args *)y->args)->ones;
    const size_t n = op_row_size(y);
    real g[PIECE], z[PIECE];
    for (size_t row = from; row < to; row++) {
        const real *x = y->in[0]->data + row * n, *dy = y->grad + row * n;
        real *dx = y->in[0]->grad + row * n;
        const struct saved s = saved(y)[row];
        double sum_g = 0, sum_gz = 0;
        for (size_t i = 0, m; i < n; i += m) {
            m = make_g_z(x + i, w + i, dy + i, s, n - i, g, z);
            sum_g += (double)real_sum(g, m);
            sum_gz += (double)real_dot(g, z, m);
        }
        const real mean_g = (real)sum_g / (real)n, mean_gz = (real)sum_gz / (real)n;
        for (size_t i = 0, m; i < n; i += m) {
            m = make_g_z(x + i, w + i, dy + i, s, n - i, g, z);
            for (size_t j = 0; j < m; j++)
                dx[i + j] += s.r * (g[j] - mean_g - z[j] * mean_gz); /* dx += r (g - mean(g) - z mean(g z)) */
        }
    }
}

static inline size_t make_g_z(const real *x, const real *w, const real *dy, struct saved s, size_t left,
                              real *g, real *z)
{
    const size_t m = left < PIECE ? left : PIECE;
    for (size_t i = 0; i < m; i++) {
        g[i] = dy[i] * w[i];
        z[i] = z_of(x[i], s);
    }
    return m;
}

enum { TILE = 64 };                     /* columns at a time: rows are read sequentially */

/* dw and db, a tile of columns at a time: each column is summed over all rows, in order and in double. */
static void backward_w_b(gra_tensor *y, size_t from, size_t to)
{
    real *dw = y->in[1] ? y->in[1]->grad : NULL, *db = y->in[2] ? y->in[2]->grad : NULL;
    const size_t n = op_row_size(y), end = op_rows(y);
    for (size_t i = from * TILE, width; i < n && i < to * TILE; i += width) {
        const real *x = y->in[0]->data + i, *dy = y->grad + i;
        double sum_w[TILE] = { 0 }, sum_b[TILE] = { 0 };
        width = n - i < TILE ? n - i : TILE;
        for (size_t row = 0; row < end; row++) {
            const struct saved s = saved(y)[row];
            for (size_t j = 0; j < width; j++) {
                const real z = z_of(x[row * n + j], s);
                sum_w[j] += (double)(dy[row * n + j] * z);      /* dy z */
                sum_b[j] += (double)dy[row * n + j];            /* dy */
            }
        }
        if (dw)
            for (size_t j = 0; j < width; j++)
                dw[i + j] += (real)sum_w[j];                    /* dw += dy z, of all rows */
        if (db)
            for (size_t j = 0; j < width; j++)
                db[i + j] += (real)sum_b[j];                    /* db += dy, of all rows */
    }
}

GRA_KERNEL(forward_all, forward, y, op_rows(y), 8 * op_row_size(y))
GRA_KERNEL(backward_x_all, backward_x, y, op_rows(y), 12 * op_row_size(y))
GRA_KERNEL(backward_w_b_all, backward_w_b, y, y->size ? (op_row_size(y) + TILE - 1) / TILE : 0,
           4 * op_rows(y) * TILE)

static void backward(gra_tensor *y)
{
    if (y->in[0]->grad)
        backward_x_all(y);
    if ((y->in[1] && y->in[1]->grad) || (y->in[2] && y->in[2]->grad))
        backward_w_b_all(y);
}

gra_tensor *gra_layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b, double eps)
{
    static const gra_op op = { .name = "layer_norm", .forward = forward_all, .backward = backward,
                               .saved = saved_size, .args = sizeof(struct args), .args_text = "eps %g" };
    if (GRA_BAD_INPUTS(t, "layer_norm", x, w ? w : x, b ? b : x))
        return gra_empty(t);
    if (!op_last_dim(t, "layer_norm", x, "weight", w) || !op_last_dim(t, "layer_norm", x, "bias", b))
        return gra_empty(t);
    const int n = gra_dim(x, -1);
    gra_tensor *y = gra_result(t, &op, x->shape, x, w, b);
    *(struct args *)y->args = (struct args){ .eps = eps,
                                             .ones = w ? NULL : gra_ones(t, GRA_SHAPE(n))->data,
                                             .zeros = b ? NULL : gra_zeros(t, GRA_SHAPE(n))->data };
    return gra_run(y);
}
