/* values: a tensor's numbers for the page: a grid, a histogram and statistics. */
#ifndef EXAMPLES_LOOK_VALUES_H
#define EXAMPLES_LOOK_VALUES_H

#include "../lib/json_out.h"

/* Writes an object, a member unless key is NULL, of values of a tensor's shape. The grid has a row for each
 * row of the last dimension; of more than `cells` values only some rows and columns are written, evenly
 * spaced. */
void values_write(out *o, const char *key, const gra_real *x, const gra_tensor *like, size_t cells);

#endif
