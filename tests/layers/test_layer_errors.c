/* Refusals of layers: the sentence for each invalid size, value and input. */
#include "layers/gpt.h"
#include "lib/aborts.h"
#include "lib/fixture.h"
#include "lib/suites.h"

/* REFUSED(layer, y, in_model, on_tape, ...): a test in which gra_LAYER_init makes l with the following
 * arguments, and y is computed from l. The sentences are the model's and the tape's; NULL: no error.
 * REFUSED_X: y is the layer's forward of this x. ABSENT: l is NULL. */
#define REFUSED(layer, y, in_model, on_tape, ...)                                                        \
    REFUSED_IN(__LINE__, layer, y, in_model, on_tape, __VA_ARGS__)
#define REFUSED_IN(...)       REFUSED_OF(__VA_ARGS__)         /* after __LINE__ has become a number */
#define REFUSED_OF(line, ...) REFUSED_AS(refused_in_line_##line, __VA_ARGS__)
#define REFUSED_AS(name, layer, y, in_model, on_tape, ...)                                               \
    TEST(name)                                                                                           \
    {                                                                                                    \
        struct gra_##layer made, *l = &made;                                                             \
        gra_##layer##_init(l, scope(), __VA_ARGS__);                                                     \
        expect_both(y, in_model, on_tape);                                                               \
    }
