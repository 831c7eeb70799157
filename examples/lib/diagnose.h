/* diagnose: where the first NaN or infinity of a step came from. The step is computed once more, with
 * gra_trace_nan on, and said on stderr is the op, the layer and the place, or the parameter that the update
 * before it spoilt. */
#ifndef EXAMPLES_DIAGNOSE_H
#define EXAMPLES_DIAGNOSE_H

#include "../../layers/layers.h"
#include "options.h"

/* rng: as it was before the step's forward, whose ids and targets these are. No parameter may have moved
 * since. */
void diagnose(gra_tape *t, gra_model *m, const gra_gpt *gpt, const options *o, gra_rng rng, const int *ids,
              const int *next);

#endif
