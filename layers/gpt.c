/* GPT: logits = out_head(final_norm(block_n(... block_1(drop(tok_emb[ids] + pos_emb))))).
 *
 * Row t of the logits scores each token of the vocabulary as the successor of tokens 0 .. t. */
#include "given.h"
#include "gpt.h"

/* In GPT-2, 2 n_layers branches add to the residual stream: with weights divided by sqrt(2 n_layers), their
 * sum has the variance of one branch. residual: the Linear is the last of a branch. */
static gra_init weight_init(const gra_gpt_config *c, bool residual)
{
    if (c->init == GRA_INIT_GPT2)
        return gra_init_normal(0, residual ? 0.02 / sqrt(2.0 * c->n_layers) : 0.02);
    return c->init == GRA_INIT_ZEROS ? gra_init_zeros() : (gra_init){ 0 };
}

gra_transformer_block_config gra_gpt_block_config(const gra_gpt_config *c)
{
    if (!c)                             /* there is no model to keep the error */
        gra_model_fail(NULL, "gra_gpt_block_config: got NULL for the config, expected a gra_gpt_config");
    const gra_init weight = weight_init(c, false), last = weight_init(c, true);
    return (gra_transformer_block_config){
        .att = { .d_in = c->emb_dim, .d_out = c->emb_dim, .context_length = c->context_length,
                 .num_heads = c->n_heads, .dropout = c->drop_rate, .qkv_bias = c->qkv_bias, .bias = c->bias,
                 .qkv_init = weight, .out_init = last },
        .ff = { .dim = c->emb_dim, .bias = c->bias, .gelu = c->gelu, .up_init = weight, .down_init = last },
        .drop_rate = c->drop_rate, .shift = c->bias };
}

/* Returns false, with an error of the model, if c is NULL or a field is out of range. */
static bool check_config(gra_model *m, const gra_gpt_config *c)
{
    if (!c) {
        gra_model_fail(m, "gpt: got NULL for the config, expected a gra_gpt_config");
        return false;
    }
    if (!gra_given_size(m, "gpt", "vocab_size", c->vocab_size) ||
        !gra_given_size(m, "gpt", "context_length", c->context_length) ||
        !gra_given_size(m, "gpt", "emb_dim", c->emb_dim) ||
        !gra_given_size(m, "gpt", "n_heads", c->n_heads) ||
        !gra_given_size(m, "gpt", "n_layers", c->n_layers))
        return false;
    if (c->emb_dim % c->n_heads)
        gra_model_fail(m, "gpt: got n_heads %d, expected a divisor of emb_dim %d", c->n_heads, c->emb_dim);
    else if (!(c->drop_rate >= 0 && c->drop_rate < 1))
        gra_model_fail(m, "gpt: got drop_rate %g, expected 0 <= drop_rate < 1", c->drop_rate);
    else
        return true;
    return false;
}

void gra_gpt_init(struct gra_gpt *g, gra_scope scope, const gra_gpt_config *config)
{
    const gra_gpt_config *c = config;
    if (!gra_given_to_init(scope, "gpt", g))
        return;
    *g = (struct gra_gpt){ 0 };
    if (!check_config(scope.model, c))
        return;
    const gra_init weight = weight_init(c, false);
    const gra_transformer_block_config block = gra_gpt_block_config(c);
    struct gra_transformer_block *blocks = gra_model_alloc(scope.model, (size_t)c->n_layers * sizeof *blocks);
    if (!blocks)
        return;
    g->config = *c;
    g->trf_blocks = blocks;
    gra_embedding_init_with(&g->tok_emb, gra_enter(scope, "tok_emb"), c->vocab_size, c->emb_dim, weight);
    gra_positional_embedding_init_with(&g->pos_emb, gra_enter(scope, "pos_emb"), c->context_length,
                                       c->emb_dim, weight);
    gra_dropout_init(&g->drop_emb, scope, c->drop_rate);
    for (int i = 0; i < c->n_layers; i++)
        gra_transformer_block_init(&blocks[i], gra_enter(scope, "trf_blocks.%d", i), &block);
    gra_layer_norm_init_as(&g->final_norm, gra_enter(scope, "final_norm"), c->emb_dim, "scale",
                           c->bias ? "shift" : NULL);
    if (c->tied) {
        g->out_head.weight = g->tok_emb.weight;
        gra_alias(gra_enter(scope, "out_head"), "weight", g->tok_emb.weight);
    } else
        gra_linear_init_with(&g->out_head, gra_enter(scope, "out_head"), c->emb_dim, c->vocab_size, false,
                             weight);
}

