/* gemm.h: the blocking of matrix products, and the micro-kernels to choose from. */
#ifndef GRADUS_GEMM_H
#define GRADUS_GEMM_H

#include "../op.h"

/* A micro-kernel puts k products into one tile of c: element (i, p) of a is a[i*row + p*col],
 * element (p, j) of b is b[p*next + j]. It adds them to add[i*apart + j], if there is such: c or a bias. */
typedef void gra_tile_run(int k, const real *a, ptrdiff_t row, ptrdiff_t col, const real *b, ptrdiff_t next,
                          real *c, ptrdiff_t ldc, const real *add, ptrdiff_t apart);

#define GRA_TILE_ROWS 12                /* of the largest tile */
#define GRA_TILE_COLS 32

typedef struct gra_tile {
    int           rows, cols;           /* of the whole tile */
    gra_tile_run *wide[GRA_TILE_ROWS];  /* those with 1, 2, ... rows and all columns, */
    gra_tile_run *half[GRA_TILE_ROWS];  /* with the left half of them, */
    gra_tile_run *quarter[GRA_TILE_ROWS];       /* and with half of those */
    void (*pack_a)(int n, int k, gra_mat a, real *panels);  /* n rows into panels of `rows`, column by column, */
    void (*pack_b)(int n, int k, gra_mat b, real *panels);  /* n columns into panels of `cols`, row by row;
                                                               where the last is not full, zeros */
} gra_tile;

extern const gra_tile gra_tile_base, gra_tile_avx2, gra_tile_avx512;

#endif
