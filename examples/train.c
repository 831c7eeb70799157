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
#include "lib/evaluate.h"
#include "lib/files.h"
#include "lib/plot.h"
#include "lib/progress.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include "lib/stop.h"
#include "lib/trained.h"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char program_name[] = "train";

typedef struct session {                /* all that lives as long as the program */
    training   t;
    checkpoint begun;                   /* the one that a run goes on from */
    run        run;
    run_row   *rows;                    /* those that stand in loss.tsv already, when a run goes on, */
    long       n_rows;                  /* and how many of them are complete */
    plot       plot;
    progress   progress;
    long       from;                    /* the step that this call of the program began at */
    double     saved, cost;             /* the clock after the last checkpoint, and how many seconds that took */
    const char *program;                /* argv[0] */
} session;

/* ---- training ------------------------------------------------------------------------------------------- */

/* By the clock: so seldom that all saving takes at most half a hundredth of the time. */
static bool checkpoint_is_due(const session *s)
{
    const options *o = &s->t.o;
    if (o->checkpoint_every > 0)
        return s->t.step % o->checkpoint_every == 0;
    return seconds_now() - s->saved >= 200 * s->cost;
}

static int save_checkpoint(session *s, bool best)
{
    const double begun = seconds_now();
    int failed = run_sync(&s->run) || checkpoint_save(&s->t, best);
    s->saved = seconds_now();
    s->cost = s->saved - begun;
    return failed ? -1 : 0;
}

/* What follows a step: its row, and then the checkpoint that goes with it. */
static int record(session *s, const run_row *row)
{
    const bool validated = !isnan(row->val_loss), best = row->val_loss <= s->t.best;
    if (run_log(&s->run, row) || progress_step(&s->progress, row))
        return -1;
    if (best)
        s->t.best = row->val_loss;
    if ((best || checkpoint_is_due(s)) && save_checkpoint(s, best))
        return -1;
    if (validated && row->step < s->t.o.steps)
        plot_draw(&s->plot);
    return 0;
}

/* Where the first NaN or infinity of a step came from: the step is computed once more, each number looked at.
 * rng: as it was before the step's forward; no parameter has moved since. */
static void diagnose(training *t, gra_rng rng)
{
    gra_trace_nan(t->tape, true);
    gra_begin(t->tape, GRA_TRAIN, &rng);
    gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, (int)t->o.batch, (int)t->o.context);
    gra_tensor *loss = gra_cross_entropy(t->tape, logits, t->next);
    gra_zero_grad(t->model);
    gra_backward(t->tape, loss);
    gra_trace_nan(t->tape, false);
    if (gra_error(t->tape))
        complain("it began here: %s", gra_error(t->tape));
    else
        complain("computed once more, all its numbers are finite: is the memory sound?");
}

static int no_number(const training *t, const char *what)
{
    complain("step %ld: the %s is no longer a number; a smaller --lr may help", t->step, what);
    return -1;
}

static bool validation_is_due(const training *t)
{
    return t->step > 0 && (t->step % t->o.eval_every == 0 || t->step == t->o.steps);
}

/* Estimates the validation loss where that is due; a stop leaves NaN. 0, or -1 after a complaint. */
static int validate(training *t, run_row *row)
{
    row->val_loss = (double)NAN;
    if (!validation_is_due(t))
        return 0;
    row->val_loss = evaluate(t->tape, &t->gpt, &t->text, &t->o, t->step, t->ids, t->next);
    if (gra_error(t->tape)) {
        complain("step %ld: %s", t->step, gra_error(t->tape));
        return -1;
    }
    return isnan(row->val_loss) && !stop_asked() ? no_number(t, "validation loss") : 0;
}

/* The loop, to its end or until Ctrl-C. 0, or -1 after a complaint. */
static int train(session *s)
{
    training *t = &s->t;
    const options *o = &t->o;
    int batch = (int)o->batch, context = (int)o->context;
    if (s->n_rows < t->step) {
        run_row row = s->rows[t->step - 1];
        if (validate(t, &row) || run_last_again(&s->run) || record(s, &row))
            return -1;
    }
    while (t->step < o->steps && !stop_asked()) {
        double begun = seconds_now();
        run_row row = { .step = ++t->step };
        text_batch(&t->text, &t->rng, batch, context, t->ids, t->next);
        const gra_rng before = t->rng;

        gra_begin(t->tape, GRA_TRAIN, &t->rng);                 /* forget the last step */
        gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, batch, context);
        gra_tensor *loss   = gra_cross_entropy(t->tape, logits, t->next);
        gra_zero_grad(t->model);
        if (gra_backward(t->tape, loss)) {
            complain("step %ld: %s", row.step, gra_error(t->tape));
            return -1;
        }
        row.train_loss = gra_item(loss);
        row.grad_norm  = gra_clip_grad_norm(t->model, o->clip);
        if (!isfinite(row.train_loss) || !isfinite(row.grad_norm)) {
            no_number(t, isfinite(row.train_loss) ? "gradient" : "loss");
            diagnose(t, before);
            return -1;
        }
        row.lr         = optimizer_step(&t->optimizer, row.step);

        row.tokens_per_s = (double)batch * (double)context / (seconds_now() - begun);
        if (validate(t, &row) || record(s, &row))
            return -1;
    }
    return 0;
}

