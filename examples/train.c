/* train: learns to continue a text, byte by byte, and leaves its loss curve.
 *
 *     make train                                      on this project's own sources
 *     build/train --data shakespeare.txt --steps 5000 on a text of yours
 *     build/train --resume build/run                  goes on where that run was stopped
 *     build/train --help                              all flags
 *
 * What you will learn: a training run is a loop of a few calls, and all of it stands in train() below.
 * What surrounds it (flags, text, files, the picture) is in lib/, an idea a file.
 */
#include "../layers/gpt.h"
#include "lib/begin.h"
#include "lib/checkpoint.h"
#include "lib/curve.h"
#include "lib/run.h"
#include "lib/sample.h"
#include "lib/say.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

const char *program_name = "train";

typedef struct session {                /* the state of this call of the program */
    training   t;
    run        run;
    long       from;                    /* the step that this call of the program began at */
    double     begun, saved, told;      /* the clock then, after the last checkpoint, at the last line printed */
    double     cost;                    /* seconds that saving the last checkpoint took */
    double     loss, rate, weight;      /* running means of training loss and tokens per second: see tell() */
    const char *program;                /* argv[0] */
} session;

/* ---- Ctrl-C: the first asks the program to end in good order, the second ends it --------------------- */

static volatile sig_atomic_t stop_asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

/* SA_RESETHAND gives the second one its default. SA_RESTART, so that no write is cut short and taken for a
 * failure. */
static void stop_on_interrupt(void)
{
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* ---- NaN and infinity --------------------------------------------------------------------------- */

/* Forward and backward of the batch in t->ids, with a copy of the generator; no parameter moves. 0 or -1. */
static int compute(training *t, gra_rng rng)
{
    gra_begin(t->tape, GRA_TRAIN, &rng);
    gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, (int)t->o.batch, (int)t->o.context);
    gra_tensor *loss = gra_cross_entropy(t->tape, logits, t->next);
    gra_zero_grad(t->model);
    return gra_backward(t->tape, loss);
}

/* Where the first NaN or infinity of a step came from: the step is computed once more, each number looked at.
 * rng: as it was before the step's forward. */
static void diagnose(training *t, gra_rng rng)
{
    gra_trace_nan(t->tape, true);
    compute(t, rng);
    gra_trace_nan(t->tape, false);
    if (gra_error(t->tape))
        complain("it began here: %s", gra_error(t->tape));
    else
        complain("computed once more, all numbers are finite: is the memory sound?");
}

static int no_number(const training *t, const char *what)
{
    if (gra_error(t->tape))
        complain("step %ld: %s", t->step, gra_error(t->tape));
    else
        complain("step %ld: the %s is no longer a number; a smaller --lr may help", t->step, what);
    return -1;
}

/* ---- validation: mean over windows of -log p(next token | those before it in the window) ------------- */

/* Of the first windows in t->ids; NaN: the tape has an error. */
static double loss_of(training *t, int windows)
{
    gra_begin(t->tape, GRA_EVAL, NULL);
    gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, windows, (int)t->o.context);
    return gra_item(gra_cross_entropy(t->tape, logits, t->next));
}

/* From some random batches of the held-out text. It has a generator of its own, so that the number of
 * validations does not change the training. */
static double estimate(training *t)
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

/* Over all of it, window after window. */
static double evaluate(training *t)
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

/* ---- training ---------------------------------------------------------------------------------------- */

/* From a monotonic clock. */
static double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int save_checkpoint(session *s)
{
    const double begun = seconds_now();
    const int failed = run_sync(&s->run) || checkpoint_save(&s->t);
    s->saved = seconds_now();
    s->cost = s->saved - begun;
    return failed ? -1 : 0;
}

/* Is a checkpoint due? Saving shall take at most a two-hundredth of the time. */
static bool checkpoint_is_due(const session *s)
{
    const long every = s->t.o.checkpoint_every;
    return every > 0 ? s->t.step % every == 0 : seconds_now() - s->saved >= 200 * s->cost;
}

