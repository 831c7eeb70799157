/* tape: the list of what a step computed, newest first, and the sweep that takes it backwards.
 *
 * Each recorded tensor points at the one recorded before it (prev), so its inputs always stand later
 * in the list than itself: walking it once, adding dy times the op's derivative to the inputs'
 * gradients, is reverse-mode differentiation. No sort, no recursion, no visited set. */
#include "internal.h"

#include <stdlib.h>

struct spare {                          /* a recycled gradient: the list lies in the memory itself */
    struct spare *next;
    size_t        size;
};

enum { TURN = 128 << 10 };              /* bytes of headers after which the other arena is filled */

struct gra_tape {
    gra_tensor   *last;                 /* the newest record */
    gra_arena     arena;                /* all that this step made but for the headers (gra_tensor) */
    gra_arena     headers[2];           /* filled in turn, so that headers of earlier steps stay intact: */
    int           turn;                 /* see keep_headers */
    size_t        headers_before;       /* bytes in headers[turn] when this step began: less than TURN */
    struct spare *spares;
    unsigned      step;                 /* counts gra_begin */
    gra_mode      mode;
    gra_rng      *rng;
    bool          begun, swept, keep_grads, keep_attention, keep_going, trace_nan;
    gra_failure   error;
    gra_tensor    empty;                /* what ops return after an error */
    real          nan;
    max_align_t   scratch[GRA_MAX_ARGS / sizeof(max_align_t) + 1];  /* the empty tensor's args */
    gra_machine  *machine;
    gra_watch    *watch;                /* or NULL */
    gra_trial     trial;
};

/* ---- opening ---- */

gra_tape *gra_open(int threads)
{
    gra_tape *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->machine = gra_machine_open(threads);
    if (!t->machine || !gra_arena_reserve(&t->headers[0], 2 * TURN) ||
        !gra_arena_reserve(&t->headers[1], 2 * TURN)) {         /* a small step needs no more of them, ever */
        gra_close(t);
        return NULL;
    }
    t->mode = GRA_GRAD;
    t->nan = (real)NAN;
    t->empty = (gra_tensor){ .data = &t->nan, .args = t->scratch, .tape = t };
    return t;
}

void gra_close(gra_tape *t)
{
    if (!t)
        return;
    if (t->machine) {
        gra_machine_set_failed(t->machine, false);
        gra_machine_close(t->machine);
    }
    gra_arena_free(&t->arena);
    gra_arena_free(&t->headers[0]);
    gra_arena_free(&t->headers[1]);
    free(t);
}

/* A header is never freed before gra_close, and its arena is rewound only when the other one has taken TURN bytes
 * since. So headers of the step before are intact, and those of an earlier step until as much was made. A step
 * begins with less than TURN bytes in its arena: so each arena has room for TURN and the largest step so far, and
 * another such step needs no malloc, whichever arena it meets. */
static void keep_headers(gra_tape *t)
{
    const size_t used = gra_arena_used(&t->headers[t->turn]), made = used - t->headers_before;
    for (int i = 0; i < 2; i++)
        gra_arena_reserve(&t->headers[i], TURN + made);         /* false: the piece that lacks room asks again */
    t->headers_before = used;
    if (used < TURN)
        return;
    t->turn = 1 - t->turn;
    t->headers_before = 0;
    gra_arena_rewind(&t->headers[t->turn]);
}

void gra_begin(gra_tape *t, gra_mode mode, gra_rng *rng)
{
    if (!t)
        gra_abort("gra_begin: the tape is NULL: gra_open had no memory for it");
    gra_arena_merge(&t->arena);
    keep_headers(t);
    t->step++;
    t->last = NULL;
    t->spares = NULL;
    t->mode = mode;
    t->rng = rng;
    t->begun = true;
    t->swept = false;
    gra_failure_clear(&t->error);
    gra_machine_set_failed(t->machine, false);
    const char *missing = gra_machine_missing_isa(t->machine);
    const gra_isa best = gra_machine_isa(t->machine);
    if (*missing)                       /* not in gra_open: only now it is known whether to abort */
        gra_fail(t, "GRADUS_ISA is %s, but this processor has %s", missing,
                 best == GRA_AVX512 ? "base, avx2 and avx512" : best == GRA_AVX2 ? "base and avx2" : "base alone");
}

