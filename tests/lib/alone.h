/* alone.h: a model for tests that compute on no tape. */
#ifndef TESTS_ALONE_H
#define TESTS_ALONE_H

#include "core/gradus.h"

/* Opened on a tape of one thread that is closed again at once: the model keeps its machine. NULL: out of
 * memory. */
gra_model *model_alone(gra_rng *rng);

#endif
