/* attention: six heads of 64 over 2048 tokens in rows of T, causal. In products, with C = 384,
 *
 *     flop = 4 T C a token forward, twice as much backward:
 *
 * the whole T x T is counted, so skipping the masked half counts as speed. */
#include "bench.h"

enum { HEADS = 6, WIDTH = 64 * HEADS, TOKENS = 2048 };

static gra_tensor *attend(gra_tape *t, gra_tensor **x, void *dropout)
{
    return gra_attention(t, x[0], x[1], x[2],
                         &(gra_attention_options){ .heads = HEADS, .causal = true,
                                                   .dropout = *(double *)dropout });
}

static void row(const bench *b, table *out, int time, double dropout)
{
    const int batch = TOKENS / time;
    const double flop = 4.0 * time * WIDTH * TOKENS;
    op_case c = { .inputs = 3, .shape = { 3, { batch, time, WIDTH } }, .make = attend,
                  .arg = &dropout };
    table_text(out, "%d", time);
    table_text(out, "%d", batch);
    table_number(out, dropout);
    for (int k = 0; k < b->kinds; k++) {
        double forward, backward;
        time_op(b, b->threads[k], &c, &forward, &backward);
        table_number(out, 1e3 * forward);
        table_number(out, 1e3 * backward);
        table_number(out, 3e-9 * flop / (forward + backward));
        table_number(out, 100 * 3e-9 * flop / (forward + backward) / b->peak[k]);
    }
}

void bench_attention(const bench *b)
{
    char one[32], all[32];
    const column c[] = {
        { "time", "T", NULL, 6, 0 }, { "batch", "batch", NULL, 6, 0 }, { "dropout", "drop", NULL, 5, 1 },
        { "forward_ms_one", "fwd ms", thread_text(1, one), 9, 3 },
        { "backward_ms_one", "bwd ms", NULL, 9, 3 },
        { "gflops_one", "GFLOP/s", NULL, 8, 1 }, { "share_one", "%", NULL, 4, 0 },
        { "forward_ms_all", "fwd ms", thread_text(b->threads[ALL], all), 9, 3 },
        { "backward_ms_all", "bwd ms", NULL, 9, 3 }, { "gflops_all", "GFLOP/s", NULL, 8, 1 },
        { "share_all", "%", NULL, 4, 0 },
    };
    table t = table_begin(b, "attention", "6 heads of 64, causal, 2048 tokens; the whole T x T counted",
                          3 + 4 * b->kinds, c);
    for (int time = 64; time <= 1024; time *= 2)
        row(b, &t, time, 0);
    row(b, &t, 256, 0.1);
}
