/* concat: y is x_0, x_1, ... one after the other along dimension d; dx_k += the part of dy for x_k.
 * stack: the same along a new dimension of size n. */
#include "../kernel.h"
#include "ops.h"

struct args {
    int d;
};

/* y is (outer, n, inner) around d, and so is each x_k, with its own n: for each o, row o of x_k follows row o
 * of x_(k-1). A unit is one o, whose parts are all computed by one thread, since x_k may be the same tensor
 * for several k. */
static size_t row_size(const gra_tensor *x, int d)
{
    gra_dim_split a = gra_split_dim(x->shape, d);
    return a.n * a.inner;
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const int d = ((const struct args *)y->args)->d;
    const size_t n = row_size(y, d);
    size_t begin = 0;
    for (int k = 0; k < y->nin; k++) {
        const size_t nk = row_size(y->in[k], d);
        for (size_t o = from; o < to; o++)
            memcpy(y->data + o * n + begin, y->in[k]->data + o * nk, nk * sizeof(real));
        begin += nk;
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const int d = ((const struct args *)y->args)->d;
    const size_t n = row_size(y, d);
    size_t begin = 0;
    for (int k = 0; k < y->nin; k++) {
        const size_t nk = row_size(y->in[k], d);
        real *dx = y->in[k]->grad;
        for (size_t o = from; dx && o < to; o++)
            for (size_t i = 0; i < nk; i++)
                dx[o * nk + i] += y->grad[o * n + begin + i];
        begin += nk;
    }
}

static size_t rows(const gra_tensor *y)
{
    return y->size ? gra_split_dim(y->shape, ((const struct args *)y->args)->d).outer : 0;
}

GRA_KERNEL(forward_all, forward, y, rows(y), row_size(y, ((const struct args *)y->args)->d))
GRA_KERNEL(backward_all, backward, y, rows(y), 2 * row_size(y, ((const struct args *)y->args)->d))

static bool given(gra_tape *t, const char *op, int n, gra_tensor *const *x)
{
    if (n < 1)
        gra_fail(t, "%s: got %d tensors, expected at least one", op, n);
    else if (!x)
        gra_fail(t, "%s: got NULL for the tensors, expected an array of %d", op, n);
    else
        return !gra_bad_inputs(t, op, n, x);
    return false;
}

gra_tensor *gra_concat(gra_tape *t, int n, gra_tensor *const *x, int d)
{
    static const gra_op op = { .name = "concat", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "in dimension %d" };
    if (!given(t, "concat", n, x))
        return gra_empty(t);
    const int dim = op_dim(t, "concat", x[0], d);
    if (dim < 0)
        return gra_empty(t);
    gra_shape shape = x[0]->shape;
    for (int k = 1; k < n; k++) {
        bool fits = x[k]->shape.ndim == x[0]->shape.ndim;
        for (int i = 0; fits && i < x[0]->shape.ndim; i++)
            fits = i == dim || x[k]->shape.dim[i] == x[0]->shape.dim[i];
        if (!fits)
            return gra_fail(t, "concat: got tensor 0 %s and tensor %d %s, expected them to differ only in "
                            "dimension %d", GRA_SHAPE_OF(x[0]), k, GRA_SHAPE_OF(x[k]), dim);
        if (x[k]->shape.dim[dim] > INT_MAX - shape.dim[dim])
            return gra_fail(t, "concat: dimension %d would have more than %d entries", dim, INT_MAX);
        shape.dim[dim] += x[k]->shape.dim[dim];
    }
    gra_tensor *y = gra_result_n(t, &op, shape, n, x);
    *(struct args *)y->args = (struct args){ dim };
    return gra_run(y);
}

gra_tensor *gra_stack(gra_tape *t, int n, gra_tensor *const *x, int d)
{
    if (!given(t, "stack", n, x))
        return gra_empty(t);
    const int ndim = x[0]->shape.ndim + 1, dim = d < 0 ? d + ndim : d;
    if (dim < 0 || dim >= ndim || ndim > GRA_MAX_DIMS)
        return gra_fail(t, "stack: got new dimension %d for tensors %s, expected %d to %d, and at most %d "
                        "dimensions in all", d, GRA_SHAPE_OF(x[0]), -ndim, ndim - 1, GRA_MAX_DIMS);
    gra_tensor **row = gra_alloc(t, (size_t)n * sizeof *row);
    for (int k = 0; row && k < n; k++) {
        if (!gra_same_shape(x[k]->shape, x[0]->shape))
            return gra_fail(t, "stack: got tensor 0 %s and tensor %d %s, expected one shape",
                            GRA_SHAPE_OF(x[0]), k, GRA_SHAPE_OF(x[k]));
        row[k] = gra_unsqueeze(t, x[k], dim);
    }
    return row ? gra_concat(t, n, row, dim) : gra_empty(t);
}
