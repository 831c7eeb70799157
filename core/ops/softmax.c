/* softmax: y_i = e^(x_i - m) / sum_j e^(x_j - m) along one dimension, where m = max_j x_j,
 *          dx_i += y_i (dy_i - sum_j dy_j y_j).
 * Subtracting m changes nothing, but keeps e^x from overflowing. A row whose values are all -inf (masked)
 * gives zeros. */
#include "along.h"

static inline void forward_row(const real *x, real *y, size_t n)
{
    const real m = real_max(x, n);
    for (size_t i = 0; i < n; i++)
        y[i] = m == -(real)INFINITY ? 0 : real_exp_below_0(x[i] - m);       /* e^(x_i - m) */
    const real sum = real_sum(y, n);
    for (size_t i = 0; i < n; i++)
        y[i] = sum == 0 ? 0 : y[i] / sum;           /* y_i = e^(x_i - m) / sum_j e^(x_j - m) */
}

static inline void backward_row(const real *y, const real *dy, real *dx, size_t n)
{
    const real dot = real_dot(dy, y, n);            /* sum_j dy_j y_j */
    for (size_t i = 0; i < n; i++)
        dx[i] += y[i] * (dy[i] - dot);              /* dx_i += y_i (dy_i - sum_j dy_j y_j) */
}

ALONG(gra_softmax, "softmax", 16, 4)
