/* op.h: all that an author of ops, layers and optimisers needs beyond gradus.h.
 *
 * An op is one file: formula, forward, backward, public function. Outside the library it is the
 * same: any .c that includes this header (examples/02_own_op.c).
 *
 *     static void forward(gra_tensor *y)                          // y = x^2
 *     {
 *         const real *x = y->in[0]->data;
 *         for (size_t i = 0; i < y->size; i++)
 *             y->data[i] = x[i] * x[i];
 *     }
 *
 *     static void backward(gra_tensor *y)                         // dx += dy 2 x
 *     {
 *         const real *x = y->in[0]->data, *dy = y->grad;
 *         real *dx = y->in[0]->grad;
 *         if (dx)                                                 // of several inputs, some may want none
 *             for (size_t i = 0; i < y->size; i++)
 *                 dx[i] += dy[i] * 2 * x[i];
 *     }
 *
 *     gra_tensor *my_op(gra_tape *t, gra_tensor *x)
 *     {
 *         static const gra_op op = { .name = "my_op", .forward = forward, .backward = backward };
 *         return gra_run(gra_result_like(t, &op, x));
 *     }
 *
 * In backward y->grad is there, and y->in[i]->grad is non-NULL exactly when that gradient is wanted
 * (with one input that wants none, backward is not called at all). Accumulate, always: an input may
 * feed several ops, or this one twice. Check in the public function with gra_fail, trust inside.
 * The fields of gra_tensor are in gradus.h; saved is used in examples/02_own_op.c, args in core/ops/pow.c.
 *
 * From C++ the functions can be called; the macros that make an array of their arguments (gra_result,
 * GRA_REFUSES, GRA_SHAPE_OF) are C: call gra_result_n, gra_refuses, gra_shape_text there.
 */
#ifndef GRADUS_OP_H
#define GRADUS_OP_H

#include "gradus.h"
#include <limits.h>
#include <math.h>
#include <string.h>

typedef gra_real real;

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)                /* exported, although compiled with -fvisibility=hidden */
#endif

struct gra_op {
    const char *name;
    void   (*forward)(gra_tensor *y);           /* fills y->data (uninitialised before); NULL for a view */
    void   (*backward)(gra_tensor *y);          /* adds to y->in[i]->grad; NULL: no gradient flows through */
    size_t (*saved)(const gra_tensor *y);       /* how many values y->saved has room for; NULL: none */
    size_t   args;                              /* bytes of y->args, zeroed; at most GRA_MAX_ARGS */
    bool     view;                              /* y shares the data and the gradient of in[0] */
    bool     stores;                            /* of the library's own ops: see internal.h */
    bool     masks;                     /* y has infinities on purpose: gra_trace_nan reports none of them */
};

#define GRA_MAX_ARGS 128

/* A public function makes its result with gra_result (or _like, _broadcast), fills y->args, and ends in
 * return gra_run(y), which computes and records y. After an error both return the empty tensor, whose args
 * may be written to. in[0] must not be NULL, others may be. */
gra_tensor *gra_result_n(gra_tape *t, const gra_op *op, gra_shape shape, int nin, gra_tensor *const *in);
#define gra_result(t, op, shape, ...)                                                                    \
    gra_result_n(t, op, shape, (int)(sizeof((gra_tensor *[]){ __VA_ARGS__ }) / sizeof(gra_tensor *)),    \
                 (gra_tensor *[]){ __VA_ARGS__ })
gra_tensor *gra_result_like(gra_tape *t, const gra_op *op, gra_tensor *x); /* shaped like x, its only input */
gra_tensor *gra_result_broadcast(gra_tape *t, const gra_op *op, gra_tensor *a, gra_tensor *b); /* shaped as
                                                           both */
gra_tensor *gra_run(gra_tensor *y);                     /* calls forward and records y; y */

/* Errors. gra_fail keeps the first sentence and returns the empty tensor (no dimensions, one NaN).
 * Say who speaks, what came, what was wanted: "matmul: a is (6, 3) but b is (2, 3): ..." */
