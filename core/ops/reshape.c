/* reshape: the same values in the same order under another shape. y is a view: it shares data and
 * gradient with x, so there is nothing to compute in either direction. */
#include "../op.h"

gra_tensor *gra_reshape(gra_tape *t, gra_tensor *x, gra_shape shape)
{
    static const gra_op op = { .name = "reshape", .view = true };
    if (GRA_BAD_INPUTS(t, "reshape", x))
        return gra_empty(t);
    if (shape.ndim < 0 || shape.ndim > GRA_MAX_DIMS)
        return gra_fail(t, "reshape: to %d dimensions: wanted 0 to %d", shape.ndim, GRA_MAX_DIMS);

    gra_shape whole = shape;
    int open = -1;                                  /* the dimension that is -1 */
    char wanted[GRA_SHAPE_TEXT];
    gra_shape_text(shape, wanted);
    for (int d = 0; d < shape.ndim; d++) {
        if (shape.dim[d] != -1)
            continue;
        if (open >= 0)
            return gra_fail(t, "reshape: to %s: only one size may be -1", wanted);
        open = d;
        whole.dim[d] = 1;
    }
    size_t size;
    if (!gra_shape_size(whole, &size))
        return gra_fail(t, "reshape: to %s: a size is negative, or there are too many values", wanted);
    if (open >= 0 && size == 0)
        return gra_fail(t, "reshape: to %s: beside a 0, -1 may be any size", wanted);
    if (open >= 0 && x->size % size == 0 && x->size / size <= INT_MAX) {
        whole.dim[open] = (int)(x->size / size);
        size = x->size;
    }
    if (size != x->size)
        return gra_fail(t, "reshape: x is %s, %zu values: they do not fill %s", GRA_SHAPE_OF(x), x->size,
                        wanted);
    return gra_run(gra_result(t, &op, whole, x));
}
