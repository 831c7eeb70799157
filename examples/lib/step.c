/* step: see step.h. */
#include "step.h"
#include <math.h>

double step_backward(gra_tape *t, gra_rng *rng, forward_fn *forward, const struct gra_gpt *g, const batch *b,
                     double share)
{
    gra_begin(t, GRA_TRAIN, rng);                       /* forget the previous batch */
    gra_tensor *logits = forward(t, g, b->ids, b->rows, b->time);
    gra_tensor *loss   = gra_cross_entropy(t, logits, b->next);         /* a mean over b->tokens */
    loss = gra_scale(t, loss, share);
    return gra_backward(t, loss) ? (double)NAN : gra_item(loss);
}
