/* memory: does a training run fit in the memory that there is? */
#ifndef EXAMPLES_MEMORY_H
#define EXAMPLES_MEMORY_H

#include "options.h"

/* Estimates the bytes that the run needs. -1 after a warning: parameters, gradients and moments cannot fit.
 * If only its batches may not fit, it warns and returns 0: the estimate is rough. */
int memory_check(const options *o, int vocab_size);

#endif
