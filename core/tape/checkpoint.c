/* checkpoint: y = f(x), of which only x and y are kept; the backward computes the rest again (Griewank &
 * Walther 2000; Chen et al. 2016).
 *
 * The forward records f(x) as usual, then cuts it off the list and frees its memory. When the sweep reaches
 * y, f(x) is recorded again, in front of y, and its result gets dy. The sweep continues there. When it
 * reaches y again, all of f(x) has been swept, and is forgotten. So the sweep remains a `for` down a list,
 * and f may call gra_checkpoint too. */
#include "tape.h"

struct args {
    gra_checkpoint_fn *f;
    void          *arg;
    gra_rng       *rng;                 /* the generator before f(x), which dropout draws from; or NULL */
    gra_arena_mark mark;                /* the memory of f(x) begins here, */
    gra_tensor    *leaves;              /* and its leaf tensors come after this one */
    bool           again;               /* f(x) is recorded again */
};

static const gra_op op = { .name = "checkpoint", .args = sizeof(struct args) };

/* f(x), with its memory in t->inner, or the empty tensor after an error. */
static gra_tensor *call(gra_tape *t, const struct args *a, gra_tensor *x)
{
    const bool was_inside = t->inside;
    t->inside = true;
    gra_tensor *y = a->f(t, a->arg, x);
    t->inside = was_inside;
    return GRA_BAD_INPUTS(t, "gra_checkpoint: f's result", y) || !gra_has_values(t, y, "gra_checkpoint")
        ? &t->empty : y;
}

/* The memory and the tensors that f makes belong to this call of f: after it, ops refuse them. */
static void begin(gra_tape *t, struct args *a)
{
    a->mark = gra_arena_here(&t->inner);
    a->leaves = t->leaves;
}

static void forget(gra_tape *t, const struct args *a)
{
    for (; t->leaves != a->leaves; t->leaves = t->leaves->prev)
        t->leaves->step--;
    if (!t->guards_memory)
        gra_arena_back(&t->inner, a->mark);
}

gra_tensor *gra_checkpoint(gra_tape *t, gra_checkpoint_fn *f, void *arg, gra_tensor *x)
{
    if (GRA_BAD_INPUTS(t, "gra_checkpoint", x))
        return &t->empty;
    if (!f)
        return gra_fail(t, "gra_checkpoint: got NULL for f, expected a function");
    struct args a = { .f = f, .arg = arg, .rng = t->rng ? gra_alloc(t, sizeof *a.rng) : NULL };
    if (a.rng)
        *a.rng = *t->rng;
    begin(t, &a);
    gra_tensor *const last = t->last, *r = call(t, &a, x);
    real *values = gra_grad_take(t, r->size);           /* r is in memory that is about to be freed: */
    if (values)
        memcpy(values, r->data, r->size * sizeof *values);
    for (gra_tensor *z = t->last; z && z != last; z = z->prev) {
        gra_free_values(t, z);
        z->step--;
    }
    t->last = last;
    forget(t, &a);

    gra_tensor *y = gra_result(t, &op, r->shape, x);
    if (t->error.failed)
        return &t->empty;
    memcpy(y->data, values, y->size * sizeof *values);
    gra_grad_give_back(t, y->size, values);
    y->requires_grad = r->requires_grad;
    *(struct args *)y->args = a;
    return gra_run(y);
}

bool gra_is_checkpoint(const gra_tensor *y) { return y->op == &op; }

gra_tensor *gra_checkpoint_again(gra_tape *t, gra_tensor *y)
{
    struct args *a = y->args;
    gra_rng now;
    if (a->rng) {
        now = *t->rng;
        *t->rng = *a->rng;
    }
    t->last = y;
    a->again = true;
    begin(t, a);
    gra_tensor *r = call(t, a, y->in[0]);
    if (a->rng)
        *t->rng = now;
    if (!t->error.failed && !gra_same_shape(r->shape, y->shape))
        return gra_fail(t, "gra_checkpoint: got %s from f in the backward, expected %s, as in the forward: f "
                        "must compute the same again", GRA_SHAPE_OF(r), GRA_SHAPE_STRING(y->shape));
    for (gra_tensor *z = t->last; z != y; z = z->prev)
        z->updates = y->updates;                        /* an optimiser step in between is an error */
    return r;
}

bool gra_checkpoint_ends(gra_tape *t, gra_tensor *y)
{
    struct args *a = y->args;
    const bool ends = a->again;
    if (ends)
        forget(t, a);
    a->again = false;
    return ends;
}
