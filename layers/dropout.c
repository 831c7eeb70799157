/* Dropout: in GRA_TRAIN y = 0 with probability p, else x / (1 - p); in the other modes y = x. */
#include "given.h"

void gra_dropout_init(struct gra_dropout *l, gra_scope scope, double p)
{
    if (!gra_given_to_init(scope, "dropout", l))
        return;
    if (!(p >= 0 && p <= 1))
        gra_model_fail(scope.model, "dropout: got p %g, expected a probability, 0 <= p <= 1", p);
    l->p = p;
}

gra_tensor *gra_dropout_forward(gra_tape *t, const struct gra_dropout *l, gra_tensor *x)
{
    if (!gra_given_to_forward(t, "dropout", l))
        return gra_empty(t);
    return gra_dropout(t, x, l->p);
}
