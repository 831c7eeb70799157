/* sqrt: y = x^(1/2), dx += dy / (2 y), which is infinite at 0. */
#include "elementwise.h"

ELEMENTWISE(gra_sqrt, "sqrt",
            y = real_sqrt(x), 4,
            dx += dy / (2 * y), 4)
