/* Layers: gradients, values, names, initial values. (For running out of memory see test_faults.c.)
 *
 * PyTorch's golden numbers (test_golden.c) cover the small layers; here a whole GPT is compared with one made
 * of ops, dropout included. */
#include "layers/gpt.h"
#include "lib/aborts.h"
#include "lib/crash.h"
#include "lib/fixture.h"
#include "lib/folder.h"
#include "lib/suites.h"
#include "lib/written.h"

#include <ctype.h>

/* ---- the table: every layer, in odd sizes ------------------------------------------------------ */

typedef union any_layer {
    struct gra_linear               linear;
    struct gra_embedding            embedding;
    struct gra_positional_embedding positional;
    struct gra_dropout              dropout;
    struct gra_layer_norm           layer_norm;
    struct gra_rms_norm             rms_norm;
    struct gra_causal_attention     causal;
    struct gra_multi_head_attention heads;
    struct gra_feed_forward         feed_forward;
    struct gra_transformer_block    block;
    struct gra_gpt                  gpt;
} any_layer;

enum { ROWS = 3, TIME = 5, VOCAB = 7 };
static const int ids[ROWS * TIME] = { 1, 6, 1, 0, 3, 1, 1, 5, 2, 6, 0, 4, 3, 1, 2 };     /* 1 is repeated */

typedef struct row {
    const char    *name;
    const char    *layer;               /* gra_LAYER_init makes it */
    void         (*init)(any_layer *l, gra_scope s, const struct row *r);
    gra_check_fn  *forward;
    gra_shape      shape;               /* of x; ndim 0: ids instead */
    gra_gpt_config c;                   /* emb_dim is the width of the small layers */
    gra_attention_config a;
} row;

enum { OUT = 3 };                       /* out_features of the Linear */

/* name(l, s, r) makes a row's layer; name(tape, in, l) computes it. */
#define INIT(name, call)       static void name(any_layer *l, gra_scope s, const row *r) { call; }
#define FORWARD(name, forward)                                                                           \
    static gra_tensor *name(gra_tape *tape, gra_tensor **in, void *l) { return forward(tape, l, in[0]); }

INIT(linear_init,               gra_linear_init(&l->linear, s, r->c.emb_dim, OUT, r->c.bias))
INIT(embedding_init,            gra_embedding_init(&l->embedding, s, r->c.vocab_size, r->c.emb_dim))
INIT(positional_embedding_init,
     gra_positional_embedding_init(&l->positional, s, r->c.context_length, r->c.emb_dim))
INIT(dropout_init,              gra_dropout_init(&l->dropout, s, r->c.drop_rate))
INIT(layer_norm_init,           gra_layer_norm_init_as(&l->layer_norm, s, r->c.emb_dim, "scale",
                                                       r->c.bias ? "shift" : NULL))
INIT(rms_norm_init,             gra_rms_norm_init(&l->rms_norm, s, r->c.emb_dim))
INIT(causal_attention_init,     gra_causal_attention_init(&l->causal, s, &r->a))
INIT(multi_head_attention_init, gra_multi_head_attention_init(&l->heads, s, &r->a))
INIT(feed_forward_init,         gra_feed_forward_init(&l->feed_forward, s, &(gra_feed_forward_config){
                                .dim = r->c.emb_dim, .bias = r->c.bias, .gelu = r->c.gelu }))
static void transformer_block_init(any_layer *l, gra_scope s, const row *r)
{
    const gra_transformer_block_config config = gra_gpt_block_config(&r->c);
    gra_transformer_block_init(&l->block, s, &config);
}

INIT(gpt_init,                  gra_gpt_init(&l->gpt, s, &r->c))

