/* The micro-kernel for products of bfloat16 numbers on any processor, slowly: for tests. */
#include "gemm.h"

#ifndef GRADUS_DOUBLE
#define VECTOR 16
#define ROWS 6
#define BY_LANE 0
#define PER_STEP 2
#define EMULATED 1
#define TILE gra_tile_bf16_emulated
#include "gemm_tile.h"
#endif
