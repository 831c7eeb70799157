/* Layers: gradients, values, names, first values, the end of memory.
 *
 * Golden numbers of PyTorch's (test_golden.c) cover the small layers; a whole GPT is compared here
 * with one written out in plain loops, dropout included. */
#include "../core/op.h"
#include "../layers/layers.h"
#include "chunks.h"
#include "crash.h"
#include "fault.h"
#include "folder.h"
#include "room.h"
#include "suites.h"

#include <ctype.h>
#include <stdlib.h>

static gra_tape  *t;
static gra_model *model;
static gra_rng    rng;

static void open_all(void)
{
    gra_manual_seed(&rng, 123);
    t = gra_open(1);
    model = gra_model_open(t, &rng);
    gra_keep_going(t, true);
    gra_model_keep_going(model, true);
}

static void close_all(void)
{
    gra_model_close(model);
    gra_close(t);
}

/* ---- the table: every layer, in odd sizes ------------------------------------------------------ */

typedef union any_layer {
    struct gra_linear        linear;
    struct gra_embedding     embedding;
    struct gra_positional_embedding positional;
    struct gra_dropout       dropout;
    struct gra_layer_norm    layer_norm;
    struct gra_rms_norm      rms_norm;
    struct gra_self_attention       self;
    struct gra_self_attention_v1    self_v1;
    struct gra_causal_attention     causal;
    struct gra_multi_head_attention_wrapper wrapper;
    struct gra_multi_head_attention heads;
    struct gra_positional_self_attention       pos_self;
    struct gra_positional_causal_attention     pos_causal;
    struct gra_positional_multi_head_attention pos_heads;
    struct gra_feed_forward         feed_forward;
    struct gra_transformer_block    block;
    struct gra_gpt                  gpt;
} any_layer;

enum { ROWS = 3, TIME = 5, VOCAB = 7 };
static const int ids[ROWS * TIME] = { 1, 6, 1, 0, 3, 1, 1, 5, 2, 6, 0, 4, 3, 1, 2 };     /* 1 comes often */

typedef struct row {
    const char    *name;
    const char    *layer;               /* gra_LAYER_init makes it */
    void         (*init)(any_layer *l, gra_scope s, const gra_gpt_config *c);
    gra_check_fn  *forward;
    gra_shape      shape;               /* of x; ndim 0: ids instead */
    gra_gpt_config c;                   /* serves every layer: emb_dim is its width */
} row;

enum { OUT = 3 };                       /* out_features of the Linear */

static void linear_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_linear_init(&l->linear, s, c->emb_dim, OUT, c->bias);
}
static gra_tensor *linear(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_linear_forward(tape, l, in[0]);
}

static void embedding_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_embedding_init(&l->embedding, s, c->vocab_size, c->emb_dim);
}
static gra_tensor *embedding(gra_tape *tape, gra_tensor **in, void *l)
{
    (void)in;
    return gra_embedding_forward(tape, l, ids, GRA_SHAPE(ROWS, TIME));
}

static void positional_embedding_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_positional_embedding_init(&l->positional, s, c->context_length, c->emb_dim);
}
static gra_tensor *positional(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_positional_embedding_forward(tape, l, in[0]);
}

static void dropout_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_dropout_init(&l->dropout, s, c->drop_rate);
}
static gra_tensor *dropout(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_dropout_forward(tape, l, in[0]);
}

static void layer_norm_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    if (c->bias)
        gra_layer_norm_init(&l->layer_norm, s, c->emb_dim);
    else
        gra_layer_norm_init_as(&l->layer_norm, s, c->emb_dim, "scale", NULL);
}
static gra_tensor *layer_norm(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_layer_norm_forward(tape, l, in[0]);
}

static void rms_norm_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_rms_norm_init(&l->rms_norm, s, c->emb_dim);
}
static gra_tensor *rms_norm(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_rms_norm_forward(tape, l, in[0]);
}

static void self_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_self_attention_init(&l->self, s, c->emb_dim, OUT, c->qkv_bias);
}
static gra_tensor *self(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_self_attention_forward(tape, l, in[0]);
}

static void self_attention_v1_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_self_attention_v1_init(&l->self_v1, s, c->emb_dim, OUT);
}
static gra_tensor *self_v1(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_self_attention_v1_forward(tape, l, in[0]);
}

static void causal_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_causal_attention_init(&l->causal, s, c->emb_dim, OUT, c->context_length, c->drop_rate, c->qkv_bias);
}
static gra_tensor *causal(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_causal_attention_forward(tape, l, in[0]);
}

static void multi_head_attention_wrapper_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_multi_head_attention_wrapper_init(&l->wrapper, s, c->emb_dim, OUT, c->context_length, c->drop_rate,
                                          c->n_heads, c->qkv_bias);
}
static gra_tensor *wrapper(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_multi_head_attention_wrapper_forward(tape, l, in[0]);
}

static void multi_head_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_multi_head_attention_init(&l->heads, s, c->emb_dim, 3 * c->n_heads, c->context_length, c->drop_rate,
                                  c->n_heads, c->qkv_bias);
}
static gra_tensor *heads(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_multi_head_attention_forward(tape, l, in[0]);
}

static void optimized_multi_head_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_optimized_multi_head_attention_init(&l->heads, s, c->emb_dim, c->emb_dim, c->context_length,
                                            c->drop_rate, c->n_heads, c->qkv_bias);
}

static void efficient_multi_head_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_efficient_multi_head_attention_init(&l->heads, s, c->emb_dim, c->emb_dim, c->context_length,
                                            c->drop_rate, c->n_heads, c->qkv_bias);
}

static void positional_self_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_positional_self_attention_init(&l->pos_self, s, c->emb_dim, OUT, c->context_length, c->qkv_bias);
}
static gra_tensor *pos_self(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_positional_self_attention_forward(tape, l, in[0]);
}

static void positional_causal_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_positional_causal_attention_init(&l->pos_causal, s, c->emb_dim, OUT, c->context_length, c->drop_rate,
                                         c->qkv_bias);
}
static gra_tensor *pos_causal(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_positional_causal_attention_forward(tape, l, in[0]);
}

static void positional_multi_head_attention_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_positional_multi_head_attention_init(&l->pos_heads, s, c->emb_dim, OUT, c->context_length,
                                             c->drop_rate, c->n_heads, c->qkv_bias);
}
static gra_tensor *pos_heads(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_positional_multi_head_attention_forward(tape, l, in[0]);
}

static void feed_forward_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_feed_forward_init(&l->feed_forward, s, c->emb_dim, c->gelu);
}
static gra_tensor *feed_forward(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_feed_forward_forward(tape, l, in[0]);
}

