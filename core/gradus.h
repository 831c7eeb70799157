/* gradus.h: all that a user of the library calls, in the order of use.
 *
 * gradus trains attention models and shows every gradient on the way. A tape records what is
 * computed; gra_backward walks it from the last record to the first and leaves d(loss)/d(x) in
 * the gradients. Names, arguments and shapes are PyTorch's, so what you know carries over.
 *
 *     gra_tape   *t = gra_open(1);                             one thread
 *     gra_begin(t, GRA_GRAD, NULL);                            a new step
 *     gra_tensor *a = gra_scalar(t, 2);
 *     gra_tensor *b = gra_scalar(t, 3);
 *     gra_backward(t, gra_mul(t, a, b));
 *     printf("%g\n", (double)gra_grad(a)[0]);                  d(ab)/da = b = 3
 *     gra_close(t);
 *
 * Lifetimes, once for all. A function whose first argument is a tape makes something that lives until the
 * next gra_begin of that tape: nobody frees a tensor. A function that takes a scope makes parameters, which
 * live as long as their model. A layer owns nothing and needs no clean-up. A stale tensor, one of an earlier
 * step, is refused with a sentence by every op, and by gra_item, gra_grad, gra_print and all that reads its
 * values: always if it is of the step before, and of older steps until 128 KiB of headers (some 500 tensors)
 * were made since. After that its memory has been reused, and the mistake is not noticed. Where library and
 * program are compiled with -fsanitize=address, reading x->data of an earlier step is reported as well.
 *
 * Errors, once for all. The tape (or the model) keeps the first error, as a sentence. By default the sentence
 * is printed and the program aborts, so that a debugger stops at the very call. After gra_keep_going(t, true)
 * the program goes on: ops return an empty tensor, gra_item is NaN and gra_backward returns -1. Functions for
 * files return a status and do not abort (but gra_load_npy makes a tensor on a tape, as an op does). Where
 * there is no tape or model to keep the sentence, because it is NULL, or the model is closed, the program
 * aborts in any case.
 *
 * Threads, once for all. A tape and the models opened on it belong to one thread at a time. Another thread
 * opens a tape of its own, on which it may read these models' parameters in GRA_EVAL while their owner runs a
 * forward or a backward, which write nothing of a parameter but its gradient. Optimiser steps, loading and
 * initialising write parameters, so no other thread may read them meanwhile: the caller sees to that.
 *
 * Precision. libgradus computes in float; libgradus64 is the same source with -DGRADUS_DOUBLE.
 * Compile all your own code with the same flag: a file without it does not link with libgradus64, nor
 * one with it with libgradus, and the linker says so:
 *     undefined reference to `gra_compiled_without_GRADUS_DOUBLE_needs_libgradus'
 */
#ifndef GRADUS_H
#define GRADUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The version, 10000 major + 100 minor + patch: 100 is 0.1.0. gra_version() is that of the library that runs: where
 * a shared library may be another than the one compiled for, compare gra_version() / 100 with GRADUS_VERSION / 100.
 * A patch changes no declaration; until 1.0 a minor version may, and then the shared library bears another name
 * (libgradus.so.0.1, .0.2); from 1.0 on what compiles and links goes on to do so until the next major version. */
#define GRADUS_VERSION 100

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)                /* exported, although compiled with -fvisibility=hidden */
#endif

#ifdef GRADUS_DOUBLE
typedef double gra_real;
#define GRA_NEEDS_LIBRARY gra_compiled_with_GRADUS_DOUBLE_needs_libgradus64
#else
typedef float gra_real;
#define GRA_NEEDS_LIBRARY gra_compiled_without_GRADUS_DOUBLE_needs_libgradus
#endif

int gra_version(void);

/* Whatever a file calls, it refers to this, which the other library lacks. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"           /* of linkers that know no `retain` */
#if defined(__has_attribute) && defined(__ELF__)
#if __has_attribute(retain)
#define GRA_KEPT __attribute__((used, retain))          /* by --gc-sections too */
#endif
#endif
#ifndef GRA_KEPT
#define GRA_KEPT __attribute__((used))
#endif
#else
#define GRA_KEPT
#endif
extern const size_t GRA_NEEDS_LIBRARY;
static const size_t *const gra_library GRA_KEPT = &GRA_NEEDS_LIBRARY;
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

#if defined(__GNUC__)
#define GRA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GRA_PRINTF(fmt, args)
#endif

#define GRA_MAX_DIMS 8

/* A shape, by value: GRA_SHAPE(2, 3) is a matrix of two rows and three columns. A scalar has no dimensions:
 * GRA_SCALAR. Both are C and C++. (In a static table, where C wants constants: { 2, { 2, 3 } }.) */
typedef struct gra_shape {
    int ndim, dim[GRA_MAX_DIMS];
} gra_shape;
#ifdef __cplusplus
#define GRA_SHAPE(...) (gra_shape{ GRA_COUNT(__VA_ARGS__, 8, 7, 6, 5, 4, 3, 2, 1, 0), { __VA_ARGS__ } })
#define GRA_COUNT(a, b, c, d, e, f, g, h, count, ...) count
#define GRA_SCALAR     (gra_shape{ 0, { 0 } })
#else
#define GRA_SHAPE(...) ((gra_shape){ (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } })
#define GRA_SCALAR     ((gra_shape){ 0 })
#endif

