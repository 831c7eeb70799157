/* train: learns to continue a text, byte by byte, and leaves its loss curve.
 *
 *     make train                                      on this project's own sources
 *     build/train --data shakespeare.txt --steps 5000 on a text of yours
 *     build/train --resume build/run                  goes on where that run was stopped
 *     build/train --help                              all there is to choose
 *
 * What you will learn: a training run is a loop of a few calls, and all of it stands in train() below.
 * What surrounds it (flags, text, files, the picture) is in lib/, an idea a file.
 */
#include "../layers/layers.h"
#include "lib/checkpoint.h"
#include "lib/diagnose.h"
#include "lib/evaluate.h"
#include "lib/files.h"
#include "lib/optimizer.h"
#include "lib/options.h"
#include "lib/plot.h"
#include "lib/progress.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include "lib/stop.h"
#include "lib/text.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "train";

typedef struct session {                /* all that lives as long as the program */
    options    o;
    corpus     text;
    gra_rng    rng;                     /* parameters, batches and dropout draw from it, and nothing else */
    gra_tape  *tape;
    gra_model *model;
    gra_gpt    gpt;
    optimizer  optimizer;
    int       *ids, *next;              /* (batch, context) tokens, and for each the one that follows */
    run        run;
    run_row   *rows;                    /* those that stand in loss.tsv already, when a run goes on */
    checkpoint checkpoint;
    plot       plot;
    progress   progress;
} session;

/* What follows a step: the validation that is due, the checkpoint, the row of the table. *last: it was the
 * last. A stop makes any step the last: its row then differs from what it would be, so the checkpoint comes
 * first, and a run that goes on writes the row again. */
static int record(session *s, run_row *row, bool *last)
{
    const options *o = &s->o;
    bool done = row->step == o->steps;
    row->val_loss = (double)NAN;            /* none, or a stop ended it */
    if (!done && !stop_asked() && row->step % o->eval_every == 0)
        row->val_loss = evaluate(s->tape, &s->gpt, &s->text, o, row->step, s->ids, s->next);
    bool stop = stop_asked();
    *last = done || stop;
    if (checkpoint_keep(&s->checkpoint, row, *last))
        return -1;
    if (stop && run_save(&s->run, s->model, o, &s->text.vocab, row->step))
        return -1;
    if (stop && !o->quiet)                  /* on stderr: Ctrl-C may just have ended what reads stdout */
        complain("stopping: last validation and files; Ctrl-C again ends without them");
    if (*last)
        row->val_loss = evaluate_all(s->tape, &s->gpt, &s->text, o, s->ids, s->next);
    if (gra_error(s->tape)) {
        complain("step %ld: %s", row->step, gra_error(s->tape));
        return -1;
    }
    if (*last && isnan(row->val_loss) && !stop_asked()) {
        complain("step %ld: the validation loss is no longer a number; a smaller --lr may help", row->step);
        return -1;
    }
    if (done && (checkpoint_keep(&s->checkpoint, row, false) ||     /* it may be the best */
                 (!stop && run_save(&s->run, s->model, o, &s->text.vocab, row->step))))
        return -1;
    if (run_log(&s->run, row) || progress_step(&s->progress, row))
        return -1;
    if (!*last && !isnan(row->val_loss))
        plot_draw(&s->plot);
    return 0;
}

/* The loop. How many steps were done, or -1 after a complaint. */
static long train(session *s, double *val_loss)
{
    const options *o = &s->o;
    int batch = (int)o->batch, context = (int)o->context;
    run_row row = s->checkpoint.row;        /* of the step that a run goes on after; 0: a new one */
    bool last = false;
    if (row.step > 0 && record(s, &row, &last))
        return -1;
    while (!last) {
        double begun = seconds_now();
        row.step++;
        text_batch(&s->text, &s->rng, batch, context, s->ids, s->next);
        const gra_rng before = s->rng;

        gra_begin(s->tape, GRA_TRAIN, &s->rng);                 /* forget the last step */
        gra_tensor *logits = gra_gpt_forward(s->tape, &s->gpt, s->ids, batch, context);
        gra_tensor *loss   = gra_cross_entropy(s->tape, logits, s->next);
        gra_zero_grad(s->model);
        if (gra_backward(s->tape, loss)) {
            complain("step %ld: %s", row.step, gra_error(s->tape));
            return -1;
        }
        row.train_loss = gra_item(loss);
        row.grad_norm  = gra_clip_grad_norm(s->model, o->clip);
        if (!isfinite(row.train_loss) || !isfinite(row.grad_norm)) {
            complain("step %ld: the %s is no longer a number; a smaller --lr may help", row.step,
                     isfinite(row.train_loss) ? "gradient" : "loss");
            diagnose(s->tape, s->model, &s->gpt, o, before, s->ids, s->next);
            return -1;
        }
        row.lr         = optimizer_step(&s->optimizer, row.step);

        row.tokens_per_s = (double)batch * (double)context / (seconds_now() - begun);
        if (record(s, &row, &last))
            return -1;
    }
    *val_loss = row.val_loss;
    return row.step;
}