#define REFUSED_X(layer, x, in_model, on_tape, ...)                                                      \
    REFUSED(layer, gra_##layer##_forward(t, l, x), in_model, on_tape, __VA_ARGS__)
#define ABSENT(layer, y, ...)                                                                            \
    TEST(absent_##layer)                                                                                 \
    {                                                                                                    \
        struct gra_##layer *l = NULL;                                                                    \
        gra_##layer##_init(l, scope(), __VA_ARGS__);                                                     \
        expect_both(y, #layer ": got NULL for the layer" NO_STRUCT,                                      \
                    #layer ": got NULL for the layer, expected one that its init has made");             \
        ck_assert_int_eq(gra_param_count(model), 0);                                                     \
    }
#define ABSENT_X(layer, ...) ABSENT(layer, gra_##layer##_forward(t, l, ONES(1, 2, 3)), __VA_ARGS__)

static void open_step(void)
{
    open_all();
    gra_begin(t, GRA_TRAIN, &rng);
}

static gra_scope scope(void) { return gra_enter(gra_root(model), "layer"); }

static void expect_both(gra_tensor *y, const char *in_model, const char *on_tape)
{
    expect_model_error(or_none(in_model));
    expect_error(or_none(on_tape));
    ck_assert(isnan(gra_item(y)));
    ck_assert_int_eq(gra_backward(t, y), -1);
}

#define ONES(...) gra_full(t, 1, GRA_SHAPE(__VA_ARGS__))
#define X         ONES(1, 2, 3)
#define EMBEDDED  gra_embedding_forward(t, l, (int[]){ 1, 6 }, GRA_SHAPE(2))
#define GPT_OF(batch, time, ...) gra_gpt_forward(t, l, (int[4]){ __VA_ARGS__ }, batch, time)
#define NO_INPUT(op, i) op ": got NULL for input " #i ", expected a tensor: a layer's parameters are " \
                        "made by its init"
#define NO_STRUCT ", expected the address of its struct"
#define NO_CONFIG ": got NULL for the config, expected a "
#define NOT_MADE(layer, init)                                                                            \
    layer " was not made: call " init " first (if that failed, gra_model_error reports why)"
#define FF_SIZES ", expected dim from 1 to 536870911 and hidden 0 (for 4 dim) or more"
#define POSITIVE ", expected 1 or more"
#define SHARE    ", expected a probability, 0 <= p <= 1"

static const char no_gpt[] = NOT_MADE("gpt: the GPT", "gra_gpt_init");
static const char no_causal[] = NOT_MADE("causal_attention: the layer", "its init");
static const char no_heads[] = NOT_MADE("multi_head_attention: the layer", "its init");

#define ATT(context, ...) &(gra_attention_config){ .context_length = context, __VA_ARGS__ }
#define D(in, out)        .d_in = in, .d_out = out
#define FF(dim_, hidden_) &(gra_feed_forward_config){ .dim = dim_, .hidden = hidden_ }
#define GPT(...)          &(gra_gpt_config){ __VA_ARGS__, .bias = true }
#define BAD_CAUSAL(why, ...)                                                                             \
    REFUSED_X(causal_attention, X, "causal_attention: got " why, no_causal, ATT(__VA_ARGS__))
#define BAD_HEADS(why, ...)                                                                              \
    REFUSED_X(multi_head_attention, X, "multi_head_attention: got " why, no_heads, ATT(6, __VA_ARGS__))
#define BAD_GPT(why, ...) REFUSED(gpt, GPT_OF(0, 0, 0), "gpt: got " why, no_gpt, GPT(__VA_ARGS__))

CASE(layer_errors, open_step, close_all, "")

/* ---- init: the model keeps the first error, and forward is an error of the tape ---- */

REFUSED_X(linear, X, "linear: got in_features 0" POSITIVE, NO_INPUT("linear", 1), 0, 2, true)
REFUSED_X(linear, X, "linear: got out_features -2" POSITIVE, NO_INPUT("linear", 1), 3, -2, true)
REFUSED(embedding, EMBEDDED, "embedding: got embedding_dim -3" POSITIVE, NO_INPUT("embedding", 0), 5, -3)
REFUSED(embedding, EMBEDDED, "embedding: got num_embeddings 0" POSITIVE, NO_INPUT("embedding", 0), 0, 3)
REFUSED_X(positional_embedding, X, "positional_embedding: got embedding_dim 0" POSITIVE,
          NO_INPUT("positional_embedding", 1), 5, 0)
REFUSED_X(positional_embedding, X, "positional_embedding: got context_length 0" POSITIVE,
          NO_INPUT("positional_embedding", 1), 0, 3)
REFUSED_X(dropout, X, "dropout: got p -0.5" SHARE, "dropout: got p -0.5" SHARE, -0.5)
REFUSED_X(dropout, X, "dropout: got p 1.5" SHARE, "dropout: got p 1.5" SHARE, 1.5)
REFUSED_X(layer_norm, X, "layer_norm: got dim 0" POSITIVE, NO_INPUT("layer_norm", 1), 0)
REFUSED_X(rms_norm, X, "rms_norm: got dim -1" POSITIVE, NO_INPUT("rms_norm", 1), -1)
REFUSED_X(causal_attention, X, "causal_attention" NO_CONFIG "gra_attention_config", no_causal, NULL)
REFUSED_X(multi_head_attention, X, "multi_head_attention" NO_CONFIG "gra_attention_config", no_heads, NULL)
REFUSED(gpt, GPT_OF(1, 4, 0), "gpt" NO_CONFIG "gra_gpt_config", no_gpt, NULL)
REFUSED_X(feed_forward, X, "feed_forward" NO_CONFIG "gra_feed_forward_config", NO_INPUT("linear", 1), NULL)
REFUSED_X(transformer_block, X, "transformer_block" NO_CONFIG "gra_transformer_block_config",
          NO_INPUT("layer_norm", 1), NULL)
ABSENT_X(linear, 0, 0, true) ABSENT(embedding, EMBEDDED, 0, 0) ABSENT_X(positional_embedding, 0, 0)
ABSENT_X(dropout, 0) ABSENT_X(layer_norm, 0) ABSENT_X(rms_norm, 0) ABSENT_X(feed_forward, FF(0, 0))
ABSENT_X(causal_attention, ATT(0, D(0, 0))) ABSENT_X(multi_head_attention, ATT(0, D(0, 0)))
ABSENT_X(transformer_block, NULL) ABSENT(gpt, GPT_OF(0, 0, 0), GPT(0))
BAD_CAUSAL("context_length 0" POSITIVE, 0, D(3, 2))
BAD_CAUSAL("dropout 1, expected 0 <= dropout < 1", 6, D(3, 2), .dropout = 1)
BAD_CAUSAL("num_heads 2, expected 1: for more heads use multi_head_attention", 6, D(3, 2), .num_heads = 2)
BAD_CAUSAL("bias true, expected false: it has no out_proj (qkv_bias is for its projections)", 6, D(3, 2),
           .bias = true)
BAD_CAUSAL("bidirectional true, expected false: it is causal", 6, D(3, 2), .bidirectional = true)
BAD_HEADS("d_in 0" POSITIVE, D(0, 2), .num_heads = 2)
BAD_HEADS("d_out -2" POSITIVE, D(3, -2), .num_heads = 2)
BAD_HEADS("num_heads 4, expected a divisor of d_out 10", D(3, 10), .num_heads = 4)
BAD_HEADS("num_heads 0" POSITIVE, D(3, 10))
BAD_HEADS("num_kv_heads 3, expected a divisor of num_heads 4", D(3, 12), .num_heads = 4, .num_kv_heads = 3)
BAD_HEADS("num_kv_heads -2, expected a divisor of num_heads 4", D(3, 12), .num_heads = 4, .num_kv_heads = -2)
BAD_HEADS("dropout nan, expected 0 <= dropout < 1", D(3, 8), .num_heads = 4, .dropout = (double)NAN)
BAD_HEADS("dropout -0.5, expected 0 <= dropout < 1", D(3, 8), .num_heads = 4, .dropout = -0.5)
REFUSED_X(feed_forward, X, "feed_forward: got dim 0 and hidden 0" FF_SIZES, NO_INPUT("linear", 1), FF(0, 0))
REFUSED_X(feed_forward, X, "feed_forward: got dim 2 and hidden -1" FF_SIZES, NO_INPUT("linear", 1), FF(2, -1))
REFUSED_X(feed_forward, X, "feed_forward: got dim 536870912 and hidden 0" FF_SIZES, NO_INPUT("linear", 1),
          FF(INT_MAX / 4 + 1, 0))
REFUSED_X(transformer_block, ONES(1, 2, 6),
          "multi_head_attention: got num_heads 4, expected a divisor of d_out 6", NO_INPUT("layer_norm", 1),
          (gra_transformer_block_config[]){ gra_gpt_block_config(GPT(7, 5, 6, 4, 2)) })
BAD_GPT("vocab_size 0" POSITIVE, 0, 5, 6, 2, 2)
BAD_GPT("context_length -1" POSITIVE, 7, -1, 6, 2, 2)
BAD_GPT("emb_dim 0" POSITIVE, 7, 5, 0, 2, 2)
BAD_GPT("n_heads 0" POSITIVE, 7, 5, 6, 0, 2)
BAD_GPT("n_layers 0" POSITIVE, 7, 5, 6, 2, 0)
BAD_GPT("n_heads 4, expected a divisor of emb_dim 6", 7, 5, 6, 4, 2)
BAD_GPT("drop_rate 1, expected 0 <= drop_rate < 1", 7, 5, 6, 2, 2, .drop_rate = 1)
BAD_GPT("drop_rate -0.5, expected 0 <= drop_rate < 1", 7, 5, 6, 2, 2, .drop_rate = -0.5)

/* ---- forward ---- */

#define TIME_3  ", expected (..., time, 3)"
#define AT_MOST ", expected at most the context length "
REFUSED_X(positional_embedding, ONES(1, 65, 3), NULL, "positional_embedding: got 65 tokens" AT_MOST "64",
          64, 3)
REFUSED_X(positional_embedding, ONES(1, 3, 1), NULL, "positional_embedding: got x (1, 3, 1)" TIME_3, 64, 3)
REFUSED_X(positional_embedding, ONES(3), NULL, "positional_embedding: got x (3)" TIME_3, 64, 3)
#define CAUSAL(x, sentence)                                                                              \
    REFUSED_X(causal_attention, x, NULL, "causal_attention: got " sentence, ATT(6, D(3, 2)))
#define HEADS(x, sentence)                                                                               \
    REFUSED_X(multi_head_attention, x, NULL, "multi_head_attention: got " sentence,                      \
              ATT(6, D(3, 2), .num_heads = 2))
CAUSAL(ONES(1, 2, 4), "x (1, 2, 4)" TIME_3)
CAUSAL(ONES(3), "x (3)" TIME_3)
CAUSAL(ONES(1, 7, 3), "7 tokens" AT_MOST "6")
CAUSAL(NULL, "NULL for input 0, expected a tensor: a layer's parameters are made by its init")
HEADS(ONES(1, 2, 4), "x (1, 2, 4)" TIME_3)
HEADS(ONES(3), "x (3)" TIME_3)
HEADS(ONES(1, 7, 3), "7 tokens" AT_MOST "6")
HEADS(NULL, "NULL for input 0, expected a tensor: a layer's parameters are made by its init")
#define OF_GPT(y, sentence) REFUSED(gpt, y, NULL, sentence, GPT(7, 5, 6, 2, 2))
OF_GPT((gra_fail(t, "an error before"), GPT_OF(1, 2, 1, 6)), "an error before")
OF_GPT(GPT_OF(0, 2, 0), "gpt: got 0 rows of 2 tokens, expected at least one of each")
OF_GPT(GPT_OF(3, 0, 0), "gpt: got 3 rows of 0 tokens, expected at least one of each")
OF_GPT(GPT_OF(1, 6, 0), "gpt: got 6 tokens" AT_MOST "5")
OF_GPT(GPT_OF(2, 2, 0, 6, 7, 1),
       "embedding: got id 7 at position 2, expected one of the vocabulary's 7 entries (0 to 6)")

/* ---- no model to keep the error ---- */

static void block_of_no_config(void) { gra_gpt_block_config(NULL); }
static void cache_of_no_gpt(void)     { gra_kv_cache_open(&(gra_kv_cache){ 0 }, NULL); }
static void no_cache_to_open(void)    { gra_kv_cache_open(NULL, &(struct gra_gpt){ 0 }); }

TEST(no_model_to_keep_the_error)
{
    expect_abort(block_of_no_config, "gra_gpt_block_config" NO_CONFIG "gra_gpt_config");
    expect_abort(cache_of_no_gpt, "gra_kv_cache_open: got NULL for the GPT" NO_STRUCT);
    expect_abort(no_cache_to_open, "gra_kv_cache_open: got NULL for the cache" NO_STRUCT);
}