static void transformer_block_init(any_layer *l, gra_scope s, const gra_gpt_config *c)
{
    gra_transformer_block_init(&l->block, s, c);
}
static gra_tensor *block(gra_tape *tape, gra_tensor **in, void *l)
{
    return gra_transformer_block_forward(tape, l, in[0]);
}

static void gpt_init(any_layer *l, gra_scope s, const gra_gpt_config *c) { gra_gpt_init(&l->gpt, s, c); }
static gra_tensor *gpt(gra_tape *tape, gra_tensor **in, void *l)
{
    (void)in;
    return gra_gpt_forward(tape, l, ids, ROWS, TIME);
}

#define GPT .vocab_size = VOCAB, .context_length = TIME + 2, .emb_dim = 9, .n_heads = 3, .n_layers = 2

#define LAYER(name) #name, name##_init

static const row table[] = {
    { "linear", LAYER(linear), linear, { 3, { 3, 1, 5 } }, { .emb_dim = 5, .bias = true } },
    { "linear without bias", LAYER(linear), linear, { 2, { 17, 3 } }, { .emb_dim = 3 } },
    { "embedding", LAYER(embedding), embedding, { 0, { 0 } }, { .vocab_size = VOCAB, .emb_dim = 3 } },
    { "positional embedding", LAYER(positional_embedding), positional, { 3, { 3, 5, 3 } },
      { .context_length = 7, .emb_dim = 3 } },
    { "positional embedding, filled", LAYER(positional_embedding), positional, { 2, { 5, 3 } },
      { .context_length = 5, .emb_dim = 3 } },
    { "dropout", LAYER(dropout), dropout, { 2, { 3, 17 } }, { .drop_rate = 0.3 } },
    { "layer norm", LAYER(layer_norm), layer_norm, { 3, { 3, 1, 17 } }, { .emb_dim = 17, .bias = true } },
    { "layer norm without shift", LAYER(layer_norm), layer_norm, { 2, { 17, 3 } }, { .emb_dim = 3 } },
    { "rms norm", LAYER(rms_norm), rms_norm, { 3, { 1, 3, 17 } }, { .emb_dim = 17 } },
    { "self-attention", LAYER(self_attention), self, { 3, { 3, 5, 5 } }, { .emb_dim = 5 } },
    { "self-attention, one sequence, qkv bias", LAYER(self_attention), self, { 2, { 7, 5 } },
      { .emb_dim = 5, .qkv_bias = true } },
    { "self-attention, bare matrices",
      LAYER(self_attention_v1), self_v1, { 3, { 3, 5, 5 } }, { .emb_dim = 5 } },
    { "self-attention, bare matrices, one sequence",
      LAYER(self_attention_v1), self_v1, { 2, { 1, 5 } }, { .emb_dim = 5 } },
    { "causal attention",
      LAYER(causal_attention), causal, { 3, { 3, 5, 5 } }, { .emb_dim = 5, .context_length = 5 } },
    { "causal attention, qkv bias, dropout", LAYER(causal_attention), causal, { 3, { 1, 7, 5 } },
      { .emb_dim = 5, .context_length = 9, .qkv_bias = true, .drop_rate = 0.3 } },
    { "causal attention, one token", LAYER(causal_attention), causal, { 3, { 3, 1, 5 } },
      { .emb_dim = 5, .context_length = 1 } },
    { "causal attention, one sequence", LAYER(causal_attention), causal, { 2, { 5, 3 } },
      { .emb_dim = 3, .context_length = 5, .drop_rate = 0.3 } },
    { "multi-head attention wrapper", LAYER(multi_head_attention_wrapper), wrapper, { 3, { 3, 5, 5 } },
      { .emb_dim = 5, .context_length = 5, .n_heads = 3 } },
    { "multi-head attention wrapper, one sequence, qkv bias, dropout",
      LAYER(multi_head_attention_wrapper), wrapper, { 2, { 7, 3 } },
      { .emb_dim = 3, .context_length = 9, .n_heads = 2, .qkv_bias = true, .drop_rate = 0.3 } },
    { "multi-head attention", LAYER(multi_head_attention), heads, { 3, { 3, 5, 5 } },
      { .emb_dim = 5, .context_length = 5, .n_heads = 3 } },
    { "multi-head attention, qkv bias, dropout", LAYER(multi_head_attention), heads, { 3, { 1, 7, 3 } },
      { .emb_dim = 3, .context_length = 9, .n_heads = 3, .qkv_bias = true, .drop_rate = 0.3 } },
    { "multi-head attention, one sequence", LAYER(multi_head_attention), heads, { 2, { 5, 3 } },
      { .emb_dim = 3, .context_length = 5, .n_heads = 2 } },
    { "optimized multi-head attention", LAYER(optimized_multi_head_attention), heads, { 3, { 3, 5, 6 } },
      { .emb_dim = 6, .context_length = 5, .n_heads = 3 } },
    { "optimized multi-head attention, one sequence, qkv bias, dropout",
      LAYER(optimized_multi_head_attention), heads, { 2, { 7, 3 } },
      { .emb_dim = 3, .context_length = 9, .n_heads = 3, .qkv_bias = true, .drop_rate = 0.3 } },
    { "efficient multi-head attention", LAYER(efficient_multi_head_attention), heads, { 3, { 3, 5, 6 } },
      { .emb_dim = 6, .context_length = 5, .n_heads = 3 } },
    { "efficient multi-head attention, one sequence, qkv bias, dropout",
      LAYER(efficient_multi_head_attention), heads, { 2, { 7, 3 } },
      { .emb_dim = 3, .context_length = 9, .n_heads = 3, .qkv_bias = true, .drop_rate = 0.3 } },
    { "positional self-attention", LAYER(positional_self_attention), pos_self, { 3, { 3, 5, 5 } },
      { .emb_dim = 5, .context_length = 7 } },
    { "positional self-attention, one sequence, qkv bias",
      LAYER(positional_self_attention), pos_self, { 2, { 5, 3 } },
      { .emb_dim = 3, .context_length = 5, .qkv_bias = true } },
    { "positional causal attention", LAYER(positional_causal_attention), pos_causal, { 3, { 3, 5, 5 } },
      { .emb_dim = 5, .context_length = 7 } },
    { "positional causal attention, one sequence, dropout",
      LAYER(positional_causal_attention), pos_causal, { 2, { 5, 3 } },
      { .emb_dim = 3, .context_length = 5, .qkv_bias = true, .drop_rate = 0.3 } },
    { "positional multi-head attention",
      LAYER(positional_multi_head_attention), pos_heads, { 3, { 3, 5, 5 } },
      { .emb_dim = 5, .context_length = 7, .n_heads = 2 } },
    { "positional multi-head attention, one sequence, dropout",
      LAYER(positional_multi_head_attention), pos_heads, { 2, { 5, 3 } },
      { .emb_dim = 3, .context_length = 5, .n_heads = 3, .qkv_bias = true, .drop_rate = 0.3 } },
    { "feed-forward, erf", LAYER(feed_forward), feed_forward, { 3, { 3, 1, 5 } }, { .emb_dim = 5 } },
    { "feed-forward, tanh", LAYER(feed_forward), feed_forward, { 2, { 17, 3 } },
      { .emb_dim = 3, .gelu = GRA_GELU_TANH } },
    { "block",
      LAYER(transformer_block), block, { 3, { 3, 5, 9 } }, { GPT, .bias = true, .drop_rate = 0.3 } },
    { "block without biases", LAYER(transformer_block), block, { 3, { 1, 7, 9 } },
      { GPT, .qkv_bias = true, .gelu = GRA_GELU_TANH } },
    { "gpt", LAYER(gpt), gpt, { 0, { 0 } }, { GPT, .bias = true, .drop_rate = 0.1 } },
    { "gpt, tied", LAYER(gpt), gpt, { 0, { 0 } },
      { GPT, .bias = true, .tied = true, .drop_rate = 0.1, .init = GRA_INIT_GPT2 } },
    { "gpt, tanh, qkv bias", LAYER(gpt), gpt, { 0, { 0 } },
      { GPT, .bias = true, .qkv_bias = true, .gelu = GRA_GELU_TANH } },
    { "gpt, tied, tanh, no biases", LAYER(gpt), gpt, { 0, { 0 } },
      { GPT, .tied = true, .gelu = GRA_GELU_TANH, .drop_rate = 0.3, .init = GRA_INIT_GPT2 } },
    { "gpt, no biases, full context", LAYER(gpt), gpt, { 0, { 0 } },
      { .vocab_size = VOCAB, .context_length = TIME, .emb_dim = 9, .n_heads = 3, .n_layers = 2 } },
};
enum { TABLE = sizeof table / sizeof *table };

