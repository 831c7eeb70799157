/* random.h: functions of a generator, only for the library. */
#ifndef GRADUS_RANDOM_H
#define GRADUS_RANDOM_H

#include "../gradus.h"

bool gra_seeded(const gra_rng *g);      /* false if g is NULL or was never seeded */
void gra_need_seeded(const gra_rng *g); /* aborts with a sentence if g is not seeded */
bool gra_take_normal(gra_rng *g);       /* true if g->normal is the second value of an earlier pair */

/* The product x, rounded: after a store to memory it cannot be fused with a sum. */
static inline double rounded(double x)
{
    volatile double y = x;
    return y;
}

#endif
