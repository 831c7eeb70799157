/* checkpoint: a run in one file, and back.
 *
 * metadata:  format "pt"    checkpoint "2"    state "context\t64\n..."
 *
 * The state is a table of settings, and as strict. The file is whole or not there (gra_write_file). */
#include "checkpoint.h"
#include "../../core/op.h"
#include "files.h"
#include "run.h"
#include "say.h"
#include "settings.h"
#include "trained.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char version[] = "2";

static int state_table(checkpoint *c, training *t, flag table[SETTINGS_MOST])
{
    const flag more[] = {
        { .name = "step", .kind = FLAG_INT, .value = &t->step, .low = 0, .high = 1e9 },
        { .name = "best_val_loss", .kind = FLAG_REAL, .value = &t->best, .low = -DBL_MAX, .high = HUGE_VAL },
        { .name = "adamw_steps", .kind = FLAG_INT, .value = &c->adamw_steps[0], .low = 0, .high = 1e9 },
        { .name = "adamw_steps_2", .kind = FLAG_INT, .value = &c->adamw_steps[1], .low = 0, .high = 1e9 },
        { .name = "vocab_size", .kind = FLAG_INT, .value = &c->vocab_size, .low = 1, .high = 256 },
        { .name = "rng", .kind = FLAG_TEXT, .value = &c->rng },
        { .name = "text_hash", .kind = FLAG_TEXT, .value = &c->text_hash },
        { .name = "text_files", .kind = FLAG_TEXT, .value = &c->files },
        { .name = "instruction_set", .kind = FLAG_TEXT, .value = &c->isa },
    };
    int n = options_settings(&t->o, FLAG_FREE, table);
    memcpy(table + n, more, sizeof more);
    return n + (int)(sizeof more / sizeof more[0]);
}

/* ---- the names of the text's files, which may hold any byte, in hexadecimal ---------------------------- */

static char *put_hex(char *to, const char *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%02x", (unsigned char)bytes[i]);
    return to;
}

/* From the root on, each with its 0. To free; NULL: out of memory. */
static char *names_text(const flag_texts *files)
{
    char here[4096];
    const char *prefix = getcwd(here, sizeof here - 1) ? strcat(here, "/") : "";
    size_t room = 1;
    for (int i = 0; i < files->n; i++)
        room += 2 * (strlen(prefix) + strlen(files->text[i]) + 1);
    char *text = malloc(room), *end = text;
    for (int i = 0; text && i < files->n; i++) {
        if (files->text[i][0] != '/')
            end = put_hex(end, prefix, strlen(prefix));
        end = put_hex(end, files->text[i], strlen(files->text[i]) + 1);
    }
    if (text)
        *end = 0;
    else
        complain("out of memory");
    return text;
}

int checkpoint_files(checkpoint *c, flag_texts *files)
{
    static const char digits[] = "0123456789abcdef";
    const size_t size = strlen(c->files) / 2;
    int n = 0;
    if (strspn(c->files, digits) != 2 * size || c->files[2 * size]) {
        complain("the checkpoint is damaged: '%.20s' are not bytes in hexadecimal", c->files);
        return -1;
    }
    c->names = calloc(size + 1, 1);
    for (size_t i = 0; c->names && i < 2 * size; i++)
        c->names[i / 2] = (char)(16 * c->names[i / 2] + (strchr(digits, c->files[i]) - digits));
    for (size_t i = 0; c->names && i < size; i++)
        n += c->names[i] == 0;
    const char **room = c->names ? realloc(files->text, ((size_t)n + 1) * sizeof *room) : NULL;
    if (!room) {
        complain("out of memory");
        return -1;
    }
    *files = (flag_texts){ .text = room };
    for (const char *name = c->names; files->n < n; name += strlen(name) + 1)
        room[files->n++] = name;
    return 0;
}

/* ---- saving ------------------------------------------------------------------------------------------- */

static int write_as(const training *t, const char *name, const char *state)
{
    const gra_meta meta[] = { { "format", "pt" }, { "checkpoint", version }, { "state", state } };
    char *path = file_path(t->o.out, name);
    int failed = !path || gra_save_all(t->model, path, meta, (int)(sizeof meta / sizeof meta[0]));
    if (failed && path)
        complain("cannot write %s: %s", path, file_why(gra_model_error(t->model), path));
    free(path);
    return failed ? -1 : 0;
}

/* The best is another name of the last, where a file can have two. */
static int name_best(const training *t)
{
    char *last = file_path(t->o.out, checkpoint_name), *best = file_path(t->o.out, best_name);
    int failed = !last || !best || file_link(last, best);
    free(last);
    free(best);
    return failed ? -1 : 0;
}

