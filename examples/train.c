/* train: learns to continue a text, token by token, and writes its loss curve.
 *
 *     make train                                      on this project's own sources
 *     build/train --data shakespeare.txt --steps 5000 on your own text
 *     build/train --resume build/run                  continues a run that was stopped
 *     build/train --help                              all flags
 *
 * What you will learn: a training run is a loop of a few calls, and all of it is in train() below.
 * Everything around it (flags, text, validation, files, the picture) is in lib/, one idea per file.
 */
#include "../core/base/system.h"
#include "lib/begin.h"
#include "lib/checkpoint.h"
#include "lib/clock.h"
#include "lib/curve.h"
#include "lib/progress.h"
#include "lib/message.h"
#include "lib/validation.h"
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

const char *program_name = "train";

typedef struct session {
    training t;
    run      run;
    progress progress;
    double   saved, cost;               /* when the last checkpoint was written; the seconds it took */
} session;

/* ---- Ctrl-C: the first ends the run in good order, the second ends it at once ------------------------ */

static volatile sig_atomic_t stop_asked;

static void on_interrupt(int signal_number)
{
    (void)signal_number;
    stop_asked = 1;
}

/* SA_RESETHAND gives the second Ctrl-C its default action. SA_RESTART keeps writes from being interrupted,
 * which would look like a failure. */
static void stop_on_interrupt(void)
{
    struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND | SA_RESTART };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
}

/* ---- training ---------------------------------------------------------------------------------------- */

static int save_checkpoint(session *s)
{
    const double begun = seconds_now();
    const int failed = run_sync(&s->run) || checkpoint_save(&s->t);
    s->saved = seconds_now();
    s->cost = s->saved - begun;
    return failed ? -1 : 0;
}

/* Is a checkpoint due? Saving should take at most a two-hundredth of the time. */
static bool checkpoint_is_due(const session *s)
{
    const long every = s->t.o.checkpoint_every;
    return every > 0 ? s->t.step % every == 0 : seconds_now() - s->saved >= 200 * s->cost;
}

/* After a step: its row in loss.tsv and, when they are due, the printed line, a snapshot and a checkpoint. */
static int record(session *s, const run_row *row)
{
    training *t = &s->t;
    if (run_log(&s->run, row))
        return -1;
    progress_print(&s->progress, t, row);
    if ((!isnan(row->val_loss) && t->since_best == 0 && run_save(t, BEST_FILE)) || run_snapshot(t))
        return -1;
    return checkpoint_is_due(s) ? save_checkpoint(s) : 0;
}

/* The loop, to its end or until Ctrl-C. 0, or -1 after a warning. */
static int train(session *s)
{
    training *t = &s->t;
    const options *o = &t->o;
    while (!training_ended(t) && !stop_asked && !say_failed()) {
        const double begun = seconds_now();
        run_row row = { .step = ++t->step };
        training_draw(t, &t->rng);
        const gra_rng before = t->rng;                          /* repeats this step, to trace a NaN */

        gra_zero_grad(t->model);
        for (const batch *b = t->batch; b < t->batch + o->accumulate; b++) {    /* usually only one */
            gra_begin(t->tape, GRA_TRAIN, &t->rng);             /* forget the previous batch */
            gra_tensor *logits = gra_gpt_forward(t->tape, &t->gpt, b->ids, b->rows, b->time);
            gra_tensor *loss   = gra_cross_entropy(t->tape, logits, b->next);   /* a mean over b->tokens */
            loss = gra_scale(t->tape, loss, (double)b->tokens / (double)t->tokens);
            if (gra_backward(t->tape, loss))
                return training_not_finite(t, "loss");          /* reports the tape's error first */
            row.train_loss += gra_item(loss);
        }
        row.grad_norm = gra_clip_grad_norm(t->model, o->clip);
        if (!isfinite(row.train_loss) || !isfinite(row.grad_norm)) {
            training_not_finite(t, isfinite(row.train_loss) ? "gradient" : "loss");
            training_trace_nan(t, before);
            return -1;
        }
        row.lr           = optimizer_step(&t->optimizer, row.step);
        row.tokens_per_s = (double)t->tokens / (seconds_now() - begun);

        if (validation_of_step(t, &row) || record(s, &row))
            return -1;
    }
    return say_failed() ? -1 : 0;
}

/* ---- before ------------------------------------------------------------------------------------------ */

