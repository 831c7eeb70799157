/* machine: threads, an instruction set, and a workspace for each thread. */
#include "../base/system.h"
#include "machine.h"
#include "threads.h"

#include <stdlib.h>

#define FREED_LATER 64

struct gra_machine {
    int            owners;              /* the tape that it was opened for, and models */
    gra_isa        isa;
    char           missing_isa[24];     /* requested by GRADUS_ISA but unavailable */
    gra_bf16       has_bf16, bf16;      /* what the processor can do, and what products do now */
    bool           keep_going;          /* errors of the tape and its models do not abort */
    bool           failed;              /* the tape's step has an error */
    gra_cut       *cut;                 /* NULL except in tests */
    struct later {
        void *memory;
        void (*release)(void *memory);
    } later[FREED_LATER];               /* a ring buffer of memory to free */
    unsigned       freed_later;         /* number of pieces put there so far */
    unsigned       updates;             /* steps of optimisers */
    bool           undropped, said;     /* see gra_machine_say_undropped */
    gra_workers   *threads;
    real          *workspace;           /* GRA_WORKSPACE values for each worker */
};

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

/* The instruction for bfloat16 products is used only together with AVX-512. */
static gra_bf16 best_bf16(gra_isa isa)
{
#if defined(__x86_64__) && defined(__GNUC__) && !defined(GRADUS_DOUBLE)
    if (isa == GRA_AVX512 && __builtin_cpu_supports("avx512bf16"))
        return GRA_BF16_NATIVE;
#endif
    (void)isa;
    return GRA_BF16_NONE;
}

static const char *requested_isa(void)
{
#ifdef __wasm__                         /* a page has no environment */
    return NULL;
#else
    return getenv("GRADUS_ISA");
#endif
}

static void choose_isa(gra_machine *m)
{
    const char *requested = requested_isa();
    m->isa = best_isa();
    if (requested && sizeof(real) == sizeof(float) && strcmp(requested, "base+bf16") == 0) {
        m->isa = GRA_BASE;
        m->has_bf16 = GRA_BF16_EMULATED;
        return;
    }
    if (requested && *requested) {
        int i = (int)m->isa;
        while (i >= GRA_BASE && strcmp(requested, isa_name[i]) != 0)
            i--;
        if (i >= GRA_BASE)
            m->isa = (gra_isa)i;
        else
            snprintf(m->missing_isa, sizeof m->missing_isa, "%s", requested);
    }
    m->has_bf16 = best_bf16(m->isa);
}

void gra_parallel(gra_machine *m, size_t n, size_t chunk, gra_work *f, void *arg)
{
    gra_workers_run(m->threads, n, chunk ? chunk : 1, f, arg);
}

gra_work *gra_variant(const gra_machine *m, gra_work *const variant[GRA_ISAS]) { return variant[m->isa]; }

void gra_share(gra_machine *m, void *what, size_t n, size_t cost, gra_work *f)
{
    static const size_t worth = 1 << 16;                /* additions that make it worth waking a thread */
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
    gra_machine *m = calloc(1, sizeof *m);
    if (!m)
        return NULL;
    threads = threads <= 0 ? gra_cores() : threads;
    m->owners = 1;
    m->threads = gra_workers_open(threads < GRA_MAX_THREADS ? threads : GRA_MAX_THREADS);
    const size_t workers = m->threads ? (size_t)gra_workers_count(m->threads) : 0;
    m->workspace = workers ? aligned_alloc(64, workers * GRA_WORKSPACE * sizeof(real)) : NULL;
    if (!m->workspace) {
        gra_workers_close(m->threads);
        free(m);
        return NULL;
    }
    choose_isa(m);
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
    gra_workers_close(m->threads);
    for (int i = 0; i < FREED_LATER; i++)
        if (m->later[i].memory)
            m->later[i].release(m->later[i].memory);
    free_aligned(m->workspace);
    free(m);
}

void gra_machine_free_later(gra_machine *m, void *memory, void (*release)(void *memory))
{
    struct later *place = &m->later[m->freed_later++ % FREED_LATER];
    if (place->memory)
        place->release(place->memory);
    *place = (struct later){ memory, release };
}

void gra_machine_set_undropped(gra_machine *m, bool on)         { m->undropped = on; }
void gra_machine_say_undropped(gra_machine *m, const char *who)
{
    if (!m->undropped || m->said || m->keep_going)
        return;
    m->said = true;
    fprintf(stderr, "gradus: %s: got gradients of GRA_GRAD, in which dropout does nothing, expected "
            "GRA_TRAIN: pass it to gra_begin to train a model with dropout (this is said only once)\n",
            who);
}

unsigned gra_machine_updates(const gra_machine *m)              { return m->updates; }
unsigned gra_machine_count_update(gra_machine *m)               { return ++m->updates; }

int         gra_machine_threads(const gra_machine *m)           { return gra_workers_count(m->threads); }
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
