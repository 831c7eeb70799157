/* gemm.h: the blocking of matrix products, and the micro-kernels to choose from. */
#ifndef GRADUS_GEMM_H
#define GRADUS_GEMM_H

#include "../op.h"

/* A micro-kernel adds k products to one tile of c, rows x cols values: element (i, p) of a is
 * a[i*row + p*col], b is packed, k rows of cols values. Its pack makes such panels of b. */
typedef struct gra_tile {
    int  rows, cols;
    void (*run)(int k, const real *a, ptrdiff_t row, ptrdiff_t col, const real *b, real *c, ptrdiff_t ldc,
                bool accumulate);
    void (*pack)(int k, int n, gra_mat b, real *panel); /* b's n columns, n <= cols; zeros behind them */
} gra_tile;

extern const gra_tile gra_tile_base, gra_tile_avx2, gra_tile_avx512;

#define GRA_TILE_ROWS 12                /* of the largest tile */
#define GRA_TILE_COLS 32

#endif
