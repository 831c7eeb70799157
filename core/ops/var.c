/* var: y = sum_i (x_i - m)^2 / (n - c) over all values, or over one dimension; m is their mean, and c the
 * correction: 1 for a sample (Bessel's, PyTorch's default), 0 for the whole population (layer norm's).
 * dx_i += dy 2 (x_i - m) / (n - c): m itself adds 0, since the deviations from a mean sum to 0. The mean m is
 * kept as the sum of two reals: if the values are nearly equal, x_i minus the first real is exact. */
#include "../kernel.h"
#include "ops.h"

struct args {
    gra_dim_split around;               /* x is (outer, n, inner), y (outer, inner) */
    double     correction;
};

static size_t saved(const gra_tensor *y) { return 2 * y->size; }        /* the means: m = [2k] + [2k + 1] */

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *s = y->args;
    const gra_dim_split a = s->around;
    for (size_t k = from; k < to; k++) {
        const real *x = y->in[0]->data + op_begin(a, k);
        double mean = 0, rest = 0, sum = 0;             /* in double: the error does not grow with n */
        for (size_t i = 0; i < a.n; i++)
            mean += (double)x[i * a.inner];
        const real near = (real)(mean / (double)a.n);
        for (size_t i = 0; i < a.n; i++) {
            const double d = (double)x[i * a.inner] - (double)near;
            rest += d;
            sum += d * d;
        }
        sum -= rest * (rest / (double)a.n);             /* now of the deviations from the mean */
        y->saved[2 * k] = near;
        y->saved[2 * k + 1] = (real)(rest / (double)a.n);
        y->data[k] = (real)((sum < 0 ? 0 : sum) / fmax((double)a.n - s->correction, 0));
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *s = y->args;
    const gra_dim_split a = s->around;
    const real factor = (real)(2 / fmax((double)a.n - s->correction, 0));
    for (size_t k = from; k < to; k++) {
        const real *x = y->in[0]->data + op_begin(a, k);
        real *dx = y->in[0]->grad + op_begin(a, k);
        for (size_t i = 0; i < a.n; i++)
            dx[i * a.inner] += y->grad[k] * factor * (x[i * a.inner] - y->saved[2 * k] - y->saved[2 * k + 1]);
    }
}

static size_t row_size(const gra_tensor *y) { return ((const struct args *)y->args)->around.n; }

GRA_KERNEL(forward_all, forward, y, y->size, 5 * row_size(y))
GRA_KERNEL(backward_all, backward, y, y->size, 4 * row_size(y))

static gra_tensor *var(gra_tape *t, gra_tensor *x, gra_shape shape, gra_dim_split around, double correction)
{
    static const gra_op op = { .name = "var", .forward = forward_all, .backward = backward_all,
                               .saved = saved, .args = sizeof(struct args),
                               .args_text = "over %a, correction %g" };
    gra_tensor *y = gra_result(t, &op, shape, x);
    *(struct args *)y->args = (struct args){ around, correction };
    return gra_run(y);
}

gra_tensor *gra_var(gra_tape *t, gra_tensor *x, double correction)
{
    if (GRA_BAD_INPUTS(t, "var", x))
        return gra_empty(t);
    return var(t, x, GRA_SCALAR, (gra_dim_split){ 1, x->size, 1 }, correction);
}

gra_tensor *gra_var_dim(gra_tape *t, gra_tensor *x, int d, double correction, bool keepdim)
{
    const int dim = op_dim(t, "var_dim", x, d);
    if (dim < 0)
        return gra_empty(t);
    return var(t, x, gra_shape_without(x->shape, dim, keepdim), gra_split_dim(x->shape, dim), correction);
}
