/* 10 layer_norm: rows of mean 0 and variance 1.
 *
 * Each layer multiplies what passes through it, so a stack of layers may make numbers huge or tiny. Layer
 * norm (Ba, Kiros & Hinton 2016) gives each row of x, of n numbers, the mean 0 and the variance 1; then w and
 * b, which are learned, scale and shift each column:
 *
 *     mean = sum of x_i / n       var = sum of (x_i - mean)^2 / n       r = 1 / sqrt(var + eps)
 *     z_i = (x_i - mean) r        y_i = z_i w_i + b_i
 *
 * Here eps = 1e-5, for rows whose numbers are all equal. Numbers may be near 1e6 and differ by only 1: then
 * mean(x^2) - mean^2 has lost all its digits.
 *
 * Backward: dy has the shape of y; find dx, dw and db. Each y_i depends on x_i directly, and on every x of
 * its row through mean and r, which is why dx has more terms than it seems to. Write g_i = dy_i w_i for the
 * gradient of z_i, and use dmean/dx_j = 1/n and dr/dx_j = -r^2 z_j / n: this leads to two sums over the row,
 * which each x_j needs. w and b are used in every row, so their gradients are sums over rows.
 *
 * x is row-major, (rows, n); w and b have n numbers. The grad of a tensor that needs no gradient is NULL:
 * test before you write there. y->saved has room for as many numbers as x has, and two more for each row: if
 * you like, keep there in forward what backward needs.
 */
/* 10 layer_norm, solved.
 *
 * With z_i = (x_i - mean) r, x_j changes z_i in three ways: directly, through the mean, and through r:
 *
 *     dz_i/dx_j = r [i = j] - r/n + (x_i - mean) (-r^2 z_j / n) = r ([i = j] - 1/n - z_i z_j / n)
 *
 * Summed over i with the weights g_i = dy_i w_i:
 *
 *     dx_j = r (g_j - mean of g - z_j mean of (g z))
 *
 * The two means remove from g what layer norm does not pass on: adding a number to a row, or scaling it,
 * leaves z unchanged, so the gradient has no part in those directions. dw and db are the gradients of a
 * product and of a sum, added up over the rows.
 */
#include "exercises.h"

static const double eps = 1e-5;

static size_t saved(const gra_tensor *y)
{
    return y->size + 2 * (size_t)y->shape.dim[0];
}

static void forward(gra_tensor *y)
{
    const double *x = y->in[0]->data, *w = y->in[1]->data, *b = y->in[2]->data;
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
//| (void)x, (void)w, (void)b, (void)rows, (void)n, (void)eps;           /* TO DO: y->data[r * n + i] = ... */
    for (int k = 0; k < rows; k++) {
        double mean = 0, var = 0, *z = y->saved + k * n;
        for (int i = 0; i < n; i++)
            mean += x[k * n + i] / n;
        for (int i = 0; i < n; i++)
            var += (x[k * n + i] - mean) * (x[k * n + i] - mean) / n;
        const double r = 1 / sqrt(var + eps);
        for (int i = 0; i < n; i++) {
            z[i] = (x[k * n + i] - mean) * r;
            y->data[k * n + i] = z[i] * w[i] + b[i];
        }
        y->saved[rows * n + k] = r;                     /* after all z */
    }
}

static void backward(gra_tensor *y)
{
//| const double *dy = y->grad;
    const double *w = y->in[1]->data, *dy = y->grad;
//}
    double *dx = y->in[0]->grad, *dw = y->in[1]->grad, *db = y->in[2]->grad;    /* each may be NULL */
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
//| (void)dy, (void)dx, (void)dw, (void)db, (void)rows, (void)n;            /* TO DO */
    for (int k = 0; k < rows; k++) {
        const double *z = y->saved + k * n, r = y->saved[rows * n + k];
        double mean_g = 0, mean_gz = 0;
        for (int i = 0; i < n; i++) {
            const double g = dy[k * n + i] * w[i];
            mean_g += g / n;
            mean_gz += g * z[i] / n;
        }
        for (int i = 0; i < n; i++) {
            if (dx)
                dx[k * n + i] += r * (dy[k * n + i] * w[i] - mean_g - z[i] * mean_gz);
            if (dw)
                dw[i] += dy[k * n + i] * z[i];
            if (db)
                db[i] += dy[k * n + i];
        }
    }
}

/* Records the op: leave this as it is. */
gra_tensor *layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b)
{
    static const gra_op op = { .name = "my_layer_norm", .forward = forward, .backward = backward,
                               .saved = saved };
    return gra_run(gra_result(t, &op, x->shape, x, w, b));
}
