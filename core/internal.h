/* internal.h: what the library's own files know of each other. Nothing here is exported, or for users: what
 * authors of ops, layers and optimisers need is in op.h and kernel.h. */
#ifndef GRADUS_INTERNAL_H
#define GRADUS_INTERNAL_H

#include "kernel.h"
#include "error.h"

/* ---- arenas: memory that is taken piece by piece and given back all at once -------------------------- */
typedef struct gra_arena {
    struct gra_block *first, *at; /* the blocks in the order in which they are filled; `at` is being filled */
} gra_arena;
void  *gra_arena_alloc(gra_arena *a, size_t bytes); /* 64-byte aligned, uninitialised; NULL: out of memory */
bool   gra_arena_reserve(gra_arena *a, size_t bytes);   /* after the next rewind these need no malloc */
size_t gra_arena_used(const gra_arena *a);              /* bytes */
void   gra_arena_rewind(gra_arena *a);  /* forget all pieces; the blocks stay, to be filled again in order */
void   gra_arena_merge(gra_arena *a);       /* forget all pieces; several blocks become one of their size */
void   gra_arena_free(gra_arena *a);

void gra_refuse_both_precisions(void);  /* aborts in a program that is linked with libgradus and libgradus64 */

/* ---- the machine: what kernels compute on -----------------------------------------------------------------
 * gra_open makes one for its tape; the models opened on the tape share it. Its owners are counted, so that
 * tape and models may be closed in any order: the last one to close it ends the threads. */
gra_machine *gra_machine_open(int threads);         /* 0 or less: one for each core; NULL: out of memory */
gra_machine *gra_machine_share(gra_machine *m);         /* one more owner; m */
void         gra_machine_close(gra_machine *m);         /* one owner less */
void         gra_machine_free_later(gra_machine *m, void *memory);      /* frees memory when the machine is
                                                           closed, or when 64 more pieces have been handed
                                                           over: until then a closed model is recognised */
gra_machine *gra_model_machine(const gra_model *m);
int          gra_machine_threads(const gra_machine *m);
gra_isa      gra_machine_isa(const gra_machine *m);
const char  *gra_isa_text(gra_isa isa);                 /* "base", "avx2" or "avx512" */
const char  *gra_machine_missing_isa(const gra_machine *m);     /* what GRADUS_ISA asked for in vain, or "" */
gra_work    *gra_variant(const gra_machine *m, gra_work *const variant[GRA_ISAS]);     /* for this machine */
void         gra_parallel(gra_machine *m, size_t n, size_t chunk, gra_work *f, void *what);    /* f on [0, n),
                                                           a chunk at a time, on all threads */

void         gra_share(gra_machine *m, void *what, size_t n, size_t cost, gra_work *f); /* as gra_kernel, but f
                                                           itself, and never by a test's `cut` */

#define GRA_WORKSPACE ((size_t)256 << 10)               /* values in a worker's own memory, uninitialised */
real        *gra_machine_workspace(const gra_machine *m, int worker);

/* While the tape's step has an error its gradients are not to be trusted: the optimisers of the models on
 * this machine then leave the parameters alone. */
void         gra_machine_set_failed(gra_machine *m, bool failed);
bool         gra_machine_failed(const gra_machine *m);

/* For tests: `cut` runs every kernel of this machine that is not GRA_SERIAL, however small, in place of
 * gra_kernel, which cuts only large ones and shares the chunks among threads. NULL: gra_kernel again. */
typedef void gra_cut(void *what, size_t n, gra_work *f);        /* f(what, from, to, 0) for all of [0, n) */
void         gra_machine_cut(gra_machine *m, gra_cut *cut);

/* Matrix products as gra_gemm: c = a b + bias, where bias (a value for each column, or NULL) is added to each
 * row of c, and c's rows are contiguous; and for code that runs in gra_parallel already, on one thread. */
