/* evaluate: mean over windows of -log p(next token | those before it in the window). */
#include "evaluate.h"
#include "stop.h"
#include <math.h>

static double loss_of(gra_tape *t, const struct gra_gpt *gpt, int batch, int context, const int *ids,
                      const int *next)
{
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *logits = gra_gpt_forward(t, gpt, ids, batch, context);
    return gra_item(gra_cross_entropy(t, logits, next));
}

/* A generator of its own: how often one looks at the loss does not change what is trained. */
static gra_rng generator(long seed, long step)
{
    gra_rng rng;
    gra_manual_seed(&rng, (uint64_t)seed * 2654435761u + (uint64_t)step);
    return rng;
}

double evaluate(gra_tape *t, const struct gra_gpt *gpt, const corpus *x, const options *o, long step, int *ids,
                int *next)
{
    double sum = 0;
    gra_rng rng = generator(o->seed, step);
    for (long i = 0; i < o->eval_batches && !gra_error(t); i++) {
        if (stop_asked())
            return (double)NAN;
        text_held_batch(x, &rng, (int)o->batch, (int)o->context, ids, next);
        sum += loss_of(t, gpt, (int)o->batch, (int)o->context, ids, next);
    }
    return sum / (double)o->eval_batches;
}

double evaluate_all(gra_tape *t, const struct gra_gpt *gpt, const corpus *x, const options *o, int *ids, int *next)
{
    double sum = 0;
    const bool before = stop_asked();   /* then this is the last validation, which is to be */
    size_t windows = text_windows(x, (int)o->context);
    for (size_t i = 0, n; i < windows && !gra_error(t); i += n) {
        if (!before && stop_asked())
            return (double)NAN;
        n = windows - i < (size_t)o->batch ? windows - i : (size_t)o->batch;
        for (size_t j = 0; j < n; j++)
            text_window(x, i + j, (int)o->context, ids + j * (size_t)o->context,
                        next + j * (size_t)o->context);
        sum += loss_of(t, gpt, (int)n, (int)o->context, ids, next) * (double)n;
    }
    return sum / (double)windows;
}