FORWARD(linear,       gra_linear_forward)
FORWARD(positional,   gra_positional_embedding_forward)
FORWARD(dropout,      gra_dropout_forward)
FORWARD(layer_norm,   gra_layer_norm_forward)
FORWARD(rms_norm,     gra_rms_norm_forward)
FORWARD(causal,       gra_causal_attention_forward)
FORWARD(heads,        gra_multi_head_attention_forward)
FORWARD(feed_forward, gra_feed_forward_forward)
FORWARD(block,        gra_transformer_block_forward)
static gra_tensor *embedding(gra_tape *tape, gra_tensor **in, void *l)
{
    (void)in;
    return gra_embedding_forward(tape, l, ids, GRA_SHAPE(ROWS, TIME));
}
static gra_tensor *gpt(gra_tape *tape, gra_tensor **in, void *l)
{
    (void)in;
    return gra_gpt_forward(tape, l, ids, ROWS, TIME);
}

#define GPT .vocab_size = VOCAB, .context_length = TIME + 2, .emb_dim = 9, .n_heads = 3, .n_layers = 2

#define LAYER(name) #name, name##_init

static const row table[] = {
    { "linear", LAYER(linear), linear, { 3, { 3, 1, 5 } }, { .emb_dim = 5, .bias = true }, { 0 } },
    { "linear without bias", LAYER(linear), linear, { 2, { 17, 3 } }, { .emb_dim = 3 }, { 0 } },
    { "embedding", LAYER(embedding), embedding, { 0, { 0 } }, { .vocab_size = VOCAB, .emb_dim = 3 }, { 0 } },
    { "positional embedding", LAYER(positional_embedding), positional, { 3, { 3, 5, 3 } },
      { .context_length = 7, .emb_dim = 3 }, { 0 } },
    { "positional embedding, filled", LAYER(positional_embedding), positional, { 2, { 5, 3 } },
      { .context_length = 5, .emb_dim = 3 }, { 0 } },
    { "dropout", LAYER(dropout), dropout, { 2, { 3, 17 } }, { .drop_rate = 0.3 }, { 0 } },
    { "layer norm", LAYER(layer_norm), layer_norm, { 3, { 3, 1, 17 } }, { .emb_dim = 17, .bias = true },
      { 0 } },
    { "layer norm without shift", LAYER(layer_norm), layer_norm, { 2, { 17, 3 } }, { .emb_dim = 3 }, { 0 } },
    { "rms norm", LAYER(rms_norm), rms_norm, { 3, { 1, 3, 17 } }, { .emb_dim = 17 }, { 0 } },
    { "causal attention", LAYER(causal_attention), causal, { 3, { 3, 5, 5 } }, { 0 },
      { .d_in = 5, .d_out = 3, .context_length = 5 } },
    { "causal attention, qkv bias, dropout", LAYER(causal_attention), causal, { 3, { 1, 7, 5 } }, { 0 },
      { .d_in = 5, .d_out = 3, .context_length = 9, .num_heads = 1, .qkv_bias = true, .dropout = 0.3 } },
    { "causal attention, one token", LAYER(causal_attention), causal, { 3, { 3, 1, 5 } }, { 0 },
      { .d_in = 5, .d_out = 3, .context_length = 1 } },
    { "causal attention, one sequence", LAYER(causal_attention), causal, { 2, { 5, 3 } }, { 0 },
      { .d_in = 3, .d_out = 3, .context_length = 5, .dropout = 0.3 } },
    { "multi-head attention", LAYER(multi_head_attention), heads, { 3, { 3, 5, 5 } }, { 0 },
      { .d_in = 5, .d_out = 9, .context_length = 5, .num_heads = 3, .bias = true } },
    { "multi-head attention, qkv bias, dropout", LAYER(multi_head_attention), heads, { 3, { 1, 7, 3 } },
      { 0 },
      { .d_in = 3, .d_out = 9, .context_length = 9, .num_heads = 3, .qkv_bias = true, .dropout = 0.3 } },
    { "multi-head attention, one sequence", LAYER(multi_head_attention), heads, { 2, { 5, 3 } }, { 0 },
      { .d_in = 3, .d_out = 6, .context_length = 5, .num_heads = 2, .bias = true } },
    { "multi-head attention, bidirectional", LAYER(multi_head_attention), heads, { 3, { 3, 5, 6 } }, { 0 },
      { .d_in = 6, .d_out = 6, .context_length = 5, .num_heads = 3, .bias = true, .bidirectional = true } },
    { "multi-head attention, shared keys and values", LAYER(multi_head_attention), heads, { 3, { 2, 5, 3 } },
      { 0 },
      { .d_in = 3, .d_out = 8, .context_length = 9, .num_heads = 4, .num_kv_heads = 2, .qkv_bias = true } },
    { "feed-forward, erf", LAYER(feed_forward), feed_forward, { 3, { 3, 1, 5 } },
      { .emb_dim = 5, .bias = true },
      { 0 } },
    { "feed-forward, tanh", LAYER(feed_forward), feed_forward, { 2, { 17, 3 } },
      { .emb_dim = 3, .gelu = GRA_GELU_TANH }, { 0 } },
    { "block", LAYER(transformer_block), block, { 3, { 3, 5, 9 } }, { GPT, .bias = true, .drop_rate = 0.3 },
      { 0 } },
    { "block without biases", LAYER(transformer_block), block, { 3, { 1, 7, 9 } },
      { GPT, .qkv_bias = true, .gelu = GRA_GELU_TANH }, { 0 } },
    { "gpt", LAYER(gpt), gpt, { 0, { 0 } }, { GPT, .bias = true, .drop_rate = 0.1 }, { 0 } },
    { "gpt, tied", LAYER(gpt), gpt, { 0, { 0 } },
      { GPT, .bias = true, .tied = true, .drop_rate = 0.1, .init = GRA_INIT_GPT2 }, { 0 } },
    { "gpt, tanh, qkv bias", LAYER(gpt), gpt, { 0, { 0 } },
      { GPT, .bias = true, .qkv_bias = true, .gelu = GRA_GELU_TANH }, { 0 } },
    { "gpt, tied, tanh, no biases", LAYER(gpt), gpt, { 0, { 0 } },
      { GPT, .tied = true, .gelu = GRA_GELU_TANH, .drop_rate = 0.3, .init = GRA_INIT_GPT2 }, { 0 } },
    { "gpt, no biases, full context", LAYER(gpt), gpt, { 0, { 0 } },
      { .vocab_size = VOCAB, .context_length = TIME, .emb_dim = 9, .n_heads = 3, .n_layers = 2 }, { 0 } },
};
enum { TABLE = sizeof table / sizeof *table };