gra_tensor *gra_empty(gra_tape *t)                     { return &t->empty; }
int         gra_threads(const gra_tape *t)             { return gra_machine_threads(t->machine); }
const char *gra_isa_name(const gra_tape *t)            { return gra_isa_text(gra_machine_isa(t->machine)); }
gra_rng    *gra_tape_rng(gra_tape *t)                  { return t->rng; }
gra_mode    gra_tape_mode(const gra_tape *t)           { return t->mode; }
gra_machine *gra_tape_machine(const gra_tape *t)       { return t->machine; }
void        gra_keep_going(gra_tape *t, bool on)       { t->keep_going = on; }
void        gra_keep_grads(gra_tape *t, bool on)       { t->keep_grads = on; }
void        gra_trace_nan(gra_tape *t, bool on)        { t->trace_nan = on; }
void        gra_keep_attention(gra_tape *t, bool on)   { t->keep_attention = on; }
void        gra_tape_watch(gra_tape *t, gra_watch *w)  { t->watch = w; }
void        gra_tape_try(gra_tape *t, gra_trial how)   { t->trial = how; }
bool        gra_tape_keeps_attention(const gra_tape *t) { return t->keep_attention; }
const char *gra_error(const gra_tape *t)               { return gra_failure_text(&t->error); }

/* ---- errors: the first one stays ---- */

gra_tensor *gra_fail(gra_tape *t, const char *format, ...)
{
    if (t->error.failed)
        return &t->empty;
    va_list args;
    va_start(args, format);
    gra_failure_set_args(&t->error, format, args);
    va_end(args);
    gra_machine_set_failed(t->machine, true);
    if (!t->keep_going && t->trial != GRA_TRIED)
        gra_abort(t->error.text);
    return &t->empty;
}

bool gra_can_draw(gra_tape *t, const char *op)
{
    if (!t->rng)
        gra_fail(t, "%s: there is no generator: hand one to gra_begin(t, GRA_TRAIN, &rng)", op);
    else if (!gra_seeded(t->rng))
        gra_fail(t, "%s: the generator was never seeded: call gra_manual_seed(&rng, 123) first", op);
    return !t->error.failed;
}

/* x may be of an earlier step. Its header is intact (see keep_headers), so its step can be read and compared; its
 * values may be gone. */
static bool refuses(gra_tape *t, const char *op, int i, const gra_tensor *x, bool may_be_null)
{
    if (!x && !may_be_null)
        gra_fail(t, "%s: input %d is NULL: it was never made (a layer's parameters are made by its init)", op,
                 i);
    else if (x && x->tape && (x->tape != t || x->step != t->step))
        gra_fail(t, "%s: input %d was not made in this step: a tensor ends with its step, at the next "
                 "gra_begin, and belongs to its tape", op, i);
    return t->error.failed;
}

bool gra_refuses(gra_tape *t, const char *op, int nin, gra_tensor *const *in)
{
    for (int i = 0; i < nin && !t->error.failed; i++)
        refuses(t, op, i, in[i], false);
    return t->error.failed;
}

static void *alloc_from(gra_tape *t, gra_arena *arena, size_t bytes)
{
    void *p = t->error.failed ? NULL : gra_arena_alloc(arena, bytes);
    if (!p)
        gra_fail(t, "out of memory: %zu more bytes were wanted for this step", bytes);
    return p;
}

void *gra_alloc(gra_tape *t, size_t bytes)
{
    if (!t->watch || bytes > SIZE_MAX / 4)              /* so much there never is */
        return alloc_from(t, &t->arena, bytes);
    char *room = alloc_from(t, &t->arena, bytes + 2 * GRA_WATCH_ROOM);
    if (!room)
        return NULL;
    t->watch->made(t->watch, room + GRA_WATCH_ROOM, bytes);
    return room + GRA_WATCH_ROOM;
}

/* ---- recording ---- */

