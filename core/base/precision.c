/* precision: the library's version, and a symbol that only the library of one precision has. Every file that
 * includes gradus.h refers to the symbol of its precision. */
#include "base.h"

const size_t GRA_NEEDS_LIBRARY = sizeof(gra_real);

int gra_version(void) { return GRADUS_VERSION; }

/* A program linked with both shared libraries finds both symbols, and would pass floats to functions that
 * expect doubles, or the reverse. In such a program the other library's symbol, which is weak here, has an
 * address. */
#ifdef GRADUS_DOUBLE
#define OTHER gra_compiled_without_GRADUS_DOUBLE_needs_libgradus
#else
#define OTHER gra_compiled_with_GRADUS_DOUBLE_needs_libgradus64
#endif
void gra_refuse_both_precisions(void)
{
#if defined(__ELF__) && defined(__GNUC__)
    extern const size_t OTHER __attribute__((weak, visibility("default")));
    if (&OTHER)
        gra_abort("gra_open: got a program linked with both libgradus and libgradus64, expected one of them: "
                  "link only the one that it was compiled for");
#endif
}
