/* workload: one training step of a GPT as PyTorch would build it: pre-norm, learned positions, an untied
 * head without a bias, queries, keys and values without biases, GELU by erf, AdamW.
 *
 * In products, a step of B rows of T tokens, C wide, with L layers and a vocabulary of V, takes
 *
 *     flop = 3 * 2 B T (12 C^2 L + C V + 2 L T C):
 *
 * the forward pass and twice as much backward. Attention counts as T x T, although half of it is skipped. */
#include "bench.h"
#include "../../../examples/lib/step.h"
#include <stdlib.h>

enum { BATCHES = 4 };

const workload workloads[4] = {
    { "nano", 65, 32, 8, 32, 4, 2 },
    { "tiny", 65, 64, 12, 128, 4, 4 },
    { "small", 65, 256, 16, 384, 6, 6 },
    { "gpt2", 50257, 64, 4, 768, 12, 12 },
};

struct trainer {
    workload   w;
    gra_rng    rng;
    gra_tape  *tape;
    gra_model *model;
    struct gra_gpt    gpt;
    gra_adamw  opt;
    int       *ids, *next;              /* BATCHES times (batch, context) */
    long       steps;
};

bool workload_read(workload *w, const char *text)
{
    int end = 0;
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++)
        if (strcmp(text, workloads[i].name) == 0) {
            *w = workloads[i];
            return true;
        }
    *w = (workload){ 0 };
    snprintf(w->name, sizeof w->name, "%s", text);
    return sscanf(text, "%d,%d,%d,%d,%d,%d%n", &w->vocab, &w->context, &w->batch, &w->width, &w->heads,
                  &w->layers, &end) == 6 && text[end] == '\0' && w->vocab > 0 && w->context > 0 &&
           w->batch > 0 && w->width > 0 && w->heads > 0 && w->layers > 0 && w->width % w->heads == 0;
}

double workload_flop(const workload *w)
{
    const double c = w->width, l = w->layers, tokens = (double)w->batch * w->context;
    return 3 * 2 * tokens * (12 * c * c * l + c * w->vocab + 2 * l * w->context * c);
}

trainer *trainer_open(const workload *w, int threads, double dropout)
{
    const size_t tokens = (size_t)w->batch * (size_t)w->context * BATCHES;
    trainer *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->w = *w;
    gra_manual_seed(&t->rng, 1);
    t->tape = gra_open(threads);
    t->model = gra_model_open(t->tape, &t->rng);
    t->ids = malloc(tokens * sizeof *t->ids);
    t->next = malloc(tokens * sizeof *t->next);
    if (!t->tape || !t->model || !t->ids || !t->next) {
        trainer_close(t);
        return NULL;
    }
    gra_gpt_init(&t->gpt, gra_root(t->model),
                 &(gra_gpt_config){ .vocab_size = w->vocab, .context_length = w->context, .emb_dim = w->width,
                                    .n_heads = w->heads, .n_layers = w->layers, .drop_rate = dropout,
                                    .bias = true });
    gra_adamw_init(&t->opt, t->model, NULL);
    t->opt.lr = 3e-4;
    for (size_t i = 0; i < tokens; i++) {
        t->ids[i] = (int)gra_randint(&t->rng, (uint64_t)w->vocab);
        t->next[i] = (int)gra_randint(&t->rng, (uint64_t)w->vocab);
    }
    return t;
}

int trainer_products(trainer *t, gra_number products)
{
    gra_keep_going(t->tape, true);
    const int failed = gra_products(t->tape, products);
    gra_keep_going(t->tape, false);
    return failed;
}

double trainer_step(trainer *t)
{
    const size_t at = (size_t)(t->steps++ % BATCHES) * (size_t)t->w.batch * (size_t)t->w.context;
    const batch b = { .rows = t->w.batch, .time = t->w.context, .ids = t->ids + at, .next = t->next + at };
    gra_zero_grad(t->model);
    const double loss = step_backward(t->tape, &t->rng, gra_gpt_forward, &t->gpt, &b, 1);
    gra_adamw_step(&t->opt);
    return loss;
}

size_t trainer_values(const trainer *t)
{
    return gra_param_values(t->model);
}

void trainer_close(trainer *t)
{
    gra_model_close(t->model);
    gra_close(t->tape);
    free(t->ids);
    free(t->next);
    free(t);
}
