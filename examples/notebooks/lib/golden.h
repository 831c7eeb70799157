/* golden.h: reads golden numbers: tensors that a notebook printed (examples/notebooks/golden) or that PyTorch
 * computed (tests/golden).
 *
 * A file is a list of words; `#` starts a comment up to the end of the line.
 *
 *     system <name>
 *     config <key> <int>
 *     tensor <role> <name> <tol> <rank> <dims...> <numbers>     row-major
 *     source, seed, draw                  how the numbers were made: for people, the line is skipped
 *     end
 *
 * Roles: input, param, expect (printed), ref (computed). tol: the absolute error allowed; 0: x must
 * be the number rounded to a gra_real; nan in expect: any value is accepted.
 */
#ifndef EXAMPLES_GOLDEN_H
#define EXAMPLES_GOLDEN_H

#include "../../../core/gradus.h"

enum { GOLDEN_WORD = 64, GOLDEN_MAX = 64, GOLDEN_ERROR = 400 };

typedef struct golden_tensor {
    char    role[GOLDEN_WORD], name[GOLDEN_WORD];
    double  tol;
    gra_shape shape;
    size_t  size;
    double *values;
} golden_tensor;

typedef struct golden_config {
    char key[GOLDEN_WORD];
    int  value;
} golden_config;

typedef struct golden {
    char          path[256], system[GOLDEN_WORD];
    golden_config config[GOLDEN_MAX];
    golden_tensor tensor[GOLDEN_MAX];
    int           configs, tensors;
} golden;

golden              *golden_read(const char *path, char error[GOLDEN_ERROR]);   /* or NULL and a sentence */
void                 golden_close(golden *g);                                   /* NULL is allowed */
const golden_tensor *golden_find(const golden *g, const char *role, const char *name);  /* or NULL */

/* Is x within the tolerance of the i-th value, or is that value nan? */
bool golden_agrees(const golden_tensor *expected, size_t i, double x);

#endif
