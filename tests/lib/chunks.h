/* chunks.h: runs kernels in chunks of one unit. Threads share large tensors in chunks, so the small tensors
 * of the tables reveal errors that would occur in large tensors.
 *
 * gra_machine_cut(machine, chunks_alone) runs each chunk separately on the kernel's original memory. So two
 * chunks that write to the same place are detected in any order, and a chunk that reads another chunk's
 * results gives different values. chunks_on_threads hands the chunks to the threads of y's tape. */
#ifndef TESTS_CHUNKS_H
#define TESTS_CHUNKS_H

#include "core/tape/tape.h"

void chunks_alone(void *y, size_t n, gra_work *f);
void chunks_on_threads(void *y, size_t n, gra_work *f);

const char *chunks_fault(void);         /* the first fault that chunks_alone found, and its fix; or NULL */

/* Begins a step in memory filled with NaN: values of earlier steps cannot pass for results. */
void chunks_begin(gra_tape *t);

#endif
