/* generation: tokens a second, generated one after another from a single one, as build/generate does with its
 * key-value cache, and without it.
 *
 * Each token must at least read all weights once (of the embeddings a row), so reading them from memory
 * bounds its rate; a model that stays in the caches may exceed that bound. */
#include "bench.h"
#include "../../../examples/lib/sample.h"
#include <stdlib.h>

struct job {
    const workload *w;
    int             threads, tokens;
    bool            cached;
};

static void generate(const void *arg, double *result)
{
    const struct job *j = arg;
    const workload *w = j->w;
    gra_rng rng;
    struct gra_gpt gpt;
    gra_kv_cache cache;
    gra_manual_seed(&rng, 1);
    gra_tape *t = need(gra_open(j->threads));
    gra_model *m = need(gra_model_open(t, &rng));
    gra_gpt_init(&gpt, gra_root(m),
                 &(gra_gpt_config){ .vocab_size = w->vocab, .context_length = w->context, .emb_dim = w->width,
                                    .n_heads = w->heads, .n_layers = w->layers, .bias = true });
    if (gra_kv_cache_open(&cache, &gpt))
        need(NULL);
    sampler s = { .tape = t, .gpt = &gpt, .cache = j->cached ? &cache : NULL, .context = w->context };
    s.ids = need(malloc((size_t)w->context * sizeof *s.ids));
    sample_see(&s, &(int){ 1 }, 1);
    double begun = now();
    for (int i = 0; i < j->tokens; i++)
        if (sample_next(&s) < 0)
            break;
    result[0] = j->tokens / (now() - begun);
    size_t rows = gpt.tok_emb.weight->size + gpt.pos_emb.weight->size;  /* a row of each is read: nothing */
    result[1] = (double)((gra_param_values(m) - rows) * sizeof(real));
    free(s.ids);
    gra_kv_cache_close(&cache);
    gra_model_close(m);
    gra_close(t);
}

void bench_generation(const bench *b)
{
    const column c[] = {
        { "config", "config", NULL, 8, TEXT }, { "cache", "cache", NULL, 8, TEXT },
        { "threads", "threads", NULL, 8, 0 }, { "tokens", "tokens", NULL, 9, 0 },
        { "tokens_per_s", "tokens/s", NULL, 12, 1 }, { "weights_mib", "weights MiB", NULL, 14, 1 },
        { "share", "% of reading them", NULL, 20, 1 },
    };
    table t = table_begin(b, "generation", "one token after another, as build/generate writes them", 7, c);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        const workload *w = &workloads[i];
        if (!asked_for(b->configs, w->name))
            continue;
        for (int k = 0; k < 2 * b->kinds; k++) {
            const bool cached = k % 2 == 0;
            const int long_text = w->width < 256 ? 1000 : 2 * w->context;
            struct job j = { w, b->threads[k / 2], b->quick || !cached ? w->context : long_text, cached };
            double result[2], mib;
            in_child(generate, &j, 2, result, &mib);
            table_text(&t, "%s", w->name);
            table_text(&t, "%s", cached ? "yes" : "no");
            table_number(&t, j.threads);
            table_number(&t, j.tokens);
            table_number(&t, result[0]);
            table_number(&t, result[1] / 1048576);
            table_number(&t, 100e-9 * result[0] * result[1] / b->read[k / 2]);
        }
    }
}