static char *clock_text(double seconds, char text[32])
{
    const long s = (long)(seconds + 0.5);
    snprintf(text, 32, "%ld:%02ld:%02ld", s / 3600, s / 60 % 60, s % 60);
    return text;
}

/* A line at each validation, and every ten seconds between them. */
static void tell(session *s, const run_row *row)
{
    const double now = seconds_now(),
        left = (now - s->begun) / (double)(row->step - s->from) * (double)(s->t.o.steps - row->step);
    char val[24] = "", text[32];
    /* Running means over about ten steps. They begin at 0; divided by weight, the sum of the factors of all
     * steps so far, they are means from the first step on. */
    s->loss += (row->train_loss - s->loss) / 10;
    s->rate += (row->tokens_per_s - s->rate) / 10;
    s->weight += (1 - s->weight) / 10;
    if (s->t.o.quiet || (isnan(row->val_loss) && now - s->told < 10))
        return;
    if (!isnan(row->val_loss))
        snprintf(val, sizeof val, "  val %.3f", row->val_loss);
    say("step %*ld/%ld  loss %.3f%-11s  %.0f tokens/s  %s left\n", snprintf(NULL, 0, "%ld", s->t.o.steps),
        row->step, s->t.o.steps, s->loss / s->weight, val, s->rate / s->weight, clock_text(left, text));
    s->told = now;
}

/* After a step: writes its row to loss.tsv, then, where they are due, a snapshot and a checkpoint. */
static int record(session *s, const run_row *row)
{
    training *t = &s->t;
    if (run_log(&s->run, row))
        return -1;
    tell(s, row);
    if (row->val_loss <= t->best) {
        t->best = row->val_loss;
        if (run_save(t, BEST_FILE))
            return -1;
    }
    if (run_snapshot(t))
        return -1;
    return checkpoint_is_due(s) ? save_checkpoint(s) : 0;
}

/* The loop, to its end or until Ctrl-C. 0, or -1 after a complaint. */
static int train(session *s)
{
    training *t = &s->t;
    const options *o = &t->o;
    const int batch = (int)o->batch, context = (int)o->context;
    while (t->step < o->steps && !stop_asked && !say_failed()) {
        const double begun = seconds_now();
        run_row row = { .step = ++t->step, .val_loss = (double)NAN };
        text_batch(t->text.train, &t->rng, batch, context, t->ids, t->next);
        const gra_rng before = t->rng;

        gra_begin(t->tape, GRA_TRAIN, &t->rng);                 /* forget the last step */
        gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, t->ids, batch, context);
        gra_tensor *loss   = gra_cross_entropy(t->tape, logits, t->next);
        gra_zero_grad(t->model);
        if (gra_backward(t->tape, loss))
            return no_number(t, "loss");
        row.train_loss = gra_item(loss);
        row.grad_norm  = gra_clip_grad_norm(t->model, o->clip);
        if (!isfinite(row.train_loss) || !isfinite(row.grad_norm)) {
            no_number(t, isfinite(row.train_loss) ? "gradient" : "loss");
            diagnose(t, before);
            return -1;
        }
        row.lr           = optimizer_step(&t->optimizer, row.step);
        row.tokens_per_s = (double)batch * (double)context / (seconds_now() - begun);

        if (row.step % o->eval_every == 0 || row.step == o->steps) {
            row.val_loss = estimate(t);
            if (!isfinite(row.val_loss))
                return no_number(t, "validation loss");
        }
        if (record(s, &row))
            return -1;
    }
    return say_failed() ? -1 : 0;
}

/* ---- before ------------------------------------------------------------------------------------------ */

