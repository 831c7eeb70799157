/* checkpoint: a run in one file, and back. */
#include "checkpoint.h"
#include "files.h"
#include "say.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- saving ------------------------------------------------------------------------------------------- */

/* Makes the names of the text's files absolute, so that the run can go on from another folder. */
static void from_root(flag_texts *files, char *room, size_t n)
{
    char here[4096];
    if (!getcwd(here, sizeof here))
        return;
    for (int i = 0; i < files->n; i++)
        if (files->text[i][0] != '/') {
            const size_t length = (size_t)snprintf(room, n, "%s/%s", here, files->text[i]) + 1;
            if (length > n)
                return;
            files->text[i] = room;
            room += length;
            n -= length;
        }
}

static int write_file(const training *t, const char *path, const char *flags)
{
    char rng[GRA_RNG_TEXT], step[24], best[40];
    gra_rng_text(&t->rng, rng);
    snprintf(step, sizeof step, "%ld", t->step);
    snprintf(best, sizeof best, "%.17g", t->best);
    const gra_meta meta[] = { { "format", "pt" }, { "checkpoint", "3" }, { "flags", flags }, { "step", step },
                              { "best_val_loss", best }, { "rng", rng }, { "text_hash", t->text.hash } };
    const int failed = gra_save_all(t->model, path, meta, (int)(sizeof meta / sizeof meta[0]));
    if (failed)
        complain("cannot write %s: %s", path, file_why(gra_model_error(t->model), path));
    return failed;
}

int checkpoint_save(const training *t)
{
    char names[16384];
    options o = t->o;
    from_root(&o.data, names, sizeof names);
    char *flags = options_write(&o), *path = file_path(t->o.out, CHECKPOINT_FILE);
    const int failed = !flags || !path || write_file(t, path, flags);
    free(flags);
    free(path);
    return failed ? -1 : 0;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static const char *meta_of(const gra_file *f, const char *path, const char *key)
{
    const char *text = gra_file_meta(f, key);
    if (!text)
        complain("%s is no checkpoint of a run: its metadata lack '%s'", path, key);
    return text;
}

static int take_options(training *t, const char *path, const gra_file *f)
{
    const char *version = meta_of(f, path, "checkpoint"), *flags = version ? meta_of(f, path, "flags") : NULL;
    const char *step = flags ? meta_of(f, path, "step") : NULL, *best = step ? meta_of(f, path, "best_val_loss") : NULL;
    if (!best)
        return -1;
    if (strcmp(version, "3") != 0) {
        complain("%s is a checkpoint of version '%.20s', and this program reads version 3", path, version);
        return -1;
    }
    t->kept = strdup(flags);
    if (!t->kept)
        complain("out of memory");
    if (!t->kept || options_read(&t->o, path, t->kept) || options_settle(&t->o))
        return -1;
    t->step = strtol(step, NULL, 10);
    t->best = strtod(best, NULL);
    if (t->step < 0 || t->step > t->o.steps) {
        complain("%s is damaged: its step %.20s is not among those of a run of %ld", path, step, t->o.steps);
        return -1;
    }
    return 0;
}

int checkpoint_read_options(training *t)
{
    gra_tape *tape = gra_open(1);
    gra_model *lender = gra_model_open(tape, NULL);     /* of the error sentence: there is no model yet */
    char *path = file_path(t->o.resume, CHECKPOINT_FILE);
    gra_file *f = NULL;
    if (lender)
        gra_model_keep_going(lender, true);
    if (path && !lender)
        complain("out of memory");
    else if (path && access(path, F_OK) != 0)
        complain("no run was begun in %s: there is no %s, which is written before the first step", t->o.resume,
                 CHECKPOINT_FILE);
    else if (path && !(f = gra_file_open(lender, path)))
        complain("cannot go on: %s: %s", path, file_why(gra_model_error(lender), path));
    const int failed = !f || take_options(t, path, f);
    gra_file_close(f);
    gra_model_close(lender);
    gra_close(tape);
    free(path);
    return failed ? -1 : 0;
}

static int take_state(training *t, const char *path, const gra_file *f)
{
    const char *rng = meta_of(f, path, "rng"), *hash = rng ? meta_of(f, path, "text_hash") : NULL;
    if (!hash)
        return -1;
    if (strcmp(t->text.hash, hash) != 0) {
        complain("the text is not the one that the run in %s began with, and it can go on with no other: its hash is "
                 "%s, and it was %.20s", t->o.out, t->text.hash, hash);
        return -1;
    }
    if (gra_rng_from_text(&t->rng, rng)) {
        complain("%s is damaged: 'rng' is no state of a random generator", path);
        return -1;
    }
    optimizer_resume(&t->optimizer, t->step);
    return 0;
}

int checkpoint_load(training *t)
{
    char *path = file_path(t->o.out, CHECKPOINT_FILE);
    gra_file *f = path ? gra_file_open(t->model, path) : NULL;
    int failed = path && (!f || gra_load_all(t->model, path));
    if (failed)
        complain("cannot go on: %s: %s", path, file_why(gra_model_error(t->model), path));
    failed = failed || !path || take_state(t, path, f);
    gra_file_close(f);
    free(path);
    return failed ? -1 : 0;
}
