/* softmax: y_i = e^(x_i - m) / sum_j e^(x_j - m) along one dimension, where m = max_j x_j,
 *          dx_i += y_i (dy_i - sum_j dy_j y_j).
 * Subtracting m changes nothing, but keeps e^x from overflowing. A row that is -inf throughout (all masked)
 * gives zeros. */
#include "../kernel.h"
#include "../kern/vmath.h"
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
GRA_KERNEL(backward_all, backward, y, op_rows(y), 4 * op_row_size(y))

gra_tensor *gra_softmax(gra_tape *t, gra_tensor *x, int d)
{
    static const gra_op op = { .name = "softmax", .forward = forward_all, .backward = backward_all };
    return op_along(t, &op, x, d);
}
