/* random.h: what only the library needs of a generator. */
#ifndef GRADUS_RANDOM_H
#define GRADUS_RANDOM_H

#include "../gradus.h"

bool gra_seeded(const gra_rng *g);      /* false: g is NULL, or was never seeded */

#endif
