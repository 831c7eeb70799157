/* add_scalar: y = x + s, dx += dy; s is a number without a gradient. */
#include "elementwise.h"

ELEMENTWISE_BY(gra_add_scalar, "add_scalar", "%g",
               y = x + s, 1,
               dx += dy, 1)
