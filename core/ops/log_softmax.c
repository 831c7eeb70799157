/* log_softmax: y_i = x_i - m - log sum_j e^(x_j - m) along one dimension, m = max_j x_j; subtracting
 * m changes nothing but keeps e^x from overflowing. A row that is -inf throughout (all masked) stays so:
 * the log of softmax's zeros. dx_i += dy_i - e^y_i sum_j dy_j. */
#include "../op.h"
#include "../kern/math.h"

struct args {
    gra_around around;                  /* x is (outer, n, inner): rows of n values that lie inner apart */
};

static void row(const real *x, real *y, size_t n)
{
    real m = real_max(x, n);
    if (m == -(real)INFINITY) {
        memcpy(y, x, n * sizeof *y);
        return;
    }
    for (size_t i = 0; i < n; i++)
        y[i] = real_exp_neg(x[i] - m);
    real log_sum = real_log(real_sum(y, n));
    for (size_t i = 0; i < n; i++)
        y[i] = x[i] - m - log_sum;
}

static void row_backward(const real *y, const real *dy, real *dx, size_t n)
{
    real sum = real_sum(dy, n);
    for (size_t i = 0; i < n; i++)
        dx[i] += dy[i] - real_exp_neg(y[i]) * sum;
}

/* The same for a row whose values lie `step` apart; end is its end. */
static void strided_row(const real *x, real *y, size_t end, size_t step)
{
    real m = x[0], sum = 0;
    for (size_t i = step; i < end; i += step)
        m = larger(m, x[i]);
    for (size_t i = 0; i < end; i += step)
        sum += real_exp_neg(x[i] - m);
    real log_sum = real_log(sum);
    for (size_t i = 0; i < end; i += step)
        y[i] = m == -(real)INFINITY ? m : x[i] - m - log_sum;
}

static void strided_row_backward(const real *y, const real *dy, real *dx, size_t end, size_t step)
{
    real sum = 0;
    for (size_t i = 0; i < end; i += step)
        sum += dy[i];
    for (size_t i = 0; i < end; i += step)
        dx[i] += dy[i] - real_exp_neg(y[i]) * sum;
}

/* Row r = (o, j) begins at (o, 0, j). */
static inline size_t begin(gra_around a, size_t r)
{
    return r / a.inner * a.n * a.inner + r % a.inner;
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const gra_around a = ((const struct args *)y->args)->around;
    const real *x = y->in[0]->data;
    for (size_t r = from; r < to; r++)
        if (a.inner == 1)
            row(x + r * a.n, y->data + r * a.n, a.n);
        else
            strided_row(x + begin(a, r), y->data + begin(a, r), a.n * a.inner, a.inner);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const gra_around a = ((const struct args *)y->args)->around;
    real *dx = y->in[0]->grad;
    for (size_t r = from; r < to; r++)
        if (a.inner == 1)
            row_backward(y->data + r * a.n, y->grad + r * a.n, dx + r * a.n, a.n);
        else
            strided_row_backward(y->data + begin(a, r), y->grad + begin(a, r), dx + begin(a, r),
                                 a.n * a.inner, a.inner);
}

static size_t row_size(const gra_tensor *y)
{
    return ((const struct args *)y->args)->around.n;
}

GRA_KERNEL(forward, y->size ? y->size / row_size(y) : 0, 16 * row_size(y))
GRA_KERNEL(backward, y->size ? y->size / row_size(y) : 0, 12 * row_size(y))

gra_tensor *gra_log_softmax(gra_tape *t, gra_tensor *x, int d)
{
    static const gra_op op = { .name = "log_softmax", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "log_softmax", x))
        return gra_empty(t);
    int dim = gra_wrap_dim(x, d);
    if (dim < 0)
        return gra_fail(t, "log_softmax: dimension %d of a tensor %s: it has %d dimensions", d,
                        GRA_SHAPE_OF(x), x->ndim);
    gra_tensor *y = gra_result_like(t, &op, x);
    *(struct args *)y->args = (struct args){ gra_around_dim(x, dim) };
    return gra_run(y);
}
