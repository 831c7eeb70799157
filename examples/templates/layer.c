/* NAME: y = f(x), x (..., dim) -> (..., dim).     NAME: the formula is still the template's: write it here */
#include "layers.h"
#include "../core/op.h"                 /* gra_model_fail and gra_fail */

/* Makes the parameters, of which the model then knows: optimisers, clipping, saving, the gradient check. A
 * layer within this one makes its own: here "linear.weight" and "linear.bias". One that stands alone:
 *     l->weight = gra_param(scope, "weight", gra_init_ones(), GRA_SHAPE(dim)); */
void gra_NAME_init(struct gra_NAME *l, gra_scope scope, int dim)
{
    *l = (struct gra_NAME){ 0 };
    if (dim < 1) {
        gra_model_fail(scope.model, "NAME: dim is %d, but it must be 1 or more", dim);
        return;
    }
    /* NAME: init is still the template's: write it */
    gra_linear_init(&l->linear, gra_enter(scope, "linear"), dim, dim, true);
}

/* The formula, written in ops and in the forwards of other layers: their gradients are its gradient. */
gra_tensor *gra_NAME_forward(gra_tape *t, const struct gra_NAME *l, gra_tensor *x)
{
    (void)l;
    (void)x;
    return gra_fail(t, "NAME: forward is still the template's: write it in layers/NAME.c");
}
