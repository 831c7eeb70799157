/* machine: threads, an instruction set, and a workspace for each thread.
 *
 * The threads run one job at a time, cut into chunks. Each worker has its share of the chunks, runs them one
 * after the other, and then helps the others. All jobs that are cut alike have the same shares, so the rows
 * that a thread has computed are mostly those that it reads next, and are in its own cache. The caller is
 * worker 0.
 *
 * To run a job the caller fills in its fields, hands out the shares, takes chunks until none is left, and
 * waits until those that others took are done. The fields change only when all chunks are done, so a worker
 * that claimed a chunk may read them. Between jobs a worker polls the counter `job` for a short while, then
 * sleeps; one that wakes too late finds no chunk left, or helps with the next job. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE                     /* sched_getaffinity */
#endif
#include "machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 256
#define SPINS       4000                /* polls of `job` before a worker sleeps: some microseconds */
#define FREED_LATER 64

struct gra_machine {
    int            owners;              /* the tape that it was opened for, and models */
    gra_isa        isa;
    char           missing_isa[24];     /* requested by GRADUS_ISA but unavailable */
    gra_bf16       has_bf16, bf16;      /* what it can do, what products do now */
    bool           keep_going;          /* errors of the tape and its models do not abort */
    bool           failed;              /* the tape's step has an error */
    gra_cut       *cut;                 /* NULL except in tests */
    void          *later[FREED_LATER];  /* a ring buffer of memory to free */
    unsigned       freed_later;         /* how many pieces were put there */
    real          *workspace;           /* GRA_WORKSPACE values for each worker */

    int            threads, started;    /* workers 1 .. started run beside the caller */
    int            spins;               /* SPINS, or 0 when there are more threads than cores */
    gra_work      *f;                   /* the job: f(arg, from, to, worker) on [0, n), a chunk at a time */
    void          *arg;
    size_t         n, chunk;
    atomic_uint    job;                 /* counts jobs: idle workers wait for a change */
    atomic_bool    quit;
    atomic_int     asleep;
    _Alignas(64) atomic_size_t done;    /* chunks that the other workers have run */
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    struct worker {
        /* its chunks: the low 32 bits are the next one to take, the high 32 bits the end */
        _Alignas(64) _Atomic uint64_t share;
        gra_machine *machine;
        int       number;
        pthread_t thread;
    } worker[MAX_THREADS];
};

/* ---- threads ---- */

