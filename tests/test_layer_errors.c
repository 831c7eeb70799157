/* What layers refuse: the sentence for each size, value and input that does not fit. */
#include "../core/op.h"
#include "../layers/layers.h"
#include "suites.h"

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

enum { ROWS = 3, TIME = 5 };
static const int ids[ROWS * TIME] = { 1, 6 };

/* ---- of init: the model keeps the first sentence, and forward is an error of the tape ---------- */

static const gra_gpt_config fine = { 7, 5, 6, 2, 2, .bias = true };

static gra_gpt_config but(size_t field, int value)      /* fine, but for one size */
{
    gra_gpt_config c = fine;
    memcpy((char *)&c + field, &value, sizeof value);
    return c;
}
#define BUT(field, value) but(offsetof(gra_gpt_config, field), value)

static gra_tensor *x_of(int a, int b, int c) { return gra_full(t, 1, GRA_SHAPE(a, b, c)); }
#define TOKENS ids, GRA_SHAPE(ROWS, TIME)

/* name(scope): the layer, whose init gets these arguments, of x. */
#define LAYER(name, type, layer, x, ...)                                                                 \
    static gra_tensor *name(gra_scope s)                                                                 \
    {                                                                                                    \
        type l;                                                                                          \
        gra_##layer##_init(&l, s, __VA_ARGS__);                                                          \
        return gra_##layer##_forward(t, &l, x);                                                          \
    }

LAYER(bad_linear, struct gra_linear, linear, x_of(1, 2, 3), 0, 2, true)
LAYER(bad_linear_out, struct gra_linear, linear, x_of(1, 2, 3), 3, -2, false)
LAYER(bad_embedding, struct gra_embedding, embedding, TOKENS, 5, -3)
LAYER(bad_vocabulary, struct gra_embedding, embedding, TOKENS, 0, 3)
LAYER(bad_positional_dim, struct gra_positional_embedding, positional_embedding, x_of(1, 2, 3), 5, 0)
LAYER(bad_positional, struct gra_positional_embedding, positional_embedding, x_of(1, 2, 3), 0, 3)
LAYER(negative_dropout, struct gra_dropout, dropout, x_of(1, 2, 3), -0.5)
LAYER(bad_dropout, struct gra_dropout, dropout, x_of(1, 2, 3), 1.5)
LAYER(bad_layer_norm, struct gra_layer_norm, layer_norm, x_of(1, 2, 3), 0)
LAYER(bad_rms_norm, struct gra_rms_norm, rms_norm, x_of(1, 2, 3), -1)
LAYER(bad_causal_sizes, struct gra_causal_attention, causal_attention, x_of(1, 2, 3), 3, 2, 0, 0, false)
LAYER(bad_causal_dropout, struct gra_causal_attention, causal_attention, x_of(1, 2, 3), 3, 2, 6, 1, false)
LAYER(bad_heads, struct gra_multi_head_attention, multi_head_attention, x_of(1, 2, 3), 3, 10, 6, 0, 4, false)
LAYER(no_heads, struct gra_multi_head_attention, multi_head_attention, x_of(1, 2, 3), 3, 10, 6, 0, 0, false)
LAYER(bad_heads_dropout, struct gra_multi_head_attention, multi_head_attention, x_of(1, 2, 3),
      3, 8, 6, (double)NAN, 4, false)
LAYER(bad_self, struct gra_self_attention, self_attention, x_of(1, 2, 3), 0, 2, false)
LAYER(bad_self_v1, struct gra_self_attention_v1, self_attention_v1, x_of(1, 2, 3), 3, -2)
LAYER(bad_wrapper, struct gra_multi_head_attention_wrapper, multi_head_attention_wrapper, x_of(1, 2, 3),
      3, 2, 6, 0, 0, false)
static gra_tensor *bad_optimized(gra_scope s)
{
    struct gra_multi_head_attention l;
    gra_optimized_multi_head_attention_init(&l, s, 3, 6, 6, 0, 2, false);
    return gra_multi_head_attention_forward(t, &l, x_of(1, 2, 3));
}
static gra_tensor *bad_efficient(gra_scope s)
{
    struct gra_multi_head_attention l;
    gra_efficient_multi_head_attention_init(&l, s, 6, 4, 6, 0, 2, false);
    return gra_multi_head_attention_forward(t, &l, x_of(1, 2, 6));
}
LAYER(bad_pos_self, struct gra_positional_self_attention, positional_self_attention, x_of(1, 2, 3), 3, 2, 0, false)
LAYER(bad_pos_causal, struct gra_positional_causal_attention, positional_causal_attention, x_of(1, 2, 3),
      3, 2, 6, -0.5, false)
