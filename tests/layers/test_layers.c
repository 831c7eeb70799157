/* Layers: gradients, values, names, initial values. (For running out of memory see test_faults.c.)
 *
 * PyTorch's golden numbers (test_golden.c) cover the small layers; here a whole GPT is compared with a GPT
 * made of ops, including dropout. */
#include "layers/gpt.h"
#include "lib/aborts.h"
#include "lib/crash.h"
#include "lib/fixture.h"
#include "lib/folder.h"
#include "lib/suites.h"
#include "lib/written.h"

#include <ctype.h>

/* ---- the table: every layer, in odd sizes. A line registers itself before main begins ---- */

enum { TIME = 5, SEQUENCES = 3, VOCAB = 7 };
static const int ids[SEQUENCES * TIME] = { 1, 6, 1, 0, 3, 1, 1, 5, 2, 6, 0, 4, 3, 1, 2 };  /* 1 is repeated */

typedef struct row {
    const char   *name;
    const char   *layer;                /* gra_LAYER_init makes it */
    void         *made;                 /* its struct */
    void        (*init)(gra_scope s);
    gra_check_fn *forward;
    gra_shape     shape;                /* of x; ndim 0: ids instead */
} row;

enum { BEFORE = __COUNTER__ };          /* each row takes the next number */
extern row layer_rows[];

/* ROW(name, layer, shape, init, y): init makes l in the scope s, and y is computed from l and x on `tape`.
 * PLAIN(name, layer, shape, ...) calls the layer's init with these arguments, and its forward. */
#define ROW(...)  ROW_(__COUNTER__, __VA_ARGS__)
#define ROW_(...) ROW__(__VA_ARGS__)
#define ROW__(id, name_, layer_, shape_, init, y)                                                        \
    static struct gra_##layer_ made_##id;                                                                \
    static void init_##id(gra_scope s) { struct gra_##layer_ *l = &made_##id; init; }                    \
    static gra_tensor *forward_##id(gra_tape *tape, gra_tensor **in, void *made)                         \
    {                                                                                                    \
        const struct gra_##layer_ *l = made;                                                             \
        (void)in;                                                                                        \
        return y;                                                                                        \
    }                                                                                                    \
    __attribute__((constructor)) static void add_##id(void)                                              \
    {                                                                                                    \
        layer_rows[id - BEFORE - 1] = (row){ name_, #layer_, &made_##id, init_##id, forward_##id,        \
                                             shape_ };                                                   \
    }
#define PLAIN(name, layer, shape, ...)                                                                   \
    ROW(name, layer, shape, gra_##layer##_init(l, s, __VA_ARGS__), gra_##layer##_forward(tape, l, *in))
#define OF_GPT(name, ...)                                                                                \
    ROW(name, gpt, NO_X, gra_gpt_init(l, s, CONFIG(__VA_ARGS__)),                                        \
        gra_gpt_forward(tape, l, ids, SEQUENCES, TIME))

#define X(...)      GRA_SHAPE(__VA_ARGS__)
#define NO_X        GRA_SCALAR
#define ATT(...)    &(gra_attention_config){ __VA_ARGS__ }
#define FF(...)     &(gra_feed_forward_config){ __VA_ARGS__ }
#define CONFIG(...) &(gra_gpt_config){ .vocab_size = VOCAB, .context_length = TIME + 2, .emb_dim = 9,    \
                                       .n_heads = 3, .n_layers = 2, __VA_ARGS__ }
#define BLOCK(...)  (gra_transformer_block_config[]){ gra_gpt_block_config(CONFIG(__VA_ARGS__)) }

PLAIN("linear", linear, X(3, 1, 5), 5, 3, true)
PLAIN("linear without bias", linear, X(17, 3), 3, 3, false)
ROW("embedding", embedding, NO_X, gra_embedding_init(l, s, VOCAB, 3),
    gra_embedding_forward(tape, l, ids, GRA_SHAPE(SEQUENCES, TIME)))
PLAIN("positional embedding", positional_embedding, X(3, 5, 3), 7, 3)
PLAIN("positional embedding, filled", positional_embedding, X(5, 3), 5, 3)
PLAIN("dropout", dropout, X(3, 17), 0.3)
PLAIN("layer norm", layer_norm, X(3, 1, 17), 17)
ROW("layer norm without shift", layer_norm, X(17, 3), gra_layer_norm_init_as(l, s, 3, "scale", NULL),
    gra_layer_norm_forward(tape, l, *in))