gra_tensor *gra_result_n(gra_tape *t, const gra_op *op, gra_shape shape, int nin, gra_tensor *const *in)
{
    size_t size;
    for (int i = 0; i < nin; i++)
        if (refuses(t, op->name, i, in[i], i > 0))
            return &t->empty;
    if (t->error.failed)
        return &t->empty;
    if (!t->begun)
        return gra_fail(t, "%s: gra_begin comes first", op->name);
    if (shape.ndim > GRA_MAX_DIMS)
        return gra_fail(t, "%s: at most %d dimensions, but %d came", op->name, GRA_MAX_DIMS, shape.ndim);
    if (!gra_shape_size(shape, &size))
        return gra_fail(t, "%s: a result of shape %s is too large or has a negative size", op->name,
                        gra_shape_text(shape, (char[GRA_SHAPE_TEXT]){ 0 }));
    if (op->args > GRA_MAX_ARGS)
        return gra_fail(t, "%s: %zu bytes of args, but GRA_MAX_ARGS is %d", op->name, op->args, GRA_MAX_ARGS);

    size_t head = (sizeof(gra_tensor) + (size_t)nin * sizeof *in + 15) / 16 * 16;
    gra_tensor *y = alloc_from(t, &t->headers[t->turn], head + op->args);    /* its inputs and args behind it */
    real *data = op->view ? in[0]->data : gra_alloc(t, size * sizeof(real));
    if (!y || !data)
        return &t->empty;
    *y = (gra_tensor){ .data = data, .size = size, .shape = shape, .op = op, .nin = nin, .tape = t,
                       .step = t->step };
    y->in = (gra_tensor **)(void *)(y + 1);
    for (int i = 0; i < nin; i++) {
        y->in[i] = in[i];
        y->requires_grad |= in[i] && in[i]->requires_grad;
    }
    y->requires_grad &= t->mode != GRA_EVAL && (op->backward || op->view);
    if (op->args)
        y->args = memset((char *)y + head, 0, op->args);
    if (op->view)
        y->base = in[0]->base ? in[0]->base : in[0];
    return y;
}

gra_tensor *gra_result_like(gra_tape *t, const gra_op *op, gra_tensor *x)
{
    if (GRA_REFUSES(t, op->name, x))
        return &t->empty;
    return gra_result(t, op, x->shape, x);
}

