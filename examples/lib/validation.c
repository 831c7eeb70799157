/* validation: see validation.h. */
#include "validation.h"
#include <math.h>

typedef struct mean {                   /* over tokens; NaN: see gra_error */
    double sum, tokens;
} mean;

/* Adds the losses of the batch. */
static void add(mean *m, training *t)
{
    const batch *b = t->batch;
    gra_begin(t->tape, GRA_EVAL, NULL);
    gra_tensor *logits = t->forward(t->tape, &t->gpt, b->ids, b->rows, b->time);
    m->sum += (double)b->tokens * gra_item(gra_cross_entropy(t->tape, logits, b->next));
    m->tokens += (double)b->tokens;
}

/* With a separate generator, validations do not change the training. */
static double estimate(training *t)
{
    mean m = { 0 };
    gra_rng rng;
    gra_manual_seed(&rng, (uint64_t)t->o.seed * 2654435761u + (uint64_t)t->step);
    for (long i = 0; i < t->o.eval_batches && isfinite(m.sum); i++) {
        text_batch(t->batch, t->text.held, &rng);
        add(&m, t);
    }
    return m.sum / m.tokens;
}

double validation_loss(training *t)
{
    mean m = { 0 };
    for (size_t i = 0; isfinite(m.sum) && text_next(t->batch, t->text.held, i); i += (size_t)t->batch->rows)
        add(&m, t);
    return m.sum / m.tokens;
}

int validation_of_step(training *t, run_row *row)
{
    row->val_loss = (double)NAN;
    if (row->step % t->o.eval_every != 0 && row->step != t->o.steps)
        return 0;
    row->val_loss = estimate(t);
    if (!isfinite(row->val_loss))
        return training_not_finite(t, "validation loss");
    t->since_best = row->val_loss <= t->best ? 0 : t->since_best + 1;
    t->best = fmin(t->best, row->val_loss);
    return 0;
}
