/* LayerNorm: y = (x - mean) / sqrt(var + eps) w + b, mean and biased variance over the last
 * dimension of x (..., dim); w and b (dim). */
#include "given.h"

void gra_layer_norm_init(struct gra_layer_norm *l, gra_scope scope, int dim)
{
    gra_layer_norm_init_as(l, scope, dim, "weight", "bias");
}

void gra_layer_norm_init_as(struct gra_layer_norm *l, gra_scope scope, int dim, const char *weight,
                            const char *bias)
{
    if (!gra_given_to_init(scope, "layer_norm", l))
        return;
    gra_given_size(scope.model, "layer_norm", "dim", dim);
    *l = (struct gra_layer_norm){ .eps = 1e-5 };
    l->weight = gra_param(scope, weight, gra_init_ones(), GRA_SHAPE(dim));
    if (bias)
        l->bias = gra_param(scope, bias, gra_init_zeros(), GRA_SHAPE(dim));
}

gra_tensor *gra_layer_norm_forward(gra_tape *t, const struct gra_layer_norm *l, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "layer_norm", l) ||
        GRA_BAD_INPUTS(t, "layer_norm", x, l->weight))     /* the op itself allows a NULL weight */
        return gra_empty(t);
    return gra_layer_norm(t, x, l->weight, l->bias, l->eps);
}
