/* low_memory: tapes and models that have memory for so many lines of 64 bytes, after which every allocation
 * fails. A test tries 0, 1, 2, ... lines, and so lets memory end at each allocation of what it tests. Where
 * calls cannot be made to fail (see fault.h), lines_left is 0 and low_memory_model NULL. */
#ifndef TESTS_LOW_MEMORY_H
#define TESTS_LOW_MEMORY_H

#include "core/op.h"

size_t lines_left(gra_tape *t);         /* how many lines a step of t can have before it allocates more */

/* gra_begin, after which `taken` of these lines are in use and no more can be allocated until
 * fault_disarm. */
void low_memory_begin(gra_tape *t, gra_mode mode, gra_rng *rng, size_t taken);

/* A new model with memory for so many lines, until fault_disarm; NULL: a new model has fewer lines than that
 * left. It has one parameter, "first" (2, 3), so that its lists are there. */
gra_model *low_memory_model(gra_rng *rng, size_t lines);

#endif
