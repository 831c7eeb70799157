/* random.h: functions of a generator, only for the library. */
#ifndef GRADUS_RANDOM_H
#define GRADUS_RANDOM_H

#include "../gradus.h"

bool gra_seeded(const gra_rng *g);      /* false if g is NULL or was never seeded */

/* The product x, rounded: after a store to memory it cannot be fused with a sum. */
static inline double rounded(double x)
{
    volatile double y = x;
    return y;
}

#endif