/* ---- before ------------------------------------------------------------------------------------------------ */

/* Makes the model and everything that can fail before the first file is written. */
static int prepare(session *s)
{
    training *t = &s->t;
    const options *o = &t->o;
    if (text_read(&t->text, o->data.text, o->data.n) || text_suits(&t->text, (int)o->context))
        return -1;
    size_t tokens = (size_t)(o->batch * o->context);
    gra_manual_seed(&t->rng, (uint64_t)o->seed);
    t->tape = gra_open((int)o->threads);
    t->model = gra_model_open(t->tape, &t->rng);
    t->ids = malloc(tokens * sizeof *t->ids);
    t->next = malloc(tokens * sizeof *t->next);
    if (!t->tape || !t->model || !t->ids || !t->next) {
        complain("out of memory");
        return -1;
    }
    gra_keep_going(t->tape, true);
    gra_model_keep_going(t->model, true);
    gra_gpt_config config = options_model(o, t->text.vocab.size);
    gra_gpt_init(&t->gpt, gra_root(t->model), &config);
    if (gra_model_error(t->model) || optimizer_init(&t->optimizer, o, t->model)) {
        complain("%s", gra_model_error(t->model));
        return -1;
    }
    if (!o->resume)
        return 0;
    if (checkpoint_load(&s->begun, t))
        return -1;
    s->rows = run_rows(&s->run, o->out, t->step);
    if (!s->rows)
        return -1;
    s->n_rows = t->step;
    if (validation_is_due(t) && isnan(s->rows[t->step - 1].val_loss))
        s->n_rows--;                    /* a stop had ended that validation: its row is written again, with it */
    return 0;
}

/* The first step but for what it moves, with a copy of the generator: an instruction set that is not there and
 * what does not fit in memory are found out here, before anything is said or written. */
static int try_step(training *t)
{
    int batch = (int)t->o.batch, context = (int)t->o.context;
    gra_rng rng = t->rng;
    text_batch(&t->text, &rng, batch, context, t->ids, t->next);
    gra_begin(t->tape, GRA_TRAIN, &rng);
    if (gra_error(t->tape)) {
        complain("%s", gra_error(t->tape));
        return -1;
    }
    gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, batch, context);
    int failed = gra_backward(t->tape, gra_cross_entropy(t->tape, logits, t->next));
    if (failed)
        complain("a step does not work: %s", gra_error(t->tape));
    gra_zero_grad(t->model);
    return failed ? -1 : 0;
}

static bool is_done(const training *t)
{
    return t->step == t->o.steps;
}

static int introduce(const training *t)
{
    const options *o = &t->o;
    char bytes[COMMAS], seen[COMMAS], held[COMMAS], values[COMMAS], from[96] = "\n";
    if (o->quiet)
        return 0;
    if (is_done(t))
        snprintf(from, sizeof from, "\n          all %ld step%s done: nothing is left to train", o->steps,
                 o->steps == 1 ? " is" : "s are");
    else if (o->resume)
        snprintf(from, sizeof from, ", which goes on after step %ld\n", t->step);
    return say("text      %d file%s, %s bytes; a vocabulary of %d token%s\n"
               "          %s tokens to learn from, %s held out\n"
               "model     context %ld, width %ld, %ld layer%s of %ld head%s: %s parameters\n"
               "training  %ld step%s of %ld x %ld tokens, %s at a rate of %g\n"
               "machine   %d thread%s, instruction set %s\n"
               "out       %s%s\n",
               t->text.files, t->text.files == 1 ? "" : "s", commas(t->text.size, bytes), t->text.vocab.size,
               t->text.vocab.size == 1 ? "" : "s",
               commas(t->text.train, seen), commas(t->text.size - t->text.train, held),
               o->context, o->width, o->layers, o->layers == 1 ? "" : "s", o->heads, o->heads == 1 ? "" : "s",
               commas(gra_param_values(t->model), values),
               o->steps, o->steps == 1 ? "" : "s", o->batch, o->context, optimizer_kinds[o->optimizer].title, o->lr,
               gra_threads(t->tape), gra_threads(t->tape) == 1 ? "" : "s", gra_isa_name(t->tape),
               o->out, from);
}

