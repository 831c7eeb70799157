/* gemm: c = a b, c += a b, or c = a b + bias, for any strides of a and b (after Goto & van de Geijn 2008 and
 * BLIS; here the packed block of b is in the L2 cache, and each thread packs its own block).
 *
 * c is cut into rectangles. A single thread computes a rectangle, so packed values stay in the cache of its
 * core. A rectangle's columns are cut into blocks of BLOCK_COLS, and k into pieces of DEPTH steps (a step is
 * one value of k, or two: gemm.h). For each block and piece, the part of b is packed into panels in the order
 * in which the micro-kernel reads it. Then c is computed BLOCK_ROWS rows at a time, every tile by one call of
 * the micro-kernel. The same rows of a are packed too. If packing would cost more than it saves, the kernel
 * reads the matrix in place. A transpose is just another pair of strides.
 *
 * Any number of threads gives the same bits: a single thread computes each sum, k is cut at multiples of
 * DEPTH steps, and the shape of the whole product decides which kernel is used. So every value is the same
 * sum in the same order, however c is cut. */
#include "gemm.h"
#include "gemv.h"
#include "simd.h"
#include "../machine/machine.h"
#include <assert.h>

enum {
    DEPTH = GRA_DEPTH,                  /* steps in a piece of k: a panel of b stays in the L1 or L2 cache */
    BLOCK_COLS = 512,                   /* columns of a block: its panels stay in the L2 cache */
    BLOCK_ROWS = 96,                    /* rows of a that are packed at a time, beside b's panels in L2 */
    ROW_LD = DEPTH + 16,                /* stride of packed rows, padded against cache conflicts */
    PACKED = DEPTH * BLOCK_COLS + ROW_LD * BLOCK_ROWS,
    LONG = 1 << 16,                     /* a longer k is a long sum: see below */
    LONG_ROWS = 48, LONG_COLS = 128,    /* the part of c that one worker sums at a time */
    LONG_SUM = LONG_ROWS * LONG_COLS
};
_Static_assert(PACKED + LONG_SUM * (1 + sizeof(double) / sizeof(real)) <= GRA_WORKSPACE,
               "the workspace is too small");
_Static_assert(BLOCK_ROWS % GRA_TILE_ROWS == 0, "blocks are whole tiles");
_Static_assert(BLOCK_COLS % GRA_TILE_COLS == 0, "blocks are whole tiles");

struct product {                        /* c = a b + add, or a part of it */
    const gra_tile *tile;
    gra_machine *machine;
    gra_mat     a, b, c;                /* the rows of c are contiguous: c.col is 1 */
    const real *add;                    /* c itself (accumulate), a bias (ld_add is 0), or NULL */
    ptrdiff_t   ld_add;                 /* stride of add's rows */
    int         steps;                  /* in a piece of k, at most DEPTH */
};

static int ceil_div(int n, int part)    { return (n - 1) / part + 1; }          /* n > 0 */
static int smaller(int a, int b)        { return a < b ? a : b; }

/* ---- a block of c: at most BLOCK_COLS columns, of sums over one piece of k ---- */

static int narrowest(const gra_tile *tile, int n)       /* columns of the narrowest tile that holds n */
{
    return n > tile->cols / 2 ? tile->cols : n > tile->cols / 4 ? tile->cols / 2 : tile->cols / 4;
}

/* A tile that extends past the right edge of c is computed in a buffer, and the part inside c is copied. */
static void edge_tile(gra_tile_run *run, gra_mat a, const real *b, ptrdiff_t row_b, gra_mat c,
                      const real *add, ptrdiff_t ld_add)
{
    real whole[GRA_TILE_ROWS * GRA_TILE_COLS];
    run(a.cols, a.p, a.row, a.col, b, row_b, whole, GRA_TILE_COLS, NULL, 0);
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.cols; j++)
            c.p[i * c.row + j] = add ? whole[i * GRA_TILE_COLS + j] + add[i * ld_add + j]
                : whole[i * GRA_TILE_COLS + j];
}

/* Computes a column of tiles: from row i, as many rows of c as a has; from column j, n columns, at most the
 * width of a tile. a contains only these rows, b is the panel of these columns. */
