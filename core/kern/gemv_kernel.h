/* gemv_kernel.h: a row times some columns of a matrix, written once in vector extensions and compiled by
 * one small stub for each instruction set. The stub defines VECTOR (bytes of a vector), GEMV and TINY (the
 * names of its functions).
 *
 *     c_j = sum_p a_p b_pj      j < n
 *
 * Each value of b is used only once: reading takes most of the time, and packing would add to it. Each sum
 * runs over p in order, in pieces of DEPTH, so it has the same bits as in gemm. */
#include "gemv.h"
#include "simd.h"

typedef real vec __attribute__((vector_size(VECTOR)));
typedef real_place places __attribute__((vector_size(VECTOR)));
typedef real loose __attribute__((vector_size(VECTOR), aligned(sizeof(real)), may_alias));
typedef real loose_quad __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));

enum {
    DEPTH = GRA_DEPTH,
    LANES = VECTOR / sizeof(real),
    SOME = VECTOR < 64 ? 2 * LANES : LANES,     /* columns at a time where b's columns are contiguous */
    MANY = 512,                         /* columns at a time where b's rows are contiguous */
    SIDE = 16 / sizeof(real),           /* values of a quad, which is 16 bytes; SIDE quads are a square */
    LINE = 64 / sizeof(real),           /* values of a cache line */
    AHEAD = 4 * LINE                    /* how far ahead a column is prefetched */
};

/* Loads a vector made of quads: one from w0 + at and, in wider vectors, from w1 + at, w2 + at and w3 + at. */
#if VECTOR == 16
#define QUADS(at) (*(const loose_quad *)(w0 + (at)))
#else
#ifdef GRADUS_DOUBLE
#define QUAD(i, at)    _mm_loadu_pd(w##i + (at))
#define PUT(x, i, at)  _mm512_insertf64x2(x, QUAD(i, at), i)
#define FIRST(at)      _mm512_castpd128_pd512(QUAD(0, at))
#else
#define QUAD(i, at)    _mm_loadu_ps(w##i + (at))
#define PUT(x, i, at)  _mm512_insertf32x4(x, QUAD(i, at), i)
#define FIRST(at)      _mm512_castps128_ps512(QUAD(0, at))
#endif
#if VECTOR == 32
#define QUADS(at) JOIN(QUAD(0, at), QUAD(1, at))
#else
#define QUADS(at) PUT(PUT(PUT(FIRST(at), 1, at), 2, at), 3, at)
#endif
#endif

/* Transposes the squares in such vectors: each vector then holds one row of LANES columns. Adds a's values
 * times these rows to x. EACH(TURN) lists the places that a shuffle takes: TURN(i, j) means the quad at place
 * i of the first vector and the quad at place j of the second. */
#if VECTOR == 16
#define EACH(TURN) TURN(0, LANES)
#elif VECTOR == 32
#define EACH(TURN) TURN(0, LANES), TURN(SIDE, LANES + SIDE)
#else
#define EACH(TURN) TURN(0, LANES), TURN(SIDE, LANES + SIDE), TURN(2 * SIDE, LANES + 2 * SIDE), \
                   TURN(3 * SIDE, LANES + 3 * SIDE)
#endif
#ifdef GRADUS_DOUBLE
#define ROW0(i, j) (i), (j)
#define ROW1(i, j) (i) + 1, (j) + 1
#define ADD_SQUARES(x)                                                                                   \
    {                                                                                                    \
        const vec q0 = QUADS(0), q1 = QUADS(ld);                                                         \
        x += a[0] * SHUFFLE(q0, q1, EACH(ROW0));                                                         \
        x += a[1] * SHUFFLE(q0, q1, EACH(ROW1));                                                         \
    }
#else
#define LOW(i, j)   (i), (j), (i) + 1, (j) + 1
#define HIGH(i, j)  (i) + 2, (j) + 2, (i) + 3, (j) + 3
#define LEFT(i, j)  (i), (i) + 1, (j), (j) + 1
#define RIGHT(i, j) (i) + 2, (i) + 3, (j) + 2, (j) + 3
#define ADD_SQUARES(x)                                                                                   \
    {                                                                                                    \
        const vec q0 = QUADS(0), q1 = QUADS(ld), q2 = QUADS(2 * ld), q3 = QUADS(3 * ld);                 \
        const vec low01 = SHUFFLE(q0, q1, EACH(LOW)), high01 = SHUFFLE(q0, q1, EACH(HIGH));              \
        const vec low23 = SHUFFLE(q2, q3, EACH(LOW)), high23 = SHUFFLE(q2, q3, EACH(HIGH));              \
        x += a[0] * SHUFFLE(low01, low23, EACH(LEFT));                                                   \
        x += a[1] * SHUFFLE(low01, low23, EACH(RIGHT));                                                  \
        x += a[2] * SHUFFLE(high01, high23, EACH(LEFT));                                                 \
        x += a[3] * SHUFFLE(high01, high23, EACH(RIGHT));                                                \
    }
#endif

/* Any strides. Each function adds the products from p to end to the sums. They must not be inlined: if gcc
 * knows n, it multiplies first and adds later, which rounds differently from a fused multiply-add. */
static __attribute__((noinline)) void plain(int p, int end, int n, const real *a, ptrdiff_t col, gra_mat b,
                                            real *sum)
{
    for (; p < end; p++)
        for (int j = 0; j < n; j++)
            sum[j] += a[p * col] * b.p[p * b.row + j * b.col];
}

/* For contiguous rows of b: four rows at a time. */
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

