/* log_softmax: y_i = x_i - m - log sum_j e^(x_j - m) along one dimension, where m = max_j x_j,
 *              dx_i += dy_i - e^y_i sum_j dy_j.
 * Subtracting m changes nothing, but keeps e^x from overflowing. The largest x adds 1 to the sum: the
 * logarithm is log1p of the others', which keeps their digits where they are far below 1. A row that is
 * -inf throughout (all masked) stays -inf: the logarithm of softmax's zeros. */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "along.h"

static inline void forward_row(const real *x, real *y, size_t n)
{
    const real m = real_max(x, n);
    real_bits largest = 0;                          /* how many x_j are m */
    for (size_t i = 0; i < n; i++) {
        const real d = x[i] - m;
        largest += d == 0;
        y[i] = d == 0 ? 0 : real_exp_below_0(d);
    }
    const real log_sum = real_log1p(real_sum(y, n) + ((real)largest - 1));
    for (size_t i = 0; i < n; i++)
        y[i] = m == -(real)INFINITY ? m : x[i] - m - log_sum;
}

static inline void backward_row(const real *y, const real *dy, real *dx, size_t n)
{
    const real sum = real_sum(dy, n);
    for (size_t i = 0; i < n; i++)
        dx[i] += dy[i] - real_exp_below_0(y[i]) * sum;
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = op_row_size(y);
    for (size_t row = from; row < to; row++)
        forward_row(y->in[0]->data + row * n, y->data + row * n, n);
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = op_row_size(y);
    for (size_t row = from; row < to; row++)
        backward_row(y->data + row * n, y->grad + row * n, y->in[0]->grad + row * n, n);
}

GRA_KERNEL(forward_all, forward, y, op_rows(y), 16 * op_row_size(y))
GRA_KERNEL(backward_all, backward, y, op_rows(y), 12 * op_row_size(y))

gra_tensor *gra_log_softmax(gra_tape *t, gra_tensor *x, int d)
{
    static const gra_op op = { .name = "log_softmax", .forward = forward_all, .backward = backward_all };
    return op_along(t, &op, x, d);
}
