/* where: y = a where c is not 0, else b, with broadcasting; da += dy where c is not 0, db += dy elsewhere,
 * each summed over the dimensions in which its operand was stretched. No gradient flows into c.
 *
 * Comparisons compute such a c, which is 1 where they hold, else 0. Comparisons have no gradient. */
#include "../kernel.h"

/* ---- where: c is in[0], a in[1], b in[2] ----
 * A walk has two operands, so there are two walks: over a and c, then over b and c. c is the second
 * operand. */

static void forward(gra_tensor *y, size_t from, size_t to)
{
    const real *c = y->in[0]->data, *a = y->in[1]->data, *b = y->in[2]->data;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[1]->shape, y->in[0]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            if (c[w.b + i * w.step_b] != 0)
                y->data[w.y + i] = a[w.a + i * w.step_a];
    for (gra_walk w = gra_walk_begin(y->shape, y->in[2]->shape, y->in[0]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            if (c[w.b + i * w.step_b] == 0)
                y->data[w.y + i] = b[w.a + i * w.step_a];
}

static void backward(gra_tensor *y, size_t from, size_t to)
{
    const real *c = y->in[0]->data, *dy = y->grad;
    real *da = y->in[1]->grad, *db = y->in[2]->grad;
    if (da)
        for (gra_walk w = gra_walk_begin(y->shape, y->in[1]->shape, y->in[0]->shape, from, to); w.n;
             gra_walk_next(&w))
            for (size_t i = 0; i < w.n; i++)
                da[w.y + i] += c[w.b + i * w.step_b] != 0 ? dy[w.y + i] : 0;
    if (db)
        for (gra_walk w = gra_walk_begin(y->shape, y->in[2]->shape, y->in[0]->shape, from, to); w.n;
             gra_walk_next(&w))
            for (size_t i = 0; i < w.n; i++)
                db[w.y + i] += c[w.b + i * w.step_b] == 0 ? dy[w.y + i] : 0;
}

GRA_KERNEL(forward_all, forward, y, y->size, 4)
GRA_BROADCAST_KERNEL(backward_all, backward, y, 4)

gra_tensor *gra_where(gra_tape *t, gra_tensor *c, gra_tensor *a, gra_tensor *b)
{
    static const gra_op op = { .name = "where", .forward = forward_all, .backward = backward_all };
    if (GRA_BAD_INPUTS(t, "where", c, a, b))
        return gra_empty(t);
    gra_shape shape;
    if (!gra_broadcast(a->shape, b->shape, &shape) || !gra_broadcast(c->shape, shape, &shape))
        return gra_fail(t, "where: got c %s, a %s and b %s, expected shapes that broadcast: from the right, "
                        "sizes must agree or be 1", GRA_SHAPE_OF(c), GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    return gra_run(gra_result(t, &op, shape, c, a, b));
}

/* ---- comparisons ---- */

struct args {
    enum comparison { LESS, LESS_OR_EQUAL, EQUAL, NOT_EQUAL } is;
};

static bool holds(enum comparison is, real a, real b)
{
    switch (is) {
    case LESS:          return a < b;
    case LESS_OR_EQUAL: return a <= b;
    case EQUAL:         return a == b;
    default:            return a != b;
    }
}

static void compare(gra_tensor *y, size_t from, size_t to)
{
    const enum comparison is = ((const struct args *)y->args)->is;
    const real *a = y->in[0]->data, *b = y->in[1]->data;
    for (gra_walk w = gra_walk_begin(y->shape, y->in[0]->shape, y->in[1]->shape, from, to); w.n;
         gra_walk_next(&w))
        for (size_t i = 0; i < w.n; i++)
            y->data[w.y + i] = holds(is, a[w.a + i * w.step_a], b[w.b + i * w.step_b]);
}

GRA_KERNEL(compare_all, compare, y, y->size, 2)

static gra_tensor *comparison(gra_tape *t, const gra_op *op, gra_tensor *a, gra_tensor *b, enum comparison is)
{
    gra_tensor *y = gra_result_broadcast(t, op, a, b);
    *(struct args *)y->args = (struct args){ is };
    return gra_run(y);
}

#define COMPARISON(function, title, a, b, is)                                                            \
    gra_tensor *function(gra_tape *t, gra_tensor *x, gra_tensor *w)                                      \
    {                                                                                                    \
        static const gra_op op = { .name = title, .forward = compare_all, .args = sizeof(struct args) }; \
        return comparison(t, &op, a, b, is);                                                             \
    }
/* x > w is w < x */
COMPARISON(gra_lt, "lt", x, w, LESS)
COMPARISON(gra_le, "le", x, w, LESS_OR_EQUAL)
COMPARISON(gra_gt, "gt", w, x, LESS)
COMPARISON(gra_ge, "ge", w, x, LESS_OR_EQUAL)
COMPARISON(gra_eq, "eq", x, w, EQUAL)
COMPARISON(gra_ne, "ne", x, w, NOT_EQUAL)