/* A layer that is not in the table is checked by nobody. */
START_TEST(every_layer_has_a_row)
{
    static const char begin[] = "gra_", init[] = "_init(";
    char text[65536], name[64];
    read_text("layers/layers.h", text, sizeof text);
    int layers = 0;
    for (char *at = text; (at = strstr(at, init)); at += sizeof init - 1) {
        const char *scope = strstr(at, "gra_scope scope");
        if (!scope || scope > strchr(at, ')'))          /* a layer's init takes a scope */
            continue;
        const char *from = at;
        while (from > text && (isalnum((unsigned char)from[-1]) || from[-1] == '_'))
            from--;
        snprintf(name, sizeof name, "%.*s", (int)(at - from), from);
        bool found = false;
        for (int i = 0; i < TABLE && !found; i++)
            found = strcmp(table[i].layer, name + sizeof begin - 1) == 0;
        ck_assert_msg(found, "layers/layers.h has %s%s...): the table of tests/test_layers.c wants a row for it",
                      name, init);
        layers++;
    }
    ck_assert_int_gt(layers, 0);
}
END_TEST

/* Makes a row's layer and moves its parameters off their first values: a gradient that forgets a
 * factor of 1 or a term that is 0 must show. */
static void make(const row *r, any_layer *l, gra_model *m)
{
    gra_rng own;
    real step;
    gra_manual_seed(&own, 7);
    r->init(l, gra_root(m), &r->c);
    ck_assert_msg(!gra_model_error(m), "%s: %s", r->name, gra_model_error(m));
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++) {
            gra_uniform(&own, &step, 1, -0.3, 0.3);
            gra_param_at(m, i)->data[j] += step;
        }
}

/* ---- gradients: double alone ------------------------------------------------------------------- */

#ifdef GRADUS_DOUBLE
START_TEST(gradients)
{
    const row *r = &table[_i / 2];
    const gra_mode mode = _i % 2 ? GRA_TRAIN : GRA_GRAD;
    gra_check_in x = { .name = "x", .shape = r->shape };
    gra_check_report report;
    any_layer l;
    crash_note("crash in the row \"%s\" of tests/test_layers.c", r->name);
    make(r, &l, model);
    int result = gra_check(t, mode, &rng, model, r->shape.ndim > 0, &x, r->forward, &l, 1e-6, &report);
    /* Over one key the weight is 1, whatever queries and keys are: their gradients are 0, and test nothing. */
    const bool one_key = r->shape.ndim > 1 && r->shape.dim[r->shape.ndim - 2] == 1 && strstr(r->name, "attention");
    ck_assert_msg(result == (one_key ? 2 : 0), "%s, %s:\n%s", r->name, mode == GRA_TRAIN ? "training" : "not training",
                  report.text);
    size_t values = r->shape.ndim ? 1 : 0;
    for (int d = 0; d < r->shape.ndim; d++)
        values *= (size_t)r->shape.dim[d];
    ck_assert_uint_eq(report.elements, gra_param_values(model) + values);
}
END_TEST
#endif

/* ---- what a row computes -------------------------------------------------------------------------- */

/* y and the gradients of sum(c y), c fixed, with dropout: of x, and of the parameters by their names. */
typedef struct results {
    int n;
    struct {
        char   name[128];
        real  *x;
        size_t size;
    } value[64];
    double most;                        /* the largest of all gradients: some are zero but for rounding */
} results;

static double largest(const real *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)                      /* not fmax: gcc 12 for aarch64 breaks down over it */
        most = fabs((double)x[i]) > most ? fabs((double)x[i]) : most;
    return most;
}

static void keep(results *k, const char *name, const gra_tensor *x, const real *values)
{
    ck_assert_int_lt(k->n, 64);
    snprintf(k->value[k->n].name, sizeof k->value[0].name, "%s", name);
    k->value[k->n].x = calloc(x->size + 1, sizeof(real));
    k->value[k->n].size = x->size;
    memcpy(k->value[k->n++].x, values, x->size * sizeof(real));
    if (values != x->data)
        k->most = fmax(k->most, largest(values, x->size));
}

