/* attend.h: what the layers of attention share; not for users.
 *
 * Each of them is two functions: init checks its sizes and makes its projections, forward refuses
 * what does not fit, projects x and attends. */
#ifndef GRADUS_ATTEND_H
#define GRADUS_ATTEND_H

#include "layers.h"

/* Where a size is below 1, or dropout no probability, the model gets a sentence about that layer. */
void gra_attention_sizes(gra_model *m, const char *layer, int d_in, int d_out, int context_length,
                         int num_heads, double dropout);

/* x is not (..., time, d_in), or has more tokens than context_length: an error of the tape; true. */
bool gra_attention_refuses(gra_tape *t, const char *layer, gra_tensor *x, int d_in, int context_length);

/* gra_attention for q, k, v (..., time, dim): what stands before time is the batch. The result has
 * q's time and v's dim. */
gra_tensor *gra_attend(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, int num_heads, bool causal,
                       double dropout);

#endif
