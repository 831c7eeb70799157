/* fma: how many fused multiply-adds a second the processor can do, with which the rest is compared:
 * s = s x + y, in as many independent sums as hide its latency. */
#include "bench.h"
#include "../../../core/kernel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Named variables, because the compiler may keep an array of sums in memory. */
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

/* ---- all threads at once: they wait for each other, then each notes when it begins and ends ---- */

struct thread {
    pthread_t         id;
    const struct isa *isa;
    long              times;
    atomic_int       *waiting;
    double            from, to, sink;
};

static void *thread_main(void *arg)
{
    static const volatile real factor[2] = { (real)0.999999, (real)1e-6 };
    struct thread *t = arg;
    atomic_fetch_sub(t->waiting, 1);
    while (atomic_load(t->waiting) > 0)
        ;
    t->from = now();
    t->sink = t->isa->fma(factor, t->times);
    t->to = now();
    return NULL;
}

/* Seconds from the first thread's beginning to the last one's end. */
static double time_together(const struct isa *isa, int threads, long times)
{
    struct thread *t = need(calloc((size_t)threads, sizeof *t));
    double from = HUGE_VAL, to = 0;
    atomic_int waiting;
    atomic_init(&waiting, threads);
    for (int i = 0; i < threads; i++) {
        t[i].isa = isa, t[i].times = times, t[i].waiting = &waiting;
        if (i > 0 && pthread_create(&t[i].id, NULL, thread_main, &t[i]) != 0) {
            fprintf(stderr, "bench: no thread could be made\n");
            exit(1);
        }
    }
    thread_main(&t[0]);
    for (int i = 0; i < threads; i++) {
        if (i > 0)
            pthread_join(t[i].id, NULL);
        from = fmin(from, t[i].from);
        to = fmax(to, t[i].to);
    }
    free(t);
    return to - from;
}

/* A sample lasts a hundredth of a second at least. */
static double rate(const struct isa *isa, double seconds, int threads)
{
    long times = 1 << 16;
    while (time_together(isa, threads, times) < 1e-2)
        times *= 2;
    samples s = samples_begin(seconds, 15);
    while (samples_needed(&s))
        samples_add(&s, time_together(isa, threads, times));
    const int sums = SUMS(COUNT);
    return 2e-9 * sums * isa->bytes / (double)sizeof(real) * (double)times * threads / samples_fastest(&s);
}

double fma_peak(double seconds, int threads)
{
    double peak = 0;
    gra_tape *t = need(gra_open(1));
    for (int i = 0; i < (int)(sizeof isas / sizeof *isas); i++) {
        peak = fmax(peak, rate(&isas[i], seconds, threads));
        if (strcmp(isas[i].name, gra_isa_name(t)) == 0)
            break;                      /* the best that the processor has */
    }
    gra_close(t);
    return peak;
}