typedef struct gra_tape  gra_tape;
typedef struct gra_model gra_model;
typedef struct gra_op    gra_op;

/* A tensor: row-major values, and after a backward their gradient. Read it freely; write only data,
 * and only of parameters. The lower half is for authors of ops (op.h). */
typedef struct gra_tensor gra_tensor;
struct gra_tensor {
    gra_real *data;                     /* size values */
    gra_real *grad;                     /* d(loss)/d(data), or NULL: see gra_grad */
    size_t    size;                     /* product of the shape; 1 for a scalar */
    gra_shape shape;
    bool      requires_grad;            /* a gradient is wanted here, or upstream of here */
    const char *name;                   /* of a parameter, "trf_blocks.0.norm1.scale", or by gra_name; else NULL */

    const gra_op *op;                   /* what made it; NULL for inputs and parameters */
    gra_tensor  **in;                   /* from what: nin tensors, some of which may be NULL */
    int           nin;
    int           node;                 /* its number on the tape + 1; 0: not recorded (gra_node_number) */
    void         *args;                 /* the op's own arguments */
    gra_real     *saved;                /* what the op keeps from forward to backward */
    gra_tensor   *base;                 /* of a view: the tensor whose data and gradient it shares */
    gra_tensor   *prev;                 /* the tensor recorded before this one */
    gra_tape     *tape;                 /* NULL for a parameter */
    gra_real     *grad_store;           /* of a parameter: grad when it is not frozen */
    const void   *owner;                /* of an optimiser's buffer: the optimiser (core/optim/group.c) */
    bool          retain_grad, fresh;   /* fresh: grad is uninitialised (internal.h) */
    unsigned      step;                 /* of its tape, in which it was made */
};

/* ---- random numbers: PyTorch's CPU generator, bit for bit ------------------------------------
 * A seed gives the integers and float32 values that PyTorch's builds for x86-64 by gcc give on a processor
 * with AVX2 (compared with 1.13), here with any compiler and on any processor. PyTorch itself differs
 * elsewhere (ARM, other compilers) in the last bits of normals drawn 16 or more at a time. The float32
 * streams are drawn in float in both libraries and widened in the float64 one, so that a seed gives the same
 * parameters in both. Normals in float64 take log, sin and cos from libm, so their last bits are its. Copy a
 * gra_rng to save its state; as text it goes into a file. */
typedef struct gra_rng {                /* Mersenne Twister 19937, and a cached normal */
    uint32_t state[624];
    int      at;                        /* next word of state to hand out; 624: refill first */
    bool     has_normal;
    double   normal;                    /* second value of the last pair of the scalar path */
    uint32_t seeded;                    /* set by gra_manual_seed: tells a generator that was forgotten */
} gra_rng;

void     gra_manual_seed(gra_rng *g, uint64_t seed);                /* torch.manual_seed; np.random.seed */
uint32_t gra_random(gra_rng *g);                                                 /* one raw 32-bit output */
uint64_t gra_random64(gra_rng *g);                      /* two 32-bit outputs, the first is the high word */
uint64_t gra_randint(gra_rng *g, uint64_t n);               /* torch.randint(0, n); n > 0, or it aborts */
void     gra_randperm(gra_rng *g, int *p, int n);       /* torch.randperm(n): 0 ... n - 1 in random order */
void     gra_rand(gra_rng *g, gra_real *x, size_t n);                   /* torch.rand: uniform in [0, 1) */
void     gra_randn(gra_rng *g, gra_real *x, size_t n);                           /* torch.randn */
void     gra_uniform(gra_rng *g, gra_real *x, size_t n, double a, double b);     /* uniform_(a, b) */
void     gra_normal(gra_rng *g, gra_real *x, size_t n, double mean, double std); /* normal_(mean, std) */
void     gra_rand_f64(gra_rng *g, double *x, size_t n);                 /* torch.rand(dtype=torch.float64) */
void     gra_randn_f64(gra_rng *g, double *x, size_t n);                /* torch.randn(dtype=torch.float64) */
void     gra_numpy_random(gra_rng *g, double *x, size_t n);                      /* np.random.random_sample */
void     gra_numpy_normal(gra_rng *g, double *x, size_t n, double loc, double scale); /* np.random.normal */

#define GRA_RNG_TEXT 5025
int gra_rng_text(const gra_rng *g, char text[GRA_RNG_TEXT]);  /* the whole state, cached normal included, as a
                                                           line of ASCII. 0; -1, and an empty text: g was
                                                           never seeded */
int gra_rng_from_text(gra_rng *g, const char *text);    /* 0; -1: no text of gra_rng_text, g unchanged */

/* ---- the tape: one step of work ------------------------------------------------------------- */
typedef enum gra_mode {
    GRA_TRAIN,                          /* records, and dropout drops */
    GRA_GRAD,                           /* records; dropout does nothing */
    GRA_EVAL                            /* does not record; dropout does nothing */
} gra_mode;

