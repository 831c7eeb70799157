/* gemm_tile.h: the micro-kernels, written once in vector extensions and compiled by one small stub for
 * each instruction set. The stub defines VECTOR (bytes of a vector), ROWS (of the largest tile: 6 or 12),
 * BY_LANE (1 where a vector times one lane of another is one instruction, otherwise 0) and TILE (the name of
 * its table); for products of bfloat16 numbers also PER_STEP (2: the values of k in a step) and EMULATED.
 *
 *     c[i][j] = sum_p a[i][p] b[p][j] (+ add[i][j])      i < rows, j < COLS, COLS / 2 or COLS / 4
 *
 * Each row of c stays in vector registers during the whole sum. The rows are variables with names, since a
 * compiler may keep an array in memory instead of in registers. */
#include "gemm.h"
#include "simd.h"

typedef real vec __attribute__((vector_size(VECTOR)));
typedef real loose __attribute__((vector_size(VECTOR), aligned(sizeof(real)), may_alias));
typedef real half_vec __attribute__((vector_size(VECTOR / 2)));
typedef real half_loose __attribute__((vector_size(VECTOR / 2), aligned(sizeof(real)), may_alias));

#define LANES (int)(sizeof(vec) / sizeof(real))
#define COLS  (2 * LANES)

#ifndef PER_STEP
#define PER_STEP 1
#endif
#include "gemm_pack.h"          /* defines PLUS(sum, x, y) too: one step of a sum */

/* ---- the sums ---- */

#define DO_1(X)  X(0)
#define DO_2(X)  DO_1(X) X(1)
#define DO_3(X)  DO_2(X) X(2)
#define DO_4(X)  DO_3(X) X(3)
#define DO_5(X)  DO_4(X) X(4)
#define DO_6(X)  DO_5(X) X(5)
#define DO_7(X)  DO_6(X) X(6)
#define DO_8(X)  DO_7(X) X(7)
#define DO_9(X)  DO_8(X) X(8)
#define DO_10(X) DO_9(X) X(9)
#define DO_11(X) DO_10(X) X(10)
#define DO_12(X) DO_11(X) X(11)

#define FETCH(i) __builtin_prefetch(c + i * ldc, 1), __builtin_prefetch(c + i * ldc + COLS - 1, 1);
#define ZERO(i) V x##i = { 0 }, y##i = { 0 };
#if BY_LANE
/* AArch64. The values of a step are contiguous in a's panel: one load serves LANES rows. The empty asm
 * statement keeps gcc from loading each value separately. */
#define START   vec some = { 0 }; (void)row_a;
#define READ(i)                                                                                          \
    if (i % LANES == 0) {                                                                                \
        some = ((const loose *)a)[i / LANES];                                                            \
        __asm__("" : "+w"(some));                                                                        \
    }                                                                                                    \
    const real a##i = some[i % LANES];
#define NEXT    a += col_a;
#else
/* Row i of a is 0, 1 or 2 strides after r0, r3, r6 or r9: four pointers and the stride reach twelve rows,
 * which would not fit into the processor's registers as twelve pointers. */
#define START   const real *r0 = a, *r3 = a + 3 * row_a, *r6 = a + 6 * row_a, *r9 = a + 9 * row_a;
#define READ(i) const real a##i = (i < 3 ? r0 : i < 6 ? r3 : i < 9 ? r6 : r9)[i % 3 * row_a];
#define NEXT    r0 += col_a, r3 += col_a, r6 += col_a, r9 += col_a;
#endif
#define STEP(i) x##i = PLUS(x##i, a##i, b0); if (two) y##i = PLUS(y##i, a##i, b1);
#define ADD(i)                                                                                           \
    {                                                                                                    \
        const L *ai = (const L *)(add + i * ld_add);                                                     \
        x##i += ai[0];                                                                                   \
        if (two)                                                                                         \
            y##i += ai[1];                                                                               \
    }
#define PUT(i)                                                                                           \
    {                                                                                                    \
        L *ci = (L *)(c + i * ldc);                                                                      \
        ci[0] = x##i;                                                                                    \
        if (two)                                                                                         \
            ci[1] = y##i;                                                                                \
    }

/* Defines the micro-kernel `name`, for a tile of `rows` rows and one vector of columns, or two (is_two).
 * Both types are the vector's; loose_vector may be loaded from any address. For the arguments see
 * gra_tile_run. */
#define KERNEL(name, rows, vector, loose_vector, is_two)                                                 \
    static void name(int steps, const real *a, ptrdiff_t row_a, ptrdiff_t col_a,                         \
                     const real *b, ptrdiff_t row_b,                                                     \
                     real *c, ptrdiff_t ldc, const real *add, ptrdiff_t ld_add)                          \
    {                                                                                                    \
        typedef vector V;                                                                                \
        typedef loose_vector L;                                                                          \
        const bool two = is_two;                                                                         \
        START                                                                                            \
        DO_##rows(FETCH)                                                                                 \
        DO_##rows(ZERO)                                                                                  \
        for (int p = 0; p < steps; p++) {                                                                \
            const V b0 = ((const L *)b)[0], b1 = ((const L *)b)[two ? 1 : 0];                            \
            DO_##rows(READ)                                                                              \
            DO_##rows(STEP)                                                                              \
            NEXT                                                                                         \
            b += row_b;                                                                                  \
        }                                                                                                \
        if (add) {                                                                                       \
            DO_##rows(ADD)                                                                               \
        }                                                                                                \
        DO_##rows(PUT)                                                                                   \
    }

/* A full tile is two vectors wide, half a tile is one vector, and a quarter is half a vector. */
#define KERNELS(rows)                                                                                    \
    KERNEL(full_##rows, rows, vec, loose, true)                                                          \
    KERNEL(half_##rows, rows, vec, loose, false)                                                         \
    KERNEL(quarter_##rows, rows, half_vec, half_loose, false)

KERNELS(1) KERNELS(2) KERNELS(3) KERNELS(4) KERNELS(5) KERNELS(6)
#if ROWS == 12
KERNELS(7) KERNELS(8) KERNELS(9) KERNELS(10) KERNELS(11) KERNELS(12)
#define RUNS(name) { name##_1, name##_2, name##_3, name##_4, name##_5, name##_6, \
                     name##_7, name##_8, name##_9, name##_10, name##_11, name##_12 }
#else
#define RUNS(name) { name##_1, name##_2, name##_3, name##_4, name##_5, name##_6 }
#endif

const gra_tile TILE = {
    .rows = ROWS, .cols = COLS, .per_step = PER_STEP, .only_panels = BY_LANE,
    .full = RUNS(full), .half = RUNS(half), .quarter = RUNS(quarter),
    .pack_a = pack_a, .pack_b = pack_b, .pack_row = pack_row
};
