/* backward: the sweep down the tape.
 *
 * The tape's list runs from the newest tensor to the oldest (t->last, then y->prev), so y is reached before
 * its inputs and after every op that used y: its gradient dy is complete. y's backward then adds dy times the
 * op's derivative to the gradients of y's inputs. That is reverse-mode differentiation: no sort, no
 * recursion, no visited set. */
#include "tape.h"

static bool can_sweep(gra_tape *t, gra_tensor *loss);
static bool make_grad(gra_tape *t, gra_tensor *x);
static bool make_input_grads(gra_tape *t, gra_tensor *y, bool *any);
static void seed(gra_tensor *loss);
static void mark_filled(gra_tensor *y);
static void recycle_grad(gra_tape *t, gra_tensor *y);
static bool remember(gra_tape *t, gra_tensor *x);
static bool remember_inputs(gra_tape *t, gra_tensor *y);
static gra_tensor *sweep_checkpoint(gra_tape *t, gra_tensor *y);

int gra_backward(gra_tape *t, gra_tensor *loss)
{
    if (!can_sweep(t, loss) || !make_grad(t, loss))
        return -1;
    t->backward_done = true;
    if (!loss->grad)
        return 0;                                       /* a view of a parameter that has been frozen since */
    seed(loss);

    bool any;
    gra_tensor *const newest = t->last;
    for (gra_tensor *y = t->last, *next; y && !t->error.failed; y = next) {
        next = y->prev;
        if (gra_is_checkpoint(y)) {
            next = sweep_checkpoint(t, y);
            continue;
        }
        if (!y->grad) {                                 /* the loss does not depend on y */
            gra_free_values(t, y);
            continue;
        }
        if (!make_input_grads(t, y, &any))
            break;
        if (any && y->op->backward && (y->op->reads_no_result || remember(t, y)) &&
            (y->op->reads_no_inputs || remember_inputs(t, y)))
            gra_tape_run(t, y, true);                   /* y->op->backward(y), under the tape's watches */
        mark_filled(y);
        recycle_grad(t, y);
    }
    t->last = newest;
    gra_machine_set_undropped(t->machine, t->no_dropout);
    return t->error.failed ? -1 : 0;
}

/* ---- the beginning ---- */

/* The tensor that has x's gradient: a view shares the gradient of its base. */
static gra_tensor *owner(gra_tensor *x) { return x->base ? x->base : x; }

static bool can_sweep(gra_tape *t, gra_tensor *loss)
{
    if (GRA_BAD_INPUTS(t, "gra_backward", loss))
        return false;
    if (t->mode == GRA_EVAL)
        gra_fail(t, "gra_backward: got a step of GRA_EVAL, which records nothing, expected GRA_TRAIN or "
                 "GRA_GRAD: pass one of them to gra_begin");
    else if (t->backward_done)
        gra_fail(t, "gra_backward: got a second call in this step, expected only one: add several losses "
                 "first, or begin a new step");
    else if (loss->size != 1)
        gra_fail(t, "gra_backward: got the loss %s, expected one value: take gra_sum or gra_mean of it",
                 GRA_SHAPE_OF(loss));
    else if (!loss->requires_grad)
        gra_fail(t, "gra_backward: got a loss that depends on no parameter and no input, expected one that "
                 "does: constants and frozen parameters get no gradient, and an op without a backward passes "
                 "none on");
    for (int i = 0; i < GRA_WATCHES; i++)
        if (t->watch[i] && t->watch[i]->on_backward)
            t->watch[i]->on_backward(t->watcher[i], t, loss);
    return !t->error.failed;
}

/* d(loss)/d(loss) = 1: stores 1 if the gradient is uninitialised (fresh), or adds 1 if the loss is a
 * parameter, whose gradient accumulates. */
static void seed(gra_tensor *loss)
{
    loss->grad[0] = owner(loss)->fresh ? 1 : loss->grad[0] + 1;
    loss->fresh = owner(loss)->fresh = false;
}

/* ---- memory ----
 *
 * The gradient of a tensor that is not a parameter is allocated when the sweep first needs it, and recycled
 * when the sweep has passed. The gradient is uninitialised, and marked x->fresh, until a backward has filled
 * it. Before an op's backward runs, the fresh gradients of its inputs are zeroed, since backward accumulates.
 * If the op has .overwrites_grad = true, fresh gradients are not zeroed: the op tests x->fresh and overwrites
 * a fresh gradient. */

/* Afterwards x->grad is set, unless x is a frozen parameter. */
static bool make_grad(gra_tape *t, gra_tensor *x)
{
    gra_tensor *o = owner(x);
    if (!o->grad && o->tape) {                          /* a frozen parameter has no gradient at all */
        o->grad = gra_grad_take(t, o->size);
        o->fresh = true;
    }
    x->grad = o->grad;
    return !t->error.failed;
}

void gra_zero_fresh(gra_tensor *y)
{
    for (int i = 0; i < y->nin; i++)
        if (y->in[i] && y->in[i]->fresh) {
            memset(y->in[i]->grad, 0, y->in[i]->size * sizeof(real));
            y->in[i]->fresh = owner(y->in[i])->fresh = false;
        }
}

/* Another input of y is the same tensor as input i, or shares its gradient. */
static bool is_repeated(const gra_tensor *y, int i)
{
    for (int j = 0; j < y->nin; j++)
        if (j != i && y->in[j] && owner(y->in[j]) == owner(y->in[i]))
            return true;
    return false;
}