/* No run goes on behind NaN or infinity: the last checkpoint stays. */
static bool is_finite(const training *t)
{
    for (int i = 0; i < gra_owned_count(t->model); i++) {
        const gra_tensor *x = gra_owned_at(t->model, i);
        for (size_t j = 0; j < x->size; j++)
            if (!isfinite(x->data[j])) {
                complain("step %ld: %s is no longer made of numbers; a smaller --lr may help", t->step, x->name);
                return false;
            }
    }
    return true;
}

int checkpoint_save(const training *t, bool best)
{
    char rng[GRA_RNG_TEXT];
    flag table[SETTINGS_MOST];
    size_t size;
    training now = *t;                  /* a table of flags points at what it reads and writes */
    char *names = names_text(&t->o.data);
    if (!names || !is_finite(t)) {
        free(names);
        return -1;
    }
    gra_rng_text(&now.rng, rng);
    checkpoint c = { .rng = rng, .text_hash = t->text.hash, .files = names,
                     .isa = gra_isa_name(t->tape), .vocab_size = t->text.vocab.size,
                     .adamw_steps = { t->optimizer.adamw[0].steps, t->optimizer.adamw[1].steps } };
    char *state = settings_write(table, state_table(&c, &now, table), &size);
    int failed = !state || write_as(t, checkpoint_name, state);
    if (!failed && best && name_best(t))
        failed = write_as(t, best_name, state);
    free(state);
    free(names);
    return failed ? -1 : 0;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static int take_state(checkpoint *c, training *t, const char *path, const gra_file *f)
{
    const char *made = gra_file_meta(f, "checkpoint"), *state = gra_file_meta(f, "state");
    flag table[SETTINGS_MOST];
    if (!made || !state) {
        complain("%s is no checkpoint of a run: its metadata lack %s", path, made ? "'state'" : "'checkpoint'");
        return -1;
    }
    if (strcmp(made, version) != 0) {
        complain("%s is a checkpoint of version '%.20s', and this program reads version %s", path, made, version);
        return -1;
    }
    c->state = strdup(state);
    if (!c->state) {
        complain("out of memory");
        return -1;
    }
    if (settings_read(path, c->state, strlen(c->state), table, state_table(c, t, table)))
        return -1;
    if (t->step > t->o.steps) {
        complain("%s is damaged: its step %ld is beyond the last, %ld", path, t->step, t->o.steps);
        return -1;
    }
    return trained_holds(f, path, &t->o, (int)c->vocab_size);
}

static int read_state(checkpoint *c, training *t, const char *path)
{
    gra_tape *tape = gra_open(1);
    gra_model *lender = gra_model_open(tape, NULL);     /* of its error sentence: there is no model yet */
    gra_close(tape);
    if (!lender) {
        complain("out of memory");
        return -1;
    }
    gra_model_keep_going(lender, true);
    gra_file *f = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        complain("no run was begun in %s: there is no %s, which is written before the first step", t->o.resume,
                 checkpoint_name);
    else if (!(f = gra_file_open(lender, path)))
        complain("cannot go on: %s: %s", path, file_why(gra_model_error(lender), path));
    int failed = !f || take_state(c, t, path, f);
    gra_file_close(f);
    gra_model_close(lender);
    return failed ? -1 : 0;
}

int checkpoint_open(checkpoint *c, training *t)
{
    char *path = file_path(t->o.resume, checkpoint_name);
    int failed = !path || read_state(c, t, path);
    free(path);
    return failed ? -1 : 0;
}

int checkpoint_load(const checkpoint *c, training *t)
{
    char *path;
    if (strcmp(t->text.hash, c->text_hash) != 0) {
        complain("the text is not the one that the run in %s began with, and it can go on with no other: its "
                 "hash is %s, and it was %.20s", t->o.out, t->text.hash, c->text_hash);
        return -1;
    }
    if (!(path = file_path(t->o.out, checkpoint_name)))
        return -1;
    int failed = gra_load_all(t->model, path);
    if (failed)
        complain("cannot go on: %s: %s", path, file_why(gra_model_error(t->model), path));
    else if ((failed = gra_rng_from_text(&t->rng, c->rng)) != 0)
        complain("%s is damaged: 'rng' is no state of a generator", path);
    free(path);
    for (int i = 0; i < 2; i++)
        t->optimizer.adamw[i].steps = c->adamw_steps[i];
    if (!failed && strcmp(c->isa, gra_isa_name(t->tape)) != 0)
        complain("the run in %s was computed with %.20s and goes on with %s: its last digits will differ "
                 "from those of a run never stopped; GRADUS_ISA=%.20s keeps them",
                 t->o.out, c->isa, gra_isa_name(t->tape), c->isa);
    return failed ? -1 : 0;
}

void checkpoint_close(checkpoint *c)
{
    free(c->state);
    free(c->names);
    *c = (checkpoint){ 0 };
}