CASE(layers, open_all, close_all, "")

TEST(every_layer_is_written)
{
    expect_written("layers", "layers/layers.h", "tests/layers/test_layers.c");
}

/* A layer without a row in the table would not be checked. */
TEST(every_layer_has_a_row)
{
    static const char begin[] = "gra_", init[] = "_init(";
    static char text[2 * 65536];
    char name[64];
    int layers = 0;
    read_text("layers/layers.h", text, 65536);
    read_text("layers/gpt.h", text + strlen(text), 65536);
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
        ck_assert_msg(found, "layers/layers.h has %s%s...): the table of tests/layers/test_layers.c needs "
                             "a row for it",
                      name, init);
        layers++;
    }
    ck_assert_int_gt(layers, 0);
}

/* Makes a row's layer and moves its parameters off their initial values, so that a gradient that lacks a
 * factor of 1 or a term of 0 is detected. */
static void make(const row *r, any_layer *l, gra_model *m)
{
    gra_rng own;
    real step;
    gra_manual_seed(&own, 7);
    r->init(l, gra_root(m), r);
    ck_assert_msg(!gra_model_error(m), "%s: %s", r->name, gra_model_error(m));
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++) {
            gra_uniform(&own, &step, 1, -0.3, 0.3);
            gra_param_at(m, i)->data[j] += step;
        }
}

/* ---- missing arguments ---------------------------------------------------------------------------- */

static const row  *given;               /* a row, its layer, and an x for its forward */
static any_layer   layer;
static gra_tensor *x_given;

