/* The micro-kernel for products of bfloat16 numbers, by the instruction of AVX-512 that multiplies pairs of
 * such numbers and adds the products. */
#include "gemm.h"
#include "simd.h"

#if SIMD_BF16
#define VECTOR 64
#define ROWS 12
#define BY_LANE 0
#define PER_STEP 2
#define EMULATED 0
#define TILE gra_tile_bf16
BF16_BEGIN
#include "gemm_tile.h"
SIMD_END
#endif
