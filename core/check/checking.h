/* checking.h: a gradient check as it runs. Each file below uses those above it:
 * sentence.c, evaluate.c, explain.c, report.c, check.c. */
#ifndef GRADUS_CHECKING_H
#define GRADUS_CHECKING_H

#include "../op.h"

typedef struct gra_checked {            /* one tensor and its two gradients */
    const char *name;
    int         ndim;
    const int  *shape;
    size_t      size;
    real       *data;                   /* its values, changed one at a time */
    gra_tensor *param;                  /* NULL: an input */
    real       *analytic, *numeric;
    real       *before;                 /* what its gradient holds when the backward of f comes */
    double      error;                  /* of its worst element, */
    size_t      worst;                  /* which is here */
    double      largest;                /* |gradient| of either kind */
} gra_checked;

typedef struct gra_checking {           /* a check as it runs */
    gra_tape           *tape;
    gra_mode            mode;
    gra_rng            *rng, start;     /* start: its state at the call */
    gra_check_fn       *f;
    void               *arg;
    double              tolerance;
    gra_check_report   *report;

    int                 nin, count;     /* inputs come first among the tensors, then parameters */
    const gra_check_in *in;
    gra_tensor        **input;          /* of the latest evaluation, */
    gra_tensor        **handed;         /* and what f gets, free to overwrite it */
    gra_checked        *tensor;
    real               *values;         /* one block for data, analytic and numeric */

    size_t              size;           /* of y */
    int                 ndim, shape[GRA_MAX_DIMS];
    real               *y, *c, *parts;
    double              loss;
} gra_checking;

/* sentence.c: appends a line to the report's text, wrapped; a line that grows by pieces before it is said. */
void gra_check_say(gra_check_report *report, const char *format, ...) GRA_PRINTF(2, 3);
typedef struct gra_check_line {
    char   s[512];
    size_t at;
} gra_check_line;
void gra_check_put(gra_check_line *s, const char *format, ...) GRA_PRINTF(2, 3);

/* evaluate.c: y = f(inputs), or NULL with a sentence; parts[j] = c_j dy_j/dx_i, whose sum is the numeric
 * gradient of element i of x; the error of an element; says a sentence and is false. */
gra_tensor *gra_check_evaluate(gra_checking *k);
bool        gra_check_parts(gra_checking *k, gra_checked *x, size_t i, double step);
double      gra_check_error(const gra_checking *k, const gra_checked *x, size_t i);
bool        gra_check_fails(gra_checking *k, const char *sentence);
#define GRA_CHECK_STEP 1e-5

/* explain.c: each explanation of x's wrong gradient that fits. */
void gra_check_explain(gra_checking *k, gra_checked *x);

/* report.c: all of the report's text. */
void gra_check_tell(gra_checking *k, gra_checked *worst);

#endif