static gra_tensor *pos_heads_of(gra_scope s, int d_out, int num_heads)
{
    struct gra_positional_multi_head_attention l;
    gra_positional_multi_head_attention_init(&l, s, 3, d_out, 6, 0, num_heads, false);
    return gra_positional_multi_head_attention_forward(t, &l, x_of(1, 2, 3));
}
static gra_tensor *bad_pos_heads(gra_scope s)  { return pos_heads_of(s, 2, -1); }
static gra_tensor *wide_pos_heads(gra_scope s) { return pos_heads_of(s, INT_MAX, 2); }
static gra_tensor *feed_forward_of(gra_scope s, int emb_dim)
{
    struct gra_feed_forward l;
    gra_feed_forward_init(&l, s, emb_dim, GRA_GELU_ERF);
    return gra_feed_forward_forward(t, &l, x_of(1, 2, 3));
}
static gra_tensor *bad_feed_forward(gra_scope s)   { return feed_forward_of(s, INT_MAX / 4 + 1); }
static gra_tensor *empty_feed_forward(gra_scope s) { return feed_forward_of(s, 0); }
static gra_tensor *bad_block(gra_scope s)
{
    struct gra_transformer_block l;
    gra_gpt_config c = BUT(n_heads, 4);
    gra_transformer_block_init(&l, s, &c);
    return gra_transformer_block_forward(t, &l, x_of(1, 2, 6));
}
static gra_tensor *bad_gpt(gra_scope s, gra_gpt_config c)
{
    struct gra_gpt l;
    gra_gpt_init(&l, s, &c);
    return gra_gpt_forward(t, &l, ids, ROWS, TIME);
}
static gra_tensor *gpt_without_vocab(gra_scope s)   { return bad_gpt(s, BUT(vocab_size, 0)); }
static gra_tensor *gpt_without_context(gra_scope s) { return bad_gpt(s, BUT(context_length, -1)); }
static gra_tensor *gpt_without_width(gra_scope s)   { return bad_gpt(s, BUT(emb_dim, 0)); }
static gra_tensor *gpt_without_heads(gra_scope s)   { return bad_gpt(s, BUT(n_heads, 0)); }
static gra_tensor *gpt_without_layers(gra_scope s)  { return bad_gpt(s, BUT(n_layers, 0)); }
static gra_tensor *gpt_undivided(gra_scope s)       { return bad_gpt(s, BUT(n_heads, 4)); }
static gra_tensor *gpt_drops(gra_scope s, double rate)
{
    gra_gpt_config c = fine;
    c.drop_rate = rate;
    return bad_gpt(s, c);
}
static gra_tensor *gpt_drops_all(gra_scope s)       { return gpt_drops(s, 1); }
static gra_tensor *gpt_drops_less(gra_scope s)      { return gpt_drops(s, -0.5); }