/* The text and the model: new, or those of the run that goes on. */
static int prepare(training *t)
{
    const options *o = &t->o;
    if (text_read(&t->text, o->data, (int)o->context))
        return -1;
    const size_t tokens = (size_t)(o->batch * o->context);
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
    gra_gpt_config config = options_model(o, t->text.vocab.size);
    gra_gpt_init(&t->gpt, gra_root(t->model), &config);
    if (gra_model_error(t->model) || optimizer_init(&t->optimizer, o, t->model)) {
        complain("%s", gra_model_error(t->model));
        return -1;
    }
    return o->resume ? checkpoint_load(t) : 0;
}

/* Forward and backward of the first step, without an update: a missing instruction set, or a lack of memory,
 * is found before anything is written. */
static int try_step(training *t)
{
    gra_rng rng = t->rng;
    text_batch(t->text.train, &rng, (int)t->o.batch, (int)t->o.context, t->ids, t->next);
    const int failed = compute(t, rng);
    if (failed)
        complain("a step does not work: %s", gra_error(t->tape));
    return failed;
}

static void introduce(const training *t)
{
    const options *o = &t->o;
    say("text      bytes %zu, vocabulary %d, held out for validation %zu\n"
        "model     context %ld, width %ld, heads %ld, layers %ld, parameters %zu\n"
        "training  steps %ld, batch %ld, learning rate %g\n"
        "machine   threads %d, instruction set %s\n"
        "out       %s",
        t->text.size, t->text.vocab.size, t->text.held.size, o->context, o->width, o->heads, o->layers,
        gra_param_values(t->model), o->steps, o->batch, o->lr, gra_threads(t->tape),
        gra_isa_name(t->tape), o->out);
    if (o->resume)
        say(t->step == o->steps ? ": all %ld steps are done" : ", goes on after step %ld", t->step);
    say("\n");
}

/* The files of a new run, or those of one that goes on. What an earlier run left goes once a checkpoint
 * stands that needs none of it. */
static int begin(session *s)
{
    training *t = &s->t;
    if ((!t->o.resume && save_checkpoint(s)) || run_begin(&s->run, t) || run_snapshot(t) || curve_begin(t->o.out))
        return -1;
    s->from = t->step;
    s->begun = s->saved = s->told = seconds_now();
    return 0;
}

/* ---- after ------------------------------------------------------------------------------------------- */

/* Writes n tokens into bytes. 0, or -1 after a complaint. */
static int write_sample(training *t, char *bytes, size_t n)
{
    gra_kv_cache cache;
    sampler writer = { .tape = t->tape, .gpt = &t->gpt, .cache = &cache, .context = (int)t->o.context,
                       .ids = t->ids, .temperature = 0.8 };
    int failed = gra_kv_cache_open(&cache, &t->gpt);
    gra_manual_seed(&writer.rng, (uint64_t)t->o.seed);
    sample_see(&writer, (int[]){ vocabulary_newline(&t->text.vocab) }, 1);
    for (size_t i = 0; i < n && !failed; i++) {
        const int id = sample_next(&writer);
        failed = id < 0;
        bytes[i] = failed ? 0 : (char)t->text.vocab.byte[id];
    }
    gra_kv_cache_close(&cache);
    if (failed)
        complain("no sample: %s", gra_error(t->tape) ? gra_error(t->tape) : "out of memory");
    return failed ? -1 : 0;
}

/* The first lines of the sample, and of each what 80 columns hold. */
static void show_sample(const char *bytes, size_t n)
{
    const size_t wide = SAY_COLUMNS - 2;
    say("\nit writes:\n");
    for (int line = 0; line < 8 && n > 0; line++) {
        const char *end = memchr(bytes, '\n', n);
        const size_t length = end ? (size_t)(end - bytes) : n;
        say("  ");
        say_bytes(bytes, length < wide ? length : wide);
        say("\n");
        n -= length + (end != NULL);
        bytes += length + (end != NULL);
    }
    say("\n");
}

