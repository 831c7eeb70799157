/* gradus.h: everything that a user of the library calls, in the order of use.
 *
 * gradus trains attention models and shows every gradient on the way. A tape records what is computed;
 * gra_backward goes through the tape from the last record to the first and leaves d(loss)/d(x) in the
 * gradients. Names, arguments and shapes are PyTorch's, so what you know carries over.
 *
 *     gra_tape   *t = gra_open(1);                             one thread
 *     gra_begin(t, GRA_GRAD, NULL);                            a new step
 *     gra_tensor *a = gra_scalar(t, 2);
 *     gra_tensor *b = gra_scalar(t, 3);
 *     gra_backward(t, gra_mul(t, a, b));
 *     printf("%g\n", (double)gra_grad(a)[0]);                  d(ab)/da = b = 3
 *     gra_close(t);
 *
 * Names. Functions of the tape (gra_open, gra_begin, gra_error) and ops (gra_matmul) have only the prefix
 * gra_. The functions of all other objects begin with the object: gra_model_open, gra_param_at,
 * gra_file_open, gra_adamw_step. A function that PyTorch has keeps PyTorch's name (gra_manual_seed,
 * gra_zero_grad, gra_clip_grad_norm).
 *
 * Lifetimes. A function whose first argument is a tape makes something that lives until the next gra_begin
 * of that tape: you never free a tensor. A function that takes a scope makes parameters, which live as long
 * as their model. A layer owns nothing and needs no clean-up. A tensor of an earlier step is stale: every op
 * refuses it with a sentence, and so do gra_item, gra_grad, gra_print and all functions that read values. A
 * tensor of the previous step is always refused; an older tensor is refused until 128 KiB of newer headers
 * (some 500 tensors) have been made. After that its memory has been reused, and the mistake is not noticed.
 * If library and program are compiled with -fsanitize=address, reading x->data of an old step is reported
 * too.
 *
 * Errors. A tape keeps the first error of a step as a sentence, and a model keeps its first error. By default
 * the sentence is printed and the program aborts, so that a debugger stops at the failing call. After
 * gra_keep_going(t, true) the program goes on after an error of t, or of a model opened on t: ops return an
 * empty tensor, gra_item is NaN and gra_backward returns -1. Functions for files return a status and do not
 * abort (but gra_load_npy makes a tensor on a tape, as an op does, and gra_load_npy_ints fails likewise). If
 * no tape or model can keep the sentence, because the pointer is NULL or the model is closed, the program
 * aborts in any case.
 *
 * Threads. A tape and the models opened on it belong to one thread at a time. Another thread may open its own
 * tape and read the parameters of these models on it, in GRA_EVAL, while their owner runs a forward or a
 * backward: of a parameter, these two write only the gradient. Optimiser steps, loading and initialising
 * write parameters: make sure that no other thread reads the parameters meanwhile.
 *
 * Precision. libgradus computes in float; libgradus64 is the same source with -DGRADUS_DOUBLE. Compile all
 * your own code with the same flag: a file compiled without the flag does not link with libgradus64, and a
 * file compiled with the flag does not link with libgradus. The linker reports
 *     undefined reference to `gra_compiled_without_GRADUS_DOUBLE_needs_libgradus'
 */
#ifndef GRADUS_H
#define GRADUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The version, 10000 major + 100 minor + patch: 200 is 0.2.0. gra_version() is the version of the library
 * that runs. If a shared library may differ from this header, compare gra_version() / 100 with
 * GRADUS_VERSION / 100. A patch changes no declaration. Until 1.0 a minor version may change some
 * declarations, and then the shared library has a new name (libgradus.so.0.1, .0.2). From 1.0 on, a program
 * that compiles and links will do so until the next major version. */
#define GRADUS_VERSION 200

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

/* Every file that includes this header refers to a symbol that the other library lacks. */
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wattributes"           /* of linkers that do not know `retain` */
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

#if defined(__MINGW_PRINTF_FORMAT)
#define GRA_PRINTF(fmt, args) __attribute__((format(__MINGW_PRINTF_FORMAT, fmt, args)))
#elif defined(__GNUC__)
#define GRA_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define GRA_PRINTF(fmt, args)
#endif

#define GRA_MAX_DIMS 8

/* A shape, by value: GRA_SHAPE(2, 3) is a matrix of two rows and three columns. A scalar has no dimensions:
 * GRA_SCALAR. Both work in C and C++. (In a static table, C needs a constant instead: { 2, { 2, 3 } }.) */
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

/* A tensor: row-major values, and after a backward their gradient. Read it freely; write only data, and
 * only of parameters. The lower half is for authors of ops (op.h). */
typedef struct gra_tensor gra_tensor;
struct gra_tensor {
    gra_real *data;                     /* size values */
    gra_real *grad;                     /* d(loss)/d(data), or NULL: see gra_grad */
    size_t    size;                     /* product of the shape; 1 for a scalar */
    gra_shape shape;
    bool      requires_grad;            /* it, or one of its inputs, needs a gradient */
    const char *name;                /* a parameter's, "trf_blocks.0.norm1.scale", or gra_name's; else NULL */

    const gra_op *op;                   /* what computed it; NULL for inputs and parameters */
    gra_tensor  **in;                   /* its nin inputs, some of which may be NULL */
    int           nin;
    int           node;                 /* its number on the tape + 1; 0: not recorded (gra_node_number) */
    void         *args;                 /* the op's own arguments */
    gra_real     *saved;                /* what the op saves in forward for backward */
    gra_tensor   *base;                 /* of a view: the tensor whose data and gradient it shares */
    gra_tensor   *prev;                 /* the tensor recorded before this one */
    gra_tape     *tape;                 /* NULL for a parameter */
    gra_model    *model;                /* of a parameter */
    const uint32_t *panels;             /* of a parameter after gra_bfloat16: its values; data is NULL */
    gra_real     *grad_store;           /* of a parameter: grad when it is not frozen */
    const void   *owner;                /* of an optimiser's buffer: the optimiser; of a parameter: machine */
    bool          retain_grad, fresh;   /* fresh: grad is uninitialised (tape/tape.h) */
    bool          forgotten, viewed;    /* by gra_forget: data is NULL until the backward needs it (op.h);
                                           by a view, which shares data */
    bool          ran;                  /* of an op's result: gra_run has computed it */
    unsigned      step;                 /* the step of its tape in which it was made */
    unsigned      updates;              /* optimiser steps before it was made; of a parameter: its last */
};

