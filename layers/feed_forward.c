/* FeedForward: y = gelu(x W_0^T + b_0) W_2^T + b_2: each position by itself, through a layer that
 * is four times as wide. */
#include "given.h"

void gra_feed_forward_init(struct gra_feed_forward *f, gra_scope scope, const gra_gpt_config *config)
{
    const gra_gpt_config *c = config;
    if (!gra_given_to_init(scope, "feed_forward", f))
        return;
    *f = (struct gra_feed_forward){ 0 };
    if (!c) {
        gra_model_fail(scope.model, "feed_forward: got NULL for the config, expected a gra_gpt_config");
        return;
    }
    const int dim = c->emb_dim;
    f->gelu = c->gelu;
    if (dim < 1 || dim > INT_MAX / 4) {
        gra_model_fail(scope.model, "feed_forward: emb_dim is %d, but 1 to %d is wanted", dim, INT_MAX / 4);
        return;
    }
    gra_linear_init_with(&f->up,   gra_enter(scope, "layers.0"), dim, 4 * dim, c->bias,
                         gra_gpt_weight_init(c, false));
    gra_linear_init_with(&f->down, gra_enter(scope, "layers.2"), 4 * dim, dim, c->bias,
                         gra_gpt_weight_init(c, true));
}

gra_tensor *gra_feed_forward_forward(gra_tape *t, const struct gra_feed_forward *f, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "feed_forward", f))
        return gra_empty(t);
    gra_tensor *h = gra_linear_forward(t, &f->up, x);               /* (..., 4 emb_dim) */
    h = f->gelu == GRA_GELU_TANH ? gra_gelu_tanh(t, h) : gra_gelu(t, h);
    return gra_linear_forward(t, &f->down, h);                      /* (..., emb_dim) */
}
