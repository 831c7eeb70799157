/* ops: nanoseconds an element, and bytes a second, counting each operand read once and each result written
 * once. If that reaches the triad's rate, only a fused op could be faster. */
#include "bench.h"
#include <stdlib.h>

struct sizes {
    int       rows, dim;                /* of x */
    int       classes;                  /* of the logits of cross_entropy, rows x classes */
    long      params;                   /* of the optimiser */
};
static const struct sizes cache = { 768, 128, 65, 796000 };             /* tiny's */
static const struct sizes memory = { 8192, 768, 50257, 16 << 20 };      /* gpt2's, and enough of it */
static const struct sizes memory_quick = { 4096, 768, 50257, 4 << 20 };
enum { LOGIT_ROWS = 256 };              /* at least, of 50257 classes */

struct extras {                         /* what ops take beside x: parameters of a model */
    gra_model  *model;
    gra_tensor *scale, *shift, *table;
    int        *ids, *target;
    int         rows;
};

#define PLAIN(name, ...)                                                                                \
    static gra_tensor *name(gra_tape *t, gra_tensor **x, void *arg)                                     \
    {                                                                                                   \
        (void)arg;                                                                                      \
        return gra_##name(t, __VA_ARGS__);                                                              \
    }
PLAIN(add, x[0], x[1])
PLAIN(relu, x[0])
PLAIN(gelu, x[0])
PLAIN(gelu_tanh, x[0])
PLAIN(dropout, x[0], 0.1)
PLAIN(softmax, x[0], -1)

static gra_tensor *layer_norm(gra_tape *t, gra_tensor **x, void *arg)
{
    const struct extras *e = arg;
    return gra_layer_norm(t, x[0], e->scale, e->shift, 1e-5);
}

static gra_tensor *cross_entropy(gra_tape *t, gra_tensor **x, void *arg)
{
    const struct extras *e = arg;
    return gra_cross_entropy(t, x[0], e->target);
}

static gra_tensor *embedding(gra_tape *t, gra_tensor **x, void *arg)
{
    const struct extras *e = arg;
    (void)x;
    return gra_embedding(t, e->table, e->ids, GRA_SHAPE(e->rows));
}

/* Values read and written for each element, forward and backward; the rest is small. */
static const struct row {
    const char *name;
    int         inputs;
    gra_tensor *(*make)(gra_tape *t, gra_tensor **x, void *arg);
    int         forward, backward;
} rows[] = {
    { "add", 2, add, 3, 3 },
    { "relu", 1, relu, 2, 3 },
    { "gelu", 1, gelu, 2, 3 },
    { "gelu_tanh", 1, gelu_tanh, 2, 3 },
    { "dropout", 1, dropout, 2, 2 },
    { "layer_norm", 1, layer_norm, 2, 3 },
    { "softmax", 1, softmax, 2, 3 },
    { "embedding", 0, embedding, 2, 3 },
    { "cross_entropy", 1, cross_entropy, 1, 2 },
};
enum { ROWS = sizeof rows / sizeof *rows };

static struct extras extras_open(const struct sizes *s, int count)
{
    gra_tape *t = need(gra_open(1));
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    struct extras e = { .model = need(gra_model_open(t, &rng)), .rows = s->rows };
    gra_close(t);                       /* the ops run on others */
    e.scale = gra_param(gra_root(e.model), "scale", gra_init_ones(), GRA_SHAPE(s->dim));
    e.shift = gra_param(gra_root(e.model), "shift", gra_init_zeros(), GRA_SHAPE(s->dim));
    e.table = gra_param(gra_root(e.model), "table", gra_init_ones(), GRA_SHAPE(s->classes, s->dim));
    e.ids = need(malloc((size_t)count * sizeof *e.ids));
    e.target = need(malloc((size_t)count * sizeof *e.target));
    for (int i = 0; i < count; i++)
        e.ids[i] = e.target[i] = (int)gra_randint(&rng, (uint64_t)s->classes);
    return e;
}

static void extras_close(struct extras *e)
{
    gra_model_close(e->model);
    free(e->ids);
    free(e->target);
}

/* Seconds of each op forward and backward, and how many elements it has. */
static void time_row(const bench *b, int threads, const struct sizes *s, const struct row *r, double *forward,
                     double *backward, double *elements)
{
    bool logits = r->make == cross_entropy;
    int count = logits && s->classes > 1000 ? LOGIT_ROWS : s->rows;
    op_case c = { .inputs = r->inputs, .shape = { 2, { count, logits ? s->classes : s->dim } },
                  .make = r->make };
    struct extras e = extras_open(s, s->rows);
    c.arg = &e;
    time_op(b, threads, &c, forward, backward);
    *elements = (double)c.shape.dim[0] * c.shape.dim[1];
    extras_close(&e);
}

