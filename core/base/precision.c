/* precision: what a library says of itself: its version, and the symbol that every file that includes
 * gradus.h refers to, which only the library of the same precision has. */
#include "base.h"
#include <stdlib.h>

const size_t GRA_NEEDS_LIBRARY = sizeof(gra_real);

int gra_version(void)
{
    return GRADUS_VERSION;
}

/* A program linked with both shared libraries finds both symbols, and would call functions of the one with
 * numbers of the other. In such a program the other's symbol, which is weak here, has an address. */
#ifdef GRADUS_DOUBLE
#define OTHER gra_compiled_without_GRADUS_DOUBLE_needs_libgradus
#else
#define OTHER gra_compiled_with_GRADUS_DOUBLE_needs_libgradus64
#endif
void gra_refuse_both_precisions(void)
{
#if defined(__ELF__) && defined(__GNUC__)
    extern const size_t OTHER __attribute__((weak, visibility("default")));
    if (!&OTHER)
        return;
    fputs("gra_open: this program is linked with libgradus and libgradus64: give the linker only the one that "
          "it was compiled for\n", stderr);
    abort();
#endif
}