PLAIN("rms norm", rms_norm, X(1, 3, 17), 17)
PLAIN("causal attention", causal_attention, X(3, 5, 5), ATT(.d_in = 5, .d_out = 3, .context_length = 5))
PLAIN("causal attention, qkv bias, dropout", causal_attention, X(1, 7, 5),
      ATT(.d_in = 5, .d_out = 3, .context_length = 9, .num_heads = 1, .qkv_bias = true, .dropout = 0.3))
PLAIN("causal attention, one token", causal_attention, X(3, 1, 5),
      ATT(.d_in = 5, .d_out = 3, .context_length = 1))
PLAIN("causal attention, one sequence", causal_attention, X(5, 3),
      ATT(.d_in = 3, .d_out = 3, .context_length = 5, .dropout = 0.3))
PLAIN("multi-head attention", multi_head_attention, X(3, 5, 5),
      ATT(.d_in = 5, .d_out = 9, .context_length = 5, .num_heads = 3, .bias = true))
PLAIN("multi-head attention, qkv bias, dropout", multi_head_attention, X(1, 7, 3),
      ATT(.d_in = 3, .d_out = 9, .context_length = 9, .num_heads = 3, .qkv_bias = true, .dropout = 0.3))
PLAIN("multi-head attention, one sequence", multi_head_attention, X(5, 3),
      ATT(.d_in = 3, .d_out = 6, .context_length = 5, .num_heads = 2, .bias = true))
PLAIN("multi-head attention, bidirectional", multi_head_attention, X(3, 5, 6),
      ATT(.d_in = 6, .d_out = 6, .context_length = 5, .num_heads = 3, .bias = true, .bidirectional = true))
PLAIN("multi-head attention, shared keys and values", multi_head_attention, X(2, 5, 3),
      ATT(.d_in = 3, .d_out = 8, .context_length = 9, .num_heads = 4, .num_kv_heads = 2, .qkv_bias = true))
PLAIN("feed-forward, erf", feed_forward, X(3, 1, 5), FF(.dim = 5, .bias = true))
PLAIN("feed-forward, tanh", feed_forward, X(17, 3), FF(.dim = 3, .gelu = GRA_GELU_TANH))
PLAIN("block", transformer_block, X(3, 5, 9), BLOCK(.bias = true, .drop_rate = 0.3))
PLAIN("block without biases", transformer_block, X(1, 7, 9), BLOCK(.qkv_bias = true, .gelu = GRA_GELU_TANH))
OF_GPT("gpt", .bias = true, .drop_rate = 0.1)
OF_GPT("gpt, tied", .bias = true, .tied = true, .drop_rate = 0.1, .init = GRA_INIT_GPT2)
OF_GPT("gpt, tanh, qkv bias", .bias = true, .qkv_bias = true, .gelu = GRA_GELU_TANH)
OF_GPT("gpt, tied, tanh, no biases", .tied = true, .gelu = GRA_GELU_TANH, .drop_rate = 0.3,
       .init = GRA_INIT_GPT2)
ROW("gpt, no biases, full context", gpt, NO_X,
    gra_gpt_init(l, s, &(gra_gpt_config){ VOCAB, TIME, .emb_dim = 9, .n_heads = 3, .n_layers = 2 }),
    gra_gpt_forward(tape, l, ids, SEQUENCES, TIME))

enum { TABLE = __COUNTER__ - BEFORE - 1 };
row layer_rows[TABLE];

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
            found = strcmp(layer_rows[i].layer, name + sizeof begin - 1) == 0;
        ck_assert_msg(found, "layers/layers.h has %s%s...): the table of tests/layers/test_layers.c needs "
                             "a row for it",
                      name, init);
        layers++;
    }
    ck_assert_int_gt(layers, 0);
}

/* Makes a row's layer and changes its parameters from their initial values: otherwise a missing factor of 1,
 * or a missing term of 0, would not be noticed. */
static void make(const row *r, gra_model *m)
{
    gra_rng own;
    real step;
    gra_manual_seed(&own, 7);
    r->init(gra_root(m));
    ck_assert_msg(!gra_model_error(m), "%s: %s", r->name, gra_model_error(m));
    for (int i = 0; i < gra_param_count(m); i++)
        for (size_t j = 0; j < gra_param_at(m, i)->size; j++) {
            gra_uniform(&own, &step, 1, -0.3, 0.3);
            gra_param_at(m, i)->data[j] += step;
        }
}

