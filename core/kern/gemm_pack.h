/* gemm_pack.h: copies a and b into panels, in the order in which the micro-kernels read.
 *
 * In one step a micro-kernel adds the products of PER_STEP values of k for each line (a row of a, a column of
 * b). PER_STEP is 1, or 2 if two values are packed into the bits of a real (gemm_pairs.h). */

#define STEPS(k) (((k) + PER_STEP - 1) / PER_STEP)

/* A quad is 16 bytes of a line, SIDE values. turn() transposes a square of SIDE quads; with vectors of 32
 * bytes it transposes two squares at once: the upper halves have the square of the next SIDE lines. */
typedef real quad __attribute__((vector_size(16)));
typedef real loose_quad __attribute__((vector_size(16), aligned(sizeof(real)), may_alias));
enum { SIDE = sizeof(quad) / sizeof(real), LINES = VECTOR < 32 ? SIDE : 2 * SIDE };

#define QUAD(i) (*(const loose_quad *)(from + (i) * stride))
#if VECTOR < 32
typedef quad lines;
typedef loose_quad loose_lines;
#define TAKE(i)           QUAD(i)
#ifdef GRADUS_DOUBLE
#define LOW(a, b)         SHUFFLE(a, b, 0, 2)                   /* a0 b0 */
#define HIGH(a, b)        SHUFFLE(a, b, 1, 3)                   /* a1 b1 */
#else
#define LOW(a, b)         SHUFFLE(a, b, 0, 4, 1, 5)             /* a0 b0 a1 b1 */
#define HIGH(a, b)        SHUFFLE(a, b, 2, 6, 3, 7)             /* a2 b2 a3 b3 */
#define LEFT(ab, cd)      SHUFFLE(ab, cd, 0, 1, 4, 5)           /* of two LOW: a0 b0 c0 d0 */
#define RIGHT(ab, cd)     SHUFFLE(ab, cd, 2, 3, 6, 7)           /* of two LOW: a1 b1 c1 d1 */
#endif
#else
typedef real lines __attribute__((vector_size(32)));
typedef real loose_lines __attribute__((vector_size(32), aligned(sizeof(real)), may_alias));
#define TAKE(i)           JOIN(QUAD(i), QUAD((i) + SIDE))
#ifdef GRADUS_DOUBLE
#define LOW(a, b)         SHUFFLE(a, b, 0, 4, 2, 6)
#define HIGH(a, b)        SHUFFLE(a, b, 1, 5, 3, 7)
#else
#define LOW(a, b)         SHUFFLE(a, b, 0, 8, 1, 9, 4, 12, 5, 13)
#define HIGH(a, b)        SHUFFLE(a, b, 2, 10, 3, 11, 6, 14, 7, 15)
#define LEFT(ab, cd)      SHUFFLE(ab, cd, 0, 1, 8, 9, 4, 5, 12, 13)
#define RIGHT(ab, cd)     SHUFFLE(ab, cd, 2, 3, 10, 11, 6, 7, 14, 15)
#endif
#endif

typedef real_place places __attribute__((vector_size(sizeof(lines))));

/* What a step is; defined below for one value of k, and in gemm_pairs.h for pairs:
 *
 *     PLUS      sum + x y, of a step of a and one of b: what the micro-kernels add
 *     step_of   the step of one line: of x[0] and, if there is more, x[next]
 *     steps_of  the same for n lines: line i begins at x[i], and its step goes to to[i]
 *     store     the values p and p + 1 of LINES lines: as two rows of the panel, or as one row of pairs
 *     pack_row  all steps of a contiguous row of a */
#if PER_STEP == 2
#include "gemm_pairs.h"
#else
/* A fused multiply-add where the processor has one (-ffp-contract=fast). Every kernel must use it, or the
 * bits would depend on the tile. */
#define PLUS(sum, x, y) (sum + x * y)

static inline real step_of(const real *x, ptrdiff_t next, bool more)
{
    (void)next, (void)more;
    return *x;
}

static inline void store(real *to, ptrdiff_t wide, lines first, lines second)
{
    *(loose_lines *)to          = first;
    *(loose_lines *)(to + wide) = second;
}

static inline __attribute__((always_inline)) void steps_of(int n, const real *x, ptrdiff_t next, bool more,
                                                           real *to)
{
    (void)next, (void)more;
    memcpy(to, x, (size_t)n * sizeof(real));
}

