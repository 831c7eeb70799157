/* chunks.h: runs kernels cut into chunks of one unit, as threads share the work of large tensors, so that
 * the small tensors of the tables show what would go wrong in large ones.
 *
 * gra_machine_cut(machine, chunks_alone) runs each chunk by itself, from the memory that the kernel found:
 * two chunks that write the same place show in whatever order they come, and one that reads what another
 * writes gives other values. chunks_on_threads hands the chunks to the threads of y's tape. */
#ifndef TESTS_CHUNKS_H
#define TESTS_CHUNKS_H

#include "core/tape/tape.h"

void chunks_alone(void *y, size_t n, gra_work *f);
void chunks_on_threads(void *y, size_t n, gra_work *f);

const char *chunks_fault(void);         /* what chunks_alone found first, and how to mend it; NULL: nothing */

/* A new step whose memory holds NaN, so that the rest of a last step is not taken for a result. */
void chunks_begin(gra_tape *t);

#endif