/* What a run that goes on has behind it. */
static int take_up(session *s)
{
    checkpoint *c = &s->checkpoint;
    long rows = c->row.step > 0 ? c->row.step - 1 : 0;
    if (checkpoint_load(c))
        return -1;
    s->rows = run_rows(s->o.out, c->table, rows);
    return s->rows ? 0 : -1;
}

/* Makes the model and everything that can fail before the first file is written. */
static int prepare(session *s)
{
    const options *o = &s->o;
    if (text_read(&s->text, o->data.text, o->data.n) || text_suits(&s->text, (int)o->context) ||
        (o->resume && checkpoint_suits(&s->checkpoint)))
        return -1;
    size_t tokens = (size_t)(o->batch * o->context);
    gra_manual_seed(&s->rng, (uint64_t)o->seed);
    s->tape = gra_open((int)o->threads);
    s->model = gra_model_open(&s->rng);
    s->ids = malloc(tokens * sizeof *s->ids);
    s->next = malloc(tokens * sizeof *s->next);
    if (!s->tape || !s->model || !s->ids || !s->next) {
        complain("out of memory");
        return -1;
    }
    gra_keep_going(s->tape, true);
    gra_model_keep_going(s->model, true);
    gra_model_use(s->model, s->tape);
    gra_gpt_config config = options_model(o, s->text.vocab.size);
    gra_gpt_init(&s->gpt, gra_root(s->model), &config);
    if (gra_model_error(s->model) || optimizer_init(&s->optimizer, o, s->model)) {
        complain("%s", gra_model_error(s->model));
        return -1;
    }
    s->checkpoint.tape = s->tape;
    s->checkpoint.model = s->model;
    return o->resume ? take_up(s) : 0;
}

/* The first step but for what it moves, with a copy of the generator: what does not fit in memory is found
 * out here, before a file is written or replaced. */
static int try_step(session *s)
{
    int batch = (int)s->o.batch, context = (int)s->o.context;
    gra_rng rng = s->rng;
    text_batch(&s->text, &rng, batch, context, s->ids, s->next);
    gra_begin(s->tape, GRA_TRAIN, &rng);
    gra_tensor *logits = gra_gpt_forward(s->tape, &s->gpt, s->ids, batch, context);
    int failed = gra_backward(s->tape, gra_cross_entropy(s->tape, logits, s->next));
    if (failed)
        complain("a step does not work: %s", gra_error(s->tape));
    gra_zero_grad(s->model);
    return failed ? -1 : 0;
}

static int introduce(const session *s)
{
    const options *o = &s->o;
    char bytes[COMMAS], seen[COMMAS], held[COMMAS], values[COMMAS], from[64] = "";
    if (o->quiet)
        return 0;
    if (o->resume)
        snprintf(from, sizeof from, ", which goes on after step %ld", s->checkpoint.row.step);
    return say("text      %d file%s, %s bytes; a vocabulary of %d tokens\n"
               "          %s tokens to learn from, %s held out\n"
               "model     context %ld, width %ld, %ld layer%s of %ld head%s: %s parameters\n"
               "training  %ld steps of %ld x %ld tokens, %s at a rate of %g\n"
               "machine   %d thread%s, instruction set %s\n"
               "out       %s%s\n\n",
               s->text.files, s->text.files == 1 ? "" : "s", commas(s->text.size, bytes), s->text.vocab.size,
               commas(s->text.train, seen), commas(s->text.size - s->text.train, held),
               o->context, o->width, o->layers, o->layers == 1 ? "" : "s", o->heads, o->heads == 1 ? "" : "s",
               commas(gra_param_values(s->model), values),
               o->steps, o->batch, o->context, optimizer_kinds[o->optimizer].title, o->lr,
               gra_threads(s->tape), gra_threads(s->tape) == 1 ? "" : "s", gra_isa_name(s->tape),
               o->out, from);
}