gra_tensor *gra_fail(gra_tape *t, const char *format, ...) GRA_PRINTF(2, 3);
gra_tensor *gra_empty(gra_tape *t);                     /* the empty tensor */
bool        gra_refuses(gra_tape *t, const char *op, int nin, gra_tensor *const *in);
                                        /* true: the tape has an error, a NULL among them, or one of another
                                           tape or of an earlier step: return gra_empty(t). An optional input:
                                           b ? b : x */
#define GRA_REFUSES(t, op, ...)                                                                          \
    gra_refuses(t, op, (int)(sizeof((gra_tensor *[]){ __VA_ARGS__ }) / sizeof(gra_tensor *)),            \
                (gra_tensor *[]){ __VA_ARGS__ })
void        gra_model_fail(gra_model *m, const char *format, ...) GRA_PRINTF(2, 3); /* the model is unusable
                                                           from now on */

/* Shapes. As text: gra_shape_text(x->shape, (char[GRA_SHAPE_TEXT]){ 0 }), which is GRA_SHAPE_OF(x), is "(2,
 * 3)". */
#define GRA_SHAPE_TEXT 120
#define GRA_SHAPE_OF(x) gra_shape_text((x)->shape, (char[GRA_SHAPE_TEXT]){ 0 })
char     *gra_shape_text(gra_shape s, char *text);
bool      gra_shape_size(gra_shape s, size_t *size);    /* false: a size is negative, over 8 dims, or too
                                                           large */
bool      gra_same_shape(gra_shape a, gra_shape b);
int       gra_wrap_dim(gra_shape s, int d);             /* d, or d + ndim; -1 if there is no such dimension */
gra_shape gra_shape_without(gra_shape s, int d, bool keepdim);  /* reduced over d: without it, or with a 1
                                                           there */

/* A tensor seen as (outer, n, inner) around dimension d: element (o, i, j) is data[(o*n + i)*inner + j]. */
typedef struct gra_around {
    size_t outer, n, inner;
} gra_around;
gra_around gra_around_dim(gra_shape s, int d);          /* 0 <= d < ndim */

/* NumPy broadcasting. gra_broadcast gives the shape of both; false: they do not fit;
 * a walk visits y's elements from `from` to `to` in rows: y[w.y + i], a[w.a + i*w.step_a],
 * b[w.b + i*w.step_b] for i < w.n. A step is 0 where the operand is stretched. */
bool gra_broadcast(gra_shape a, gra_shape b, gra_shape *both);
bool gra_stretched(const gra_tensor *y);            /* some input of y is smaller than y: it was broadcast */
typedef struct gra_walk {
    size_t n, y, a, b, step_a, step_b;
    size_t end;
    int    ndim;
    size_t dim[GRA_MAX_DIMS], at[GRA_MAX_DIMS], stride_a[GRA_MAX_DIMS], stride_b[GRA_MAX_DIMS];
} gra_walk;
gra_walk gra_walk_begin(gra_shape y, gra_shape a, gra_shape b, size_t from, size_t to);
void     gra_walk_next(gra_walk *w);                    /* w.n == 0: done */

/* Memory that lives until the next gra_begin, 64-byte aligned; NULL after an error. */
void *gra_alloc(gra_tape *t, size_t bytes);
gra_rng *gra_tape_rng(gra_tape *t);                     /* the generator of gra_begin, or NULL */
bool     gra_can_draw(gra_tape *t, const char *op);     /* false, and an error: there is none, or it was never
                                                           seeded */
gra_mode gra_tape_mode(const gra_tape *t);

/* Memory that lives as long as the model, zeroed; NULL after an error. */
void *gra_model_alloc(gra_model *m, size_t bytes);

/* An optimiser's buffer for the parameter p, such as a moment: shaped like p, zeroed, owned by the model
 * (gra_save_all saves it, gra_save does not). Its name is "kind.name of p". */
gra_tensor *gra_state(gra_model *m, const char *kind, const gra_tensor *p);   /* NULL: out of memory, or the
                                                           name is taken */

/* ---- kernels -----------------------------------------------------------------------------------------
 * What kernels compute on is a machine: threads, an instruction set, and a workspace for each thread. A tape
 * has one, which the models opened on it share. A kernel is a function compiled for each instruction set,
 * whose work may be cut into chunks that threads share. However it is cut, the order of each sum must stay,
 * so that any number of threads gives the same bits. */
