/* What layers refuse: the sentence for each invalid size, value and input. */
#include "layers/gpt.h"
#include "lib/aborts.h"
#include "lib/fixture.h"
#include "lib/suites.h"

/* A layer made with these arguments, and its forward of an x of ones; or NULL instead of its struct. */
typedef struct attempt {
    gra_tensor *(*f)(gra_scope s, const struct attempt *a);
    struct {
        int    in, out;                 /* the sizes that a small layer's init takes, in order */
        double p;
        gra_attention_config att;
        gra_gpt_config       gpt;
        int                  ids[4];
        int                  batch, time;
    } with;
    gra_shape   x;
    const char *model, *tape;           /* the sentences; NULL: no error */
    bool        absent;
} attempt;

static gra_tensor *x_of(const attempt *a) { return a->x.ndim ? gra_full(t, 1, a->x) : NULL; }

/* name(s, a) makes gra_LAYER with its init, which gets the arguments that follow, and calls its forward. */
#define ATTEMPT(name, layer, forward, ...)                                                               \
    static gra_tensor *name(gra_scope s, const attempt *a)                                               \
    {                                                                                                    \
        struct gra_##layer made, *l = a->absent ? NULL : &made;                                          \
        gra_##layer##_init(l, s, __VA_ARGS__);                                                           \
        return forward;                                                                                  \
    }
#define OF_X(name, layer, ...) ATTEMPT(name, layer, gra_##layer##_forward(t, l, x_of(a)), __VA_ARGS__)

OF_X(linear,       linear,               a->with.in, a->with.out, true)
OF_X(positional,   positional_embedding, a->with.in, a->with.out)
OF_X(dropout,      dropout,              a->with.p)
OF_X(layer_norm,   layer_norm,           a->with.in)
OF_X(rms_norm,     rms_norm,             a->with.in)
OF_X(causal,       causal_attention,     &a->with.att)
OF_X(causal_null,  causal_attention,     NULL)
OF_X(heads,        multi_head_attention, &a->with.att)
OF_X(heads_null,   multi_head_attention, NULL)
OF_X(feed_forward, feed_forward,       &(gra_feed_forward_config){ .dim = a->with.in, .hidden = a->with.out })
OF_X(feed_forward_null, feed_forward,    NULL)
OF_X(block,        transformer_block,  (gra_transformer_block_config[]){ gra_gpt_block_config(&a->with.gpt) })
OF_X(block_null,   transformer_block,    NULL)
ATTEMPT(embedding, embedding, gra_embedding_forward(t, l, (int[]){ 1, 6 }, GRA_SHAPE(2)), a->with.in,
        a->with.out)
ATTEMPT(gpt,       gpt, gra_gpt_forward(t, l, a->with.ids, a->with.batch, a->with.time), &a->with.gpt)
ATTEMPT(gpt_null,  gpt, gra_gpt_forward(t, l, a->with.ids, 1, 4), NULL)

static gra_tensor *gpt_after_an_error(gra_scope s, const attempt *a)
{
    gra_fail(t, "an error before");
    return gpt(s, a);
}

#define X(...) .x = { 3, { __VA_ARGS__ } }
#define NONE .x = { 0, { 0 } }
#define WITH(...) .with = { __VA_ARGS__ }
#define SIZES(a, b) .with = { .in = a, .out = b }
#define SIZE(a) .with = { .in = a }
#define ATT(context, ...) .with = { .att = { .context_length = context, __VA_ARGS__ } }
#define GPT(vocab, context, width, heads, layers) \
    .gpt = { vocab, context, width, heads, layers, .bias = true }
#define NO_INPUT(op, i) op ": got NULL for input " #i ", expected a tensor: a layer's parameters are " \
                        "made by its init"

#define NO_STRUCT ", expected the address of its struct"
#define ABSENT(f, layer)                                                                                 \
    { f, .x = { 3, { 1, 2, 3 } }, .model = layer ": got NULL for the layer" NO_STRUCT,                   \
      .tape = layer ": got NULL for the layer, expected one that its init has made", .absent = true }
