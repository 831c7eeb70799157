/* group.h: what optimisers share. A group is the parameters that one optimiser moves. */
#ifndef GRADUS_GROUP_H
#define GRADUS_GROUP_H

#include "../op.h"

/* A buffer for each parameter that `takes` names (NULL: all), by the parameter's number; NULL for the
 * others. The model owns them. NULL: out of memory, the sentence is the model's. */
gra_tensor **gra_group_state(gra_model *m, gra_takes *takes, const char *kind);

/* Before a step: was init called, with as many parameters as there are now? Else a sentence. */
bool gra_group_ready(gra_model *m, const char *optimiser, gra_tensor *const *state, int params);

double gra_sum_squared(const real *x, size_t n);        /* in double, in an order that depends on n alone */

#endif
