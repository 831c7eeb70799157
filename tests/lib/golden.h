/* golden.h: golden numbers for tests: reads a file with the notebooks' reader (tests may use code of
 * examples, but never the reverse), and fails the test if the reader refuses the file. */
#ifndef GRADUS_GOLDEN_H
#define GRADUS_GOLDEN_H

#include "examples/notebooks/lib/golden.h"

golden              *golden_open(const char *path);
const golden_tensor *golden_get(const golden *g, const char *role, const char *name); /* or the test fails */
int golden_number(const golden *g, const char *key); /* of the config, or the test fails */

/* x must have the expected values, within their tolerance. */
void golden_compare(const golden *g, const golden_tensor *expected, const gra_real *x, gra_shape shape);

#endif
