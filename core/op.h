/* op.h: what authors of ops, layers and optimisers need beyond gradus.h.
 *
 * An op is a forward, a backward and a public function that checks its arguments: examples/02_own_op.c is one
 * outside the library, with y->saved; core/ops/pow.c is one of the library's, with y->args. The fields of
 * gra_tensor are in gradus.h.
 *
 * In backward y->grad is there, and y->in[i]->grad is NULL where that gradient is not wanted. (If none is,
 * backward is not called.) Always accumulate, dx[i] += ...: an input may feed several ops, or this one twice.
 *
 * C++ can call the functions. The macros that make an array of their arguments (gra_result, GRA_REFUSES,
 * GRA_SHAPE_OF, GRA_SHAPE_STRING) are C: call gra_result_n, gra_refuses, gra_tensor_text, gra_shape_text there. */
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
    bool     masks;                             /* y has infinities on purpose: not for gra_trace_nan */
};
#define GRA_MAX_ARGS 128

/* A public function makes its result, fills y->args, and ends in return gra_run(y), which calls forward and
 * records y. After an error these return the empty tensor, whose args may be written to. in[0] must not be
 * NULL; others may be. The result of gra_result_like is shaped like x, its only input; that of _broadcast is
 * shaped as a and b broadcast together. */
gra_tensor *gra_result_n(gra_tape *t, const gra_op *op, gra_shape shape, int nin, gra_tensor *const *in);
#define gra_result(t, op, shape, ...)                                                                    \
    gra_result_n(t, op, shape, (int)(sizeof((gra_tensor *[]){ __VA_ARGS__ }) / sizeof(gra_tensor *)),    \
                 (gra_tensor *[]){ __VA_ARGS__ })
gra_tensor *gra_result_like(gra_tape *t, const gra_op *op, gra_tensor *x);
gra_tensor *gra_result_broadcast(gra_tape *t, const gra_op *op, gra_tensor *a, gra_tensor *b);
gra_tensor *gra_run(gra_tensor *y);

/* Errors. gra_fail keeps the first sentence and returns the empty tensor (no dimensions, one NaN). Say who
 * speaks, what came, what was wanted: "matmul: a is (6, 3) but b is (2, 3): ..." GRA_REFUSES(t, "name", x, w)
 * is true where the tape has an error, or an input is NULL, of another tape or of an earlier step: return
 * gra_empty(t). For an optional input b pass b ? b : x. */
gra_tensor *gra_fail(gra_tape *t, const char *format, ...) GRA_PRINTF(2, 3);
gra_tensor *gra_empty(gra_tape *t);
bool        gra_refuses(gra_tape *t, const char *op, int nin, gra_tensor *const *in);
#define GRA_REFUSES(t, op, ...)                                                                          \
    gra_refuses(t, op, (int)(sizeof((gra_tensor *[]){ __VA_ARGS__ }) / sizeof(gra_tensor *)),            \
                (gra_tensor *[]){ __VA_ARGS__ })
void        gra_model_fail(gra_model *m, const char *format, ...) GRA_PRINTF(2, 3);  /* m is then unusable */

/* Shapes. GRA_SHAPE_STRING(s) is the text "(2, 3)". For sentences GRA_SHAPE_OF(x) is that of the tensor x,
 * behind its name if it has one: "scores" (2, 3). */
#define GRA_SHAPE_TEXT 120
#define GRA_TENSOR_TEXT (GRA_SHAPE_TEXT + 4 * 40 + 4)
#define GRA_SHAPE_STRING(s) gra_shape_text(s, (char[GRA_SHAPE_TEXT]){ 0 })
#define GRA_SHAPE_OF(x) gra_tensor_text(x, (char[GRA_TENSOR_TEXT]){ 0 })
char     *gra_shape_text(gra_shape s, char *text);
char     *gra_tensor_text(const gra_tensor *x, char *text);     /* of a longer name 40 characters */
bool      gra_shape_size(gra_shape s, size_t *size);    /* false: a negative or too large size, or ndim */
bool      gra_same_shape(gra_shape a, gra_shape b);
int       gra_wrap_dim(gra_shape s, int d);             /* d, or d + ndim; -1 if there is no such dimension */
gra_shape gra_shape_without(gra_shape s, int d, bool keepdim);  /* reduced over d: without it, or 1 there */

