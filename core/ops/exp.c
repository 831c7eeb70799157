/* exp: y = e^x, dx += dy y. */
#include "elementwise.h"

ELEMENTWISE(gra_exp, "exp",
            y = real_exp(x), 8,
            dx += dy * y, 2)
