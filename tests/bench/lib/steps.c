/* steps: whole training steps, each configuration in a process of its own, to measure its peak memory. */
#include "bench.h"
#include <stdlib.h>

struct job {
    const bench    *b;
    const workload *w;
    int             threads;
    double          dropout;
};

static void train(const void *arg, double *seconds)
{
    const struct job *j = arg;
    trainer *t = need(trainer_open(j->w, j->threads, j->dropout));
    for (int warm = 0; warm < 2; warm++)                /* the tape's memory grows, then is merged */
        trainer_step(t);
    samples s = samples_begin(j->b->seconds, j->b->quick ? 1 : 3);
    while (samples_needed(&s)) {
        double begun = now();
        trainer_step(t);
        samples_add(&s, now() - begun);
    }
    *seconds = samples_fastest(&s);
    trainer_close(t);
}

void time_steps(const bench *b, const workload *w, int threads, double dropout, double *seconds, double *mib)
{
    struct job j = { b, w, threads, dropout };
    in_child(train, &j, 1, seconds, mib);
}

void bench_steps(const bench *b)
{
    const column c[] = {
        { "config", "config", NULL, 8, TEXT }, { "threads", "threads", NULL, 8, 0 },
        { "dropout", "dropout", NULL, 9, 1 }, { "ms", "ms a step", NULL, 12, 3 },
        { "gflop", "GFLOP", NULL, 10, 4 }, { "gflops", "GFLOP/s", NULL, 10, 1 },
        { "share", "% of peak", NULL, 11, 0 },
        { "mib", "MiB", NULL, 9, 0 },
    };
    table t = table_begin(b, "steps", "whole training steps: forward, backward, AdamW; peak memory", 8, c);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        const workload *w = &workloads[i];
        if (!asked_for(b->configs, w->name))
            continue;
        for (int k = 0; k <= b->kinds; k++) {           /* the last once more, with dropout */
            const int kind = k < b->kinds ? k : b->kinds - 1;
            const double dropout = k < b->kinds ? 0 : 0.1, gflop = 1e-9 * workload_flop(w);
            double seconds, mib;
            time_steps(b, w, b->threads[kind], dropout, &seconds, &mib);
            table_text(&t, "%s", w->name);
            table_number(&t, b->threads[kind]);
            table_number(&t, dropout);
            table_number(&t, 1e3 * seconds);
            table_number(&t, gflop);
            table_number(&t, gflop / seconds);
            table_number(&t, 100 * gflop / seconds / b->peak[kind]);
            table_number(&t, mib);
        }
    }
}
