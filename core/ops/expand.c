/* expand: y has x's values under a shape to which x broadcasts: dimensions of size 1 are stretched, and new
 * dimensions come first. dx += dy, summed over stretched and new dimensions. */
#include "../kernel.h"

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *x = y->in[0]->data;
    const gra_shape shape = y->in[0]->shape;
    for (gra_walk w = gra_walk_begin(y->shape, shape, shape, from, to); w.n; gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            y->data[w.y + i] = x[w.a + i * w.step_a];
}

/* dx is indexed like y: GRA_BROADCAST_KERNEL sums it. */
static void backward(gra_tensor *y, size_t from, size_t to)
{
    real *dx = y->in[0]->grad;
    for (size_t i = from; i < to; i++)
        dx[i] += y->grad[i];
}

GRA_KERNEL(forward_all, forward, y, y->size, 1)
GRA_BROADCAST_KERNEL(backward_all, backward, y, 1)

gra_tensor *gra_expand(gra_tape *t, gra_tensor *x, gra_shape shape)
{
    static const gra_op op = { .name = "expand", .forward = forward_all, .backward = backward_all };
    if (GRA_BAD_INPUTS(t, "expand", x))
        return gra_empty(t);
    const int first = shape.ndim - x->shape.ndim;       /* the first dimension of y that x also has */
    if (first < 0 || shape.ndim > GRA_MAX_DIMS)
        return gra_fail(t, "expand: got %d sizes for a tensor %s, expected %d to %d: one for each dimension, "
                        "new dimensions first", shape.ndim, GRA_SHAPE_OF(x), x->shape.ndim, GRA_MAX_DIMS);
    gra_shape whole = shape;                            /* with -1 replaced */
    for (int d = 0; d < shape.ndim; d++) {
        const int n = d < first ? 1 : x->shape.dim[d - first];
        if (d >= first && shape.dim[d] == -1)
            whole.dim[d] = n;
        if (whole.dim[d] < 0 || (n != 1 && whole.dim[d] != n))
            return gra_fail(t, "expand: got shape %s for a tensor %s, expected its own sizes from the right: "
                            "only a 1 may change, -1 keeps a size, a new dimension has no size to keep",
                            GRA_SHAPE_STRING(shape), GRA_SHAPE_OF(x));
    }
    return gra_run(gra_result(t, &op, whole, x));
}