static results compute(gra_tape *tape, const row *r)
{
    results k = { 0 };
    gra_rng own;
    any_layer l;
    crash_note("crash in the row \"%s\" of tests/test_layers.c", r->name);
    gra_manual_seed(&own, 5);
    gra_model *m = gra_model_open(tape, &own);
    make(r, &l, m);
    gra_begin(tape, GRA_TRAIN, &own);
    gra_tensor *x = NULL;
    if (r->shape.ndim) {
        size_t n;
        gra_shape_size(r->shape, &n);
        real *values = gra_alloc(tape, n * sizeof *values);
        gra_randn(&own, values, n);
        x = gra_input(tape, values, r->shape);
    }
    gra_tensor *y = r->forward(tape, &x, &l);
    real *weights = gra_alloc(tape, y->size * sizeof *weights);
    gra_randn(&own, weights, y->size);
    gra_tensor *c = gra_constant(tape, weights, y->shape);
    ck_assert_int_eq(gra_backward(tape, gra_sum(tape, gra_mul(tape, c, y))), 0);

    keep(&k, "y", y, y->data);
    if (x)
        keep(&k, "d_x", x, x->grad);
    for (int i = 0; i < gra_param_count(m); i++)
        keep(&k, gra_param_at(m, i)->name, gra_param_at(m, i), gra_param_at(m, i)->grad);
    gra_model_close(m);
    return k;
}

static void forget(results *k)
{
    for (int i = 0; i < k->n; i++)
        free(k->value[i].x);
}

/* Threads share the work of large tensors; the table's are small. */
START_TEST(chunks_of_one)               /* _i: a row */
{
    results whole = compute(t, &table[_i]);
    for (int threads = 1; threads <= 3; threads += 2) {
        gra_tape *cut = gra_open(threads);
        chunks_begin(cut);
        gra_machine_cut(gra_tape_machine(cut), threads == 1 ? chunks_alone : chunks_on_threads);
        results chunks = compute(cut, &table[_i]);
        ck_assert_msg(!chunks_fault(), "row \"%s\":\n%s", table[_i].name, chunks_fault());
        for (int i = 0; i < whole.n; i++)
            ck_assert_msg(memcmp(whole.value[i].x, chunks.value[i].x, whole.value[i].size * sizeof(real)) == 0,
                          "%s: %s has other bits with the kernels cut into chunks of one unit, %s: a kernel "
                          "depends on how it is cut", table[_i].name, whole.value[i].name,
                          threads == 1 ? "each by itself" : "on three threads");
        forget(&chunks);
        gra_close(cut);
    }
    forget(&whole);
}
END_TEST

/* ---- float against double ------------------------------------------------------------------------
 * The double suite writes what it computed, the float suite compares: the parameters and masks are
 * the same numbers in both. */

#define REFERENCE reference_path("layers_reference.txt")

#ifdef GRADUS_DOUBLE
START_TEST(writes_the_reference)
{
    FILE *f = fopen(REFERENCE, "w");
    ck_assert_msg(f != NULL, "%s cannot be written", REFERENCE);
    for (const row *r = table; r < table + TABLE; r++) {
        results k = compute(t, r);
        for (int i = 0; i < k.n; i++) {
            fprintf(f, "%s %zu\n", k.value[i].name, k.value[i].size);
            for (size_t j = 0; j < k.value[i].size; j++)
                fprintf(f, "%.17g\n", (double)k.value[i].x[j]);
        }
        forget(&k);
    }
    ck_assert_int_eq(fclose(f), 0);
}
END_TEST
#else
static double worst_error;

/* Errors are relative to the largest value of the tensor, its small ones being sums of large terms; where
 * the true gradient is zero (the bias of attention's keys), to that of all gradients: 1e-7 of it is a
 * float's rounding. False: the file is of another table. */
static bool compare_value(FILE *f, const row *r, const results *k, int i)
{
    static const double tolerance = 1e-5;
    char was[128];
    size_t size;
    if (fscanf(f, "%127s %zu", was, &size) != 2 || strcmp(was, k->value[i].name) != 0 ||
        size != k->value[i].size)
        return false;
    double *want = calloc(size + 1, sizeof *want), scale = i > 0 ? 1e-2 * k->most : 0;
    bool all = true;
    for (size_t j = 0; j < size && all; j++) {
        all = fscanf(f, "%lf", &want[j]) == 1;
        scale = fmax(scale, fabs(want[j]));
    }
    for (size_t j = 0; j < size && all; j++) {
        double error = fabs((double)k->value[i].x[j] - want[j]) / scale;
        worst_error = fmax(worst_error, error);
        ck_assert_msg(error <= tolerance,
                      "%s, %s[%zu]: %.9g in float, %.17g in double: error %.2g, allowed %.2g", r->name,
                      was, j, (double)k->value[i].x[j], want[j], error, tolerance);
    }
    free(want);
    return all;
}

/* False: there is no reference, or it is of another table. */
static bool compare_all(const char *path)
{
    FILE *f = fopen(path, "r");
    char rest[2];
    bool same = f != NULL;
    for (const row *r = table; r < table + TABLE && same; r++) {
        results k = compute(t, r);
        for (int i = 0; i < k.n && same; i++)
            same = compare_value(f, r, &k, i);
        forget(&k);
    }
    same = same && fscanf(f, "%1s", rest) != 1;
    if (f)
        fclose(f);
    return same;
}

START_TEST(agrees_with_the_reference)
{
    if (compare_all(REFERENCE))
        ck_assert(worst_error > 0);     /* else double was compared with double */
    else
        fprintf(stderr, "left out: layers in float against layers in double. %s is missing or of another "
                "table; build/f64/test writes it\n", REFERENCE);
}
END_TEST

START_TEST(without_a_reference_nothing_is_compared)
{
    ck_assert(!compare_all("no such file"));
    ck_assert(!compare_all("README.md"));
}
END_TEST
#endif

/* ---- a GPT in plain loops ------------------------------------------------------------------------ */

static const double *param(const char *format, int i)   /* values of a parameter, or NULL; see release */
{
    char name[128];
    snprintf(name, sizeof name, format, i);
    const gra_tensor *p = gra_param_find(model, name);
    if (!p)
        return NULL;
    double *values = calloc(p->size, sizeof *values);
    for (size_t j = 0; j < p->size; j++)
        values[j] = (double)p->data[j];
    return values;
}

static void release(const double *values) { free((void *)(uintptr_t)values); }

/* y = x w^T + b, parameters by name; b may be absent */
static void plain_linear(const double *x, int n, int in, int out, const char *weight, const char *bias,
                         int layer, double *y)
{
    const double *w = param(weight, layer), *b = param(bias, layer);
    for (int i = 0; i < n; i++)
        for (int o = 0; o < out; o++) {
            double sum = b ? b[o] : 0;
            for (int j = 0; j < in; j++)
                sum += x[i * in + j] * w[o * in + j];
            y[i * out + o] = sum;
        }
    release(w);
    release(b);
}

