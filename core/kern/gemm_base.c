/* The micro-kernel for any processor: 16-byte vectors (SSE2, NEON). */
#define VECTOR 16
#if defined(__aarch64__)
#define ROWS 12
#else
#define ROWS 6
#endif
#define TILE gra_tile_base
#include "gemm_tile.h"
