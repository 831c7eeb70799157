/* validation: the mean of -log p(next token | those before it in the window) over the held-out text. */
#ifndef EXAMPLES_VALIDATION_H
#define EXAMPLES_VALIDATION_H

#include "training.h"

double validation_estimate(training *t);        /* over some random batches; NaN: see gra_error */
double validation_loss(training *t);            /* over all of it */

#endif
