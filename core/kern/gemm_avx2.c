/* The micro-kernel for AVX2 and FMA: 32-byte vectors, 16 registers. Compiled with -mavx2 -mfma. */
#if defined(__AVX2__) && defined(__FMA__)
#define VECTOR 32
#define ROWS 6
#define TILE gra_tile_avx2
#include "gemm_tile.h"
#else
typedef int gra_not_this_processor;     /* ISO C wants a declaration */
#endif
