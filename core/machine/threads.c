/* threads: run one job at a time, cut into chunks.
 *
 * Each worker has a share of the chunks, runs these in turn, and then helps the other workers. All jobs that
 * are cut alike have the same shares, so a thread mostly reads rows that it has computed itself, and that are
 * in its core's cache. The caller is worker 0.
 *
 * To run a job the caller fills in its fields, hands out the shares, takes chunks until none is left, and
 * waits until the other workers have finished. The fields change only when all chunks are done, so a worker
 * that claimed a chunk may read them. Between jobs a worker polls the counter `job` for a short while, then
 * sleeps; a worker that wakes too late finds no chunk left, or helps with the next job. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE                     /* sched_getaffinity */
#endif
#include "../base/system.h"
#include "threads.h"
#include "limits.h"

#if !GRA_ONE_THREAD
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SPINS 4000                      /* polls of `job` before a worker sleeps: some microseconds */

struct gra_workers {
    int            started;             /* workers 1 .. started run beside the caller */
    int            spins;               /* SPINS, or 0 if there are more threads than cores */
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
        /* its chunks: the low 32 bits are the next chunk to take, the high 32 bits the end */
        _Alignas(64) _Atomic uint64_t share;
        gra_workers *threads;
        int       number;
        pthread_t thread;
    } worker[GRA_MAX_THREADS];
};

int gra_quota(const char *root, int cores)
{
    const double n = gra_limit(root, "cpu", "cpu.max", "cpu.cfs_quota_us", "cpu.cfs_period_us");
    return n >= cores ? cores : n < 1 ? 1 : (int)n;
}

/* The quota is read only once, since a step should open no files. */
int gra_cores(void)
{
    static atomic_int quota;
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    if (atomic_load(&quota) == 0)
        atomic_store(&quota, gra_quota("", INT_MAX));
#if defined(__linux__)
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        n = CPU_COUNT(&set);
#endif
    return n < 1 ? 1 : n < atomic_load(&quota) ? (int)n : atomic_load(&quota);
}

static void pause_a_little(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void hand_out_shares(gra_workers *t, uint64_t chunks)
{
    const uint64_t threads = (uint64_t)t->started + 1;
    for (uint64_t i = 0; i < threads; i++)
        atomic_store_explicit(&t->worker[i].share, chunks * i / threads | chunks * (i + 1) / threads << 32,
                              memory_order_release);
}

static bool is_empty(uint64_t share) { return (uint32_t)share >= share >> 32; }

/* Runs the chunks that are left in a share; returns how many. */
static size_t take_share(gra_workers *t, struct worker *from, int number)
{
    size_t taken = 0;
    while (!is_empty(atomic_load_explicit(&from->share, memory_order_relaxed))) {
        const uint64_t share = atomic_fetch_add(&from->share, 1);
        if (is_empty(share))
            break;
        const size_t begin = (uint32_t)share * t->chunk;
        t->f(t->arg, begin, t->n - begin < t->chunk ? t->n : begin + t->chunk, number);
        taken++;
    }
    return taken;
}

static size_t take_chunks(gra_workers *t, int number)
{
    size_t taken = 0;
    for (int i = 0; i <= t->started; i++) {
        const size_t more = take_share(t, &t->worker[(number + i) % (t->started + 1)], number);
        if (number > 0 && more > 0)
            atomic_fetch_add(&t->done, more);
        taken += more;
    }
    return taken;
}

static void sleep_until_job(gra_workers *t, unsigned seen)
{
    for (int i = 0; i < t->spins; i++) {
        if (atomic_load_explicit(&t->job, memory_order_relaxed) != seen)
            return;
        pause_a_little();
    }
    pthread_mutex_lock(&t->lock);
    atomic_fetch_add(&t->asleep, 1);
    while (atomic_load(&t->job) == seen)
        pthread_cond_wait(&t->wake, &t->lock);
    atomic_fetch_sub(&t->asleep, 1);
    pthread_mutex_unlock(&t->lock);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    gra_workers *t = w->threads;
    for (unsigned seen = 0;;) {
        sleep_until_job(t, seen);
        seen = atomic_load(&t->job);
        if (atomic_load(&t->quit))
            return NULL;
        take_chunks(t, w->number);
    }
}

static void announce(gra_workers *t)
{
    atomic_fetch_add(&t->job, 1);
    if (atomic_load(&t->asleep)) {
        pthread_mutex_lock(&t->lock);
        pthread_cond_broadcast(&t->wake);
        pthread_mutex_unlock(&t->lock);
    }
}

void gra_workers_run(gra_workers *t, size_t n, size_t chunk, gra_work *f, void *arg)
{
    const size_t chunks = n / chunk + (n % chunk > 0);
    if (chunks <= 1 || chunks > INT32_MAX || t->started == 0) {
        for (size_t from = 0; from < n; from += chunk)
            f(arg, from, n - from < chunk ? n : from + chunk, 0);
        return;
    }
    t->f = f;
    t->arg = arg;
    t->n = n;
    t->chunk = chunk;
    atomic_store_explicit(&t->done, 0, memory_order_relaxed);
    hand_out_shares(t, chunks);
    announce(t);
    const size_t others = chunks - take_chunks(t, 0);
    for (int polls = 0; atomic_load(&t->done) < others; polls++) {
        if (polls < t->spins)
            pause_a_little();
        else
            sched_yield();
    }
}

gra_workers *gra_workers_open(int n)
{
    gra_workers *t = aligned_alloc(_Alignof(gra_workers), sizeof *t);
    if (!t)
        return NULL;
    memset(t, 0, sizeof *t);
    t->spins = n > gra_cores() ? 0 : SPINS;
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->wake, NULL);
    for (int i = 1; i < n && i < GRA_MAX_THREADS; i++) {        /* if one cannot start, the rest do */
        struct worker *w = &t->worker[i];                       /* the work */
        w->threads = t;
        w->number = i;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        t->started = i;
    }
    return t;
}

void gra_workers_close(gra_workers *t)
{
    if (!t)
        return;
    atomic_store(&t->quit, true);
    announce(t);
    for (int i = 1; i <= t->started; i++)
        pthread_join(t->worker[i].thread, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
    free_aligned(t);
}

int gra_workers_count(const gra_workers *t) { return t->started + 1; }
#endif
