/* gemm: c = a b or c += a b, for any strides of a and b (Goto & van de Geijn 2008; Van Zee's BLIS).
 *
 * c is cut into blocks of at most ROWS x COLS, k into pieces of DEPTH. For each piece, b's columns are
 * first packed into panels as the micro-kernel reads them (zeros fill the last one), then every tile of
 * the block is one call of it. a's rows are packed too where they are used often enough to pay for it;
 * else the kernel reads them in place. A transpose is only another pair of strides. DEPTH is fixed and
 * pieces are added in order: the bits do not depend on the threads. */
#include "gemm.h"
#include "../tape.h"

enum {
    DEPTH = 256,                        /* of a piece: a panel of b then stays in the first cache */
    DEEP = 1024,                        /* of a block: its pieces are added while c is in the second */
    ROWS = 768, COLS = 1024,            /* of a block that all threads share */
    ROWS_ALONE = 96, COLS_ALONE = 512,  /* of a block that one worker computes alone, one piece deep */
    GROUP_ROWS = 96, GROUP_COLS = 256,  /* of what one thread takes at a time */
    EDGE = 32                           /* rows or columns by which the last panel may reach beyond */
};
_Static_assert(DEEP * (ROWS + COLS + 2 * EDGE) <= GRA_POOL_SHARED, "the panels of a block find no room");
#define PADDING ((size_t)DEPTH * (ROWS_ALONE + COLS_ALONE + 2 * EDGE))     /* of rows: behind a worker's own panels */
_Static_assert(PADDING + DEPTH * GRA_TILE_ROWS <= GRA_POOL_OWN, "the panels of a block find no room");

struct block {                          /* c[m x n] (+)= a[m x k] b[k x n], k at most DEEP */
    const gra_pool *pool;
    const gra_tile *tile;
    int       m, n, k;
    gra_mat   a, b;
    real     *c;
    ptrdiff_t ldc;
    bool      accumulate;
    real     *pack_a, *pack_b;          /* pack_a NULL: a is read in place */
    size_t    groups_a, groups_b;       /* into how many groups m and n are cut, of those to be packed */
};

static size_t cut(int n, int group)     { return ((size_t)n + (size_t)group - 1) / (size_t)group; }
static int    least(int a, int b)       { return a < b ? a : b; }

/* n rows of a into panels of `rows` rows, column by column; zeros behind the last. */
static void pack_rows(gra_mat a, int n, int k, int rows, real *panel)
{
    for (int i = 0; i < n; i += rows, panel += (size_t)rows * (size_t)k) {
        const int have = least(rows, n - i);
        const real *p = a.p + i * a.row;
        if (a.row == 1)                                 /* neighbours in a column: along it */
            for (int j = 0; j < k; j++)
                for (int r = 0; r < have; r++)
                    panel[j * rows + r] = p[r + j * a.col];
        else
            for (int r = 0; r < have; r++)
                for (int j = 0; j < k; j++)
                    panel[j * rows + r] = p[r * a.row + j * a.col];
        for (int r = have; r < rows; r++)
            for (int j = 0; j < k; j++)
                panel[j * rows + r] = 0;
    }
}

static gra_mat at(gra_mat x, ptrdiff_t i, ptrdiff_t j)          /* the part of x that begins at (i, j) */
{
    return (gra_mat){ x.p + i * x.row + j * x.col, x.row, x.col };
}

/* Where the panel of row i (column j) begins in the piece that begins at p: pieces lie one after the
 * other, each as wide as the block is when its last panel is whole. */
static real *panel_a(const struct block *s, int i, int p)
{
    size_t high = cut(s->m, s->tile->rows) * (size_t)s->tile->rows;
    return s->pack_a + high * (size_t)p + (size_t)i * (size_t)least(DEPTH, s->k - p);
}

static real *panel_b(const struct block *s, int j, int p)
{
    size_t wide = cut(s->n, s->tile->cols) * (size_t)s->tile->cols;
    return s->pack_b + wide * (size_t)p + (size_t)j * (size_t)least(DEPTH, s->k - p);
}

static void pack_groups(void *arg, size_t from, size_t to, int worker)
{
    const struct block *s = arg;
    const int cols = s->tile->cols;
    (void)worker;
    for (size_t g = from; g < to; g++)
        for (int p = 0; p < s->k; p += DEPTH) {
            const int k = least(DEPTH, s->k - p);
            if (g < s->groups_a) {
                int i = (int)g * GROUP_ROWS;
                pack_rows(at(s->a, i, p), least(GROUP_ROWS, s->m - i), k, s->tile->rows, panel_a(s, i, p));
                continue;
            }
            int j0 = (int)(g - s->groups_a) * GROUP_COLS, j1 = least(s->n, j0 + GROUP_COLS);
            for (int j = j0; j < j1; j += cols)
                s->tile->pack(k, least(cols, j1 - j), at(s->b, p, j), panel_b(s, j, p));
        }
}