#define NO_CONFIG ": got NULL for the config, expected a "

#define NOT_MADE(layer, init)                                                                            \
    layer " was not made: call " init " first (if that failed, gra_model_error reports why)"
#define FF_SIZES ", expected dim from 1 to 536870911 and hidden 0 (for 4 dim) or more"

static const char no_gpt[] = NOT_MADE("gpt: the GPT", "gra_gpt_init");
static const char no_causal[] = NOT_MADE("causal_attention: the layer", "its init");
static const char no_heads[] = NOT_MADE("multi_head_attention: the layer", "its init");

/* These have a good x of (1, 2, 3); ATT has the context length first. */
#define HEADS(why, ...)  \
    { heads, ATT(6, __VA_ARGS__), X(1, 2, 3), "multi_head_attention: got " why, no_heads }
#define CAUSAL(why, ...) { causal, ATT(__VA_ARGS__), X(1, 2, 3), "causal_attention: got " why, no_causal }
#define SMALL_GPT(why, ...) { gpt, WITH(__VA_ARGS__), NONE, "gpt: got " why, no_gpt }
#define D(in, out) .d_in = in, .d_out = out
#define POSITIVE ", expected 1 or more"
#define SHARE ", expected a probability, 0 <= p <= 1"

static const attempt table[] = {
    /* init: the model keeps the first error, and forward is an error of the tape */
    { linear, SIZES(0, 2), X(1, 2, 3), "linear: got in_features 0" POSITIVE, NO_INPUT("linear", 1) },
    { linear, SIZES(3, -2), X(1, 2, 3), "linear: got out_features -2" POSITIVE, NO_INPUT("linear", 1) },
    { embedding, SIZES(5, -3), NONE, "embedding: got embedding_dim -3" POSITIVE, NO_INPUT("embedding", 0) },
    { embedding, SIZES(0, 3), NONE, "embedding: got num_embeddings 0" POSITIVE, NO_INPUT("embedding", 0) },
    { positional, SIZES(5, 0), X(1, 2, 3),
      "positional_embedding: got embedding_dim 0" POSITIVE, NO_INPUT("positional_embedding", 1) },
    { positional, SIZES(0, 3), X(1, 2, 3),
      "positional_embedding: got context_length 0" POSITIVE, NO_INPUT("positional_embedding", 1) },
    { dropout, WITH(.p = -0.5), X(1, 2, 3), "dropout: got p -0.5" SHARE, "dropout: got p -0.5" SHARE },
    { dropout, WITH(.p = 1.5), X(1, 2, 3), "dropout: got p 1.5" SHARE, "dropout: got p 1.5" SHARE },
    { layer_norm, SIZE(0), X(1, 2, 3), "layer_norm: got dim 0" POSITIVE, NO_INPUT("layer_norm", 1) },
    { rms_norm, SIZE(-1), X(1, 2, 3), "rms_norm: got dim -1" POSITIVE, NO_INPUT("rms_norm", 1) },
    { causal_null, SIZE(0), X(1, 2, 3), "causal_attention" NO_CONFIG "gra_attention_config", no_causal },
    { heads_null, SIZE(0), X(1, 2, 3), "multi_head_attention" NO_CONFIG "gra_attention_config", no_heads },
    { gpt_null, SIZE(0), NONE, "gpt" NO_CONFIG "gra_gpt_config", no_gpt },
    { feed_forward_null, SIZE(0), X(1, 2, 3),
      "feed_forward" NO_CONFIG "gra_feed_forward_config", NO_INPUT("linear", 1) },
    { block_null, SIZE(0), X(1, 2, 3),
      "transformer_block" NO_CONFIG "gra_transformer_block_config", NO_INPUT("layer_norm", 1) },
    ABSENT(linear, "linear"), ABSENT(embedding, "embedding"), ABSENT(positional, "positional_embedding"),
    ABSENT(dropout, "dropout"), ABSENT(layer_norm, "layer_norm"), ABSENT(rms_norm, "rms_norm"),
    ABSENT(causal, "causal_attention"), ABSENT(heads, "multi_head_attention"),
    ABSENT(feed_forward, "feed_forward"), ABSENT(block, "transformer_block"), ABSENT(gpt, "gpt"),
    CAUSAL("context_length 0" POSITIVE, 0, D(3, 2)),
    CAUSAL("dropout 1, expected 0 <= dropout < 1", 6, D(3, 2), .dropout = 1),
    CAUSAL("num_heads 2, expected 1: for more heads use multi_head_attention", 6, D(3, 2), .num_heads = 2),
    CAUSAL("bias true, expected false: it has no out_proj (qkv_bias is for its projections)",
           6, D(3, 2), .bias = true),
    CAUSAL("bidirectional true, expected false: it is causal", 6, D(3, 2), .bidirectional = true),
    HEADS("d_in 0" POSITIVE, D(0, 2), .num_heads = 2),
    HEADS("d_out -2" POSITIVE, D(3, -2), .num_heads = 2),
    HEADS("num_heads 4, expected a divisor of d_out 10", D(3, 10), .num_heads = 4),
    HEADS("num_heads 0" POSITIVE, D(3, 10)),
    HEADS("num_kv_heads 3, expected a divisor of num_heads 4", D(3, 12), .num_heads = 4, .num_kv_heads = 3),
    HEADS("num_kv_heads -2, expected a divisor of num_heads 4", D(3, 12), .num_heads = 4, .num_kv_heads = -2),
    HEADS("dropout nan, expected 0 <= dropout < 1", D(3, 8), .num_heads = 4, .dropout = (double)NAN),
    HEADS("dropout -0.5, expected 0 <= dropout < 1", D(3, 8), .num_heads = 4, .dropout = -0.5),
    { feed_forward, SIZE(0), X(1, 2, 3),
      "feed_forward: got dim 0 and hidden 0" FF_SIZES, NO_INPUT("linear", 1) },
    { feed_forward, SIZES(2, -1), X(1, 2, 3),
      "feed_forward: got dim 2 and hidden -1" FF_SIZES, NO_INPUT("linear", 1) },
    { feed_forward, SIZE(INT_MAX / 4 + 1), X(1, 2, 3),
      "feed_forward: got dim 536870912 and hidden 0" FF_SIZES, NO_INPUT("linear", 1) },
    { block, WITH(GPT(7, 5, 6, 4, 2)), X(1, 2, 6),
      "multi_head_attention: got num_heads 4, expected a divisor of d_out 6", NO_INPUT("layer_norm", 1) },
    SMALL_GPT("vocab_size 0" POSITIVE, GPT(0, 5, 6, 2, 2)),
    SMALL_GPT("context_length -1" POSITIVE, GPT(7, -1, 6, 2, 2)),
    SMALL_GPT("emb_dim 0" POSITIVE, GPT(7, 5, 0, 2, 2)),
    SMALL_GPT("n_heads 0" POSITIVE, GPT(7, 5, 6, 0, 2)),
    SMALL_GPT("n_layers 0" POSITIVE, GPT(7, 5, 6, 2, 0)),
    SMALL_GPT("n_heads 4, expected a divisor of emb_dim 6", GPT(7, 5, 6, 4, 2)),
    SMALL_GPT("drop_rate 1, expected 0 <= drop_rate < 1", .gpt = { 7, 5, 6, 2, 2, .drop_rate = 1 }),
    SMALL_GPT("drop_rate -0.5, expected 0 <= drop_rate < 1", .gpt = { 7, 5, 6, 2, 2, .drop_rate = -0.5 }),

    /* forward */
    { positional, SIZES(64, 3), X(1, 65, 3), NULL,
      "positional_embedding: got 65 tokens, expected at most the context length 64" },
    { positional, SIZES(64, 3), X(1, 3, 1), NULL,
      "positional_embedding: got x (1, 3, 1), expected (..., time, 3)" },
    { positional, SIZES(64, 3), .x = { 1, { 3 } }, NULL,
      "positional_embedding: got x (3), expected (..., time, 3)" },
    { causal, ATT(6, D(3, 2)), X(1, 2, 4), NULL,
      "causal_attention: got x (1, 2, 4), expected (..., time, 3)" },
    { causal, ATT(6, D(3, 2)), .x = { 1, { 3 } }, NULL,
      "causal_attention: got x (3), expected (..., time, 3)" },
    { causal, ATT(6, D(3, 2)), X(1, 7, 3), NULL,
      "causal_attention: got 7 tokens, expected at most the context length 6" },
    { causal, ATT(6, D(3, 2)), NONE, NULL, NO_INPUT("causal_attention", 0) },
    { heads, ATT(6, D(3, 2), .num_heads = 2), X(1, 2, 4), NULL,
      "multi_head_attention: got x (1, 2, 4), expected (..., time, 3)" },
    { heads, ATT(6, D(3, 2), .num_heads = 2), .x = { 1, { 3 } }, NULL,
      "multi_head_attention: got x (3), expected (..., time, 3)" },
    { heads, ATT(6, D(3, 2), .num_heads = 2), X(1, 7, 3), NULL,
      "multi_head_attention: got 7 tokens, expected at most the context length 6" },
    { heads, ATT(6, D(3, 2), .num_heads = 2), NONE, NULL, NO_INPUT("multi_head_attention", 0) },
    { gpt_after_an_error, WITH(GPT(7, 5, 6, 2, 2), .ids = { 1, 6 }, .batch = 1, .time = 2), NONE, NULL,
      "an error before" },
    { gpt, WITH(GPT(7, 5, 6, 2, 2), .batch = 0, .time = 2), NONE, NULL,
      "gpt: got 0 rows of 2 tokens, expected at least one of each" },
    { gpt, WITH(GPT(7, 5, 6, 2, 2), .batch = 3, .time = 0), NONE, NULL,
      "gpt: got 3 rows of 0 tokens, expected at least one of each" },
    { gpt, WITH(GPT(7, 5, 6, 2, 2), .batch = 1, .time = 6), NONE, NULL,
      "gpt: got 6 tokens, expected at most the context length 5" },
    { gpt, WITH(GPT(7, 5, 6, 2, 2), .ids = { 0, 6, 7, 1 }, .batch = 2, .time = 2), NONE, NULL,
      "embedding: got id 7 at position 2, expected one of the vocabulary's 7 entries (0 to 6)" },
};

CASE(layer_errors, open_all, close_all, "")

static void block_of_no_config(void) { gra_gpt_block_config(NULL); }
static void cache_of_no_gpt(void)     { gra_kv_cache_open(&(gra_kv_cache){ 0 }, NULL); }
static void no_cache_to_open(void)    { gra_kv_cache_open(NULL, &(struct gra_gpt){ 0 }); }

TEST(no_model_to_keep_the_error)
{
    expect_abort(block_of_no_config, "gra_gpt_block_config" NO_CONFIG "gra_gpt_config");
    expect_abort(cache_of_no_gpt, "gra_kv_cache_open: got NULL for the GPT" NO_STRUCT);
    expect_abort(no_cache_to_open, "gra_kv_cache_open: got NULL for the cache" NO_STRUCT);
}

TESTS(refuses, LENGTH(table))                   /* _i: a row */
{
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *y = table[_i].f(gra_enter(gra_root(model), "layer"), &table[_i]);
    expect_model_error(or_none(table[_i].model));
    expect_error(or_none(table[_i].tape));
    ck_assert(isnan(gra_item(y)));
    ck_assert_int_eq(gra_backward(t, y), -1);
    ck_assert(!table[_i].absent || gra_param_count(model) == 0);
}