static int sample(training *t)
{
    const size_t n = (size_t)t->o.sample;
    char *bytes = malloc(n + 1);
    if (!bytes)
        complain("out of memory");
    const int failed = !bytes || write_sample(t, bytes, n) || run_write(t, "sample.txt", bytes, n);
    if (!failed && n > 0 && !t->o.quiet)
        show_sample(bytes, n);
    free(bytes);
    return failed ? -1 : 0;
}

/* The command that writes more: the generate beside this program (gradus-generate beside gradus-train). */
static void say_next(const session *s)
{
    const char *name = say_last(s->program), *out = s->t.o.out;
    const bool usual = strcmp(out, options_default().out) == 0, prefixed = strncmp(name, "gradus-", 7) == 0;
    say("it writes more by: %.*s%sgenerate%s%s\n", (int)(name - s->program), s->program,
        prefixed ? "gradus-" : "", usual ? "" : " --model ", usual ? "" : out);
}

/* What the run leaves when it has ended or was stopped, and the last lines. The exit status. */
static int finish(session *s)
{
    training *t = &s->t;
    const options *o = &t->o;
    const bool stopped = stop_asked;
    char clock[32], result[96];
    const long now = t->step - s->from;
    clock_text(seconds_now() - s->begun, clock);
    if (save_checkpoint(s) || run_save(t, MODEL_FILE))
        return 1;
    if (stopped && !o->quiet)           /* on stderr: Ctrl-C may just have ended what reads stdout */
        complain("stopping: last validation and files; Ctrl-C again ends without them");
    const double val_loss = evaluate(t);
    if (!isfinite(val_loss))
        return no_number(t, "validation loss"), 1;
    const int n = snprintf(result, sizeof result, "step\tval_loss\n%ld\t%.9g\n", t->step, val_loss);
    if (run_write(t, "result.tsv", result, (size_t)n) || sample(t))
        return 1;
    const char *why = curve_draw(o->out);
    if (why && !o->quiet)
        say("no picture: %s\n(gnuplot loss.gp in %s draws it)\n", why, o->out);
    say("%s %ld step%s in %s", stopped ? "stopped after" : "trained", now, now == 1 ? "" : "s", clock);
    if (stopped || s->from > 0)
        say(" (%ld of %ld)", t->step, o->steps);
    say(", validation loss %.4f\n", val_loss);
    if (stopped)
        say("it goes on by: %s --resume %s\n", s->program, o->out);
    else if (!o->quiet)
        say_next(s);
    return say_failed() ? 1 : stop_asked ? 130 : 0;
}

static int work(session *s)
{
    training *t = &s->t;
    if (prepare(t) || try_step(t) || run_open(&s->run, t))
        return 1;
    if (!t->o.quiet)
        introduce(t);
    if (say_failed())
        return 1;
    stop_on_interrupt();
    return begin(s) || train(s) ? 1 : finish(s);
}

static void release(session *s)
{
    training *t = &s->t;
    run_close(&s->run);
    gra_model_close(t->model);
    gra_close(t->tape);
    text_free(&t->text);
    free(t->ids);
    free(t->next);
    free(t->kept);
}

/* The flags: those of the checkpoint, if the run goes on, and over them those of the command line. */
static int read_flags(training *t, int argc, char **argv)
{
    options *o = &t->o;
    int status = options_parse(o, argc, argv);
    if (status == FLAGS_GO_ON && o->resume)
        status = checkpoint_read_options(t) ? 1 : options_parse(o, argc, argv);
    return status == FLAGS_GO_ON && options_complete(o) ? 2 : status;
}

int main(int argc, char **argv)
{
    static session s;                   /* larger than some stacks like */
    begin_program();
    s.program = argc > 0 ? argv[0] : program_name;
    program_name = say_last(s.program);
    s.t = (training){ .o = options_default(), .best = HUGE_VAL };
    int status = read_flags(&s.t, argc, argv);
    if (status == FLAGS_GO_ON)
        status = work(&s);
    release(&s);
    return status;
}