gra_tape   *gra_open(int threads);                      /* 0 or less: as many as the process has cores; at
                                                           most 256, more are not started. NULL: out of
                                                           memory */
void        gra_close(gra_tape *t);                     /* NULL is allowed */
void        gra_begin(gra_tape *t, gra_mode mode, gra_rng *rng); /* forget the last step; rng, borrowed until
                                                           the next begin, serves dropout and may be NULL
                                                           without it */
int         gra_backward(gra_tape *t, gra_tensor *loss);/* loss: one value. Accumulates the gradients of
                                                           parameters. 0, or -1 after an error. Once a step:
                                                           add several losses first */
int         gra_threads(const gra_tape *t);             /* how many the tape runs on */
const char *gra_isa_name(const gra_tape *t);            /* "base", "avx2" or "avx512", the best there is:
                                                           GRADUS_ISA=avx2 in the environment of gra_open asks
                                                           for another; one that is not there is an error of
                                                           each gra_begin */

void        gra_keep_going(gra_tape *t, bool on);       /* do not abort at an error (default: abort) */
const char *gra_error(const gra_tape *t);               /* the first error since gra_begin, or NULL */
void        gra_trace_nan(gra_tape *t, bool on);        /* from now on the first op whose result has a nan,
                                                           inf or -inf where no input has one of that kind is
                                                           an error that names the op, the layer and the
                                                           place; so is any in a gradient. The -inf of a mask
                                                           may be passed on, and a second one beside it is not
                                                           noticed. A step takes 10 to 20 % longer */

void        gra_retain_grad(gra_tensor *x);             /* before backward: keep this step tensor's gradient.
                                                           That of a view is its base's: for y =
                                                           gra_reshape(t, x, ...) gra_grad of both is
                                                           d(loss)/dx, all uses of x counted */
void        gra_keep_grads(gra_tape *t, bool on);       /* keep those of all step tensors, from now on */
const gra_real *gra_grad(const gra_tensor *x);          /* the gradient; if none was kept, an error says why:
                                                           NULL; of a frozen parameter NULL */

/* ---- tensors of a step ---------------------------------------------------------------------- */
gra_tensor *gra_input(gra_tape *t, const gra_real *data, gra_shape shape);  /* a copy; its gradient is kept */
gra_tensor *gra_scalar(gra_tape *t, double value);                  /* an input of one value, no dimensions */
gra_tensor *gra_constant(gra_tape *t, const gra_real *data, gra_shape shape);  /* a copy without gradient */
gra_tensor *gra_borrow(gra_tape *t, gra_real *data, gra_shape shape);          /* a constant without the copy:
                                                           the caller's values, which must stay until the next
                                                           gra_begin */
gra_tensor *gra_full(gra_tape *t, double value, gra_shape shape);              /* constants: all value, */
gra_tensor *gra_zeros(gra_tape *t, gra_shape shape);                           /* all 0, */
gra_tensor *gra_ones(gra_tape *t, gra_shape shape);                            /* all 1, */
gra_tensor *gra_arange(gra_tape *t, int n);                                    /* 0, 1, ... n - 1 */
gra_tensor *gra_detach(gra_tape *t, gra_tensor *x);     /* the same values, cut off from the graph */

double      gra_item(const gra_tensor *x);              /* the value of a tensor of one element: of this step,
                                                           or a parameter; NaN after an error */
int         gra_dim(const gra_tensor *x, int d);        /* shape.dim[d]; d < 0: from the end; 0: no such d */
void        gra_print(const gra_tensor *x);             /* to stdout in PyTorch's manner, 4 digits */
void        gra_fprint(FILE *f, const gra_real *data, gra_shape shape, int digits);

/* ---- to look at a step ------------------------------------------------------------------------
 * A tape's nodes are the results of ops that want a gradient, numbered 0, 1, ... in the order in which they
 * were computed. A node's fields say what it is: op->name (op.h), shape, in (nin inputs, some may be NULL),
 * data, and grad as far as it was kept (gra_keep_grads). Inputs, constants and parameters are leaves, which no
 * op made: they have no number, nor have results that want no gradient. GRA_EVAL records nothing: no nodes. */
int         gra_node_count(const gra_tape *t);          /* how many nodes this step has so far */
gra_tensor *gra_node_at(const gra_tape *t, int i);      /* the i-th, 0 <= i < count (else NULL), sought from
                                                           the last one back: x->prev is the one before x */
int         gra_node_number(const gra_tensor *x);       /* x is the node of this number; -1: it is none of
                                                           its tape's present step */
#define GRA_PATH 112
char       *gra_node_path(const gra_tensor *x, char path[GRA_PATH]);    /* the layer that x belongs to,
                                                           "trf_blocks.0.att", written to `path`; "": none.
                                                           It is that of the parameter among x's inputs. An op
                                                           without one belongs to what encloses the layers
                                                           before and after it. Of a parameter its layer */