/* The files of a new run, or those of one that goes on. What an earlier run left goes once a checkpoint
 * stands that needs none of it. */
static int begin(session *s)
{
    training *t = &s->t;
    if ((!t->o.resume && save_checkpoint(s, false)) || run_begin(&s->run, t) || plot_open(&s->plot, t->o.out))
        return -1;
    s->from = t->step;
    s->saved = seconds_now();
    progress_begin(&s->progress, &t->o, s->rows, s->n_rows);
    return 0;
}

/* ---- after ------------------------------------------------------------------------------------------------- */

/* What the model is worth: the loss over all of the held-out text. NaN: Ctrl-C ended that. */
static int result(session *s, double *val_loss)
{
    training *t = &s->t;
    *val_loss = evaluate_all(t->tape, &t->gpt, &t->text, &t->o, t->ids, t->next);
    if (gra_error(t->tape)) {
        complain("step %ld: %s", t->step, gra_error(t->tape));
        return -1;
    }
    if (isnan(*val_loss))
        return stop_asked() ? 0 : no_number(t, "validation loss");
    return run_result(&s->run, t->step, *val_loss);
}

/* Writes into bytes; how many, -1 after a complaint. After a stop: what is done in two seconds. */
static long write_sample(session *s, char *bytes, size_t n)
{
    enum { TEMPERATURE_PERCENT = 80, SECONDS = 2 };
    training *t = &s->t;
    const vocabulary *v = &t->text.vocab;
    size_t written = 0;
    gra_kv_cache cache;
    sampler writer = { .tape = t->tape, .gpt = &t->gpt, .cache = &cache, .context = (int)t->o.context,
                       .ids = t->ids, .temperature = TEMPERATURE_PERCENT / 100.0 };
    int failed = gra_kv_cache_open(&cache, &t->gpt);
    gra_manual_seed(&writer.rng, (uint64_t)t->o.seed);
    sample_see(&writer, (int[]){ v->id['\n'] < 0 ? 0 : v->id['\n'] }, 1);
    const double until = seconds_now() + SECONDS;
    while (written < n && !failed && !(stop_asked() && seconds_now() >= until)) {
        int id = sample_next(&writer);
        failed = id < 0;
        bytes[written++] = failed ? 0 : (char)v->byte[id];
    }
    gra_kv_cache_close(&cache);
    if (failed)
        complain("no sample: %s", gra_error(t->tape) ? gra_error(t->tape) : "out of memory");
    return failed ? -1 : (long)written;
}

/* The first lines of the sample, and of each what the width of a terminal holds. */
static int show_sample(const char *bytes, size_t n)
{
    enum { LINES = 8 };
    const size_t wide = (size_t)say_columns() - 2;
    if (n == 0)
        return 0;
    if (say("\nit writes:\n"))
        return -1;
    for (int line = 0; line < LINES && n > 0; line++) {
        const char *end = memchr(bytes, '\n', n);
        const size_t length = end ? (size_t)(end - bytes) : n;
        if (say("  ") || say_bytes(bytes, length < wide ? length : wide) || say("\n"))
            return -1;
        n -= length + (end != NULL);
        bytes += length + (end != NULL);
    }
    return say("\n");
}

static int sample(session *s)
{
    const size_t most = (size_t)s->t.o.sample;
    char *bytes = malloc(most + 1), *path = file_path(s->t.o.out, "sample.txt");
    if (!bytes)
        complain("out of memory");
    const long n = bytes && path ? write_sample(s, bytes, most) : -1;
    int failed = n < 0 || file_write(path, bytes, (size_t)n) ||
                 (!s->t.o.quiet && show_sample(bytes, (size_t)n));
    free(bytes);
    free(path);
    return failed ? -1 : 0;
}

