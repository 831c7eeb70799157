/* pool: one job at a time, cut into chunks. Each thread has its share of them, one after the other, and
 * helps the others when it is done.
 *
 * Shares are the same for every job of the same cut: so the rows that a thread has computed are mostly those
 * that it reads next, and lie in its own cache. The caller is worker 0 and works too. A worker watches `job`
 * for a short while, then sleeps. To run a job: fill in the fields, hand out the shares, take chunks until
 * none is left, wait until those that others took are done. Who has taken a chunk knows that the fields
 * belong to it: they change when every chunk is done. A worker that wakes too late finds nothing to take, or
 * takes from the next job. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE                     /* sched_getaffinity */
#endif
#include "pool.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#define MAX_THREADS 256
#define WATCH       4000                /* looks at `job` before a worker sleeps: some microseconds */

struct gra_pool {
    int            threads, started;    /* workers 1 .. started run beside the caller */
    int            watch;               /* WATCH, or 0 when there are more threads than cores */
    gra_work      *f;
    void          *arg;
    size_t         n, chunk;
    atomic_uint    job;                 /* counts jobs: a change wakes those who watch */
    atomic_bool    quit;
    atomic_int     asleep;
    _Alignas(64) atomic_size_t done;    /* chunks, by others than the caller */
    real          *memory;              /* each worker's own */
    pthread_mutex_t lock;
    pthread_cond_t  wake;
    struct worker {
        _Alignas(64) _Atomic uint64_t share;    /* of the chunks: the first not taken, and << 32 where it ends */
        gra_pool *pool;
        int       number;
        pthread_t thread;
    } worker[MAX_THREADS];
};

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

static void hand_out_shares(gra_pool *p, uint64_t chunks)
{
    const uint64_t threads = (uint64_t)p->started + 1;
    for (uint64_t i = 0; i < threads; i++)
        atomic_store_explicit(&p->worker[i].share, chunks * i / threads | chunks * (i + 1) / threads << 32,
                              memory_order_release);
}

static bool is_empty(uint64_t share) { return (uint32_t)share >= share >> 32; }

/* All that is left of a share; how many chunks that was. */
static size_t take_share(gra_pool *p, struct worker *from, int number)
{
    size_t taken = 0;
    while (!is_empty(atomic_load_explicit(&from->share, memory_order_relaxed))) {
        const uint64_t share = atomic_fetch_add(&from->share, 1);
        if (is_empty(share))
            break;
        const size_t begin = (uint32_t)share * p->chunk;
        p->f(p->arg, begin, p->n - begin < p->chunk ? p->n : begin + p->chunk, number);
        taken++;
    }
    return taken;
}

static size_t take_chunks(gra_pool *p, int number)
{
    size_t taken = 0;
    for (int i = 0; i <= p->started; i++) {
        const size_t more = take_share(p, &p->worker[(number + i) % (p->started + 1)], number);
        if (number > 0 && more > 0)
            atomic_fetch_add(&p->done, more);
        taken += more;
    }
    return taken;
}

static void sleep_until_job(gra_pool *p, unsigned seen)
{
    for (int i = 0; i < p->watch; i++) {
        if (atomic_load_explicit(&p->job, memory_order_relaxed) != seen)
            return;
        pause_a_little();
    }
    pthread_mutex_lock(&p->lock);
    atomic_fetch_add(&p->asleep, 1);
    while (atomic_load(&p->job) == seen)
        pthread_cond_wait(&p->wake, &p->lock);
    atomic_fetch_sub(&p->asleep, 1);
    pthread_mutex_unlock(&p->lock);
}

static void *worker_main(void *arg)
{
    struct worker *w = arg;
    gra_pool *p = w->pool;
    for (unsigned seen = 0;;) {
        sleep_until_job(p, seen);
        seen = atomic_load(&p->job);
        if (atomic_load(&p->quit))
            return NULL;
        take_chunks(p, w->number);
    }
}

static void announce(gra_pool *p)
{
    atomic_fetch_add(&p->job, 1);
    if (atomic_load(&p->asleep)) {
        pthread_mutex_lock(&p->lock);
        pthread_cond_broadcast(&p->wake);
        pthread_mutex_unlock(&p->lock);
    }
}

void gra_pool_run(gra_pool *p, size_t n, size_t chunk, gra_work *f, void *arg)
{
    const size_t chunks = n / chunk + (n % chunk > 0);
    if (chunks <= 1 || chunks > INT32_MAX || p->started == 0) {
        for (size_t from = 0; from < n; from += chunk)
            f(arg, from, n - from < chunk ? n : from + chunk, 0);
        return;
    }
    p->f = f;
    p->arg = arg;
    p->n = n;
    p->chunk = chunk;
    atomic_store_explicit(&p->done, 0, memory_order_relaxed);
    hand_out_shares(p, chunks);
    announce(p);
    const size_t others = chunks - take_chunks(p, 0);
    for (int looks = 0; atomic_load(&p->done) < others; looks++) {
        if (looks < p->watch)
            pause_a_little();
        else
            sched_yield();
    }
}

gra_pool *gra_pool_open(int threads)
{
    gra_pool *p = aligned_alloc(_Alignof(gra_pool), sizeof *p);
    if (!p)
        return NULL;
    memset(p, 0, sizeof *p);
    int have = cores();
    p->threads = threads <= 0 ? have : threads;
    if (p->threads > MAX_THREADS)
        p->threads = MAX_THREADS;
    p->memory = aligned_alloc(64, (size_t)p->threads * GRA_POOL_OWN * sizeof(real));
    if (!p->memory) {
        free(p);
        return NULL;
    }
    p->watch = p->threads > have ? 0 : WATCH;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->wake, NULL);
    for (int i = 1; i < p->threads; i++) {      /* fewer than asked for work just as well */
        struct worker *w = &p->worker[i];
        w->pool = p;
        w->number = i;
        if (pthread_create(&w->thread, NULL, worker_main, w) != 0)
            break;
        p->started = i;
    }
    p->threads = p->started + 1;
    return p;
}

void gra_pool_close(gra_pool *p)
{
    atomic_store(&p->quit, true);
    announce(p);
    for (int i = 1; i <= p->started; i++)
        pthread_join(p->worker[i].thread, NULL);
    pthread_cond_destroy(&p->wake);
    pthread_mutex_destroy(&p->lock);
    free(p->memory);
    free(p);
}

int   gra_pool_threads(const gra_pool *p)         { return p->threads; }
real *gra_pool_own(const gra_pool *p, int worker) { return p->memory + (size_t)worker * GRA_POOL_OWN; }
