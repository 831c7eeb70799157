/* training: see training.h. */
#include "training.h"
#include "checkpoint.h"
#include "say.h"
#include <math.h>
#include <stdlib.h>

int open_model(gra_tape **t, gra_model **m, gra_rng *rng, int threads)
{
    *t = gra_open(threads);
    *m = gra_model_open(*t, rng);
    if (!*t || !*m)
        return warn("out of memory");
    gra_keep_going(*t, true);
    return 0;
}

int training_flags(training *t, int argc, char **argv)
{
    options *o = &t->o;
    *t = (training){ .o = options_default(), .best = HUGE_VAL };
    int status = options_parse(o, argc, argv);
    if (status == FLAGS_GO_ON && o->resume)
        status = checkpoint_read_options(t) ? 1 : options_parse(o, argc, argv);
    return status == FLAGS_GO_ON && options_complete(o) ? 2 : status;
}

int training_open(training *t, int threads)
{
    const options *o = &t->o;
    const bool begun = o->resume && t->step > 0;        /* then the run has its tokenizer */
    if (text_read(&t->text, o, begun && o->tokenizer ? o->resume : NULL))
        return -1;
    gra_manual_seed(&t->rng, (uint64_t)o->seed);
    if (open_model(&t->tape, &t->model, &t->rng, threads))
        return -1;
    if (gra_products(t->tape, (gra_number)o->products))
        return warn("--products bf16: %s", gra_error(t->tape));
    t->batch = calloc((size_t)o->accumulate, sizeof *t->batch);
    if (!t->batch)
        return warn("out of memory");
    for (long i = 0; i < o->accumulate; i++)
        if (batch_open(&t->batch[i], (int)o->batch, (int)o->context))
            return -1;
    const gra_gpt_config config = options_model(o, t->text.tokens.size);
    gra_gpt_init(&t->gpt, gra_root(t->model), &config);
    if (gra_model_error(t->model) || optimizer_init(&t->optimizer, o, t->model))
        return warn("%s", gra_model_error(t->model));
    return o->resume ? checkpoint_load(t) : 0;
}

void training_close(training *t)
{
    gra_model_close(t->model);
    gra_close(t->tape);
    text_free(&t->text);
    for (long i = 0; t->batch && i < t->o.accumulate; i++)
        batch_close(&t->batch[i]);
    free(t->batch);
    free(t->kept);
}

/* ---- a step outside the loop ------------------------------------------------------------------------- */

void training_draw(training *t, gra_rng *rng)
{
    t->tokens = 0;
    for (long i = 0; i < t->o.accumulate; i++) {
        text_batch(&t->batch[i], t->text.train, rng);
        t->tokens += t->batch[i].tokens;
    }
}

/* Forward and backward of the step's first n batches, with a copy of the generator and no update. 0 or -1. */
static int compute(training *t, gra_rng rng, long n)
{
    gra_zero_grad(t->model);
    for (const batch *b = t->batch; b < t->batch + n; b++) {
        gra_begin(t->tape, GRA_TRAIN, &rng);
        gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, b->ids, b->rows, b->time);
        gra_tensor *loss = gra_cross_entropy(t->tape, logits, b->next);
        if (gra_backward(t->tape, gra_scale(t->tape, loss, (double)b->tokens / (double)t->tokens)))
            return -1;
    }
    return 0;
}

int training_try(training *t)
{
    gra_rng rng = t->rng;
    training_draw(t, &rng);
    return compute(t, rng, 1) ? warn("the first step failed: %s", gra_error(t->tape)) : 0;
}

int training_not_finite(const training *t, const char *what)
{
    if (gra_error(t->tape))
        return warn("step %ld: %s", t->step, gra_error(t->tape));
    return warn("step %ld: the %s is no longer finite; a smaller --lr may help", t->step, what);
}

void training_trace_nan(training *t, gra_rng rng)
{
    gra_trace_nan(t->tape, true);
    compute(t, rng, t->o.accumulate);
    gra_trace_nan(t->tape, false);
    if (gra_error(t->tape))
        warn("it began here: %s", gra_error(t->tape));
    else
        warn("run again, all its values are finite: faulty RAM?");
}
