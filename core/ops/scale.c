/* scale: y = s x, dx += s dy; s is a number without a gradient. */
#include "elementwise.h"

ELEMENTWISE_BY(gra_scale, "scale", "by %g",
               y = s * x, 1,
               dx += s * dy, 2)
