/* rms_norm: along the last dimension, of n values (Zhang & Sennrich 2019),
 *     r = 1 / sqrt(sum_i x_i^2 / n + eps),   y_i = x_i r w_i.
 * With g_i = dy_i w_i:
 *     dx_i += r (g_i - x_i r^2 sum_j g_j x_j / n),   dw_i += dy_i x_i r, summed over rows. */
#include "../kernel.h"
#include "../kern/vmath.h"

struct args {
    double eps;
};

static size_t row_size(const gra_tensor *y)
{
    return (size_t)y->shape.dim[y->shape.ndim - 1];
}

static size_t rows(const gra_tensor *y)
{
    return y->size ? y->size / row_size(y) : 0;     /* also how many values are saved: r of each row */
}

/* ---- forward ---- */

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *w = y->in[1] ? y->in[1]->data : NULL;
    const real eps = (real)((const struct args *)y->args)->eps;
    const size_t n = row_size(y);
    for (size_t row = from; row < to; row++) {
        const real *x = y->in[0]->data + row * n;
        real *out = y->data + row * n;
        const real r = real_rsqrt(real_dot(x, x, n) / (real)n + eps);
        for (size_t i = 0; i < n; i++)
            out[i] = x[i] * r;
        if (w)
            for (size_t i = 0; i < n; i++)
                out[i] *= w[i];
        y->saved[row] = r;
    }
}

GRA_KERNEL(forward_all, forward, y, rows(y), 6 * row_size(y))

/* ---- backward ---- */

enum { BLOCK = 128 };                   /* values of a row whose g is kept at a time */

/* g of m <= BLOCK values of a row. */
static inline void block(const real *w, const real *dy, size_t m, real *g)
{
    if (w)
        for (size_t i = 0; i < m; i++)
            g[i] = dy[i] * w[i];
    else
        memcpy(g, dy, m * sizeof *g);
}

/* dx, a row at a time. */
static void backward_rows(gra_tensor *y, size_t from, size_t to)
{
    const real *w = y->in[1] ? y->in[1]->data : NULL;
    const size_t n = row_size(y);
    real g[BLOCK];
    for (size_t row = from; row < to; row++) {
        const real *x = y->in[0]->data + row * n, *dy = y->grad + row * n;
        real *dx = y->in[0]->grad + row * n;
        const real r = y->saved[row];
        real sum = 0;
        for (size_t i = 0; i < n; i += BLOCK) {
            const size_t m = n - i < BLOCK ? n - i : BLOCK;
            block(w ? w + i : NULL, dy + i, m, g);
            sum += real_dot(g, x + i, m);
        }
        const real mean = sum * r / (real)n;        /* the mean of g_j z_j, where z = x r */
        for (size_t i = 0; i < n; i += BLOCK) {
            const size_t m = n - i < BLOCK ? n - i : BLOCK;
            block(w ? w + i : NULL, dy + i, m, g);
            for (size_t j = 0; j < m; j++)
                dx[i + j] += r * (g[j] - x[i + j] * r * mean);
        }
    }
}

enum { TILE = 32 };                     /* columns at a time */

/* dw: each column is summed over all rows, in their order. */
static void backward_columns(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = row_size(y), end = rows(y);
    for (size_t i = from, width; i < to; i += width) {
        const real *x = y->in[0]->data + i, *dy = y->grad + i;
        real sum[TILE] = { 0 };
        width = to - i < TILE ? to - i : TILE;
        for (size_t row = 0; row < end; row++)
            for (size_t j = 0; j < width; j++)
                sum[j] += dy[row * n + j] * (x[row * n + j] * y->saved[row]);
        for (size_t j = 0; j < width; j++)
            y->in[1]->grad[i + j] += sum[j];
    }
}

GRA_KERNEL(backward_rows_all, backward_rows, y, rows(y), 10 * row_size(y))
GRA_KERNEL(backward_columns_all, backward_columns, y, y->size ? row_size(y) : 0, 3 * rows(y))

static void backward(gra_tensor *y)
{
    if (y->in[0]->grad)
        backward_rows_all(y);
    if (y->in[1] && y->in[1]->grad)
        backward_columns_all(y);
}

/* ---- the op ---- */

gra_tensor *gra_rms_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, double eps)
{
    static const gra_op op = { .name = "rms_norm", .forward = forward_all, .backward = backward,
                               .saved = rows, .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "rms_norm", x, w ? w : x))
        return gra_empty(t);
    if (x->shape.ndim == 0)
        return gra_fail(t, "rms_norm: x is (): wanted at least one dimension to take the mean over");
    int n = x->shape.dim[x->shape.ndim - 1];
    if (w && (w->shape.ndim != 1 || w->shape.dim[0] != n))
        return gra_fail(t, "rms_norm: weight is %s but x is %s: wanted (%d)", GRA_SHAPE_OF(w),
                        GRA_SHAPE_OF(x), n);
    gra_tensor *y = gra_result(t, &op, x->shape, x, w);
    *(struct args *)y->args = (struct args){ eps };
    return gra_run(y);
}
