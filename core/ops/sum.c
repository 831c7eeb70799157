/* sum: y = sum_i x_i over all values, or over one dimension; dx_i += dy.
 * mean: the sum times 1 / n. The mean of nothing is 0/0, NaN. */
#include "../kernel.h"
#include "../kern/sums.h"
#include "ops.h"

struct args {
    gra_dim_split around;                           /* x is (outer, n, inner), y (outer, inner) */
};

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const gra_dim_split a = ((const struct args *)y->args)->around;
    for (size_t k = from, width; k < to; k += width) {
        const size_t o = k / a.inner, j = k % a.inner, left = a.inner - j < to - k ? a.inner - j : to - k;
        double sum[SUMS_WIDTH];
        width = left < SUMS_WIDTH ? left : SUMS_WIDTH;
        memset(sum, 0, width * sizeof *sum);
        sum_rows(y->in[0]->data + o * a.n * a.inner + j, a.n, a.inner, width, sum);
        for (size_t i = 0; i < width; i++)
            y->data[k + i] = (real)sum[i];
    }
}

/* Units are the rows of x: row r = (o, i) has `inner` values, and value j of the row gets dy of (o, j). */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    const gra_dim_split a = ((const struct args *)y->args)->around;
    real *dx = y->in[0]->grad;
    for (size_t r = from, end; r < to; r = end) {
        const real *dy = y->grad + r / a.n * a.inner;
        end = (r / a.n + 1) * a.n;
        end = end < to ? end : to;
        if (a.inner == 1)
            for (size_t i = r; i < end; i++)
                dx[i] += *dy;
        else
            for (size_t i = r; i < end; i++)
                for (size_t j = 0; j < a.inner; j++)
                    dx[i * a.inner + j] += dy[j];
    }
}

static gra_dim_split around(const gra_tensor *y)
{
    return ((const struct args *)y->args)->around;
}

GRA_KERNEL(forward_all, forward, y, y->size, around(y).n + 1)
GRA_KERNEL(backward_all, backward, y, y->in[0]->size ? around(y).outer * around(y).n : 0, around(y).inner)

static const gra_op op = { .name = "sum", .forward = forward_all, .backward = backward_all,
                           .args = sizeof(struct args), .args_text = "over %a" };

gra_tensor *gra_sum(gra_tape *t, gra_tensor *x)
{
    if (GRA_BAD_INPUTS(t, "sum", x))
        return gra_empty(t);
    gra_tensor *y = gra_result(t, &op, GRA_SCALAR, x);
    *(struct args *)y->args = (struct args){ { 1, x->size, 1 } };
    return gra_run(y);
}

/* `name` is the function that was called. */
static gra_tensor *sum_dim(gra_tape *t, const char *name, gra_tensor *x, int d, bool keepdim)
{
    const int dim = op_dim(t, name, x, d);
    if (dim < 0)
        return gra_empty(t);
    gra_tensor *y = gra_result(t, &op, gra_shape_without(x->shape, dim, keepdim), x);
    *(struct args *)y->args = (struct args){ gra_split_dim(x->shape, dim) };
    return gra_run(y);
}

gra_tensor *gra_sum_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim)
{
    return sum_dim(t, "sum_dim", x, d, keepdim);
}

gra_tensor *gra_mean(gra_tape *t, gra_tensor *x)
{
    if (GRA_BAD_INPUTS(t, "mean", x))
        return gra_empty(t);
    return gra_scale(t, gra_sum(t, x), 1 / (double)x->size);
}

gra_tensor *gra_mean_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim)
{
    gra_tensor *sum = sum_dim(t, "mean_dim", x, d, keepdim);
    return gra_scale(t, sum, 1 / (double)gra_dim(x, d));
}