/* A tile that reaches over the edge of c: computed whole, from padded rows of a, and stored in part. */
static void edge_tile(const struct block *s, int k, gra_mat a, const real *b, real *c, int rows, int cols,
                      bool accumulate, real *padded)
{
    real whole[GRA_TILE_ROWS * GRA_TILE_COLS];
    const gra_tile *tile = s->tile;
    if (rows < tile->rows && !s->pack_a) {
        pack_rows(a, rows, k, tile->rows, padded);
        a = (gra_mat){ padded, 1, tile->rows };
    }
    tile->run(k, a.p, a.row, a.col, b, whole, tile->cols, false);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            real *to = &c[i * s->ldc + j];
            *to = whole[i * tile->cols + j] + (accumulate ? *to : 0);
        }
}

/* The piece that begins at p, of the rows [i0, i1) and the columns [j0, j1). */
static void compute_piece(const struct block *s, int p, int i0, int i1, int j0, int j1, real *padded)
{
    const int rows = s->tile->rows, cols = s->tile->cols, k = least(DEPTH, s->k - p);
    const bool accumulate = s->accumulate || p > 0;
    for (int j = j0; j < j1; j += cols)
        for (int i = i0; i < i1; i += rows) {
            gra_mat a = s->pack_a ? (gra_mat){ panel_a(s, i, p), 1, rows } : at(s->a, i, p);
            const real *b = panel_b(s, j, p);
            real *c = s->c + i * s->ldc + j;
            if (i1 - i >= rows && j1 - j >= cols)
                s->tile->run(k, a.p, a.row, a.col, b, c, s->ldc, accumulate);
            else
                edge_tile(s, k, a, b, c, least(rows, i1 - i), least(cols, j1 - j), accumulate, padded);
        }
}

static void compute_groups(void *arg, size_t from, size_t to, int worker)
{
    const struct block *s = arg;
    const size_t down = cut(s->m, GROUP_ROWS);
    for (size_t g = from; g < to; g++) {
        int i = (int)(g % down) * GROUP_ROWS, j = (int)(g / down) * GROUP_COLS;
        for (int p = 0; p < s->k; p += DEPTH)
            compute_piece(s, p, i, least(s->m, i + GROUP_ROWS), j, least(s->n, j + GROUP_COLS),
                          gra_pool_own(s->pool, worker) + PADDING);
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

/* Packing a's rows costs as much as some hundred products of each of their values. It pays for wide b,
 * and where rows lie whole pages apart: they would share the same few lines of the first cache. */
static bool rows_pay(gra_mat a, int n)
{
    return n > 1024 || (a.row * (ptrdiff_t)sizeof(real)) % 4096 == 0;
}

/* All blocks of c, one after the other; `all_threads` share each, or worker computes it alone. */
static void product(gra_tape *t, bool all_threads, int worker, int m, int n, int k, gra_mat a, gra_mat b, real *c,
                    ptrdiff_t ldc, bool accumulate)
{
    const gra_pool *pool = gra_tape_pool(t);
    const int rows = all_threads ? ROWS : ROWS_ALONE, cols = all_threads ? COLS : COLS_ALONE;
    const int deep = all_threads ? DEEP : DEPTH;
    real *panels = all_threads ? gra_pool_shared(pool) : gra_pool_own(pool, worker);
    const bool pack_a = rows_pay(a, n);
    if (k == 0 && !accumulate)
        for (int i = 0; i < m; i++)
            memset(c + i * ldc, 0, (size_t)n * sizeof(real));
    for (int j = 0; j < n; j += cols)
        for (int p = 0; p < k; p += deep)
            for (int i = 0; i < m; i += rows) {
                struct block s = {
                    .pool = pool, .tile = best_tile(t),
                    .m = least(rows, m - i), .n = least(cols, n - j), .k = least(deep, k - p),
                    .a = at(a, i, p), .b = at(b, p, j),
                    .c = c + i * ldc + j, .ldc = ldc, .accumulate = accumulate || p > 0,
                    .pack_b = panels, .pack_a = pack_a ? panels + (size_t)deep * (size_t)(cols + EDGE) : NULL,
                };
                s.groups_a = pack_a ? cut(s.m, GROUP_ROWS) : 0;
                s.groups_b = i == 0 ? cut(s.n, GROUP_COLS) : 0; /* b's panels serve all blocks of rows */
                size_t packs = s.groups_a + s.groups_b, tiles = cut(s.m, GROUP_ROWS) * cut(s.n, GROUP_COLS);
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
