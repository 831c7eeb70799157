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

/* A gradient check watches the steps that it sweeps (check/guard.c). While a tape is watched, each piece of
 * a step's memory has GRA_WATCH_ROOM unused bytes before and behind it, no gradient is recycled, and `work`
 * runs each forward and backward. */
enum { GRA_WATCH_ROOM = 64 };
typedef struct gra_watch {
    void (*made)(struct gra_watch *w, void *piece, size_t bytes);       /* uninitialised, as is the room around it */
    void (*work)(struct gra_watch *w, gra_tensor *y, void (*f)(gra_tensor *y));  /* calls f(y): y's forward or backward */
} gra_watch;
void      gra_tape_watch(gra_tape *t, gra_watch *w);    /* from the next gra_begin on; NULL: nobody watches */
typedef enum gra_trial {
    GRA_IN_EARNEST,
    GRA_TRIED                           /* where f may not be defined: NaNs are not traced, and an error does not abort */
} gra_trial;
void      gra_tape_try(gra_tape *t, gra_trial how);

#endif
