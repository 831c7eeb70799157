/* tape: the list of the results that a step computed, newest first.
 *
 * Each recorded tensor points at the tensor recorded before it (prev), so a tensor's inputs come later in the
 * list than the tensor itself: backward.c goes through the list from its beginning to its end. */
#include "tape.h"

#include <stdlib.h>

/* ---- opening, and beginning a step ---- */

enum { HEADERS = 128 << 10 };       /* bytes of headers in one arena before the next is used */

gra_tape *gra_open(int threads)
{
    gra_refuse_both_precisions();
    gra_tape *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->machine = gra_machine_open(threads);
    if (!t->machine || !gra_arena_reserve(&t->headers[0], 2 * HEADERS) ||
        !gra_arena_reserve(&t->headers[1], 2 * HEADERS)) {      /* enough for every small step */
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
    gra_arena_free(&t->inner);
    gra_arena_free(&t->headers[0]);
    gra_arena_free(&t->headers[1]);
    free(t);
}

/* Keeps old headers, which makes stale tensors recognisable. Headers are allocated in one of two arenas; when
 * this arena contains HEADERS bytes, the second one is rewound and used instead. So headers of the previous
 * step are always intact, and headers of earlier steps are intact until HEADERS more bytes have been
 * allocated. Each arena has room for HEADERS bytes and the largest step so far, so a second such step needs
 * no malloc. */
static void keep_headers(gra_tape *t)
{
    const size_t used = gra_arena_used(&t->headers[t->arena_index]), made = used - t->headers_before;
    for (int i = 0; i < 2; i++)
        gra_arena_reserve(&t->headers[i], HEADERS + made);  /* out of memory: gra_arena_alloc tries again */
    t->headers_before = used;
    if (used < HEADERS)
        return;
    t->arena_index = 1 - t->arena_index;
    t->headers_before = 0;
    gra_arena_rewind(&t->headers[t->arena_index]);
}

void gra_begin(gra_tape *t, gra_mode mode, gra_rng *rng)
{
    gra_need_tape(t, __func__);
    gra_arena_merge(&t->arena);
    gra_arena_rewind(&t->inner);
    keep_headers(t);
    t->step++;
    t->last = t->leaves = NULL;
    t->free_grads = NULL;
    t->mode = mode;
    t->rng = rng;
    t->begun = true;
    t->backward_done = t->no_dropout = t->inside = false;
    memset(t->scratch, GRA_UNTOUCHED, GRA_MAX_ARGS);
    gra_failure_clear(&t->error);
    gra_machine_set_failed(t->machine, false);
    gra_machine_use_bf16(t->machine, t->bf16 && mode != GRA_EVAL);
    const char *missing = gra_machine_missing_isa(t->machine);
    static const char *const has[GRA_ISAS] = { [GRA_BASE] = "base", [GRA_AVX2] = "base or avx2",
                                               [GRA_AVX512] = "base, avx2 or avx512" };
    if (*missing)                       /* gra_open does not yet know whether to abort */
        gra_fail(t, "gra_begin: got GRADUS_ISA=%s, expected %s, which are all that this processor has",
                 missing, has[gra_machine_isa(t->machine)]);
}

int gra_products(gra_tape *t, gra_number number)
{
    gra_need_tape(t, __func__);
    t->bf16 = number == GRA_BF16 && gra_machine_has_bf16(t->machine) != GRA_BF16_NONE;
    if (number == GRA_FLOAT || t->bf16)
        return 0;
    gra_fail(t, sizeof(real) == sizeof(double)
             ? "gra_products: got GRA_BF16 in libgradus64, which computes in double: use libgradus"
             : "gra_products: got GRA_BF16, but this processor has no instruction for products of bfloat16 "
               "numbers (AVX512_BF16): use GRA_FLOAT");
    return -1;
}

#define GIVEN(t) (gra_need_tape(t, __func__), (t))

gra_tensor *gra_empty(gra_tape *t)                     { return &GIVEN(t)->empty; }
int         gra_threads(const gra_tape *t)             { return gra_machine_threads(GIVEN(t)->machine); }
const char *gra_isa_name(const gra_tape *t)    { return gra_isa_text(gra_machine_isa(GIVEN(t)->machine)); }
gra_rng    *gra_tape_rng(gra_tape *t)                  { return GIVEN(t)->rng; }
gra_mode    gra_tape_mode(const gra_tape *t)           { return GIVEN(t)->mode; }
gra_machine *gra_tape_machine(const gra_tape *t)       { return t->machine; }
void        gra_keep_going(gra_tape *t, bool on)       { gra_machine_keep_going(GIVEN(t)->machine, on); }
void        gra_keep_grads(gra_tape *t, bool on)       { GIVEN(t)->keep_grads = on; }
void        gra_keep_attention(gra_tape *t, bool on)   { GIVEN(t)->keep_attention = on; }
void        gra_tape_no_dropout(gra_tape *t)           { t->no_dropout = true; }
bool        gra_tape_keeps_attention(const gra_tape *t) { return t->keep_attention; }
const char *gra_error(const gra_tape *t)               { return gra_failure_text(&GIVEN(t)->error); }

/* ---- recording ---- */

/* A tensor with room for nin inputs and for arguments. Its values are `data` or, if that is NULL, new
 * uninitialised values, perhaps in a recycled buffer (`recycled`). After an error: the empty tensor. */
static gra_tensor *new_tensor(gra_tape *t, const char *name, gra_shape shape, int nin, size_t args,
                              real *data, bool recycled)
{
    size_t size;
    gra_need_tape(t, name);
    if (t->error.failed)
        return &t->empty;
    if (!t->begun)
        return gra_fail(t, "%s: got a tape on which no step has begun: call gra_begin first", name);
    if (shape.ndim > GRA_MAX_DIMS)
        return gra_fail(t, "%s: got %d dimensions, expected at most %d", name, shape.ndim, GRA_MAX_DIMS);
    if (!gra_shape_size(shape, &size))
        return gra_fail(t, "%s: got the shape %s, expected sizes of 0 or more that fit in memory", name,
                        GRA_SHAPE_STRING(shape));
    const size_t head = (sizeof(gra_tensor) + (size_t)nin * sizeof(gra_tensor *) + 15) / 16 * 16;
    gra_tensor *x = gra_header_alloc(t, head + args);
    data = data ? data : recycled ? gra_grad_take(t, size) : gra_alloc(t, size * sizeof(real));
    if (t->error.failed)
        return &t->empty;
    *x = (gra_tensor){ .data = data, .size = size, .shape = shape, .nin = nin, .tape = t, .step = t->step };
    x->in = nin ? (gra_tensor **)(void *)(x + 1) : NULL;
    x->args = args ? memset((char *)x + head, 0, args) : NULL;
    x->updates = gra_machine_updates(t->machine);
    return x;
}

gra_tensor *gra_leaf(gra_tape *t, const char *name, gra_shape shape, real *data)
{
    gra_tensor *x = new_tensor(t, name, shape, 0, 0, data, false);
    if (t->inside && x != &t->empty) {
        x->prev = t->leaves;
        t->leaves = x;
    }
    return x;
}

gra_tensor *gra_result_n(gra_tape *t, const gra_op *op, gra_shape shape, int nin, gra_tensor *const *in)
{
    gra_need_tape(t, op->name);
    for (int i = 0; i < nin; i++)
        if (gra_refuses_input(t, op->name, i, in[i], i > 0) ||  /* inputs other than in[0] may be NULL */
            (in[i] && in[i]->panels && !(op->reads_panels >> i & 1 && t->mode == GRA_EVAL) &&
             !gra_has_values(t, in[i], op->name)))
            return &t->empty;
    if (op->args > GRA_MAX_ARGS)
        return gra_fail(t, "%s: got %zu bytes of args, expected at most %d (GRA_MAX_ARGS)", op->name,
                        op->args, GRA_MAX_ARGS);
    gra_tensor *y = new_tensor(t, op->name, shape, nin, op->args, op->view ? in[0]->data : NULL, true);
    if (t->error.failed)
        return &t->empty;
    y->op = op;
    y->args = y->args ? y->args : t->scratch;           /* gra_run sees whether it was written */
    for (int i = 0; i < nin; i++) {
        y->in[i] = in[i];
        y->requires_grad |= in[i] && in[i]->requires_grad;
    }
    y->requires_grad &= t->mode != GRA_EVAL && (op->backward || op->view);
    y->forgotten = t->inside && !op->view;              /* in its turn in the sweep, or at the end of f */
    if (op->view) {
        y->base = in[0]->base ? in[0]->base : in[0];
        if (in[0]->tape)                /* parameters are not forgotten: threads may share them */
            in[0]->viewed = true;
    }
    return y;
}

gra_tensor *gra_result_like(gra_tape *t, const gra_op *op, gra_tensor *x)
{
    if (GRA_BAD_INPUTS(t, op->name, x))
        return &t->empty;
    return gra_result(t, op, x->shape, x);
}

gra_tensor *gra_result_broadcast(gra_tape *t, const gra_op *op, gra_tensor *a, gra_tensor *b)
{
    if (GRA_BAD_INPUTS(t, op->name, a, b))
        return &t->empty;
    gra_shape shape;
    if (!gra_broadcast(a->shape, b->shape, &shape))
        return gra_fail(t, "%s: got shapes %s and %s, expected shapes that broadcast: from the right, sizes "
                        "must agree or be 1", op->name, GRA_SHAPE_OF(a), GRA_SHAPE_OF(b));
    return gra_result(t, op, shape, a, b);
}

/* The place of op in t->seen, or a free place for it; NULL: the table is full. */
static const gra_op **place_of(gra_tape *t, const gra_op *op)
{
    for (size_t n = 0, i = (size_t)op / sizeof(void *); n < GRA_SEEN; n++, i++)
        if (!t->seen[i % GRA_SEEN] || t->seen[i % GRA_SEEN] == op)
            return &t->seen[i % GRA_SEEN];
    return NULL;
}

/* Runs y's forward when this tape runs the op for the first time. If the op has no .args, y->args was scratch
 * until now; if it has no .saved, y->saved has room during this call. Writing to either is an error. */
static void run_first(gra_tape *t, gra_tensor *y)
{
    enum { LOOK = 4096 };
    const unsigned char *args = (const unsigned char *)t->scratch;
    size_t room = y->size + LOOK;
    for (int i = 0; i < y->nin; i++)
        room += y->in[i] ? y->in[i]->size : 0;
    real *spare = y->op->saved ? NULL : calloc(room, sizeof(real));
    bool written = false;
    for (int i = 0; i < GRA_MAX_ARGS; i++)
        written |= args[i] != GRA_UNTOUCHED;
    if (written)
        gra_fail(t, "%s: got values written to y->args, expected .args in its gra_op: .args = sizeof(struct "
                 "args) makes room for them", y->op->name);
    y->saved = spare ? spare : y->saved;
    if (y->op->forward && !written)
        gra_tape_run(t, y, false);
    for (int i = 0; spare && i < LOOK; i++)
        written |= spare[i] != 0;
    if (written)
        gra_fail(t, "%s: got values written to y->saved, expected .saved in its gra_op: a function that "
                 "returns how many values it saves", y->op->name);
    y->saved = spare ? NULL : y->saved;
    free(spare);
}

gra_tensor *gra_run(gra_tensor *y)
{
    gra_tape *t = y->tape;
    if (t->error.failed)
        return &t->empty;
    const gra_op **place = y->op->saved && y->op->args ? NULL : place_of(t, y->op);
    y->ran = true;
    y->args = y->op->args ? y->args : NULL;
    if (y->op->saved) {
        y->saved = gra_alloc(t, y->op->saved(y) * sizeof(real));
        if (!y->saved)
            return &t->empty;
    }
    if (y->requires_grad || t->records_all || t->inside) {
        y->prev = t->last;
        y->node = t->last ? t->last->node + 1 : 1;
        t->last = y;
    }
    if (place && !*place) {
        run_first(t, y);
        *place = t->error.failed ? NULL : y->op;
    } else if (y->op->forward)
        gra_tape_run(t, y, false);
    return t->error.failed ? &t->empty : y;
}

void gra_forget(gra_tensor *y)
{
    gra_tape *t = y->tape;
    if (!t || y == &t->empty || gra_is_stale(y, __func__) || !y->op || !y->op->forward || !y->data ||
        y->viewed || t->keep_grads || t->watch[0] || t->watch[1])
        return;
    y->forgotten = true;
    gra_free_values(t, y);
}

/* ---- watching ---- */

void gra_tape_watch(gra_tape *t, int which, const gra_watch *watch, void *watcher)
{
    t->watch[which] = watch;
    t->watcher[which] = watcher;
    t->guards_memory = t->records_all = false;
    for (int i = 0; i < GRA_WATCHES; i++) {
        t->guards_memory |= t->watch[i] && t->watch[i]->on_alloc;
        t->records_all |= t->watch[i] && t->watch[i]->records_all;
    }
}

/* Calls y's forward or backward, and before and after it the functions of the tape's watches. */
void gra_tape_run(gra_tape *t, gra_tensor *y, bool backward)
{
    for (int i = 0; i < GRA_WATCHES; i++)
        if (t->watch[i] && t->watch[i]->before_run)
            t->watch[i]->before_run(t->watcher[i], y, backward);
    (backward ? y->op->backward : y->op->forward)(y);
    for (int i = GRA_WATCHES; i-- > 0;)
        if (t->watch[i] && t->watch[i]->after_run)
            t->watch[i]->after_run(t->watcher[i], y, backward);
}
