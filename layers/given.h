/* given.h: for the library's layers: checks the arguments of an init or a forward, and frees results that a
 * forward need not keep. */
#ifndef GRADUS_GIVEN_H
#define GRADUS_GIVEN_H

#include "layers.h"
#include "../core/op.h"

/* For an init. Returns false, with an error of the model, if l is NULL. Aborts without a model. */
static inline bool gra_given_to_init(gra_scope scope, const char *layer, const void *l)
{
    if (!scope.model)
        gra_model_fail(NULL, "%s: got a scope without a model, expected one of gra_root(model), or of "
                       "gra_enter: begin with gra_root", layer);
    if (!l)
        gra_model_fail(scope.model, "%s: got NULL for the layer, expected the address of its struct", layer);
    return l != NULL;
}

/* For a size. Returns false, with an error of the model, if the size is less than 1. */
static inline bool gra_given_size(gra_model *m, const char *layer, const char *name, int size)
{
    if (size < 1)
        gra_model_fail(m, "%s: got %s %d, expected 1 or more", layer, name, size);
    return size >= 1;
}

/* For a forward. Returns false if the tape has an error, for example because l is NULL. */
static inline bool gra_given_to_forward(gra_tape *t, const char *layer, const void *l)
{
    if (gra_bad_inputs(t, layer, 0, NULL))
        return false;
    if (!l)
        gra_fail(t, "%s: got NULL for the layer, expected one that its init has made", layer);
    return l != NULL;
}

/* Forgets a result, unless it is small. Computing small results again would take a twentieth of a small
 * model's step and save little memory. */
static inline void gra_forget_if_large(gra_tensor *y)
{
    const size_t large = 400000;        /* values */
    if (y->size >= large)
        gra_forget(y);
}

#endif
