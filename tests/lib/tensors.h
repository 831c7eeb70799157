/* tensors.h: inputs of a step, written as literals. */
#ifndef TESTS_TENSORS_H
#define TESTS_TENSORS_H

#include "fixture.h"
#include "suites.h"

#define MATRIX(m, n, ...) gra_input(t, (const real[]){ __VA_ARGS__ }, GRA_SHAPE(m, n))
#define VECTOR(...)                                                                                      \
    gra_input(t, (const real[]){ __VA_ARGS__ }, GRA_SHAPE(LENGTH(((const real[]){ __VA_ARGS__ }))))

#define HOW(...) &(gra_attention_options){ __VA_ARGS__ }        /* of gra_attention */

#endif
