/* along.h: softmax and log_softmax along any dimension. Such an op is two functions of a row of n values:
 * forward_row(x, y, n), and backward_row(y, dy, dx, n), which adds to dx. After them,
 *
 *     ALONG(gra_softmax, "softmax", 16, 4)
 *
 * defines the op; the numbers are the costs of a value in each function, roughly in additions (kernel.h). If
 * the dimension is not the last, x is transposed to make the rows contiguous. */
#ifndef GRADUS_ALONG_H
#define GRADUS_ALONG_H

#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

#define ALONG(function, title, cost, cost_back)                                                          \
    static void forward(gra_tensor *y, size_t from, size_t to)                                           \
    {                                                                                                    \
        const size_t n = op_row_size(y);                                                                 \
        for (size_t row = from; row < to; row++)                                                         \
            forward_row(y->in[0]->data + row * n, y->data + row * n, n);                                 \
    }                                                                                                    \
    static void backward(gra_tensor *y, size_t from, size_t to)                                          \
    {                                                                                                    \
        const size_t n = op_row_size(y);                                                                 \
        for (size_t row = from; row < to; row++)                                                         \
            backward_row(y->data + row * n, y->grad + row * n, y->in[0]->grad + row * n, n);             \
    }                                                                                                    \
    GRA_KERNEL(forward_all, forward, y, op_rows(y), cost * op_row_size(y))                               \
    GRA_KERNEL(backward_all, backward, y, op_rows(y), cost_back * op_row_size(y))                        \
    gra_tensor *function(gra_tape *t, gra_tensor *x, int d)                                              \
    {                                                                                                    \
        static const gra_op op = { .name = title, .forward = forward_all, .backward = backward_all };    \
        const int dim = op_dim(t, title, x, d);                                                          \
        if (dim < 0)                                                                                     \
            return gra_empty(t);                                                                         \
        if (dim == x->shape.ndim - 1)                                                                    \
            return gra_run(gra_result_like(t, &op, x));                                                  \
        gra_tensor *y = gra_run(gra_result_like(t, &op, gra_transpose(t, x, dim, -1)));                  \
        return gra_transpose(t, y, dim, -1);                                                             \
    }

#endif
