/* precision: what a library says of itself: the symbol that every file that includes gradus.h refers to, and only
 * the library of the same precision has; and its version. */
#include "gradus.h"

const size_t GRA_NEEDS_LIBRARY = sizeof(gra_real);

int gra_version(void)
{
    return GRADUS_VERSION;
}