static bool is_made(gra_tape *t, const struct gra_gpt *g)
{
    if (!gra_given_to_forward(t, "gpt", g))
        return false;
    if (!g->trf_blocks)
        gra_fail(t, "gpt: the GPT was not made: call gra_gpt_init first (if that failed, gra_model_error "
                 "reports why)");
    return !gra_error(t);
}

static gra_tensor *block_of(gra_tape *t, void *block, gra_tensor *x)
{
    return gra_transformer_block_forward(t, block, x);
}

gra_tensor *gra_gpt_forward(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time)
{
    if (!is_made(t, g))
        return gra_empty(t);
    if (batch < 1 || time < 1)
        return gra_fail(t, "gpt: got %d rows of %d tokens, expected at least one of each", batch, time);
    if (time > g->config.context_length)
        return gra_fail(t, "gpt: got %d tokens, expected at most the context length %d", time,
                        g->config.context_length);
    gra_tensor *x = gra_embedding_forward(t, &g->tok_emb, ids, GRA_SHAPE(batch, time));
    x = gra_positional_embedding_forward(t, &g->pos_emb, x);        /* (batch, time, emb_dim) */
    x = gra_dropout_forward(t, &g->drop_emb, x);
    for (int i = 0; i < g->config.n_layers; i++)
        x = (g->config.recompute ? gra_checkpoint(t, block_of, &g->trf_blocks[i], x)
             : block_of(t, &g->trf_blocks[i], x));
    x = gra_layer_norm_forward(t, &g->final_norm, x);
    return gra_linear_forward(t, &g->out_head, x);                  /* (batch, time, vocab_size) */
}

static bool check_cache(gra_tape *t, const gra_gpt_config *config, const gra_kv_cache *c, int time)
{
    if (!c || !c->rows)
        gra_fail(t, "gpt: the cache is not open: call gra_kv_cache_open(&cache, &gpt) first, which must "
                 "return 0");
    else if (c->blocks != config->n_layers || c->context_length != config->context_length ||
             c->width != config->emb_dim)
        gra_fail(t, "gpt: got a cache that was opened for another GPT, expected one of this GPT's sizes");
    else if (gra_tape_mode(t) != GRA_EVAL)
        gra_fail(t, "gpt: got a step that records, expected GRA_EVAL: no gradient flows through a key-value "
                 "cache");
    else if (time < 1)
        gra_fail(t, "gpt: got %d tokens, expected at least one", time);
    else if (time > c->context_length - c->time)
        gra_fail(t, "gpt: got %d tokens after %d others, expected at most the context length %d in all: "
                 "clear the cache, and go on from the last tokens", time, c->time, c->context_length);
    return !gra_error(t);
}

gra_tensor *gra_gpt_forward_cached(gra_tape *t, const struct gra_gpt *g, const int *ids, int time,
                                   gra_kv_cache *cache)
{
    if (!is_made(t, g) || !check_cache(t, &g->config, cache, time))
        return gra_empty(t);
    gra_tensor *x = gra_embedding_forward(t, &g->tok_emb, ids, GRA_SHAPE(1, time));
    x = gra_positional_embedding_forward_from(t, &g->pos_emb, x, cache->time);      /* (1, time, emb_dim) */
    for (int i = 0; i < g->config.n_layers; i++)
        x = gra_transformer_block_forward_cached(t, &g->trf_blocks[i], x, cache, i);
    x = gra_layer_norm_forward(t, &g->final_norm, gra_slice(t, x, 1, time - 1, time));
    x = gra_linear_forward(t, &g->out_head, x);                                     /* (1, 1, vocab_size) */
    if (!gra_error(t))
        cache->time += time;
    return x;
}