static void plain_norm(const double *x, int n, int dim, const char *scale, const char *shift, int layer,
                       double *y)
{
    const double *w = param(scale, layer), *b = param(shift, layer);
    for (int i = 0; i < n; i++) {
        const double *r = x + i * dim;
        double mean = 0, var = 0;
        for (int j = 0; j < dim; j++)
            mean += r[j] / dim;
        for (int j = 0; j < dim; j++)
            var += (r[j] - mean) * (r[j] - mean) / dim;
        for (int j = 0; j < dim; j++)
            y[i * dim + j] = (r[j] - mean) / sqrt(var + 1e-5) * w[j] + (b ? b[j] : 0);
    }
    release(w);
    release(b);
}

static void plain_dropout(double *x, int n, double p, gra_rng *g)
{
    if (p == 0)
        return;
    uint32_t z = gra_bernoulli_start(g);
    for (int i = 0; i < n; i++, z = gra_bernoulli_next(z))
        x[i] = z / 2147483647.0 < 1 - p ? x[i] / (1 - p) : 0;
}

static void plain_attention(const double *q, const double *k, const double *v, const gra_gpt_config *c,
                            double drop, gra_rng *g, double *y)
{
    const int dim = c->emb_dim, d = dim / c->n_heads;
    static double p[ROWS][16][TIME][TIME];
    memset(p, 0, sizeof p);
    ck_assert_int_le(c->n_heads, 16);
    for (int b = 0; b < ROWS; b++)
        for (int h = 0; h < c->n_heads; h++)
            for (int i = 0; i < TIME; i++) {
                double sum = 0;
                for (int j = 0; j <= i; j++) {
                    double score = 0;
                    for (int e = 0; e < d; e++)
                        score += q[(b * TIME + i) * dim + h * d + e] * k[(b * TIME + j) * dim + h * d + e];
                    sum += p[b][h][i][j] = exp(score / sqrt(d));
                }
                for (int j = 0; j <= i; j++)
                    p[b][h][i][j] /= sum;
            }
    double flat[ROWS * 16 * TIME * TIME];               /* the mask runs over (batch, heads, time, time) */
    int n = 0;
    for (int b = 0; b < ROWS; b++)
        for (int h = 0; h < c->n_heads; h++, n += TIME * TIME)
            memcpy(flat + n, p[b][h], sizeof p[b][h]);
    plain_dropout(flat, n, drop, g);
    for (int b = 0; b < ROWS; b++)
        for (int i = 0; i < TIME; i++)
            for (int e = 0; e < dim; e++) {
                double sum = 0;
                for (int j = 0; j < TIME; j++)
                    sum += flat[((b*c->n_heads + e/d)*TIME + i)*TIME + j] * v[(b*TIME + j)*dim + e];
                y[(b * TIME + i) * dim + e] = sum;
            }
}

static double plain_gelu(double x, gra_gelu_form form)
{
    if (form == GRA_GELU_ERF)
        return x * (1 + erf(x / sqrt(2))) / 2;
    return x * (1 + tanh(sqrt(2 / acos(-1)) * (x + 0.044715 * x * x * x))) / 2;
}

static void plain_gpt(const gra_gpt_config *c, double drop, gra_rng *g, double *logits)
{
    enum { N = ROWS * TIME, MOST = 16 };
    const int dim = c->emb_dim;
    ck_assert_int_le(dim, MOST);
    double x[N * MOST], y[N * MOST], q[N * MOST], k[N * MOST], v[N * MOST], h[N * 4 * MOST];
    const double *tok = param("tok_emb.weight", 0), *pos = param("pos_emb.weight", 0);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < dim; j++)
            x[i * dim + j] = tok[ids[i] * dim + j] + pos[i % TIME * dim + j];
    plain_dropout(x, N * dim, drop, g);
    for (int l = 0; l < c->n_layers; l++) {
        plain_norm(x, N, dim, "trf_blocks.%d.norm1.scale", "trf_blocks.%d.norm1.shift", l, y);
        plain_linear(y, N, dim, dim, "trf_blocks.%d.att.W_query.weight", "trf_blocks.%d.att.W_query.bias", l,
                     q);
        plain_linear(y, N, dim, dim, "trf_blocks.%d.att.W_key.weight", "trf_blocks.%d.att.W_key.bias", l, k);
        plain_linear(y, N, dim, dim, "trf_blocks.%d.att.W_value.weight", "trf_blocks.%d.att.W_value.bias", l,
                     v);
        plain_attention(q, k, v, c, drop, g, y);
        plain_linear(y, N, dim, dim, "trf_blocks.%d.att.out_proj.weight", "trf_blocks.%d.att.out_proj.bias",
                     l, q);
        plain_dropout(q, N * dim, drop, g);
        for (int i = 0; i < N * dim; i++)
            x[i] += q[i];

        plain_norm(x, N, dim, "trf_blocks.%d.norm2.scale", "trf_blocks.%d.norm2.shift", l, y);
        plain_linear(y, N, dim, 4 * dim, "trf_blocks.%d.ff.layers.0.weight", "trf_blocks.%d.ff.layers.0.bias",
                     l, h);
        for (int i = 0; i < N * 4 * dim; i++)
            h[i] = plain_gelu(h[i], c->gelu);
        plain_linear(h, N, 4 * dim, dim, "trf_blocks.%d.ff.layers.2.weight", "trf_blocks.%d.ff.layers.2.bias",
                     l, y);
        plain_dropout(y, N * dim, drop, g);
        for (int i = 0; i < N * dim; i++)
            x[i] += y[i];
    }
    plain_norm(x, N, dim, "final_norm.scale", "final_norm.shift", 0, y);
    plain_linear(y, N, dim, c->vocab_size, c->tied ? "tok_emb.weight" : "out_head.weight", "no bias", 0,
                 logits);
    release(tok);
    release(pos);
}

/* Values, and the order in which dropout draws: embeddings, then in each block the attention's weights
 * and the results of both branches. */
