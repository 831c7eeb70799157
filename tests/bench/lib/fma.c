/* fma: measures how many fused multiply-adds a second the processor can do, the peak for all comparisons: s =
 * s x + y, in enough independent sums to hide the latency. */
#include "bench.h"
#include "../../../core/kernel.h"

/* These are named variables, because the compiler may keep an array of sums in memory. */
#if defined(__aarch64__)
#define SUMS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15) \
                X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#else
#define SUMS(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#endif
#define COUNT(i)   +1
#define BEGIN(i)   s##i = x * i,
#define STEP(i)    s##i = s##i * x + y;
#define COLLECT(i) x += s##i;

#define FMA(isa, bytes, target)                                                                          \
    target static double fma_##isa(const volatile real factor[2], long times)                            \
    {                                                                                                    \
        typedef real vec __attribute__((vector_size(bytes)));                                            \
        vec x = { 0 }, y = { 0 };                                                                        \
        x += factor[0], y += factor[1];                                                                  \
        vec SUMS(BEGIN) end = { 0 };                                                                     \
        for (long k = 0; k < times; k++) {                                                               \
            SUMS(STEP)                                                                                   \
        }                                                                                                \
        SUMS(COLLECT)                                                                                    \
        x += end;                                                                                        \
        return (double)x[0];                                                                             \
    }

FMA(base, 16, )
#if defined(__x86_64__) && defined(__GNUC__)
FMA(avx2, 32, GRA_TARGET_AVX2)
FMA(avx512, 64, GRA_TARGET_AVX512)
#else
FMA(avx2, 32, )
FMA(avx512, 64, )
#endif

static const struct isa {
    const char *name;
    int         bytes;
    double    (*fma)(const volatile real factor[2], long times);
} isas[] = { { "base", 16, fma_base }, { "avx2", 32, fma_avx2 }, { "avx512", 64, fma_avx512 } };

/* ---- all threads at once: an op with one unit per thread, each costly enough for a thread ---- */

static const struct isa *now_isa;
static long              times;

static void run(gra_tensor *y, size_t from, size_t to)
{
    static const volatile real factor[2] = { (real)0.999999, (real)1e-6 };
    for (; from < to; from++)
        y->data[from] = (real)now_isa->fma(factor, times);
}
GRA_KERNEL(run_all, run, y, y->size, 1 << 24)

static double time_together(gra_tape *t)
{
    static const gra_op op = { .name = "fma", .forward = run_all };
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = gra_result_n(t, &op, GRA_SHAPE(gra_threads(t)), 0, NULL);
    const double begun = now();
    gra_run(y);
    return now() - begun;
}

/* A sample lasts at least a hundredth of a second. */
static double rate(gra_tape *t, double seconds)
{
    times = 1 << 16;
    while (time_together(t) < 1e-2)
        times *= 2;
    samples s = samples_begin(seconds, 15);
    while (samples_needed(&s))
        samples_add(&s, time_together(t));
    const double flop = 2.0 * (SUMS(COUNT)) * now_isa->bytes / (double)sizeof(real) * (double)times;
    return 1e-9 * flop * gra_threads(t) / samples_fastest(&s);
}

double fma_peak(double seconds, int threads)
{
    double peak = 0;
    gra_tape *t = need(gra_open(threads));
    for (int i = 0; i < (int)(sizeof isas / sizeof *isas); i++) {
        now_isa = &isas[i];
        peak = fmax(peak, rate(t, seconds));
        if (strcmp(isas[i].name, gra_isa_name(t)) == 0)
            break;                      /* the best that the processor has */
    }
    gra_close(t);
    return peak;
}
