/* gemm: c = a b, c += a b, or c = a b + bias, for any strides of a and b (Goto & van de Geijn 2008; BLIS).
 *
 * c is cut into rectangles. One thread computes a rectangle alone, so what it packs stays in its core's
 * cache. A rectangle's columns are cut into blocks of COLS, and k into pieces of DEPTH. For each of these the
 * part of b is packed into panels, in the order in which the micro-kernel reads them; then c is computed ROWS
 * rows at a time, every tile by one call of the micro-kernel. These rows of a are packed too. Where packing
 * would cost more than it saves, the kernel reads the matrix in place. A transpose is only another pair of
 * strides. However c is cut, every value is the same sum in the same order: any number of threads gives the
 * same bits. */
#include "gemm.h"
#include "gemv.h"
#include "../internal.h"

enum {
    DEPTH = GRA_DEPTH,                  /* length of a piece of k: a panel of b stays in the L1 cache */
    COLS = 512,                         /* columns of a block: its panels stay in the L2 cache */
    ROWS = 96,                          /* rows of a that are packed at a time, beside them in L2 */
    APART = DEPTH + 16                  /* stride of packed rows: padded, so as not to share cache sets */
};
_Static_assert(DEPTH * COLS + APART * ROWS <= GRA_WORKSPACE, "the workspace is too small");
_Static_assert(ROWS % GRA_TILE_ROWS == 0, "blocks are whole tiles");
_Static_assert(COLS % GRA_TILE_COLS == 0, "blocks are whole tiles");

struct product {                        /* c[m x n] = a[m x k] b[k x n] + add[m x n], or a part of it */
    const gra_tile *tile;
    gra_machine *machine;
    int         m, n, k;
    gra_mat     a, b;
    real       *c;
    ptrdiff_t   ldc;
    const real *add;                    /* c itself (accumulate), a bias (apart is 0), or NULL */
    ptrdiff_t   apart;                  /* stride of add's rows */
};

static int parts(int n, int part)       { return (n - 1) / part + 1; }     /* n > 0 */
static int least(int a, int b)          { return a < b ? a : b; }

static gra_mat at(gra_mat x, ptrdiff_t i, ptrdiff_t j)          /* the part of x that begins at (i, j) */
{
    return (gra_mat){ x.p + i * x.row + j * x.col, x.row, x.col };
}

/* ---- a block: n at most COLS, k at most DEPTH ---- */

static int narrowest(const gra_tile *tile, int n)       /* columns of the narrowest tile that holds n */
{
    return n > tile->cols / 2 ? tile->cols : n > tile->cols / 4 ? tile->cols / 2 : tile->cols / 4;
}

/* A tile that reaches beyond the right edge of c: it is computed into a buffer, of which c's part is
 * stored. */
static void edge_tile(gra_tile_run *run, int k, gra_mat a, const real *b, ptrdiff_t next, real *c,
                      ptrdiff_t ldc, const real *add, ptrdiff_t apart, int rows, int cols)
{
    real whole[GRA_TILE_ROWS * GRA_TILE_COLS];
    run(k, a.p, a.row, a.col, b, next, whole, GRA_TILE_COLS, NULL, 0);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++)
            c[i * ldc + j] = add ? whole[i * GRA_TILE_COLS + j] + add[i * apart + j]
                : whole[i * GRA_TILE_COLS + j];
}

/* m rows of c from i on and n columns from j on, where n is at most a tile's: a is these rows of a, b the
 * panel of these columns. */
static void column_of_tiles(const struct product *s, int i, int m, int j, int n, gra_mat a, bool packed,
                            const real *b, ptrdiff_t next_b)
{
    const gra_tile *tile = s->tile;
    const int rows = tile->rows, cols = narrowest(tile, n);
    gra_tile_run *const *run = cols == tile->cols     ? tile->wide
                             : cols == tile->cols / 2 ? tile->half : tile->quarter;
    const ptrdiff_t next_a = packed && a.row == 1 ? (ptrdiff_t)rows * s->k : rows * a.row;
    for (const int end = i + m; i < end; i += rows, a.p += next_a) {
        const int high = least(rows, end - i);
        real *c = s->c + i * s->ldc + j;
        const real *add = s->add ? s->add + i * s->apart + j : NULL;
        if (n == cols)
            run[high - 1](s->k, a.p, a.row, a.col, b, next_b, c, s->ldc, add, s->apart);
        else
            edge_tile(run[high - 1], s->k, a, b, next_b, c, s->ldc, add, s->apart, high, n);
    }
}