/* The parameter p does not have the values that y's backward may read: an optimiser has changed them since
 * the forward, or its model is closed. */
static bool has_changed(gra_tape *t, const gra_tensor *p, const gra_tensor *y)
{
    if (gra_is_closed(t, p, "gra_backward"))
        return true;
    if (p->panels)
        return !gra_has_values(t, p, "gra_backward");
    if (p->tape || !p->requires_grad || p->owner != t->machine || p->updates <= y->updates ||
        (y->op->reads_no_inputs && !y->forgotten))      /* y is not computed again */
        return false;
    gra_fail(t, "gra_backward: got the parameter %s, which an optimiser's step has changed since %s read it, "
             "expected the values of the forward: call the step after gra_backward", GRA_SHAPE_OF(p),
             y->op->name);
    return true;
}

/* Prepares the gradients of y's inputs for y's backward; *any: at least one gradient is needed. */
static bool make_input_grads(gra_tape *t, gra_tensor *y, bool *any)
{
    bool repeated = false;
    *any = false;
    for (int i = 0; i < y->nin; i++) {
        gra_tensor *x = y->in[i];
        if (x && has_changed(t, owner(x), y))
            return false;
        if (!x || !x->requires_grad)
            continue;
        if (!x->grad && !make_grad(t, x))
            return false;
        x->fresh = owner(x)->fresh;
        repeated |= x->fresh && is_repeated(y, i);      /* a second overwrite would lose the first half */
        *any |= x->grad != NULL;
    }
    if (!y->op->overwrites_grad || repeated)
        gra_zero_fresh(y);
    return true;
}

/* y's backward has filled the gradients of y's inputs. */
static void mark_filled(gra_tensor *y)
{
    for (int i = 0; i < y->nin; i++)
        if (y->in[i])
            y->in[i]->fresh = owner(y->in[i])->fresh = false;
}

/* dy has been passed on to y's inputs: its buffer may serve another tensor, unless dy is retained. The buffer
 * of recomputed values may be reused too. */
static void recycle_grad(gra_tape *t, gra_tensor *y)
{
    gra_free_values(t, y);
    if (t->keep_grads || t->guards_memory || y->retain_grad)
        return;
    if (!y->base)
        gra_grad_give_back(t, y->size, y->grad);
    y->grad = NULL;
}

/* ---- values that are computed again ---- */

/* Compute again the values of x, or of y's inputs, that gra_forget has freed. */
static bool remember(gra_tape *t, gra_tensor *x)
{
    if (x->data || !x->forgotten)
        return true;
    for (int i = 0; i < x->nin; i++)
        if (x->in[i] && has_changed(t, owner(x->in[i]), x))
            return false;
    x->data = remember_inputs(t, x) ? gra_grad_take(t, x->size) : NULL;
    if (x->data)
        gra_tape_run(t, x, false);
    return x->data;
}

static bool remember_inputs(gra_tape *t, gra_tensor *y)
{
    bool all = true;
    for (int i = 0; i < y->nin && all; i++)
        all = !y->in[i] || remember(t, y->in[i]);
    return all;
}

/* The next node of the sweep when it reaches y of gra_checkpoint: at first the last node of f(x), recorded
 * again, whose result gets dy; when f(x) has been swept, the node after y. */
static gra_tensor *sweep_checkpoint(gra_tape *t, gra_tensor *y)
{
    if (gra_checkpoint_ends(t, y) || !y->grad)
        return y->prev;
    gra_tensor *r = remember_inputs(t, y) ? gra_checkpoint_again(t, y) : NULL;
    if (t->error.failed || (r->requires_grad && !make_grad(t, r)))
        return NULL;
    for (size_t i = 0; i < y->size && r->grad; i++)
        r->grad[i] = owner(r)->fresh ? y->grad[i] : r->grad[i] + y->grad[i];
    r->fresh = owner(r)->fresh = false;
    recycle_grad(t, y);
    return t->last;
}

/* ---- gradients for the user ---- */

void gra_retain_grad(gra_tensor *x)
{
    if (!x || gra_is_stale(x, __func__))
        return;
    x->retain_grad = true;
    if (x->base)
        x->base->retain_grad = true;
}

const real *gra_grad(const gra_tensor *x)
{
    if (!x || gra_is_stale(x, __func__))
        return NULL;
    gra_tape *t = x->tape;
    const real *grad = x->base ? x->base->grad : x->grad;
    if (grad || !t)                                 /* no tape: a frozen parameter, which has no gradient */
        return grad;
    const char *what = x->op ? x->op->name : x->requires_grad ? "input" : "constant";
    if (!x->requires_grad)
        gra_fail(t, "gra_grad: got the %s %s, which needs no gradient, expected one that depends on a "
                 "parameter or an input", what, GRA_SHAPE_OF(x));
    else if (!t->backward_done)
        gra_fail(t, "gra_grad: got the %s %s before gra_backward, expected a call after it", what,
                 GRA_SHAPE_OF(x));
    else if (!x->op)
        gra_fail(t, "gra_grad: got the input %s, expected one on which the loss depends", GRA_SHAPE_OF(x));
    else
        gra_fail(t, "gra_grad: got the %s %s, whose gradient was recycled, expected a retained one: call "
                 "gra_retain_grad(x) before gra_backward, or gra_keep_grads(t, true)", what, GRA_SHAPE_OF(x));
    return NULL;
}
