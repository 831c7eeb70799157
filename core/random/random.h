/* random.h: what the library knows of a generator beyond gradus.h. */
#ifndef GRADUS_RANDOM_H
#define GRADUS_RANDOM_H

#include "../gradus.h"

bool gra_seeded(const gra_rng *g);      /* false: g is NULL, or was never seeded */

#endif
