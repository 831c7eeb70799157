/* isa.h: tapes that use a given instruction set. A test that loops over isa[] runs once for each set that
 * this processor has. */
#ifndef TESTS_ISA_H
#define TESTS_ISA_H

#include "core/gradus.h"

enum { ISAS = 3 };
extern const char *const isa[ISAS];

gra_tape *open_with(const char *set, int threads);      /* NULL: this processor does not have it */

#endif