/* The command that writes more: the generate beside this program, and the first word of the text as its prompt. */
static int say_next(const session *s)
{
    enum { WORD = 20 };
    const training *t = &s->t;
    const char *slash = strrchr(s->program, '/');
    const bool usual = strcmp(t->o.out, options_default().out) == 0;
    char word[WORD + 1] = "";
    int n = 0;
    for (size_t i = 0; i < t->text.size && n < WORD; i++) {
        const unsigned char byte = t->text.vocab.byte[t->text.ids[i]];
        if (byte < 0x80 && isalpha(byte))
            word[n++] = (char)byte;
        else if (n > 0)
            break;
    }
    return say("it writes more by: %.*sgenerate%s%s%s%s%s\n", slash ? (int)(slash + 1 - s->program) : 0, s->program,
               usual ? "" : " --model ", usual ? "" : t->o.out, n ? " --prompt \"" : "", word, n ? "\"" : "");
}

/* How far it came, and in what time: after --resume that of this part alone. */
static void how_far(const session *s, const char *clock, char text[120])
{
    const long step = s->t.step, steps = s->t.o.steps, now = step - s->from;
    const char *plural = now == 1 ? "" : "s";
    if (stop_asked() && s->from > 0)
        snprintf(text, 120, "stopped after %ld more step%s in %s (%ld of %ld)", now, plural, clock, step, steps);
    else if (stop_asked())
        snprintf(text, 120, "stopped after %ld of %ld steps in %s", step, steps, clock);
    else if (now == 0)
        snprintf(text, 120, "trained %ld step%s", step, step == 1 ? "" : "s");
    else
        snprintf(text, 120, "trained %ld%s step%s in %s", now, s->from > 0 ? " more" : "", plural, clock);
}

/* The last lines: what came of it, where it is, and what one can do now. The exit status. */
static int finish(session *s)
{
    const options *o = &s->t.o;
    const bool stopped = stop_asked();
    double val_loss;
    char clock[24], far[120], validation[64] = "";
    if (save_checkpoint(s, false) || trained_save(&s->t))
        return 1;
    if (stopped && !o->quiet)           /* on stderr: Ctrl-C may just have ended what reads stdout */
        complain("stopping: last validation and files; Ctrl-C again ends without them");
    if (result(s, &val_loss))
        return 1;
    progress_clock(progress_seconds(&s->progress), clock);
    if (progress_end(&s->progress) || sample(s) || run_close(&s->run))
        return 1;
    const char *no_picture = plot_finish(&s->plot);
    if (no_picture && !o->quiet &&
        say("no picture, for %s\n(gnuplot loss.gp in %s draws it)\n", no_picture, o->out))
        return 1;
    if (!isnan(val_loss))
        snprintf(validation, sizeof validation, ", validation loss %.4f", val_loss);
    how_far(s, clock, far);
    if (!stop_asked())
        return say("%s%s, all in %s\n", far, validation, o->out) || (!o->quiet && say_next(s));
    if (say("%s%s\n", far, validation) || (!o->quiet && say("all in %s; --resume %s goes on\n", o->out, o->out)))
        return 1;
    return 130;
}

/* A run that goes on remembers its options, and the command line may change those that are of one call alone. */
static int take_up(session *s, int argc, char **argv)
{
    options *o = &s->t.o;
    if (checkpoint_open(&s->begun, &s->t))
        return -1;
    o->data.n = 0;
    if (options_parse(o, argc, argv) || (o->data.n == 0 && checkpoint_files(&s->begun, &o->data)))
        return -1;
    return options_settle(o);
}

static int work(session *s)
{
    training *t = &s->t;
    if (prepare(s) || try_step(t) || run_open(&s->run, &t->o) || introduce(t))
        return 1;
    stop_on_interrupt();
    return begin(s) || train(s) ? 1 : finish(s);
}

static void release(session *s)
{
    training *t = &s->t;
    plot_close(&s->plot);
    run_close(&s->run);
    checkpoint_close(&s->begun);
    free(s->rows);
    gra_model_close(t->model);
    gra_close(t->tape);
    text_free(&t->text);
    free(t->ids);
    free(t->next);
    free(t->o.data.text);
}

int main(int argc, char **argv)
{
    static session s;                   /* larger than some stacks like */
    s.program = argc > 0 ? argv[0] : "";
    s.t = (training){ .o = options_default(), .best = HUGE_VAL };
    s.t.o.data.text = malloc((size_t)(argc + 1) * sizeof *s.t.o.data.text);
    if (!s.t.o.data.text) {
        complain("out of memory");
        return 1;
    }
    int how = options_parse(&s.t.o, argc, argv), status = 0;
    if (how == 0 && !s.t.o.resume)
        how = options_settle(&s.t.o);
    if (how)
        status = flags_status(how);
    else if (s.t.o.resume && take_up(&s, argc, argv))
        status = 1;
    else
        status = work(&s);
    release(&s);
    return status;
}