/* ---- random numbers: PyTorch's CPU generator, bit for bit -----------------------------------------------
 * With any compiler and on any processor, a seed gives the integers and float32 values that PyTorch's gcc
 * builds for x86-64 give on a processor with AVX2 (compared with 1.13). Other builds of PyTorch (ARM, other
 * compilers) differ in the last bits of normals drawn 16 or more at a time. libgradus and libgradus64 both
 * draw the float32 streams in float, and libgradus64 widens the numbers, so a seed gives the same parameters
 * in both libraries. Normals in float64 use log, sin and cos of libm, which decides their last bits. Copy a
 * gra_rng to save its state. */
typedef struct gra_rng {                /* Mersenne Twister 19937, and a cached normal */
    uint32_t state[624];
    int      at;                        /* the next word of state; 624: refill first */
    bool     has_normal;
    double   normal;                    /* second value of the last pair of the scalar path */
    uint32_t seeded;                    /* set by seeding: to draw without it is an error */
} gra_rng;

void     gra_manual_seed(gra_rng *g, uint64_t seed);             /* torch.manual_seed, np.random.seed */
uint32_t gra_random(gra_rng *g);                        /* one raw 32-bit output */
uint64_t gra_random64(gra_rng *g);                      /* two outputs, the high word first */
uint64_t gra_randint(gra_rng *g, uint64_t n);           /* torch.randint(0, n); n = 0 aborts */
void     gra_randperm(gra_rng *g, int *p, int n);       /* torch.randperm(n): 0 ... n - 1 in random order */
void     gra_rand(gra_rng *g, gra_real *x, size_t n);                            /* torch.rand: [0, 1) */
void     gra_randn(gra_rng *g, gra_real *x, size_t n);                           /* torch.randn */
void     gra_uniform(gra_rng *g, gra_real *x, size_t n, double a, double b);     /* uniform_(a, b) */
void     gra_normal(gra_rng *g, gra_real *x, size_t n, double mean, double std); /* normal_(mean, std) */
void     gra_rand_f64(gra_rng *g, double *x, size_t n);                          /* torch.rand, float64 */
void     gra_randn_f64(gra_rng *g, double *x, size_t n);                         /* torch.randn, float64 */

/* torch.multinomial(p, 1, replacement): one index of n weights p, each with a probability proportional to its
 * weight. PyTorch draws in two different ways, and so does this function. A weight below 0 aborts, and so
 * does a sum that, in float, is not finite or not above 0. */
int      gra_multinomial(gra_rng *g, const gra_real *p, int n, bool replacement);
void     gra_numpy_random(gra_rng *g, double *x, size_t n);                      /* np.random.random_sample */
void     gra_numpy_normal(gra_rng *g, double *x, size_t n, double loc, double scale);   /* np.random.normal */

/* Python's module random, seeded by gra_python_seed; its random() is gra_numpy_random. Normals are computed
 * in double, with libm's log, sin and cos, and then rounded. choices draws one index of 0 ... n - 1, each
 * with a probability proportional to its weight; a sum of weights that is not finite or not above 0
 * aborts. */
void     gra_python_seed(gra_rng *g, uint64_t seed);                             /* random.seed(seed) */
void     gra_python_shuffle(gra_rng *g, int *x, int n);                          /* random.shuffle(x) */
void     gra_python_gauss(gra_rng *g, gra_real *x, size_t n, double mu, double sigma);     /* random.gauss */
int      gra_python_choices(gra_rng *g, const gra_real *weights, int n);         /* random.choices */

/* The whole state, with the cached normal, as a line of ASCII. gra_rng_text returns 0, or -1 and an empty
 * text if g was never seeded. gra_rng_from_text returns 0; if gra_rng_text did not write the text, it returns
 * -1 and leaves g unchanged. */
#define GRA_RNG_TEXT 5025
int gra_rng_text(const gra_rng *g, char text[GRA_RNG_TEXT]);
int gra_rng_from_text(gra_rng *g, const char *text);

/* ---- the tape: one step of work -------------------------------------------------------------------------
 */
typedef enum gra_mode {
    GRA_TRAIN,                          /* records, and dropout drops */
    GRA_GRAD,                           /* records; dropout does nothing: an optimiser warns once */
    GRA_EVAL                            /* does not record; dropout does nothing */
} gra_mode;

/* threads: at most 256; 0 or less means one for each core of the process. Returns NULL if out of memory. */
gra_tape   *gra_open(int threads);
void        gra_close(gra_tape *t);                     /* NULL is allowed */

/* Forgets the previous step and its tensors. Until then all tensors are kept, in GRA_EVAL too: evaluate a
 * long split in batches, with a gra_begin for each. Dropout draws from rng, which is borrowed until the next
 * gra_begin. Without dropout rng may be NULL. */
void        gra_begin(gra_tape *t, gra_mode mode, gra_rng *rng);

/* Adds d(loss)/d(p) to the gradient of every parameter p; the loss has one value. Call it once per step: to
 * use several losses, add them first. No optimiser may have changed a parameter since the forward; values
 * that the program itself writes to x->data meanwhile are not noticed. Returns 0, or -1 after an error. */
int         gra_backward(gra_tape *t, gra_tensor *loss);

gra_mode    gra_tape_mode(const gra_tape *t);           /* the mode of the step */
int         gra_threads(const gra_tape *t);             /* the number of threads that the tape uses */

/* The instruction set of the kernels: "base", "avx2" or "avx512", the best that the processor has.
 * GRADUS_ISA=avx2 in the environment of gra_open requests another set; if the processor lacks it, each
 * gra_begin fails. */
const char *gra_isa_name(const gra_tape *t);

