/* cos: y = cos(x), dx -= dy sin(x). x is in radians. libm computes y, accurately for large x too; the last
 * bit differs between versions of libm. */
#include "elementwise.h"
#include <tgmath.h>

ELEMENTWISE(gra_cos, "cos",
            y = cos(x), 32,
            dx -= dy * sin(x), 32)
