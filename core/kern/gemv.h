/* gemv.h: products of a few rows, and the kernels to choose from. */
#ifndef GRADUS_GEMV_H
#define GRADUS_GEMV_H

#include "../op.h"

/* Sums run in pieces of so many products, here and in gemm.c: so their bits are the same. */
#define GRA_DEPTH 256

/* c_j = sum_p a[p*col] b_pj for n columns of b, added to add_j where add is not NULL: the kernel of an
 * instruction set. */
typedef void gra_gemv_kernel(int k, int n, const real *a, ptrdiff_t col, gra_mat b, real *c, const real *add);
gra_gemv_kernel gra_gemv_base, gra_gemv_avx2, gra_gemv_avx512;

/* c = a b, added to `add`, rows `apart`, where that is not NULL; with the bits of gra_gemm, and faster for
 * this many rows of a. On all threads, or on this one. */
#define GRA_FEW_ROWS 2
void gra_gemv(gra_machine *machine, bool all_threads, int m, int n, int k, gra_mat a, gra_mat b, real *c,
              ptrdiff_t ldc, const real *add, ptrdiff_t apart);

#endif
