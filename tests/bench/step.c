/* step: the training step of one configuration, for `make bench` and tests/bench/against_pytorch.
 *
 *     build/bench/step --config tiny --threads 2 --dropout 0.1 --products float --seconds 2
 *
 * --config is nano, tiny, small, gpt2 or six numbers: vocabulary,context,batch,width,heads,layers. --threads
 * 0 means one thread per core. --products is float or bf16. The program prints one line: milliseconds a step
 * (the median of the fastest third of the steps), peak memory, the loss.
 *
 * The model is a GPT as PyTorch would build it: pre-norm, learned positions, an untied head without a bias,
 * queries, keys and values without biases, GELU by erf; AdamW trains it on random tokens. The products of a
 * step with B rows of T tokens, width C, L layers and a vocabulary of V take
 *
 *     flop = 3 * 2 B T (12 C^2 L + C V + 2 L T C):
 *
 * the forward pass, and twice as much for the backward. Attention counts as T x T, though half is skipped. */
#include "examples/lib/step.h"
#include "lib/bench.h"
#include "../../layers/gpt.h"
#include <stdlib.h>
#include <sys/resource.h>

enum { BATCHES = 4 };

typedef struct workload {
    char name[64];
    int  vocab, context, batch, width, heads, layers;
} workload;

static bool read_workload(workload *w, const char *text)
{
    static const workload known[] = {
        { "nano", 65, 32, 8, 32, 4, 2 },
        { "tiny", 65, 64, 12, 128, 4, 4 },
        { "small", 65, 256, 16, 384, 6, 6 },
        { "gpt2", 50257, 64, 4, 768, 12, 12 },
    };
    int end = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(text, known[i].name) == 0) {
            *w = known[i];
            return true;
        }
    *w = (workload){ 0 };
    snprintf(w->name, sizeof w->name, "%s", text);
    return sscanf(text, "%d,%d,%d,%d,%d,%d%n", &w->vocab, &w->context, &w->batch, &w->width, &w->heads,
                  &w->layers, &end) == 6 && text[end] == '\0' && w->vocab > 0 && w->context > 0 &&
           w->batch > 0 && w->width > 0 && w->heads > 0 && w->layers > 0 && w->width % w->heads == 0;
}

static double flop(const workload *w)
{
    const double c = w->width, l = w->layers, tokens = (double)w->batch * w->context;
    return 3 * 2 * tokens * (12 * c * c * l + c * w->vocab + 2 * l * w->context * c);
}

struct trainer {
    gra_rng        rng;
    gra_tape      *tape;
    gra_model     *model;
    struct gra_gpt gpt;
    gra_adamw      opt;
    int           *ids, *next;          /* BATCHES times (batch, context) */
};

static void open_trainer(struct trainer *t, const workload *w, int threads, double dropout)
{
    const size_t tokens = (size_t)w->batch * (size_t)w->context * BATCHES;
    gra_manual_seed(&t->rng, 1);
    t->tape = need(gra_open(threads));
    t->model = need(gra_model_open(t->tape, &t->rng));
    t->ids = need(malloc(tokens * sizeof *t->ids));
    t->next = need(malloc(tokens * sizeof *t->next));
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
}

static double train(struct trainer *t, const workload *w, int step)     /* returns the loss */
{
    const size_t at = (size_t)(step % BATCHES) * (size_t)w->batch * (size_t)w->context;
    const batch b = { .rows = w->batch, .time = w->context, .ids = t->ids + at, .next = t->next + at };
    gra_zero_grad(t->model);
    const double loss = step_backward(t->tape, &t->rng, gra_gpt_forward, &t->gpt, &b, 1);
    gra_adamw_step(&t->opt);
    return loss;
}

static double peak_mib(void)            /* of this process */
{
    struct rusage usage = { 0 };
    getrusage(RUSAGE_SELF, &usage);
#if defined(__APPLE__)
    return (double)usage.ru_maxrss / 1048576;           /* bytes */
#else
    return (double)usage.ru_maxrss / 1024;              /* KiB */
#endif
}

static int refuse(const char *what)
{
    fprintf(stderr, "step: %s\nusage: step [--config NAME | --config V,T,B,C,H,L] [--threads N] [--dropout P]"
            " [--products float|bf16] [--seconds S]\n", what);
    return 2;
}

int main(int argc, char **argv)
{
    workload w;
    double threads = 1, dropout = 0, seconds = 2, loss = 0;
    gra_number products = GRA_FLOAT;
    read_workload(&w, "tiny");
    for (int i = 1; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : "";
        char *end = NULL;
        if (strcmp(argv[i], "--config") == 0) {
            if (!read_workload(&w, value))
                return refuse("--config: a name, or six numbers from 1 on, width a multiple of heads");
            continue;
        }
        if (strcmp(argv[i], "--products") == 0) {
            if (strcmp(value, "float") != 0 && strcmp(value, "bf16") != 0)
                return refuse("--products: float or bf16");
            products = value[0] == 'b' ? GRA_BF16 : GRA_FLOAT;
            continue;
        }
        double *number = strcmp(argv[i], "--threads") == 0 ? &threads
                       : strcmp(argv[i], "--dropout") == 0 ? &dropout
                       : strcmp(argv[i], "--seconds") == 0 ? &seconds : NULL;
        if (!number)
            return refuse("this flag is unknown");
        *number = strtod(value, &end);
        if (end == value || *end)
            return refuse("expected a number");
    }
    if (threads < 0 || threads > 1024 || !(dropout >= 0 && dropout < 1))
        return refuse("0 to 1024 threads, and 0 <= dropout < 1");
    struct trainer t = { .tape = NULL };
    open_trainer(&t, &w, (int)threads, dropout);
    gra_keep_going(t.tape, true);
    if (gra_products(t.tape, products))
        return refuse("this processor has no instruction for products of bfloat16 numbers");
    gra_keep_going(t.tape, false);
    for (int warm = 0; warm < 3; warm++)
        train(&t, &w, warm);
    samples s = samples_begin(seconds, 3);
    while (samples_needed(&s)) {
        const double begun = now();
        loss = train(&t, &w, s.n);
        samples_add(&s, now() - begun);
    }
    const double ms = 1e3 * samples_fastest(&s);
    printf("gradus config=%s threads=%d dropout=%g products=%s params=%zu steps=%d ms=%.4f gflops=%.1f"
           " mib=%.0f loss=%.4f\n", w.name, gra_threads(t.tape), dropout,
           products == GRA_BF16 ? "bf16" : "float", gra_param_values(t.model), s.n, ms, 1e-6 * flop(&w) / ms,
           peak_mib(), loss);
    gra_model_close(t.model);
    gra_close(t.tape);
    free(t.ids);
    free(t.next);
    return 0;
}