/* m rows of a, packed for the kernel. Contiguous rows are copied, at a stride without conflicts of cache
 * sets; otherwise the rows of a tile are packed side by side. */
static gra_mat packed_rows(const struct product *s, int m, gra_mat a, real *to)
{
    if (a.col != 1) {
        s->tile->pack_a(m, s->k, a, to);
        return (gra_mat){ to, 1, s->tile->rows };
    }
    for (int i = 0; i < m; i++)
        memcpy(to + i * APART, a.p + i * a.row, (size_t)s->k * sizeof(real));
    return (gra_mat){ to, APART, 1 };
}

static void block(const struct product *s, bool pack_a, bool pack_b, int worker)
{
    const int cols = s->tile->cols;
    real *panels = gra_machine_workspace(s->machine, worker), *rows = panels + DEPTH * COLS;
    if (pack_b)
        s->tile->pack_b(s->n, s->k, s->b, panels);
    for (int i = 0; i < s->m; i += ROWS) {
        const int m = least(ROWS, s->m - i);
        gra_mat a = at(s->a, i, 0);
        if (pack_a)
            a = packed_rows(s, m, a, rows);
        for (int j = 0; j < s->n; j += cols)
            column_of_tiles(s, i, m, j, least(cols, s->n - j), a, pack_a,
                            pack_b ? panels + (ptrdiff_t)j * s->k : s->b.p + j, pack_b ? cols : s->b.row);
    }
}

/* ---- a rectangle of c: its blocks one after the other ---- */

/* Cost model: reading and packing one value takes about as long as PACKING multiply-adds. */
enum { PACKING = 10 };

static bool cache_conflict(ptrdiff_t apart) { return (apart * (ptrdiff_t)sizeof(real)) % 4096 == 0; }

/* Packing rows of a pays where b is wide, for each is used often; and where a's stride makes values that the
 * kernel reads together compete for the same cache sets. */
static bool a_pays(const struct product *s)
{
    const bool down = s->a.row == 1;                    /* a's columns are contiguous: a transpose */
    return s->n >= (down ? 384 : 512) || cache_conflict(down ? s->a.col : s->a.row);
}

/* Packing b pays where a has many rows. Where it has few, b is read in place, if b's rows are contiguous and
 * fill whole tiles. */
static bool b_pays(const struct product *s)
{
    const int last = s->n % s->tile->cols;
    const bool fills = !last || last == narrowest(s->tile, last);
    return s->m > 256 || s->b.col != 1 || !fills || cache_conflict(s->b.row);
}

static struct product part_of(const struct product *s, int i, int m, int j, int n)
{
    struct product part = *s;
    part.m = m;
    part.n = n;
    part.a = at(s->a, i, 0);
    part.b = at(s->b, 0, j);
    part.c += i * s->ldc + j;
    if (s->add)
        part.add += i * s->apart + j;
    return part;
}

static void rectangle(const struct product *s, int worker)
{
    const bool pack_a = a_pays(s), pack_b = b_pays(s);
    for (int j = 0; j < s->n; j += COLS) {
        struct product part = part_of(s, 0, s->m, j, least(COLS, s->n - j));
        for (int p = 0; p < s->k; p += DEPTH) {
            part.k = least(DEPTH, s->k - p);
            part.a = at(s->a, 0, p);
            part.b = at(s->b, p, j);
            block(&part, pack_a, pack_b, worker);
            part.add = part.c;                          /* what the next piece is added to */
            part.apart = part.ldc;
        }
    }
}

/* ---- all rectangles, on all threads ---- */

struct cut {
    const struct product *whole;
    int rows, cols;                                     /* of a rectangle */
};

static void rectangles(void *arg, size_t from, size_t to, int worker)
{
    const struct cut *c = arg;
    const struct product *s = c->whole;
    const int across = parts(s->n, c->cols);            /* numbered row by row: a chunk is some rows of c */
    for (int r = (int)from; r < (int)to; r++) {
        const int i = r / across * c->rows, j = r % across * c->cols;
        const struct product part = part_of(s, i, least(c->rows, s->m - i), j, least(c->cols, s->n - j));
        rectangle(&part, worker);
    }
}

