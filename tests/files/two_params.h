/* two_params.h: a model of two small parameters to save and load, and files as other programs write them. */
#ifndef TESTS_TWO_PARAMS_H
#define TESTS_TWO_PARAMS_H

#include "core/op.h"

gra_model  *model_open(void);           /* an empty one that keeps going */
gra_tensor *parameter(gra_model *m, const char *name, gra_shape shape);      /* of zeros */
gra_model  *two_params(void);        /* "b" (2, 2), then "a" (2), which a file has first; all values are -1 */
bool        untouched(const gra_model *m);              /* all values are still -1 */
void        fill(gra_tensor *p, const real *values);    /* p->size of them */

/* The bytes of a safetensors file: the header, in which a ' stands for a " and a $ for a byte 0, then n
 * bytes; returns how many. */
size_t compose(unsigned char *file, const char *header, const void *data, size_t n);

#endif
