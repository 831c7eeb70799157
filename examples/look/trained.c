/* trained: the page of a trained model, finished and at each snapshot of its run. */
#include "trained.h"
#include "../lib/load.h"
#include "../lib/run_folder.h"
#include "../lib/message.h"
#include "look.h"
#include "look_model.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOTS = 12 };                /* shown at most */

typedef struct reading {
    loaded      loaded;
    look_model  shown;
    char       *sample;                 /* of the folder, or NULL */
    long        step;                   /* of the last row of loss.tsv; -1: the model is not a run's */
} reading;

/* ---- the prompt -------------------------------------------------------------------------------------- */

/* The model sees only the last tokens of a long prompt. */
static int show_prompt(reading *r)
{
    const loaded *l = &r->loaded;
    const size_t context = (size_t)l->gpt.config.context_length;
    const size_t left_out = l->n > context ? l->n - context : 0;
    r->shown = (look_model){ .tape = l->tape, .gpt = &l->gpt, .tokens = l->text ? &l->tokens : NULL,
                             .ids = l->ids + left_out, .n = (int)(l->n - left_out) };
    if (left_out)
        say("of the prompt's %zu tokens the model sees the last %zu, its context length\n", l->n, context);
    if (r->shown.n > 1)
        return 0;
    return warn("got 1 token, expected 2 or more: the loss is for predicting each from those before it");
}

/* ---- the run: its loss, and its snapshots ------------------------------------------------------------ */

/* Is it the finished model of a run, in a folder with loss.tsv? */
static bool is_of_a_run(const loaded *l)
{
    char path[FILE_PATH];
    const bool finished = strcmp(l->file, file_path(path, l->folder, MODEL_FILE)) == 0;
    return finished && file_is_there(path, l->folder, "loss.tsv");
}

/* Reads about 500 rows of loss.tsv, evenly spaced, and those with a validation loss. */
static int read_curve(reading *r)
{
    char path[FILE_PATH];
    size_t size, rows = 0;
    char *text = file_read(file_path(path, r->loaded.folder, "loss.tsv"), &size);
    if (!text)
        return -1;
    for (const char *c = text; *c; c++)
        rows += *c == '\n';
    const long every = (long)(rows / 500 + 1);
    char *line = strchr(text, '\n'), *end;
    for (; line && line[1]; line = strchr(line + 1, '\n')) {
        const long step = strtol(line + 1, &end, 10);
        const double train = strtod(end, &end);
        const bool has_val = end[0] == '\t' && end[1] != '\t';
        const double val = has_val ? strtod(end, NULL) : (double)NAN;
        if (step % every == 0 || has_val)
            model_loss(&r->shown, step, train, val);
        r->step = step;
    }
    free(text);
    return 0;
}

/* The beginning of what train wrote last, whole characters. */
static int read_sample(reading *r)
{
    enum { MOST = 2000 };
    char path[FILE_PATH];
    size_t n = 0;
    if (!file_is_there(path, r->loaded.folder, "sample.txt"))
        return 0;
    r->sample = file_read(path, &n);
    if (n > MOST)
        for (n = MOST; n > 0 && ((unsigned char)r->sample[n] & 0xc0) == 0x80; n--)
            ;
    r->shown.sample = r->sample;
    r->shown.sample_size = n;
    return r->sample ? 0 : -1;
}

static int load(reading *r, const char *name)
{
    char path[FILE_PATH];
    if (gra_load(r->loaded.model, file_path(path, r->loaded.folder, name)) == 0)
        return 0;
    return warn("cannot load %s", gra_model_error(r->loaded.model));
}

static bool snapshot(const reading *r, long step, char name[64])        /* name: of its file. Is it there? */
{
    char path[FILE_PATH];
    snprintf(name, 64, SNAPSHOT_FILE, step);
    return file_is_there(path, r->loaded.folder, name);
}

/* Shows at most SNAPSHOTS of those before the last step, evenly spaced, including the first and the last. */
static int show_snapshots(reading *r)
{
    char name[64];
    long n = 0, seen = 0, shown = 0;
    int failed = 0;
    for (long step = 0; step < r->step; step++)
        n += snapshot(r, step, name);
    const long most = n < SNAPSHOTS ? n : SNAPSHOTS;
    for (long step = 0; step < r->step && !failed; step++)
        if (snapshot(r, step, name) && seen++ == (most > 1 ? shown * (n - 1) / (most - 1) : 0)) {
            shown++;
            failed = load(r, name) || model_state(&r->shown, step, false);
        }
    return failed || (n > 0 && load(r, MODEL_FILE)) ? -1 : 0;
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static void write_about(const reading *r, char about[300])
{
    const gra_gpt_config *c = &r->loaded.gpt.config;
    char trained[40] = "";
    if (r->step >= 0)
        snprintf(trained, sizeof trained, ", trained for %ld steps", r->step);
    snprintf(about, 300, "A GPT of %d layers, %d heads, width %d: %zu parameters%s. It read the %d tokens "
             "below%s; the loss is the mean of -log p(next).", c->n_layers, c->n_heads, c->emb_dim,
             gra_param_values(r->loaded.model), trained, r->shown.n,
             r->shown.tokens ? "" : ", which are shown as numbers, as there is no vocabulary");
}

static int write_page(reading *r, const char *path)
{
    char about[300], title[FILE_PATH + 32], loss[OUT_REAL];
    const loaded *l = &r->loaded;
    const look_more more = { .title = title, .about = about, .model = model_json, .arg = &r->shown };
    if (model_last(&r->shown, l->model, r->step))
        return -1;
    snprintf(title, sizeof title, "one step of the model %s", r->step >= 0 ? l->folder : l->file);
    write_about(r, about);
    if (look_write_with(l->tape, path, &more))
        return warn("cannot write %s: %s", path, strerror(errno));
    say("loss = %s\n", out_real_text(r->shown.loss->data[0], loss));
    return 0;
}

int trained_page(const trained_flags *f, const char *path)
{
    reading r = { .step = -1 };
    int failed = load_open(&r.loaded, f->model, f->prompt, f->ids, f->special, (int)f->heads,
                           (int)f->threads) || show_prompt(&r);
    if (!failed && is_of_a_run(&r.loaded))
        failed = read_curve(&r) || read_sample(&r) || show_snapshots(&r);
    failed = failed || write_page(&r, path);
    model_free(&r.shown);
    free(r.sample);
    load_close(&r.loaded);
    return failed ? -1 : 0;
}
