/* peak: what the machine can do, with which the rest is compared: multiplications and additions a second with
 * each instruction set, and bytes a second from caches and from memory.
 *
 *     fused multiply-add  s = s x + y         as many independent sums as hide its latency
 *     triad               a[i] = b[i] + 3 c[i]        two reads, one write counted (STREAM)
 *     read                s += a[i] */
#include "bench.h"
#include "../../../core/kernel.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* Named variables: an array of sums may be kept in memory. */
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
#define LOAD(i)    s##i += p[i];

enum { COUNTED = SUMS(COUNT) };

struct run {                            /* what one thread does */
    long        times, n;               /* how often, over n values */
    real       *a;
    const real *b, *c;
    double      sink;
};
typedef void work(struct run *r);

#define WORK(isa, bytes, target)                                                                         \
    target static void fma_##isa(struct run *r)                                                          \
    {                                                                                                    \
        typedef real vec __attribute__((vector_size(bytes)));                                            \
        vec x = { 0 }, y = { 0 };                                                                        \
        x += r->b[0], y += r->b[1];                                                                      \
        vec SUMS(BEGIN) end = { 0 };                                                                     \
        for (long k = 0; k < r->times; k++) {                                                            \
            SUMS(STEP)                                                                                   \
        }                                                                                                \
        SUMS(COLLECT)                                                                                    \
        x += end;                                                                                        \
        r->sink = (double)x[0];                                                                          \
    }                                                                                                    \
    target static void triad_##isa(struct run *r)                                                        \
    {                                                                                                    \
        real *restrict a = r->a;                                                                         \
        const real *restrict b = r->b, *restrict c = r->c;                                               \
        for (long k = 0; k < r->times; k++)                                                              \
            for (long i = 0; i < r->n; i++)                                                              \
                a[i] = b[i] + 3 * c[i];                                                                  \
    }                                                                                                    \
    target static void read_##isa(struct run *r)                                                         \
    {                                                                                                    \
        typedef real vec __attribute__((vector_size(bytes)));                                            \
        vec x = { 0 };                                                                                   \
        vec SUMS(BEGIN) end = { 0 };                                                                     \
        const long step = COUNTED * (long)(sizeof(vec) / sizeof(real));                                  \
        for (long k = 0; k < r->times; k++)                                                              \
            for (long i = 0; i + step <= r->n; i += step) {                                              \
                const vec *p = (const vec *)(const void *)(r->b + i);                                    \
                SUMS(LOAD)                                                                               \
            }                                                                                            \
        SUMS(COLLECT)                                                                                    \
        x += end;                                                                                        \
        r->sink = (double)x[0];                                                                          \
    }

WORK(base, 16, )
#if defined(__x86_64__) && defined(__GNUC__)
WORK(avx2, 32, GRA_TARGET_AVX2)
WORK(avx512, 64, GRA_TARGET_AVX512)
#else
WORK(avx2, 32, )
WORK(avx512, 64, )
#endif

static const struct isa {
    const char *name;
    int         bytes;
    work       *fma, *triad, *read;
} isas[] = {
    { "base", 16, fma_base, triad_base, read_base },
    { "avx2", 32, fma_avx2, triad_avx2, read_avx2 },
    { "avx512", 64, fma_avx512, triad_avx512, read_avx512 },
};

static int best_isa(void)
{
    gra_tape *t = need(gra_open(1));
    int best = 0;
    for (int i = 0; i < (int)(sizeof isas / sizeof *isas); i++)
        if (strcmp(isas[i].name, gra_isa_name(t)) == 0)
            best = i;
    gra_close(t);
    return best;
}

/* ---- all threads at once: they wait for each other, then each notes when it begins and ends ---- */

struct thread {
    pthread_t   id;
    work       *f;
    struct run  run;
    atomic_int *waiting;
    double      from, to;
};

static void *thread_main(void *arg)
{
    struct thread *t = arg;
    atomic_fetch_sub(t->waiting, 1);
    while (atomic_load(t->waiting) > 0)
        ;
    t->from = now();
    t->f(&t->run);
    t->to = now();
    return NULL;
}

struct team {
    int            threads;
    struct thread *member;
};

static double time_together(void *arg)
{
    const struct team *team = arg;
    struct thread *t = team->member;
    atomic_int waiting;
    atomic_init(&waiting, team->threads);
    for (int i = 0; i < team->threads; i++) {
        t[i].waiting = &waiting;
        if (i > 0 && pthread_create(&t[i].id, NULL, thread_main, &t[i]) != 0) {
            fprintf(stderr, "bench: no thread could be made\n");
            exit(1);
        }
    }
    thread_main(&t[0]);
    double from = t[0].from, to = t[0].to;
    for (int i = 1; i < team->threads; i++) {
        pthread_join(t[i].id, NULL);
        from = t[i].from < from ? t[i].from : from;
        to = t[i].to > to ? t[i].to : to;
    }
    return to - from;
}

