/* kernel.h: for authors of fast ops and optimisers; it includes op.h.
 *
 * Kernels compute on a machine: threads, an instruction set, and a workspace for each thread. A tape has a
 * machine and shares it with the models opened on the tape. */
#ifndef GRADUS_KERNEL_H
#define GRADUS_KERNEL_H

#include "op.h"

#ifdef __cplusplus
extern "C" {
#endif
#if defined(__GNUC__)
#pragma GCC visibility push(default)                /* exported, although compiled with -fvisibility=hidden */
#endif

typedef struct gra_machine gra_machine;
gra_machine *gra_tape_machine(const gra_tape *t);

/* GRA_KERNEL(all, f, y, n, cost), for ops, defines the function all(y), which computes y by calls of f(y,
 * from, to): these compute the units from <= i < to of n, each worth about `cost` additions. f is compiled
 * for each instruction set; all(y) runs the best variant for the processor, in chunks, on all threads if
 * there is enough work. However the units are cut, f must add in the same order: then any number of threads
 * gives the same bits. The cost GRA_SERIAL means one chunk, on one thread: for an f whose units write to the
 * same places. */
#define GRA_SERIAL SIZE_MAX
#define GRA_KERNEL(all, f, y, n, cost)                                                                   \
    GRA_VARIANTS(all##_on, f, gra_tensor)                                                                \
    static void all(gra_tensor *y)                                                                       \
    {                                                                                                    \
        gra_kernel(gra_tape_machine(y->tape), y, n, cost, all##_on);                                     \
    }

/* GRA_BROADCAST_KERNEL(all, f, y, cost) is GRA_KERNEL over the elements of y, for the backward of an op whose
 * inputs all broadcast to y's shape. While f runs, a broadcast input y->in[i] is a copy: its size is y's, its
 * gradient is a buffer of y's shape, indexed as y is, and its data and shape are the input's. Then the
 * buffer is summed in double over the broadcast dimensions, and added to the input's gradient. */
#define GRA_BROADCAST_KERNEL(all, f, y, cost)                                                            \
    GRA_VARIANTS(all##_on, f, gra_tensor)                                                                \
    static void all(gra_tensor *y)                                                                       \
    {                                                                                                    \
        gra_broadcast_kernel(y, cost, all##_on);                                                         \
    }

/* GRA_PARAM_KERNEL(all, f, cost), for optimisers, defines all(m, only, arg), which updates the parameters of
 * m that have a gradient. (If `only` is not NULL, it skips parameters whose entry in `only` is NULL.) It
 * calls f(s, from, to) for the values from <= i < to of the parameter s->p. The values of all parameters are
 * treated as one flat array, cut into at most GRA_CHUNKS chunks; one thread goes through a chunk in order. */
#define GRA_CHUNKS 1024
typedef struct gra_chunk {
    gra_tensor *p;
    int         number;                                 /* p is gra_param_at(m, number) */
    size_t      chunk;                                  /* 0, 1, ... */
    void       *arg;
} gra_chunk;
#define GRA_PARAM_KERNEL(all, f, cost)                                                                   \
    GRA_VARIANTS(all##_on, f, gra_chunk)                                                                 \
    static void all(gra_model *m, gra_tensor *const *only, void *arg)                                    \
    {                                                                                                    \
        gra_param_kernel(m, only, arg, cost, all##_on);                                                  \
    }

/* ---- matrices ------------------------------------------------------------------------------------------
 * A matrix is a view of values stored elsewhere: element (i, j) is p[i*row + j*col]. A transpose or a part
 * is another view of the same values. */
typedef struct gra_mat {
    real     *p;
    int       rows, cols;
    ptrdiff_t row, col;                                 /* strides: from row to row, from column to column */
} gra_mat;

static inline gra_mat gra_mat_of(real *p, int rows, int cols)           /* row-major */
{
    gra_mat x = { p, rows, cols, cols, 1 };
    return x;
}

static inline gra_mat gra_mat_transpose(gra_mat x)
{
    gra_mat t = { x.p, x.cols, x.rows, x.col, x.row };
    return t;
}

static inline gra_mat gra_mat_part(gra_mat x, int i, int rows, int j, int cols) /* begins at (i, j) */
{
    gra_mat part = { x.p + i * x.row + j * x.col, rows, cols, x.row, x.col };
    return part;
}

/* c = a b, or c += a b, on all threads if that pays. The rows or the columns of c must be contiguous (c.col
 * or c.row is 1). */
void gra_gemm(gra_machine *machine, gra_mat a, gra_mat b, gra_mat c, bool accumulate);

/* ---- the parts of the kernel macros -------------------------------------------------------------------
 * GRA_VARIANTS(table, f, type) defines table[GRA_ISAS]: f((type *)what, from, to) for each instruction
 * set. */
typedef enum gra_isa { GRA_BASE, GRA_AVX2, GRA_AVX512, GRA_ISAS } gra_isa;
typedef void gra_work(void *what, size_t from, size_t to, int worker);
void gra_kernel(gra_machine *machine, void *what, size_t n, size_t cost, gra_work *const variant[GRA_ISAS]);
void gra_broadcast_kernel(gra_tensor *y, size_t cost, gra_work *const variant[GRA_ISAS]);
void gra_param_kernel(gra_model *m, gra_tensor *const *only, void *arg, size_t cost,
                      gra_work *const variant[GRA_ISAS]);
#define GRA_VARIANT(name, f, type, target)                                                               \
    target static void name(void *what, size_t from, size_t to, int worker)                              \
    {                                                                                                    \
        (void)worker;                                                                                    \
        f((type *)what, from, to);                                                                       \
    }
#define GRA_TARGET_BASE
#if defined(__x86_64__) && defined(__GNUC__)
#define GRA_VARIANTS(table, f, type)                                                                     \
    GRA_VARIANT(table##_base, f, type, GRA_TARGET_BASE)                                                  \
    GRA_VARIANT(table##_avx2, f, type, GRA_TARGET_AVX2)                                                  \
    GRA_VARIANT(table##_avx512, f, type, GRA_TARGET_AVX512)                                              \
    static gra_work *const table[GRA_ISAS] = { table##_base, table##_avx2, table##_avx512 };
#define GRA_TARGET_AVX2   __attribute__((target("avx2,fma"), flatten))
#define GRA_TARGET_AVX512 __attribute__((target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl"), flatten))
#if defined(__SEH__) && !defined(__clang__)
/* The stack of 64-bit Windows is aligned to 16 bytes. Unless patched (gcc bug 54412), gcc stores AVX vectors
 * on this stack with moves that crash without an alignment of 32 or 64 bytes. The assembler uses moves that
 * need no alignment, and are as fast. */
__asm__(".ifndef gra_moves\n.set gra_moves, 1\n"
        ".irp t, ps, pd\n.macro vmova\\t to:vararg\nvmovu\\t \\to\n.endm\n.endr\n"
        ".irp t, \"\", 32, 64\n.macro vmovdqa\\t to:vararg\nvmovdqu\\t \\to\n.endm\n.endr\n.endif");
#endif
#else                                   /* a single instruction set: compiled once */
#define GRA_VARIANTS(table, f, type)                                                                     \
    GRA_VARIANT(table##_base, f, type, GRA_TARGET_BASE)                                                  \
    static gra_work *const table[GRA_ISAS] = { table##_base };
#endif

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif
#endif
