/* chunks.h: runs kernels in chunks of one unit, as threads share the work of large tensors, so that the
 * small tensors of the tables reveal what would go wrong in large ones.
 *
 * gra_machine_cut(machine, chunks_alone) runs each chunk separately on the memory as the kernel found it, so
 * two chunks that write the same place are detected in any order, and a chunk that reads what another writes
 * gives different values. chunks_on_threads hands the chunks to the threads of y's tape. */
#ifndef TESTS_CHUNKS_H
#define TESTS_CHUNKS_H

#include "core/tape/tape.h"

void chunks_alone(void *y, size_t n, gra_work *f);
void chunks_on_threads(void *y, size_t n, gra_work *f);

const char *chunks_fault(void);         /* the first fault chunks_alone found, and how to fix it; or NULL */

/* A new step whose memory is filled with NaN, so that no value of an earlier step passes for a result. */
void chunks_begin(gra_tape *t);

#endif
