/* tape.h: what the core's own files know of a tape beyond op.h. */
#ifndef GRADUS_TAPE_H
#define GRADUS_TAPE_H

#include "pool.h"

_Noreturn void gra_abort(const char *sentence);        /* prints it; for an error that nobody can hold */

gra_pool *gra_tape_pool(const gra_tape *t);
int       gra_tape_isa(const gra_tape *t);              /* 0 base, 1 avx2, 2 avx512: index of a kernel's variants */

/* For tests: `cut` runs every kernel of this tape that is not GRA_ALONE, however small, in place of
 * gra_kernel, which cuts only large ones and shares the chunks among threads. NULL: gra_kernel again. */
typedef void gra_cut(gra_tensor *y, size_t n, gra_work *f);     /* f(y, from, to, 0) for all of [0, n) */
void      gra_tape_cut(gra_tape *t, gra_cut *cut);

/* What works on a tape's threads but may outlive it: gra_close leaves it without a tape. */
typedef struct gra_user {
    gra_tape        *tape;              /* or NULL */
    struct gra_user *next;
} gra_user;
void      gra_tape_serve(gra_tape *t, gra_user *u);     /* from now on u uses t; NULL: none */

#endif