static void init_without_a_model(void)   { given->init(&layer, (gra_scope){ 0 }, given); }
static void forward_without_a_tape(void) { given->forward(NULL, &x_given, &layer); }

TESTS(a_tape_a_model_or_a_layer_is_missing, TABLE)
{
    given = &table[_i];
    expect_abort_ending(init_without_a_model,
                        ": got a scope without a model, expected one of gra_root(model), or of gra_enter: "
                        "begin with gra_root");
    make(given, &layer, model);
    gra_begin(t, GRA_TRAIN, &rng);
    x_given = gra_full(t, 1, given->shape);
    expect_abort_ending(forward_without_a_tape,
                        ": got NULL for the tape, expected an open one: gra_open returns NULL when there "
                        "is no memory");
    ck_assert(isnan(gra_item(given->forward(t, &x_given, NULL))));
    expect_part(": got NULL for the layer, expected one that its init has made");
}

/* ---- gradients: only in double ----------------------------------------------------------------- */

#ifdef GRADUS_DOUBLE
TESTS(gradients, 2 * TABLE)
{
    const row *r = &table[_i / 2];
    const gra_mode mode = _i % 2 ? GRA_TRAIN : GRA_GRAD;
    gra_check_in x = { .name = "x", .shape = r->shape };
    gra_check_report report;
    any_layer l;
    crash_note("crash in the row \"%s\" of tests/layers/test_layers.c", r->name);
    make(r, &l, model);
    int result = gra_check(t, &(gra_check_options){ .rng = mode == GRA_TRAIN ? &rng : NULL,
                           .model = model, .nin = r->shape.ndim > 0, .in = &x, .f = r->forward,
                           .arg = &l }, &report);
    /* With one key the weight is 1, whatever queries and keys are: their gradients are 0 and test nothing. */
    const bool one_key = r->shape.ndim > 1 && r->shape.dim[r->shape.ndim - 2] == 1 &&
        strstr(r->name, "attention");
    ck_assert_msg(result == (one_key ? 2 : 0), "%s, %s:\n%s", r->name,
                  mode == GRA_TRAIN ? "training" : "not training", report.text);
    size_t values;
    gra_shape_size(r->shape, &values);
    ck_assert_uint_eq(report.elements, gra_param_values(model) + (r->shape.ndim ? values : 0));
}
#endif

/* ---- a GPT made of ops -------------------------------------------------------------------------------- */

static gra_tensor *param(const char *format, int block) /* or NULL */
{
    char name[128];
    snprintf(name, sizeof name, format, block);
    return (gra_tensor *)gra_param_find(model, name);
}

#define LINEAR(x, name)                                                                                  \
    gra_linear(t, x, param("trf_blocks.%d." name ".weight", l), param("trf_blocks.%d." name ".bias", l))
#define NORM(x, name) gra_layer_norm(t, x, param(name ".scale", l), param(name ".shift", l), 1e-5)

static gra_tensor *written_out(const gra_gpt_config *c)
{
    int l = 0;
    gra_tensor *x = gra_add(t, gra_embedding(t, param("tok_emb.weight", 0), ids, GRA_SHAPE(ROWS, TIME)),
                            gra_slice(t, param("pos_emb.weight", 0), 0, 0, TIME));
    x = gra_dropout(t, x, c->drop_rate);
    for (; l < c->n_layers; l++) {
        gra_tensor *y = NORM(x, "trf_blocks.%d.norm1");
        gra_tensor *q = LINEAR(y, "att.W_query"), *k = LINEAR(y, "att.W_key"), *v = LINEAR(y, "att.W_value");
        y = gra_attention(t, q, k, v, &(gra_attention_options){ .heads = c->n_heads, .causal = true,
                                                                .dropout = c->drop_rate });
        x = gra_add(t, x, gra_dropout(t, LINEAR(y, "att.out_proj"), c->drop_rate));

        y = LINEAR(NORM(x, "trf_blocks.%d.norm2"), "ff.layers.0");
        y = c->gelu == GRA_GELU_TANH ? gra_gelu_tanh(t, y) : gra_gelu(t, y);
        x = gra_add(t, x, gra_dropout(t, LINEAR(y, "ff.layers.2"), c->drop_rate));
    }
    x = NORM(x, "final_norm");
    return gra_linear(t, x, param(c->tied ? "tok_emb.weight" : "out_head.weight", 0), NULL);
}

