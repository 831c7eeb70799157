/* gemm.h: the blocking of matrix products, and the micro-kernels to choose from. */
#ifndef GRADUS_GEMM_H
#define GRADUS_GEMM_H

#include "../op.h"

/* A micro-kernel computes one tile of c: rows x cols values, from k columns of a, packed rows at a
 * time, and k rows of b, packed cols at a time. */
typedef struct gra_tile {
    int  rows, cols;
    void (*run)(int k, const real *a, const real *b, real *c, ptrdiff_t ldc, bool accumulate);
} gra_tile;

extern const gra_tile gra_tile_base, gra_tile_avx2, gra_tile_avx512;

#define GRA_TILE_MAX (12 * 32)          /* values of the largest tile */

#endif
