/* widen.h: matrices held as bfloat16, the upper half of a float, which are widened while they are read.
 *
 * A matrix w (rows, cols) is held in consecutive panels of 32 rows. A panel has a line of 16 words for each
 * column: word l has row l in its lower half and row 16 + l in its upper half. So y = x w^T reads line after
 * line, and a shift and a mask turn a word into two floats, which any processor can do. Missing rows of the
 * last panel are 0. */
#ifndef GRADUS_WIDEN_H
#define GRADUS_WIDEN_H

#include "../kernel.h"

size_t gra_panels_words(gra_shape w);                   /* w is (rows, cols) */
void   gra_panels_fill(uint32_t *panels, gra_shape w, const real *values);      /* nearest, ties to even */
void   gra_panels_row(const uint32_t *panels, gra_shape w, int row, real *to);

/* y = x w^T + bias, which may be NULL. Each sum is that of gra_gemm for the widened values, in the same
 * order. The bits do not depend on the number of threads or of rows of x. */
void   gra_panels_linear(gra_machine *machine, gra_mat x, const uint32_t *panels, const real *bias,
                         gra_mat y);

#endif
