/* The micro-kernel for any processor: 16-byte vectors (SSE2, NEON). */
#define VECTOR 16
#if defined(__aarch64__)
#define ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#else
#define ROWS(X) X(0) X(1) X(2) X(3) X(4) X(5)
#endif
#define TILE gra_tile_base
#include "gemm_tile.h"
