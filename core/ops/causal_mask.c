/* causal_mask: y = -inf where column > row + n - m, else x; dx += dy where y is x. x (..., m, n) contains the
 * scores of m queries for n keys; the last query has the position of the last key. */
#include "../kernel.h"
#include "ops.h"

/* The number of columns that row r, counted over all matrices, keeps. */
static inline size_t visible(const gra_tensor *y, size_t r)
{
    size_t m = (size_t)y->shape.dim[y->shape.ndim - 2], n = op_row_size(y);
    size_t count = r % m + 1 + n;
    return count <= m ? 0 : count - m < n ? count - m : n;
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = op_row_size(y);
    for (size_t r = from; r < to; r++) {
        const real *x = y->in[0]->data + r * n;
        size_t seen = visible(y, r);
        for (size_t i = 0; i < seen; i++)
            y->data[r * n + i] = x[i];
        for (size_t i = seen; i < n; i++)
            y->data[r * n + i] = -(real)INFINITY;
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const size_t n = op_row_size(y);
    for (size_t r = from; r < to; r++) {
        const real *dy = y->grad + r * n;
        real *dx = y->in[0]->grad + r * n;
        size_t seen = visible(y, r);
        for (size_t i = 0; i < seen; i++)
            dx[i] += dy[i];
    }
}

GRA_KERNEL(forward_all, forward, y, op_rows(y), op_row_size(y))
GRA_KERNEL(backward_all, backward, y, op_rows(y), op_row_size(y))

gra_tensor *gra_causal_mask(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "causal_mask", .forward = forward_all, .backward = backward_all,
                               .may_make_inf = true };
    if (GRA_BAD_INPUTS(t, "causal_mask", x))
        return gra_empty(t);
    if (x->shape.ndim < 2)
        return gra_fail(t, "causal_mask: got x %s, expected (..., queries, keys)", GRA_SHAPE_OF(x));
    return gra_run(gra_result_like(t, &op, x));
}
