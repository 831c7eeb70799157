/* checking.h: a gradient check as it runs.
 *
 *   check.c     do the analytic and the numeric gradients agree, in all cases?
 *   report.c    the text of the report
 *   numeric.c   the numeric gradients              analytic.c  the analytic ones
 *   evaluate.c  y = f(inputs)                      collect.c   the tensors that are compared
 *   guard.c     an op that writes where it must not    crash.c     a backward that crashes
 *   beyond.c    an op that reads out of bounds         say.c       the lines of a report
 *
 * core/explain finds out why two gradients do not agree. */
#ifndef GRADUS_CHECKING_H
#define GRADUS_CHECKING_H

#include "../tape/tape.h"

typedef struct gra_checking gra_checking;

/* The larger of most and |v|; most, if v is NaN. fmax is the same, but gcc 12 for aarch64 crashes at -O3 when
 * it compiles a loop of fmax over floats. */
static inline double gra_larger(double most, double v)
{
    return fabs(v) > most ? fabs(v) : most;
}

typedef struct gra_checked {            /* one tensor, and its analytic and numeric gradient */
    const char *name;
    gra_shape   shape;
    size_t      size;
    real       *data;                   /* its values, changed one at a time */
    gra_tensor *param;                  /* the parameter; NULL: it is an input */
    real       *grad;                   /* the gradient that the parameter has during the check */
    real       *own_data, *own_grad;    /* the parameter's own memory, which it gets back */
    real       *analytic, *numeric;
    real       *before;                 /* the gradient's values before the backward of f added to it */
    real       *fresh;                  /* the analytic gradient, from uninitialised memory */
    real       *unsure;     /* how far numeric[i] may be off, if that is more than the tolerance; else 0 */
    real       *step;                   /* the step of the difference that gave numeric[i] */
    double      good_step;              /* the last step found by trying all steps, or 0 */
    double      most;                   /* the largest |value| */
    double      floor;          /* errors are relative to this or, if larger, the largest gradient */
    size_t      kinks, kink;            /* elements at a kink of f, of unknown gradient; the first of them */
    bool        inner;                  /* f has no kink there, but an op in f has one */
    bool        untested;               /* both gradients are 0 everywhere */
    double      error;                  /* the error of the worst element */
    size_t      worst;
    double      largest;                /* the largest |gradient|, analytic or numeric */
} gra_checked;

typedef void gra_check_explain_fn(gra_checking *k, gra_checked *x);     /* says why x's gradient is wrong */

/* guard.c: the memory that an op may not write to. */
typedef struct gra_guarded {            /* memory of this many bytes */
    char  *start;
    size_t bytes;
} gra_guarded;

typedef struct gra_guard {
    gra_checking *check;
    gra_guarded  *piece;                /* the pieces of this step, after those that are kept */
    size_t        count, kept, places;
    size_t        changed;              /* see gra_guard_change */
    real         *copy;                 /* of values that the running op may not change, or NULL */
    int           crash;                /* see gra_crash_begin */
    bool          violated;             /* an op wrote where it must not: */
    char          tensor[128], sentence[512];
} gra_guard;

void  gra_guard_begin(gra_guard *g, gra_checking *k);
void  gra_guard_end(gra_guard *g);
void  gra_guard_watch(gra_guard *g, bool on);           /* on: from now on the guard watches the tape */
void  gra_guard_step(gra_guard *g);                     /* a new step: the previous step's memory is gone */
void  gra_guard_look(gra_guard *g);                     /* at a step's end: checks around all memory */
void *gra_guard_memory(gra_guard *g, size_t bytes);     /* guarded until gra_guard_end; NULL: out of memory */
void  gra_guard_free(void *memory);                     /* NULL is allowed */

/* on: from now on there are numbers around all memory, but writes are not looked for. Each piece has
 * GRA_ROOM_OF_PIECE of these numbers, half before its start and half past its end, and the first `changed`
 * numbers differ from their usual value. When an op uses the piece next to the last changed number,
 * `sentence` names that piece. */
enum { GRA_ROOM_OF_PIECE = 2 * GRA_WATCH_ROOM / sizeof(real) };
void  gra_guard_change(gra_guard *g, bool on, size_t changed);
/* crash.c: between begin and end, a crash writes this line to stderr, then takes its usual course. */
int  gra_crash_begin(const char *line);                 /* returns the argument of gra_crash_end */
void gra_crash_end(int at);