/* The type of number in which matrix products are computed, from the next gra_begin on. GRA_FLOAT, the
 * default: float (in libgradus64, double). GRA_BF16: ops round the factors of large products to bfloat16,
 * which has 8 bits of mantissa, and add in float; only in steps of GRA_TRAIN and GRA_GRAD. Everything else
 * stays float: parameters, gradients, optimisers, evaluation. A product is then off by about 0.2 % of its
 * root mean square, and on an AMD Zen 5 up to twice as fast (on an Intel Xeon slower). Returns 0; or -1, and
 * an error, if the processor has no instruction for such products (AVX512_BF16), or in libgradus64. */
typedef enum gra_number { GRA_FLOAT, GRA_BF16 } gra_number;
int         gra_products(gra_tape *t, gra_number number);

void        gra_keep_going(gra_tape *t, bool on);       /* do not abort at an error (default: abort) */
const char *gra_error(const gra_tape *t);               /* the first error since gra_begin, or NULL */

/* From now on it is an error if a result has a nan, inf or -inf and no input of the op has a value of that
 * kind; the sentence names the op, the layer and the position. A gradient with such a value is an error too.
 * An op may pass on a mask's -inf, but then a new -inf in its result is not noticed. Steps take 10 to 20 %
 * longer. */
void        gra_trace_nan(gra_tape *t, bool on);

/* gra_grad is the gradient of a tensor after the backward, or NULL with an error that says why there is none.
 * Gradients of inputs and parameters are kept; gradients of other tensors are recycled, unless
 * gra_retain_grad(x), before the backward, or gra_keep_grads keeps them. A view shares the gradient of its
 * base: for y = gra_reshape(t, x, ...) gra_grad of both is d(loss)/dx, with all uses of x. A frozen parameter
 * has no gradient: NULL without an error. */
const gra_real *gra_grad(const gra_tensor *x);
void        gra_retain_grad(gra_tensor *x);
void        gra_keep_grads(gra_tape *t, bool on);       /* of all tensors; values too: see gra_forget */

/* ---- tensors of a step ----------------------------------------------------------------------------------
 */
gra_tensor *gra_input(gra_tape *t, const gra_real *data, gra_shape shape);  /* a copy; its gradient is kept */
gra_tensor *gra_scalar(gra_tape *t, double value);                  /* an input of one value, no dimensions */
gra_tensor *gra_constant(gra_tape *t, const gra_real *data, gra_shape shape);  /* a copy without a gradient */
gra_tensor *gra_constant_rand(gra_tape *t, gra_rng *g, gra_shape shape);    /* constants drawn by gra_rand, */
gra_tensor *gra_constant_randn(gra_tape *t, gra_rng *g, gra_shape shape);   /* and by gra_randn */

/* A constant without a copy: the caller's values, which must stay valid until the next gra_begin. */
gra_tensor *gra_borrow(gra_tape *t, gra_real *data, gra_shape shape);
gra_tensor *gra_full(gra_tape *t, double value, gra_shape shape);               /* constants: all `value`, */
gra_tensor *gra_zeros(gra_tape *t, gra_shape shape);                            /* all 0, */
gra_tensor *gra_ones(gra_tape *t, gra_shape shape);                             /* all 1, */
gra_tensor *gra_arange(gra_tape *t, int n);                                     /* 0, 1, ... n - 1 */
gra_tensor *gra_detach(gra_tape *t, gra_tensor *x);     /* the same values, cut off from the graph */

double      gra_item(const gra_tensor *x);           /* the single value of x; NaN after an error */
int         gra_dim(const gra_tensor *x, int d);        /* shape.dim[d]; d < 0: from the end; 0: no such d */
void        gra_print(const gra_tensor *x);             /* to stdout as PyTorch prints it, 4 digits */
void        gra_fprint(FILE *f, const gra_real *data, gra_shape shape, int digits);

/* y = f(t, arg, x), of which only x and y are kept; the backward computes f again (PyTorch:
 * torch.utils.checkpoint; Griewank & Walther 2000, Chen et al. 2016). With a checkpoint for each block a step
 * takes about a third more time, and the memory of one block. The bits do not change: the generator's state
 * is kept too, so dropout draws the same masks again. Tensors made by f live only until f returns. f may read
 * earlier tensors and parameters, which get their gradients, and it may call gra_checkpoint. arg must stay
 * valid until gra_backward. Everything else that f does happens twice. It is an error if f returns another
 * shape the second time. */
typedef gra_tensor *gra_checkpoint_fn(gra_tape *t, void *arg, gra_tensor *x);
gra_tensor *gra_checkpoint(gra_tape *t, gra_checkpoint_fn *f, void *arg, gra_tensor *x);

/* ---- looking at a step ----------------------------------------------------------------------------------
 * A tape's nodes are the results of ops that need a gradient, numbered 0, 1, ... in the order in which they
 * were computed. A node's fields describe it: op->name (op.h), shape, in (nin inputs, some may be NULL),
 * data, and grad if it was kept (gra_keep_grads). Inputs, constants and parameters are leaves: no op made
 * them. Leaves, and results that need no gradient, have no number. In GRA_EVAL nothing is recorded, so there
 * are no nodes. */
int         gra_node_count(const gra_tape *t);          /* how many nodes this step has so far */
gra_tensor *gra_node_at(const gra_tape *t, int i);   /* the i-th, else NULL; takes O(distance from the end) */
int         gra_node_number(const gra_tensor *x);       /* -1: x is not a node of the current step */

/* Writes to `path` the layer that x belongs to, such as "trf_blocks.0.att", or "" if there is none. That is
 * the layer of the parameter x, or of the parameter among x's inputs. A result without a parameter belongs to
 * the scope that contains both the layer before it and the layer after it. */
#define GRA_PATH 112
char       *gra_node_path(const gra_tensor *x, char path[GRA_PATH]);

/* All nodes of a step in order, each leaf before the first node that uses it: the rows of gra_print_tape.
 * gra_listing_open returns 0, or -1 if out of memory; then there is nothing to close. gra_listing_find is the
 * row of x, or -1; gra_listing_path is the gra_node_path of a row, found without going through the tape. */
