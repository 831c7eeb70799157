/* machine.h: the machine that kernels run on: threads, an instruction set, a workspace for each thread. */
#ifndef GRADUS_MACHINE_H
#define GRADUS_MACHINE_H

#include "../kernel.h"

/* gra_open makes a machine for its tape; models opened on the tape share it. Owners are counted, so a tape
 * and its models may be closed in any order: the last owner ends the threads. threads <= 0: one per core. */
gra_machine *gra_machine_open(int threads);             /* NULL: out of memory */
gra_machine *gra_machine_share(gra_machine *m);         /* adds an owner; returns m */
void         gra_machine_close(gra_machine *m);         /* removes an owner */

/* Calls release(memory) after 64 more calls of this function, or when the machine is closed. The memory
 * belongs to a closed model, which can be recognised until then. */
void         gra_machine_free_later(gra_machine *m, void *memory, void (*release)(void *memory));

/* The number of steps that the optimisers of the models on this machine have taken. */
unsigned     gra_machine_updates(const gra_machine *m);
unsigned     gra_machine_count_update(gra_machine *m);  /* counts one more, and returns the number */

int          gra_machine_threads(const gra_machine *m);
gra_isa      gra_machine_isa(const gra_machine *m);
const char  *gra_isa_text(gra_isa isa);                 /* "base", "avx2" or "avx512" */
const char  *gra_machine_missing_isa(const gra_machine *m);     /* requested but unavailable; or "" */

/* How bfloat16 products are computed (kern/gemm_bf16.c): not at all, in plain C (for tests), or by the
 * processor's instruction. gra_machine_has_bf16 is what the machine can do, and gra_machine_bf16 is what its
 * products do now. A new machine multiplies reals. */
typedef enum gra_bf16 { GRA_BF16_NONE, GRA_BF16_EMULATED, GRA_BF16_NATIVE } gra_bf16;
gra_bf16     gra_machine_has_bf16(const gra_machine *m);
gra_bf16     gra_machine_bf16(const gra_machine *m);
void         gra_machine_use_bf16(gra_machine *m, bool on);

/* gra_parallel runs a function f on [0, n) in chunks of a given size, on all threads. gra_share runs f as
 * gra_kernel does, but never through a test's `cut`. gra_variant chooses a table's entry for this machine. */
gra_work    *gra_variant(const gra_machine *m, gra_work *const variant[GRA_ISAS]);
void         gra_parallel(gra_machine *m, size_t n, size_t chunk, gra_work *f, void *what);
void         gra_share(gra_machine *m, void *what, size_t n, size_t cost, gra_work *f);

#define GRA_WORKSPACE ((size_t)256 << 10)               /* values in a worker's memory, uninitialised */
real        *gra_machine_workspace(const gra_machine *m, int worker);

/* The tape's gra_keep_going, which applies to its models too: errors do not abort. */
void         gra_machine_keep_going(gra_machine *m, bool on);
bool         gra_machine_keeps_going(const gra_machine *m);

/* While the tape's step has an error its gradients cannot be trusted: optimisers of the models on this
 * machine then leave the parameters unchanged. */
void         gra_machine_set_failed(gra_machine *m, bool failed);
bool         gra_machine_failed(const gra_machine *m);

/* The gradients come from a step of GRA_GRAD, in which dropout did nothing. gra_machine_say_undropped warns
 * once on stderr, unless errors are kept, since models should be trained in GRA_TRAIN. */
void         gra_machine_set_undropped(gra_machine *m, bool on);
void         gra_machine_say_undropped(gra_machine *m, const char *who);

/* For tests: `cut` runs every kernel of this machine that is not GRA_SERIAL, even a small one, by calls of
 * f(what, from, to, 0) for all of [0, n). NULL: gra_kernel runs the kernels, and cuts only large ones. */
typedef void gra_cut(void *what, size_t n, gra_work *f);
void         gra_machine_cut(gra_machine *m, gra_cut *cut);

#endif
