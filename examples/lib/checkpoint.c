/* checkpoint: see checkpoint.h. */
#include "checkpoint.h"
#include "files.h"
#include "message.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char version[] = "4";

int checkpoint_save(const training *t)
{
    char path[FILE_PATH], rng[GRA_RNG_TEXT], step[24], best[40], since[24], tokens[17];
    char *flags = options_write(&t->o);
    if (!flags)
        return -1;
    tokenizer_hash(&t->text.tokens, tokens);
    gra_rng_text(&t->rng, rng);
    snprintf(step, sizeof step, "%ld", t->step);
    snprintf(best, sizeof best, "%.17g", t->best);
    snprintf(since, sizeof since, "%ld", t->since_best);
    const gra_meta meta[] = { { "format", "pt" }, { "checkpoint", version }, { "flags", flags },
                              { "step", step }, { "best_val_loss", best }, { "since_best", since },
                              { "rng", rng }, { "text_hash", t->text.hash }, { "tokenizer_hash", tokens } };
    const int failed = gra_save_all(t->model, file_path(path, t->o.out, CHECKPOINT_FILE), meta,
                                    (int)(sizeof meta / sizeof meta[0]));
    free(flags);
    return failed ? warn("cannot write %s", gra_model_error(t->model)) : 0;
}

static int take_options(training *t, const char *path, const gra_file *f)
{
    const char *made = gra_file_meta(f, "checkpoint"), *flags = gra_file_meta(f, "flags");
    const char *step = gra_file_meta(f, "step"), *best = gra_file_meta(f, "best_val_loss");
    const char *since = gra_file_meta(f, "since_best");
    if (!made || strcmp(made, version) != 0 || !flags || !step || !best || !since)
        return warn("%s is not a checkpoint that this program can resume", path);
    t->kept = strdup(flags);
    if (!t->kept)
        return warn("out of memory");
    t->o.momentum = 0.95;               /* the momentum of older runs, which do not store it */
    if (options_read(&t->o, path, t->kept) || options_complete(&t->o))
        return -1;
    t->step = strtol(step, NULL, 10);
    t->best = strtod(best, NULL);
    t->since_best = strtol(since, NULL, 10);
    if (t->step < 0 || t->step > t->o.steps)
        return warn("%s is damaged: got step %.20s, expected 0 to %ld", path, step, t->o.steps);
    return 0;
}

int checkpoint_read_options(training *t)
{
    char path[FILE_PATH];
    if (!file_is_there(path, t->o.resume, CHECKPOINT_FILE))
        return warn("%s contains no run: there is no %s, which is written before the first step",
                    t->o.resume, CHECKPOINT_FILE);
    gra_file *f = gra_file_open(path);
    const char *why = gra_file_error(f);
    const int failed = why ? warn("cannot resume: %s", why) : take_options(t, path, f);
    gra_file_close(f);
    return failed;
}

/* Text and tokenizer must be the same as when the run began. */
static int check_text(const training *t, const gra_file *f)
{
    char ours[17];
    const char *text = gra_file_meta(f, "text_hash"), *tokens = gra_file_meta(f, "tokenizer_hash");
    tokenizer_hash(&t->text.tokens, ours);
    if (!text || strcmp(t->text.hash, text) != 0)
        return warn("the text differs from the one that the run in %s began with: give that text by --data",
                    t->o.out);
    if (!tokens || strcmp(ours, tokens) != 0)
        return warn("the tokenizer in %s differs from the one that its run began with: put %s and %s back",
                    t->o.out, VOCAB_JSON, MERGES_TXT);
    return 0;
}

int checkpoint_load(training *t)
{
    char path[FILE_PATH];
    gra_file *f = gra_file_open(file_path(path, t->o.out, CHECKPOINT_FILE));
    const char *why = gra_file_error(f), *rng = why ? NULL : gra_file_meta(f, "rng");
    int failed = why || check_text(t, f);
    if (!failed && gra_load_all(t->model, path))
        why = gra_model_error(t->model);
    if (why)
        failed = warn("cannot resume: %s", why);
    else if (!failed && (!rng || gra_rng_from_text(&t->rng, rng)))
        failed = warn("%s is damaged: 'rng' is not the state of a random generator", path);
    gra_file_close(f);
    optimizer_resume(&t->optimizer, t->step);
    return failed ? -1 : 0;
}
