/* TransformerBlock, pre-norm: two branches read a normalised copy of the residual stream x and add their
 * results to x,
 *
 *     x = x + drop(att(norm1(x)))     positions exchange information
 *     x = x + drop(ff(norm2(x)))      each position is transformed separately */
#include "given.h"
#include "gpt.h"

void gra_transformer_block_init(struct gra_transformer_block *b, gra_scope scope,
                                const gra_transformer_block_config *config)
{
    const gra_transformer_block_config *c = config;
    if (!gra_given_to_init(scope, "transformer_block", b))
        return;
    *b = (struct gra_transformer_block){ 0 };
    if (!c) {
        gra_model_fail(scope.model, "transformer_block: got NULL for the config, expected a "
                       "gra_transformer_block_config");
        return;
    }
    const char *shift = c->shift ? "shift" : NULL;
    gra_multi_head_attention_init(&b->att, gra_enter(scope, "att"), &c->att);
    gra_feed_forward_init(&b->ff, gra_enter(scope, "ff"), &c->ff);
    gra_layer_norm_init_as(&b->norm1, gra_enter(scope, "norm1"), c->ff.dim, "scale", shift);
    gra_layer_norm_init_as(&b->norm2, gra_enter(scope, "norm2"), c->ff.dim, "scale", shift);
    gra_dropout_init(&b->drop_shortcut, scope, c->drop_rate);
}

/* x + drop(y), where y is the branch's result for z. The backward does not need y, and can recompute z. */
static gra_tensor *add_branch(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x,
                              gra_tensor *z, gra_tensor *y)
{
    gra_tensor *dropped = gra_dropout_forward(t, &b->drop_shortcut, y);
    x = gra_add(t, x, dropped);
    gra_forget_if_large(z);
    gra_forget_if_large(y);
    gra_forget_if_large(dropped);
    return x;
}

gra_tensor *gra_transformer_block_forward(gra_tape *t, const struct gra_transformer_block *b, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "transformer_block", b))
        return gra_empty(t);
    gra_tensor *z = gra_layer_norm_forward(t, &b->norm1, x);        /* (batch, time, dim), as all below */
    x = add_branch(t, b, x, z, gra_multi_head_attention_forward(t, &b->att, z));
    z = gra_layer_norm_forward(t, &b->norm2, x);
    return add_branch(t, b, x, z, gra_feed_forward_forward(t, &b->ff, z));
}

gra_tensor *gra_transformer_block_forward_cached(gra_tape *t, const struct gra_transformer_block *b,
                                                 gra_tensor *x, const gra_kv_cache *cache, int block)
{
    if (!gra_given_to_forward(t, "transformer_block", b))
        return gra_empty(t);
    /* as above, for x (1, time, dim): a cache is used only in GRA_EVAL, without dropout */
    gra_tensor *y = gra_layer_norm_forward(t, &b->norm1, x);
    x = gra_add(t, x, gra_multi_head_attention_forward_cached(t, &b->att, y, cache, block));
    y = gra_layer_norm_forward(t, &b->norm2, x);
    return gra_add(t, x, gra_feed_forward_forward(t, &b->ff, y));
}
