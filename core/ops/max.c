/* max: y = max_i x_i over all values, or over one dimension; dx_i += dy where i is the first of the largest.
 * A NaN counts as largest, as in PyTorch. min is the same with the smallest, and a NaN counts as smallest.
 * argmax is where the largest stands. */
#include "../kernel.h"
#include "../kern/vmath.h"

struct args {
    gra_dim_split around;                              /* x is (outer, n, inner), y (outer, inner) */
    bool       least;                               /* min */
    size_t    *first;                               /* for each y, where in x it came from */
};

/* The place of the first largest (or smallest) of n values that lie `inner` apart. */
static size_t first_extreme(const real *x, size_t n, size_t inner, bool least)
{
    size_t i = 0;
    if (inner == 1 && !least) {
        real m = real_max(x, n);
        while (m == m ? x[i] != m : x[i] == x[i])
            i++;
        return i;
    }
    for (size_t k = 1; k < n; k++) {
        const real best = x[i * inner], next = x[k * inner];
        if ((least ? next < best : next > best) || (next != next && best == best))
            i = k;
    }
    return i;
}

static size_t begin(gra_dim_split a, size_t k)         /* where in x the values of y_k begin */
{
    return k / a.inner * a.n * a.inner + k % a.inner;
}

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const gra_dim_split in = a->around;
    const real *x = y->in[0]->data;
    for (size_t k = from; k < to; k++) {
        a->first[k] = begin(in, k) + first_extreme(x + begin(in, k), in.n, in.inner, a->least) * in.inner;
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

GRA_KERNEL(forward_all, forward, y, y->size, ((const struct args *)y->args)->around.n)
GRA_KERNEL(backward_all, backward, y, y->size, 4)

static const gra_op max = { .name = "max", .forward = forward_all, .backward = backward_all,
                            .args = sizeof(struct args) };
static const gra_op min = { .name = "min", .forward = forward_all, .backward = backward_all,
                            .args = sizeof(struct args) };

/* False, with a sentence in the tape: there is a y, but it is to be chosen among no values. */
static bool has_values(gra_tape *t, const char *name, gra_tensor *x, gra_dim_split a, const char *which)
{
    if (a.n == 0 && a.outer * a.inner > 0)
        gra_fail(t, "%s: x is %s: there is no %s of no values", name, GRA_SHAPE_OF(x), which);
    return !gra_error(t);
}

static gra_tensor *extreme(gra_tape *t, const gra_op *op, const char *name, gra_tensor *x, gra_shape shape,
                           gra_dim_split around)
{
    if (!has_values(t, name, x, around, op == &min ? "smallest" : "largest"))
        return gra_empty(t);
    gra_tensor *y = gra_result(t, op, shape, x);
    size_t *first = gra_alloc(t, y->size * sizeof *first);
    *(struct args *)y->args = (struct args){ around, op == &min, first };
    return gra_run(y);
}

static gra_tensor *extreme_all(gra_tape *t, const gra_op *op, gra_tensor *x)
{
    if (GRA_BAD_INPUTS(t, op->name, x))
        return gra_empty(t);
    return extreme(t, op, op->name, x, GRA_SCALAR, (gra_dim_split){ 1, x->size, 1 });
}

/* The dimension that is meant, or -1 after a sentence. */
static int dim_of(gra_tape *t, const char *name, gra_tensor *x, int d)
{
    if (GRA_BAD_INPUTS(t, name, x))
        return -1;
    const int dim = gra_wrap_dim(x->shape, d);
    if (dim < 0)
        gra_fail(t, "%s: dimension %d of a tensor %s: it has %d dimensions", name, d, GRA_SHAPE_OF(x),
                 x->shape.ndim);
    return dim;
}

static gra_tensor *extreme_dim(gra_tape *t, const gra_op *op, const char *name, gra_tensor *x, int d,
                               bool keepdim)
{
    const int dim = dim_of(t, name, x, d);
    if (dim < 0)
        return gra_empty(t);
    return extreme(t, op, name, x, gra_shape_without(x->shape, dim, keepdim), gra_split_dim(x->shape, dim));
}

gra_tensor *gra_max(gra_tape *t, gra_tensor *x) { return extreme_all(t, &max, x); }
gra_tensor *gra_min(gra_tape *t, gra_tensor *x) { return extreme_all(t, &min, x); }

gra_tensor *gra_max_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim)
{
    return extreme_dim(t, &max, "max_dim", x, d, keepdim);
}

gra_tensor *gra_min_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim)
{
    return extreme_dim(t, &min, "min_dim", x, d, keepdim);
}

int *gra_argmax(gra_tape *t, gra_tensor *x, int d)
{
    const int dim = dim_of(t, "argmax", x, d);
    if (dim < 0)
        return NULL;
    const gra_dim_split a = gra_split_dim(x->shape, dim);
    const size_t n = a.outer * a.inner;
    if (!has_values(t, "argmax", x, a, "largest"))
        return NULL;
    int *at = gra_alloc(t, n * sizeof *at);
    for (size_t k = 0; at && k < n; k++)
        at[k] = (int)first_extreme(x->data + begin(a, k), a.n, a.inner, false);
    return at;
}