/* A tensor seen as (outer, n, inner) around dimension d: element (o, i, j) is data[(o*n + i)*inner + j]. */
typedef struct gra_around {
    size_t outer, n, inner;
} gra_around;
gra_around gra_around_dim(gra_shape s, int d);          /* 0 <= d < ndim */

/* NumPy broadcasting. gra_broadcast gives the shape of both; false: they do not fit. A walk visits y's
 * elements from `from` to `to` in rows: y[w.y + i], a[w.a + i*w.step_a], b[w.b + i*w.step_b] for i < w.n,
 * until w.n is 0. A step is 0 where the operand is stretched. */
bool gra_broadcast(gra_shape a, gra_shape b, gra_shape *both);
bool gra_stretched(const gra_tensor *y);                /* some input of y is smaller: it was broadcast */
typedef struct gra_walk {
    size_t n, y, a, b, step_a, step_b;
    size_t end;
    int    ndim;
    size_t dim[GRA_MAX_DIMS], at[GRA_MAX_DIMS], stride_a[GRA_MAX_DIMS], stride_b[GRA_MAX_DIMS];
} gra_walk;
gra_walk gra_walk_begin(gra_shape y, gra_shape a, gra_shape b, size_t from, size_t to);
void     gra_walk_next(gra_walk *w);

/* Of the step: its mode, its generator, and memory that lives until the next gra_begin. */
gra_mode gra_tape_mode(const gra_tape *t);
gra_rng *gra_tape_rng(gra_tape *t);                     /* the generator of gra_begin, or NULL */
bool     gra_can_draw(gra_tape *t, const char *op);     /* false, and an error: it is NULL or not seeded */
void    *gra_alloc(gra_tape *t, size_t bytes);          /* 64-byte aligned; NULL after an error */

/* Of the model: memory that lives as long as it does, zeroed; NULL after an error. And an optimiser's buffer
 * for the parameter p, such as a moment, shaped like p, zeroed, named "kind.name of p" (gra_save_all saves
 * it, gra_save does not); NULL: out of memory, or the name is taken. */
void       *gra_model_alloc(gra_model *m, size_t bytes);
gra_tensor *gra_state(gra_model *m, const char *kind, const gra_tensor *p);

/* Kernels compute on a machine: threads, an instruction set, and a workspace for each thread. A tape has one,
 * which the models opened on it share.
 *
 * GRA_KERNEL(all, f, y, n, cost) defines the function all(y), which computes y by f(y, from, to): the units
 * from <= i < to of n, each worth about `cost` additions. f is compiled for each instruction set; all(y) runs
 * it with the best that the processor has, in chunks, on all threads where the work is worth it. However it
 * is cut, the order of each sum must stay, so that any number of threads gives the same bits. The cost
 * GRA_SERIAL means one chunk, on one thread: for an f whose units write to the same places. */
typedef struct gra_machine gra_machine;
gra_machine *gra_tape_machine(const gra_tape *t);
#define GRA_SERIAL SIZE_MAX
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
#define GRA_PARAM_KERNEL(all, f, cost)                                                                   \
    GRA_VARIANTS(all##_on, f, gra_piece)                                                                 \
    static void all(gra_model *m, gra_tensor *const *only, void *arg)                                    \
    {                                                                                                    \
        gra_param_kernel(m, only, arg, cost, all##_on);                                                  \
    }

/* Matrix products, c = a b, or c += a b. A matrix is seen through strides, so a transpose is a swap of the
 * two: element (i, j) of a is a.p[i*a.row + j*a.col]. c is row-major with stride ldc. */
typedef struct gra_mat {
    const real *p;
    ptrdiff_t   row, col;
} gra_mat;
void gra_gemm(gra_machine *machine, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc,
              bool accumulate);

/* ---- what the kernel macros are made of ---------------------------------------------------------------
 * GRA_VARIANTS(table, f, type) defines table[GRA_ISAS]: f((type *)what, from, to) for each instruction
 * set. */
typedef enum gra_isa { GRA_BASE, GRA_AVX2, GRA_AVX512, GRA_ISAS } gra_isa;
typedef void gra_work(void *what, size_t from, size_t to, int worker);
void gra_kernel(gra_machine *machine, void *what, size_t n, size_t cost, gra_work *const variant[GRA_ISAS]);
void gra_param_kernel(gra_model *m, gra_tensor *const *only, void *arg, size_t cost,
                      gra_work *const variant[GRA_ISAS]);
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

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
