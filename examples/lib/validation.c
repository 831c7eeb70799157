/* validation: see validation.h. */
#include "validation.h"
#include <math.h>

/* The mean loss of the first windows in t->ids; NaN: see gra_error. */
static double loss_of(training *t, int windows)
{
    gra_begin(t->tape, GRA_EVAL, NULL);
    gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, windows, (int)t->o.context);
    return gra_item(gra_cross_entropy(t->tape, logits, t->next));
}

/* A generator of its own keeps validations from changing the training. */
double validation_estimate(training *t)
{
    double sum = 0;
    gra_rng rng;
    gra_manual_seed(&rng, (uint64_t)t->o.seed * 2654435761u + (uint64_t)t->step);
    for (long i = 0; i < t->o.eval_batches && isfinite(sum); i++) {
        text_batch(t->text.held, &rng, (int)t->o.batch, (int)t->o.context, t->ids, t->next);
        sum += loss_of(t, (int)t->o.batch);
    }
    return sum / (double)t->o.eval_batches;
}

double validation_loss(training *t)
{
    const size_t context = (size_t)t->o.context, windows = (t->text.held.size - 1) / context;
    double sum = 0;
    for (size_t i = 0, n; i < windows && isfinite(sum); i += n) {
        n = windows - i < (size_t)t->o.batch ? windows - i : (size_t)t->o.batch;
        for (size_t j = 0; j < n; j++)
            text_window(t->text.held, (i + j) * context, (int)context, t->ids + j * context,
                        t->next + j * context);
        sum += loss_of(t, (int)n) * (double)n;
    }
    return sum / (double)windows;
}