/* Units a second, each of the threads doing `units` of them every time; a sample lasts some milliseconds. */
static double rate(const bench *b, int threads, work *f, const struct run *run, double units)
{
    const double sample = b->quick ? 2e-3 : 1e-2;
    struct team team = { threads, need(calloc((size_t)threads, sizeof *team.member)) };
    for (int i = 0; i < threads; i++) {
        team.member[i].f = f;
        team.member[i].run = run[i];
        team.member[i].run.times = 1;
    }
    while (!lasts(sample, time_together, &team))
        for (int i = 0; i < threads; i++)
            team.member[i].run.times *= 2;
    const double times = (double)team.member[0].run.times;
    samples s = samples_begin(b->seconds, 15);
    while (samples_needed(&s))
        samples_add(&s, time_together(&team));
    free(team.member);
    return units * (double)threads * times / samples_fastest(&s);
}

static struct run *runs(int threads, const real *memory, size_t each, bool triad)
{
    struct run *r = need(calloc((size_t)threads, sizeof *r));
    for (int i = 0; i < threads; i++) {
        const real *p = memory + 3 * each * (size_t)i;
        r[i] = (struct run){ .n = 3 * (long)each, .b = p };
        if (triad) {
            r[i].n = (long)each;
            r[i].a = (real *)(uintptr_t)p, r[i].b = p + each, r[i].c = p + 2 * each;
        }
    }
    return r;
}

/* ---- the table ---- */

static const struct place {
    const char *name;
    size_t      bytes;                  /* for each thread (triad: of its three arrays); 0: MEMORY for all */
} places[] = { { "L1", 24 << 10 }, { "L2", 384 << 10 }, { "L3", 4 << 20 }, { "memory", 0 } };
enum { PLACES = sizeof places / sizeof *places };
#define MEMORY ((size_t)768 << 20)      /* larger than the caches of most servers */

/* GFLOP/s of fused multiply-adds. */
static double fma_rate(const bench *b, int threads, const struct isa *isa)
{
    static const real factors[2] = { (real)0.999999, (real)1e-6 };
    const double flop = 2.0 * COUNTED * isa->bytes / (double)sizeof(real);
    struct run *r = need(calloc((size_t)threads, sizeof *r));
    for (int i = 0; i < threads; i++)
        r[i].b = factors;
    const double gflops = 1e-9 * rate(b, threads, isa->fma, r, flop);
    free(r);
    return gflops;
}

double fma_peak(const bench *b, int threads)
{
    double peak = 0;
    for (int isa = 0, best = best_isa(); isa <= best; isa++)
        peak = fmax(peak, fma_rate(b, threads, &isas[isa]));
    return peak;
}

static void fma_rows(bench *b, table *t, int best)
{
    for (int isa = 0; isa <= best; isa++) {
        table_text(t, "multiply-add, %s", isas[isa].name);
        table_text(t, "GFLOP/s");
        for (int k = 0; k < b->kinds; k++) {
            double gflops = fma_rate(b, b->threads[k], &isas[isa]);
            b->peak[k] = fmax(b->peak[k], gflops);
            table_number(t, gflops);
        }
    }
}

static void memory_rows(bench *b, table *t, const struct isa *isa)
{
    const size_t most = MEMORY / (b->quick ? 2 : 1);
    real *memory = values_of(most / sizeof *memory);
    for (size_t i = 0; i < most / sizeof *memory; i++)
        memory[i] = 1;
    for (int p = 0; p < 2 * PLACES; p++) {
        const struct place *place = &places[p % PLACES];
        const bool triad = p < PLACES;
        double gbs[2] = { 0 };
        table_text(t, "%s, %s", triad ? "triad" : "read", place->name);
        table_text(t, "GB/s");
        for (int k = 0; k < b->kinds; k++) {
            const size_t threads = (size_t)b->threads[k], room = most / threads;
            const size_t bytes = place->bytes && place->bytes < room ? place->bytes : room;
            const size_t each = bytes / 3 / 64 * (64 / sizeof(real));   /* whole cache lines */
            struct run *r = runs((int)threads, memory, each, triad);
            gbs[k] = 1e-9 * rate(b, (int)threads, triad ? isa->triad : isa->read, r,
                                 3 * (double)(each * sizeof(real)));
            if (!place->bytes)
                (triad ? b->triad : b->read)[k] = gbs[k];
            table_number(t, gbs[k]);
            free(r);
        }
    }
    free(memory);
}

void bench_peak(bench *b)
{
    char one[32], all[32];
    const column c[] = {
        { "what", "", NULL, 24, TEXT },
        { "unit", "", NULL, 10, TEXT },
        { "one", thread_text(1, one), NULL, 12, 1 },
        { "all", thread_text(b->threads[ALL], all), NULL, 12, 1 },
    };
    const int best = best_isa();
    table t = table_begin(b, "peak", "what this machine can do", 2 + b->kinds, c);
    fma_rows(b, &t, best);
    memory_rows(b, &t, &isas[best]);
}
