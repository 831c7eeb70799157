/* gemm.h: the blocking of matrix products, and the micro-kernels to choose from. */
#ifndef GRADUS_GEMM_H
#define GRADUS_GEMM_H

#include "../kernel.h"

/* A micro-kernel computes one tile of c, c_ij = sum_{p<steps} a_ip b_pj + add_ij, where a_ip is
 * a[i*row_a + p*col_a], b_pj is b[p*row_b + j] and add_ij is add[i*ld_add + j]: add may be c itself
 * (accumulate), a bias (ld_add is 0), or NULL. A step is one value of k; or two, which share a real of the
 * packed a and b. */
typedef void gra_tile_run(int steps, const real *a, ptrdiff_t row_a, ptrdiff_t col_a,
                          const real *b, ptrdiff_t row_b,
                          real *c, ptrdiff_t ldc, const real *add, ptrdiff_t ld_add);

#define GRA_TILE_ROWS 12                /* rows and columns of the largest tile of all instruction sets */
#define GRA_TILE_COLS 32

typedef struct gra_tile {
    int           rows, cols;           /* of a full tile */
    int           per_step;             /* values of k in a step: 1, or 2 that are rounded to bfloat16 */
    bool          only_panels;          /* a must come from pack_a: the micro-kernels read only its panels */
    gra_tile_run *full[GRA_TILE_ROWS];  /* [i - 1]: the micro-kernel for i rows and cols columns */
    gra_tile_run *half[GRA_TILE_ROWS];  /* the same for cols / 2 columns */
    gra_tile_run *quarter[GRA_TILE_ROWS];       /* the same for cols / 4 columns */

    /* pack_a copies a into panels of `rows` rows, each stored column by column. The last panel is not padded:
     * there is a micro-kernel for each number of rows. pack_b copies b into panels of `cols` columns, each
     * stored row by row, and pads the last panel with zeros. pack_row copies k contiguous values of a row
     * of a. */
    void (*pack_a)(gra_mat a, real *panels);
    void (*pack_b)(gra_mat b, real *panels);
    void (*pack_row)(int k, const real *a, real *to);
} gra_tile;

extern const gra_tile gra_tile_base, gra_tile_avx2, gra_tile_avx512, gra_tile_bf16, gra_tile_bf16_emulated;

/* Matrix products like gra_gemm. gra_gemm_bias: c = a b + bias, where bias (a value for each column, or NULL)
 * is added to each row of c, and the rows of c are contiguous. gra_gemm_alone: on a single thread, for code
 * that already runs in gra_parallel. */
void gra_gemm_bias(gra_machine *machine, gra_mat a, gra_mat b, const real *bias, gra_mat c);
void gra_gemm_alone(gra_machine *machine, int worker, gra_mat a, gra_mat b, gra_mat c, bool accumulate);

#endif
