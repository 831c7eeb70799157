/* rows.h: runs a row of ops_table.c once: y, a loss of y, and the gradients of the inputs. The random numbers
 * are the same each time, on any tape and in both precisions. */
#ifndef TESTS_ROWS_H
#define TESTS_ROWS_H

#include "ops_table.h"

enum { ROW_INPUTS = 4, EVERY_INPUT = (1 << ROW_INPUTS) - 1, USED_AGAIN = 1 << ROW_INPUTS };

typedef struct row_run {
    gra_tensor *y, *loss, *in[ROW_INPUTS];
} row_run;

/* Runs it in a separate step; bit i of `grads`: input i needs a gradient. USED_AGAIN: by the loss too. */
row_run     run_row(gra_tape *t, int row, unsigned grads);
gra_tensor *draw_input(gra_tape *t, gra_rng *g, const gra_check_in *in, bool grad);

/* Sets the crash note to this row and to how it is run, such as ", where memory ends" or "". */
void        note_row(const struct op_case *c, const char *how);

/* Copies of y and the gradients; the size is 0 if there is none. */
typedef struct outcome {
    int    n;
    real  *values[1 + ROW_INPUTS];
    size_t size[1 + ROW_INPUTS];
} outcome;

outcome     outcome_of(const gra_tensor *y, int nin, gra_tensor *const *in);
void        outcome_free(outcome *o);
bool        outcomes_differ(const outcome *a, const outcome *b, char where[160]);   /* in some bit */

/* A line expects these values, to 4 units in the last place. */
void expect_values(const char *file, int line, const char *what, const real *x, const double *want, size_t n);

#endif
