/* sin: y = sin(x), dx += dy cos(x). x is in radians. libm computes y, accurately for large x too; the last
 * bit differs between versions of libm. */
#include "elementwise.h"
#include <tgmath.h>

ELEMENTWISE(gra_sin, "sin",
            y = sin(x), 32,
            dx += dy * cos(x), 32)
