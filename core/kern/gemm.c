/* gemm: c = a b or c += a b, for any strides of a and b (Goto & van de Geijn 2008; Van Zee's BLIS).
 *
 * c is cut into blocks of at most ROWS x COLS, k into pieces of DEPTH. For each piece, a's rows and
 * b's columns are first packed into panels as the micro-kernel reads them (zeros fill the last ones),
 * then every tile of the block is one call of it. A transpose is only another pair of strides to the
 * packing. DEPTH is fixed and pieces are added in order: the bits do not depend on the threads. */
#include "gemm.h"
#include "../tape.h"

enum {
    DEPTH = 256,
    ROWS = 1152, COLS = 2048,           /* of a block that all threads share */
    ROWS_ALONE = 96, COLS_ALONE = 512,  /* of a block that one worker computes alone */
    GROUP_ROWS = 96, GROUP_COLS = 256,  /* of what one thread takes at a time */
    EDGE = 32                           /* rows or columns by which the last panel may reach beyond */
};
_Static_assert(DEPTH * (ROWS + COLS + 2 * EDGE) <= GRA_POOL_SHARED, "the panels of a block find no room");
_Static_assert(DEPTH * (ROWS_ALONE + COLS_ALONE + 2 * EDGE) <= GRA_POOL_OWN, "the panels of a block find no room");

struct block {                          /* c[m x n] (+)= a[m x k] b[k x n], k at most DEPTH */
    const gra_tile *tile;
    int       m, n, k;
    gra_mat   a, b;
    real     *c;
    ptrdiff_t ldc;
    bool      accumulate;
    real     *pack_a, *pack_b;
    size_t    groups_a, groups_b;       /* into how many groups m and n are cut */
};

static size_t cut(int n, int group)     { return ((size_t)n + (size_t)group - 1) / (size_t)group; }
static int    least(int a, int b)       { return a < b ? a : b; }

/* Rows [from, to) of x (row i at x.p + i*x.row) into panels of `width` rows, column by column. */
static void pack(gra_mat x, int from, int to, int k, int width, real *to_panel)
{
    for (int i = from; i < to; i += width) {
        int rows = least(width, to - i);
        const real *p = x.p + i * x.row;
        real *panel = to_panel + (size_t)i * (size_t)k;
        if (x.row == 1 && rows == width) {              /* columns lie as they are wanted */
            for (int j = 0; j < k; j++)
                memcpy(panel + (size_t)j * (size_t)width, p + j * x.col, (size_t)width * sizeof(real));
            continue;
        }
        for (int r = 0; r < rows; r++)
            for (int j = 0; j < k; j++)
                panel[(size_t)j * (size_t)width + (size_t)r] = p[r * x.row + j * x.col];
        for (int r = rows; r < width; r++)
            for (int j = 0; j < k; j++)
                panel[(size_t)j * (size_t)width + (size_t)r] = 0;
    }
}

static void pack_groups(void *arg, size_t from, size_t to, int worker)
{
    const struct block *s = arg;
    (void)worker;
    for (size_t g = from; g < to; g++) {
        if (g < s->groups_a) {
            int i = (int)g * GROUP_ROWS;
            pack(s->a, i, least(s->m, i + GROUP_ROWS), s->k, s->tile->rows, s->pack_a);
        } else {
            int j = (int)(g - s->groups_a) * GROUP_COLS;
            gra_mat bt = { s->b.p, s->b.col, s->b.row };    /* b's columns are packed as rows of b^T */
            pack(bt, j, least(s->n, j + GROUP_COLS), s->k, s->tile->cols, s->pack_b);
        }
    }
}

/* One tile that reaches over the edge of c: computed whole, stored in part. */
static void edge_tile(const struct block *s, const real *a, const real *b, real *c, int rows, int cols)
{
    real whole[GRA_TILE_MAX];
    s->tile->run(s->k, a, b, whole, s->tile->cols, false);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            real *to = &c[i * s->ldc + j];
            *to = whole[i * s->tile->cols + j] + (s->accumulate ? *to : 0);
        }
}