/* Values, and the order in which dropout draws: embeddings, then in each block the attention's weights and
 * the results of both branches. */
TESTS(a_gpt_is_its_formula, 2 * TABLE)
{
    static const double tolerance = sizeof(real) == sizeof(double) ? 1e-12 : 1e-5;
    const row *r = &table[_i / 2];
    real want[ROWS * TIME * VOCAB];
    any_layer l;
    if (r->forward != gpt)
        return;
    make(r, &l, model);
    gra_rng own = rng;
    const gra_mode mode = _i % 2 ? GRA_TRAIN : GRA_EVAL;
    gra_begin(t, mode, &own);
    memcpy(want, written_out(&r->c)->data, sizeof want);
    expect_error("no error");
    gra_begin(t, mode, &rng);
    gra_tensor *y = gra_gpt_forward(t, &l.gpt, ids, ROWS, TIME);
    ck_assert(gra_same_shape(y->shape, GRA_SHAPE(ROWS, TIME, VOCAB)));
    double most = 0;
    for (size_t i = 0; i < y->size; i++)                /* not fmax: gcc 12 for aarch64 breaks down over it */
        most = fabs((double)want[i]) > most ? fabs((double)want[i]) : most;
    for (size_t i = 0; i < y->size; i++)
        ck_assert_msg(fabs((double)(y->data[i] - want[i])) <= tolerance * most,
                      "%s: logit %zu is %.17g, expected %.17g",
                      r->name, i, (double)y->data[i], (double)want[i]);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));      /* as many draws */
}

/* ---- without golden numbers, and not in a GPT ------------------------------------------------------ */

static const double close_to = sizeof(real) == sizeof(double) ? 1e-14 : 1e-6;

TEST(an_rms_norm_has_the_usual_eps)
{
    static const real x[] = { (real)1e-3, (real)2e-3, (real)-3e-3 };    /* small, so that eps matters */
    struct gra_rms_norm l;
    gra_rms_norm_init(&l, gra_root(model), 3);
    l.weight->data[1] = -2;
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *in = gra_constant(t, x, GRA_SHAPE(3)), *y = gra_rms_norm_forward(t, &l, in);
    ck_assert_mem_eq(y->data, gra_rms_norm(t, in, l.weight, 1e-6)->data, sizeof x);
}

/* Without the mask, the attention of a reversed sequence is the reversed attention of the sequence. */
TEST(bidirectional_attention_sees_both_ways)
{
    struct gra_multi_head_attention a;
    real x[2][TIME * 4], y[TIME * 4];
    gra_multi_head_attention_init(&a, gra_root(model), &(gra_attention_config){
        .d_in = 4, .d_out = 4, .context_length = TIME, .num_heads = 2, .bidirectional = true });
    gra_randn(&rng, x[0], TIME * 4);
    for (int i = 0; i < TIME; i++)
        memcpy(x[1] + i * 4, x[0] + (TIME - 1 - i) * 4, 4 * sizeof(real));
    gra_begin(t, GRA_EVAL, NULL);
    memcpy(y, gra_multi_head_attention_forward(t, &a, gra_constant(t, x[0], GRA_SHAPE(TIME, 4)))->data,
           sizeof y);
    gra_tensor *z = gra_multi_head_attention_forward(t, &a, gra_constant(t, x[1], GRA_SHAPE(TIME, 4)));
    for (int i = 0; i < TIME * 4; i++)
        ck_assert_double_eq_tol((double)z->data[i], (double)y[(TIME - 1 - i / 4) * 4 + i % 4], close_to);
}

/* ---- names and shapes ------------------------------------------------------------------------------ */