START_TEST(a_gpt_is_what_its_formula_says)
{
    static const double tolerance = sizeof(real) == sizeof(double) ? 1e-12 : 1e-5;
    const row *r = &table[_i / 2];
    const gra_mode mode = _i % 2 ? GRA_TRAIN : GRA_EVAL;
    any_layer l;
    if (r->forward != gpt)
        return;
    make(r, &l, model);
    gra_rng own = rng;
    gra_begin(t, mode, &rng);
    gra_tensor *y = gra_gpt_forward(t, &l.gpt, ids, ROWS, TIME);
    ck_assert_int_eq(y->shape.ndim, 3);
    ck_assert(y->shape.dim[0] == ROWS && y->shape.dim[1] == TIME && y->shape.dim[2] == VOCAB);
    double want[ROWS * TIME * VOCAB];
    plain_gpt(&r->c, mode == GRA_TRAIN ? r->c.drop_rate : 0, &own, want);
    double most = largest(y->data, y->size);
    for (size_t i = 0; i < y->size; i++)
        ck_assert_msg(fabs((double)y->data[i] - want[i]) <= tolerance * most,
                      "%s: logit %zu is %.17g, wanted %.17g", r->name, i,
                      (double)y->data[i], want[i]);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));      /* no draw more or less */
}
END_TEST

/* ---- what neither PyTorch's files nor the GPT cover ------------------------------------------------ */

START_TEST(rms_norm_divides_by_the_root_mean_square)
{
    enum { N = 3 };
    static const real small = (real)1e-3;                       /* eps shows */
    static const real x[2][N] = { { 1, -2, 4 }, { small, 2 * small, -3 * small } };
    static const double w[N] = { 0.5, -1, 2 }, tolerance = sizeof(real) == sizeof(double) ? 1e-14 : 1e-6;
    struct gra_rms_norm l;
    gra_rms_norm_init(&l, gra_root(model), N);
    for (int j = 0; j < N; j++)
        l.weight->data[j] = (real)w[j];
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = gra_rms_norm_forward(t, &l, gra_constant(t, x[0], GRA_SHAPE(2, N)));
    for (int i = 0; i < 2; i++) {
        double squares = 0;
        for (int j = 0; j < N; j++)
            squares += (double)x[i][j] * (double)x[i][j];
        for (int j = 0; j < N; j++)
            ck_assert_double_eq_tol((double)y->data[i * N + j],
                                    (double)x[i][j] / sqrt(squares / N + 1e-6) * w[j], tolerance);
    }
}
END_TEST

/* One head written out with the ops it stands for. The mask is the same: both draw it over (batch, time,
 * time). */
START_TEST(causal_attention_drops_weights)
{
    static const double tolerance = sizeof(real) == sizeof(double) ? 1e-14 : 1e-6;
    struct gra_causal_attention a;
    gra_causal_attention_init(&a, gra_root(model), 3, 3, TIME, 0.4, false);
    real values[ROWS * TIME * 3];
    gra_randn(&rng, values, ROWS * TIME * 3);
    gra_rng copy = rng;

    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x = gra_constant(t, values, GRA_SHAPE(ROWS, TIME, 3));
    gra_tensor *y = gra_causal_attention_forward(t, &a, x);
    double got[ROWS * TIME * 3];
    for (size_t i = 0; i < y->size; i++)
        got[i] = (double)y->data[i];

    gra_begin(t, GRA_TRAIN, &copy);
    x = gra_constant(t, values, GRA_SHAPE(ROWS, TIME, 3));
    gra_tensor *q = gra_linear_forward(t, &a.query, x), *k = gra_linear_forward(t, &a.key, x);
    gra_tensor *p = gra_causal_mask(t, gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(3)));
    p = gra_dropout(t, gra_softmax(t, p, -1), 0.4);
    y = gra_matmul(t, p, gra_linear_forward(t, &a.value, x));
    int zeros = 0;
    for (size_t i = 0; i < p->size; i++)
        zeros += p->data[i] == 0;
    ck_assert_int_gt(zeros, ROWS * TIME * (TIME - 1) / 2);      /* more than the mask of the future */
    for (size_t i = 0; i < y->size; i++)
        ck_assert_double_eq_tol(got[i], (double)y->data[i], tolerance);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&copy));
}
END_TEST

/* ---- names and shapes ------------------------------------------------------------------------------ */

static void expect_params(const char *const *want, int n)
{
    for (int i = 0; i < n || i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i);
        char got[256] = "nothing";
        if (p)
            snprintf(got, sizeof got, "%s %s", p->name, GRA_SHAPE_OF(p));
        ck_assert_str_eq(got, i < n ? want[i] : "nothing");
    }
}
#define EXPECT_PARAMS(...) \
    expect_params((const char *const[]){ __VA_ARGS__ },                                                  \
                  (int)(sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(char *)))

START_TEST(names_of_a_gpt_with_all_biases)
{
    struct gra_gpt g;
    gra_gpt_init(&g, gra_root(model), &(gra_gpt_config){ 7, 5, 6, 2, 1, .bias = true, .qkv_bias = true });
    EXPECT_PARAMS("tok_emb.weight (7, 6)", "pos_emb.weight (5, 6)",
                  "trf_blocks.0.att.W_query.weight (6, 6)", "trf_blocks.0.att.W_query.bias (6)",
                  "trf_blocks.0.att.W_key.weight (6, 6)", "trf_blocks.0.att.W_key.bias (6)",
                  "trf_blocks.0.att.W_value.weight (6, 6)", "trf_blocks.0.att.W_value.bias (6)",
                  "trf_blocks.0.att.out_proj.weight (6, 6)", "trf_blocks.0.att.out_proj.bias (6)",
                  "trf_blocks.0.ff.layers.0.weight (24, 6)", "trf_blocks.0.ff.layers.0.bias (24)",
                  "trf_blocks.0.ff.layers.2.weight (6, 24)", "trf_blocks.0.ff.layers.2.bias (6)",
                  "trf_blocks.0.norm1.scale (6)", "trf_blocks.0.norm1.shift (6)",
                  "trf_blocks.0.norm2.scale (6)", "trf_blocks.0.norm2.shift (6)",
                  "final_norm.scale (6)", "final_norm.shift (6)", "out_head.weight (7, 6)");
}
END_TEST

