/* growth: how time and memory grow with the context, the batch, the width and the threads. Each row is a
 * training step in a process of its own. */
#include "bench.h"

enum { MOST = 8 };

static const struct series {
    const char *name;
    workload    base;
    size_t      varied;                 /* which field of it */
    int         n, value[MOST];
} all_series[] = {
    { "context", { "", 65, 0, 1, 128, 4, 2 }, offsetof(workload, context), 7,
      { 64, 128, 256, 512, 1024, 2048, 4096 } },
    { "batch", { "", 65, 64, 0, 128, 4, 4 }, offsetof(workload, batch), 7, { 1, 2, 4, 8, 16, 32, 64 } },
    { "width", { "", 65, 64, 8, 0, 4, 2 }, offsetof(workload, width), 6, { 32, 64, 128, 256, 512, 1024 } },
};

static void row(const bench *b, table *t, const char *name, int value, const workload *w, int threads,
                double *first)
{
    double seconds, mib;
    time_steps(b, w, threads, 0, &seconds, &mib);
    if (*first <= 0)
        *first = seconds;
    table_text(t, "%s", name);
    table_number(t, value);
    table_number(t, threads);
    table_number(t, 1e3 * seconds);
    table_number(t, 1e6 * seconds / ((double)w->batch * w->context));
    table_number(t, 1e-9 * workload_flop(w) / seconds);
    table_number(t, *first / seconds);
    table_number(t, mib);
}

void bench_growth(const bench *b)
{
    const column c[] = {
        { "of", "of", NULL, 9, TEXT }, { "value", "value", NULL, 7, 0 }, { "threads", "threads", NULL, 9, 0 },
        { "ms", "ms a step", NULL, 12, 3 }, { "us_per_token", "us/token", NULL, 11, 2 },
        { "gflops", "GFLOP/s", NULL, 10, 1 }, { "speed", "speed", NULL, 9, 3 }, { "mib", "MiB", NULL, 8, 1 },
    };
    table t = table_begin(b, "growth", "a training step as one size grows; speed 1: the first row's", 8, c);
    for (size_t i = 0; i < sizeof all_series / sizeof *all_series; i++) {
        const struct series *s = &all_series[i];
        double first = 0;
        for (int j = 0; j < s->n; j++) {
            workload w = s->base;
            memcpy((char *)&w + s->varied, &s->value[j], sizeof(int));
            row(b, &t, s->name, s->value[j], &w, b->threads[ALL], &first);
        }
    }
    double first = 0;
    for (int threads = 1; ; threads = 2 * threads < b->threads[ALL] ? 2 * threads : b->threads[ALL]) {
        row(b, &t, "threads", threads, &workloads[b->quick ? 1 : 2], threads, &first);
        if (threads == b->threads[ALL])
            break;
    }
}
