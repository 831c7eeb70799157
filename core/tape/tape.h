/* tape.h: the internals of a tape, for the code that records on it, sweeps it, watches it or shows it. */
#ifndef GRADUS_TAPE_H
#define GRADUS_TAPE_H

#include "../base/base.h"
#include "../machine/machine.h"

enum { GRA_SEEN = 256, GRA_UNTOUCHED = 0xa5 };        /* the value of scratch bytes that no op has written */

struct gra_tape {
    gra_machine  *machine;
    gra_tensor   *last;                 /* recorded last: the head of the list */
    gra_arena     arena;                /* values, gradients and the memory of ops in this step */
    gra_arena     inner;                /* the same for f of gra_checkpoint, */
    bool          inside;               /* which is running, */
    gra_tensor   *leaves;               /* and the leaves made by f, linked by prev */
    gra_arena     headers[2];           /* the tensors' headers: see keep_headers in tape.c */
    int           arena_index;          /* which of the two is being filled */
    size_t        headers_before;       /* bytes in it when this step began */
    struct gra_free_grad *free_grads;   /* recycled gradients */
    unsigned      step;                 /* counts gra_begin */
    gra_mode      mode;
    gra_rng      *rng;
    bool          begun, backward_done, keep_grads, keep_attention;
    bool          no_dropout;           /* an op of this step would have dropped in GRA_TRAIN */
    bool          bf16;                 /* gra_products: products of bfloat16 numbers, when training */
    gra_failure   error;
    gra_tensor    empty;                /* the tensor that ops return after an error: */
    real          nan;                  /* its value, */
    max_align_t   scratch[GRA_MAX_ARGS / sizeof(max_align_t) + 1];      /* and its args */
    const gra_op *seen[GRA_SEEN];       /* ops whose declarations have been tested: see gra_run */
    const struct gra_watch *watch[2];   /* see "watching" below; NULL: none */
    void         *watcher[2];
    bool          guards_memory;        /* a watch has on_alloc */
    bool          records_all;          /* a watch has records_all */
};

/* Aborts with a sentence if t is NULL. who: the op or function that was called. */
void gra_need_tape(const gra_tape *t, const char *who);

/* Returns true, with an error of x's tape, if x belongs to an earlier step. A parameter is never stale. */
bool gra_is_stale(const gra_tensor *x, const char *who);

/* Returns true, with an error of t (NULL: the program aborts), if x is a parameter of a closed model. */
bool gra_is_closed(gra_tape *t, const gra_tensor *x, const char *who);

/* Returns false, with an error of t, if g is NULL (how: what to pass) or was never seeded. */
bool gra_need_generator(gra_tape *t, const char *who, const gra_rng *g, const char *how);

/* Returns false, with an error of t, if x's values are not in memory, after gra_forget or gra_bfloat16. */
bool gra_has_values(gra_tape *t, const gra_tensor *x, const char *who);

/* Returns true, with an error of t, if op cannot read x, its input i. may_be_null: x may be NULL. */
bool gra_refuses_input(gra_tape *t, const char *op, int i, const gra_tensor *x, bool may_be_null);

/* A tensor that is not the result of an op. data NULL: new values, uninitialised. */
gra_tensor *gra_leaf(gra_tape *t, const char *name, gra_shape shape, real *data);

void gra_tape_run(gra_tape *t, gra_tensor *y, bool backward);       /* y's forward or backward */
void gra_tape_no_dropout(gra_tape *t);                  /* an op does not drop, but would in GRA_TRAIN */
bool gra_tape_keeps_attention(const gra_tape *t);

/* gra_alloc, in a given arena of the tape. */
void *gra_alloc_in(gra_tape *t, gra_arena *arena, size_t bytes);

/* Memory that lives as long as the headers of this step, which outlive the step. NULL after an error. */
void *gra_header_alloc(gra_tape *t, size_t bytes);

static inline bool gra_is_param(const gra_tensor *x) { return x->name && !x->tape; }

/* ---- gradients -----------------------------------------------------------------------------------------
 * An uninitialised gradient is marked `fresh`: overwrite it, or zero it before accumulating. For most ops
 * the tape zeroes it. Ops in which zeroing would cost time set .overwrites_grad = true and overwrite a fresh
 * gradient: linear and attention, whose matrix products can overwrite (BLAS's beta = 0), add, dropout,
 * cross_entropy and the ops of ops/elementwise.h. If an op has the same input twice, its gradient is never
 * fresh. */
void gra_zero_fresh(gra_tensor *y);                     /* zeroes the fresh gradients of y's inputs */

/* A buffer for `size` values of a gradient or a result, uninitialised, perhaps recycled; NULL after an error.
 * Once returned, the buffer may serve another tensor. gra_sums_take: a buffer for n sums in double, all 0. */
real   *gra_grad_take(gra_tape *t, size_t size);
void    gra_grad_give_back(gra_tape *t, size_t size, real *grad);
void    gra_free_values(gra_tape *t, gra_tensor *y);    /* of y, if y is marked as forgotten */
double *gra_sums_take(gra_tape *t, size_t n);
void    gra_sums_give_back(gra_tape *t, size_t n, double *sums);

/* ---- checkpoint.c ----
 * The sweep reaches y of gra_checkpoint twice. The first time gra_checkpoint_ends is false, and
 * gra_checkpoint_again records f(x), in front of y, and returns its result. The second time it is true: f(x)
 * is forgotten. */
bool        gra_is_checkpoint(const gra_tensor *y);
gra_tensor *gra_checkpoint_again(gra_tape *t, gra_tensor *y);
bool        gra_checkpoint_ends(gra_tape *t, gra_tensor *y);

/* ---- watching ------------------------------------------------------------------------------------------
 * A watch observes a step. A tape has room for two watches: gra_trace_nan (view/trace.c) and a gradient check
 * (check/guard.c). `watcher` is passed to each function; a function that is NULL is not called. */
enum { GRA_WATCH_TRACE, GRA_WATCH_CHECK, GRA_WATCHES };
enum { GRA_WATCH_ROOM = 256 };
typedef struct gra_watch {
    bool records_all;                   /* ops that need no gradient are recorded too */

    /* A new piece of the step's memory, uninitialised, with GRA_WATCH_ROOM unused bytes before and after
     * it. While a watch has on_alloc, no gradient is recycled. */
    void (*on_alloc)(void *watcher, void *piece, size_t bytes);

    /* Called before and after y's forward or backward, and when gra_backward begins. */
    void (*before_run)(void *watcher, gra_tensor *y, bool backward);
    void (*after_run)(void *watcher, gra_tensor *y, bool backward);
    void (*on_backward)(void *watcher, gra_tape *t, gra_tensor *loss);
} gra_watch;
void gra_tape_watch(gra_tape *t, int which, const gra_watch *watch, void *watcher);  /* NULL ends it */

#endif
