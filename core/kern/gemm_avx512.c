/* The micro-kernel for AVX-512: 64-byte vectors, 32 registers. Compiled with -mavx512f -mavx512bw
 * -mavx512dq -mavx512vl. */
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define VECTOR 64
#define ROWS 12
#define TILE gra_tile_avx512
#include "gemm_tile.h"
#else
typedef int gra_not_this_processor;     /* ISO C wants a declaration */
#endif
