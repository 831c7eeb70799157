/* machine.h: what kernels compute on: threads, an instruction set, and a workspace for each thread.
 *
 * gra_open makes one for its tape; the models opened on the tape share it. It is counted, so that tape and models
 * may be closed in any order: the last one to close it ends the threads. Kernels take a machine and know of no tape. */
#ifndef GRADUS_MACHINE_H
#define GRADUS_MACHINE_H

#include "op.h"

gra_machine *gra_machine_open(int threads);     /* 0 or less: one for each core; NULL: out of memory */
gra_machine *gra_machine_share(gra_machine *c); /* one more owner; c */
void         gra_machine_close(gra_machine *c); /* one owner less; the last one ends the threads */

int          gra_machine_threads(const gra_machine *c);
const char  *gra_machine_missing_isa(const gra_machine *c);     /* what GRADUS_ISA asked for, but the processor lacks; or "" */

gra_isa      gra_machine_isa(const gra_machine *c);
const char  *gra_isa_text(gra_isa isa);         /* "base", "avx2" or "avx512" */

/* A worker's own memory, for kernels that rearrange their operands: GRA_WORKSPACE values, uninitialised. */
#define GRA_WORKSPACE ((size_t)256 << 10)
real        *gra_machine_workspace(const gra_machine *c, int worker);

/* While the tape's step has an error its gradients are not to be trusted: the optimisers of the models on this
 * machine then leave the parameters alone. */
void         gra_machine_set_failed(gra_machine *c, bool failed);
bool         gra_machine_failed(const gra_machine *c);

/* For tests: `cut` runs every kernel of this machine that is not GRA_SERIAL, however small, in place of gra_kernel,
 * which cuts only large ones and shares the chunks among threads. NULL: gra_kernel again. */
typedef void gra_cut(void *what, size_t n, gra_work *f);        /* f(what, from, to, 0) for all of [0, n) */
void         gra_machine_cut(gra_machine *c, gra_cut *cut);

#endif