/* ---- missing arguments ---------------------------------------------------------------------------- */

static const row  *given;               /* a row, and an x for its forward */
static gra_tensor *x_given;

static void init_without_a_model(void)   { given->init((gra_scope){ 0 }); }
static void forward_without_a_tape(void) { given->forward(NULL, &x_given, given->made); }

TESTS(a_tape_a_model_or_a_layer_is_missing, TABLE)
{
    given = &layer_rows[_i];
    expect_abort_ending(init_without_a_model,
                        ": got a scope without a model, expected one of gra_root(model), or of gra_enter: "
                        "begin with gra_root");
    make(given, model);
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
    const row *r = &layer_rows[_i / 2];
    const gra_mode mode = _i % 2 ? GRA_TRAIN : GRA_GRAD;
    gra_check_in x = { .name = "x", .shape = r->shape };
    gra_check_report report;
    crash_note("crash in the row \"%s\" of tests/layers/test_layers.c", r->name);
    make(r, model);
    int result = gra_check(t, &(gra_check_options){ .rng = mode == GRA_TRAIN ? &rng : NULL,
                           .model = model, .nin = r->shape.ndim > 0, .in = &x, .f = r->forward,
                           .arg = r->made }, &report);
    /* With one key the weight is 1, whatever the queries and keys: their gradients are 0 and test nothing. */
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
    gra_tensor *x = gra_add(t, gra_embedding(t, param("tok_emb.weight", 0), ids, GRA_SHAPE(SEQUENCES, TIME)),
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

/* Tests the values, and the order in which dropout draws: embeddings, then in each block the attention's
 * weights and the results of both branches. */
TESTS(a_gpt_is_its_formula, 2 * TABLE)
{
    static const double tolerance = sizeof(real) == sizeof(double) ? 1e-12 : 1e-5;
    const row *r = &layer_rows[_i / 2];
    real want[SEQUENCES * TIME * VOCAB];
    const struct gra_gpt *gpt = r->made;
    if (strcmp(r->layer, "gpt") != 0)
        return;
    make(r, model);
    gra_rng own = rng;
    const gra_mode mode = _i % 2 ? GRA_TRAIN : GRA_EVAL;
    gra_begin(t, mode, &own);
    memcpy(want, written_out(&gpt->config)->data, sizeof want);
    expect_error("no error");
    gra_begin(t, mode, &rng);
    gra_tensor *y = gra_gpt_forward(t, gpt, ids, SEQUENCES, TIME);
    ck_assert(gra_same_shape(y->shape, GRA_SHAPE(SEQUENCES, TIME, VOCAB)));
    double most = 0;
    for (size_t i = 0; i < y->size; i++)                /* not fmax: gcc 12 for aarch64 crashes on it */
        most = fabs((double)want[i]) > most ? fabs((double)want[i]) : most;
    for (size_t i = 0; i < y->size; i++)
        ck_assert_msg(fabs((double)(y->data[i] - want[i])) <= tolerance * most,
                      "%s: logit %zu is %.17g, expected %.17g",
                      r->name, i, (double)y->data[i], (double)want[i]);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));      /* both have drawn equally often */
}

/* ---- layers without golden numbers, and not in a GPT ----------------------------------------------- */

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
    struct gra_linear linear;
    struct gra_embedding embedding;
    struct gra_layer_norm layer_norm;
    struct gra_rms_norm rms_norm;
    struct gra_causal_attention causal;
    struct gra_multi_head_attention heads;
    struct gra_gpt g;
    gra_linear_init(&linear, gra_enter(gra_root(model), "linear"), 3, 2, true);
    gra_embedding_init(&embedding, gra_enter(gra_root(model), "embedding"), 5, 3);
    gra_layer_norm_init(&layer_norm, gra_enter(gra_root(model), "layer_norm"), 3);
    gra_rms_norm_init(&rms_norm, gra_enter(gra_root(model), "rms_norm"), 3);
    gra_causal_attention_init(&causal, gra_root(model), &(gra_attention_config){
        .d_in = 3, .d_out = 2, .context_length = 6, .qkv_bias = true });
    gra_multi_head_attention_init(&heads, gra_enter(gra_root(model), "shared"), &(gra_attention_config){
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
