/* products: matrix products by gradus and by OpenBLAS (or BLIS) in one process, in turns, for
 * tests/bench/against_openblas.
 *
 *     build/bench/products --library libopenblas.so.0 --threads 2 --seconds 0.5
 *
 * A shape M,N,K is a Linear of K inputs and N outputs over M rows:
 *
 *     fwd  y  = x w^T     (M, K) (N, K)^T         NT
 *     dx   dx = dy w      (M, N) (N, K)           NN
 *     dw   dw = dy^T x    (M, N)^T (M, K)         TN
 *
 * each 2 M N K flop, stored, not added. The library is opened at run time (dlopen), so gradus builds without
 * it. */
#include "lib/bench.h"
#include "../../core/kernel.h"
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static const struct shape {
    const char *of;                     /* the configuration (step.c) that has it */
    int         m, n, k;
} shapes[] = {
    { "nano", 256, 128, 32 },   { "nano", 256, 32, 128 },
    { "tiny", 768, 128, 128 },  { "tiny", 768, 512, 128 },
    { "tiny", 768, 128, 512 },  { "tiny", 768, 65, 128 },
    { "small", 4096, 384, 384 }, { "small", 4096, 1536, 384 }, { "small", 4096, 384, 1536 },
    { "gpt2", 256, 3072, 768 }, { "gpt2", 256, 768, 3072 },  { "gpt2", 256, 50257, 768 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, FORMS = 3 };
static const char *const forms[FORMS] = { "fwd", "dx", "dw" };

/* ---- the library ---- */

enum { ROW_MAJOR = 101, AS_IT_IS = 111, TRANSPOSED = 112 };     /* of cblas.h */
typedef void cblas_sgemm(int order, int trans_a, int trans_b, int m, int n, int k,
                         float alpha, const float *a, int lda, const float *b, int ldb,
                         float beta, float *c, int ldc);

static struct library {
    void        *handle;
    cblas_sgemm *sgemm;
} library;

/* Libraries count their threads when they are opened. */
static bool open_library(const char *file, const char *threads)
{
    setenv("OPENBLAS_NUM_THREADS", threads, 1);
    setenv("BLIS_NUM_THREADS", threads, 1);
    setenv("OMP_NUM_THREADS", threads, 1);
    library.handle = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    void *address = library.handle ? dlsym(library.handle, "cblas_sgemm") : NULL;
    memcpy(&library.sgemm, &address, sizeof address);   /* C has no cast from an object to a function */
    return address != NULL;
}

/* ---- a product, by gradus or the library ---- */

static real *values_of(size_t n)        /* uninitialised */
{
    return need(aligned_alloc(64, (n * sizeof(real) / 64 + 1) * 64));
}

static real *random_values(size_t n)    /* in (-1, 1) */
{
    uint32_t x = 1;
    real *v = values_of(n);
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;                 /* a quick generator, from Numerical Recipes */
        v[i] = (real)((double)x / 2147483648.0 - 1);
    }
    return v;
}

struct product {
    gra_machine *machine;
    gra_mat      a, b, c;
};

static void by_gradus(const struct product *p)
{
    gra_gemm(p->machine, p->a, p->b, p->c, false);
}

static void by_library(const struct product *p)
{
    const bool ta = p->a.col != 1, tb = p->b.col != 1;
    library.sgemm(ROW_MAJOR, ta ? TRANSPOSED : AS_IT_IS, tb ? TRANSPOSED : AS_IT_IS,
                  p->c.rows, p->c.cols, p->a.cols, 1, p->a.p, (int)(ta ? p->a.col : p->a.row),
                  p->b.p, (int)(tb ? p->b.col : p->b.row), 0, p->c.p, (int)p->c.row);
}

static double flop(const struct product *p)
{
    return 2.0 * p->c.rows * p->c.cols * p->a.cols;
}

static struct product product_open(gra_tape *t, const struct shape *s, int form)
{
    const size_t m = (size_t)s->m, n = (size_t)s->n, k = (size_t)s->k;
    const gra_mat x = gra_mat_of(form == 1 ? NULL : random_values(m * k), s->m, s->k),
                  w = gra_mat_of(form == 2 ? NULL : random_values(n * k), s->n, s->k),
                  dy = gra_mat_of(form == 0 ? NULL : random_values(m * n), s->m, s->n);
    const struct product of[FORMS] = {
        { NULL, x, gra_mat_transpose(w), gra_mat_of(NULL, s->m, s->n) },
        { NULL, dy, w, gra_mat_of(NULL, s->m, s->k) },
        { NULL, gra_mat_transpose(dy), x, gra_mat_of(NULL, s->n, s->k) },
    };
    struct product p = of[form];
    p.machine = gra_tape_machine(t);
    p.c.p = values_of((size_t)p.c.rows * (size_t)p.c.cols);
    return p;
}

static void product_close(struct product *p)
{
    free(p->a.p);
    free(p->b.p);
    free(p->c.p);
}

