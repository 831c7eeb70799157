/* TransformerBlock, pre-norm: two branches read a normalised copy of the residual stream x and add
 * what they find to it,
 *
 *     x = x + drop(att(norm1(x)))     positions exchange what they know
 *     x = x + drop(ff(norm2(x)))      each thinks about it by itself */
#include "layers.h"
#include "../core/op.h"

/* In GPT-2 2 n_layers branches add to the stream: sqrt(2 n_layers) keeps the variance of their sum. */
gra_projections gra_gpt_projections(const gra_gpt_config *config)
{
    gra_projections how = { .bias = config->bias };
    if (config->init == GRA_INIT_GPT2) {
        how.read  = gra_init_normal(0, 0.02);
        how.write = gra_init_normal(0, 0.02 / sqrt(2.0 * config->n_layers));
    } else if (config->init == GRA_INIT_ZEROS) {
        how.read = how.write = gra_init_zeros();
    }
    return how;
}

void gra_transformer_block_init(struct gra_transformer_block *b, gra_scope scope, const gra_gpt_config *config)
{
    const gra_gpt_config *c = config;
    const gra_projections how = gra_gpt_projections(c);
    const char *shift = c->bias ? "shift" : NULL;
    gra_multi_head_attention_init_with(&b->att, gra_enter(scope, "att"), c->emb_dim, c->emb_dim,
                                       c->context_length, c->drop_rate, c->n_heads, c->qkv_bias, &how);
    gra_feed_forward_init_with(&b->ff, gra_enter(scope, "ff"), c->emb_dim, c->gelu, &how);
    gra_layer_norm_init_as(&b->norm1, gra_enter(scope, "norm1"), c->emb_dim, "scale", shift);
    gra_layer_norm_init_as(&b->norm2, gra_enter(scope, "norm2"), c->emb_dim, "scale", shift);
    gra_dropout_init(&b->drop_shortcut, scope, c->drop_rate);
}

gra_tensor *gra_transformer_block_continue(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x,
                                           const gra_past *past)
{
    gra_tensor *y = gra_layer_norm_forward(t, &b->norm1, x);        /* (batch, time, emb_dim), as all below */
    y = gra_multi_head_attention_continue(t, &b->att, y, past);
    x = gra_add(t, x, gra_dropout_forward(t, &b->drop_shortcut, y));

    y = gra_layer_norm_forward(t, &b->norm2, x);
    y = gra_feed_forward_forward(t, &b->ff, y);
    return gra_add(t, x, gra_dropout_forward(t, &b->drop_shortcut, y));
}

gra_tensor *gra_transformer_block_forward(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x)
{
    return gra_transformer_block_continue(t, b, x, NULL);
}
