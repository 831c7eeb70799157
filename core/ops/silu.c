/* silu: y = x s with s = 1 / (1 + e^-x), dx += dy s (1 + x (1 - s)). */
#include "elementwise.h"

static inline real back(real x, real dy)
{
    const real s = real_sigmoid(x);
    return dy * s * (1 + x * (1 - s));
}

ELEMENTWISE(gra_silu, "silu",
            y = x * real_sigmoid(x), 12,
            dx += back(x, dy), 16)
