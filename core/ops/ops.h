/* ops.h: checks and computations that several ops share. A failed check leaves an error in the tape. */
#ifndef GRADUS_OPS_H
#define GRADUS_OPS_H

#include "../op.h"

/* d as a dimension of x: 0 <= result < ndim, or -1 if x is a bad input or has no such dimension. */
static inline int op_dim(gra_tape *t, const char *op, gra_tensor *x, int d)
{
    if (GRA_BAD_INPUTS(t, op, x))
        return -1;
    const int dim = gra_wrap_dim(x->shape, d);
    if (dim < 0)
        gra_fail(t, "%s: got dimension %d of a tensor %s, expected one of its %d dimensions: count them from "
                 "0, or from the end with -1", op, d, GRA_SHAPE_OF(x), x->shape.ndim);
    return dim;
}

/* For an op on rows along the last dimension of the result y. */
static inline size_t op_row_size(const gra_tensor *y) { return (size_t)gra_dim(y, -1); }
static inline size_t op_rows(const gra_tensor *y)     { return y->size ? y->size / op_row_size(y) : 0; }

/* For a loss: checks that its inputs have one shape. name: what the op calls x. */
static inline bool op_same_shape(gra_tape *t, const char *op, const char *name, gra_tensor *x,
                                     gra_tensor *target)
{
    if (GRA_BAD_INPUTS(t, op, x, target))
        return false;
    if (!gra_same_shape(x->shape, target->shape))
        gra_fail(t, "%s: got %s %s and target %s: their shapes differ", op, name, GRA_SHAPE_OF(x),
                 GRA_SHAPE_OF(target));
    return !gra_error(t);
}

/* For a norm: checks that x has a last dimension, and that w (a weight, a bias or NULL) has the same size. */
static inline bool op_last_dim(gra_tape *t, const char *op, gra_tensor *x, const char *name,
                                   const gra_tensor *w)
{
    if (x->shape.ndim == 0)
        gra_fail(t, "%s: got x (), expected at least one dimension to take the mean over", op);
    else if (w && (w->shape.ndim != 1 || w->shape.dim[0] != gra_dim(x, -1)))
        gra_fail(t, "%s: got %s %s for x %s, expected (%d)", op, name, GRA_SHAPE_OF(w), GRA_SHAPE_OF(x),
                 gra_dim(x, -1));
    return !gra_error(t);
}

/* For a reduction: the index in x of the first value of y_k; the following values lie a.inner apart. */
static inline size_t op_begin(gra_dim_split a, size_t k)
{
    return k / a.inner * a.n * a.inner + k % a.inner;
}

#endif
