/* values: a tensor's numbers for the page: a grid that fits, a histogram, and what they are like. */
#ifndef EXAMPLES_LOOK_VALUES_H
#define EXAMPLES_LOOK_VALUES_H

#include "out.h"

/* As an object. x: `size` values shaped like that, drawn as rows of the last dimension; of more than `cells`
 * values only some rows and columns are written, evenly spread. */
void values_write(out *o, const gra_real *x, size_t size, gra_shape shape, size_t cells);

/* The share of an activation's units that are saturated: those with a slope below 0.01, through which hardly
 * any gradient flows. Negative: y is no activation. */
double values_saturated(const gra_tensor *y);

#endif
