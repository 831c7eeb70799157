/* permute: dimension i of y is dimension dims[i] of x: y[..., k_i, ...] is x with index k_i in dimension
 * dims[i]; dx += dy, permuted back. transpose: the permutation that swaps two dimensions. */
#include "../kernel.h"
#include "ops.h"

struct args {
    int dims[GRA_MAX_DIMS];
};

/* y as matrices of m x n, its last two dimensions. From one row of y to the next, x advances by `row` values;
 * from one column to the next, by `col` values. */
struct layout {
    size_t m, n, row, col, stride[GRA_MAX_DIMS];    /* stride: of x, in the order of y's dimensions */
};

static struct layout layout_of(const gra_tensor *y)
{
    const int *dims = ((const struct args *)y->args)->dims;
    const gra_tensor *x = y->in[0];
    size_t stride[GRA_MAX_DIMS], next = 1;
    for (int d = x->shape.ndim - 1; d >= 0; d--) {
        stride[d] = next;
        next *= (size_t)x->shape.dim[d];
    }
    struct layout l = { .m = 1, .n = 1, .col = 1 };
    for (int i = 0; i < y->shape.ndim; i++)
        l.stride[i] = stride[dims[i]];
    if (y->shape.ndim >= 1) {
        l.n = (size_t)y->shape.dim[y->shape.ndim - 1];
        l.col = l.stride[y->shape.ndim - 1];
    }
    if (y->shape.ndim >= 2) {
        l.m = (size_t)y->shape.dim[y->shape.ndim - 2];
        l.row = l.stride[y->shape.ndim - 2];
    }
    return l;
}

/* Where in x the k-th matrix of y begins. */
static size_t matrix_begin(const gra_tensor *y, const struct layout *l, size_t k)
{
    size_t begin = 0;
    for (int d = y->shape.ndim - 3; d >= 0; d--) {
        begin += k % (size_t)y->shape.dim[d] * l->stride[d];
        k /= (size_t)y->shape.dim[d];
    }
    return begin;
}

/* Rows are copied in groups: in a transpose, neighbouring rows of y are neighbouring values of x, so a cache
 * line of x serves the whole group. */
enum { GROUP = 16 };

static inline void copy(const real *x, real *y, size_t rows, const struct layout *l)
{
    if (l->col == 1) {
        for (size_t i = 0; i < rows; i++)
            memcpy(y + i * l->n, x + i * l->row, l->n * sizeof *y);
        return;
    }
    for (size_t j = 0; j < l->n; j++)
        for (size_t i = 0; i < rows; i++)
            y[i * l->n + j] = x[i * l->row + j * l->col];
}

static inline void add_back(real *dx, const real *dy, size_t rows, const struct layout *l)
{
    if (l->col == 1) {
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < l->n; j++)
                dx[i * l->row + j] += dy[i * l->n + j];
        return;
    }
    for (size_t j = 0; j < l->n; j++)
        for (size_t i = 0; i < rows; i++)
            dx[i * l->row + j * l->col] += dy[i * l->n + j];
}

/* Copies the rows from <= r < to of y in groups, or adds them back in the backward. */
static inline void each_group(gra_tensor *y, size_t from, size_t to, bool back)
{
    const struct layout l = layout_of(y);
    for (size_t r = from, rows; r < to; r += rows) {
        rows = l.m - r % l.m < GROUP ? l.m - r % l.m : GROUP;
        rows = rows < to - r ? rows : to - r;
        size_t begin = matrix_begin(y, &l, r / l.m) + r % l.m * l.row;
        if (back)
            add_back(y->in[0]->grad + begin, y->grad + r * l.n, rows, &l);
        else
            copy(y->in[0]->data + begin, y->data + r * l.n, rows, &l);
    }
}

static void forward(gra_tensor *y, size_t from, size_t to)  { each_group(y, from, to, false); }
static void backward(gra_tensor *y, size_t from, size_t to) { each_group(y, from, to, true); }

static size_t row_size(const gra_tensor *y)
{
    return y->shape.ndim ? (size_t)y->shape.dim[y->shape.ndim - 1] : 1;
}

GRA_KERNEL(forward_all, forward, y, y->size ? y->size / row_size(y) : 0, 2 * row_size(y))
GRA_KERNEL(backward_all, backward, y, y->size ? y->size / row_size(y) : 0, 3 * row_size(y))

static gra_tensor *permuted(gra_tape *t, gra_tensor *x, const int *dims)
{
    static const gra_op op = { .name = "permute", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args), .args_text = "%D" };
    struct args a = { { 0 } };
    gra_shape shape = { .ndim = x->shape.ndim };
    for (int i = 0; i < x->shape.ndim; i++) {
        a.dims[i] = dims[i];
        shape.dim[i] = x->shape.dim[dims[i]];
    }
    gra_tensor *y = gra_result(t, &op, shape, x);
    *(struct args *)y->args = a;
    return gra_run(y);
}

gra_tensor *gra_permute(gra_tape *t, gra_tensor *x, const int *dims)
{
    if (GRA_BAD_INPUTS(t, "permute", x))
        return gra_empty(t);
    if (!dims && x->shape.ndim)                       /* a scalar has no dimensions */
        return gra_fail(t, "permute: got NULL for the dims, expected an order of the %d dimensions of %s",
                        x->shape.ndim, GRA_SHAPE_OF(x));
    int wrapped[GRA_MAX_DIMS];
    bool seen[GRA_MAX_DIMS] = { false };
    for (int i = 0; i < x->shape.ndim; i++) {
        int d = wrapped[i] = op_dim(t, "permute", x, dims[i]);
        if (d < 0)
            return gra_empty(t);
        if (seen[d])
            return gra_fail(t, "permute: got dimension %d twice, expected each of the %d dimensions of "
                            "%s once", d, x->shape.ndim, GRA_SHAPE_OF(x));
        seen[d] = true;
    }
    return permuted(t, x, wrapped);
}

gra_tensor *gra_transpose(gra_tape *t, gra_tensor *x, int d0, int d1)
{
    const int a = op_dim(t, "transpose", x, d0), b = op_dim(t, "transpose", x, d1);
    int dims[GRA_MAX_DIMS];
    if (a < 0 || b < 0)
        return gra_empty(t);
    for (int i = 0; i < x->shape.ndim; i++)
        dims[i] = i == a ? b : i == b ? a : i;
    return permuted(t, x, dims);
}
