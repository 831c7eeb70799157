/* gemm: c = a b, c += a b, or c = a b + bias, for any strides of a and b (Goto & van de Geijn 2008; Van Zee's BLIS).
 *
 * c's columns are cut into blocks of COLS, k into pieces of DEPTH. For each, b's part is first packed into
 * panels as the micro-kernel reads them; then c is computed in groups of rows and columns, every tile of
 * which is one call of the micro-kernel. A group's rows of a are packed too. What does not pay is not packed:
 * the kernel then reads it in place. A transpose is only another pair of strides. Cuts depend on the sizes alone and
 * pieces are added in order: any number of threads gives the same bits. */
#include "gemm.h"
#include "gemv.h"
#include "../tape.h"

enum {
    DEPTH = GRA_DEPTH,                  /* of a piece: a panel of b then stays in the first cache, */
    COLS = 1024, COLS_ALONE = 512,      /* and those of a block, for all threads or for one, in the second */
    GROUP_ROWS = 96, GROUP_COLS = 256,  /* of what one thread takes at a time, at most; if a's rows are packed for it, */
    PACKED_COLS = 512,                  /* or all columns where the rows make many groups; */
    GROUPS = 8,                         /* few are made smaller, so that all threads have work */
    EDGE = 32                           /* by which the last panel may reach beyond */
};
_Static_assert(DEPTH * (COLS + EDGE) <= GRA_POOL_SHARED, "the panels of b find no room");
_Static_assert(DEPTH * (COLS_ALONE + EDGE) + (DEPTH + 16) * GROUP_ROWS <= GRA_POOL_OWN, "the panels of a group find no room");
_Static_assert(DEPTH * GRA_TILE_COLS <= 1 << 14, "a panel is more than is worth a thread");
_Static_assert(GROUP_ROWS % GRA_TILE_ROWS == 0 && GROUP_COLS % GRA_TILE_COLS == 0, "groups are whole tiles");

struct block {                          /* c[m x n] = a[m x k] b[k x n] + add[m x n], n at most COLS, k at most DEPTH */
    const gra_pool *pool;
    const gra_tile *tile;
    int       m, n, k;
    gra_mat   a, b;
    real     *c;
    ptrdiff_t ldc;
    const real *add;                    /* c itself, a bias, whose rows are `apart` 0, or NULL */
    ptrdiff_t apart;
    bool      pack_a, pack_b;
    int       group_rows, group_cols;
    real     *panels;                   /* of b, where it is packed */
};

static size_t cut(int n, int group)     { return ((size_t)n + (size_t)group - 1) / (size_t)group; }
static int    least(int a, int b)       { return a < b ? a : b; }

static gra_mat at(gra_mat x, ptrdiff_t i, ptrdiff_t j)          /* the part of x that begins at (i, j) */
{
    return (gra_mat){ x.p + i * x.row + j * x.col, x.row, x.col };
}

static void pack_b(void *arg, size_t from, size_t to, int worker)       /* panels [from, to) */
{
    const struct block *s = arg;
    const int cols = s->tile->cols, j = (int)from * cols;
    (void)worker;
    s->tile->pack_b(least((int)(to - from) * cols, s->n - j), s->k, at(s->b, 0, j), s->panels + (ptrdiff_t)j * s->k);
}

static const real *panel(const struct block *s, int j) { return s->pack_b ? s->panels + (ptrdiff_t)j * s->k : s->b.p + j; }
static ptrdiff_t panel_row(const struct block *s)      { return s->pack_b ? s->tile->cols : s->b.row; }

static size_t panels_at_once(const struct block *s)     /* as many as are worth a thread */
{
    const int values = 1 << 14;                         /* more than a panel has */
    return (size_t)(values / (s->k * s->tile->cols));
}

static int narrowest(const gra_tile *tile, int n)       /* how many columns a tile must have to hold n */
{
    return n > tile->cols / 2 ? tile->cols : n > tile->cols / 4 ? tile->cols / 2 : tile->cols / 4;
}