void gra_gemm_bias(gra_machine *machine, gra_mat a, gra_mat b, const real *bias, gra_mat c);
void gra_gemm_alone(gra_machine *machine, int worker, gra_mat a, gra_mat b, gra_mat c, bool accumulate);

/* ---- the tape ---------------------------------------------------------------------------------------- */
struct gra_tape {
    gra_machine  *machine;
    gra_tensor   *last;                 /* recorded last: the head of the list */
    gra_arena     arena;                /* values, gradients and what ops allocate, of this step */
    gra_arena     headers[2];           /* the tensors' headers: see keep_headers in tape.c */
    int           turn;                 /* which of the two is being filled */
    size_t        headers_before;       /* bytes in it when this step began */
    struct gra_free_grad *free_grads;   /* recycled gradients */
    unsigned      step;                 /* counts gra_begin */
    gra_mode      mode;
    gra_rng      *rng;
    bool          begun, swept, keep_grads, keep_attention, keep_going, trace_nan;
    gra_failure   error;
    gra_tensor    empty;                /* what ops return after an error: */
    real          nan;                  /* its value, */
    max_align_t   scratch[GRA_MAX_ARGS / sizeof(max_align_t) + 1];      /* and its args */
    struct gra_watch *watch;            /* of a gradient check, or NULL */
};
void      gra_need_tape(const gra_tape *t, const char *who);   /* aborts with a sentence where t is NULL; who:
                                                           the op or function that was called */
bool      gra_is_stale(const gra_tensor *x, const char *who);  /* x is of an earlier step: an error of its
                                                           tape. false for a parameter */
gra_tensor *gra_leaf(gra_tape *t, const char *name, gra_shape shape, real *data);      /* a tensor that no op
                                                           computes. Its values are `data`, or if that is NULL
                                                           new, uninitialised ones */
void      gra_tape_run(gra_tape *t, gra_tensor *y, void (*f)(gra_tensor *y));   /* f(y): y's forward or
                                                           backward */
bool      gra_tape_keeps_attention(const gra_tape *t);
bool      gra_seeded(const gra_rng *g);                 /* false: NULL, or gra_manual_seed was forgotten */

/* An uninitialised gradient buffer is marked `fresh`: overwrite it, or zero it before accumulating. For most
 * ops the tape zeroes it. Those in which that would cost time set .stores = true, and overwrite where
 * in[i]->fresh: linear and attention, whose matrix products can do so (BLAS's beta = 0), and add. An input
 * that an op has twice is never fresh. */
void gra_zero_fresh(gra_tensor *y);                     /* zeroes the fresh gradients of y's inputs */

/* A buffer for `size` values of a gradient, uninitialised: a recycled one, or a new one; NULL after an error.
 * When it is given back it may serve another tensor. */
real     *gra_grad_take(gra_tape *t, size_t size);
void      gra_grad_give_back(gra_tape *t, size_t size, real *grad);
double   *gra_sums_take(gra_tape *t, size_t n);         /* such a buffer for n sums in double, all 0 */
void      gra_sums_give_back(gra_tape *t, size_t n, double *sums);

/* To look at a step (view.c). */
static inline bool gra_is_param(const gra_tensor *x) { return x->name && !x->tape; }
const gra_tensor *gra_node_param(const gra_tensor *y);  /* the first parameter among y's inputs, or NULL */
char     *gra_path_between(const gra_tensor *p, const gra_tensor *q, char path[GRA_PATH]);  /* the path of a
                                                           node between one that has the parameter p and one
                                                           that has q, or of both if they are the same; NULL:
                                                           there is none */
void     *gra_header_alloc(gra_tape *t, size_t bytes);  /* memory that lives as long as the step's headers,
                                                           longer than the step; NULL after an error */

/* The nodes of a tape in order, each leaf before the first node that it goes into (listing.c). */
typedef struct gra_listed {
    const gra_tensor *x;
    const gra_tensor *before, *after;                   /* its path is gra_path_between these two */
} gra_listed;
typedef struct gra_listing {
    gra_listed *row;
    int         count;
    int        *slot;                   /* a hash table of the tensors: 1 + the row, or 0: free */
    size_t      slots;                  /* a power of two */
} gra_listing;
bool        gra_listing_open(gra_listing *l, const gra_tape *t);        /* false: out of memory; there is
                                                           nothing to close */
