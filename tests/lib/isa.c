/* isa: see isa.h. */
#include "isa.h"

#include <stdlib.h>
#include <string.h>

const char *const isa[ISAS] = { "base", "avx2", "avx512" };

gra_tape *open_with(const char *set, int threads)
{
    setenv("GRADUS_ISA", set, 1);
    gra_tape *t = gra_open(threads);
    unsetenv("GRADUS_ISA");
    if (strcmp(gra_isa_name(t), set) == 0)
        return t;
    gra_close(t);
    return NULL;
}