/* Writes sample.txt, and on a terminal shows how it begins. After a stop: what is done in two seconds. */
static int write_sample(session *s)
{
    enum { LINES = 8, TEMPERATURE_PERCENT = 80, SECONDS = 2 };
    size_t n = (size_t)s->o.sample, written = 0, shown = 0;
    const vocabulary *v = &s->text.vocab;
    char *bytes = malloc(n + 1), *path = file_path(s->o.out, "sample.txt");
    gra_gpt_cache cache;
    sampler writer = { .tape = s->tape, .gpt = &s->gpt, .cache = &cache, .context = (int)s->o.context,
                        .ids = s->ids, .temperature = TEMPERATURE_PERCENT / 100.0 };
    int failed = gra_gpt_cache_open(&cache, &s->gpt) || !bytes || !path;
    gra_manual_seed(&writer.rng, (uint64_t)s->o.seed);
    sample_see(&writer, (int[]){ v->id['\n'] < 0 ? 0 : v->id['\n'] }, 1);
    const double until = seconds_now() + SECONDS;
    while (written < n && !failed && !(stop_asked() && seconds_now() >= until)) {
        int id = sample_next(&writer);
        failed = id < 0;
        bytes[written++] = failed ? 0 : (char)v->byte[id];
    }
    n = written;
    if (failed)
        complain("no sample: %s", gra_error(s->tape) ? gra_error(s->tape) : "out of memory");
    failed = failed || file_write(path, bytes, n);
    for (int lines = 0; !failed && shown < n && lines < LINES; shown++)
        lines += bytes[shown] == '\n';
    if (!failed && s->progress.live && n > 0)
        failed = say("\n") || say_bytes(bytes, shown) || (bytes[shown - 1] != '\n' && say("\n")) || say("\n");
    gra_gpt_cache_close(&cache);
    free(bytes);
    free(path);
    return failed ? -1 : 0;
}

/* The last lines: what came of it and where it is. The exit status. */
static int finish(session *s, long steps, double val_loss)
{
    char clock[24], validation[64] = "";
    const char *no_picture;
    progress_clock(progress_seconds(&s->progress), clock);
    if (progress_end(&s->progress) || write_sample(s) || run_close(&s->run))
        return 1;
    no_picture = plot_finish(&s->plot);
    if (no_picture && !s->o.quiet && say("%s; gnuplot loss.gp in %s draws it\n", no_picture, s->o.out))
        return 1;
    bool stopped = stop_asked();
    if (!isnan(val_loss))
        snprintf(validation, sizeof validation, ", validation loss %.4f", val_loss);
    if (say("%s %ld of %ld steps in %s%s, all in %s\n", stopped ? "stopped after" : "trained", steps,
            s->o.steps, clock, validation, s->o.out) ||
        (stopped && !s->o.quiet && say("--resume %s goes on\n", s->o.out)))
        return 1;
    return stopped ? 130 : 0;
}

/* The files of a new run, or those of one that goes on. What an earlier run left goes once a checkpoint
 * stands that needs none of it. */
static int begin(session *s)
{
    options *o = &s->o;
    checkpoint *c = &s->checkpoint;
    if (run_open(&s->run, o) || (!o->resume && checkpoint_keep(c, &c->row, true)) ||
        run_from(&s->run, o, &s->text.vocab, c->row.step, c->table) || plot_open(&s->plot, o->out))
        return -1;
    progress_begin(&s->progress, o, s->rows, c->row.step > 0 ? c->row.step - 1 : 0);
    return 0;
}

static int work(session *s)
{
    double val_loss;
    if (prepare(s) || run_suits(&s->o) || introduce(s) || try_step(s))
        return 1;
    stop_on_interrupt();
    if (begin(s))
        return 1;
    long steps = train(s, &val_loss);
    return steps < 0 ? 1 : finish(s, steps, val_loss);
}

static void release(session *s)
{
    plot_close(&s->plot);
    run_close(&s->run);
    checkpoint_close(&s->checkpoint);
    free(s->rows);
    gra_model_close(s->model);
    gra_close(s->tape);
    text_free(&s->text);
    free(s->ids);
    free(s->next);
    free(s->o.data.text);
}

int main(int argc, char **argv)
{
    static session s;                   /* larger than some stacks like */
    s.o = options_default();
    s.o.data.text = malloc((size_t)(argc + 1) * sizeof *s.o.data.text);
    if (!s.o.data.text) {
        complain("out of memory");
        return 1;
    }
    s.checkpoint = (checkpoint){ .o = &s.o, .text = &s.text, .optimizer = &s.optimizer, .rng = &s.rng,
                                 .run = &s.run, .best = HUGE_VAL, .row.val_loss = (double)NAN };
    int how = options_parse(&s.o, argc, argv);
    if (how == 0)
        how = s.o.resume ? checkpoint_options(&s.checkpoint, argc, argv) : options_settle(&s.o);
    int status = how ? flags_status(how) : work(&s);
    release(&s);
    return status;
}
