/* alone.h: a model for tests that need no tape. */
#ifndef TESTS_ALONE_H
#define TESTS_ALONE_H

#include "core/gradus.h"

/* Opens it on a one-thread tape that is closed at once: the model keeps its machine. NULL: out of memory. */
gra_model *model_alone(gra_rng *rng);

#endif
