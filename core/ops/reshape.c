/* reshape: the same values in the same order under another shape. y is a view: it shares data and
 * gradient with x, so there is nothing to compute in either direction. */
#include "../op.h"

gra_tensor *gra_reshape(gra_tape *t, gra_tensor *x, gra_shape shape)
{
    static const gra_op op = { .name = "reshape", .view = true };
    if (GRA_BAD_INPUTS(t, "reshape", x))
        return gra_empty(t);
    if (shape.ndim < 0 || shape.ndim > GRA_MAX_DIMS)
        return gra_fail(t, "reshape: got %d dimensions, expected 0 to %d", shape.ndim, GRA_MAX_DIMS);

    gra_shape whole = shape;
    int open = -1;                                  /* the dimension that is -1 */
    for (int d = 0; d < shape.ndim; d++) {
        if (shape.dim[d] != -1)
            continue;
        if (open >= 0)
            return gra_fail(t, "reshape: got shape %s, expected at most one -1", GRA_SHAPE_STRING(shape));
        open = d;
        whole.dim[d] = 1;
    }
    size_t size;
    if (!gra_shape_size(whole, &size))
        return gra_fail(t, "reshape: got shape %s: a size is negative, or there are too many values",
                        GRA_SHAPE_STRING(shape));
    if (open >= 0 && size == 0)
        return gra_fail(t, "reshape: got shape %s: beside a 0, -1 could be any size",
                        GRA_SHAPE_STRING(shape));
    if (open >= 0 && x->size % size == 0 && x->size / size <= INT_MAX) {
        whole.dim[open] = (int)(x->size / size);
        size = x->size;
    }
    if (size != x->size)
        return gra_fail(t, "reshape: got x %s and shape %s: the %zu values do not fill it", GRA_SHAPE_OF(x),
                        GRA_SHAPE_STRING(shape), x->size);
    return gra_run(gra_result(t, &op, whole, x));
}