/* A tile that reaches over the right edge of c: computed whole and stored in part. */
static void edge_tile(gra_tile_run *run, int k, gra_mat a, const real *b, ptrdiff_t next, real *c, ptrdiff_t ldc,
                      const real *add, ptrdiff_t apart, int rows, int cols)
{
    real whole[GRA_TILE_ROWS * GRA_TILE_COLS];
    run(k, a.p, a.row, a.col, b, next, whole, GRA_TILE_COLS, NULL, 0);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            c[i * ldc + j] = whole[i * GRA_TILE_COLS + j] + (add ? add[i * apart + j] : 0);
}

/* The values of c in m rows from i0 on and n columns from j on, n at most a tile's, from those rows of a and a
 * panel of b. */
static void column_of_tiles(const struct block *s, int i0, int m, int j, int n, gra_mat a)
{
    const gra_tile *tile = s->tile;
    const int rows = tile->rows, cols = narrowest(tile, n);
    gra_tile_run *const *run = cols == tile->cols ? tile->wide : cols == tile->cols / 2 ? tile->half : tile->quarter;
    const bool edge = n != cols;
    const real *b = panel(s, j);
    const ptrdiff_t next_b = panel_row(s);
    const ptrdiff_t next = a.row == 1 && s->pack_a ? (ptrdiff_t)rows * s->k : rows * a.row;
    for (int i = i0; i < i0 + m; i += rows, a.p += next) {
        const int high = least(rows, i0 + m - i);
        real *c = s->c + i * s->ldc + j;
        const real *add = s->add ? s->add + i * s->apart + j : NULL;
        if (edge)
            edge_tile(run[high - 1], s->k, a, b, next_b, c, s->ldc, add, s->apart, high, n);
        else
            run[high - 1](s->k, a.p, a.row, a.col, b, next_b, c, s->ldc, add, s->apart);
    }
}

/* m rows of a, where the kernel finds them best: copied as they lie, close to each other but not so that they
 * meet in the cache; or where columns lie so, a tile's rows side by side. */
static gra_mat packed_rows(const struct block *s, int m, gra_mat a, real *to)
{
    enum { APART = DEPTH + 16 };
    if (a.col != 1) {
        s->tile->pack_a(m, s->k, a, to);
        return (gra_mat){ to, 1, s->tile->rows };
    }
    for (int i = 0; i < m; i++)
        memcpy(to + i * APART, a.p + i * a.row, (size_t)s->k * sizeof(real));
    return (gra_mat){ to, APART, 1 };
}

static size_t groups(const struct block *s)
{
    return cut(s->m, s->group_rows) * cut(s->n, s->group_cols);
}

/* Groups are whole tiles, and as large as is good for the caches, but not so large that all threads have few. */
static void cut_in_groups(struct block *s, bool all_threads)
{
    s->group_rows = GROUP_ROWS;
    s->group_cols = !s->pack_a ? GROUP_COLS : cut(s->m, GROUP_ROWS) < GROUPS ? PACKED_COLS : COLS;
    while (all_threads && groups(s) < GROUPS && s->group_rows > GROUP_ROWS / 4)
        s->group_rows /= 2;
    while (all_threads && groups(s) < GROUPS && s->group_cols > GROUP_COLS / 4)
        s->group_cols /= 2;
}

