/* gemv_kernel.h: a row times some columns of a matrix, written once in vector extensions and compiled by
 * one small stub for each instruction set. The stub defines VECTOR (bytes of a vector) and GEMV (the name
 * of its function).
 *
 *     c_j = sum_p a_p b_pj      j < n
 *
 * Each value of b is used once, so memory sets the pace and packing would only add to it. A sum runs
 * through p in order, in pieces of DEPTH, as gemm's does: so its bits are gemm's. */
#include "gemv.h"

typedef real vec __attribute__((vector_size(VECTOR)));
typedef real loose __attribute__((vector_size(VECTOR), aligned(sizeof(real)), may_alias));
typedef real loose_quad __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

enum {
    DEPTH = 256,                        /* as in gemm.c: the same sums */
    LANES = VECTOR / sizeof(real),
    SOME = 2 * LANES,                   /* columns at a time where they are contiguous, */
    MANY = 512,                         /* and where rows are */
    SIDE = 16 / sizeof(real),           /* of a square of values, in quads of 16 bytes */
    LINE = 64 / sizeof(real),           /* values of a cache line */
    AHEAD = 4 * LINE                    /* how far ahead a column is asked for */
};

/* A vector of quads of several columns, all from the same place: of column i, and of i + SIDE. */
#if VECTOR == 16
#define QUADS(i) (*(const loose_quad *)(w + (i) * ld))
#elif defined(GRADUS_DOUBLE)
#define QUADS(i) SHUFFLE(*(const loose_quad *)(w + (i) * ld), *(const loose_quad *)(w + ((i) + SIDE) * ld), 0, 1, 2, 3)
#else
#define QUADS(i) SHUFFLE(*(const loose_quad *)(w + (i) * ld), *(const loose_quad *)(w + ((i) + SIDE) * ld), \
                         0, 1, 2, 3, 4, 5, 6, 7)
#endif
#define SHUFFLE __builtin_shufflevector

/* The squares in such vectors, turned: then a vector holds the same row of LANES columns. */
#ifdef GRADUS_DOUBLE
#if VECTOR == 16
#define ROW0 0, 2
#define ROW1 1, 3
#else
#define ROW0 0, 4, 2, 6
#define ROW1 1, 5, 3, 7
#endif
#define ADD_SQUARES(x)                                                                                   \
    {                                                                                                    \
        const vec q0 = QUADS(0), q1 = QUADS(1);                                                          \
        x += a[0] * SHUFFLE(q0, q1, ROW0);                                                               \
        x += a[col] * SHUFFLE(q0, q1, ROW1);                                                             \
    }
#else
#if VECTOR == 16
#define LOW   0, 4, 1, 5
#define HIGH  2, 6, 3, 7
#define LEFT  0, 1, 4, 5
#define RIGHT 2, 3, 6, 7
#else
#define LOW   0, 8, 1, 9, 4, 12, 5, 13
#define HIGH  2, 10, 3, 11, 6, 14, 7, 15
#define LEFT  0, 1, 8, 9, 4, 5, 12, 13
#define RIGHT 2, 3, 10, 11, 6, 7, 14, 15
#endif
#define ADD_SQUARES(x)                                                                                   \
    {                                                                                                    \
        const vec q0 = QUADS(0), q1 = QUADS(1), q2 = QUADS(2), q3 = QUADS(3);                            \
        const vec low01 = SHUFFLE(q0, q1, LOW), high01 = SHUFFLE(q0, q1, HIGH);                          \
        const vec low23 = SHUFFLE(q2, q3, LOW), high23 = SHUFFLE(q2, q3, HIGH);                          \
        x += a[0] * SHUFFLE(low01, low23, LEFT);                                                         \
        x += a[col] * SHUFFLE(low01, low23, RIGHT);                                                      \
        x += a[2 * col] * SHUFFLE(high01, high23, LEFT);                                                 \
        x += a[3 * col] * SHUFFLE(high01, high23, RIGHT);                                                \
    }
#endif

/* Any strides. Each function adds the products from p to end to the sums. */
static void plain(int p, int end, int n, const real *a, ptrdiff_t col, gra_mat b, real *sum)
{
    for (; p < end; p++)
        for (int j = 0; j < n; j++)
            sum[j] += a[p * col] * b.p[p * b.row + j * b.col];
}

/* b's rows are contiguous: four of them at a time. */
static void rows(int p, int end, int n, const real *a, ptrdiff_t col, gra_mat b, real *sum)
{
    for (; p + 4 <= end; p += 4) {
        const real *b0 = b.p + p * b.row, *b1 = b0 + b.row, *b2 = b1 + b.row, *b3 = b2 + b.row;
        const real a0 = a[p * col], a1 = a[(p + 1) * col], a2 = a[(p + 2) * col], a3 = a[(p + 3) * col];
        for (int j = 0; j < n; j++) {
            real s = sum[j];
            s += a0 * b0[j];
            s += a1 * b1[j];
            s += a2 * b2[j];
            s += a3 * b3[j];
            sum[j] = s;
        }
    }
    plain(p, end, n, a, col, b, sum);
}

/* SOME columns of b, which are contiguous and k long (w^T): a cache line of each at a time. */
static void columns(int p, int end, int k, const real *from, ptrdiff_t col, gra_mat b, real *sum)
{
    const ptrdiff_t ld = b.col;
    vec x = *(loose *)sum, y = *(loose *)(sum + LANES);
    for (int squares; (squares = (end - p < LINE ? end - p : LINE) / SIDE) > 0; p += squares * SIDE) {
        /* Ask for what comes soon: farther down these columns, then at the top of the next ones. */
        const ptrdiff_t soon = p + AHEAD < k ? p + AHEAD : p + AHEAD - k + SOME * ld;
        const uintptr_t line = (uintptr_t)b.p + (uintptr_t)soon * sizeof(real);
        for (int j = 0; j < SOME; j++)
            __builtin_prefetch((const void *)(line + (uintptr_t)(j * ld) * sizeof(real)));
        const real *a = from + p * col, *w = b.p + p;
        for (int i = 0; i < squares; i++, a += SIDE * col, w += SIDE)
            ADD_SQUARES(x)
        a = from + p * col;
        w = b.p + p + LANES * ld;
        for (int i = 0; i < squares; i++, a += SIDE * col, w += SIDE)
            ADD_SQUARES(y)
    }
    *(loose *)sum = x;
    *(loose *)(sum + LANES) = y;
    plain(p, end, SOME, from, col, b, sum);
}

static void block(int k, int n, const real *a, ptrdiff_t col, gra_mat b, real *c, const real *add)
{
    for (int p = 0; p < k; p += DEPTH) {
        const int end = k - p < DEPTH ? k : p + DEPTH;
        const real *to = p > 0 ? c : add;               /* what this piece is added to */
        real sum[MANY];
        memset(sum, 0, (size_t)n * sizeof *sum);
        if (b.row == 1 && n == SOME)
            columns(p, end, k, a, col, b, sum);
        else if (b.col == 1)
            rows(p, end, n, a, col, b, sum);
        else
            plain(p, end, n, a, col, b, sum);
        for (int j = 0; j < n; j++)
            c[j] = to ? to[j] + sum[j] : sum[j];
    }
}

void GEMV(int k, int n, const real *a, ptrdiff_t col, gra_mat b, real *c, const real *add)
{
    const int most = b.row == 1 ? SOME : MANY;
    for (int j = 0; j < n; j += most)
        block(k, n - j < most ? n - j : most, a, col, (gra_mat){ b.p + j * b.col, b.row, b.col }, c + j,
              add ? add + j : NULL);
}
