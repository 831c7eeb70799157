/* along.h: softmax and log_softmax along any dimension. */
#ifndef GRADUS_ALONG_H
#define GRADUS_ALONG_H

#include "ops.h"

/* An op on rows, along dimension d. If d is not the last, x is transposed: rows are contiguous. */
static inline gra_tensor *op_along(gra_tape *t, const gra_op *op, gra_tensor *x, int d)
{
    const int dim = op_dim(t, op->name, x, d);
    if (dim < 0)
        return gra_empty(t);
    if (dim == x->shape.ndim - 1)
        return gra_run(gra_result_like(t, op, x));
    gra_tensor *y = gra_run(gra_result_like(t, op, gra_transpose(t, x, dim, -1)));
    return gra_transpose(t, y, dim, -1);
}

#endif
