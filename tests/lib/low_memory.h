/* low_memory: tapes and models with memory for a given number of 64-byte lines, after which every allocation
 * fails. A test tries 0, 1, 2, ... lines, and each allocation of the tested code fails in turn. If calls
 * cannot be made to fail (see fault.h), lines_left returns 0, and low_memory_model returns NULL. */
#ifndef TESTS_LOW_MEMORY_H
#define TESTS_LOW_MEMORY_H

#include "core/op.h"
#include "fault.h"

size_t lines_left(gra_tape *t);         /* lines that a step of t can use before it calls malloc */

/* gra_begin, then takes `taken` of these lines; no more can be allocated until fault_disarm. */
void low_memory_begin(gra_tape *t, gra_mode mode, gra_rng *rng, size_t taken);

/* A new model with memory for that many lines, and for `calls` calls of malloc, until fault_disarm; NULL if a
 * new model has fewer lines left. It has one parameter, "first" (2, 3), to make its lists exist. */
gra_model *low_memory_model(gra_rng *rng, size_t lines, long calls);

#endif