/* test_import.c has the names of all other layers, test_seeds.c their order. */
TEST(names_of_the_parameters)
{
    any_layer l;
    struct gra_gpt g;
    gra_linear_init(&l.linear, gra_enter(gra_root(model), "linear"), 3, 2, true);
    gra_embedding_init(&l.embedding, gra_enter(gra_root(model), "embedding"), 5, 3);
    gra_layer_norm_init(&l.layer_norm, gra_enter(gra_root(model), "layer_norm"), 3);
    gra_rms_norm_init(&l.rms_norm, gra_enter(gra_root(model), "rms_norm"), 3);
    gra_causal_attention_init(&l.causal, gra_root(model), &(gra_attention_config){
        .d_in = 3, .d_out = 2, .context_length = 6, .qkv_bias = true });
    gra_multi_head_attention_init(&l.heads, gra_enter(gra_root(model), "shared"), &(gra_attention_config){
        .d_in = 3, .d_out = 8, .context_length = 6, .num_heads = 4, .num_kv_heads = 2, .bias = true });
    gra_gpt_init(&g, gra_enter(gra_root(model), "gpt"), &(gra_gpt_config){ 7, 5, 6, 3, 1, .tied = true });
    static const char *const want[] = {
        "linear.weight (2, 3)", "linear.bias (2)", "embedding.weight (5, 3)",
        "layer_norm.weight (3)", "layer_norm.bias (3)", "rms_norm.weight (3)",
        "W_query.weight (2, 3)", "W_query.bias (2)", "W_key.weight (2, 3)", "W_key.bias (2)",
        "W_value.weight (2, 3)", "W_value.bias (2)", "shared.W_query.weight (8, 3)",
        "shared.W_key.weight (4, 3)", "shared.W_value.weight (4, 3)",
        "shared.out_proj.weight (8, 8)", "shared.out_proj.bias (8)",
        "gpt.tok_emb.weight (7, 6)", "gpt.pos_emb.weight (5, 6)",
        "gpt.trf_blocks.0.att.W_query.weight (6, 6)", "gpt.trf_blocks.0.att.W_key.weight (6, 6)",
        "gpt.trf_blocks.0.att.W_value.weight (6, 6)", "gpt.trf_blocks.0.att.out_proj.weight (6, 6)",
        "gpt.trf_blocks.0.ff.layers.0.weight (24, 6)", "gpt.trf_blocks.0.ff.layers.2.weight (6, 24)",
        "gpt.trf_blocks.0.norm1.scale (6)", "gpt.trf_blocks.0.norm2.scale (6)",
        "gpt.final_norm.scale (6)",
    };
    for (int i = 0; i < LENGTH(want) || i < gra_param_count(model); i++) {
        const gra_tensor *p = gra_param_at(model, i);
        char got[256] = "nothing";
        if (p)
            snprintf(got, sizeof got, "%s %s", p->name, GRA_SHAPE_STRING(p->shape));
        ck_assert_str_eq(got, i < LENGTH(want) ? want[i] : "nothing");
    }
    ck_assert(g.out_head.weight == g.tok_emb.weight &&
              g.out_head.weight == gra_param_find(model, "gpt.tok_emb.weight"));
}

/* ---- initial values ---------------------------------------------------------------------------------- */

static bool named(const gra_tensor *p, const char *part) { return strstr(p->name, part) != NULL; }

static void all_are(const gra_tensor *p, double value)
{
    for (size_t i = 0; i < p->size; i++)
        ck_assert_msg((double)p->data[i] == value, "%s[%zu]: %g, expected %g", p->name, i, (double)p->data[i],
                      value);
}

TEST(gpt2_begins_small)
{
    enum { LAYERS = 3 };
    static real want[4 * 48 * 48];
    gra_rng same = rng;
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
        ck_assert_uint_le(p->size, LENGTH(want));
        gra_normal(&same, want, p->size, 0, std);
        ck_assert_msg(memcmp(p->data, want, p->size * sizeof *want) == 0, "%s: other values", p->name);
    }
}

TEST(a_linear_begins_as_asked)
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
