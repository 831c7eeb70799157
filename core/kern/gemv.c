/* gemv: c = a b for one or two rows of a, for example in generating text one token at a time.
 *
 * Each value of b is used only once or twice, so packing it, as gemm does, would cost more than the product:
 * without this file, text is generated at a third of the speed. Each column of c is the same sum in the same
 * order as in gemm, unless gemm rounds to bfloat16. So the bits of c do not depend on the cut, on the threads
 * or on the number of rows. */
#include "gemv.h"
#include "../machine/machine.h"

enum {
    NARROW = 64,                        /* columns of a unit of work where b's columns are contiguous */
    WIDE = 512,                         /* the same where b's rows are contiguous */
    FEW = 16                            /* fewer columns than this join the last unit */
};

struct product {
    gra_gemv_kernel *kernel;
    gra_mat     a, b, c;
    const real *add;
    ptrdiff_t   ld_add;
    int         columns, units;         /* columns of a unit of work; number of units */
};

static void compute(void *arg, size_t from, size_t to, int worker)
{
    const struct product *s = arg;
    (void)worker;
    for (size_t unit = from; unit < to; unit++) {
        const int j = (int)unit * s->columns, n = (int)unit + 1 == s->units ? s->b.cols - j : s->columns;
        const gra_mat b = gra_mat_part(s->b, 0, s->b.rows, j, n);
        for (int i = 0; i < s->c.rows; i++)             /* row after row: b's columns are still cached */
            s->kernel(s->a.p + i * s->a.row, s->a.col, b, s->c.p + i * s->c.row + j,
                      s->add ? s->add + i * s->ld_add + j : NULL);
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

void gra_gemv(gra_machine *machine, bool all_threads, gra_mat a, gra_mat b, gra_mat c, const real *add,
              ptrdiff_t ld_add)
{
    const int columns = b.row == 1 ? NARROW : WIDE, units = (b.cols + columns - FEW) / columns;
    struct product s = { best_kernel(gra_machine_isa(machine)), a, b, c, add, ld_add, columns,
                         units ? units : 1 };
    if (all_threads)
        gra_parallel(machine, (size_t)s.units, 1, compute, &s);
    else
        compute(&s, 0, (size_t)s.units, 0);
}

void gra_tiny(gra_machine *machine, gra_mat a, gra_mat b, gra_mat c, const real *add, ptrdiff_t ld_add)
{
    static gra_tiny_kernel *const kernel[GRA_ISAS] = {
        gra_tiny_base,
#if defined(__x86_64__) && defined(__GNUC__)
        gra_tiny_avx2, gra_tiny_avx512
#endif
    };
    kernel[gra_machine_isa(machine)](a, b, c, add, ld_add);
}
