/* gemv.h: products with few rows of a (matrix times vector), and their kernels. */
#ifndef GRADUS_GEMV_H
#define GRADUS_GEMV_H

#include "../kernel.h"

/* Here and in gemm.c, sums over k are cut into pieces of this many products, so both files give the same
 * bits, unless gemm.c rounds to bfloat16, which it does only in larger products. */
#define GRA_DEPTH 384

/* A kernel, one for each instruction set: c_j = sum_p a_p b_pj + add_j, where a_p is a[p*col]; add may be
 * NULL. */
typedef void gra_gemv_kernel(const real *a, ptrdiff_t col, gra_mat b, real *c, const real *add);
gra_gemv_kernel gra_gemv_base, gra_gemv_avx2, gra_gemv_avx512;

/* c = a b + add, where the rows of c are contiguous and add_ij is add[i*ld_add + j] or add is NULL. For a
 * matrix a of at most GRA_FEW_ROWS rows, this is faster than gemm.c's micro-kernels. It runs on all threads,
 * or on the calling thread. */
#define GRA_FEW_ROWS 2
void gra_gemv(gra_machine *machine, bool all_threads, gra_mat a, gra_mat b, gra_mat c, const real *add,
              ptrdiff_t ld_add);

/* The same on the calling thread, for a matrix b of one or two columns, as in attention with one query: k is
 * at most GRA_DEPTH, and there are at most GRA_TINY multiply-adds. Packing would not pay. */
#define GRA_TINY 1024
void gra_tiny(gra_machine *machine, gra_mat a, gra_mat b, gra_mat c, const real *add, ptrdiff_t ld_add);
typedef void gra_tiny_kernel(gra_mat a, gra_mat b, gra_mat c, const real *add, ptrdiff_t ld_add);
gra_tiny_kernel gra_tiny_base, gra_tiny_avx2, gra_tiny_avx512;

#endif
