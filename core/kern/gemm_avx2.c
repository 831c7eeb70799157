/* The micro-kernel for AVX2 and FMA: 32-byte vectors, 16 registers. */
#include "gemm.h"
#include "simd.h"

#if SIMD_X86
#define VECTOR 32
#define ROWS 6
#define BY_LANE 0
#define TILE gra_tile_avx2
AVX2_BEGIN
#include "gemm_tile.h"
SIMD_END
#endif