static void column_of_tiles(const struct product *s, int i, int j, int n, gra_mat a, bool packed,
                            const real *b, ptrdiff_t row_b)
{
    const gra_tile *tile = s->tile;
    const int rows = tile->rows, cols = narrowest(tile, n);
    const int steps = a.cols;                           /* after packed_rows, or k */
    gra_tile_run *const *run = cols == tile->cols     ? tile->full
                             : cols == tile->cols / 2 ? tile->half : tile->quarter;
    const ptrdiff_t next_a = packed && a.row == 1 ? (ptrdiff_t)rows * steps : rows * a.row;
    for (const int end = i + a.rows; i < end; i += rows, a.p += next_a) {
        const int high = smaller(rows, end - i);
        const gra_mat c = gra_mat_part(s->c, i, high, j, n);
        const real *add = s->add ? s->add + i * s->ld_add + j : NULL;
        if (n == cols)
            run[high - 1](steps, a.p, a.row, a.col, b, row_b, c.p, c.row, add, s->ld_add);
        else
            edge_tile(run[high - 1], a, b, row_b, c, add, s->ld_add);
    }
}

/* Packs rows of a for the kernel. Contiguous rows are copied, with a stride that avoids cache conflicts.
 * Other rows, and all rows for a kernel that reads only panels, are packed tile by tile, side by side. */
static gra_mat packed_rows(const gra_tile *tile, gra_mat a, real *to)
{
    const int steps = ceil_div(a.cols, tile->per_step);
    if (a.col != 1 || tile->only_panels) {
        tile->pack_a(a, to);
        return (gra_mat){ to, a.rows, steps, 1, tile->rows };
    }
    for (int i = 0; i < a.rows; i++)
        tile->pack_row(a.cols, a.p + i * a.row, to + i * ROW_LD);
    return (gra_mat){ to, a.rows, steps, ROW_LD, 1 };
}

static void block(const struct product *s, bool pack_a, bool pack_b, int worker)
{
    const int cols = s->tile->cols, n = s->c.cols, k = s->a.cols;
    real *panels = gra_machine_workspace(s->machine, worker), *rows = panels + DEPTH * BLOCK_COLS;
    if (pack_b)
        s->tile->pack_b(s->b, panels);
    for (int i = 0; i < s->c.rows; i += BLOCK_ROWS) {
        gra_mat a = gra_mat_part(s->a, i, smaller(BLOCK_ROWS, s->c.rows - i), 0, k);
        if (pack_a)
            a = packed_rows(s->tile, a, rows);
        const int steps = a.cols;                       /* after packed_rows, or k */
        for (int j = 0; j < n; j += cols)
            column_of_tiles(s, i, j, smaller(cols, n - j), a, pack_a,
                            pack_b ? panels + (ptrdiff_t)j * steps : s->b.p + j, pack_b ? cols : s->b.row);
    }
}

/* ---- a rectangle of c: its blocks in turn ---- */

/* Cost model: reading and packing one value takes about as long as PACKING multiply-adds. */
static const double PACKING = 10;

static bool cache_conflict(ptrdiff_t stride) { return (stride * (ptrdiff_t)sizeof(real)) % 4096 == 0; }

/* Packing rows of a pays if b is wide, because each row is used often. It also pays if, with a's stride,
 * values that the kernel reads together compete for the same cache sets. */
static bool should_pack_a(const struct product *s)
{
    const bool down = s->a.row == 1;                    /* a's columns are contiguous: a transpose */
    return s->c.cols >= (down ? 384 : 512) || cache_conflict(down ? s->a.col : s->a.row);
}

/* Packing b pays if a has many rows. If a has few rows, b is read in place, provided that b's rows are
 * contiguous and fill whole tiles. */
static bool should_pack_b(const struct product *s)
{
    const int last = s->c.cols % s->tile->cols;
    const bool fills = !last || last == narrowest(s->tile, last);
    return s->c.rows > 256 || s->b.col != 1 || !fills || cache_conflict(s->b.row);
}

/* The part of a product with m rows from row i on and n columns from column j on. */
static struct product part_of(const struct product *s, int i, int m, int j, int n)
{
    struct product part = *s;
    part.a = gra_mat_part(s->a, i, m, 0, s->a.cols);
    part.b = gra_mat_part(s->b, 0, s->b.rows, j, n);
    part.c = gra_mat_part(s->c, i, m, j, n);
    if (s->add)
        part.add += i * s->ld_add + j;
    return part;
}

