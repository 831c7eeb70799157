/* Linear: y = x W^T + b, x (..., in_features), W (out_features, in_features), b (out_features).
 *
 * PyTorch draws W and then b from U(-k, k), k = 1/sqrt(in_features). */
#include "given.h"

void gra_linear_init(struct gra_linear *l, gra_scope scope, int in_features, int out_features, bool bias)
{
    gra_linear_init_with(l, scope, in_features, out_features, bias, (gra_init){ 0 });
}

void gra_linear_init_with(struct gra_linear *l, gra_scope scope, int in_features, int out_features, bool bias,
                          gra_init weight)
{
    if (!gra_given_to_init(scope, "linear", l))
        return;
    gra_given_size(scope.model, "linear", "in_features", in_features);
    gra_given_size(scope.model, "linear", "out_features", out_features);
    gra_init torch = gra_init_linear(in_features);
    *l = (struct gra_linear){ 0 };
    l->weight = gra_param(scope, "weight", weight.fill ? weight : torch,
                          GRA_SHAPE(out_features, in_features));
    if (bias)
        l->bias = gra_param(scope, "bias", weight.fill ? gra_init_zeros() : torch, GRA_SHAPE(out_features));
}

gra_tensor *gra_linear_forward(gra_tape *t, const struct gra_linear *l, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "linear", l))
        return gra_empty(t);
    return gra_linear(t, x, l->weight, l->bias);
}