struct gra_checking {
    gra_tape           *tape;
    gra_mode            mode;
    gra_rng            *rng, start;     /* start: its state when gra_check was called */
    gra_check_fn       *f;
    void               *arg;
    double              tolerance;
    gra_check_report   *report;
    gra_check_explain_fn *explain;      /* NULL: nothing is explained */

    int                 nin, count;     /* the tensors: inputs come first, then parameters */
    const gra_check_in *in;
    gra_tensor        **input;          /* the inputs of the latest evaluation, */
    gra_tensor        **handed;         /* and the array passed to f, which f may overwrite */
    gra_checked        *tensor;         /* `count` tensors, then y, which has no gradient here */
    gra_checked        *frozen, *end;   /* frozen parameters and buffers, after y */
    real               *values;         /* one block for the inputs' values and for all gradients */
    gra_guard           guard;

    int                 constant;       /* this tensor is now a constant, without a gradient; -1: none */
    int                 twin[2];        /* these inputs are now one tensor; -1: none */
    bool                again;          /* f is used once more before the backward */
    bool                keep_going;     /* the tape's setting before the check; and its gra_trace_nan, */
    const gra_watch    *trace;          /* or NULL */
    bool                trial;          /* f may be undefined now: its failure is not the check's */
    bool                wrong;          /* a gradient is wrong, in x or elsewhere */
    bool                reshaped;       /* f gave another shape when a value was moved */
    bool                known, finite;  /* of the latest backward: the loss has a gradient; y is finite */
    char                when[256];      /* the circumstances under which a gradient is wrong; "": always */

    size_t              size;           /* of y */
    gra_shape           shape;
    real               *y, *c, *parts;
    double              noise;          /* how far rounding of y may have changed the sum of parts */
    double              loss;           /* sum of |c_j y_j| */
};

/* say.c: appends a line, wrapped. gra_check_say appends a fact to the report's finding and text,
 * gra_check_hint only to the text. */
void gra_check_say(gra_check_report *report, const char *format, ...) GRA_PRINTF(2, 3);
void gra_check_hint(gra_check_report *report, const char *format, ...) GRA_PRINTF(2, 3);

/* evaluate.c: y = f(inputs), or NULL with a sentence. gra_check_fails reports a sentence, unless this is a
 * trial, and returns false. gra_check_try(k, true): f may be undefined from now on. */
gra_tensor *gra_check_evaluate(gra_checking *k);
#define     GRA_OTHER_SHAPE "f gave another shape for the same inputs"
bool        gra_check_fails(gra_checking *k, const char *sentence);
void        gra_check_try(gra_checking *k, bool trial);

/* numeric.c: gra_check_parts: parts[j] = c_j dy_j/dx_i by a step of x->step[i], whose sum is the numeric
 * gradient of element i of x. gra_check_numeric computes all of them, or returns false with a sentence.
 * gra_check_measure: r, by which the error of an element is divided. */
void        gra_check_parts(gra_checking *k, gra_checked *x, size_t i);
bool        gra_check_numeric(gra_checking *k, gra_checked *x);
double      gra_check_measure(const gra_checked *x);
double      gra_check_error(const gra_checked *x, size_t i);

/* analytic.c: the backward of sum_j c_j y_j; false: it failed. gra_check_grad: the gradient that it left in
 * tensor i, or NULL. gra_check_analytic: all analytic gradients, for the check's own c, under the guard. */
bool        gra_check_backward(gra_checking *k, const real *c, bool once_more);
const real *gra_check_grad(const gra_checking *k, int i);
bool        gra_check_analytic(gra_checking *k, bool once_more);

/* beyond.c: does the gradient of `tensor` (-1: does y) depend on memory before the start or past the end of a
 * tensor? Returns 1, with a line that names the tensor; 0 if not; -1 if f failed. */
int gra_check_beyond(gra_checking *k, int tensor, gra_line *s);

/* collect.c: lists the tensors to compare, and makes the inputs' values; false, with a sentence: it
 * failed. */
bool gra_check_collect(gra_checking *k, gra_model *m);
void gra_check_restore(gra_checking *k);              /* gives parameters their own data and grad back */

/* report.c: writes the report. worst: NULL if there is nothing to compare. untested: a tensor has only
 * gradients of 0. */
void gra_check_tell(gra_checking *k, gra_checked *worst, bool untested);

/* check.c: gra_check; if a tensor's gradient is wrong, calls explain(k, tensor). */
int gra_check_with(gra_tape *t, const gra_check_options *options, gra_check_report *report,
                   gra_check_explain_fn *explain);

#endif
