/* Trains a GPT for some steps and returns its losses as text, every bit of them: as a program, and as a
 * WebAssembly module that exports losses(). Dropout, and both optimisers, take part. */
#include "layers/gpt.h"
#include <stdlib.h>
#include <string.h>

static const char text[] = "She sells sea shells by the sea shore.\n"
                           "The shells she sells are sea shells, I'm sure.\n";

enum { LENGTH = sizeof text - 1, VOCAB = 128, CONTEXT = 32, BATCH = 4, LINE = 64 };

char *losses(int steps);

__attribute__((visibility("default"))) char *losses(int steps)
{
    char *all = malloc((size_t)steps * LINE + 1), *line = all;
    int ids[BATCH * CONTEXT], next[BATCH * CONTEXT];
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_tape *t = gra_open(1);
    gra_model *model = gra_model_open(t, &rng);
    struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(model), &(gra_gpt_config){
        .vocab_size = VOCAB, .context_length = CONTEXT, .emb_dim = 32, .n_heads = 4, .n_layers = 2,
        .bias = true, .drop_rate = 0.1, .init = GRA_INIT_GPT2 });
    gra_adamw adamw;
    gra_muon muon;
    gra_adamw_init(&adamw, model, NULL);
    gra_muon_init(&muon, model, NULL);
    muon.lr = 0.002;
    for (int step = 1; step <= steps; step++) {
        for (int b = 0; b < BATCH; b++) {
            const int from = (int)gra_randint(&rng, LENGTH);
            for (int i = 0; i < CONTEXT; i++) {
                ids[b * CONTEXT + i] = text[(from + i) % LENGTH];
                next[b * CONTEXT + i] = text[(from + i + 1) % LENGTH];
            }
        }
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *loss = gra_cross_entropy(t, gra_gpt_forward(t, &gpt, ids, BATCH, CONTEXT), next);
        gra_zero_grad(model);
        gra_backward(t, loss);
        gra_clip_grad_norm(model, 1);
        adamw.lr = gra_warmup_cosine(step, 20, steps, 5e-3, 5e-4);
        gra_adamw_step(&adamw);
        gra_muon_step(&muon);
        const gra_real is = loss->data[0];
        unsigned char bytes[sizeof is];
        memcpy(bytes, &is, sizeof is);
        line += snprintf(line, LINE, "%d ", step);
        for (size_t i = 0; i < sizeof bytes; i++)
            line += snprintf(line, 3, "%02x", bytes[i]);
        line += snprintf(line, LINE, " %.14f\n", gra_item(loss));
    }
    gra_model_close(model);
    gra_close(t);
    return all;
}

#ifndef __wasm__
int main(int argc, char **argv)
{
    char *all = losses(argc > 1 ? atoi(argv[1]) : 400);
    fputs(all, stdout);
    free(all);
    return 0;
}
#endif
