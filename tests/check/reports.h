/* reports.h: functions for gra_check, expectations of its reports, and ops that are made from a text in the
 * notation of examples/exercises/README.md, with wrong lines of their backward:
 *
 *     { "scaled", "k rows = 3, i n = 4", "x[k,i], w[i] in 0.5..2",
 *       "y[k,i] = x[k,i] * w[i]\n"
 *       "dx[k,i] = dy[k,i] * w[i]\n"
 *       "dw[i] = sum(k, dy[k,i] * x[k,i])\n",
 *       { { "dx[k,i] = dy[k,i]", "a factor is missing ... w", "dy is multiplied" }, ...
 *
 * The inputs' gradients, dx and dw, are added to their previous values, dx0 and dw0. */
#ifndef TESTS_REPORTS_H
#define TESTS_REPORTS_H

#include "core/op.h"
#include "lib/fixture.h"

/* Defines the function `name`, which computes y of the inputs in[0], in[1], ... on `tape`; `arg` is
 * gra_check's. */
#define FUNCTION(name, ...)                                                                              \
    static gra_tensor *name(gra_tape *tape, gra_tensor **in, void *arg)                                  \
    {                                                                                                    \
        (void)tape, (void)in, (void)arg;                                                                 \
        return __VA_ARGS__;                                                                              \
    }

/* The last report. checked: gra_check on the fixture's tape. */
extern gra_check_report report;
int  checked(gra_check_fn *f, void *arg, int nin, const gra_check_in *in);
void expect(int status, int wanted, const char *phrase);

/* Does its text contain the phrase, wherever lines are broken? "a ... b": first a, later b. */
bool says(const char *phrase);

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  /* a row omits fields that it does not need */

enum { MOST_WRONG = 36 };

struct formula_op {
    const char *name, *sizes, *in, *lines;
    struct {
        const char *lines;                  /* lines that replace the lines for the same names */
        const char *says, *unsaid;          /* of the report; words that it must not contain, or NULL */
    } wrong[MOST_WRONG];                    /* lines of NULL end the list */
    const double *data;                     /* of the first input; NULL: drawn */
    const char   *fixed;                    /* "ids[t]": numbers that are no input */
    const double *numbers;
};

/* Checks the op with these lines replacing its own (NULL: none): gra_check's status, and `report`. */
int formula_check(const struct formula_op *op, const char *wrong);

/* The test of an op: with its right lines it passes; each row fails, and the report has the row's words. */
void formula_rows(const struct formula_op *op);

#endif
