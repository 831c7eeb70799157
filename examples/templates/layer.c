/* NAME: y = f(x), x (..., dim) -> (..., dim).     NAME: the formula is still the template's: write it here */
#include "given.h"                      /* layers.h, core/op.h, checks of arguments */

/* Makes the parameters, which the model registers for optimisers, clipping, saving and the gradient check. An
 * inner layer makes its own: here "linear.weight" and "linear.bias". A parameter of this layer itself:
 *     l->weight = gra_param(scope, "weight", gra_init_ones(), GRA_SHAPE(dim)); */
void gra_NAME_init(struct gra_NAME *l, gra_scope scope, int dim)
{
    if (!gra_given_to_init(scope, "NAME", l))
        return;
    *l = (struct gra_NAME){ 0 };
    if (!gra_given_size(scope.model, "NAME", "dim", dim))
        return;
    /* NAME: init is still the template's: write it */
    gra_linear_init(&l->linear, gra_enter(scope, "linear"), dim, dim, true);
}

/* The formula, written in ops and forwards of other layers, which provide its gradient. */
gra_tensor *gra_NAME_forward(gra_tape *t, const struct gra_NAME *l, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "NAME", l))
        return gra_empty(t);
    (void)x;
    return gra_fail(t, "NAME: forward is still the template's: write it in layers/NAME.c");
}