/* ---- what walks over all parameters ---- */

static void update(void *arg) { gra_adamw_step(arg); }
static void forget(void *arg) { gra_zero_grad(((gra_adamw *)arg)->model); }
static void clip(void *arg)   { gra_clip_grad_norm(((gra_adamw *)arg)->model, 1e9); }

static const struct walk {
    const char *name;
    void      (*run)(void *opt);
    int         values;                 /* read and written for each parameter */
} walks[] = { { "adamw", update, 7 }, { "zero_grad", forget, 1 }, { "clip_grad_norm", clip, 1 } };
enum { WALKS = sizeof walks / sizeof *walks };

static double time_walk(const bench *b, int threads, const struct sizes *s, const struct walk *w)
{
    enum { PIECES = 16 };
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_tape *t = need(gra_open(threads));
    gra_model *m = need(gra_model_open(t, &rng));
    for (int i = 0; i < PIECES; i++) {
        gra_tensor *p = gra_param(gra_enter(gra_root(m), "%d", i), "weight", gra_init_ones(),
                                  GRA_SHAPE((int)(s->params / PIECES)));
        for (size_t j = 0; j < p->size; j++)
            p->grad[j] = (real)1e-3;
    }
    gra_adamw opt;
    gra_adamw_init(&opt, m, NULL);
    opt.lr = 1e-4;
    double seconds = time_of(b->seconds, w->run, &opt);
    gra_model_close(m);
    gra_close(t);
    return seconds;
}

/* ---- the tables ---- */

static void in_cache(const bench *b)
{
    char one[32], all[32];
    const column c[] = {
        { "op", "op", NULL, 18, TEXT },
        { "forward_ns_one", "forward", thread_text(1, one), 12, 3 },
        { "backward_ns_one", "backward", NULL, 12, 3 },
        { "forward_ns_all", "forward", thread_text(b->threads[ALL], all), 12, 3 },
        { "backward_ns_all", "backward", NULL, 12, 3 },
    };
    table t = table_begin(b, "ops_in_cache", "tiny's sizes: nanoseconds an element", 1 + 2 * b->kinds, c);
    for (int i = 0; i < ROWS + WALKS; i++) {
        const bool walk = i >= ROWS;
        table_text(&t, "%s", walk ? walks[i - ROWS].name : rows[i].name);
        for (int k = 0; k < b->kinds; k++) {
            double forward = (double)NAN, backward = (double)NAN, elements = (double)cache.params;
            if (!walk)
                time_row(b, b->threads[k], &cache, &rows[i], &forward, &backward, &elements);
            else
                forward = time_walk(b, b->threads[k], &cache, &walks[i - ROWS]);
            table_number(&t, 1e9 * forward / elements);
            table_number(&t, 1e9 * backward / elements);
        }
    }
}

static void in_memory(const bench *b)
{
    const struct sizes *s = b->quick ? &memory_quick : &memory;
    char all[64], threads[32];
    snprintf(all, sizeof all, "gpt2's sizes, %s: GB/s of the least traffic, %% of triad",
             thread_text(b->threads[ALL], threads));
    const column c[] = {
        { "op", "op", NULL, 18, TEXT },
        { "forward_ns", "ns/elem", "forward", 10, 3 }, { "forward_gbs", "GB/s", NULL, 9, 1 },
        { "forward_share", "%", NULL, 6, 0 }, { "backward_ns", "ns/elem", "backward", 14, 3 },
        { "backward_gbs", "GB/s", NULL, 9, 1 }, { "backward_share", "%", NULL, 6, 0 },
    };
    table t = table_begin(b, "ops_in_memory", all, 7, c);
    for (int i = 0; i < ROWS + WALKS; i++) {
        const bool walk = i >= ROWS;
        double seconds[2] = { (double)NAN, (double)NAN }, elements = (double)s->params;
        int moved[2] = { walk ? walks[i - ROWS].values : rows[i].forward, walk ? 0 : rows[i].backward };
        if (walk)
            seconds[0] = time_walk(b, b->threads[ALL], s, &walks[i - ROWS]);
        else
            time_row(b, b->threads[ALL], s, &rows[i], &seconds[0], &seconds[1], &elements);
        table_text(&t, "%s", walk ? walks[i - ROWS].name : rows[i].name);
        for (int pass = 0; pass < 2; pass++) {
            double gbs = 1e-9 * moved[pass] * (double)sizeof(real) * elements / seconds[pass];
            table_number(&t, 1e9 * seconds[pass] / elements);
            table_number(&t, gbs);
            table_number(&t, 100 * gbs / b->triad[b->kinds - 1]);
        }
    }
}

void bench_ops(const bench *b)
{
    in_cache(b);
    in_memory(b);
}
