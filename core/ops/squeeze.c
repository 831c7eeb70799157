/* squeeze: x without dimension dim, if its size is 1; otherwise x itself. A view, like reshape. */
#include "ops.h"

gra_tensor *gra_squeeze(gra_tape *t, gra_tensor *x, int dim)
{
    static const gra_op op = { .name = "squeeze", .view = true };
    const int d = op_dim(t, "squeeze", x, dim);
    if (d < 0)
        return gra_empty(t);
    const gra_shape shape = x->shape.dim[d] == 1 ? gra_shape_without(x->shape, d, false) : x->shape;
    return gra_run(gra_result(t, &op, shape, x));
}
