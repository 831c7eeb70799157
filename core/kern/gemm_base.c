/* The micro-kernel for any processor: 16-byte vectors (SSE2, NEON). */
#define VECTOR 16
#if defined(__aarch64__)
#define ROWS 12                 /* 32 registers */
#define BY_LANE 1
#else
#define ROWS 6
#define BY_LANE 0
#endif
#define TILE gra_tile_base
#include "gemm_tile.h"
