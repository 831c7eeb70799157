/* alone.h: a model for tests that need no tape. */
#ifndef TESTS_ALONE_H
#define TESTS_ALONE_H

#include "core/gradus.h"

/* Opens a model on a one-thread tape, which is closed at once: the model keeps the machine. NULL: no
 * memory. */
gra_model *model_alone(gra_rng *rng);

#endif
