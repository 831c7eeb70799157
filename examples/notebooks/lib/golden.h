/* golden.h: reads the files of tests/golden: numbers that PyTorch, NumPy or a notebook printed.
 *
 * Such a file is a list of words; `#` starts a comment up to the end of the line.
 *
 *     source <where from, to the end of the line>
 *     system <name>
 *     config <key> <int>
 *     seed torch|numpy <n>
 *     draw <kind> <name> <rank> <dims...> <x>                   in the order of drawing
 *     tensor <role> <name> <tol> <rank> <dims...> <numbers>     row-major
 *     end
 *
 * Roles: input, param, expect (printed), ref (computed). tol: the absolute error allowed, 0 for the
 * number itself, as near as a gra_real is; nan in expect: not known.
 */
#ifndef EXAMPLES_GOLDEN_H
#define EXAMPLES_GOLDEN_H

#include "../../../core/gradus.h"

enum { GOLDEN_WORD = 64, GOLDEN_MAX = 64, GOLDEN_ERROR = 400 };

typedef struct golden_tensor {
    char    role[GOLDEN_WORD], name[GOLDEN_WORD];
    double  tol;
    gra_shape     shape;
    size_t  size;
    double *values;
} golden_tensor;

typedef struct golden_draw {
    char   kind[GOLDEN_WORD], name[GOLDEN_WORD];
    gra_shape    shape;
    double x;
} golden_draw;

typedef struct golden_config {
    char key[GOLDEN_WORD];
    int  value;
} golden_config;

typedef struct golden {
    char          path[256], system[GOLDEN_WORD], generator[GOLDEN_WORD];   /* torch, numpy or "" */
    uint64_t      seed;                                                     /* the last one */
    golden_config config[GOLDEN_MAX];
    golden_draw   draw[GOLDEN_MAX];
    golden_tensor tensor[GOLDEN_MAX];
    int           configs, draws, tensors;
} golden;

golden              *golden_read(const char *path, char error[GOLDEN_ERROR]);   /* or NULL and a sentence */
void                 golden_close(golden *g);                                   /* NULL is allowed */
const golden_tensor *golden_find(const golden *g, const char *role, const char *name);  /* or NULL */

/* x is within the tolerance of the i-th value, or that is nan. */
bool golden_agrees(const golden_tensor *want, size_t i, double x);

#endif
