/* max: y = max_i x_i over all values, or over one dimension; dx_i += dy where i is the first of the
 * largest. A NaN counts as largest, as in PyTorch. */
#include "../op.h"
#include "../kern/math.h"

struct args {
    gra_around around;                              /* x is (outer, n, inner), y (outer, inner) */
    size_t    *first;                               /* for each y, where in x it came from */
};

/* The place of the first largest of n values that lie `inner` apart. */
static size_t first_largest(const real *x, size_t n, size_t inner)
{
    size_t i = 0;
    if (inner == 1) {
        real m = real_max(x, n);
        while (m == m ? x[i] != m : x[i] == x[i])
            i++;
        return i;
    }
    for (size_t k = 1; k < n; k++)
        if (x[k * inner] > x[i * inner] || (x[k * inner] != x[k * inner] && x[i * inner] == x[i * inner]))
            i = k;
    return i;
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const gra_around in = a->around;
    const real *x = y->in[0]->data;
    for (size_t k = from; k < to; k++) {
        size_t start = k / in.inner * in.n * in.inner + k % in.inner;
        a->first[k] = start + first_largest(x + start, in.n, in.inner) * in.inner;
        y->data[k] = x[a->first[k]];
    }
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const size_t *first = ((const struct args *)y->args)->first;
    real *dx = y->in[0]->grad;
    for (size_t k = from; k < to; k++)
        dx[first[k]] += y->grad[k];
}

GRA_KERNEL(forward, y->size, ((const struct args *)y->args)->around.n)
GRA_KERNEL(backward, y->size, 4)

static const gra_op op = { .name = "max", .forward = forward_all, .backward = backward_all,
                           .args = sizeof(struct args) };

static gra_tensor *largest(gra_tape *t, gra_tensor *x, int ndim, const int *shape, gra_around around)
{
    if (around.n == 0)
        return gra_fail(t, "max: x is %s: there is no largest of no values", GRA_SHAPE_OF(x));
    gra_tensor *y = gra_result(t, &op, ndim, shape, x);
    size_t *first = gra_alloc(t, y->size * sizeof *first);
    *(struct args *)y->args = (struct args){ around, first };
    return gra_run(y);
}

gra_tensor *gra_max(gra_tape *t, gra_tensor *x)
{
    if (GRA_REFUSES(t, "max", x))
        return gra_empty(t);
    return largest(t, x, 0, NULL, (gra_around){ 1, x->size, 1 });
}

gra_tensor *gra_max_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim)
{
    if (GRA_REFUSES(t, "max_dim", x))
        return gra_empty(t);
    int dim = gra_wrap_dim(x, d), shape[GRA_MAX_DIMS], ndim = 0;
    if (dim < 0)
        return gra_fail(t, "max_dim: dimension %d of a tensor %s: it has %d dimensions", d, GRA_SHAPE_OF(x),
                        x->ndim);
    for (int i = 0; i < x->ndim; i++)
        if (i != dim || keepdim)
            shape[ndim++] = i == dim ? 1 : x->shape[i];
    return largest(t, x, ndim, shape, gra_around_dim(x, dim));
}