static int cores(void)
{
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return CPU_COUNT(&set);
#endif
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void hand_out_shares(gra_machine *m, uint64_t chunks)
{
    const uint64_t threads = (uint64_t)m->started + 1;
    for (uint64_t i = 0; i < threads; i++)
        atomic_store_explicit(&m->worker[i].share, chunks * i / threads | chunks * (i + 1) / threads << 32,
                              memory_order_release);
}

static bool is_empty(uint64_t share) { return (uint32_t)share >= share >> 32; }

/* Runs the chunks that are left in a share; returns how many. */
static size_t take_share(gra_machine *m, struct worker *from, int number)
{
    size_t taken = 0;
    while (!is_empty(atomic_load_explicit(&from->share, memory_order_relaxed))) {
        const uint64_t share = atomic_fetch_add(&from->share, 1);
        if (is_empty(share))
            break;
        const size_t begin = (uint32_t)share * m->chunk;
        m->f(m->arg, begin, m->n - begin < m->chunk ? m->n : begin + m->chunk, number);
        taken++;
    }
    return taken;
}

static size_t take_chunks(gra_machine *m, int number)
{
    size_t taken = 0;
    for (int i = 0; i <= m->started; i++) {
        const size_t more = take_share(m, &m->worker[(number + i) % (m->started + 1)], number);
        if (number > 0 && more > 0)
            atomic_fetch_add(&m->done, more);
        taken += more;
    }
    return taken;
}

static void sleep_until_job(gra_machine *m, unsigned seen)
{
    for (int i = 0; i < m->spins; i++) {
        if (atomic_load_explicit(&m->job, memory_order_relaxed) != seen)
            return;
        pause_a_little();
    }
    pthread_mutex_lock(&m->lock);
    atomic_fetch_add(&m->asleep, 1);
    while (atomic_load(&m->job) == seen)
        pthread_cond_wait(&m->wake, &m->lock);
    atomic_fetch_sub(&m->asleep, 1);
    pthread_mutex_unlock(&m->lock);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    gra_machine *m = w->machine;
    for (unsigned seen = 0;;) {
        sleep_until_job(m, seen);
        seen = atomic_load(&m->job);
        if (atomic_load(&m->quit))
            return NULL;
        take_chunks(m, w->number);
    }
}

static void announce(gra_machine *m)
{
    atomic_fetch_add(&m->job, 1);
    if (atomic_load(&m->asleep)) {
        pthread_mutex_lock(&m->lock);
        pthread_cond_broadcast(&m->wake);
        pthread_mutex_unlock(&m->lock);
    }
}

void gra_parallel(gra_machine *m, size_t n, size_t chunk, gra_work *f, void *arg)
{
    chunk = chunk ? chunk : 1;
    const size_t chunks = n / chunk + (n % chunk > 0);
    if (chunks <= 1 || chunks > INT32_MAX || m->started == 0) {
        for (size_t from = 0; from < n; from += chunk)
            f(arg, from, n - from < chunk ? n : from + chunk, 0);
        return;
    }
    m->f = f;
    m->arg = arg;
    m->n = n;
    m->chunk = chunk;
    atomic_store_explicit(&m->done, 0, memory_order_relaxed);
    hand_out_shares(m, chunks);
    announce(m);
    const size_t others = chunks - take_chunks(m, 0);
    for (int polls = 0; atomic_load(&m->done) < others; polls++) {
        if (polls < m->spins)
            pause_a_little();
        else
            sched_yield();
    }
}

/* ---- kernels: one function for each instruction set ---- */

static const char *const isa_name[GRA_ISAS] = { [GRA_BASE] = "base", [GRA_AVX2] = "avx2",
                                                [GRA_AVX512] = "avx512" };

static gra_isa best_isa(void)
{
    gra_isa best = GRA_BASE;
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        best = GRA_AVX2;
    if (best == GRA_AVX2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        best = GRA_AVX512;
#endif
    return best;
}

/* The instruction for products of bfloat16 numbers is used beside the other ones of AVX-512. */
static gra_bf16 best_bf16(gra_isa isa)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(GRADUS_DOUBLE)
    if (isa == GRA_AVX512 && __builtin_cpu_supports("avx512bf16"))
        return GRA_BF16_NATIVE;
#endif
    (void)isa;
    return GRA_BF16_NONE;
}

static void choose_isa(gra_machine *m)
{
    const char *requested = getenv("GRADUS_ISA");
    m->isa = best_isa();
    if (!requested || !*requested)
        return;
    if (sizeof(real) == sizeof(float) && strcmp(requested, "base+bf16") == 0) {
        m->isa = GRA_BASE;
        m->has_bf16 = GRA_BF16_EMULATED;
        return;
    }
    for (int i = GRA_BASE; i <= (int)m->isa; i++)
        if (strcmp(requested, isa_name[i]) == 0) {
            m->isa = (gra_isa)i;
            return;
        }
    snprintf(m->missing_isa, sizeof m->missing_isa, "%s", requested);
}

gra_work *gra_variant(const gra_machine *m, gra_work *const variant[GRA_ISAS]) { return variant[m->isa]; }

void gra_share(gra_machine *m, void *what, size_t n, size_t cost, gra_work *f)
{
    static const size_t worth = 1 << 16;                /* additions that are worth waking a thread */
    if (cost == 0)                                      /* units without values, of an empty tensor */
        cost = 1;
    if (cost == GRA_SERIAL || n <= worth / cost) {
        f(what, 0, n, 0);
        return;
    }
    size_t chunk = worth / 2 / cost, line = 64 / sizeof(real);
    chunk = chunk < line ? (chunk ? chunk : 1) : chunk / line * line;   /* of elements: whole cache lines */
    gra_parallel(m, n, chunk, f, what);
}

void gra_kernel(gra_machine *m, void *what, size_t n, size_t cost, gra_work *const variant[GRA_ISAS])
{
    if (n == 0)
        return;
    if (m->cut && cost != GRA_SERIAL)
        m->cut(what, n, variant[m->isa]);
    else
        gra_share(m, what, n, cost, variant[m->isa]);
}

/* ---- opening and closing ---- */

gra_machine *gra_machine_open(int threads)
{
    gra_machine *m = aligned_alloc(_Alignof(gra_machine), sizeof *m);
    if (!m)
        return NULL;
    memset(m, 0, sizeof *m);
    const int have = cores();
    m->owners = 1;
    m->threads = threads <= 0 ? have : threads;
    if (m->threads > MAX_THREADS)
        m->threads = MAX_THREADS;
    m->workspace = aligned_alloc(64, (size_t)m->threads * GRA_WORKSPACE * sizeof(real));
    if (!m->workspace) {
        free(m);
        return NULL;
    }
    choose_isa(m);
    if (m->has_bf16 == GRA_BF16_NONE)
        m->has_bf16 = best_bf16(m->isa);
    m->spins = m->threads > have ? 0 : SPINS;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->wake, NULL);
    for (int i = 1; i < m->threads; i++) {              /* if one cannot be started, the others do the work */
        struct worker *w = &m->worker[i];
        w->machine = m;
        w->number = i;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        m->started = i;
    }
    m->threads = m->started + 1;
    return m;
}

