/* gemv: c = a b for one or two rows of a, as the generation of text has, a token at a time.
 *
 * Each value of b is used only once or twice, so packing it, as gemm does, would cost more than the product:
 * without this file text comes out a third as fast. Each column of c is the same sum in the same order as in
 * gemm: its bits depend neither on the cut, nor on the threads, nor on how many rows the product has, and
 * text that is generated with a key-value cache is that without it, bit for bit. */
#include "gemv.h"
#include "../internal.h"

enum {
    NARROW = 64,                        /* columns of a chunk of work, where columns are contiguous, */
    WIDE = 512,                         /* and where rows are; */
    FEW = 16                            /* a rest of fewer columns joins the last chunk */
};

struct product {
    gra_gemv_kernel *kernel;
    int         m, n, k;
    gra_mat     a, b;
    real       *c;
    ptrdiff_t   ldc;
    const real *add;
    ptrdiff_t   apart;
    int         columns, units;         /* of a unit of work, and how many there are */
};

static void compute(void *arg, size_t from, size_t to, int worker)
{
    const struct product *s = arg;
    (void)worker;
    for (size_t unit = from; unit < to; unit++) {
        const int j = (int)unit * s->columns, n = (int)unit + 1 == s->units ? s->n - j : s->columns;
        const gra_mat b = { s->b.p + j * s->b.col, s->b.row, s->b.col };
        for (int i = 0; i < s->m; i++)                  /* b's columns stay in a cache */
            s->kernel(s->k, n, s->a.p + i * s->a.row, s->a.col, b, s->c + i * s->ldc + j,
                      s->add ? s->add + i * s->apart + j : NULL);
    }
}

static gra_gemv_kernel *best_kernel(gra_isa isa)
{
#if defined(__x86_64__) && defined(__GNUC__)
    if (isa == GRA_AVX512)
        return gra_gemv_avx512;
    if (isa == GRA_AVX2)
        return gra_gemv_avx2;
#endif
    (void)isa;
    return gra_gemv_base;
}

void gra_gemv(gra_machine *machine, bool all_threads, int m, int n, int k, gra_mat a, gra_mat b, real *c,
              ptrdiff_t ldc, const real *add, ptrdiff_t apart)
{
    const int columns = b.row == 1 ? NARROW : WIDE, units = (n + columns - FEW) / columns;
    struct product s = { best_kernel(gra_machine_isa(machine)), m, n, k, a, b, c, ldc, add, apart, columns,
                         units ? units : 1 };
    if (all_threads)
        gra_parallel(machine, (size_t)s.units, 1, compute, &s);
    else
        compute(&s, 0, (size_t)s.units, 0);
}
