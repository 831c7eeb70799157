/* trained: the page of a model that train has trained, now and at each snapshot that its run kept. */
#include "trained.h"
#include "../import/import.h"
#include "../lib/files.h"
#include "../lib/run.h"
#include "../lib/say.h"
#include "look.h"
#include "model.h"
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SNAPSHOTS = 12 };                /* as many are shown at most */

typedef struct reading {
    const char *folder;
    gra_tape   *tape;
    gra_model  *model;
    struct gra_gpt gpt;
    vocabulary  vocab;
    int        *ids;
    look_model  shown;
    long        step;                   /* of the last row of loss.tsv */
} reading;

/* ---- the model and the prompt ------------------------------------------------------------------------ */

static int open_model(reading *r, int threads)
{
    char path[FILE_PATH], why[IMPORT_WHY];
    r->tape = gra_open(threads);
    r->model = gra_model_open(r->tape, NULL);
    if (!r->tape || !r->model) {
        complain("out of memory");
        return -1;
    }
    gra_keep_going(r->tape, true);
    gra_model_keep_going(r->model, true);
    if (import_gpt(&r->gpt, gra_root(r->model), file_path(path, r->folder, MODEL_FILE), 0, why)) {
        complain("cannot load %s (build/train trains a model)", why);
        return -1;
    }
    if (vocabulary_read(&r->vocab, file_path(path, r->folder, VOCAB_FILE)))
        return -1;
    if (r->vocab.size == r->gpt.config.vocab_size)
        return 0;
    complain("%s is of another model: it has %d tokens, and the model %d", path, r->vocab.size,
             r->gpt.config.vocab_size);
    return -1;
}

/* Of a long prompt the model sees the last tokens. */
static int read_prompt(reading *r, const char *prompt)
{
    const size_t n = strlen(prompt), context = (size_t)r->gpt.config.context_length;
    const size_t left_out = n > context ? n - context : 0;
    if (n < 2) {
        complain("--prompt wants two characters or more: the loss is that of predicting each from those "
                 "before it");
        return -1;
    }
    r->ids = malloc(n * sizeof *r->ids);
    if (!r->ids) {
        complain("out of memory");
        return -1;
    }
    if (vocabulary_encode(&r->vocab, prompt, n, r->ids))
        return -1;
    r->shown = (look_model){ .tape = r->tape, .gpt = &r->gpt, .vocab = &r->vocab, .ids = r->ids + left_out,
                             .n = (int)(n - left_out) };
    if (left_out)
        say("the model looks back on %zu tokens: of the prompt's %zu it sees the last\n", context, n);
    return 0;
}

/* ---- the run: its loss, and its snapshots ------------------------------------------------------------ */

/* Some 500 rows of loss.tsv, evenly spread, and those with a validation loss. A folder without the table has
 * no curve. */
static void read_curve(reading *r)
{
    char path[FILE_PATH];
    size_t size, rows = 0;
    FILE *f = fopen(file_path(path, r->folder, "loss.tsv"), "r");
    if (!f)
        return;
    fclose(f);
    char *text = file_read(path, &size);
    for (const char *c = text; c && *c; c++)
        rows += *c == '\n';
    const long every = (long)(rows / 500 + 1);
    char *line = text ? strchr(text, '\n') : NULL, *end;
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
}

static int by_size(const void *a, const void *b)
{
    const long x = *(const long *)a, y = *(const long *)b;
    return (x > y) - (x < y);
}

/* The steps of the run's snapshots in order; free them. How many. */
static size_t find_snapshots(const char *folder, long **steps)
{
    size_t n = 0, room = 0;
    DIR *dir = opendir(folder);
    *steps = NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;) {
        char name[64];
        const long step = strncmp(entry->d_name, SNAPSHOT, strlen(SNAPSHOT)) == 0
                              ? strtol(entry->d_name + strlen(SNAPSHOT), NULL, 10) : -1;
        snprintf(name, sizeof name, SNAPSHOT_FILE, step);
        if (step < 0 || strcmp(name, entry->d_name) != 0)
            continue;
        long *more = n == room ? realloc(*steps, (room = 2 * room + 16) * sizeof **steps) : *steps;
        if (!more)
            break;
        *steps = more;
        more[n++] = step;
    }
    if (dir)
        closedir(dir);
    if (n > 0)
        qsort(*steps, n, sizeof **steps, by_size);
    return n;
}

static int load(reading *r, const char *name)
{
    char path[FILE_PATH];
    if (gra_load(r->model, file_path(path, r->folder, name)) == 0)
        return 0;
    complain("cannot load %s", gra_model_error(r->model));
    return -1;
}

static int show_state(reading *r, long step)
{
    const int failed = model_state(&r->shown, step);
    if (failed)
        complain("%s", gra_error(r->tape) ? gra_error(r->tape) : "out of memory");
    return failed;
}

/* Of many snapshots some are shown, evenly spread, the first and the last among them. */
static int show_snapshots(reading *r)
{
    long *step;
    size_t n = find_snapshots(r->folder, &step);
    while (n > 0 && r->step > 0 && step[n - 1] >= r->step)      /* the finished model */
        n--;
    const size_t shown = n < SNAPSHOTS ? n : SNAPSHOTS;
    int failed = 0;
    for (size_t i = 0; i < shown && !failed; i++) {
        const long at = step[shown > 1 ? i * (n - 1) / (shown - 1) : 0];
        char name[64];
        snprintf(name, sizeof name, SNAPSHOT_FILE, at);
        failed = load(r, name) || show_state(r, at);
    }
    free(step);
    return failed || (n > 0 && load(r, MODEL_FILE)) ? -1 : 0;
}

/* ---- the page ---------------------------------------------------------------------------------------- */

static int write_page(reading *r, const char *path)
{
    char about[200];
    const gra_gpt_config *c = &r->gpt.config;
    if (model_last_state(&r->shown, r->model, r->step)) {
        complain("%s", gra_error(r->tape) ? gra_error(r->tape) : "out of memory");
        return -1;
    }
    snprintf(about, sizeof about, "A GPT of %d layers, %d heads, width %d: %zu parameters, trained for %ld "
             "steps. It read %d tokens; the loss is the mean of -log p(next).", c->n_layers, c->n_heads, c->emb_dim,
             gra_param_values(r->model), r->step, r->shown.n);
    if (look_write_with(r->tape, path, &(look_more){ .title = r->folder, .about = about, .model = model_write,
                                                    .arg = &r->shown }) == 0) {
        char loss[OUT_REAL];
        say("loss = %s\n", out_real_text(gra_node_at(r->tape, gra_node_count(r->tape) - 1)->data[0], loss));
        return 0;
    }
    complain("cannot write %s: %s", path, strerror(errno));
    return -1;
}

int trained_page(const char *folder, const char *prompt, int threads, const char *path)
{
    reading r = { .folder = folder };
    int failed = open_model(&r, threads) || read_prompt(&r, prompt);
    if (!failed)
        read_curve(&r);
    failed = failed || show_snapshots(&r) || write_page(&r, path);
    model_free(&r.shown);
    free(r.ids);
    gra_model_close(r.model);
    gra_close(r.tape);
    return failed ? -1 : 0;
}