typedef struct gra_listing {
    int               count;
    struct gra_listed *row;             /* row[i].x, for 0 <= i < count */
    int              *slot;             /* a hash table of the tensors: 1 + the row, or 0 if free */
    size_t            slots;            /* a power of two */
} gra_listing;
struct gra_listed {
    const gra_tensor *x;
    const gra_tensor *before, *after;   /* the nearest parameters: the layer is between theirs */
};
int         gra_listing_open(gra_listing *l, const gra_tape *t);
int         gra_listing_find(const gra_listing *l, const gra_tensor *x);
char       *gra_listing_path(const gra_listing *l, int row, char path[GRA_PATH]);
void        gra_listing_close(gra_listing *l);

/* Gives x a name until the next gra_begin, and returns x. Errors, gra_trace_nan and all functions that show
 * the tape use the name. A parameter keeps its original name. */
gra_tensor *gra_name(gra_tensor *x, const char *format, ...) GRA_PRINTF(2, 3);

/* Prints the tape to stdout, 80 columns wide: a line for each row of the listing, with the root mean squares
 * of values and gradient. A single number is printed as it is. */
void        gra_print_tape(const gra_tape *t);
void        gra_fprint_tape(FILE *f, const gra_tape *t);

/* The tape as a graph for Graphviz, with a box around each layer: dot -Tsvg tape.dot -o tape.svg. Returns 0;
 * or -1, and errno tells why. */
int         gra_write_dot(const gra_tape *t, const char *path);

/* ---- ops: element by element ----------------------------------------------------------------------------
 * Two operands broadcast as in NumPy: shapes are aligned at the right, and a 1 stretches. */