gra_tensor *gra_result_broadcast(gra_tape *t, const gra_op *op, gra_tensor *a, gra_tensor *b)
{
    if (GRA_REFUSES(t, op->name, a, b))
        return &t->empty;
    gra_shape shape;
    if (!gra_broadcast(a->shape, b->shape, &shape))
        return gra_fail(t, "%s: shapes %s and %s do not broadcast: from the right, sizes must agree or be 1",
                        op->name, GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    return gra_result(t, op, shape, a, b);
}

/* f is y's forward or backward. */
static void work(gra_tape *t, gra_tensor *y, void (*f)(gra_tensor *y))
{
    if (t->watch)
        t->watch->work(t->watch, y, f);
    else
        f(y);
}

static bool traces(const gra_tape *t) { return t->trace_nan && t->trial == GRA_IN_EARNEST; }

gra_tensor *gra_run(gra_tensor *y)
{
    gra_tape *t = y->tape;
    if (t->error.failed)
        return &t->empty;
    if (y->op->saved) {
        y->saved = gra_alloc(t, y->op->saved(y) * sizeof(real));
        if (!y->saved)
            return &t->empty;
    }
    if (y->op->forward)
        work(t, y, y->op->forward);
    if (y->requires_grad || traces(t)) {
        y->prev = t->last;
        t->last = y;
    }
    if (traces(t))
        gra_trace_forward(t, y);
    return t->error.failed ? &t->empty : y;
}

/* ---- the sweep ---- */

static real *grad_memory(gra_tape *t, size_t size)
{
    for (struct spare **s = &t->spares; *s; s = &(*s)->next)
        if ((*s)->size == size) {
            struct spare *found = *s;
            *s = found->next;
            return (real *)found;
        }
    size_t bytes = size * sizeof(real);
    return gra_alloc(t, bytes < sizeof(struct spare) && !t->watch ? sizeof(struct spare) : bytes);
}

/* A view's gradient is its base's. */
static gra_tensor *owner(gra_tensor *x) { return x->base ? x->base : x; }

static bool make_grad(gra_tape *t, gra_tensor *x)
{
    gra_tensor *o = owner(x);
    if (!o->grad && o->tape) {                      /* a parameter's is its model's; frozen, it has none */
        o->grad = grad_memory(t, o->size);
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

static bool comes_twice(const gra_tensor *y, int i)
{
    for (int j = 0; j < y->nin; j++)
        if (j != i && y->in[j] && owner(y->in[j]) == owner(y->in[i]))
            return true;
    return false;
}

/* The gradients of y's inputs, ready for its backward; *any: there is one to add to. */
static bool make_grads(gra_tape *t, gra_tensor *y, bool *any)
{
    bool twice = false;
    *any = false;
    for (int i = 0; i < y->nin; i++) {
        gra_tensor *x = y->in[i];
        if (!x || !x->requires_grad)
            continue;
        if (!x->grad && !make_grad(t, x))
            return false;
        x->fresh = owner(x)->fresh;
        twice |= x->fresh && comes_twice(y, i);
        *any |= x->grad != NULL;
    }
    if (!y->op->stores || twice)
        gra_zero_fresh(y);
    return true;
}

static void grads_added(gra_tensor *y)
{
    for (int i = 0; i < y->nin; i++)
        if (y->in[i])
            y->in[i]->fresh = owner(y->in[i])->fresh = false;
}

static void recycle_grad(gra_tape *t, gra_tensor *y)
{
    if (t->keep_grads || t->watch || y->retain_grad)
        return;
    if (!y->base) {
        struct spare *s = (struct spare *)(void *)y->grad;
        *s = (struct spare){ t->spares, y->size };
        t->spares = s;
    }
    y->grad = NULL;
}

int gra_backward(gra_tape *t, gra_tensor *loss)
{
    if (GRA_REFUSES(t, "gra_backward", loss))
        return -1;
    if (t->mode == GRA_EVAL)
        gra_fail(t, "gra_backward: this step began as GRA_EVAL, which records nothing: begin it as GRA_TRAIN "
                 "or GRA_GRAD");
    else if (t->swept)
        gra_fail(t, "gra_backward: this step was swept already: add several losses first, or begin a new "
                 "step");
    else if (loss->size != 1)
        gra_fail(t, "gra_backward: the loss is %s, but one value is wanted: take gra_sum or gra_mean of it",
                 GRA_SHAPE_OF(loss));
    else if (!loss->requires_grad)
        gra_fail(t, "gra_backward: the loss depends on no parameter and no input that wants a gradient");
    if (traces(t))
        gra_trace_loss(t, loss);
    if (t->error.failed || !make_grad(t, loss))
        return -1;
    t->swept = true;
    if (!loss->grad)
        return 0;                                       /* a parameter frozen since */
    loss->grad[0] = loss->fresh || (loss->base && loss->base->fresh) ? 1 : loss->grad[0] + 1;
    loss->fresh = owner(loss)->fresh = false;

    bool any;
    for (gra_tensor *y = t->last; y; y = y->prev) {
        if (!y->grad)
            continue;                                   /* the loss does not depend on it */
        if (!make_grads(t, y, &any))
            return -1;
        if (any && y->op->backward) {
            work(t, y, y->op->backward);
            if (traces(t))
                gra_trace_backward(t, y);
        }
        grads_added(y);
        recycle_grad(t, y);
    }
    return t->error.failed ? -1 : 0;
}

void gra_retain_grad(gra_tensor *x)
{
    if (!x)
        return;
    x->retain_grad = true;
    if (x->base)
        x->base->retain_grad = true;
}

const real *gra_grad(const gra_tensor *x)
{
    if (!x)
        return NULL;
    gra_tape *t = x->tape;
    const real *grad = x->base ? x->base->grad : x->grad;   /* a view's is its base's */
    if (grad || !t)                                 /* a frozen parameter has none, and no tape to say so */
        return grad;
    const char *what = x->op ? x->op->name : "input";
    if (!x->requires_grad)
        gra_fail(t, "gra_grad: this %s %s wants no gradient: it depends on nothing that does", what,
                 GRA_SHAPE_OF(x));
    else if (!t->swept)
        gra_fail(t, "gra_grad: the gradient of this %s %s comes with gra_backward", what, GRA_SHAPE_OF(x));
    else if (!x->op)
        gra_fail(t, "gra_grad: the loss does not depend on this input %s", GRA_SHAPE_OF(x));
    else
        gra_fail(t, "gra_grad: the gradient of this %s %s was not kept: call gra_retain_grad(x) before "
                 "gra_backward, or gra_keep_grads(t, true)", what, GRA_SHAPE_OF(x));
    return NULL;
}
