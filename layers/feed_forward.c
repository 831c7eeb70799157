/* FeedForward: y = gelu(x W_0^T + b_0) W_2^T + b_2: each position by itself, through a layer that
 * is four times as wide. */
#include "layers.h"
#include "../core/op.h"

void gra_feed_forward_init(struct gra_feed_forward *f, gra_scope scope, int emb_dim, gra_gelu_form gelu)
{
    gra_feed_forward_init_with(f, scope, emb_dim, gelu, &(gra_projections){ .bias = true });
}

void gra_feed_forward_init_with(struct gra_feed_forward *f, gra_scope scope, int emb_dim, gra_gelu_form gelu,
                                const gra_projections *how)
{
    *f = (struct gra_feed_forward){ .gelu = gelu };
    if (emb_dim < 1 || emb_dim > INT_MAX / 4) {
        gra_model_fail(scope.model, "feed_forward: emb_dim is %d, but 1 to %d is wanted", emb_dim,
                       INT_MAX / 4);
        return;
    }
    gra_linear_init_with(&f->up,   gra_enter(scope, "layers.0"), emb_dim, 4 * emb_dim, how->bias, how->read);
    gra_linear_init_with(&f->down, gra_enter(scope, "layers.2"), 4 * emb_dim, emb_dim, how->bias, how->write);
}

gra_tensor *gra_feed_forward_forward(gra_tape *t, const struct gra_feed_forward *f, gra_tensor *x)
{
    gra_tensor *h = gra_linear_forward(t, &f->up, x);               /* (..., 4 emb_dim) */
    h = f->gelu == GRA_GELU_TANH ? gra_gelu_tanh(t, h) : gra_gelu(t, h);
    return gra_linear_forward(t, &f->down, h);                      /* (..., emb_dim) */
}