static const struct {
    gra_tensor *(*f)(gra_scope s);
    const char *model, *tape;
} init_errors[] = {
    { bad_linear, "linear: in_features is 0 and out_features 2, but both must be 1 or more",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_linear_out, "linear: in_features is 3 and out_features -2, but both must be 1 or more",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_vocabulary, "embedding: num_embeddings is 0 and embedding_dim 3, but both must be 1 or more",
      "embedding: input 0 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_positional_dim,
      "positional_embedding: context_length is 5 and embedding_dim 0, but both must be 1 or more",
      "positional_embedding: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { negative_dropout, "dropout: p is -0.5, but 0 <= p <= 1 is wanted",
      "dropout: p is -0.5: wanted a probability, 0 <= p <= 1" },
    { empty_feed_forward, "feed_forward: emb_dim is 0, but 1 to 536870911 is wanted",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { gpt_drops_less, "gpt: drop_rate is -0.5, but 0 <= drop_rate < 1 is wanted",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { bad_embedding, "embedding: num_embeddings is 5 and embedding_dim -3, but both must be 1 or more",
      "embedding: input 0 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_positional,
      "positional_embedding: context_length is 0 and embedding_dim 3, but both must be 1 or more",
      "positional_embedding: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_dropout, "dropout: p is 1.5, but 0 <= p <= 1 is wanted",
      "dropout: p is 1.5: wanted a probability, 0 <= p <= 1" },
    { bad_layer_norm, "layer_norm: dim is 0, but it must be 1 or more",
      "layer_norm: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_rms_norm, "rms_norm: dim is -1, but it must be 1 or more",
      "rms_norm: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_causal_sizes, "causal_attention: context_length is 0, but it must be 1 or more",
      "causal_attention: 2 tokens, but the context length is 0" },
    { bad_causal_dropout, "causal_attention: dropout is 1, but 0 <= dropout < 1 is wanted",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_heads, "multi_head_attention: d_out 10 cannot be divided by num_heads 4",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { no_heads, "multi_head_attention: num_heads is 0, but it must be 1 or more",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_heads_dropout, "multi_head_attention: dropout is nan, but 0 <= dropout < 1 is wanted",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_self, "self_attention: d_in is 0, but it must be 1 or more",
      "self_attention: x is (1, 2, 3), but (..., time, 0) is wanted" },
    { bad_self_v1, "self_attention_v1: d_out is -2, but it must be 1 or more",
      "matmul: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_wrapper, "multi_head_attention_wrapper: num_heads is 0, but it must be 1 or more",
      "multi_head_attention_wrapper: it was not made: gra_model_error says why" },
    { bad_optimized, "multi_head_attention: d_in is 3 and d_out 6, but where values are x they must be equal",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_efficient, "multi_head_attention: d_in is 6 and d_out 4, but where values are x they must be equal",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_pos_self,
      "positional_embedding: context_length is 0 and embedding_dim 3, but both must be 1 or more",
      "positional_embedding: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_pos_causal, "causal_attention: dropout is -0.5, but 0 <= dropout < 1 is wanted",
      "positional_embedding: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_pos_heads, "positional_multi_head_attention: num_heads is -1, but it must be 1 or more",
      "positional_multi_head_attention: it was not made: gra_model_error says why" },
    { wide_pos_heads,
      "positional_multi_head_attention: 2 heads of 2147483647 columns are more than 2147483647 columns",
      "positional_multi_head_attention: it was not made: gra_model_error says why" },
    { bad_feed_forward, "feed_forward: emb_dim is 536870912, but 1 to 536870911 is wanted",
      "linear: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { bad_block, "multi_head_attention: d_out 6 cannot be divided by num_heads 4",
      "layer_norm: input 1 is NULL: it was never made (a layer's parameters are made by its init)" },
    { gpt_without_vocab, "gpt: vocab_size is 0, but it must be 1 or more",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { gpt_without_context, "gpt: context_length is -1, but it must be 1 or more",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { gpt_without_width, "gpt: emb_dim is 0, but it must be 1 or more",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { gpt_without_heads, "gpt: n_heads is 0, but it must be 1 or more",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { gpt_without_layers, "gpt: n_layers is 0, but it must be 1 or more",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { gpt_undivided, "gpt: emb_dim 6 cannot be divided by n_heads 4",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
    { gpt_drops_all, "gpt: drop_rate is 1, but 0 <= drop_rate < 1 is wanted",
      "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error says why)" },
};
enum { INIT_ERRORS = sizeof init_errors / sizeof *init_errors };

static const char *or_none(const char *error) { return error ? error : "no error"; }

START_TEST(init_refuses)
{
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *y = init_errors[_i].f(gra_enter(gra_root(model), "bad"));
    ck_assert_str_eq(or_none(gra_model_error(model)), init_errors[_i].model);
    ck_assert_str_eq(or_none(gra_error(t)), init_errors[_i].tape);
    ck_assert(isnan(gra_item(y)));
    ck_assert_int_eq(gra_backward(t, y), -1);

    for (int i = 0; i < INIT_ERRORS; i++) {             /* and all that follows is harmless */
        gra_begin(t, GRA_TRAIN, &rng);
        init_errors[i].f(gra_enter(gra_root(model), "then.%d", i));
        ck_assert(gra_error(t));
    }
    ck_assert_str_eq(gra_model_error(model), init_errors[_i].model);
}
END_TEST

/* ---- of forward ---- */

LAYER(narrow_linear, struct gra_linear, linear, x_of(1, 2, 4), 3, 2, true)
LAYER(unknown_id, struct gra_embedding, embedding, TOKENS, 5, 3)
LAYER(long_positional, struct gra_positional_embedding, positional_embedding, x_of(1, 65, 3), 64, 3)
LAYER(narrow_positional, struct gra_positional_embedding, positional_embedding, x_of(1, 3, 1), 64, 3)
LAYER(flat_positional, struct gra_positional_embedding, positional_embedding, gra_full(t, 1, GRA_SHAPE(3)), 64, 3)
LAYER(narrow_layer_norm, struct gra_layer_norm, layer_norm, x_of(1, 2, 4), 3)
LAYER(narrow_rms_norm, struct gra_rms_norm, rms_norm, x_of(1, 2, 4), 3)
static gra_tensor *causal_of(gra_scope s, gra_tensor *x)
{
    struct gra_causal_attention l;
    gra_causal_attention_init(&l, s, 3, 2, 6, 0, false);
    return gra_causal_attention_forward(t, &l, x);
}
static gra_tensor *narrow_causal(gra_scope s) { return causal_of(s, x_of(1, 2, 4)); }
static gra_tensor *flat_causal(gra_scope s)   { return causal_of(s, gra_full(t, 1, GRA_SHAPE(3))); }
static gra_tensor *long_causal(gra_scope s)   { return causal_of(s, x_of(1, 7, 3)); }
static gra_tensor *missing_causal(gra_scope s){ return causal_of(s, NULL); }

static gra_tensor *heads_of(gra_scope s, gra_tensor *x)
{
    struct gra_multi_head_attention l;
    gra_multi_head_attention_init(&l, s, 3, 2, 6, 0, 2, false);
    return gra_multi_head_attention_forward(t, &l, x);
}
static gra_tensor *narrow_heads(gra_scope s) { return heads_of(s, x_of(1, 2, 4)); }
static gra_tensor *flat_heads(gra_scope s)   { return heads_of(s, gra_full(t, 1, GRA_SHAPE(3))); }
static gra_tensor *long_heads(gra_scope s)   { return heads_of(s, x_of(1, 7, 3)); }
static gra_tensor *missing_heads(gra_scope s){ return heads_of(s, NULL); }

static gra_tensor *self_of(gra_scope s, gra_tensor *x)
{
    struct gra_self_attention l;
    gra_self_attention_init(&l, s, 3, 2, false);
    return gra_self_attention_forward(t, &l, x);
}
static gra_tensor *narrow_self(gra_scope s)  { return self_of(s, x_of(1, 2, 4)); }
static gra_tensor *flat_self(gra_scope s)    { return self_of(s, gra_full(t, 1, GRA_SHAPE(3))); }
static gra_tensor *missing_self(gra_scope s) { return self_of(s, NULL); }

LAYER(narrow_self_v1, struct gra_self_attention_v1, self_attention_v1, x_of(1, 2, 4), 3, 2)

static gra_tensor *wrapper_of(gra_scope s, gra_tensor *x)
{
    struct gra_multi_head_attention_wrapper l;
    gra_multi_head_attention_wrapper_init(&l, s, 3, 2, 6, 0, 2, false);
    return gra_multi_head_attention_wrapper_forward(t, &l, x);
}
static gra_tensor *long_wrapper(gra_scope s)    { return wrapper_of(s, x_of(1, 7, 3)); }
static gra_tensor *missing_wrapper(gra_scope s) { return wrapper_of(s, NULL); }

LAYER(long_pos_self, struct gra_positional_self_attention, positional_self_attention, x_of(1, 7, 3), 3, 2, 6, false)
LAYER(long_pos_heads, struct gra_positional_multi_head_attention, positional_multi_head_attention, x_of(1, 7, 3),
      3, 2, 6, 0, 2, false)
LAYER(missing_pos_heads, struct gra_positional_multi_head_attention, positional_multi_head_attention, NULL,
      3, 2, 6, 0, 2, false)

static gra_tensor *gpt_of(gra_scope s, const int *tokens, int batch, int time)
{
    struct gra_gpt l;
    gra_gpt_init(&l, s, &fine);
    return gra_gpt_forward(t, &l, tokens, batch, time);
}
static gra_tensor *long_gpt(gra_scope s)         { return gpt_of(s, ids, 1, 6); }
static gra_tensor *gpt_of_no_rows(gra_scope s)   { return gpt_of(s, ids, 0, 2); }
static gra_tensor *gpt_after_an_error(gra_scope s)
{
    gra_fail(t, "an error before");
    return gpt_of(s, ids, 1, 2);
}
static gra_tensor *empty_gpt(gra_scope s)        { return gpt_of(s, ids, 3, 0); }
static gra_tensor *gpt_of_unknown(gra_scope s)   { return gpt_of(s, (int[]){ 0, 6, 7, 1 }, 2, 2); }
static gra_tensor *gpt_of_negative(gra_scope s)  { return gpt_of(s, (int[]){ -1 }, 1, 1); }

static const struct {
    gra_tensor *(*f)(gra_scope s);
    const char *tape;
} forward_errors[] = {
    { narrow_linear, "linear: x is (1, 2, 4) but the weight is (2, 3): the last size of x must be 3" },
    { unknown_id, "embedding: id 6 at position 1: the vocabulary has 5 entries (0 to 4)" },
    { long_positional, "positional_embedding: 65 tokens, but the context length is 64" },
    { narrow_positional, "positional_embedding: x is (1, 3, 1), but (..., time, 3) is wanted" },
    { flat_positional, "positional_embedding: x is (3), but (..., time, 3) is wanted" },
    { narrow_layer_norm, "layer_norm: weight is (3) but x is (1, 2, 4): wanted (4)" },
    { narrow_rms_norm, "rms_norm: weight is (3) but x is (1, 2, 4): wanted (4)" },
    { narrow_causal, "causal_attention: x is (1, 2, 4), but (..., time, 3) is wanted" },
    { flat_causal, "causal_attention: x is (3), but (..., time, 3) is wanted" },
    { long_causal, "causal_attention: 7 tokens, but the context length is 6" },
    { missing_causal, "causal_attention: input 0 is NULL: it was never made (a layer's parameters are made by its init)" },
    { narrow_heads, "multi_head_attention: x is (1, 2, 4), but (..., time, 3) is wanted" },
    { flat_heads, "multi_head_attention: x is (3), but (..., time, 3) is wanted" },
    { long_heads, "multi_head_attention: 7 tokens, but the context length is 6" },
    { missing_heads, "multi_head_attention: input 0 is NULL: it was never made (a layer's parameters are made by its init)" },
    { narrow_self, "self_attention: x is (1, 2, 4), but (..., time, 3) is wanted" },
    { flat_self, "self_attention: x is (3), but (..., time, 3) is wanted" },
    { missing_self, "self_attention: input 0 is NULL: it was never made (a layer's parameters are made by its init)" },
    { narrow_self_v1, "self_attention_v1: x is (1, 2, 4), but (..., time, 3) is wanted" },
    { long_wrapper, "causal_attention: 7 tokens, but the context length is 6" },
    { missing_wrapper, "multi_head_attention_wrapper: input 0 is NULL: it was never made (a layer's parameters are made by its init)" },
    { long_pos_self, "positional_embedding: 7 tokens, but the context length is 6" },
    { long_pos_heads, "positional_embedding: 7 tokens, but the context length is 6" },
    { missing_pos_heads, "positional_multi_head_attention: input 0 is NULL: it was never made (a layer's parameters are "
                         "made by its init)" },
    { gpt_after_an_error, "an error before" },
    { gpt_of_no_rows, "gpt: 0 rows of 2 tokens, but at least one of each is wanted" },
    { long_gpt, "gpt: 6 tokens, but the context length is 5" },
    { empty_gpt, "gpt: 3 rows of 0 tokens, but at least one of each is wanted" },
    { gpt_of_unknown, "embedding: id 7 at position 2: the vocabulary has 7 entries (0 to 6)" },
    { gpt_of_negative, "embedding: id -1 at position 0: the vocabulary has 7 entries (0 to 6)" },
};
enum { FORWARD_ERRORS = sizeof forward_errors / sizeof *forward_errors };

START_TEST(forward_refuses)
{
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *y = forward_errors[_i].f(gra_enter(gra_root(model), "l"));
    ck_assert_str_eq(or_none(gra_model_error(model)), "no error");
    ck_assert_str_eq(or_none(gra_error(t)), forward_errors[_i].tape);
    ck_assert(isnan(gra_item(y)));
}
END_TEST

Suite *layer_errors_suite(void)
{
    Suite *s = suite_create("layer_errors");
    TCase *c = tcase_create("errors");
    tcase_add_checked_fixture(c, open_all, close_all);
    tcase_add_loop_test(c, init_refuses, 0, INIT_ERRORS);
    tcase_add_loop_test(c, forward_refuses, 0, FORWARD_ERRORS);
    suite_add_tcase(s, c);
    return s;
}
