/* formula_op.h: ops that are made from a text, in the notation of examples/exercises/README.md, and what
 * gra_check must say of wrong lines in their backward:
 *
 *     { "scaled", "k rows = 3, i n = 4", "x[k,i], w[i] in 0.5..2",
 *       "y[k,i] = x[k,i] * w[i]\n"
 *       "dx[k,i] = dy[k,i] * w[i]\n"
 *       "dw[i] = sum(k, dy[k,i] * x[k,i])\n",
 *       { { "dx[k,i] = dy[k,i]", "a factor is missing ... w", "dy is multiplied" }, ...
 *
 * The inputs' gradients, dx and dw, are added to what was there before, dx0 and dw0. */
#ifndef TESTS_FORMULA_OP_H
#define TESTS_FORMULA_OP_H

#include "core/op.h"

#pragma GCC diagnostic ignored "-Wmissing-field-initializers"  /* a row leaves out what it does not need */

enum { MOST_WRONG = 36 };

struct formula_op {
    const char *name, *sizes, *in, *lines;
    struct {
        const char *lines;                  /* that stand in the place of those that compute the same names */
        const char *says, *unsaid;          /* of the report; what it must not say, or NULL */
    } wrong[MOST_WRONG];                    /* lines of NULL end the list */
    const double *data;                     /* of the first input; NULL: drawn */
    const char   *fixed;                    /* "ids[t]": numbers that are no input */
    const double *numbers;
};

/* Checks the op with these lines in the place of its own, or NULL: gra_check's status, and `report`. */
int formula_check(const struct formula_op *op, const char *wrong);

/* The test of an op: with its own lines it passes; each row fails, and the report has the row's words. */
void formula_rows(const struct formula_op *op);

#endif
