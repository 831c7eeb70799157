/* op.h: what authors of ops, layers and optimisers need beyond gradus.h; the macros of kernel.h make ops
 * fast.
 *
 * An op is a forward, a backward and a public function that checks its arguments: examples/02_own_op.c is an
 * op outside the library, with y->saved; core/ops/pow.c is an op of the library, with y->args. The fields of
 * gra_tensor are in gradus.h.
 *
 * In backward, y->grad is set, and y->in[i]->grad is NULL if that input needs no gradient. (If no input needs
 * one, backward is not called.) Always accumulate, dx[i] += ...: an input may feed several ops, or this op
 * twice. Without .saved, y->saved is NULL, and without .args, y->args is NULL. An op that writes
 * there gets an error with a sentence when a tape first runs it.
 *
 * C++ can call the functions, but macros that make an array of their arguments are C only: call
 * gra_result_n, gra_bad_inputs, gra_tensor_text and gra_shape_text instead of gra_result, GRA_BAD_INPUTS,
 * GRA_SHAPE_OF and GRA_SHAPE_STRING. */
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
    bool     overwrites_grad;                   /* only for the library's own ops: see tape/tape.h */
    unsigned reads_panels;                      /* also internal; bit i: in[i] may be a bfloat16 matrix */
    bool     reads_no_inputs, reads_no_result;  /* backward does not read these values: see gra_forget */
    bool     may_make_inf;                      /* y has infinities on purpose: gra_trace_nan skips it */
    const char *args_text;                      /* how y->args is shown, "by %g"; NULL: not at all */
};
#define GRA_MAX_ARGS 192

/* The constants of y as text, "by 0.1"; "" if its op does not show them. In args_text each of the following
 * shows the next field of y->args, in the order of the struct: %g a double, %d an int, %D an int for each
 * dimension of y, %T a bool (^T if it is true), %a a gra_dim_split around the dimension that is reduced. */
#define GRA_ARGS_TEXT 120
char *gra_args_text(const gra_tensor *y, char *text);

/* A public function makes its result, fills y->args, and ends with return gra_run(y), which calls forward and
 * records y. After an error the gra_result functions return the empty tensor, whose args may be written to.
 * in[0] must not be NULL; other inputs may be. gra_result_like gives a result shaped like x, its only input;
 * gra_result_broadcast gives a result of the shape to which a and b broadcast. */
gra_tensor *gra_result_n(gra_tape *t, const gra_op *op, gra_shape shape, int nin, gra_tensor *const *in);
#define gra_result(t, op, shape, ...)                                                                    \
    gra_result_n(t, op, shape, (int)(sizeof((gra_tensor *[]){ __VA_ARGS__ }) / sizeof(gra_tensor *)),    \
                 (gra_tensor *[]){ __VA_ARGS__ })
gra_tensor *gra_result_like(gra_tape *t, const gra_op *op, gra_tensor *x);
gra_tensor *gra_result_broadcast(gra_tape *t, const gra_op *op, gra_tensor *a, gra_tensor *b);
gra_tensor *gra_run(gra_tensor *y);

/* Errors. gra_fail keeps the first sentence and returns the empty tensor (no dimensions, one NaN). The form
 * is "op: got X, expected Y", as in "linear: got bias (3) for weight (2, 3), expected (2)". If the tape
 * has an error, or an input is NULL, of another tape or of an earlier step, GRA_BAD_INPUTS(t, "name", x, w)
 * is true: return gra_empty(t). For an optional input b pass b ? b : x. If the tape or the model is NULL,
 * nothing can keep the sentence: the program prints it and aborts. */
gra_tensor *gra_fail(gra_tape *t, const char *format, ...) GRA_PRINTF(2, 3);
gra_tensor *gra_empty(gra_tape *t);
bool        gra_bad_inputs(gra_tape *t, const char *op, int nin, gra_tensor *const *in);
#define GRA_BAD_INPUTS(t, op, ...)                                                                          \
    gra_bad_inputs(t, op, (int)(sizeof((gra_tensor *[]){ __VA_ARGS__ }) / sizeof(gra_tensor *)),            \
                (gra_tensor *[]){ __VA_ARGS__ })
