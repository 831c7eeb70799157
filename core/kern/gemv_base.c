/* A row times a matrix, for any processor: 16-byte vectors (SSE2, NEON). */
#define VECTOR 16
#define GEMV gra_gemv_base
#define TINY gra_tiny_base
#include "gemv_kernel.h"
