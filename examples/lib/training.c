/* training: see training.h. */
#include "training.h"
#include "../import/import.h"
#include "checkpoint.h"
#include "load.h"
#include "memory.h"
#include "sample.h"
#include "message.h"
#include "step.h"
#include "utf8.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    *t = (training){ .o = options_default(), .best = HUGE_VAL, .forward = gra_gpt_forward };
    int status = options_parse(o, argc, argv);
    if (status == FLAGS_GO_ON && o->resume)
        status = checkpoint_read_options(t) ? 1 : options_parse(o, argc, argv);
    return status == FLAGS_GO_ON && options_complete(o) ? 2 : status;
}

/* With --from: the sizes of the model there, and the text with its tokenizer. */
static int read_from(training *t)
{
    char why[IMPORT_WHY];
    gra_gpt_config c;
    const tokenizer *k = &t->text.tokens;
    if (load_find(t->o.from, t->folder, t->file))
        return -1;
    if (import_config(&c, t->file, 0, why))
        return warn("cannot load %s", why);
    if (options_take_model(&t->o, &c) || text_read(&t->text, &t->o, t->folder))
        return -1;
    t->o.tokenizer = k->n_merges > 0;
    t->o.vocab = t->o.tokenizer ? k->size : 0;
    t->o.rows = k->size < c.vocab_size ? c.vocab_size : 0;
    if (tokenizer_fits(k, c.vocab_size))
        return 0;
    return warn("the vocabulary in %s does not belong to %s: it has %d tokens, the model %d", t->folder,
                t->file, k->size, c.vocab_size);
}

static int read_text(training *t)
{
    const options *o = &t->o;
    if (o->resume && t->step > 0)       /* the run's folder has its tokenizer */
        return text_read(&t->text, o, o->from || o->tokenizer ? o->resume : NULL);
    return o->from ? read_from(t) : text_read(&t->text, o, NULL);
}

/* The model, from --from or new; with --train-last the optimiser gets only some of its parameters. */
static int make_model(training *t)
{
    char why[IMPORT_WHY];
    const options *o = &t->o;
    const int rows = o->rows > t->text.tokens.size ? (int)o->rows : t->text.tokens.size;
    const gra_gpt_config config = options_model(o, rows);
    if (memory_check(o, rows))
        return -1;
    if (!o->from || o->resume)
        gra_gpt_init(&t->gpt, gra_root(t->model), &config);
    else if (import_gpt(&t->gpt, gra_root(t->model), t->file, 0, o->dropout, why))
        return warn("cannot load %s", why);
    t->gpt.config.recompute = o->recompute;
    for (int i = 0; i < gra_param_count(t->model) && o->train_last; i++) {
        gra_tensor *p = gra_param_at(t->model, i);
        long block = -1;
        sscanf(p->name, "trf_blocks.%ld.", &block);
        gra_freeze(p, block < o->layers - o->train_last && strncmp(p->name, "final_norm.", 11) != 0);
    }
    if (gra_model_error(t->model) || optimizer_init(&t->optimizer, o, t->model))
        return warn("%s", gra_model_error(t->model));
    return o->resume ? checkpoint_load(t) : 0;
}

int training_begin(training *t, int threads)
{
    const options *o = &t->o;
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
    return 0;
}

int training_open(training *t, int threads)
{
    return read_text(t) || training_begin(t, threads) || make_model(t) ? -1 : 0;
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

static int draw(training *t, int *ids, size_t n)
{
    gra_kv_cache cache = { 0 };
    const bool cached = t->forward == gra_gpt_forward;
    sampler writer = { .tape = t->tape, .gpt = &t->gpt, .tokens = t->text.tokens.size,
                       .cache = cached ? &cache : NULL,
                       .forward = t->forward, .context = (int)t->o.context, .ids = t->batch->ids,
                       .temperature = 0.8, .top_p = 1 };
    const int end = t->text.tokens.end;
    int failed = cached && gra_kv_cache_open(&cache, &t->gpt);
    gra_manual_seed(&writer.rng, (uint64_t)t->o.seed);
    sample_see(&writer, &end, 1);
    for (size_t i = 0; i < n && !failed; i++) {
        ids[i] = sample_next(&writer);
        failed = ids[i] < 0;
        if (t->o.lines && ids[i] == end)
            sample_see(&writer, &end, 1);
    }
    gra_kv_cache_close(&cache);
    return failed ? warn("no sample: %s", gra_error(t->tape) ? gra_error(t->tape) : "out of memory") : 0;
}

char *training_sample(training *t, size_t *size)
{
    const size_t n = (size_t)t->o.sample;
    int *ids = calloc(n + 1, sizeof *ids);
    if (!ids)
        return warn("out of memory"), NULL;
    char *text = draw(t, ids, n) ? NULL : tokenizer_decode(&t->text.tokens, ids, n, size);
    if (text)
        text[*size -= utf8_unfinished(text, *size)] = '\0';     /* without a character that is not complete */
    free(ids);
    return text;
}

int training_meta(const training *t, gra_meta meta[TRAINING_META], char heads[24])
{
    const gra_gpt_config *c = &t->gpt.config;
    int n = 0;
    snprintf(heads, 24, "%d", c->n_heads);
    meta[n++] = (gra_meta){ "format", "pt" };           /* what the tensors do not show: import/import.h */
    meta[n++] = (gra_meta){ "n_heads", heads };
    meta[n++] = (gra_meta){ "gelu", c->gelu == GRA_GELU_TANH ? "tanh" : "erf" };
    if (t->o.lines)
        meta[n++] = (gra_meta){ "lines", "yes" };
    if (t->o.special)
        meta[n++] = (gra_meta){ "special", "yes" };
    return n;
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

double training_backward(training *t, gra_rng *rng, long n)
{
    double loss = 0;
    gra_zero_grad(t->model);
    for (const batch *b = t->batch; b < t->batch + n && !isnan(loss); b++)
        loss += step_backward(t->tape, rng, t->forward, &t->gpt, b, (double)b->tokens / (double)t->tokens);
    return loss;
}

int training_update(training *t, run_row *row)
{
    row->grad_norm = gra_clip_grad_norm(t->model, t->o.clip);
    if (!isfinite(row->train_loss) || !isfinite(row->grad_norm))
        return training_not_finite(t, isfinite(row->train_loss) ? "gradient" : "loss");
    row->lr = optimizer_step(&t->optimizer, row->step);
    return 0;
}

bool training_ended(const training *t)
{
    return t->step >= t->o.steps || (t->o.patience > 0 && t->since_best >= t->o.patience);
}

int training_try(training *t)
{
    gra_rng rng = t->rng;
    training_draw(t, &rng);
    training_backward(t, &rng, 1);
    return gra_error(t->tape) ? warn("the first step failed: %s", gra_error(t->tape)) : 0;
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
    training_backward(t, &rng, t->o.accumulate);
    gra_trace_nan(t->tape, false);
    if (gra_error(t->tape))
        warn("it began here: %s", gra_error(t->tape));
    else
        warn("run again, all its values are finite: faulty RAM?");
}
