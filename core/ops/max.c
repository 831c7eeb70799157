/* max: y = max_i x_i over all values, or over one dimension; dx_i += dy where i is the index of the first
 * maximum. A NaN counts as the maximum, as in PyTorch. min does the same with the minimum, and a NaN counts
 * as the minimum. argmax is the index of the first maximum. */
#include "../kernel.h"
#include "../kern/vmath.h"
#include "ops.h"

struct args {
    gra_dim_split around;                           /* x is (outer, n, inner), y (outer, inner) */
    bool       least;                               /* min */
    size_t    *first;                               /* for each y, the index in x */
};

/* The index of the first largest (or smallest) of n values that lie `inner` apart. */
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

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const gra_dim_split in = a->around;
    const real *x = y->in[0]->data;
    for (size_t k = from; k < to; k++) {
        const size_t begin = op_begin(in, k);
        a->first[k] = begin + first_extreme(x + begin, in.n, in.inner, a->least) * in.inner;
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
                            .args = sizeof(struct args), .args_text = "over %a" };
static const gra_op min = { .name = "min", .forward = forward_all, .backward = backward_all,
                            .args = sizeof(struct args), .args_text = "over %a" };

/* Returns false, with an error of the tape, if there are no values to choose from. */
static bool has_values(gra_tape *t, const char *name, gra_tensor *x, gra_dim_split a, const char *which)
{
    if (a.n == 0 && a.outer * a.inner > 0)
        gra_fail(t, "%s: got x %s, expected at least one value to take the %s of", name, GRA_SHAPE_OF(x),
                 which);
    if (x->panels)
        gra_fail(t, "%s: got the parameter %s, which is held as bfloat16, expected one in float", name,
                 x->name);
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

static gra_tensor *extreme_dim(gra_tape *t, const gra_op *op, const char *name, gra_tensor *x, int d,
                               bool keepdim)
{
    const int dim = op_dim(t, name, x, d);
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
    const int dim = op_dim(t, "argmax", x, d);
    if (dim < 0)
        return NULL;
    const gra_dim_split a = gra_split_dim(x->shape, dim);
    const size_t n = a.outer * a.inner;
    if (!has_values(t, "argmax", x, a, "largest"))
        return NULL;
    int *at = gra_alloc(t, n * sizeof *at);
    for (size_t k = 0; at && k < n; k++)
        at[k] = (int)first_extreme(x->data + op_begin(a, k), a.n, a.inner, false);
    return at;
}
