/* NAME: y = f(x), x (..., dim) -> (..., dim).     NAME: the formula is still the template's: write it here */
#include "layers.h"
#include "../core/op.h"                 /* gra_model_fail and gra_fail */

/* Makes the parameters, which the model registers for optimisers, clipping, saving and the gradient check. An
 * inner layer makes its own: here "linear.weight" and "linear.bias". A parameter of this layer itself:
 *     l->weight = gra_param(scope, "weight", gra_init_ones(), GRA_SHAPE(dim)); */
void gra_NAME_init(struct gra_NAME *l, gra_scope scope, int dim)
{
    *l = (struct gra_NAME){ 0 };
    if (dim < 1) {
        gra_model_fail(scope.model, "NAME: got dim %d, expected 1 or more", dim);
        return;
    }
    /* NAME: init is still the template's: write it */
    gra_linear_init(&l->linear, gra_enter(scope, "linear"), dim, dim, true);
}

/* The formula, written in ops and forwards of other layers, which provide its gradient. */
gra_tensor *gra_NAME_forward(gra_tape *t, const struct gra_NAME *l, gra_tensor *x)
{
    (void)l;
    (void)x;
    return gra_fail(t, "NAME: forward is still the template's: write it in layers/NAME.c");
}
