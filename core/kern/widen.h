/* widen.h: matrices held as bfloat16, the upper half of a float, which are widened while they are read.
 *
 * A matrix w (rows, cols) is held in panels of 32 rows, one after the other. A panel has a line of 16 words
 * for each column: word l has row l in its lower half and row 16 + l in its upper. So y = x w^T reads one
 * line after the other, and a shift and a mask make two floats of a word: no instruction is needed that a
 * processor may lack. Rows that the last panel lacks are 0. */
#ifndef GRADUS_WIDEN_H
#define GRADUS_WIDEN_H

#include "../kernel.h"

size_t gra_panels_words(gra_shape w);                   /* w is (rows, cols) */
void   gra_panels_fill(uint32_t *panels, gra_shape w, const real *values);      /* nearest, ties to even */
void   gra_panels_row(const uint32_t *panels, gra_shape w, int row, real *to);

/* y = x w^T + bias, which may be NULL. Each sum is that of gra_gemm for the widened values, in the same
 * order: the same bits for any number of threads, and of rows of x. */
void   gra_panels_linear(gra_machine *machine, gra_mat x, const uint32_t *panels, const real *bias,
                         gra_mat y);

#endif
