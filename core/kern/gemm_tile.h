/* gemm_tile.h: the micro-kernel, written once in vector extensions and compiled by one small stub for
 * each instruction set. The stub defines VECTOR (bytes of a vector), ROWS (an X-macro over the rows of
 * the tile) and TILE (the name of its table).
 *
 *     c[i][j] = sum_p a[p][i] b[p][j]      i < rows, j < 2 vectors
 *
 * Each row of c stays in two vector registers during the whole sum; named variables, because an array
 * of them may be kept in memory. */
#include "gemm.h"

typedef real vec __attribute__((vector_size(VECTOR)));
typedef real loose __attribute__((vector_size(VECTOR), aligned(sizeof(real)), may_alias));

#define LANES (int)(sizeof(vec) / sizeof(real))

#define ZERO(i) vec x##i = { 0 }, y##i = { 0 };
#define STEP(i) x##i += a[i] * b0; y##i += a[i] * b1;
#define ADD(i)                                                                                           \
    {                                                                                                    \
        loose *row = (loose *)(c + i * ldc);                                                             \
        row[0] += x##i;                                                                                  \
        row[1] += y##i;                                                                                  \
    }
#define PUT(i)                                                                                           \
    {                                                                                                    \
        loose *row = (loose *)(c + i * ldc);                                                             \
        row[0] = x##i;                                                                                   \
        row[1] = y##i;                                                                                   \
    }
#define COUNT(i) +1

static void run(int k, const real *a, const real *b, real *c, ptrdiff_t ldc, bool accumulate)
{
    ROWS(ZERO)
    for (int p = 0; p < k; p++) {
        vec b0 = *(const loose *)b, b1 = *(const loose *)(b + LANES);
        ROWS(STEP)
        a += 0 ROWS(COUNT);
        b += 2 * LANES;
    }
    if (accumulate) {
        ROWS(ADD)
    } else {
        ROWS(PUT)
    }
}

const gra_tile TILE = { .rows = 0 ROWS(COUNT), .cols = 2 * LANES, .run = run };