gra_tensor *gra_add(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a + b */
gra_tensor *gra_sub(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a - b */
gra_tensor *gra_mul(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a b, element by element */
gra_tensor *gra_div(gra_tape *t, gra_tensor *a, gra_tensor *b);        /* a / b */
gra_tensor *gra_neg(gra_tape *t, gra_tensor *x);                       /* -x */
gra_tensor *gra_scale(gra_tape *t, gra_tensor *x, double s);           /* s x: a tensor times a number */
gra_tensor *gra_add_scalar(gra_tape *t, gra_tensor *x, double s);      /* x + s: a tensor plus a number */
gra_tensor *gra_pow(gra_tape *t, gra_tensor *x, double p);             /* x^p */
gra_tensor *gra_abs(gra_tape *t, gra_tensor *x);                       /* |x|; gradient 0 at 0 */
gra_tensor *gra_exp(gra_tape *t, gra_tensor *x);                       /* e^x */
gra_tensor *gra_log(gra_tape *t, gra_tensor *x);                       /* ln x */
gra_tensor *gra_sqrt(gra_tape *t, gra_tensor *x);                      /* x^(1/2) */
gra_tensor *gra_sin(gra_tape *t, gra_tensor *x);                       /* sin x, x in radians */
gra_tensor *gra_cos(gra_tape *t, gra_tensor *x);                       /* cos x, x in radians */
gra_tensor *gra_tanh(gra_tape *t, gra_tensor *x);                      /* tanh x; slope 0 where it is 1 */
gra_tensor *gra_sigmoid(gra_tape *t, gra_tensor *x);                   /* 1 / (1 + e^-x); as tanh */
gra_tensor *gra_relu(gra_tape *t, gra_tensor *x);                      /* max(x, 0); gradient 0 at 0 */

/* x Phi(x), by erf: PyTorch's default. As in PyTorch, Phi = (1 + erf) / 2 has the rounding error of numbers
 * near 1: in float up to 3e-8, which is a few percent of Phi below x = -5, and all of Phi below -6. */
gra_tensor *gra_gelu(gra_tape *t, gra_tensor *x);
gra_tensor *gra_gelu_tanh(gra_tape *t, gra_tensor *x);                 /* its tanh approximation: GPT-2's */
gra_tensor *gra_silu(gra_tape *t, gra_tensor *x);                      /* x sigmoid(x) */

/* min(max(x, low), high); gradient dy from low to high, 0 elsewhere. -INFINITY or INFINITY: no bound. */
gra_tensor *gra_clamp(gra_tape *t, gra_tensor *x, double low, double high);

/* In GRA_TRAIN 0 with probability p, else x / (1 - p); in other modes x. */
gra_tensor *gra_dropout(gra_tape *t, gra_tensor *x, double p);

gra_tensor *gra_lt(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x < w: 1, else 0; no gradient */
gra_tensor *gra_le(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x <= w */
gra_tensor *gra_gt(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x > w */
gra_tensor *gra_ge(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x >= w */
gra_tensor *gra_eq(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x == w */
gra_tensor *gra_ne(gra_tape *t, gra_tensor *x, gra_tensor *w);         /* x != w */

/* a where c is not 0, else b; all three broadcast. */
gra_tensor *gra_where(gra_tape *t, gra_tensor *c, gra_tensor *a, gra_tensor *b);

/* value where mask is not 0, else x; mask broadcasts to x. */
gra_tensor *gra_masked_fill(gra_tape *t, gra_tensor *x, gra_tensor *mask, double value);

/* -inf where column > row + n - m in the matrices (m, n) of x, else x. */
gra_tensor *gra_causal_mask(gra_tape *t, gra_tensor *x);

/* ---- ops: products --------------------------------------------------------------------------------------
 * The last two dimensions are the matrices', the others broadcast. A vector operand is refused. */
gra_tensor *gra_matmul(gra_tape *t, gra_tensor *a, gra_tensor *b);     /* a b:   (m, k) (k, n) -> (m, n) */
gra_tensor *gra_matmul_nt(gra_tape *t, gra_tensor *a, gra_tensor *b);  /* a b^T: (m, k) (n, k) -> (m, n) */
gra_tensor *gra_matmul_tn(gra_tape *t, gra_tensor *a, gra_tensor *b);  /* a^T b: (k, m) (k, n) -> (m, n) */

/* x w^T + b: (..., in) -> (..., out); w (out, in), b (out) or NULL. */
gra_tensor *gra_linear(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b);

/* ---- ops: over dimensions; d < 0 counts from the end ---------------------------------------------------
 * The softmax family (softmax, log_softmax, cross_entropy, attention) is exact for logits of 1e4 and more:
 * the largest is subtracted first. Where PyTorch gives NaN for a row in which everything is -inf (masked),
 * softmax and attention give zeros here, cross_entropy gives a loss of 0 that counts in the mean, and the
 * gradient of all three is 0; log_softmax gives -inf and passes dy on. A +inf among the logits gives NaN, as
 * in PyTorch. */
gra_tensor *gra_sum(gra_tape *t, gra_tensor *x);                       /* of all values: a scalar */
gra_tensor *gra_mean(gra_tape *t, gra_tensor *x);                      /* of no values: nan, as in PyTorch */
gra_tensor *gra_max(gra_tape *t, gra_tensor *x);                       /* gradient to the first of equals */
gra_tensor *gra_min(gra_tape *t, gra_tensor *x);                       /* gradient to the first of equals */

/* sum (x - mean)^2 / (n - correction): torch.var's default is 1, of a sample; 0 is layer norm's. */
gra_tensor *gra_var(gra_tape *t, gra_tensor *x, double correction);
gra_tensor *gra_sum_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);   /* keepdim: d stays, of size 1 */
gra_tensor *gra_mean_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);
gra_tensor *gra_max_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);
gra_tensor *gra_min_dim(gra_tape *t, gra_tensor *x, int d, bool keepdim);
gra_tensor *gra_var_dim(gra_tape *t, gra_tensor *x, int d, double correction, bool keepdim);

/* The index of the maximum along d (the first of equals) for each position in the other dimensions,
 * row-major. The array lives until the next gra_begin. NULL after an error. */
int        *gra_argmax(gra_tape *t, gra_tensor *x, int d);
gra_tensor *gra_softmax(gra_tape *t, gra_tensor *x, int d);            /* e^x_i / sum_j e^x_j */
gra_tensor *gra_log_softmax(gra_tape *t, gra_tensor *x, int d);        /* x_i - log sum_j e^x_j */

/* (x - mean) / sqrt(var + eps) w + b over the last dimension, biased var; w and b may be NULL. gra_rms_norm:
 * x / sqrt(mean x^2 + eps) w. */
gra_tensor *gra_layer_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, gra_tensor *b, double eps);
gra_tensor *gra_rms_norm(gra_tape *t, gra_tensor *x, gra_tensor *w, double eps);

/* ---- ops: shape -----------------------------------------------------------------------------------------
 */
gra_tensor *gra_reshape(gra_tape *t, gra_tensor *x, gra_shape shape);  /* a view; one size may be -1 */

/* Views. gra_squeeze removes dimension d if its size is 1; gra_unsqueeze adds a dimension of size 1 at d. */
gra_tensor *gra_squeeze(gra_tape *t, gra_tensor *x, int d);
gra_tensor *gra_unsqueeze(gra_tape *t, gra_tensor *x, int d);

/* A copy, broadcast to this shape; -1 keeps a size of x. */
gra_tensor *gra_expand(gra_tape *t, gra_tensor *x, gra_shape shape);
gra_tensor *gra_transpose(gra_tape *t, gra_tensor *x, int d0, int d1); /* swaps two dimensions, copies */
gra_tensor *gra_permute(gra_tape *t, gra_tensor *x, const int *dims);  /* dimension i of y is dims[i] of x */
gra_tensor *gra_concat(gra_tape *t, int n, gra_tensor *const *x, int d);    /* n tensors along dimension d */
gra_tensor *gra_stack(gra_tape *t, int n, gra_tensor *const *x, int d);     /* along a new dimension d */

/* x[..., start:end, ...] along d; negative start and end count from the end, as -1 in x[:-1]. */
gra_tensor *gra_slice(gra_tape *t, gra_tensor *x, int d, int start, int end);

/* ---- ops: for language models ---------------------------------------------------------------------------
 */

/* y_i = w[ids_i]: w (vocab, dim), ids of this shape, which are copied -> (shape, dim). y gathers rows of w,
 * which may be any matrix of the graph; if an id occurs twice, its row gets the sum of both gradients. */
gra_tensor *gra_embedding(gra_tape *t, gra_tensor *w, const int *ids, gra_shape shape);

/* -log softmax(logits)[target] for each row, and its mean: logits (..., classes), one target per row.
 * GRA_IGNORE_INDEX as a target skips the row: unreduced, its loss is 0. */
#define GRA_IGNORE_INDEX (-100)
gra_tensor *gra_cross_entropy(gra_tape *t, gra_tensor *logits, const int *target);
gra_tensor *gra_cross_entropy_unreduced(gra_tape *t, gra_tensor *logits, const int *target);    /* (...) */

gra_tensor *gra_mse_loss(gra_tape *t, gra_tensor *x, gra_tensor *target);       /* mean (x - target)^2 */

/* The mean of -(target log p + (1 - target) log(1 - p)), where p and target have one shape, and logarithms
 * are at least -100. With logits: the same for p = sigmoid(x), without overflow, and with all digits of a
 * small loss. */
gra_tensor *gra_binary_cross_entropy(gra_tape *t, gra_tensor *p, gra_tensor *target);
gra_tensor *gra_binary_cross_entropy_with_logits(gra_tape *t, gra_tensor *x, gra_tensor *target);
gra_tensor *gra_binary_cross_entropy_unreduced(gra_tape *t, gra_tensor *p, gra_tensor *target);
gra_tensor *gra_binary_cross_entropy_with_logits_unreduced(gra_tape *t, gra_tensor *x, gra_tensor *target);

/* softmax(q k^T / sqrt(d) + mask) v in each head (Vaswani et al. 2017): q (batch, time, heads d), k (batch,
 * keys, kv_heads d), v (batch, keys, kv_heads d_v) -> (batch, time, heads d_v). kv_heads follows from k's
 * size: either as many as heads, or fewer, which neighbouring heads share (grouped-query attention). */
typedef struct gra_attention_options {  /* a field that is left out is 0: no mask, no dropout */
    int         heads;                  /* of q */

    /* Query i sees keys up to i + keys - time: the last query sees all keys, as with a cache. In PyTorch's
     * is_causal, query i sees keys up to i, which is the same if there are as many keys as queries. */
    bool        causal;
    double      dropout;                /* the probability that a weight is dropped in GRA_TRAIN */

    /* Added to the scores q k^T / sqrt(d) before the softmax: -INFINITY hides a key (PyTorch's attn_mask, a
     * float). The mask broadcasts to (batch, heads, time, keys), and gets a gradient if it needs one. */
    gra_tensor *mask;
} gra_attention_options;
gra_tensor *gra_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v,
                          const gra_attention_options *how);

/* The weights of gra_attention's result y, before dropout: a constant (batch, heads, time, keys), until the
 * next gra_begin. They are kept after gra_keep_attention(t, true). */
void        gra_keep_attention(gra_tape *t, bool on);
gra_tensor *gra_attention_weights(gra_tensor *y);

/* ---- models: named parameters ---------------------------------------------------------------------------
 * A scope is a place in a model, with a name: gra_param(gra_enter(root, "att"), "weight", ...) makes the
 * parameter "att.weight". The generator is borrowed until the last parameter is made. */
typedef struct gra_scope {
    gra_model *model;
    char       name[112];
} gra_scope;

typedef struct gra_init {               /* how a new parameter is filled: see the functions below */
    void (*fill)(const struct gra_init *how, gra_rng *rng, gra_tensor *p);
    double a, b;
    bool   draws;                       /* it needs the model's generator */
} gra_init;

/* A model that computes on t's threads; t may be closed before the model. rng may be NULL if nothing is
 * drawn. Returns NULL if out of memory, here or in gra_open (t is NULL). Using a closed model or its
 * parameters (whose data is then NULL) is reported in a sentence as long as t or another model of t is open,
 * and until 64 more models of t have been closed. */
gra_model  *gra_model_open(gra_tape *t, gra_rng *rng);
void        gra_model_close(gra_model *m);              /* NULL is allowed */

/* The first error (out of memory, a bad argument), after which the model is unusable; otherwise the reason
 * why the last gra_save or gra_load failed, or NULL. */
const char *gra_model_error(const gra_model *m);

gra_scope   gra_root(gra_model *m);
gra_scope   gra_enter(gra_scope s, const char *format, ...) GRA_PRINTF(2, 3);

/* A new parameter; NULL after an error. The name must not be empty, and no size may be 0. */
gra_tensor *gra_param(gra_scope s, const char *name, gra_init init, gra_shape shape);

/* A new buffer, such as a running mean. It is saved and loaded with the parameters, but is not a parameter:
 * it gets no gradient, and is never trained, decayed, counted or unfrozen. A forward may write its data;
 * gra_check restores them. NULL after an error. */
gra_tensor *gra_buffer(gra_scope s, const char *name, gra_init init, gra_shape shape);

/* A second name of p. Files contain p under both names, as PyTorch's state dicts contain a tied head. */
void        gra_alias(gra_scope s, const char *name, gra_tensor *p);

gra_init    gra_init_zeros(void);
gra_init    gra_init_ones(void);
gra_init    gra_init_constant(double value);
gra_init    gra_init_uniform(double a, double b);       /* a <= b */
gra_init    gra_init_normal(double mean, double std);   /* std >= 0 */

/* For two dimensions or more: xavier_uniform_, U(-k, k), k = sqrt(6 / (in + out)) (Glorot & Bengio 2010);
 * kaiming_normal_ for relu, N(0, 2 / in) (He et al. 2015). And nn.Linear's initialiser, U(-k, k), k = 1 /
 * sqrt(in). */
gra_init    gra_init_xavier(void);
gra_init    gra_init_kaiming(void);
gra_init    gra_init_linear(int in_features);

int         gra_param_count(const gra_model *m);        /* how many parameters, */
size_t      gra_param_values(const gra_model *m);       /* and how many values they have together */
gra_tensor *gra_param_at(const gra_model *m, int i);    /* the i-th made, 0 <= i < count; else NULL */
gra_tensor *gra_param_find(const gra_model *m, const char *name);       /* by its name, or NULL */
void        gra_zero_grad(gra_model *m);

/* A frozen parameter gets no gradient and no update. Freezing frees its gradient (p->grad is NULL), and
 * optimisers initialised later make no moments for it. Unfreezing (on is false) makes a gradient of 0, and an
 * optimiser's next step makes moments of 0. Without memory for the gradient the parameter stays frozen, and
 * the model has an error. To resume a run, freeze the same parameters before the optimisers' init and
 * gra_load_all. */
void        gra_freeze(gra_tensor *p, bool on);

/* Rounds the parameter p, a matrix, to bfloat16, the upper half of a float (PyTorch: p.data.bfloat16()), and
 * frees its floats: p takes half the memory. A step takes half the time if it spends most of its time on
 * reading p, as in generation. p is then frozen for good, and has no data. Only gra_linear (as its weight)
 * and gra_embedding read p, in steps of GRA_EVAL: they widen its values, and sum in float. The model can be
 * neither saved nor loaded. It is an error of the model if p is not a matrix, if memory runs out, and in
 * libgradus64. */
void        gra_bfloat16(gra_tensor *p);

/* ---- optimisers -----------------------------------------------------------------------------------------
 * Call init once all parameters are made: it fills every field. Then set lr, which has no default, and any
 * field that should differ from PyTorch's default. Call step after each backward.
 *
 *     gra_adamw opt;
 *     gra_adamw_init(&opt, model, NULL);
 *     opt.lr = 1e-3;
 *
 * Fields may change between steps. A parameter group is a separate optimiser: `filter` tells which parameters
 * it updates (NULL: all). For weight decay on matrices and not on vectors, use two optimisers. Moments live
 * in the model, one set of a kind for each parameter: init sets them to 0, and after that an older optimiser
 * of the same kind must not step. Init returns 0, or -1 when the model has an error (out of memory); the
 * model must not be NULL. Without a backward, a step uses the old gradients, which are 0 after gra_zero_grad.
 * After an error of the tape on which the model was opened, a step changes nothing until the tape's next
 * gra_begin. */
typedef bool gra_param_filter(const gra_tensor *p);
bool gra_filter_matrices(const gra_tensor *p);          /* two dimensions or more */
bool gra_filter_vectors(const gra_tensor *p);           /* fewer */

/* torch.optim.SGD: v = momentum v + g; p -= lr v; with momentum 0, v does not change, and p -= lr g.
 * weight_decay is L2: g += weight_decay p. */
typedef struct gra_sgd {
    gra_model *model;
    gra_param_filter *filter;
    double     lr, momentum, weight_decay;              /* momentum 0, weight_decay 0 */
    gra_tensor **v;                                     /* the momentum of each parameter, by number */
    int        params;                                  /* count; no parameter may be made after init */
} gra_sgd;
int  gra_sgd_init(gra_sgd *opt, gra_model *m, gra_param_filter *filter);
void gra_sgd_step(gra_sgd *opt);

typedef struct gra_adamw {                              /* torch.optim.AdamW (Loshchilov & Hutter 2019) */
    gra_model *model;
    gra_param_filter *filter;
    double     lr, beta1, beta2, eps, weight_decay;  /* beta1 0.9, beta2 0.999, eps 1e-8, weight_decay 0.01 */
    long       steps;
    gra_tensor **m, **v;
    int        params;
} gra_adamw;
int  gra_adamw_init(gra_adamw *opt, gra_model *m, gra_param_filter *filter);
void gra_adamw_step(gra_adamw *opt);

/* Muon, for matrices (Jordan et al. 2024). filter NULL: all parameters with two dimensions; a filter that
 * accepts anything else makes init return -1. Fewer steps of Newton-Schulz take less time, but leave small
 * singular values farther below 1. */
typedef struct gra_muon {
    gra_model *model;
    gra_param_filter *filter;
    double     lr, momentum, weight_decay;        /* momentum 0.95, weight_decay 0, as in the authors' code */
    int        ns_steps;                                /* of Newton-Schulz: 5 */
    gra_tensor **v;
    int        params;
    struct gra_muon_workspace *workspace;
} gra_muon;
int  gra_muon_init(gra_muon *opt, gra_model *m, gra_param_filter *filter);
void gra_muon_step(gra_muon *opt);

/* Scales all gradients to a norm of at most max_norm (0: does nothing). Returns the norm before. */
double gra_clip_grad_norm(gra_model *m, double max_norm);

/* The learning rate at step 0, 1, ...: linear to lr over `warmup` steps, then a cosine to min_lr; or linear
 * to lr, constant until step `hold`, then linear to min_lr. */
double gra_warmup_cosine(long step, long warmup, long steps, double lr, double min_lr);
double gra_warmup_linear(long step, long warmup, long hold, long steps, double lr, double min_lr);

/* ---- files: safetensors (https://github.com/huggingface/safetensors) ------------------------------------
 * These functions return 0; or -1, and gra_model_error(m) tells why, as in "model.safetensors: No such file
 * or directory". A file that cannot be read or written never aborts the program, and the model stays usable.
 * (A model that has another error is neither saved nor loaded.) A file is written under a temporary name in
 * the same folder, synced, then renamed: whatever happens, either the old file or the new file exists, and is
 * complete. If the path is a symbolic link, the file that it points to is replaced; but a link made by
 * another user is itself replaced. Values are written as F32 (libgradus) or F64 (libgradus64), bit for bit;
 * F32, F64, F16 and BF16 are read, and converted. */
typedef struct gra_meta {               /* text beside the values, UTF-8; a key must not occur twice */
    const char *key, *value;
} gra_meta;

/* Saves or loads the parameters and buffers. Names and shapes in the file must be the model's, else nothing
 * is loaded. During loading, they take twice their memory. To load a file that has only some of them
 * (PyTorch: strict=False):
 *
 *     gra_file *f = gra_file_open("part.safetensors");
 *     for (int i = 0; i < gra_param_count(model); i++) {
 *         gra_tensor *p = gra_param_at(model, i);
 *         const gra_file_tensor *part = gra_file_find(f, p->name);
 *         if (!part || part->size != p->size || gra_file_read(f, part, p->data))
 *             printf("%s stays as it was\n", p->name);
 *     }
 *     gra_file_close(f);
 */
int gra_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta);
int gra_load(gra_model *m, const char *path);

/* A checkpoint: parameters and buffers with the optimisers' moments, such as "adamw.exp_avg.out.weight". Save
 * the optimisers' fields (steps, lr) as metadata. Load a checkpoint after the optimisers' init: the file must
 * contain the parameters and moments that the model has, and nothing else. */
int gra_save_all(gra_model *m, const char *path, const gra_meta *meta, int nmeta);
int gra_load_all(gra_model *m, const char *path);

/* Reading any safetensors file. Opening a file checks the whole header: everything that it describes lies
 * within the file. What these functions return belongs to the file, and is valid until the file is closed.
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
    const char *name, *dtype;           /* UTF-8; "F32", "I64", "BOOL" ... */
    gra_shape   shape;
    size_t      size;                   /* how many values: 1 for a scalar, may be 0 */
    uint64_t    begin, end;             /* its bytes, counted from the end of the header */
} gra_file_tensor;
gra_file   *gra_file_open(const char *path);            /* NULL: out of memory; other functions accept NULL */
const char *gra_file_error(const gra_file *f);          /* why opening or the last reading failed, or NULL */
int         gra_file_count(const gra_file *f);          /* how many tensors; 0 where opening failed */
const gra_file_tensor *gra_file_at(const gra_file *f, int i);               /* 0 <= i < count; else NULL */
const gra_file_tensor *gra_file_find(const gra_file *f, const char *name); /* NULL: no tensor has this name */
const char *gra_file_meta(const gra_file *f, const char *key);            /* NULL: no gra_meta has this key */

/* Reads x->size values, row-major. Returns 0, or -1, and then `to` may be half written. Non-floating dtypes
 * (I64, BOOL ...) are refused. */
int         gra_file_read(gra_file *f, const gra_file_tensor *x, gra_real *to);
void        gra_file_close(gra_file *f);                /* NULL is allowed */

/* ---- files: NumPy's .npy, and other formats --------------------------------------------------------------
 * One tensor in a .npy file: written as <f4 (libgradus) or <f8 (libgradus64) in C order; both are read, and
 * converted. For other dtypes the error says which NumPy function to call. gra_load_npy makes a constant; an
 * unreadable file is an error of the tape. gra_save_npy returns 0; or -1, and errno tells why: EINVAL for a
 * tensor that is NULL or stale (an error of its tape too). gra_load_npy_ints reads ids or labels: the
 * integers (int8 to int64, uint8 to uint32, bool) of a file, row-major, of *shape. The array outlives the
 * step: free it. If the file cannot be read, or has a value that does not fit into an int, the tape has an
 * error and the result is NULL. */
gra_tensor *gra_load_npy(gra_tape *t, const char *path);
int        *gra_load_npy_ints(gra_tape *t, const char *path, gra_shape *shape);
int         gra_save_npy(const char *path, const gra_tensor *x);

/* Writes bytes to a file, completely or not at all, as above. Returns 0; or -1, and errno tells why. */
int         gra_write_file(const char *path, const void *bytes, size_t n);

/* ---- files: JSON, such as the config.json beside a model ------------------------------------------------
 * Reads a text from beginning to end, without allocating memory. At the first error the reader stops: `wrong`
 * tells what is wrong, and `at` tells where. All later calls do nothing, so one test at the end is enough. */
typedef struct gra_json {
    char       *at, *end;
    const char *wrong;                  /* "expected a string", or NULL */
} gra_json;
bool        gra_json_accept(gra_json *j, char c);       /* skips blanks and c, if c comes next */
void        gra_json_expect(gra_json *j, char c);       /* like accept, but anything else is an error */
uint64_t    gra_json_count(gra_json *j);                /* 0, 1, 2 ...: no sign, no fraction */
char       *gra_json_string(gra_json *j);               /* decoded in place, ended by a 0; NULL: wrong */
gra_json    gra_json_skip(gra_json *j);                 /* skips a value, and returns it as a text */
void        gra_json_finish(gra_json *j);               /* only blanks may follow */

/* ---- the gradient check: only in libgradus64 ------------------------------------------------------------
 * Compares the gradient of every element of every parameter and input with central differences of
 *     loss = sum_i c_i y_i,   c fixed random weights, y = f(t, in, arg).
 * The error of an element is |a - n| / r: a analytic, n numeric, r the larger of the largest |gradient| of
 * its tensor and 1e-7 sum_i |c_i y_i| / max(1, largest |x|). The sign counts. The step of a difference
 * depends on the size of x and on how rough f is there. Where f is too rough for the tolerance, a is compared
 * with n only as exactly as n is known.
 *
 * The analytic gradients must agree with the numeric ones in all cases: when a gradient is uninitialised
 * before the backward (in[i]->fresh), or already has a value to add to; with each tensor in turn as a
 * constant, whose gradient is NULL; when f is called once more, with other values, before the backward; and
 * when any two inputs of one shape are the same tensor. The report names an op that changes an input, dy or
 * its result, or that writes past an end of a tensor or a gradient.
 *
 * A backward that crashes, such as one that adds to the NULL gradient of a constant, ends the program as
 * usual, but the last line on stderr names this backward, and the inputs that were constants. Therefore a
 * handler of SIGSEGV and SIGBUS is installed while a backward is checked. It passes the signal on to the
 * previous handler, which is restored when the backward returns. Windows and WebAssembly have no such
 * signals: there the program ends, and no line names the backward.
 *
 * Cost: two calls of f for each element; plus 9 calls, 2 more for each tensor, and 2 (at most 4) for each
 * pair of inputs of one shape. A wrong element takes up to 14 calls. An element at which f is steep, kinked
 * or rough takes some 50, or more if x is very large or small. Memory: some 8 doubles for each element. */
typedef struct gra_check_in {           /* an input of f */
    const char *name;
    gra_shape   shape;

    /* Its values are `data`, if that is not NULL. Otherwise they are spread at random over [low, high] (both
     * 0: [-2, 2]): no two are equal, and both the values and their mean are at least 1e-3 away from 0. */
    double      low, high;
    const gra_real *data;
} gra_check_in;

typedef gra_tensor *gra_check_fn(gra_tape *t, gra_tensor **in, void *arg);

typedef struct gra_check_options {      /* a field that is left out is 0 */
    int                 nin;            /* how many inputs f has */
    const gra_check_in *in;
    gra_check_fn       *f;
    void               *arg;
    gra_model          *model;          /* its parameters are checked too; NULL: no model */
    gra_rng            *rng;            /* f draws from it in GRA_TRAIN, the same each time; NULL: GRA_GRAD */
    double              tolerance;      /* of the error; 0: 1e-6 */
} gra_check_options;

typedef struct gra_check_report {
    double error;                /* of the worst element; infinite if f failed or an op wrote out of bounds */
    char   name[128];                   /* its tensor, */
    size_t index;                       /* its position there, row-major, */
    double analytic, numeric;           /* its two gradients */
    size_t elements;                    /* how many were compared */
    char   finding[2048];               /* only the facts, in sentences: a class may see these */
    char   text[4608];                  /* the facts, and hints that explain them */
} gra_check_report;

/* Returns 0: passed, all errors are within the tolerance. 1: failed, or an op wrote where it may not. 2: all
 * tested gradients agree, but some tensor has only gradients of 0, or there was nothing to test. -1: f
 * failed. Afterwards the model's gradients are 0, and its values and *rng are as before. During the check,
 * data and grad of its parameters point elsewhere. report may be NULL. */
#if !defined(GRADUS_DOUBLE) && defined(__has_attribute)
#if __has_attribute(error)
__attribute__((error("float32 is too rough to check gradients: compile with -DGRADUS_DOUBLE, link "
                     "libgradus64")))
#endif
#endif
int gra_check(gra_tape *t, const gra_check_options *options, gra_check_report *report);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
