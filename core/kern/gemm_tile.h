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
#define STEP(i) x##i += a##i * b0; y##i += a##i * b1;
#define ADD(i)                                                                                           \
    {                                                                                                    \
        loose *ci = (loose *)(c + i * ldc);                                                              \
        ci[0] += x##i;                                                                                   \
        ci[1] += y##i;                                                                                   \
    }
#define PUT(i)                                                                                           \
    {                                                                                                    \
        loose *ci = (loose *)(c + i * ldc);                                                              \
        ci[0] = x##i;                                                                                    \
        ci[1] = y##i;                                                                                    \
    }
#define COUNT(i) +1

/* a's rows in threes: four pointers and two distances reach all twelve without a register for each. */
#define READ(i) const real a##i = (i < 3 ? r0 : i < 6 ? r3 : i < 9 ? r6 : r9)[i % 3 * row];

static void run(int k, const real *a, ptrdiff_t row, ptrdiff_t col, const real *b, real *c, ptrdiff_t ldc,
                bool accumulate)
{
    const real *r0 = a, *r3 = a + 3 * row, *r6 = a + 6 * row, *r9 = a + 9 * row;
    ROWS(ZERO)
    for (int p = 0; p < k; p++) {
        const vec b0 = *(const loose *)b, b1 = *(const loose *)(b + LANES);
        ROWS(READ)
        ROWS(STEP)
        r0 += col, r3 += col, r6 += col, r9 += col;
        b += 2 * LANES;
    }
    if (accumulate) {
        ROWS(ADD)
    } else {
        ROWS(PUT)
    }
}

/* A square of values, its sides as long as a 16-byte vector, turned in registers. */
typedef real quad __attribute__((vector_size(16)));
typedef real loose_quad __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
enum { SIDE = sizeof(quad) / sizeof(real) };

static inline void turn(const real *from, ptrdiff_t stride, real *to, ptrdiff_t to_stride)
{
    const quad a = *(const loose_quad *)from, b = *(const loose_quad *)(from + stride);
#ifdef GRADUS_DOUBLE
    *(loose_quad *)to               = __builtin_shufflevector(a, b, 0, 2);
    *(loose_quad *)(to + to_stride) = __builtin_shufflevector(a, b, 1, 3);
#else
    const quad c = *(const loose_quad *)(from + 2 * stride), d = *(const loose_quad *)(from + 3 * stride);
    const quad ab0 = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab2 = __builtin_shufflevector(a, b, 2, 6, 3, 7);
    const quad cd0 = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd2 = __builtin_shufflevector(c, d, 2, 6, 3, 7);
    *(loose_quad *)to                   = __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5);
    *(loose_quad *)(to + to_stride)     = __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7);
    *(loose_quad *)(to + 2 * to_stride) = __builtin_shufflevector(ab2, cd2, 0, 1, 4, 5);
    *(loose_quad *)(to + 3 * to_stride) = __builtin_shufflevector(ab2, cd2, 2, 3, 6, 7);
#endif
}

static void pack(int k, int n, gra_mat b, real *panel)
{
    enum { COLS = 2 * LANES };
    int p = 0;
    if (n == COLS && b.col == 1)                        /* a row of the panel lies as it is wanted, */
        for (; p < k; p++)
            memcpy(panel + p * COLS, b.p + p * b.row, COLS * sizeof(real));
    else if (n == COLS && b.row == 1)                   /* or a column of it does */
        for (; p + SIDE <= k; p += SIDE)
            for (int j = 0; j < COLS; j += SIDE)
                turn(b.p + p + j * b.col, b.col, panel + p * COLS + j, COLS);
    for (; p < k; p++)
        for (int j = 0; j < COLS; j++)
            panel[p * COLS + j] = j < n ? b.p[p * b.row + j * b.col] : 0;
}

const gra_tile TILE = { .rows = 0 ROWS(COUNT), .cols = 2 * LANES, .run = run, .pack = pack };
