/* memory: does a training run fit in the available memory? */
#ifndef EXAMPLES_MEMORY_H
#define EXAMPLES_MEMORY_H

#include "options.h"

/* Estimates the bytes that the run needs. -1 after a warning: it cannot fit, even if a batch takes half of
 * the estimate, which is rough. If the run may or may not fit, memory_check warns and returns 0. */
int memory_check(const options *o, int vocab_size);

#endif
