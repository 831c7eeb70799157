/* A row times a matrix, for AVX-512: 64-byte vectors. Compiled with -mavx512f and its companions bw, dq, vl. */
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define VECTOR 64
#define GEMV gra_gemv_avx512
#include "gemv_kernel.h"
#else
typedef int gra_not_this_processor;     /* ISO C wants a declaration */
#endif
