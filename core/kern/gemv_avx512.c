/* A row times a matrix, for AVX-512: 64-byte vectors. */
#include "gemv.h"
#include "simd.h"

#if SIMD_X86
#define VECTOR 64
#define GEMV gra_gemv_avx512
#define TINY gra_tiny_avx512
AVX512_BEGIN
#include "gemv_kernel.h"
SIMD_END
#endif