START_TEST(names_of_a_tied_gpt_without_biases)
{
    struct gra_gpt g;
    gra_gpt_init(&g, gra_enter(gra_root(model), "gpt"),
                 &(gra_gpt_config){ 7, 5, 6, 3, 2, .tied = true });
    EXPECT_PARAMS("gpt.tok_emb.weight (7, 6)", "gpt.pos_emb.weight (5, 6)",
                  "gpt.trf_blocks.0.att.W_query.weight (6, 6)", "gpt.trf_blocks.0.att.W_key.weight (6, 6)",
                  "gpt.trf_blocks.0.att.W_value.weight (6, 6)", "gpt.trf_blocks.0.att.out_proj.weight (6, 6)",
                  "gpt.trf_blocks.0.ff.layers.0.weight (24, 6)",
                  "gpt.trf_blocks.0.ff.layers.2.weight (6, 24)",
                  "gpt.trf_blocks.0.norm1.scale (6)", "gpt.trf_blocks.0.norm2.scale (6)",
                  "gpt.trf_blocks.1.att.W_query.weight (6, 6)", "gpt.trf_blocks.1.att.W_key.weight (6, 6)",
                  "gpt.trf_blocks.1.att.W_value.weight (6, 6)", "gpt.trf_blocks.1.att.out_proj.weight (6, 6)",
                  "gpt.trf_blocks.1.ff.layers.0.weight (24, 6)",
                  "gpt.trf_blocks.1.ff.layers.2.weight (6, 24)",
                  "gpt.trf_blocks.1.norm1.scale (6)", "gpt.trf_blocks.1.norm2.scale (6)",
                  "gpt.final_norm.scale (6)");
}
END_TEST

START_TEST(names_of_the_small_layers)
{
    any_layer l;
    gra_linear_init(&l.linear, gra_enter(gra_root(model), "linear"), 3, 2, true);
    gra_embedding_init(&l.embedding, gra_enter(gra_root(model), "embedding"), 5, 3);
    gra_layer_norm_init(&l.layer_norm, gra_enter(gra_root(model), "layer_norm"), 3);
    gra_rms_norm_init(&l.rms_norm, gra_enter(gra_root(model), "rms_norm"), 3);
    gra_causal_attention_init(&l.causal, gra_root(model), 3, 2, 6, 0, true);
    EXPECT_PARAMS("linear.weight (2, 3)", "linear.bias (2)", "embedding.weight (5, 3)",
                  "layer_norm.weight (3)",
                  "layer_norm.bias (3)", "rms_norm.weight (3)", "W_query.weight (2, 3)", "W_query.bias (2)",
                  "W_key.weight (2, 3)", "W_key.bias (2)", "W_value.weight (2, 3)", "W_value.bias (2)");
}
END_TEST

START_TEST(names_of_the_layers_of_attention)
{
    any_layer l;
    gra_self_attention_init(&l.self, gra_enter(gra_root(model), "self"), 3, 2, true);
    gra_self_attention_v1_init(&l.self_v1, gra_enter(gra_root(model), "v1"), 3, 2);
    gra_multi_head_attention_wrapper_init(&l.wrapper, gra_enter(gra_root(model), "wrapper"), 3, 2, 6, 0, 2,
                                          false);
    gra_optimized_multi_head_attention_init(&l.heads, gra_enter(gra_root(model), "optimized"), 4, 4, 6, 0, 2,
                                            true);
    gra_efficient_multi_head_attention_init(&l.heads, gra_enter(gra_root(model), "efficient"), 4, 4, 6, 0, 2,
                                            false);
    gra_positional_self_attention_init(&l.pos_self, gra_enter(gra_root(model), "p"), 3, 2, 6, false);
    gra_positional_multi_head_attention_init(&l.pos_heads, gra_root(model), 3, 2, 6, 0, 2, false);
    EXPECT_PARAMS("self.W_query.weight (2, 3)", "self.W_query.bias (2)", "self.W_key.weight (2, 3)",
                  "self.W_key.bias (2)", "self.W_value.weight (2, 3)", "self.W_value.bias (2)",
                  "v1.W_query (3, 2)", "v1.W_key (3, 2)", "v1.W_value (3, 2)",
                  "wrapper.heads.0.W_query.weight (2, 3)", "wrapper.heads.0.W_key.weight (2, 3)",
                  "wrapper.heads.0.W_value.weight (2, 3)", "wrapper.heads.1.W_query.weight (2, 3)",
                  "wrapper.heads.1.W_key.weight (2, 3)", "wrapper.heads.1.W_value.weight (2, 3)",
                  "optimized.W_query.weight (4, 4)", "optimized.W_query.bias (4)",
                  "optimized.W_key.weight (4, 4)", "optimized.W_key.bias (4)",
                  "optimized.out_proj.weight (4, 4)", "optimized.out_proj.bias (4)",
                  "efficient.W_query.weight (4, 4)", "efficient.out_proj.weight (4, 4)",
                  "efficient.out_proj.bias (4)", "p.W_query.weight (2, 3)", "p.W_key.weight (2, 3)",
                  "p.W_value.weight (2, 3)", "p.positional_encoding.weight (6, 3)",
                  "heads.0.W_query.weight (2, 3)", "heads.0.W_key.weight (2, 3)",
                  "heads.0.W_value.weight (2, 3)", "heads.0.positional_encoding.weight (6, 3)",
                  "heads.1.W_query.weight (2, 3)", "heads.1.W_key.weight (2, 3)",
                  "heads.1.W_value.weight (2, 3)", "heads.1.positional_encoding.weight (6, 3)",
                  "out_proj.weight (2, 4)");
}
END_TEST

/* ---- first values ------------------------------------------------------------------------------------ */

static bool named(const gra_tensor *p, const char *part) { return strstr(p->name, part) != NULL; }

static void all_are(const gra_tensor *p, double value)
{
    for (size_t i = 0; i < p->size; i++)
        ck_assert_msg((double)p->data[i] == value, "%s[%zu] is %g, wanted %g", p->name, i, (double)p->data[i],
                      value);
}

/* PyTorch's constructors one after another: each Linear draws its weight and then its bias, from U(-k, k). */
START_TEST(torch_draws_in_the_order_of_construction)
{
    struct gra_gpt g;
    gra_rng own = rng;
    gra_gpt_init(&g, gra_root(model), &(gra_gpt_config){ 7, 5, 6, 2, 2, .bias = true, .qkv_bias = true });
    for (int i = 0; i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i);
        real want[256];
        ck_assert_uint_le(p->size, 256);
        if (named(p, "scale") || named(p, "shift")) {
            all_are(p, named(p, "scale") ? 1 : 0);
            continue;
        }
        double k = 1 / sqrt(named(p, "layers.2") ? 24.0 : 6.0);
        if (named(p, "emb"))
            gra_normal(&own, want, p->size, 0, 1);
        else
            gra_uniform(&own, want, p->size, -k, k);
        for (size_t j = 0; j < p->size; j++)
            ck_assert_msg(p->data[j] == want[j], "%s[%zu] is %.9g, wanted %.9g", p->name, j,
                          (double)p->data[j], (double)want[j]);
    }
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));
}
END_TEST