/* x += the products of LANES columns, a cache line of each. Four pointers and the stride reach all columns:
 * one pointer per column would not fit into the registers. */
static inline __attribute__((always_inline))
vec add_line(vec x, const real *a, const real *column, ptrdiff_t ld)
{
    enum { SECOND = VECTOR > 16 ? SIDE : 0 };
    enum { THIRD = VECTOR > 32 ? 2 * SIDE : 0, FOURTH = VECTOR > 32 ? 3 * SIDE : 0 };
    const real *w0 = column, *w1 = column + SECOND * ld;
    const real *w2 = column + THIRD * ld, *w3 = column + FOURTH * ld;
    for (int i = 0; i < LINE; i += SIDE, a += SIDE, w0 += SIDE, w1 += SIDE, w2 += SIDE, w3 += SIDE)
        ADD_SQUARES(x)
    (void)w1, (void)w2, (void)w3;       /* unused where vectors are narrower */
    return x;
}

static inline __attribute__((always_inline)) void store(vec sum, real *c, const real *to)
{
    *(loose *)c = to ? sum + *(const loose *)to : sum;
}

/* For contiguous columns of b (as in w^T): SOME columns, a cache line of each at a time. */
static void columns(const real *a, gra_mat b, real *c, const real *add)
{
    const int k = b.rows;
    const ptrdiff_t ld = b.col;
    const real *const column = b.p;
    for (int p = 0, end; p < k; p = end) {
        const real *to = p > 0 ? c : add;               /* what this piece is added to */
        vec x = { 0 }, y = { 0 };
        end = k - p < DEPTH ? k : p + DEPTH;
        for (; p + LINE <= end; p += LINE) {
            /* Prefetch farther down these columns, then the top of the next columns. */
            const ptrdiff_t soon = p + AHEAD < k ? p + AHEAD : p + AHEAD - k + SOME * ld;
            const uintptr_t line = (uintptr_t)column + (uintptr_t)soon * sizeof(real);
            for (int j = 0; j < SOME; j++)
                __builtin_prefetch((const void *)(line + (uintptr_t)(j * ld) * sizeof(real)));
            x = add_line(x, a + p, column + p, ld);
            if (SOME > LANES)
                y = add_line(y, a + p, column + p + LANES * ld, ld);
        }
        if (p < end) {
            real sum[2 * LANES];
            *(loose *)sum = x;
            *(loose *)(sum + LANES) = y;
            plain(p, end, SOME, a, 1, b, sum);
            x = *(const loose *)sum;
            y = *(const loose *)(sum + LANES);
        }
        store(x, c, to);
        if (SOME > LANES)
            store(y, c + SOME - LANES, to ? to + SOME - LANES : NULL);
    }
}

static void finish(int n, const real *sum, real *c, const real *to)
{
    for (int j = 0; j < n; j++)
        c[j] = to ? to[j] + sum[j] : sum[j];
}

static void block(const real *a, ptrdiff_t col, gra_mat b, real *c, const real *add)
{
    const int k = b.rows, n = b.cols;
    for (int p = 0; p < k; p += DEPTH) {
        const int end = k - p < DEPTH ? k : p + DEPTH;
        real sum[MANY];
        memset(sum, 0, (size_t)n * sizeof *sum);
        if (b.col == 1)
            rows(p, end, n, a, col, b, sum);
        else
            plain(p, end, n, a, col, b, sum);
        finish(n, sum, c, p > 0 ? c : add);
    }
}

void GEMV(const real *a, ptrdiff_t col, gra_mat b, real *c, const real *add)
{
    const int n = b.cols;
    const bool down = b.row == 1 && col == 1;
    const int most = down ? SOME : MANY;
    for (int j = 0; j < n; j += most) {
        const int wide = n - j < most ? n - j : most;
        /* The last block overlaps the previous one, instead of a loop over the remaining columns. */
        const int from = down && wide < SOME && n >= SOME ? n - SOME : j;
        const gra_mat here = gra_mat_part(b, 0, b.rows, from, j + wide - from);
        const real *to = add ? add + from : NULL;
        real last[SOME];
        if (from < j) {
            columns(a, here, last, to);
            memcpy(c + j, last + j - from, (size_t)wide * sizeof *c);
        } else if (down && wide == SOME)
            columns(a, here, c + j, to);
        else
            block(a, col, here, c + j, to);
    }
}

/* Row after row of c, or column after column: whichever reads contiguous values, or is longer. */
void TINY(gra_mat a, gra_mat b, gra_mat c, const real *add, ptrdiff_t ld_add)
{
    const bool by_columns = b.col != 1 && (a.row == 1 || c.cols < c.rows);
    ptrdiff_t across = 1;                               /* from one value of add to the next */
    if (by_columns) {                                   /* c^T = b^T a^T */
        const gra_mat left = gra_mat_transpose(b);
        b = gra_mat_transpose(a);
        a = left;
        c = gra_mat_transpose(c);
        across = ld_add;
        ld_add = 1;
    }
    for (int i = 0; i < c.rows; i++) {
        const real *to = add ? add + i * ld_add : NULL;
        real sum[GRA_TINY], *row = c.p + i * c.row;
        memset(sum, 0, (size_t)c.cols * sizeof *sum);
        if (b.col == 1)
            rows(0, b.rows, c.cols, a.p + i * a.row, a.col, b, sum);
        else
            plain(0, b.rows, c.cols, a.p + i * a.row, a.col, b, sum);
        for (int j = 0; j < c.cols; j++)
            row[j * c.col] = to ? to[j * across] + sum[j] : sum[j];
    }
}
