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
 * leaves z unchanged, so the gradient has no such part. dw and db are those of a product and of a sum, added
 * up over the rows.
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
    const double *w = y->in[1]->data, *dy = y->grad;
    double *dx = y->in[0]->grad, *dw = y->in[1]->grad, *db = y->in[2]->grad;    /* each may be NULL */
    const int rows = y->shape.dim[0], n = y->shape.dim[1];
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

gra_tensor *layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b)
{
    static const gra_op op = { .name = "my_layer_norm", .forward = forward, .backward = backward,
                               .saved = saved };
    return gra_run(gra_result(t, &op, x->shape, x, w, b));
}
