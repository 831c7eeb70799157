/* A row times a matrix, for AVX2 and FMA: 32-byte vectors. */
#include "gemv.h"
#include "simd.h"

#if SIMD_X86
#define VECTOR 32
#define GEMV gra_gemv_avx2
#define TINY gra_tiny_avx2
AVX2_BEGIN
#include "gemv_kernel.h"
SIMD_END
#endif