static void compute_groups(void *arg, size_t from, size_t to, int worker)
{
    const struct block *s = arg;
    const int cols = s->tile->cols;
    const size_t across = cut(s->n, s->group_cols);     /* row by row: a thread's share is some rows of c */
    for (size_t g = from; g < to; g++) {
        const int i = (int)(g / across) * s->group_rows, m = least(s->group_rows, s->m - i);
        const int j0 = (int)(g % across) * s->group_cols, j1 = least(s->n, j0 + s->group_cols);
        gra_mat a = at(s->a, i, 0);
        if (s->pack_a)
            a = packed_rows(s, m, a, gra_pool_own(s->pool, worker) + DEPTH * (COLS_ALONE + EDGE));
        for (int j = j0; j < j1; j += cols)
            column_of_tiles(s, i, m, j, least(cols, j1 - j), a);
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

static bool meet_in_cache(ptrdiff_t apart) { return (apart * (ptrdiff_t)sizeof(real)) % 4096 == 0; }

/* Packing a's rows costs as much as some ten products of each of their values. It pays for wide b, and where
 * the values that a tile reads at once, or its rows, lie so far apart that they share few lines of the cache. */
static bool a_pays(gra_mat a, int n)
{
    return n >= 512 || meet_in_cache(a.row == 1 ? a.col : a.row);
}

/* Packing b's columns pays for many rows of a. They can be read in place where they lie in rows and fill tiles. */
static bool b_pays(gra_mat b, int m, int n, const gra_tile *tile)
{
    const int last = n % tile->cols;
    return m > 256 || b.col != 1 || (last && last != narrowest(tile, last)) || meet_in_cache(b.row);
}

/* c = a b + add, row i of add being add + i * apart; add may be c itself. All blocks of c, one after the other;
 * `all_threads` share each, or worker computes it alone. */
static void product(gra_tape *t, bool all_threads, int worker, int m, int n, int k, gra_mat a, gra_mat b, real *c,
                    ptrdiff_t ldc, const real *add, ptrdiff_t apart)
{
    const gra_pool *pool = gra_tape_pool(t);
    const gra_tile *tile = best_tile(t);
    const int cols = all_threads ? COLS : COLS_ALONE;
    if (m <= GRA_FEW_ROWS && k > 0) {
        gra_gemv(t, all_threads, m, n, k, a, b, c, ldc, add, apart);
        return;
    }
    for (int i = 0; k == 0 && add != c && i < m; i++)
        for (int j = 0; j < n; j++)
            c[i * ldc + j] = add ? add[i * apart + j] : 0;
    for (int j = 0; j < n; j += cols)
        for (int p = 0; p < k; p += DEPTH) {
            const real *to = p > 0 ? c : add;           /* what this piece is added to */
            struct block s = {
                .pool = pool, .tile = tile, .m = m, .n = least(cols, n - j), .k = least(DEPTH, k - p),
                .a = at(a, 0, p), .b = at(b, p, j), .c = c + j, .ldc = ldc,
                .add = to ? to + j : NULL, .apart = p > 0 ? ldc : apart, .pack_a = a_pays(a, n),
                .pack_b = b_pays(b, m, n, tile),
                .panels = all_threads ? gra_pool_shared(pool) : gra_pool_own(pool, worker),
            };
            cut_in_groups(&s, all_threads);
            const size_t panels = s.pack_b ? cut(s.n, tile->cols) : 0;
            if (all_threads) {
                gra_parallel(t, panels, panels_at_once(&s), pack_b, &s);
                gra_parallel(t, groups(&s), 1, compute_groups, &s);
            } else {
                pack_b(&s, 0, panels, worker);
                compute_groups(&s, 0, groups(&s), worker);
            }
        }
}

static bool worth_threads(int m, int n, int k)
{
    const double worth = m > GRA_FEW_ROWS ? 1 << 18 : 1 << 14;  /* multiplications for which a thread is woken */
    return (double)m * n * k >= worth;
}

void gra_gemm_alone(gra_tape *t, int worker, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc,
                    bool accumulate)
{
    product(t, false, worker, m, n, k, a, b, c, ldc, accumulate ? c : NULL, ldc);
}

void gra_gemm(gra_tape *t, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc, bool accumulate)
{
    product(t, worth_threads(m, n, k), 0, m, n, k, a, b, c, ldc, accumulate ? c : NULL, ldc);
}

void gra_gemm_bias(gra_tape *t, int m, int n, int k, gra_mat a, gra_mat b, const real *bias, real *c, ptrdiff_t ldc)
{
    product(t, worth_threads(m, n, k), 0, m, n, k, a, b, c, ldc, bias, 0);
}