void        gra_model_fail(gra_model *m, const char *format, ...) GRA_PRINTF(2, 3);  /* m is then unusable */

/* Shapes. GRA_SHAPE_STRING(s) is the text "(2, 3)". GRA_SHAPE_OF(x), for error messages, is the shape of the
 * tensor x, after its name if it has one: "scores" (2, 3). */
#define GRA_SHAPE_TEXT 120
#define GRA_TENSOR_TEXT (GRA_SHAPE_TEXT + 4 * 40 + 4)
#define GRA_SHAPE_STRING(s) gra_shape_text(s, (char[GRA_SHAPE_TEXT]){ 0 })
#define GRA_SHAPE_OF(x) gra_tensor_text(x, (char[GRA_TENSOR_TEXT]){ 0 })
char     *gra_shape_text(gra_shape s, char *text);
char     *gra_tensor_text(const gra_tensor *x, char *text);     /* at most 40 characters of its name */
bool      gra_shape_size(gra_shape s, size_t *size);    /* false if a size or ndim is negative or too large */
bool      gra_same_shape(gra_shape a, gra_shape b);
int       gra_wrap_dim(gra_shape s, int d);             /* d, or d + ndim; -1 if there is no such dimension */
gra_shape gra_shape_without(gra_shape s, int d, bool keepdim);  /* d removed, or of size 1 */

/* A tensor seen as (outer, n, inner) around dimension d: element (o, i, j) is data[(o*n + i)*inner + j]. */
typedef struct gra_dim_split {
    size_t outer, n, inner;
} gra_dim_split;
gra_dim_split gra_split_dim(gra_shape s, int d);          /* 0 <= d < ndim */

/* NumPy broadcasting. gra_broadcast sets *both to the shape of the result, or returns false if there is none.
 * A walk visits y's elements from `from` to `to` in rows: y[w.y + i], a[w.a + i*w.step_a], b[w.b +
 * i*w.step_b] for i < w.n, until w.n is 0. A step is 0 where the operand is stretched. */
bool gra_broadcast(gra_shape a, gra_shape b, gra_shape *both);
typedef struct gra_walk {
    size_t n, y, a, b, step_a, step_b;
    size_t end;
    int    ndim;
    size_t dim[GRA_MAX_DIMS], at[GRA_MAX_DIMS], stride_a[GRA_MAX_DIMS], stride_b[GRA_MAX_DIMS];
} gra_walk;
gra_walk gra_walk_begin(gra_shape y, gra_shape a, gra_shape b, size_t from, size_t to);
void     gra_walk_next(gra_walk *w);

/* The step: its generator, and memory that lives until the next gra_begin. */
gra_rng *gra_tape_rng(gra_tape *t);                     /* the generator of gra_begin, or NULL */
bool     gra_need_rng(gra_tape *t, const char *op);     /* false, and an error, if it is NULL or not seeded */
void    *gra_alloc(gra_tape *t, size_t bytes);          /* 64-byte aligned; NULL after an error */

/* Frees the values of y, which the forward no longer needs. If an op's backward reads these values, y's op
 * computes them again from y's inputs. Use gra_forget for cheap ops, in a layer that does not return y:
 * y->data is NULL afterwards, even in f of a gra_checkpoint. (Without dropout, gra_dropout returns its input,
 * which is then freed.) y keeps its values if it has a view, after gra_keep_grads(t, true), and while a step
 * is checked or traced. */
void     gra_forget(gra_tensor *y);

/* Zeroed memory that lives as long as the model; NULL after an error. gra_state makes an optimiser's buffer
 * for the parameter p, such as a moment. The buffer is zeroed, shaped like p, and named "kind.name of p";
 * gra_save_all saves it, gra_save does not. NULL: out of memory, or the name is taken. */
void       *gra_model_alloc(gra_model *m, size_t bytes);
gra_tensor *gra_state(gra_model *m, const char *kind, const gra_tensor *p);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
