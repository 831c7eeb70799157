/* validation: the mean of -log p(next token | those before it in the window) over the held-out text. */
#ifndef EXAMPLES_VALIDATION_H
#define EXAMPLES_VALIDATION_H

#include "training.h"

/* validation_loss: over all of it; NaN: see gra_error. validation_of_step: if --eval-every is due, an
 * estimate from some random batches as the row's val_loss; then t->since_best is 0 if it is the best so far.
 * 0, or -1 after a warning. */
double validation_loss(training *t);
int    validation_of_step(training *t, run_row *row);

#endif