gra_tensor *gra_name(gra_tensor *x, const char *format, ...) GRA_PRINTF(2, 3);  /* x, which has this name until
                                                           the next gra_begin: in errors, in what
                                                           gra_trace_nan finds, and where the tape is shown.
                                                           A parameter keeps its own */
void        gra_print_tape(const gra_tape *t);          /* to stdout, 80 columns wide: a line for each node, and
                                                           for each leaf before it is first used, with the
                                                           root mean square of values and gradient, or of a
                                                           single number this number */
void        gra_fprint_tape(FILE *f, const gra_tape *t);
int         gra_write_dot(const gra_tape *t, const char *path); /* the same as a graph for Graphviz, a box around
                                                           each layer: dot -Tsvg tape.dot -o tape.svg. 0; -1,
                                                           and errno says why */

/* ---- ops: element by element ------------------------------------------------------------------
 * Two operands broadcast as NumPy's: shapes are aligned at the right, a 1 stretches. */
gra_tensor *gra_add(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a + b */
gra_tensor *gra_sub(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a - b */
gra_tensor *gra_mul(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a b, element by element */
gra_tensor *gra_div(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a / b */
gra_tensor *gra_neg(gra_tape *t, gra_tensor *x);                       /* -x */
gra_tensor *gra_scale(gra_tape *t, gra_tensor *x, double s);           /* s x: a tensor times a number */
gra_tensor *gra_add_scalar(gra_tape *t, gra_tensor *x, double s);      /* x + s: a tensor plus a number */
gra_tensor *gra_pow(gra_tape *t, gra_tensor *x, double p);             /* x^p */
gra_tensor *gra_abs(gra_tape *t, gra_tensor *x);                       /* |x|; gradient 0 at 0 */
gra_tensor *gra_clamp(gra_tape *t, gra_tensor *x, double low, double high); /* min(max(x, low), high);
                                                                          gradient dy from low to high;
                                                                          -INFINITY, INFINITY: no bound */
gra_tensor *gra_exp(gra_tape *t, gra_tensor *x);                       /* e^x */
gra_tensor *gra_log(gra_tape *t, gra_tensor *x);                       /* ln x */
gra_tensor *gra_sqrt(gra_tape *t, gra_tensor *x);                      /* x^(1/2) */
gra_tensor *gra_tanh(gra_tape *t, gra_tensor *x);                      /* tanh x */
gra_tensor *gra_sigmoid(gra_tape *t, gra_tensor *x);                   /* 1 / (1 + e^-x) */
gra_tensor *gra_relu(gra_tape *t, gra_tensor *x);                      /* max(x, 0); gradient 0 at 0 */
gra_tensor *gra_gelu(gra_tape *t, gra_tensor *x);               /* x Phi(x), Phi by erf (PyTorch's default) */
gra_tensor *gra_gelu_tanh(gra_tape *t, gra_tensor *x);          /* its tanh approximation (GPT-2, Raschka) */
gra_tensor *gra_silu(gra_tape *t, gra_tensor *x);                      /* x sigmoid(x) */
gra_tensor *gra_dropout(gra_tape *t, gra_tensor *x, double p);         /* GRA_TRAIN: 0 with probability p,
                                                                          else x/(1-p); in the other modes x
                                                                          itself */
gra_tensor *gra_lt(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x < w: 1, else 0; no gradient */
gra_tensor *gra_le(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x <= w */
gra_tensor *gra_gt(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x > w */
gra_tensor *gra_ge(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x >= w */
gra_tensor *gra_eq(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x == w */
gra_tensor *gra_ne(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x != w */
gra_tensor *gra_where(gra_tape *t, gra_tensor *c, gra_tensor *a, gra_tensor *b); /* a where c is not 0, else
                                                                          b; all three broadcast */
gra_tensor *gra_masked_fill(gra_tape *t, gra_tensor *x, gra_tensor *mask, double value); /* value where mask
                                                                          is not 0; mask broadcasts to x */
gra_tensor *gra_causal_mask(gra_tape *t, gra_tensor *x);    /* (..., m, n): -inf where column > row + n - m */

/* ---- ops: products ---------------------------------------------------------------------------
 * The last two dimensions are matrices, those before broadcast. A vector operand is refused. */
gra_tensor *gra_matmul(gra_tape *t, gra_tensor *a, gra_tensor *b);     /* a b:   (m, k) (k, n) -> (m, n) */
gra_tensor *gra_matmul_nt(gra_tape *t, gra_tensor *a, gra_tensor *b);  /* a b^T: (m, k) (n, k) -> (m, n) */
gra_tensor *gra_matmul_tn(gra_tape *t, gra_tensor *a, gra_tensor *b);  /* a^T b: (k, m) (k, n) -> (m, n) */
gra_tensor *gra_linear(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b); /* x w^T + b: (..., in) ->
                                                                          (..., out); w (out, in), b (out) or
                                                                          NULL */

/* ---- ops: over dimensions; d < 0 counts from the end ------------------------------------------
 * The softmax family (softmax, log_softmax, cross_entropy, attention) stays exact with logits of 1e4 and
 * more: the largest is subtracted first. Where PyTorch gives NaN for a row that is -inf throughout (all
 * masked), here softmax and attention give zeros, cross_entropy a loss of 0 that counts in the mean, and none
 * of them a gradient; log_softmax gives -inf and passes dy on. A +inf among the logits gives NaN, as in
 * PyTorch. */
gra_tensor *gra_sum(gra_tape *t, gra_tensor *x);                       /* of all values: a scalar */
gra_tensor *gra_mean(gra_tape *t, gra_tensor *x);                      /* of no values: nan, as in PyTorch */
gra_tensor *gra_max(gra_tape *t, gra_tensor *x);                       /* gradient to the first of equals */
gra_tensor *gra_min(gra_tape *t, gra_tensor *x);                       /* gradient to the first of equals */
gra_tensor *gra_var(gra_tape *t, gra_tensor *x, double correction);    /* sum (x - mean)^2 / (n - correction):
                                                                          torch.var's default is 1, of a
                                                                          sample; 0 is layer norm's */
gra_tensor *gra_sum_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);   /* keepdim: d stays, of size 1 */
gra_tensor *gra_mean_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);
gra_tensor *gra_max_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);
gra_tensor *gra_min_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);
gra_tensor *gra_var_dim(gra_tape *t, gra_tensor *x, int d, double correction, bool keepdim);
int        *gra_argmax(gra_tape *t, gra_tensor *x, int d);             /* where along d the largest stands,
                                                                          the first of equals: an index for
                                                                          each of the other places, row-major,
                                                                          there until the next gra_begin; NULL
                                                                          after an error */
gra_tensor *gra_softmax(gra_tape *t, gra_tensor *x, int d); /* e^x_i / sum_j e^x_j; of a row of -inf zeros */
gra_tensor *gra_log_softmax(gra_tape *t, gra_tensor *x, int d);        /* x_i - log sum_j e^x_j */
gra_tensor *gra_layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b, double eps);
                                                                       /* (x - mean) / sqrt(var + eps) w + b
                                                                          over the last dimension, biased var;
                                                                          w, b may be NULL */
gra_tensor *gra_rms_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, double eps);
                                                                       /* x / sqrt(mean x^2 + eps) w */

/* ---- ops: shape ------------------------------------------------------------------------------- */
gra_tensor *gra_reshape(gra_tape *t, gra_tensor *x, gra_shape shape);  /* a view: shares data and gradient
                                                                          with x. One size may be -1 */
gra_tensor *gra_transpose(gra_tape *t, gra_tensor *x, int d0, int d1);      /* swaps two dimensions, copies */
gra_tensor *gra_permute(gra_tape *t, gra_tensor *x, const int *dims);   /* dimension i of y is dims[i] of x */
gra_tensor *gra_concat(gra_tape *t, int n, gra_tensor *const *x, int d);    /* n tensors along dimension d */
gra_tensor *gra_stack(gra_tape *t, int n, gra_tensor *const *x, int d);          /* n tensors of one shape
                                                                          along a new dimension d of size n */
gra_tensor *gra_slice(gra_tape *t, gra_tensor *x, int d, int start, int end);    /* x[..., start:end, ...]
                                                                          along d; negative start and end
                                                                          count from the end, as -1 in
                                                                          x[:-1] */

/* ---- ops: of language models -------------------------------------------------------------------- */
#define GRA_IGNORE_INDEX (-100)
gra_tensor *gra_embedding(gra_tape *t, gra_tensor *w, const int *ids, gra_shape shape);
                                                        /* w (vocab, dim); ids of that shape, copied ->
                                                           (shape, dim). w may be any matrix of the graph:
                                                           this gathers rows, and an id that comes twice gets
                                                           both gradients */
gra_tensor *gra_cross_entropy(gra_tape *t, gra_tensor *logits, const int *target);
                                                        /* mean over rows of -log softmax(logits)[target];
                                                           logits (..., classes), one target a row,
                                                           GRA_IGNORE_INDEX skips it */
gra_tensor *gra_mse_loss(gra_tape *t, gra_tensor *x, gra_tensor *target); /* mean (x - target)^2 */
gra_tensor *gra_binary_cross_entropy(gra_tape *t, gra_tensor *p, gra_tensor *target);
                                                        /* mean of -(target log p + (1 - target) log(1 - p)),
                                                           p probabilities; logarithms are at least -100; same
                                                           shapes */
gra_tensor *gra_binary_cross_entropy_with_logits(gra_tape *t, gra_tensor *x, gra_tensor *target);
                                                        /* the same of p = sigmoid(x), exact for any x */
typedef struct gra_attention_options {  /* what is left out is 0: no mask, no dropout */
    int         heads;                  /* of q */
    bool        causal;                 /* query i sees keys up to i + keys - time (PyTorch's is_causal) */
    double      dropout;                /* probability with which a weight is dropped in GRA_TRAIN */
    gra_tensor *mask;                   /* added to the scores q k^T / sqrt(d) before the softmax, -INFINITY
                                           hides a key (attn_mask, a float): broadcasts to (batch, heads,
                                           time, keys), and gets a gradient if it wants one */
} gra_attention_options;
gra_tensor *gra_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v,
                          const gra_attention_options *how);
                                                        /* softmax(q k^T / sqrt(d) + mask) v in each head
                                                           (Vaswani et al. 2017); q (batch, time, heads d), k
                                                           (batch, keys, kv_heads d), v (batch, keys, kv_heads
                                                           d_v) -> (batch, time, heads d_v). kv_heads follows
                                                           from k's size: as many as heads, or fewer that
                                                           neighbours share (grouped-query attention) */
void        gra_keep_attention(gra_tape *t, bool on);   /* from now on attention keeps its weights, before
                                                           dropout, */
gra_tensor *gra_attention_weights(gra_tensor *y);       /* and this returns those of gra_attention's result y:
                                                           a constant (batch, heads, time, keys), there until
                                                           the next gra_begin */

/* ---- models: named parameters --------------------------------------------------------------------
 * A scope is a place in a model, with a name: gra_param(gra_enter(root, "att"), "weight", ...) makes
 * the parameter "att.weight". The generator is borrowed until the last parameter is made. */
typedef struct gra_scope {
    gra_model *model;
    char       name[112];
} gra_scope;

typedef struct gra_init {               /* how a new parameter is filled: see the functions below */
    void (*fill)(const struct gra_init *how, gra_rng *rng, gra_tensor *p);
    double a, b;
    bool   draws;                       /* it needs the model's generator */
} gra_init;

gra_model  *gra_model_open(gra_tape *t, gra_rng *rng);  /* a model that computes on t's threads; t may be
                                                           closed before it. rng may be NULL where nothing is
                                                           drawn. NULL: out of memory, here or in gra_open (t
                                                           is NULL) */
void        gra_model_close(gra_model *m);              /* NULL is allowed. A later use of m aborts with a
                                                           sentence while t or another model of t is open, and
                                                           until 64 more of them were closed */
gra_scope   gra_root(gra_model *m);
gra_scope   gra_enter(gra_scope s, const char *format, ...) GRA_PRINTF(2, 3);
gra_tensor *gra_param(gra_scope s, const char *name, gra_init init, gra_shape shape);  /* the name must not be
                                                           empty, nor a size 0; NULL after an error */
void        gra_alias(gra_scope s, const char *name, gra_tensor *p);    /* in files p stands under this name
                                                           too, as a tied head does in PyTorch's state dicts;
                                                           nowhere else */

gra_init    gra_init_zeros(void);
gra_init    gra_init_ones(void);
gra_init    gra_init_uniform(double a, double b);       /* a <= b */
gra_init    gra_init_normal(double mean, double std);   /* std >= 0 */
gra_init    gra_init_xavier(void);  /* xavier_uniform_: U(-k, k), k = sqrt(6 / (in + out)) (Glorot 2010) */
gra_init    gra_init_kaiming(void);             /* kaiming_normal_ for relu: N(0, 2 / in) (He et al. 2015); it
                                                           and xavier are for two dimensions or more */
gra_init    gra_init_linear(int in_features);           /* nn.Linear's: U(-k, k), k = 1 / sqrt(in) */

int         gra_param_count(const gra_model *m);        /* how many parameters, */
size_t      gra_param_values(const gra_model *m);       /* how many values in all of them, */
gra_tensor *gra_param_at(const gra_model *m, int i);    /* the i-th made, 0 <= i < count (else NULL), */
gra_tensor *gra_param_find(const gra_model *m, const char *name);  /* by its name, or NULL */
void        gra_freeze(gra_tensor *p, bool on);     /* a frozen parameter gets no gradient and no update */
void        gra_zero_grad(gra_model *m);
void        gra_model_keep_going(gra_model *m, bool on);/* as gra_keep_going */
const char *gra_model_error(const gra_model *m);        /* the first error (out of memory, a bad argument),
                                                           after which the model is unusable; else why the
                                                           last gra_save or gra_load failed; NULL: no error */

/* ---- optimisers -----------------------------------------------------------------------------------
 * Call init once all parameters are made: it fills every field. Then set lr, which has no default, and what
 * else shall not be PyTorch's default; then step after each backward.
 *
 *     gra_adamw opt;
 *     gra_adamw_init(&opt, model, NULL);
 *     opt.lr = 1e-3;
 *
 * Fields may change between steps. A parameter group is an optimiser of its own: `takes` says which
 * parameters it moves (NULL: all); for one decay on matrices and none on vectors, use two. Moments live in
 * the model, one set of a kind for each parameter: init sets them to 0, and an older optimiser of the same
 * kind must not step any more. Init returns 0, or -1 when the model has an error (out of memory); the model
 * must not be NULL. A step without a backward before it moves by the gradients that are there: 0 after
 * gra_zero_grad. After an error of the tape on which the model was opened, and until its next gra_begin, a
 * step returns without moving anything. */
typedef bool gra_takes(const gra_tensor *p);
bool gra_takes_matrices(const gra_tensor *p);           /* two dimensions or more */
bool gra_takes_vectors(const gra_tensor *p);            /* fewer */

typedef struct gra_sgd {                                /* torch.optim.SGD: v = momentum v + g; p -= lr v */
    gra_model *model;
    gra_takes *takes;
    double     lr, momentum, weight_decay;  /* momentum 0, weight_decay 0; this is L2: g += weight_decay p */
    gra_tensor **v;                                     /* momentum of each parameter, by number, */
    int        params;                                  /* of how many: no parameter may come after init */
} gra_sgd;
int  gra_sgd_init(gra_sgd *opt, gra_model *m, gra_takes *takes);
void gra_sgd_step(gra_sgd *opt);

typedef struct gra_adamw {                              /* torch.optim.AdamW (Loshchilov & Hutter 2019) */
    gra_model *model;
    gra_takes *takes;
    double     lr, beta1, beta2, eps, weight_decay; /* beta1 0.9, beta2 0.999, eps 1e-8, weight_decay 0.01 */
    long       steps;
    gra_tensor **m, **v;
    int        params;
} gra_adamw;
int  gra_adamw_init(gra_adamw *opt, gra_model *m, gra_takes *takes);
void gra_adamw_step(gra_adamw *opt);

typedef struct gra_muon {                               /* Muon, for matrices (Jordan et al. 2024) */
    gra_model *model;
    gra_takes *takes;                                   /* init with NULL: all with two dimensions */
    double     lr, momentum, weight_decay;      /* momentum 0.95, weight_decay 0, as in its authors' code */
    int        ns_steps;                                /* of Newton-Schulz: 5. Fewer cost less, and leave
                                                           small singular values farther below 1 */
    gra_tensor **v;
    int        params;
    struct gra_muon_workspace *workspace;
} gra_muon;
int  gra_muon_init(gra_muon *opt, gra_model *m, gra_takes *takes);  /* -1, too: it takes one that is no
                                                           matrix */
void gra_muon_step(gra_muon *opt);

double gra_clip_grad_norm(gra_model *m, double max_norm);  /* scales all gradients so that their norm is at
                                                           most max_norm (0: leave them); the norm before */
double gra_warmup_cosine(long step, long warmup, long steps, double lr, double min_lr); /* the rate at step 0,
                                                           1, ...: linear to lr over warmup steps, then a
                                                           cosine to min_lr */
double gra_warmup_linear(long step, long warmup, long hold, long steps, double lr, double min_lr); /* linear
                                                           to lr, constant until step hold, then linear to
                                                           min_lr */

/* ---- files: safetensors (https://github.com/huggingface/safetensors) -----------------------------------
 * These return 0, or -1, and gra_model_error(m) says why, as in "model.safetensors: No such file or
 * directory". A file that cannot be read or written never aborts the program, and the model stays usable. (A
 * model that has another error is neither saved nor loaded.) A file is written under a temporary name in the
 * same folder, brought to the disk, then renamed: whatever happens, the old file or the new one is there,
 * whole. A symbolic link stays, and the file that it points to is replaced; but one that another user has
 * made is itself replaced. Values are written as F32 (libgradus) or F64 (libgradus64), bit for bit; F32, F64,
 * F16 and BF16 are read, and converted. */
typedef struct gra_meta {                       /* text beside the values, UTF-8; a key may not come twice */
    const char *key, *value;
} gra_meta;
int gra_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta);     /* the parameters */
int gra_load(gra_model *m, const char *path);           /* names and shapes must be the model's, or nothing
                                                           changes. Takes as much memory again as the
                                                           parameters meanwhile */
int gra_save_all(gra_model *m, const char *path, const gra_meta *meta, int nmeta); /* and the optimisers'
                                                           moments, as "adamw.exp_avg.out.weight": a
                                                           checkpoint to go on from. Save the optimisers'
                                                           fields (steps, lr) as metadata */
int gra_load_all(gra_model *m, const char *path);       /* the same, after the optimisers' init: the
                                                           parameters and moments that are there must be in
                                                           the file, and nothing else */

/* A look into any safetensors file. Its header is wholly checked when it is opened: all that is found there
 * lies within the file. What these functions return belongs to the file, until it is closed.
 *
 *     gra_file *f = gra_file_open("model.safetensors");
 *     if (gra_file_error(f))
 *         fprintf(stderr, "%s\n", gra_file_error(f));
 *     for (int i = 0; i < gra_file_count(f); i++)
 *         printf("%s: %zu values\n", gra_file_at(f, i)->name, gra_file_at(f, i)->size);
 *     gra_file_close(f);
 */
typedef struct gra_file gra_file;
typedef struct gra_file_tensor {
    const char *name, *dtype;                           /* UTF-8; "F32", "I64", "BOOL" ... */
    gra_shape   shape;
    size_t      size;                                   /* how many values: 1 for a scalar, may be 0 */
    uint64_t    begin, end;                             /* its bytes, counted from the end of the header */
} gra_file_tensor;
gra_file   *gra_file_open(const char *path);            /* NULL: out of memory; the others take that, too */
const char *gra_file_error(const gra_file *f);      /* why opening it or the last reading failed, or NULL */
int         gra_file_count(const gra_file *f);              /* how many tensors (0 where opening failed), */
const gra_file_tensor *gra_file_at(const gra_file *f, int i);           /* the i-th in the file (0 <= i <
                                                           count, else NULL), */
const gra_file_tensor *gra_file_find(const gra_file *f, const char *name); /* or by its name; NULL: there is
                                                           none */
const char *gra_file_meta(const gra_file *f, const char *key);          /* the value of a gra_meta; NULL:
                                                           there is none */
int         gra_file_read(gra_file *f, const gra_file_tensor *x, gra_real *to); /* x->size values, row-major;
                                                           0, or -1, and `to` may be half written. Dtypes that
                                                           are no real numbers (I64, BOOL ...) are refused */
void        gra_file_close(gra_file *f);                                /* NULL is allowed */

/* ---- files: NumPy's .npy, and any other ----------------------------------------------------------------
 * One tensor in a .npy file: written as <f4 (libgradus) or <f8 (libgradus64) in C order; both are read,
 * converted. For others an error says what to call in NumPy. */
gra_tensor *gra_load_npy(gra_tape *t, const char *path);        /* a constant, as gra_constant makes it; a
                                                           file that cannot be read is an error of the tape,
                                                           as with any op */
int         gra_save_npy(const char *path, const gra_tensor *x);        /* any tensor. 0; -1, and errno says
                                                           why: EINVAL for one that is NULL, or of a step that
                                                           has ended (an error of its tape, too) */
int         gra_write_file(const char *path, const void *bytes, size_t n);      /* any bytes, whole or not at
                                                           all, as above: 0, or -1 and errno says why */

/* ---- the gradient check: libgradus64 alone -------------------------------------------------------------
 * Compares the gradient of every element of every parameter and input with central differences of
 *     loss = sum_i c_i y_i,   c fixed random weights, y = f(t, in, arg).
 * The error of an element is |a - n| / r: a analytic, n numeric, r the larger of the largest |gradient| of
 * its tensor and 1e-7 sum_i |c_i y_i| / max(1, largest |x|). The sign counts. The step of a difference
 * follows the size of x and what f is like there; where f is too rough for the tolerance, a is held against
 * what is known of n.
 *
 * The analytic gradients must agree with the numeric ones under all circumstances: uninitialised before the
 * backward (in[i]->fresh), or holding something that is to be added to; with each tensor in turn a constant,
 * whose gradient is NULL; and with one tensor handed over as any two inputs of one shape. An op is named that
 * changes an input, dy or its result, or writes past either end of a tensor or a gradient.
 *
 * A backward that crashes, as one that adds to the NULL gradient of a constant, ends the program as ever; but
 * the last line on stderr names it, and the inputs that were constants. For that a handler of SIGSEGV and
 * SIGBUS is installed while a backward is checked, where the system has them; it hands the signal on to the
 * previous handler, which is put back when the backward returns.
 *
 * Cost: two calls of f for each element; besides 4 in all, 2 for each tensor, and 2 (4 at most) for each two
 * inputs of one shape. An element that is wrong takes up to 14 calls, and one where f is steep, kinked or
 * rough some 50, or more where x is very large or small. Memory: some 8 doubles for each element. */
typedef struct gra_check_in {                           /* an input of f */
    const char *name;
    gra_shape   shape;
    double      low, high;                              /* its values are spread over [low, high] (both 0:
                                                           [-2, 2]), at random, no two equal, 1e-3 away from
                                                           0, as is their mean */
    const gra_real *data;                               /* or these; NULL: as above */
} gra_check_in;

typedef gra_tensor *gra_check_fn(gra_tape *t, gra_tensor **in, void *arg);

typedef struct gra_check_report {
    double error;                                       /* of the worst element; 0 when nothing wants a
                                                           gradient, and infinite after a -1, or where an op
                                                           wrote out of bounds */
    char   name[128];                                   /* its tensor, */
    size_t index;                                       /* its place there, row-major, */
    double analytic, numeric;                           /* its two gradients */
    size_t elements;                                    /* how many were compared */
    char   finding[2048];                       /* the facts alone, in sentences: what a class may be shown */
    char   text[4608];                              /* the facts, and hints: what explains them */
} gra_check_report;

#if !defined(GRADUS_DOUBLE) && defined(__has_attribute)
#if __has_attribute(error)
__attribute__((error("float32 is too rough to check gradients: compile with -DGRADUS_DOUBLE, link "
                     "libgradus64")))
#endif
#endif
int gra_check(gra_tape *t, gra_mode mode, gra_rng *rng, gra_model *m, int nin, const gra_check_in *in,
              gra_check_fn *f, void *arg, double tolerance, gra_check_report *report);
                                                        /* 0: passed, all within the tolerance (1e-6 suits);
                                                           1: not, or an op wrote where it may not; 2: all
                                                           that was tested agrees, but of some tensor every
                                                           gradient is 0, or there was nothing to test at all;
                                                           -1: f failed. m may be NULL; its gradients are 0
                                                           afterwards, its values and *rng as before. While it
                                                           runs, its parameters' data and grad point
                                                           elsewhere */
#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
