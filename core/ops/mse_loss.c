/* mse_loss: y = sum_i (x_i - t_i)^2 / n, dx_i += dy 2 (x_i - t_i) / n, and dt_i -= the same. */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

enum { BLOCK = 1024 };

/* Blocks are summed in double: the error does not grow with n. */
static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *target = y->in[1]->data;
    const size_t n = y->in[0]->size;
    double sum = 0;
    real d[BLOCK];
    for (size_t i = 0; i < n; i += BLOCK) {
        size_t m = n - i < BLOCK ? n - i : BLOCK;
        for (size_t j = 0; j < m; j++)
            d[j] = x[i + j] - target[i + j];
        sum += (double)real_dot(d, d, m);
    }
    y->data[0] = (real)(sum / (double)n);
    (void)from, (void)to;                           /* one value, one unit */
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data, *target = y->in[1]->data;
    const real g = y->grad[0] * 2 / (real)y->in[0]->size;
    real *dx = y->in[0]->grad, *dt = y->in[1]->grad;
    for (size_t i = from; dx && i < to; i++)
        dx[i] += g * (x[i] - target[i]);
    for (size_t i = from; dt && i < to; i++)
        dt[i] -= g * (x[i] - target[i]);
}

GRA_KERNEL(forward_all, forward, y, 1, GRA_SERIAL)
GRA_KERNEL(backward_all, backward, y, y->in[0]->size, 3)

gra_tensor *gra_mse_loss(gra_tape *t, gra_tensor *x, gra_tensor *target)
{
    static const gra_op op = { .name = "mse_loss", .forward = forward_all, .backward = backward_all };
    if (!op_same_shape(t, "mse_loss", "x", x, target))
        return gra_empty(t);
    return gra_run(gra_result(t, &op, GRA_SCALAR, x, target));
}
