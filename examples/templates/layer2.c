/* NAME: y = f(x, h), x (..., dim), h (..., hidden) -> (..., hidden): a cell of a recurrent network.
 *                                         NAME: the formula is still the template's: write it here */
#include "given.h"                      /* layers.h, core/op.h, checks of arguments */

/* Makes the parameters, which the model registers for optimisers, clipping, saving and the gradient check. An
 * inner layer makes further parameters: here "input.weight", "input.bias" and "state.weight". A parameter of
 * this layer itself:
 *     l->scale = gra_param(scope, "scale", gra_init_ones(), GRA_SHAPE(hidden)); */
void gra_NAME_init(struct gra_NAME *l, gra_scope scope, int dim, int hidden)
{
    if (!gra_given_to_init(scope, "NAME", l))
        return;
    *l = (struct gra_NAME){ 0 };
    if (!gra_given_size(scope.model, "NAME", "dim", dim) ||
        !gra_given_size(scope.model, "NAME", "hidden", hidden))
        return;
    /* NAME: init is still the template's: write it */
    gra_linear_init(&l->input, gra_enter(scope, "input"), dim, hidden, true);
    gra_linear_init(&l->state, gra_enter(scope, "state"), hidden, hidden, false);
}

/* The formula, written in ops and forwards of other layers, which provide its gradients. Elman's cell (1990):
 *     gra_tensor *z = gra_add(t, gra_linear_forward(t, &l->input, x), gra_linear_forward(t, &l->state, h));
 *     return gra_tanh(t, z);
 * Whoever uses a cell calls it once for each step of x (batch, time, dim), with h from the step before:
 *     gra_tensor *h = gra_zeros(t, GRA_SHAPE(batch, hidden));
 *     for (int i = 0; i < time; i++)
 *         h = gra_NAME_forward(t, l, gra_squeeze(t, gra_slice(t, x, 1, i, i + 1), 1), h); */
gra_tensor *gra_NAME_forward(gra_tape *t, const struct gra_NAME *l, gra_tensor *x, gra_tensor *h)
{
    if (!gra_given_to_forward(t, "NAME", l))
        return gra_empty(t);
    (void)x;
    (void)h;
    return gra_fail(t, "NAME: forward is still the template's: write it in layers/NAME.c");
}