/* Cost model of a cut: the values of c that a thread computes, plus PACKING for each row of a and column of b
 * that it packs for them. */
static double time_of(const struct cut *c, int threads)
{
    const int all = parts(c->whole->m, c->rows) * parts(c->whole->n, c->cols);
    return (double)parts(all, threads) * ((double)c->rows * c->cols + PACKING * ((double)c->rows + c->cols));
}

/* The smallest whole number of tiles that splits n into `into` parts, in values. */
static int whole_tiles(int n, int tile, int into)
{
    const ptrdiff_t size = (ptrdiff_t)parts(parts(n, tile), into) * tile;
    return size < n ? (int)size : n;
}

/* One rectangle for each thread, or several where the product is large, so that a thread that finishes early
 * can take another. Of the cuts into that many, the one with the shortest time by the cost model. */
static struct cut cut_for(const struct product *s, int threads)
{
    enum { PER_THREAD = 4, LARGE = 1 << 25 };           /* rectangles; multiply-adds in one */
    int wanted = PER_THREAD * threads;
    while (wanted > threads && (double)s->m * s->n * s->k / wanted < LARGE)
        wanted /= 2;
    struct cut best = { s, s->m, s->n };
    double shortest = time_of(&best, threads);
    const int most = least(wanted, parts(s->n, s->tile->cols));
    for (int across = 1; across <= most; across++) {
        const struct cut c = { s, whole_tiles(s->m, s->tile->rows, parts(wanted, across)),
                               whole_tiles(s->n, s->tile->cols, across) };
        const double time = time_of(&c, threads);
        if (time < shortest) {
            shortest = time;
            best = c;
        }
    }
    return best;
}

static void on_all_threads(const struct product *s)
{
    struct cut c = cut_for(s, gra_machine_threads(s->machine));
    gra_parallel(s->machine, (size_t)parts(s->m, c.rows) * (size_t)parts(s->n, c.cols), 1, rectangles, &c);
}

static const gra_tile *best_tile(gra_isa isa)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (isa == GRA_AVX512)
        return &gra_tile_avx512;
    if (isa == GRA_AVX2)
        return &gra_tile_avx2;
#endif
    (void)isa;
    return &gra_tile_base;
}

/* c = a b + add, row i of add at add + i * apart; add may be c itself, or NULL. On all threads, or by this
 * worker alone. */
static void product(gra_machine *machine, bool all_threads, int worker, int m, int n, int k, gra_mat a,
                    gra_mat b, real *c, ptrdiff_t ldc, const real *add, ptrdiff_t apart)
{
    if (m <= GRA_FEW_ROWS && k > 0) {
        gra_gemv(machine, all_threads, m, n, k, a, b, c, ldc, add, apart);
        return;
    }
    for (int i = 0; k == 0 && add != c && i < m; i++)
        for (int j = 0; j < n; j++)
            c[i * ldc + j] = add ? add[i * apart + j] : 0;
    const struct product s = { best_tile(gra_machine_isa(machine)), machine, m, n, k, a, b, c, ldc, add,
                               apart };
    if (all_threads)
        on_all_threads(&s);
    else
        rectangle(&s, worker);
}

static bool worth_threads(int m, int n, int k)
{
    const double worth = m > GRA_FEW_ROWS ? 1 << 18 : 1 << 14;  /* multiply-adds worth waking threads for */
    return (double)m * n * k >= worth;
}

void gra_gemm_alone(gra_machine *machine, int worker, int m, int n, int k, gra_mat a, gra_mat b, real *c,
                    ptrdiff_t ldc, bool accumulate)
{
    product(machine, false, worker, m, n, k, a, b, c, ldc, accumulate ? c : NULL, ldc);
}

void gra_gemm(gra_machine *machine, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc,
              bool accumulate)
{
    product(machine, worth_threads(m, n, k), 0, m, n, k, a, b, c, ldc, accumulate ? c : NULL, ldc);
}

void gra_gemm_bias(gra_machine *machine, int m, int n, int k, gra_mat a, gra_mat b, const real *bias, real *c,
                   ptrdiff_t ldc)
{
    product(machine, worth_threads(m, n, k), 0, m, n, k, a, b, c, ldc, bias, 0);
}
