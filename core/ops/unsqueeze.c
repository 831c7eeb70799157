/* unsqueeze: x with a new dimension dim, of size 1. A view, like reshape. */
#include "../op.h"

gra_tensor *gra_unsqueeze(gra_tape *t, gra_tensor *x, int dim)
{
    static const gra_op op = { .name = "unsqueeze", .view = true };
    if (GRA_BAD_INPUTS(t, "unsqueeze", x))
        return gra_empty(t);
    const int ndim = x->shape.ndim + 1, d = dim < 0 ? dim + ndim : dim;
    if (ndim > GRA_MAX_DIMS)
        return gra_fail(t, "unsqueeze: got a tensor %s, expected one of at most %d dimensions: there is no "
                        "room for another", GRA_SHAPE_OF(x), GRA_MAX_DIMS - 1);
    if (d < 0 || d >= ndim)
        return gra_fail(t, "unsqueeze: got dimension %d for a tensor %s, expected %d to %d: count from 0, or "
                        "from the end with -1", dim, GRA_SHAPE_OF(x), -ndim, ndim - 1);
    gra_shape shape = { .ndim = ndim };
    for (int i = 0; i < ndim; i++)
        shape.dim[i] = i < d ? x->shape.dim[i] : i > d ? x->shape.dim[i - 1] : 1;
    return gra_run(gra_result(t, &op, shape, x));
}
