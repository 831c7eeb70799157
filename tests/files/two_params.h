/* two_params.h: a model of two small parameters to save and load, and files like those of other programs. */
#ifndef TESTS_TWO_PARAMS_H
#define TESTS_TWO_PARAMS_H

#include "core/op.h"

gra_model  *model_open(void);           /* an empty one that keeps going */
gra_tensor *parameter(gra_model *m, const char *name, gra_shape shape);      /* of zeros */
gra_model  *two_params(void);        /* "b" (2, 2), then "a" (2), first in a file; all values are -1 */
bool        untouched(const gra_model *m);              /* all values are still -1 */
void        fill(gra_tensor *p, const real *values);    /* p->size values */

/* The bytes of a safetensors file: the header, in which ' is a " and $ a byte 0, then n bytes; returns the
 * length. */
size_t compose(unsigned char *file, const char *header, const void *data, size_t n);

#endif
