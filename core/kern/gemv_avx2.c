/* A row times a matrix, for AVX2 and FMA: 32-byte vectors. Compiled with -mavx2 -mfma. */
#if defined(__AVX2__) && defined(__FMA__)
#define VECTOR 32
#define GEMV gra_gemv_avx2
#include "gemv_kernel.h"
#else
typedef int gra_not_this_processor;     /* ISO C wants a declaration */
#endif
