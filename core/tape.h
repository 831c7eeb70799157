/* tape.h: what the core's own files know of a tape beyond op.h. */
#ifndef GRADUS_TAPE_H
#define GRADUS_TAPE_H

#include "machine.h"

_Noreturn void gra_abort(const char *sentence);        /* prints it; for an error that nobody can hold */

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
