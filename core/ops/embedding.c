/* embedding: y_i = w[ids_i], row after row; dw[ids_i] += dy_i. */
#include "../kernel.h"

struct args {
    const int *ids;                                 /* our copy of the ids, `count` of them */
    size_t     count;
};

static size_t dim(const gra_tensor *y)   { return (size_t)y->in[0]->shape.dim[1]; }
static size_t count(const gra_tensor *y) { return ((const struct args *)y->args)->count; }

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const size_t n = dim(y);
    for (size_t i = from; i < to; i++)
        memcpy(y->data + i * n, y->in[0]->data + (size_t)a->ids[i] * n, n * sizeof(real));  /* y_i = w[ids_i] */
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const size_t n = dim(y);
    for (size_t i = 0; i < a->count; i++) {
        const real *dy = y->grad + i * n;
        real *dw = y->in[0]->grad + (size_t)a->ids[i] * n;
        for (size_t j = from; j < to; j++)
            dw[j] += dy[j];                                                     /* dw[ids_i] += dy_i */
    }
}

/* Threads share the ids in forward, but the columns of w in backward: an id may come twice, and then two
 * threads would add to the same row of dw. Each adds all rows of dy, in the order of the ids, but of their
 * columns only from <= j < to. The last number is the cost of an id, or of a column, in additions, about. */
GRA_KERNEL(forward_all, forward, y, y->size ? count(y) : 0, dim(y))
GRA_KERNEL(backward_all, backward, y, y->size ? dim(y) : 0, 2 * count(y))

gra_tensor *gra_embedding(gra_tape *t, gra_tensor *w, const int *ids, gra_shape shape)
{
    static const gra_op op = { .name = "embedding", .forward = forward_all, .backward = backward_all,
                               .args = sizeof(struct args) };
    if (GRA_REFUSES(t, "embedding", w))
        return gra_empty(t);
    size_t n;
    if (w->shape.ndim != 2)
        return gra_fail(t, "embedding: the weight is %s: wanted (vocabulary, dim)", GRA_SHAPE_OF(w));
    if (shape.ndim >= GRA_MAX_DIMS || !gra_shape_size(shape, &n))
        return gra_fail(t, "embedding: ids of %d dimensions: wanted 0 to %d, no size negative", shape.ndim,
                        GRA_MAX_DIMS - 1);
    if (n && !ids)
        return gra_fail(t, "embedding: the ids are NULL, but %zu are wanted", n);
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= w->shape.dim[0])
            return gra_fail(t, "embedding: id %d at position %zu: the vocabulary has %d entries (0 to %d)",
                            ids[i], i, w->shape.dim[0], w->shape.dim[0] - 1);

    shape.dim[shape.ndim++] = w->shape.dim[1];      /* (shape of ids, dim) */
    gra_tensor *y = gra_result(t, &op, shape, w);
    int *copy = gra_alloc(t, n * sizeof *copy);
    if (copy && n)
        memcpy(copy, ids, n * sizeof *copy);
    *(struct args *)y->args = (struct args){ copy, n };
    return gra_run(y);
}
