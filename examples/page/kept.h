/* kept: the parameters of a model after some steps of its training. */
#ifndef EXAMPLES_PAGE_KEPT_H
#define EXAMPLES_PAGE_KEPT_H

#include "../../core/gradus.h"

enum { KEPT_MOST = 60, KEPT_BYTES = 64 << 20 };

/* At most KEPT_MOST states are kept, in KEPT_BYTES. When they are full, every second state is forgotten, and
 * from then on the distance between two states is twice as large. Step 0 always stays. */
typedef struct kept {                   /* all zeros: none */
    struct kept_state {
        long      step;
        gra_real *values;
        double   *norms;                /* what a step measured, see page_run.c */
        char     *sample;               /* NULL: not written yet */
        size_t    sample_size;
    } state[KEPT_MOST];
    int  n;
    long distance;
} kept;

/* Keeps the state if its turn has come, and there is memory. norms: n of them. */
void kept_add(kept *k, const gra_model *m, long step, const double *norms, size_t n);
struct kept_state *kept_near(kept *k, long step);       /* the nearest state, or NULL */
void kept_free(kept *k);

gra_real *kept_copy(const gra_model *m, gra_real *to);  /* of all parameters; to NULL: from malloc, or NULL */
void kept_restore(gra_model *m, const gra_real *values);

#endif
