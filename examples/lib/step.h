/* step: forward and backward of a batch, as in every training step. training.h has the rest of a step;
 * train.c has a whole step in its loop. */
#ifndef EXAMPLES_STEP_H
#define EXAMPLES_STEP_H

#include "batch.h"
#include "forward.h"

/* Adds the gradient of share times the batch's loss to the parameters' gradients. Returns share times the
 * loss; NaN: see gra_error. */
double step_backward(gra_tape *t, gra_rng *rng, forward_fn *forward, const struct gra_gpt *g, const batch *b,
                     double share);

#endif
