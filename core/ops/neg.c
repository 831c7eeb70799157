/* neg: y = -x, dx -= dy. */
#include "elementwise.h"

ELEMENTWISE(gra_neg, "neg",
            y = -x, 1,
            dx -= dy, 1)
