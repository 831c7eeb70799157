/* validation: the mean over windows of the held-out text of -log p(next token | those before it in the
 * window). */
#ifndef EXAMPLES_VALIDATION_H
#define EXAMPLES_VALIDATION_H

#include "training.h"

double validation_estimate(training *t);        /* from some random batches; NaN: the tape has an error */
double validation_loss(training *t);            /* over all of it, window after window */

#endif