START_TEST(gpt2_begins_small)
{
    enum { LAYERS = 3 };
    struct gra_gpt g;
    gra_gpt_init(&g, gra_root(model),
                 &(gra_gpt_config){ 50, 40, 48, 3, LAYERS, .bias = true, .qkv_bias = true,
                                    .init = GRA_INIT_GPT2 });
    ck_assert_ptr_eq(g.out_head.weight, gra_param_find(model, "out_head.weight"));
    for (int i = 0; i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i);
        if (p->shape.ndim == 1) {
            all_are(p, named(p, "scale") ? 1 : 0);
            continue;
        }
        const double std = 0.02 / (named(p, "out_proj") || named(p, "layers.2") ? sqrt(2.0 * LAYERS) : 1);
        double sum = 0, squares = 0, n = (double)p->size;
        for (size_t j = 0; j < p->size; j++) {
            sum += (double)p->data[j];
            squares += (double)p->data[j] * (double)p->data[j];
        }
        /* the mean of n draws deviates by std/sqrt(n), the root mean square by std/sqrt(2n): five of each */
        ck_assert_msg(fabs(sum / n) < 5 * std / sqrt(n), "%s: mean %g", p->name, sum / n);
        ck_assert_msg(fabs(sqrt(squares / n) - std) < 5 * std / sqrt(2 * n), "%s: deviation %g, wanted %g",
                      p->name,
                      sqrt(squares / n), std);
    }
}
END_TEST

START_TEST(a_tied_head_is_the_embedding)
{
    struct gra_gpt g;
    gra_gpt_init(&g, gra_root(model), &(gra_gpt_config){ 7, 5, 6, 2, 1, .tied = true });
    ck_assert_ptr_eq(g.out_head.weight, g.tok_emb.weight);
    ck_assert_ptr_eq(g.out_head.weight, gra_param_find(model, "tok_emb.weight"));
}
END_TEST

START_TEST(a_linear_begins_as_asked)
{
    struct gra_linear l;
    gra_rng own = rng;
    real want[6];
    gra_linear_init_with(&l, gra_root(model), 3, 2, true, gra_init_xavier());
    gra_uniform(&own, want, 6, -sqrt(6.0 / 5), sqrt(6.0 / 5));
    for (int i = 0; i < 6; i++)
        ck_assert(l.weight->data[i] == want[i]);
    all_are(l.bias, 0);
}
END_TEST

/* ---- errors and memory ------------------------------------------------------------------------------ */

/* Names and sizes are fine, memory or the model is not: a layer made after an error. */
START_TEST(layers_made_after_an_error)
{
    gra_model_fail(model, "an error before");
    for (int i = 0; i < TABLE; i++) {
        any_layer l;
        table[i].init(&l, gra_enter(gra_root(model), "layer.%d", i), &table[i].c);
        if (table[i].init == dropout_init)              /* has no parameters to miss */
            continue;
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *x = table[i].shape.ndim ? gra_full(t, 1, table[i].shape) : NULL;
        table[i].forward(t, &x, &l);
        ck_assert_msg(gra_error(t) != NULL, "%s computed without parameters", table[i].name);
    }
    ck_assert_str_eq(gra_model_error(model), "an error before");
    ck_assert_int_eq(gra_param_count(model), 0);
}
END_TEST

/* Wherever in a layer it is that memory ends, the model's or the step's: a sentence, and no harm. The first
 * pieces one by one, then here and there. */
static size_t further(size_t lines) { return lines + 1 + lines / 16; }

START_TEST(memory_ends_in_a_layer)      /* _i: a row */
{
    const row *r = &table[_i];
    any_layer l;
    size_t lines = 0;
    crash_note("crash in the row \"%s\" of tests/test_layers.c, where memory ends", r->name);
    bool made = false;
    for (gra_model *m; !made && (m = room_model(&rng, lines)); lines = further(lines)) {
        r->init(&l, gra_root(m), &r->c);
        fault_disarm();
        made = !gra_model_error(m);
        ck_assert_msg(made || strncmp(gra_model_error(m), "out of memory: ", 15) == 0, "%s",
                      gra_model_error(m));
        gra_model_close(m);
    }
    r->init(&l, gra_root(model), &r->c);
    const size_t all = room_of(t);
    bool computed = false;
    for (lines = 0; !computed && lines < all; lines = further(lines)) {
        room_begin(t, GRA_TRAIN, &rng, all - lines);
        gra_tensor *x = r->shape.ndim ? gra_full(t, 1, r->shape) : NULL;
        gra_tensor *y = r->forward(t, &x, &l);
        fault_disarm();
        computed = !gra_error(t);
        ck_assert_msg(computed || (isnan(gra_item(y)) && strncmp(gra_error(t), "out of memory: ", 15) == 0),
                      "%s: %s", r->name, computed ? "" : gra_error(t));
    }
    ck_assert_msg(lines > 1 || all == 0, "%s took no memory", r->name);
}
END_TEST

Suite *layers_suite(void)
{
    Suite *s = suite_create("layers");
    TCase *c = tcase_create("values");
    tcase_add_checked_fixture(c, open_all, close_all);
#ifdef GRADUS_DOUBLE
    tcase_add_loop_test(c, gradients, 0, 2 * TABLE);
    tcase_add_test(c, writes_the_reference);
#else
    tcase_add_test(c, agrees_with_the_reference);
    tcase_add_test(c, without_a_reference_nothing_is_compared);
#endif
    tcase_add_loop_test(c, chunks_of_one, 0, TABLE);
    tcase_add_test(c, every_layer_has_a_row);
    tcase_add_loop_test(c, a_gpt_is_what_its_formula_says, 0, 2 * TABLE);
    tcase_add_test(c, rms_norm_divides_by_the_root_mean_square);
    tcase_add_test(c, causal_attention_drops_weights);
    suite_add_tcase(s, c);

    c = tcase_create("parameters");
    tcase_add_checked_fixture(c, open_all, close_all);
    tcase_add_test(c, names_of_a_gpt_with_all_biases);
    tcase_add_test(c, names_of_a_tied_gpt_without_biases);
    tcase_add_test(c, names_of_the_small_layers);
    tcase_add_test(c, names_of_the_layers_of_attention);
    tcase_add_test(c, torch_draws_in_the_order_of_construction);
    tcase_add_test(c, gpt2_begins_small);
    tcase_add_test(c, a_tied_head_is_the_embedding);
    tcase_add_test(c, a_linear_begins_as_asked);
    suite_add_tcase(s, c);

    c = tcase_create("errors");
    tcase_add_checked_fixture(c, open_all, close_all);
    tcase_add_test(c, layers_made_after_an_error);
    tcase_add_loop_test(c, memory_ends_in_a_layer, 0, TABLE);
    suite_add_tcase(s, c);
    return s;
}