static void introduce(const training *t)
{
    const options *o = &t->o;
    say("text      bytes %zu, ", t->text.bytes);
    if (o->tokenizer)
        say("tokens %zu, ", t->text.size);
    say("vocabulary %d, held out for validation %zu\n", t->text.tokens.size, t->text.held.size);
    if (t->text.returns)
        say("          carriage returns (Windows ends lines with \\r\\n), which are learned as they are\n");
    if (o->lines)
        say("lines     %zu, held out %zu, longer than the context and cut %zu\n", t->text.train.lines +
            t->text.held.lines, t->text.held.lines, text_cut(t->text.train, o->context) +
            text_cut(t->text.held, o->context));
    say("model     context %ld, width %ld, heads %ld, layers %ld, parameters %zu\n"
        "training  steps %ld, batch %ld",
        o->context, o->width, o->heads, o->layers, gra_param_values(t->model), o->steps, o->batch);
    if (o->accumulate > 1)
        say(" times %ld", o->accumulate);
    say(", learning rate %g\n"
        "machine   threads %d, instruction set %s\n"
        "out       %s", o->lr, gra_threads(t->tape), gra_isa_name(t->tape), o->out);
    if (o->resume)
        say(t->step == o->steps ? ": all %ld steps are done" : ", resumed after step %ld", t->step);
    say("\n");
}

/* The files of a new run, or of a resumed run. The files of an earlier run are removed only when the new
 * run's first checkpoint is written. */
static int begin(session *s)
{
    training *t = &s->t;
    if (!t->o.resume && save_checkpoint(s))
        return -1;
    if (run_begin(&s->run, t) || run_snapshot(t) || curve_begin(t->o.out, text_bits(&t->text, 1)))
        return -1;
    progress_begin(&s->progress, t);
    s->saved = s->progress.begun;
    return 0;
}

/* ---- after ------------------------------------------------------------------------------------------- */

/* Prints the first lines of the sample, each cut to 80 columns. */
static void show_sample(const char *bytes, size_t n)
{
    const size_t wide = SAY_COLUMNS - 2;
    say("\nsample:\n");
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
    size_t size = 0;
    char *text = training_sample(t, &size);
    const int failed = !text || run_write(t, "sample.txt", text, size);
    if (!failed && t->o.sample > 0 && !t->o.quiet)
        show_sample(text, size);
    free(text);
    return failed ? -1 : 0;
}

/* Prints the command that writes more text: generate, beside this program (gradus-generate if installed). */
static void say_next(const char *program, const options *o)
{
    const char *name = say_last(program), *out = o->out;
    const bool usual = strcmp(out, options_default().out) == 0, prefixed = strncmp(name, "gradus-", 7) == 0;
    say("to write more: %.*s%sgenerate%s%s%s\n", (int)(name - program), program,
        prefixed ? "gradus-" : "", usual ? "" : " --model ", usual ? "" : out, o->lines ? " --count 20" : "");
}

/* Writes the last files and lines of a run that has ended or was stopped. Returns the exit status. */
static int finish(session *s, const char *program)
{
    training *t = &s->t;
    const options *o = &t->o;
    const bool stopped = stop_asked;
    char clock[32], result[96];
    const long now = t->step - s->progress.first;
    progress_time(seconds_now() - s->progress.begun, clock);
    if (save_checkpoint(s) || run_save(t, MODEL_FILE))
        return 1;
    if (stopped && !o->quiet)           /* on stderr: Ctrl-C may just have ended what reads stdout */
        warn("stopping: the last validation and files follow; Ctrl-C again skips them");
    const double val_loss = validation_loss(t);
    if (!isfinite(val_loss))
        return training_not_finite(t, "validation loss"), 1;
    const double bits = text_bits(&t->text, val_loss);
    const int n = snprintf(result, sizeof result, "step\tval_loss\tval_bits_per_byte\n%ld\t%.9g\t%.9g\n",
                           t->step, val_loss, bits);
    if (run_write(t, "result.tsv", result, (size_t)n) || sample(t))
        return 1;
    const char *why = curve_draw(o->out, text_bits(&t->text, 1));
    if (why && !o->quiet)
        say("no picture: %s\n(gnuplot loss.gp in %s draws it)\n", why, o->out);
    say("%s %ld step%s in %s", stopped ? "stopped after" : "trained", now, now == 1 ? "" : "s", clock);
    if (t->step < o->steps || s->progress.first > 0)
        say(" (%ld of %ld%s)", t->step, o->steps,
            o->patience > 0 && t->since_best >= o->patience ? ", out of patience" : "");
    say(", validation loss %.4f, %.3f bits per byte\n", val_loss, bits);
    if (stopped)
        say("to resume: %s --resume %s\n", program, o->out);
    else if (!o->quiet)
        say_next(program, o);
    return say_failed() ? 1 : stop_asked ? 130 : 0;
}

static int work(session *s, const char *program)
{
    training *t = &s->t;
    if (training_open(t, (int)t->o.threads) || training_try(t) || run_open(&s->run, t))
        return 1;
    if (!t->o.quiet)
        introduce(t);
    if (say_failed())
        return 1;
    stop_on_interrupt();
    return begin(s) || train(s) ? 1 : finish(s, program);
}

int main(int argc, char **argv)
{
    static session s;                   /* too large for some stacks */
    begin_program(argv);
    const char *program = argc > 0 ? argv[0] : program_name;
    program_name = say_last(program);
    int status = training_flags(&s.t, argc, argv);
    if (status == FLAGS_GO_ON)
        status = work(&s, program);
    run_close(&s.run);
    training_close(&s.t);
    return status;
}
