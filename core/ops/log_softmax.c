/* log_softmax: y_i = x_i - m - log sum_j e^(x_j - m) along one dimension, where m = max_j x_j,
 *              dx_i += dy_i - e^y_i sum_j dy_j.
 * Subtracting m changes nothing, but keeps e^x from overflowing. The largest x adds 1 to the sum, so the
 * logarithm is log1p of the sum of the other terms: this keeps all digits of that sum even if it is far below
 * 1. A row whose values are all -inf (masked) stays -inf, the logarithm of softmax's zeros. */
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

ALONG(gra_log_softmax, "log_softmax", 16, 12)