static void compute_groups(void *arg, size_t from, size_t to, int worker)
{
    const struct block *s = arg;
    const int rows = s->tile->rows, cols = s->tile->cols;
    (void)worker;
    for (size_t g = from; g < to; g++) {
        int i0 = (int)(g % s->groups_a) * GROUP_ROWS, i1 = least(s->m, i0 + GROUP_ROWS);
        int j0 = (int)(g / s->groups_a) * GROUP_COLS, j1 = least(s->n, j0 + GROUP_COLS);
        for (int j = j0; j < j1; j += cols)
            for (int i = i0; i < i1; i += rows) {
                const real *a = s->pack_a + (size_t)i * (size_t)s->k, *b = s->pack_b + (size_t)j * (size_t)s->k;
                real *c = s->c + i * s->ldc + j;
                if (i1 - i >= rows && j1 - j >= cols)
                    s->tile->run(s->k, a, b, c, s->ldc, s->accumulate);
                else
                    edge_tile(s, a, b, c, least(rows, i1 - i), least(cols, j1 - j));
            }
    }
}

static const gra_tile *best_tile(const gra_tape *t)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (gra_tape_isa(t) == 2)
        return &gra_tile_avx512;
    if (gra_tape_isa(t) == 1)
        return &gra_tile_avx2;
#endif
    (void)t;
    return &gra_tile_base;
}

/* All blocks of c, one after the other; `all_threads` share each, or worker computes it alone. */
static void product(gra_tape *t, bool all_threads, int worker, int m, int n, int k, gra_mat a, gra_mat b, real *c,
                    ptrdiff_t ldc, bool accumulate)
{
    const int rows = all_threads ? ROWS : ROWS_ALONE, cols = all_threads ? COLS : COLS_ALONE;
    if (k == 0 && !accumulate)
        for (int i = 0; i < m; i++)
            memset(c + i * ldc, 0, (size_t)n * sizeof(real));
    for (int j = 0; j < n; j += cols)
        for (int p = 0; p < k; p += DEPTH)
            for (int i = 0; i < m; i += rows) {
                struct block s = {
                    .tile = best_tile(t), .m = least(rows, m - i), .n = least(cols, n - j), .k = least(DEPTH, k - p),
                    .a = { a.p + i * a.row + p * a.col, a.row, a.col },
                    .b = { b.p + p * b.row + j * b.col, b.row, b.col },
                    .c = c + i * ldc + j, .ldc = ldc, .accumulate = accumulate || p > 0,
                    .pack_b = all_threads ? gra_pool_shared(gra_tape_pool(t)) : gra_pool_own(gra_tape_pool(t), worker),
                };
                s.pack_a = s.pack_b + (size_t)DEPTH * (size_t)(cols + EDGE);
                s.groups_a = cut(s.m, GROUP_ROWS);
                s.groups_b = i == 0 ? cut(s.n, GROUP_COLS) : 0; /* b's panels serve all blocks of rows */
                size_t packs = s.groups_a + s.groups_b, tiles = s.groups_a * cut(s.n, GROUP_COLS);
                if (all_threads) {
                    gra_parallel(t, packs, 1, pack_groups, &s);
                    gra_parallel(t, tiles, 1, compute_groups, &s);
                } else {
                    pack_groups(&s, 0, packs, worker);
                    compute_groups(&s, 0, tiles, worker);
                }
            }
}

void gra_gemm_alone(gra_tape *t, int worker, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc,
                    bool accumulate)
{
    product(t, false, worker, m, n, k, a, b, c, ldc, accumulate);
}

void gra_gemm(gra_tape *t, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc, bool accumulate)
{
    static const double worth = 1 << 18;                /* multiplications for which a thread is woken */
    bool all_threads = (double)m * n * k >= worth;
    product(t, all_threads, 0, m, n, k, a, b, c, ldc, accumulate);
}