static void rectangle(const struct product *s, int worker)
{
    const bool rounds = s->tile->per_step > 1;          /* while packing */
    const bool pack_a = rounds || s->tile->only_panels || should_pack_a(s);
    const bool pack_b = rounds || should_pack_b(s);
    const int m = s->c.rows, k = s->a.cols;
    for (int j = 0, n; j < s->c.cols; j += n) {
        n = smaller(BLOCK_COLS, s->c.cols - j);
        struct product part = part_of(s, 0, m, j, n);
        for (int p = 0, length; p < k; p += length) {
            length = smaller(s->steps * s->tile->per_step, k - p);
            part.a = gra_mat_part(s->a, 0, m, p, length);
            part.b = gra_mat_part(s->b, p, length, j, n);
            block(&part, pack_a, pack_b, worker);
            part.add = part.c.p;                        /* what the next piece is added to */
            part.ld_add = part.c.row;
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
    const int across = ceil_div(s->c.cols, c->cols);    /* numbered row by row: a chunk is some rows of c */
    for (int r = (int)from; r < (int)to; r++) {
        const int i = r / across * c->rows, j = r % across * c->cols;
        const struct product part = part_of(s, i, smaller(c->rows, s->c.rows - i), j,
                                            smaller(c->cols, s->c.cols - j));
        rectangle(&part, worker);
    }
}

/* Cost model of a cut: the values of c that a thread computes, plus PACKING for each row of a and column of b
 * that it packs for them. */
static double time_of(const struct cut *c, int threads)
{
    const int all = ceil_div(c->whole->c.rows, c->rows) * ceil_div(c->whole->c.cols, c->cols);
    const double rows = c->rows, cols = c->cols;
    return (double)ceil_div(all, threads) * (rows * cols + PACKING * (rows + cols));
}

/* The size of a part, in values, if n is split into `into` parts of whole tiles. */
static int whole_tiles(int n, int tile, int into)
{
    const ptrdiff_t size = (ptrdiff_t)ceil_div(ceil_div(n, tile), into) * tile;
    return size < n ? (int)size : n;
}

/* One rectangle for each thread, or several if the product is large: a thread that finishes early can take
 * another rectangle. Of all cuts into that many rectangles, this is the fastest by the cost model. */
static struct cut cut_for(const struct product *s, int threads)
{
    enum { PER_THREAD = 4 };                            /* rectangles */
    const double LARGE = 1 << 25;                       /* multiply-adds in one */
    const int m = s->c.rows, n = s->c.cols;
    int count = PER_THREAD * threads;
    while (count > threads && (double)m * n * s->a.cols / count < LARGE)
        count /= 2;
    struct cut best = { s, m, n };
    double shortest = time_of(&best, threads);
    const int most = smaller(count, ceil_div(n, s->tile->cols));
    for (int across = 1; across <= most; across++) {
        const struct cut c = { s, whole_tiles(m, s->tile->rows, ceil_div(count, across)),
                               whole_tiles(n, s->tile->cols, across) };
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
    gra_parallel(s->machine, (size_t)ceil_div(s->c.rows, c.rows) * (size_t)ceil_div(s->c.cols, c.cols), 1,
                 rectangles, &c);
}

/* ---- long sums ----
 *
 * In a sum of more than LONG terms (the gradient of a weight that many rows use), the rounding errors of a
 * chain of additions would grow with its length. So the sum is cut into groups. Each group is a separate
 * product, summed in real in short pieces, and the groups are added in double. */

enum {
    LONG_DEPTH = 32,                    /* steps in a piece */
    LONG_GROUP = 16 * LONG_DEPTH        /* values of k in a group: 16 pieces, or 8 if a step is two values */
};

static void long_sum(const struct product *s, int worker)       /* of at most LONG_ROWS by LONG_COLS values */
{
    const int m = s->c.rows, n = s->c.cols, k = s->a.cols;
    real *group = gra_machine_workspace(s->machine, worker) + PACKED;
    double *sum = (double *)(void *)(group + LONG_SUM);
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            sum[i * n + j] = s->add ? (double)s->add[i * s->ld_add + j] : 0;
    struct product part = { s->tile, s->machine, .c = gra_mat_of(group, m, n), .steps = LONG_DEPTH };
    for (int p = 0, length; p < k; p += length) {
        length = smaller(LONG_GROUP, k - p);
        part.a = gra_mat_part(s->a, 0, m, p, length);
        part.b = gra_mat_part(s->b, p, length, 0, n);
        rectangle(&part, worker);
        for (int i = 0; i < m * n; i++)
            sum[i] += (double)group[i];
    }
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            s->c.p[i * s->c.row + j] = (real)sum[i * n + j];
}

static void long_sums(void *arg, size_t from, size_t to, int worker)
{
    const struct product *s = arg;
    const int across = ceil_div(s->c.cols, LONG_COLS);
    for (int r = (int)from; r < (int)to; r++) {
        const int i = r / across * LONG_ROWS, j = r % across * LONG_COLS;
        const struct product part = part_of(s, i, smaller(LONG_ROWS, s->c.rows - i), j,
                                            smaller(LONG_COLS, s->c.cols - j));
        long_sum(&part, worker);
    }
}

/* ---- the whole product ---- */

/* The micro-kernel that rounds its inputs to bfloat16; NULL: this step multiplies reals. */
static const gra_tile *rounding_tile(const gra_machine *machine)
{
    const gra_bf16 bf16 = gra_machine_bf16(machine);
#ifndef GRADUS_DOUBLE
#if SIMD_BF16
    if (bf16 == GRA_BF16_NATIVE)
        return &gra_tile_bf16;
#endif
    if (bf16 == GRA_BF16_EMULATED)
        return &gra_tile_bf16_emulated;
#endif
    (void)bf16;
    return NULL;
}

/* Is a product so large that bfloat16 gains more than it costs to pack all of a and b? The bounds were
 * measured on a Zen 4, in products and in attention's strips; n needs no separate bound. m and n are the
 * sizes of the product that is computed, perhaps the transposed one. */
static bool worth_rounding(int m, int n, int k) { return m >= 16 && k >= 16 && (double)m * n * k >= 1 << 15; }

static const gra_tile *best_tile(const gra_machine *machine, int m, int n, int k)
{
    const gra_tile *rounding = rounding_tile(machine);
    if (rounding && worth_rounding(m, n, k))
        return rounding;
#if SIMD_X86
    if (gra_machine_isa(machine) == GRA_AVX512)
        return &gra_tile_avx512;
    if (gra_machine_isa(machine) == GRA_AVX2)
        return &gra_tile_avx2;
#endif
    return &gra_tile_base;
}

static bool worth_threads(int m, int n, int k)
{
    const double worth = m > GRA_FEW_ROWS ? 1 << 18 : 1 << 14;  /* multiply-adds worth waking threads for */
    return (double)m * n * k >= worth;
}

/* If k is 0, the product is c = add. */
static void fill(gra_mat c, const real *add, ptrdiff_t ld_add)
{
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.cols; j++)
            c.p[i * c.row + j] = add ? add[i * ld_add + j] : 0;
}

/* c = a b + add, with row i of add at add + i * ld_add; add may be c itself, or NULL. One worker computes it
 * or, if `worker` is ANY, all threads do if that pays. */
enum { ANY = -1 };
static void product(gra_machine *machine, int worker, gra_mat a, gra_mat b, gra_mat c,
                    const real *add, ptrdiff_t ld_add)
{
    const int m = c.rows, n = c.cols, k = a.cols;
    assert(a.rows == m && b.rows == k && b.cols == n && (c.col == 1 || n == 1));
    const bool all_threads = worker == ANY && worth_threads(m, n, k);
    const int one = worker == ANY ? 0 : worker;
    if (k == 0) {
        fill(c, add, ld_add);
        return;
    }
    if (m <= GRA_FEW_ROWS && k <= LONG) {
        gra_gemv(machine, all_threads, a, b, c, add, ld_add);
        return;
    }
    if (n <= GRA_FEW_ROWS && (double)m * n * k <= GRA_TINY && k <= GRA_DEPTH) {
        gra_tiny(machine, a, b, c, add, ld_add);
        return;
    }
    struct product s = { best_tile(machine, m, n, k), machine, a, b, c, add, ld_add, DEPTH };
    const size_t sums = k <= LONG || !m || !n ? 0
                      : (size_t)ceil_div(m, LONG_ROWS) * (size_t)ceil_div(n, LONG_COLS);
    if (sums && all_threads)
        gra_parallel(machine, sums, 1, long_sums, &s);
    else if (sums)
        long_sums(&s, 0, sums, one);
    else if (all_threads)
        on_all_threads(&s);
    else
        rectangle(&s, one);
}

/* The kernels need contiguous rows of c. If the columns of c are contiguous instead, c^T = b^T a^T is
 * computed. A single column is computed in the same way, because a row is faster. */
static void product_by_rows(gra_machine *machine, int worker, gra_mat a, gra_mat b, gra_mat c,
                            bool accumulate)
{
    const real *add = accumulate ? c.p : NULL;
    if (c.row == 1 && (c.col != 1 || c.cols == 1))
        product(machine, worker, gra_mat_transpose(b), gra_mat_transpose(a), gra_mat_transpose(c), add,
                c.col);
    else
        product(machine, worker, a, b, c, add, c.row);
}

void gra_gemm_alone(gra_machine *machine, int worker, gra_mat a, gra_mat b, gra_mat c, bool accumulate)
{
    product_by_rows(machine, worker, a, b, c, accumulate);
}

void gra_gemm(gra_machine *machine, gra_mat a, gra_mat b, gra_mat c, bool accumulate)
{
    product_by_rows(machine, ANY, a, b, c, accumulate);
}

void gra_gemm_bias(gra_machine *machine, gra_mat a, gra_mat b, const real *bias, gra_mat c)
{
    product(machine, ANY, a, b, c, bias, 0);
}