gra_machine *gra_machine_share(gra_machine *m)
{
    m->owners++;
    return m;
}

void gra_machine_close(gra_machine *m)
{
    if (--m->owners > 0)
        return;
    atomic_store(&m->quit, true);
    announce(m);
    for (int i = 1; i <= m->started; i++)
        pthread_join(m->worker[i].thread, NULL);
    pthread_cond_destroy(&m->wake);
    pthread_mutex_destroy(&m->lock);
    for (int i = 0; i < FREED_LATER; i++)
        free(m->later[i]);
    free(m->workspace);
    free(m);
}

void gra_machine_free_later(gra_machine *m, void *memory)
{
    void **place = &m->later[m->freed_later++ % FREED_LATER];
    free(*place);
    *place = memory;
}

int         gra_machine_threads(const gra_machine *m)           { return m->threads; }
gra_isa     gra_machine_isa(const gra_machine *m)               { return m->isa; }
gra_bf16    gra_machine_has_bf16(const gra_machine *m)          { return m->has_bf16; }
gra_bf16    gra_machine_bf16(const gra_machine *m)              { return m->bf16; }
const char *gra_machine_missing_isa(const gra_machine *m)       { return m->missing_isa; }
const char *gra_isa_text(gra_isa isa)                           { return isa_name[isa]; }
void        gra_machine_use_bf16(gra_machine *m, bool on) { m->bf16 = on ? m->has_bf16 : GRA_BF16_NONE; }
void        gra_machine_set_failed(gra_machine *m, bool failed) { m->failed = failed; }
bool        gra_machine_failed(const gra_machine *m)            { return m->failed; }
void        gra_machine_keep_going(gra_machine *m, bool on)     { m->keep_going = on; }
bool        gra_machine_keeps_going(const gra_machine *m)       { return m->keep_going; }
void        gra_machine_cut(gra_machine *m, gra_cut *cut)       { m->cut = cut; }
real       *gra_machine_workspace(const gra_machine *m, int worker)
{
    return m->workspace + (size_t)worker * GRA_WORKSPACE;
}
