/* gemm: matrix products at the shapes of a transformer. A shape M,N,K is a Linear of K inputs and N
 * outputs over M rows:
 *
 *     fwd  y  = x w^T     (M, K) (N, K)^T
 *     dx   dx = dy w      (M, N) (N, K)
 *     dw   dw = dy^T x    (M, N)^T (M, K)
 *
 * each 2 M N K flop, stored, not added. */
#include "bench.h"
#include "../../../core/kernel.h"
#include <stdlib.h>

struct product {
    gra_tape *tape;
    gra_mat   a, b, c;
};

static const int shapes[][3] = {
    { 32, 32, 32 }, { 64, 64, 64 }, { 128, 128, 128 }, { 256, 256, 256 }, { 512, 512, 512 },
    { 1024, 1024, 1024 }, { 256, 128, 32 }, { 768, 512, 128 }, { 2048, 384, 128 }, { 2048, 128, 512 },
    { 4096, 768, 768 }, { 1024, 3072, 768 }, { 1024, 768, 3072 }, { 512, 50304, 768 },
};
enum { SHAPES = sizeof shapes / sizeof *shapes, FORMS = 3 };

static void multiply(void *arg)
{
    const struct product *p = arg;
    gra_gemm(gra_tape_machine(p->tape), p->a, p->b, p->c, false);
}

/* GFLOP/s of one shape in the three forms. */
static void measure(const bench *b, gra_tape *t, const int *shape, double gflops[FORMS])
{
    const int m = shape[0], n = shape[1], k = shape[2];
    const size_t M = (size_t)m, N = (size_t)n, K = (size_t)k;
    const gra_mat x = gra_mat_of(random_values(M * K), m, k), w = gra_mat_of(random_values(N * K), n, k),
        dy = gra_mat_of(random_values(M * N), m, n);
    const struct product forms[FORMS] = {
        { t, x, gra_mat_transpose(w), gra_mat_of(NULL, m, n) },
        { t, dy, w, gra_mat_of(NULL, m, k) },
        { t, gra_mat_transpose(dy), x, gra_mat_of(NULL, n, k) },
    };
    for (int f = 0; f < FORMS; f++) {
        struct product p = forms[f];
        p.c.p = values_of((size_t)p.c.rows * (size_t)p.c.cols);
        gflops[f] = 2e-9 * m * n * k / time_of(b->seconds, multiply, &p);
        free(p.c.p);
    }
    free(x.p);
    free(w.p);
    free(dy.p);
}

void bench_gemm(const bench *b)
{
    char one[32], all[32];
    const column c[] = {
        { "shape", "M,N,K", NULL, 14, TEXT },
        { "fwd_one", "fwd", thread_text(1, one), 7, 1 }, { "dx_one", "dx", NULL, 7, 1 },
        { "dw_one", "dw", NULL, 7, 1 }, { "fwd_share_one", "%", NULL, 4, 0 },
        { "dx_share_one", "%", NULL, 4, 0 }, { "dw_share_one", "%", NULL, 4, 0 },
        { "fwd_all", "fwd", thread_text(b->threads[ALL], all), 7, 1 }, { "dx_all", "dx", NULL, 7, 1 },
        { "dw_all", "dw", NULL, 7, 1 }, { "fwd_share_all", "%", NULL, 4, 0 },
        { "dx_share_all", "%", NULL, 4, 0 }, { "dw_share_all", "%", NULL, 4, 0 },
    };
    gra_tape *t[2] = { need(gra_open(b->threads[ONE])), need(gra_open(b->threads[ALL])) };
    double logs[2 * FORMS] = { 0 };
    table out = table_begin(b, "gemm", "x w^T, dy w, dy^T x: GFLOP/s, and % of peak",
                            1 + 2 * FORMS * b->kinds, c);
    for (int i = 0; i < SHAPES; i++) {
        table_text(&out, "%d,%d,%d", shapes[i][0], shapes[i][1], shapes[i][2]);
        for (int k = 0; k < b->kinds; k++) {
            double gflops[FORMS];
            measure(b, t[k], shapes[i], gflops);
            for (int f = 0; f < FORMS; f++) {
                logs[k * FORMS + f] += log(gflops[f]);
                table_number(&out, gflops[f]);
            }
            for (int f = 0; f < FORMS; f++)
                table_number(&out, 100 * gflops[f] / b->peak[k]);
        }
    }
    table_text(&out, "geom. mean");
    for (int k = 0; k < b->kinds; k++)
        for (int f = 0; f < 2 * FORMS; f++) {
            double mean = exp(logs[k * FORMS + f % FORMS] / SHAPES);
            table_number(&out, f < FORMS ? mean : 100 * mean / b->peak[k]);
        }
    gra_close(t[ONE]);
    gra_close(t[ALL]);
}
