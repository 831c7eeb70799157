/* The micro-kernel for AVX-512: 64-byte vectors, 32 registers. */
#include "gemm.h"
#include "simd.h"

#if SIMD_X86
#define VECTOR 64
#define ROWS 12
#define BY_LANE 0
#define TILE gra_tile_avx512
AVX512_BEGIN
#include "gemm_tile.h"
SIMD_END
#endif
