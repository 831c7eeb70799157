/* evaluate: the loss on the held-out text, nothing recorded, nothing dropped. NaN: the tape has an error,
 * or Ctrl-C asked to stop. */
#ifndef EXAMPLES_EVALUATE_H
#define EXAMPLES_EVALUATE_H

#include "options.h"
#include "text.h"

double evaluate(gra_tape *t, const struct gra_gpt *gpt, const corpus *x, const options *o, long step,
                int *ids, int *next);   /* an estimate from o->eval_batches random batches, which the seed and
                                           the step decide */
double evaluate_all(gra_tape *t, const struct gra_gpt *gpt, const corpus *x, const options *o, int *ids, int *next);
                                        /* over all consecutive windows */

#endif
