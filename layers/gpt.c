/* GPT: logits = out_head(final_norm(block_n(... block_1(drop(tok_emb[ids] + pos_emb))))).
 *
 * Position t of a row of logits scores every entry of the vocabulary as the one that follows ids 0 .. t. */
#include "layers.h"
#include "../core/op.h"

static bool sound(gra_model *m, const gra_gpt_config *c)
{
    const struct { const char *name; int value; } size[] = {
        { "vocab_size", c->vocab_size }, { "context_length", c->context_length }, { "emb_dim", c->emb_dim },
        { "n_heads", c->n_heads }, { "n_layers", c->n_layers },
    };
    for (size_t i = 0; i < sizeof size / sizeof *size; i++)
        if (size[i].value < 1) {
            gra_model_fail(m, "gpt: %s is %d, but it must be 1 or more", size[i].name, size[i].value);
            return false;
        }
    const bool divided = c->emb_dim % c->n_heads == 0, drops = c->drop_rate >= 0 && c->drop_rate < 1;
    if (!divided)
        gra_model_fail(m, "gpt: emb_dim %d cannot be divided by n_heads %d", c->emb_dim, c->n_heads);
    else if (!drops)
        gra_model_fail(m, "gpt: drop_rate is %g, but 0 <= drop_rate < 1 is wanted", c->drop_rate);
    return divided && drops;
}

void gra_gpt_init(struct gra_gpt *g, gra_scope scope, const gra_gpt_config *config)
{
    const gra_gpt_config *c = config;
    *g = (struct gra_gpt){ 0 };
    if (!sound(scope.model, c))
        return;
    const gra_init weight = gra_gpt_projections(c).read;
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
        gra_transformer_block_init(&blocks[i], gra_enter(scope, "trf_blocks.%d", i), c);
    gra_layer_norm_init_as(&g->final_norm, gra_enter(scope, "final_norm"), c->emb_dim, "scale",
                           c->bias ? "shift" : NULL);
    if (c->tied) {
        g->out_head.weight = g->tok_emb.weight;
        gra_alias(gra_enter(scope, "out_head"), "weight", g->tok_emb.weight);
    } else
        gra_linear_init_with(&g->out_head, gra_enter(scope, "out_head"), c->emb_dim, c->vocab_size, false,
                             weight);
}

/* What the head reads, (batch, time, emb_dim). c: what came before, or NULL: nothing. */
static gra_tensor *stream(gra_tape *t, const struct gra_gpt *g, const gra_gpt_cache *c, const int *ids, int batch,
                          int time)
{
    gra_tensor *x = gra_embedding_forward(t, &g->tok_emb, ids, GRA_SHAPE(batch, time));
    x = gra_positional_embedding_forward_from(t, &g->pos_emb, x, c ? c->time : 0);
    x = gra_dropout_forward(t, &g->drop_emb, x);
    for (int i = 0; i < g->config.n_layers; i++) {
        const gra_past past = c ? gra_gpt_cache_past(c, i) : (gra_past){ 0 };
        x = gra_transformer_block_continue(t, &g->trf_blocks[i], x, c ? &past : NULL);
    }
    return gra_layer_norm_forward(t, &g->final_norm, x);
}

gra_tensor *gra_gpt_forward(gra_tape *t, const struct gra_gpt *g, const int *ids, int batch, int time)
{
    if (gra_error(t))
        return gra_empty(t);
    if (!g->trf_blocks)
        return gra_fail(t, "gpt: it was not made: call gra_gpt_init first (if that failed, gra_model_error "
                        "says why)");
    if (batch < 1 || time < 1)
        return gra_fail(t, "gpt: %d rows of %d tokens, but at least one of each is wanted", batch, time);
    if (time > g->config.context_length)
        return gra_fail(t, "gpt: %d tokens, but the context length is %d", time, g->config.context_length);
    gra_tensor *x = stream(t, g, NULL, ids, batch, time);
    return gra_linear_forward(t, &g->out_head, x);                  /* (batch, time, vocab_size) */
}

gra_tensor *gra_gpt_continue(gra_tape *t, gra_gpt_cache *c, const int *ids, int time)
{
    const struct gra_gpt *g = c->gpt;
    if (gra_error(t))
        return gra_empty(t);
    if (!g)
        return gra_fail(t, "gpt: the cache is not open: call gra_gpt_cache_open(&cache, &gpt) first, which "
                        "must return 0");
    if (gra_tape_mode(t) != GRA_EVAL)
        return gra_fail(t, "gpt: through a cache no gradient flows: begin the step as GRA_EVAL");
    if (time < 1)
        return gra_fail(t, "gpt: %d tokens, but at least one is wanted", time);
    if (time > g->config.context_length - c->time)
        return gra_fail(t, "gpt: %d tokens after %d others, but the context length is %d: clear the cache, "
                        "and go on from the last tokens", time, c->time, g->config.context_length);
    gra_tensor *x = stream(t, g, c, ids, 1, time);
    x = gra_linear_forward(t, &g->out_head, gra_slice(t, x, 1, time - 1, time));    /* (1, 1, vocab_size) */
    if (!gra_error(t))
        c->time += time;
    return x;
}
