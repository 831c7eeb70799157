/* RMSNorm: y = x / sqrt(mean x^2 + eps) w, the mean over the last dimension of x (..., dim); w (dim). */
#include "given.h"

void gra_rms_norm_init(struct gra_rms_norm *l, gra_scope scope, int dim)
{
    if (!gra_given_to_init(scope, "rms_norm", l))
        return;
    gra_given_size(scope.model, "rms_norm", "dim", dim);
    *l = (struct gra_rms_norm){ .eps = 1e-6 };
    l->weight = gra_param(scope, "weight", gra_init_ones(), GRA_SHAPE(dim));
}

gra_tensor *gra_rms_norm_forward(gra_tape *t, const struct gra_rms_norm *l, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "rms_norm", l) ||
        GRA_BAD_INPUTS(t, "rms_norm", x, l->weight))       /* the op itself allows a NULL weight */
        return gra_empty(t);
    return gra_rms_norm(t, x, l->weight, l->eps);
}
