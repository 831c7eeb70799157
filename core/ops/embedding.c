/* embedding: y_i = w[ids_i], row after row; dw[ids_i] += dy_i. */
#include "../kernel.h"
#include "../kern/widen.h"

struct args {
    const int *ids;                                 /* a copy of the ids, `count` of them */
    size_t     count;
    size_t     lists, *first;                       /* in backward: the first position of each id, */
    size_t    *next;                                /* for each position, 1 + the next one of its id, or 0 */
};

static size_t dim(const gra_tensor *y)   { return (size_t)y->in[0]->shape.dim[1]; }
static size_t count(const gra_tensor *y) { return ((const struct args *)y->args)->count; }

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const struct args *a = y->args;
    const gra_tensor *w = y->in[0];
    const size_t n = dim(y);
    for (size_t i = from; i < to; i++)
        if (w->panels)
            gra_panels_row(w->panels, w->shape, a->ids[i], y->data + i * n);
        else
            memcpy(y->data + i * n, w->data + (size_t)a->ids[i] * n, n * sizeof(real));
}

enum { WIDTH = 64 };                    /* columns at a time */

/* The positions of an id form a linked list, in order. One thread sums each list, in double, since a common
 * id has many positions. */
static void add_rows(gra_tensor *y, size_t from, size_t to)                     /* lists */
{
    const struct args *a = y->args;
    const size_t n = dim(y);
    for (size_t l = from; l < to; l++) {
        real *dw = y->in[0]->grad + (size_t)a->ids[a->first[l]] * n;
        for (size_t j = 0, width; j < n; j += width) {
            double sum[WIDTH] = { 0 };
            width = n - j < WIDTH ? n - j : WIDTH;
            for (size_t i = a->first[l] + 1; i; i = a->next[i - 1])
                for (size_t k = 0; k < width; k++)
                    sum[k] += (double)y->grad[(i - 1) * n + j + k];
            for (size_t k = 0; k < width; k++)
                dw[j + k] += (real)sum[k];                                      /* dw[ids_i] += dy_i */
        }
    }
}

static bool make_lists(gra_tensor *y)
{
    struct args *a = y->args;
    const size_t vocabulary = (size_t)y->in[0]->shape.dim[0];
    size_t *last = gra_alloc(y->tape, vocabulary * sizeof *last);       /* 1 + the last position so far */
    a->first = gra_alloc(y->tape, a->count * sizeof *a->first);
    a->next = gra_alloc(y->tape, a->count * sizeof *a->next);
    if (!last || !a->first || !a->next)
        return false;
    memset(last, 0, vocabulary * sizeof *last);
    a->lists = 0;
    for (size_t i = 0; i < a->count; i++) {
        size_t *at = &last[a->ids[i]];
        if (*at)
            a->next[*at - 1] = i + 1;
        else
            a->first[a->lists++] = i;
        a->next[i] = 0;
        *at = i + 1;
    }
    return true;
}

static size_t lists(const gra_tensor *y) { return ((const struct args *)y->args)->lists; }

GRA_KERNEL(forward_all, forward, y, y->size ? count(y) : 0, dim(y))
GRA_KERNEL(add_rows_all, add_rows, y, lists(y), 2 * dim(y) * (count(y) / lists(y)))

static void backward(gra_tensor *y)
{
    if (y->size && make_lists(y))
        add_rows_all(y);
}

gra_tensor *gra_embedding(gra_tape *t, gra_tensor *w, const int *ids, gra_shape shape)
{
    static const gra_op op = { .name = "embedding", .forward = forward_all, .backward = backward,
                               .args = sizeof(struct args), .reads_panels = 1u << 0,
                               .reads_no_inputs = true };
    if (GRA_BAD_INPUTS(t, "embedding", w))
        return gra_empty(t);
    size_t n;
    if (w->shape.ndim != 2)
        return gra_fail(t, "embedding: got weight %s, expected (vocabulary, dim)", GRA_SHAPE_OF(w));
    if (shape.ndim >= GRA_MAX_DIMS || !gra_shape_size(shape, &n))
        return gra_fail(t, "embedding: got ids of %d dimensions, expected 0 to %d, and no negative size",
                        shape.ndim, GRA_MAX_DIMS - 1);
    if (n && !ids)
        return gra_fail(t, "embedding: got NULL for the ids, expected %zu", n);
    for (size_t i = 0; i < n; i++)
        if (ids[i] < 0 || ids[i] >= w->shape.dim[0])
            return gra_fail(t, "embedding: got id %d at position %zu, expected one of the vocabulary's %d "
                            "entries (0 to %d)", ids[i], i, w->shape.dim[0], w->shape.dim[0] - 1);

    shape.dim[shape.ndim++] = w->shape.dim[1];      /* (shape of ids, dim) */
    gra_tensor *y = gra_result(t, &op, shape, w);
    int *copy = gra_alloc(t, n * sizeof *copy);
    if (copy && n)
        memcpy(copy, ids, n * sizeof *copy);
    *(struct args *)y->args = (struct args){ .ids = copy, .count = n };
    return gra_run(y);
}
