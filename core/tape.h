/* tape.h: what the core's own files know of a tape beyond op.h. */
#ifndef GRADUS_TAPE_H
#define GRADUS_TAPE_H

#include "pool.h"

gra_pool *gra_tape_pool(const gra_tape *t);
int       gra_tape_isa(const gra_tape *t);              /* 0 base, 1 avx2, 2 avx512: index of a kernel's variants */

/* What works on a tape's threads but may outlive it: gra_close leaves it without a tape. */
typedef struct gra_user {
    gra_tape        *tape;              /* or NULL */
    struct gra_user *next;
} gra_user;
void      gra_tape_serve(gra_tape *t, gra_user *u);     /* from now on u uses t; NULL: none */

#endif
