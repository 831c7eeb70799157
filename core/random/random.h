/* random.h: functions of a generator for the library only. */
#ifndef GRADUS_RANDOM_H
#define GRADUS_RANDOM_H

#include "../gradus.h"

bool gra_seeded(const gra_rng *g);      /* false: g is NULL, or was never seeded */

/* The product x, rounded: a value that has been in memory cannot be fused with a sum. */
static inline double rounded(double x)
{
    volatile double y = x;
    return y;
}

#endif
