/* layer_norm: along the last dimension, of n values (Ba, Kiros & Hinton 2016),
 *     mean = sum_i x_i / n,  var = sum_i (x_i - mean)^2 / n,  r = 1 / sqrt(var + eps),
 *     y_i = (x_i - mean) r w_i + b_i.
 * With z_i = (x_i - mean) r and g_i = dy_i w_i:
 *     dx_i += r (g_i - sum_j g_j / n - z_i sum_j g_j z_j / n),
 *     dw_i += dy_i z_i and db_i += dy_i, both summed over rows. */
#include "../op.h"
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
    return y->size ? y->size / row_size(y) : 0;
}

static size_t saved(const gra_tensor *y)
{
    return 2 * rows(y);                             /* mean and r of each row */
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *w = y->in[1] ? y->in[1]->data : NULL, *b = y->in[2] ? y->in[2]->data : NULL;
    const real eps = (real)((const struct args *)y->args)->eps;
    const size_t n = row_size(y);
    const real *x = y->in[0]->data;
    for (size_t k = from; k < to; k++)  /* a loop for each step: no row waits for its own last one */
        y->saved[2 * k] = real_sum(x + k * n, n) / (real)n;
    for (size_t k = from; k < to; k++)
        y->saved[2 * k + 1] =
            real_rsqrt(real_sum_squared_from(x + k * n, y->saved[2 * k], n) / (real)n + eps);
    for (size_t k = from; k < to; k++) {
        const real mean = y->saved[2 * k], r = y->saved[2 * k + 1], *xk = x + k * n;
        real *yk = y->data + k * n;
        for (size_t i = 0; i < n; i++) {
            const real z = (xk[i] - mean) * r;
            yk[i] = w && b ? z * w[i] + b[i] : w ? z * w[i] : b ? z + b[i] : z;
        }
    }
}

enum { BLOCK = 128 };

/* g and z of m <= BLOCK values of a row. */
static inline void block(const real *x, const real *w, const real *dy, real mean, real r, size_t m,
                         real *g, real *z)
{
    for (size_t i = 0; i < m; i++)
        z[i] = (x[i] - mean) * r;
    if (w)
        for (size_t i = 0; i < m; i++)
            g[i] = dy[i] * w[i];
    else
        memcpy(g, dy, m * sizeof *g);
}

static void backward_x(gra_tensor *y, size_t from, size_t to)
{
    const real *w = y->in[1] ? y->in[1]->data : NULL;
    const size_t n = row_size(y);
    real g[BLOCK], z[BLOCK];
    for (size_t k = from; k < to; k++) {
        const real *x = y->in[0]->data + k * n, *dy = y->grad + k * n;
        real *dx = y->in[0]->grad + k * n;
        const real mean = y->saved[2 * k], r = y->saved[2 * k + 1];
        real sum_g = 0, sum_gz = 0;
        for (size_t i = 0; i < n; i += BLOCK) {
            size_t m = n - i < BLOCK ? n - i : BLOCK;
            block(x + i, w ? w + i : NULL, dy + i, mean, r, m, g, z);
            sum_g += real_sum(g, m);
            sum_gz += real_dot(g, z, m);
        }
        const real mean_g = sum_g / (real)n, mean_gz = sum_gz / (real)n;
        for (size_t i = 0; i < n; i += BLOCK) {
            size_t m = n - i < BLOCK ? n - i : BLOCK;
            block(x + i, w ? w + i : NULL, dy + i, mean, r, m, g, z);
            for (size_t j = 0; j < m; j++)
                dx[i + j] += r * (g[j] - mean_g - z[j] * mean_gz);
        }
    }
}

enum { TILE = 256 };                    /* columns at a time, so that rows are read in a stream */

/* Units are tiles of columns: each adds its own of all rows, in their order. */
static void backward_wb(gra_tensor *y, size_t from, size_t to)
{
    real *dw = y->in[1] ? y->in[1]->grad : NULL, *db = y->in[2] ? y->in[2]->grad : NULL;
    const size_t n = row_size(y), m = rows(y);
    for (size_t i = from * TILE, width; i < n && i < to * TILE; i += width) {
        const real *x = y->in[0]->data + i, *dy = y->grad + i;
        real sum_w[TILE] = { 0 }, sum_b[TILE] = { 0 };
        width = n - i < TILE ? n - i : TILE;
        for (size_t k = 0; k < m; k++) {
            const real mean = y->saved[2 * k], r = y->saved[2 * k + 1];
            for (size_t j = 0; j < width; j++) {
                real z = (x[k * n + j] - mean) * r;
                sum_w[j] += dy[k * n + j] * z;
                sum_b[j] += dy[k * n + j];
            }
        }
        for (size_t j = 0; dw && j < width; j++)
            dw[i + j] += sum_w[j];
        for (size_t j = 0; db && j < width; j++)
            db[i + j] += sum_b[j];
    }
}

GRA_KERNEL(forward_all, forward, y, rows(y), 8 * row_size(y))
GRA_KERNEL(backward_x_all, backward_x, y, rows(y), 12 * row_size(y))
GRA_KERNEL(backward_wb_all, backward_wb, y, y->size ? (row_size(y) + TILE - 1) / TILE : 0, 4 * rows(y) * TILE)

static void backward(gra_tensor *y)
{
    if (y->in[0]->grad)
        backward_x_all(y);
    if ((y->in[1] && y->in[1]->grad) || (y->in[2] && y->in[2]->grad))
        backward_wb_all(y);
}

gra_tensor *gra_layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b, double eps)
{
    static const gra_op op = { .name = "layer_norm", .forward = forward_all, .backward = backward,
                               .saved = saved, .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "layer_norm", x, w ? w : x, b ? b : x))
        return gra_empty(t);
    if (x->shape.ndim == 0)
        return gra_fail(t, "layer_norm: x is (): wanted at least one dimension to take the mean over");
    int n = x->shape.dim[x->shape.ndim - 1];
    if (w && (w->shape.ndim != 1 || w->shape.dim[0] != n))
        return gra_fail(t, "layer_norm: weight is %s but x is %s: wanted (%d)", GRA_SHAPE_OF(w),
                        GRA_SHAPE_OF(x), n);
    if (b && (b->shape.ndim != 1 || b->shape.dim[0] != n))
        return gra_fail(t, "layer_norm: bias is %s but x is %s: wanted (%d)", GRA_SHAPE_OF(b),
                        GRA_SHAPE_OF(x), n);
    gra_tensor *y = gra_result(t, &op, x->shape, x, w, b);
    *(struct args *)y->args = (struct args){ eps };
    return gra_run(y);
}
