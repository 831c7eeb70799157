/* precision: the symbol that every file that includes gradus.h refers to, and only the library of the same
 * precision has. */
#include "gradus.h"

const size_t GRA_NEEDS_LIBRARY = sizeof(gra_real);