static void pack_row(int k, const real *x, real *to)
{
    memcpy(to, x, (size_t)k * sizeof(real));
}
#endif

/* Transposes SIDE values of each of LINES lines, `stride` apart, in registers: step p of line i goes to
 * to[p*wide + i]. */
static inline void turn(const real *from, ptrdiff_t stride, real *to, ptrdiff_t wide)
{
    const lines a = TAKE(0), b = TAKE(1);
#ifdef GRADUS_DOUBLE
    store(to, wide, LOW(a, b), HIGH(a, b));
#else
    const lines c = TAKE(2), d = TAKE(3);
    const lines low_ab = LOW(a, b), high_ab = HIGH(a, b), low_cd = LOW(c, d), high_cd = HIGH(c, d);
    store(to, wide, LEFT(low_ab, low_cd), RIGHT(low_ab, low_cd));
    store(to + STEPS(2) * wide, wide, LEFT(high_ab, high_cd), RIGHT(high_ab, high_cd));
#endif
}

/* Packs n lines of k values each, `stride` apart, into panels of `wide` lines: step p of line i goes to panel
 * i / wide, place (p, i % wide). Here n is a multiple of LINES, and each line is contiguous. */
static inline __attribute__((always_inline)) void turn_all(int n, int k, const real *from, ptrdiff_t stride,
                                                           real *to, const int wide)
{
    const int whole = k / SIDE * SIDE;                      /* values that fill quads */
    for (int i = 0; i < n; i += LINES) {
        const real *line = from + i * stride;
        real *place = to + (ptrdiff_t)(i / wide * wide) * STEPS(k) + i % wide;
        for (int p = 0; p < whole; p += SIDE)
            turn(line + p, stride, place + STEPS(p) * wide, wide);
        for (int p = whole; p < k; p += PER_STEP)
            for (int j = 0; j < LINES; j++)
                place[STEPS(p) * wide + j] = step_of(line + j * stride + p, 1, p + 1 < k);
    }
}

#define PUT(p, j)                                                                                        \
    panel[STEPS(p) * wide + (j)] =                                                                       \
        (j) < left ? step_of(from + (i + (j)) * stride + (p) * next, next, (p) + 1 < k) : 0;

/* Does the same for any n and any lines whose values are `next` apart. If `padded`, the last panel is padded
 * with zeros, as far as the narrowest tile for its lines reads. Contiguous lines are transposed in registers
 * if the lines of a panel are a multiple of LINES. A panel of b always meets this condition. For a it matters
 * only on AArch64, because elsewhere pack_row copies contiguous rows of a. */
static inline __attribute__((always_inline)) void pack(int n, int k, const real *from, ptrdiff_t stride,
                                                       ptrdiff_t next, real *to, const int wide,
                                                       const bool padded)
{
    const bool copied = stride == 1;                        /* value p of all lines is contiguous */
    const bool turned = next == 1 && !copied && wide % LINES == 0;
    const int done = copied ? n / wide * wide : turned ? n / LINES * LINES : 0;
    if (turned)
        turn_all(done, k, from, stride, to, wide);
    for (int p = 0; copied && p < k; p += PER_STEP)
        for (int i = 0; i < done; i += wide)
            steps_of(wide, from + i + p * next, next, p + 1 < k,
                     to + (ptrdiff_t)i * STEPS(k) + STEPS(p) * wide);
    for (int i = done / wide * wide, first = done % wide; i < n; i += wide, first = 0) {
        const int left = n - i, tile = left > wide / 2 ? wide : left > wide / 4 ? wide / 2 : wide / 4;
        const int end = padded || left > wide ? tile : left;
        real *panel = to + (ptrdiff_t)i * STEPS(k);
        for (int p = 0; copied && p < k; p += PER_STEP)         /* in the order in which they are stored */
            for (int j = first; j < end; j++)
                PUT(p, j)
        for (int j = first; !copied && j < end; j++)
            for (int p = 0; p < k; p += PER_STEP)
                PUT(p, j)
    }
}
#undef PUT

static void pack_a(gra_mat a, real *panels)
{
    pack(a.rows, a.cols, a.p, a.row, a.col, panels, ROWS, false);
}

static void pack_b(gra_mat b, real *panels)
{
    pack(b.cols, b.rows, b.p, b.col, b.row, panels, COLS, true);
}