typedef struct gra_machine gra_machine;
gra_machine *gra_tape_machine(const gra_tape *t);
typedef enum gra_isa { GRA_BASE, GRA_AVX2, GRA_AVX512, GRA_ISAS } gra_isa;     /* instruction sets, and how
                                                           many */
typedef void gra_work(void *what, size_t from, size_t to, int worker);          /* the units from <= i < to,
                                                           on that thread */

/* GRA_KERNEL(all, f, y, n, cost) defines the function all(y), which computes y by f(y, from, to): the units
 * from <= i < to of n, each worth about `cost` additions. f is compiled for each instruction set; all(y) runs
 * it with the best that the processor has, in chunks, on all threads where the work is worth it. The cost
 * GRA_SERIAL means one chunk, on one thread: for an f whose units write to the same places. */
#define GRA_SERIAL SIZE_MAX
void gra_kernel(gra_machine *machine, void *what, size_t n, size_t cost, gra_work *const variant[GRA_ISAS]);
#define GRA_KERNEL(all, f, y, n, cost)                                                                   \
    GRA_VARIANTS(all##_on, f, gra_tensor)                                                                \
    static void all(gra_tensor *y)                                                                       \
    {                                                                                                    \
        gra_kernel(gra_tape_machine(y->tape), y, n, cost, all##_on);                                     \
    }

/* GRA_PARAM_KERNEL(all, f, cost), for optimisers, defines all(m, only, arg), which updates the parameters of
 * m that have a gradient (and, if `only` is not NULL, an entry there under their number) by f(s, from, to):
 * the values from <= i < to of the parameter s->p. The values of all parameters count as one long row, cut
 * into at most GRA_CHUNKS chunks; one thread goes through a chunk in order. */
#define GRA_CHUNKS 1024
typedef struct gra_piece {
    gra_tensor *p;
    int         number;                                 /* p is gra_param_at(m, number) */
    size_t      chunk;                                  /* 0, 1, ... */
    void       *arg;
} gra_piece;
void gra_param_kernel(gra_model *m, gra_tensor *const *only, void *arg, size_t cost,
                      gra_work *const variant[GRA_ISAS]);
#define GRA_PARAM_KERNEL(all, f, cost)                                                                   \
    GRA_VARIANTS(all##_on, f, gra_piece)                                                                 \
    static void all(gra_model *m, gra_tensor *const *only, void *arg)                                    \
    {                                                                                                    \
        gra_param_kernel(m, only, arg, cost, all##_on);                                                  \
    }

/* GRA_VARIANTS(table, f, type) defines table[GRA_ISAS]: f((type *)what, from, to), compiled for each
 * instruction set. */
#define GRA_VARIANT(name, f, type, target)                                                               \
    target static void name(void *what, size_t from, size_t to, int worker)                              \
    {                                                                                                    \
        (void)worker;                                                                                    \
        f((type *)what, from, to);                                                                       \
    }
#define GRA_VARIANTS(table, f, type)                                                                     \
    GRA_VARIANT(table##_base, f, type, GRA_TARGET_BASE)                                                  \
    GRA_VARIANT(table##_avx2, f, type, GRA_TARGET_AVX2)                                                  \
    GRA_VARIANT(table##_avx512, f, type, GRA_TARGET_AVX512)                                              \
    static gra_work *const table[GRA_ISAS] = { table##_base, table##_avx2, table##_avx512 };
#define GRA_TARGET_BASE
#if defined(__x86_64__) && defined(__GNUC__)
#define GRA_TARGET_AVX2   __attribute__((target("avx2,fma"), flatten))
#define GRA_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"), flatten))
#else
#define GRA_TARGET_AVX2
#define GRA_TARGET_AVX512
#endif

/* ---- matrix products: c = a b, or c += a b ------------------------------------------------------------
 * A matrix is seen through strides, so a transpose is a swap of the two: element (i, j) of a is
 * a.p[i*a.row + j*a.col]. c is row-major with stride ldc. */
typedef struct gra_mat {
    const real *p;
    ptrdiff_t   row, col;
} gra_mat;
void gra_gemm(gra_machine *machine, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc,
              bool accumulate);
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
