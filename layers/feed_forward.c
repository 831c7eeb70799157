/* FeedForward: y = gelu(x W_0^T + b_0) W_2^T + b_2: each position goes separately through a layer that is
 * usually four times as wide. */
#include "given.h"
#include "gpt.h"

void gra_feed_forward_init(struct gra_feed_forward *f, gra_scope scope, const gra_feed_forward_config *config)
{
    const gra_feed_forward_config *c = config;
    if (!gra_given_to_init(scope, "feed_forward", f))
        return;
    *f = (struct gra_feed_forward){ 0 };
    if (!c) {
        gra_model_fail(scope.model, "feed_forward: got NULL for the config, expected a "
                       "gra_feed_forward_config");
        return;
    }
    if (c->dim < 1 || c->dim > INT_MAX / 4 || c->hidden < 0) {
        gra_model_fail(scope.model, "feed_forward: got dim %d and hidden %d, expected dim from 1 to %d and "
                       "hidden 0 (for 4 dim) or more", c->dim, c->hidden, INT_MAX / 4);
        return;
    }
    const int hidden = c->hidden ? c->hidden : 4 * c->dim;
    f->gelu = c->gelu;
    gra_linear_init_with(&f->up,   gra_enter(scope, "layers.0"), c->dim, hidden, c->bias, c->up_init);
    gra_linear_init_with(&f->down, gra_enter(scope, "layers.2"), hidden, c->dim, c->bias, c->down_init);
}

gra_tensor *gra_feed_forward_forward(gra_tape *t, const struct gra_feed_forward *f, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "feed_forward", f))
        return gra_empty(t);
    gra_tensor *h = gra_linear_forward(t, &f->up, x);               /* (..., hidden) */
    h = f->gelu == GRA_GELU_TANH ? gra_gelu_tanh(t, h) : gra_gelu(t, h);
    x = gra_linear_forward(t, &f->down, h);                         /* (..., dim) */
    gra_forget_if_large(h);
    return x;
}