void        gra_listing_close(gra_listing *l);
int         gra_listing_find(const gra_listing *l, const gra_tensor *x);        /* the row of x */

/* Texts of a row, of any bytes made printable. */
#define GRA_COLUMNS_TEXT 400            /* bytes of a text of at most 99 characters */
#define GRA_SIZE_TEXT 24
int         gra_shortened(const char *s, int columns, char *text);      /* s, its middle left out where it has
                                                           more characters (columns >= 3); how many it has
                                                           now */
void        gra_title_text(const gra_tensor *x, char *text);    /* "softmax", "scores = softmax", "weight",
                                                           "input" */
void        gra_label_text(const gra_tensor *x, const char *path, char *text);  /* as an input of a node of
                                                           this path: "12", "weight", "fc.weight", "input" */
void        gra_size_text(const gra_tensor *x, const real *values, char text[GRA_SIZE_TEXT]);   /* of values or
                                                           gradients of x: a single number, else the root
                                                           mean square; "" if there are none */
const real *gra_kept_grad(const gra_tensor *x);         /* NULL: there is none, or it is uninitialised */

/* gra_trace_nan: looks at what was just computed, and makes an error of the first nan or inf. */
void gra_trace_forward(gra_tape *t, gra_tensor *y);     /* y was computed and recorded */
void gra_trace_loss(gra_tape *t, gra_tensor *loss);     /* a backward sweep is to begin there */
void gra_trace_backward(gra_tape *t, gra_tensor *y);    /* y's backward has added to its inputs' gradients */

/* A gradient check watches the steps that it runs (check/guard.c). While a tape is watched, each piece of a
 * step's memory has GRA_WATCH_ROOM unused bytes before and behind it, no gradient is recycled, and `work`
 * runs each forward and backward. */
enum { GRA_WATCH_ROOM = 64 };
typedef struct gra_watch {
    void (*made)(struct gra_watch *w, void *piece, size_t bytes);       /* uninitialised, as is the room
                                                           around it */
    void (*work)(struct gra_watch *w, gra_tensor *y, void (*f)(gra_tensor *y));  /* calls f(y): y's forward or
                                                           backward */
} gra_watch;
void      gra_tape_watch(gra_tape *t, gra_watch *w);    /* from the next gra_begin on; NULL: not watched */

void      gra_decimal_point(char *number);              /* print.c: in the place of a locale's decimal comma */

/* ---- models: what files hold of them ----------------------------------------------------------------- */
void        gra_need_model(const gra_model *m, const char *who);        /* aborts with a sentence where m is
                                                           NULL or closed; who: the function called */
bool        gra_init_fits(const gra_init *how, gra_model *m, const char *name, gra_shape shape);    /* false,
                                                           and an error of the model: a parameter of this name
                                                           and shape cannot begin so */
int         gra_owned_count(const gra_model *m);        /* how many parameters and buffers of gra_state */
gra_tensor *gra_owned_at(const gra_model *m, int i);    /* the i-th: parameters first, in their order */
gra_tensor *gra_owned_find(const gra_model *m, const char *name);       /* NULL: there is none of that name */
int         gra_alias_count(const gra_model *m);        /* how many further names of parameters (gra_alias) */
gra_tensor *gra_alias_at(const gra_model *m, int i);    /* the i-th: a tensor that bears the name and shares
                                                           the data of its base, the parameter */
gra_tensor *gra_alias_find(const gra_model *m, const char *name);
int         gra_model_note(gra_model *m, const char *why);      /* the outcome of a gra_save or gra_load: why
                                                           it failed, or NULL; that of the next one replaces
                                                           it. 0; -1: it failed, or the model is unusable */

#endif