/* Both sides must give the same result, except for rounding. */
static void compare(const struct product *p)
{
    const size_t n = (size_t)p->c.rows * (size_t)p->c.cols;
    real *c = values_of(n);
    double error = 0, sum = 0;
    by_gradus(p);
    memcpy(c, p->c.p, n * sizeof *c);
    by_library(p);
    for (size_t i = 0; i < n; i++) {
        const double y = (double)p->c.p[i], d = (double)c[i] - y;
        error += d * d;
        sum += y * y;
    }
    free(c);
    if (!(error <= 1e-10 * sum)) {
        fprintf(stderr,
                "products: got an error of %.1e between the two, expected at most 1e-5: one is wrong\n",
                sqrt(error / sum));
        exit(1);
    }
}

/* ---- in turns ---- */

/* GFLOP/s of a turn of some hundredths of a second. The threads of the previous side look for work for a
 * while before they sleep. So with several threads a turn begins with a pause, then with a product that wakes
 * this side's threads. */
static double turn(void (*f)(const struct product *), const struct product *p, int threads, double peak)
{
    const struct timespec rest = { 0, 30000000 };
    const long calls = 1 + (long)(0.01 * 1e9 * peak / flop(p));
    if (threads > 1)
        nanosleep(&rest, NULL);
    f(p);
    const double begun = now();
    for (long i = 0; i < calls; i++)
        f(p);
    return 1e-9 * flop(p) * (double)calls / (now() - begun);
}

/* The speeds of both sides in GFLOP/s, each the median of the fastest third. samples_fastest looks for small
 * numbers, so the samples are seconds per 1e9 flop. */
static void in_turns(const struct product *p, int threads, double peak, double seconds, double speed[2])
{
    samples ours = samples_begin(seconds, 5), theirs = ours;
    compare(p);
    while (samples_needed(&ours)) {
        samples_add(&ours, 1 / turn(by_gradus, p, threads, peak));
        samples_add(&theirs, 1 / turn(by_library, p, threads, peak));
    }
    speed[0] = 1 / samples_fastest(&ours), speed[1] = 1 / samples_fastest(&theirs);
}

/* The library's share of the peak, in a product large enough for any library to come near the peak. */
static double share_of_peak(gra_tape *t, int threads, double *peak, double *gflops)
{
    const struct shape large = { "", 2048, 2048, 2048 };
    struct product p = product_open(t, &large, 1);
    double share[3];
    for (int i = 0; i < 3; i++) {
        *peak = fma_peak(0.1, threads);
        *gflops = 0;
        for (int k = 0; k < 5; k++)
            *gflops = fmax(*gflops, turn(by_library, &p, threads, *peak));
        share[i] = *gflops / *peak;
    }
    product_close(&p);
    return fmax(fmin(share[0], share[1]), fmin(fmax(share[0], share[1]), share[2]));     /* the median */
}

static void compare_all(gra_tape *t, int threads, double peak, double seconds)
{
    double logs = 0, least = HUGE_VAL, most = 0;
    int below = 0;
    printf("GFLOP/s; the ratio is gradus / the library\n%-7s%-16s%-5s%11s%8s%12s%8s%9s\n", "", "M,N,K",
           "form", "gradus", "% peak", "library", "% peak", "ratio");
    for (int i = 0; i < SHAPES * FORMS; i++) {
        const struct shape *s = &shapes[i / FORMS];
        struct product p = product_open(t, s, i % FORMS);
        char name[40];
        double f[2];
        in_turns(&p, threads, peak, seconds, f);
        product_close(&p);
        const double ratio = f[0] / f[1];
        snprintf(name, sizeof name, "%d,%d,%d", s->m, s->n, s->k);
        printf("%-7s%-16s%-5s%11.1f%8.0f%12.1f%8.0f%9.2f\n", s->of, name, forms[i % FORMS], f[0],
               100 * f[0] / peak, f[1], 100 * f[1] / peak, ratio);
        fflush(stdout);
        logs += log(ratio);
        least = fmin(least, ratio);
        most = fmax(most, ratio);
        below += ratio < 1;
    }
    printf("\nratio threads=%d mean=%.2f min=%.2f max=%.2f, %d of %d below 1\n", threads,
           exp(logs / (SHAPES * FORMS)), least, most, below, SHAPES * FORMS);
}

static int refuse(const char *what)
{
    fprintf(stderr, "products: %s\nusage: products --library FILE [--threads N] [--seconds S]\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    const char *file = NULL, *count = "1";
    double seconds = 0.5;
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--library") == 0)
            file = value;
        else if (strcmp(argv[i], "--threads") == 0)
            count = value;
        else if (strcmp(argv[i], "--seconds") == 0)
            seconds = atof(value);
        else
            return refuse("got an unknown flag");
    }
    const int threads = atoi(count);
    if (!file || threads < 1 || threads > 1024)
        return refuse("expected a library, and 1 to 1024 threads");
    if (!open_library(file, count)) {
        fprintf(stderr, "products: got %s, expected a library with cblas_sgemm: %s\n", file,
                library.handle ? "it has none" : dlerror());
        return 1;
    }
    gra_tape *t = need(gra_open(threads));
    double peak, gflops;
    const double share = share_of_peak(t, threads, &peak, &gflops);
    printf("library: %s\nits product of 2048 x 2048 matrices: %.1f GFLOP/s, %.1f %% of the FMA peak (%.1f)\n",
           file, gflops, 100 * share, peak);
    if (share < 0.7) {
        puts("NO RATIO: with less than 70 % of the peak in a product the library is not at its best");
        return 1;
    }
    compare_all(t, threads, peak, seconds);
    gra_close(t);
    return 0;
}
