/* diagnose: the step again, each number looked at. */
#include "diagnose.h"
#include "say.h"

void diagnose(gra_tape *t, gra_model *m, const gra_gpt *gpt, const options *o, gra_rng rng, const int *ids,
              const int *next)
{
    gra_trace_nan(t, true);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *logits = gra_gpt_forward(t, gpt, ids, (int)o->batch, (int)o->context);
    gra_tensor *loss = gra_cross_entropy(t, logits, next);
    gra_zero_grad(m);
    gra_backward(t, loss);
    gra_trace_nan(t, false);
    if (gra_error(t))
        complain("it began here: %s", gra_error(t));
    else
        complain("computed once more, all its numbers are finite: is the memory sound?");
}
