/* squeeze: x without dimension dim, where its size is 1; of another size it stays. A view, as reshape is. */
#include "../op.h"

gra_tensor *gra_squeeze(gra_tape *t, gra_tensor *x, int dim)
{
    static const gra_op op = { .name = "squeeze", .view = true };
    if (GRA_BAD_INPUTS(t, "squeeze", x))
        return gra_empty(t);
    const int d = gra_wrap_dim(x->shape, dim);
    if (d < 0)
        return gra_fail(t, "squeeze: got dimension %d of a tensor %s, expected one of its %d dimensions: "
                        "count them from 0, or from the end with -1", dim, GRA_SHAPE_OF(x), x->shape.ndim);
    const gra_shape shape = x->shape.dim[d] == 1 ? gra_shape_without(x->shape, d, false) : x->shape;
    return gra_run(gra_result(t, &op, shape, x));
}
