/* checkpoint: a run in one file, and back.
 *
 * metadata:  format "pt"    checkpoint "1"    state "steps\t2000\n..."    hash, of the state
 *
 * The state is a table of settings, and as strict. It holds a hash of the tensors' values, so that no value
 * and no line of the state can change without being noticed. */
#include "checkpoint.h"
#include "../../core/op.h"
#include "files.h"
#include "hash.h"
#include "say.h"
#include "settings.h"
#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

static const char version[] = "1";

/* ---- the state --------------------------------------------------------------------------------------- */

static int state_table(checkpoint *c, flag table[SETTINGS_MOST])
{
    const double many = 1e9, any = DBL_MAX;
    const flag more[] = {
        { .name = "step", .kind = FLAG_INT, .value = &c->row.step, .low = 0, .high = many },
        { .name = "step_loss", .kind = FLAG_REAL, .value = &c->row.train_loss, .low = -any, .high = any },
        { .name = "step_lr", .kind = FLAG_REAL, .value = &c->row.lr, .low = 0, .high = any },
        { .name = "step_grad_norm", .kind = FLAG_REAL, .value = &c->row.grad_norm, .low = 0, .high = any },
        { .name = "step_speed", .kind = FLAG_REAL, .value = &c->row.tokens_per_s, .low = 0,
          .high = HUGE_VAL },
        { .name = "best_val_loss", .kind = FLAG_REAL, .value = &c->best, .low = -any, .high = HUGE_VAL },
        { .name = "loss_tsv_bytes", .kind = FLAG_INT, .value = &c->table, .low = 0, .high = 1e15 },
        { .name = "adamw_steps", .kind = FLAG_INT, .value = &c->moments[0], .low = 0, .high = many },
        { .name = "adamw_steps_2", .kind = FLAG_INT, .value = &c->moments[1], .low = 0, .high = many },
        { .name = "rng", .kind = FLAG_TEXT, .value = &c->rng_text },
        { .name = "vocab", .kind = FLAG_TEXT, .value = &c->vocab },
        { .name = "text_hash", .kind = FLAG_TEXT, .value = &c->text_hash },
        { .name = "text_files", .kind = FLAG_TEXT, .value = &c->data },
        { .name = "instruction_set", .kind = FLAG_TEXT, .value = &c->isa },
        { .name = "values_hash", .kind = FLAG_TEXT, .value = &c->values },
    };
    int n = options_settings(c->o, FLAG_FREE, table);
    memcpy(table + n, more, sizeof more);
    return n + (int)(sizeof more / sizeof more[0]);
}

static uint64_t hash_values(const gra_model *m)
{
    uint64_t h = HASH_BEGIN;
    for (int i = 0; i < gra_owned_count(m); i++) {
        const gra_tensor *x = gra_owned_at(m, i);
        h = hash_bytes(h, x->data, x->size * sizeof *x->data);
    }
    return h;
}

/* ---- bytes of any kind, in hexadecimal ----------------------------------------------------------------- */

static char *put_hex(char *to, const void *bytes, size_t n)
{
    const unsigned char *from = bytes;
    for (size_t i = 0; i < n; i++)
        to += sprintf(to, "%02x", from[i]);
    *to = 0;
    return to;
}

/* As many bytes as there are pairs of digits, and a 0 behind; to free. NULL after a sentence. */
static char *take_hex(const char *text, size_t *n)
{
    static const char digits[] = "0123456789abcdef";
    *n = strlen(text) / 2;
    if (strspn(text, digits) != 2 * *n || text[2 * *n]) {
        complain("the checkpoint is damaged: '%.20s' are not bytes in hexadecimal", text);
        return NULL;
    }
    char *bytes = calloc(*n + 1, 1);
    for (size_t i = 0; bytes && text[i]; i++)
        bytes[i / 2] = (char)(16 * bytes[i / 2] + (strchr(digits, text[i]) - digits));
    if (!bytes)
        complain("out of memory");
    return bytes;
}

/* The names of the text's files, from the root on, each with its 0. To free; NULL: out of memory. */
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

/* And back, into the options. */
static int take_names(checkpoint *c)
{
    size_t size;
    int n = 0;
    if (!(c->names = take_hex(c->data, &size)))
        return -1;
    for (size_t i = 0; i < size; i++)
        n += c->names[i] == 0;
    const char **room = realloc(c->o->data.text, ((size_t)n + 1) * sizeof *room);
    if (!room) {
        complain("out of memory");
        return -1;
    }
    c->o->data = (flag_texts){ .text = room };
    for (const char *name = c->names; c->o->data.n < n; name += strlen(name) + 1)
        room[c->o->data.n++] = name;
    return 0;
}

/* ---- saving ------------------------------------------------------------------------------------------- */

static int write_as(checkpoint *c, const char *name, const gra_meta *meta, int n)
{
    char *path = file_path(c->o->out, name);
    int failed = !path || gra_save_all(c->model, path, meta, n);
    if (failed && path)
        complain("cannot write %s: %s", path, file_why(gra_model_error(c->model), path));
    free(path);
    return failed ? -1 : 0;
}

/* The best is another name of the last, where a file can have two. */
static int name_best(const checkpoint *c)
{
    char *last = file_path(c->o->out, checkpoint_name), *best = file_path(c->o->out, best_name);
    int failed = !last || !best || file_link(last, best);
    free(last);
    free(best);
    return failed ? -1 : 0;
}

static int write_state(checkpoint *c, const char *state, size_t size, bool best)
{
    char hash[HASH_TEXT];
    const gra_meta meta[] = { { "format", "pt" }, { "checkpoint", version }, { "state", state },
                              { "hash", hash_text(hash_bytes(HASH_BEGIN, state, size), hash) } };
    const int n = (int)(sizeof meta / sizeof meta[0]);
    if (write_as(c, checkpoint_name, meta, n))
        return -1;
    return best && name_best(c) ? write_as(c, best_name, meta, n) : 0;
}

/* Behind what is no number nothing goes on: the last checkpoint stays. */
static int has_numbers(const checkpoint *c)
{
    for (int i = 0; i < gra_owned_count(c->model); i++) {
        const gra_tensor *x = gra_owned_at(c->model, i);
        for (size_t j = 0; j < x->size; j++)
            if (!isfinite(x->data[j])) {
                complain("step %ld: %s is no longer made of numbers; a smaller --lr may help", c->row.step,
                         x->name);
                return 0;
            }
    }
    return 1;
}

static int save(checkpoint *c, bool best)
{
    char rng[GRA_RNG_TEXT], vocab[2 * 256 + 1], text[HASH_TEXT], values[HASH_TEXT];
    flag table[SETTINGS_MOST];
    size_t size;
    char *names = names_text(&c->o->data);
    if (!names || !has_numbers(c) || run_table(c->run, &c->table)) {
        free(names);
        return -1;
    }
    gra_rng_text(c->rng, rng);
    put_hex(vocab, c->text->vocab.byte, (size_t)c->text->vocab.size);
    for (int i = 0; i < 2; i++)
        c->moments[i] = c->optimizer->adamw[i].steps;
    c->rng_text = rng;
    c->vocab = vocab;
    c->data = names;
    c->text_hash = hash_text(c->text->hash, text);
    c->values = hash_text(hash_values(c->model), values);
    c->isa = gra_isa_name(c->tape);
    char *state = settings_write(table, state_table(c, table), &size);
    int failed = !state || write_state(c, state, size, best);
    free(state);
    free(names);
    return failed ? -1 : 0;
}

/* By the clock: so seldom that all saving takes at most half a hundredth of the time. */
static bool is_time(const checkpoint *c, long step)
{
    if (c->o->checkpoint_every > 0)
        return step % c->o->checkpoint_every == 0;
    return seconds_now() - c->saved >= 200 * c->cost;
}

int checkpoint_keep(checkpoint *c, const run_row *row, bool now)
{
    const double begun = seconds_now();
    const bool best = row->val_loss <= c->best;         /* not where there is none: NaN */
    if (!now && !best && !is_time(c, row->step))
        return 0;
    c->row = *row;
    c->best = best ? row->val_loss : c->best;
    int failed = save(c, best);
    c->saved = seconds_now();
    c->cost = c->saved - begun;
    return failed;
}

/* ---- reading ------------------------------------------------------------------------------------------ */

static int take_state(checkpoint *c, const char *path, const gra_file *f)
{
    char hash[HASH_TEXT];
    const char *made = gra_file_meta(f, "checkpoint"), *state = gra_file_meta(f, "state"),
               *known = gra_file_meta(f, "hash");
    if (!made || !state || !known) {
        complain("%s is no checkpoint of a run: its metadata lack %s", path,
                 !made ? "'checkpoint'" : !state ? "'state'" : "'hash'");
        return -1;
    }
    if (strcmp(made, version) != 0) {
        complain("%s is a checkpoint of version '%.20s', and this program reads version %s", path, made,
                 version);
        return -1;
    }
    if (strcmp(hash_text(hash_bytes(HASH_BEGIN, state, strlen(state)), hash), known) != 0) {
        complain("%s is damaged: its state has the hash %s, but %.20s was saved", path, hash, known);
        return -1;
    }
    flag table[SETTINGS_MOST];
    c->read = strdup(state);
    if (!c->read)
        complain("out of memory");
    return c->read ? settings_read(path, c->read, strlen(c->read), table, state_table(c, table)) : -1;
}

static int read_state(checkpoint *c)
{
    gra_model *none = gra_model_open(NULL);             /* it lends its sentence */
    char *path = file_path(c->o->resume, checkpoint_name);
    if (!none || !path) {
        complain("out of memory");
        gra_model_close(none);
        free(path);
        return -1;
    }
    gra_model_keep_going(none, true);
    gra_file *f = NULL;
    if (access(path, F_OK) != 0 && errno == ENOENT)
        complain("no run can go on in %s: there is no %s, which is written before the first step",
                 c->o->resume, checkpoint_name);
    else if (!(f = gra_file_open(none, path)))
        complain("cannot go on: %s: %s", path, file_why(gra_model_error(none), path));
    int failed = !f || take_state(c, path, f) || run_holds(f, path, c->o, (int)(strlen(c->vocab) / 2));
    gra_file_close(f);
    gra_model_close(none);
    free(path);
    return failed ? -1 : 0;
}

/* The first flag that is not as the run began. */
static int contradicts(options *begun, options *now)
{
    flag a[OPTIONS_FLAGS], b[OPTIONS_FLAGS];
    char was[64], is[64];
    int n = options_settings(begun, FLAG_FIXED, a);
    options_settings(now, FLAG_FIXED, b);
    for (int i = 0; i < n; i++)
        if (strcmp(flag_value(&a[i], was), flag_value(&b[i], is)) != 0) {
            complain("--%s=%s, but the run in %s was begun with --%s=%s", a[i].name, is, begun->resume,
                     a[i].name, was);
            return 1;
        }
    if (strcmp(now->out, now->resume) != 0) {
        complain("--out %s, but --resume %s goes on in that folder", now->out, now->resume);
        return 1;
    }
    return 0;
}

int checkpoint_options(checkpoint *c, int argc, char **argv)
{
    options *o = c->o, asked = *o;
    if (!asked.resume[0]) {
        complain("--resume wants the name of a folder, not ''");
        return -1;
    }
    *o = options_default();
    o->resume = o->out = asked.resume;
    o->data.text = asked.data.text;
    if (read_state(c))
        return 2;
    options begun = *o;
    int how = options_parse(o, argc, argv);
    if (how || contradicts(&begun, o))
        return -1;
    if (o->data.n == 0 && take_names(c))
        return 2;
    return options_settle(o);
}

int checkpoint_suits(const checkpoint *c)
{
    char hash[HASH_TEXT], vocab[2 * 256 + 1];
    put_hex(vocab, c->text->vocab.byte, (size_t)c->text->vocab.size);
    if (strcmp(hash_text(c->text->hash, hash), c->text_hash) == 0 && strcmp(vocab, c->vocab) == 0)
        return 0;
    complain("the text is not the one that the run in %s began with, and it can go on with no other: its "
             "hash is %s, and it was %.20s",
             c->o->out, hash, c->text_hash);
    return -1;
}

static int take_values(checkpoint *c, const char *path)
{
    char hash[HASH_TEXT];
    if (gra_load_all(c->model, path)) {
        complain("cannot go on: %s: %s", path, file_why(gra_model_error(c->model), path));
        return -1;
    }
    if (strcmp(hash_text(hash_values(c->model), hash), c->values) != 0) {
        complain("%s is damaged: its values have the hash %s, but %.20s was saved", path, hash, c->values);
        return -1;
    }
    if (gra_rng_from_text(c->rng, c->rng_text) || c->row.step > c->o->steps) {
        complain("%s is damaged: %s", path, c->row.step > c->o->steps ? "its step is beyond the last"
                                                                      : "'rng' is no state of a generator");
        return -1;
    }
    return 0;
}

int checkpoint_load(checkpoint *c)
{
    char *path = file_path(c->o->out, checkpoint_name);
    int failed = !path || take_values(c, path);
    free(path);
    for (int i = 0; i < 2; i++)
        c->optimizer->adamw[i].steps = c->moments[i];
    if (!failed && strcmp(c->isa, gra_isa_name(c->tape)) != 0)
        complain("the run in %s was computed with %.20s and goes on with %s: its last digits will differ "
                 "from those of a run never stopped; GRADUS_ISA=%.20s keeps them",
                 c->o->out, c->isa, gra_isa_name(c->tape), c->isa);
    return failed ? -1 : 0;
}

void checkpoint_close(checkpoint *c)
{
    free(c->read);
    free(c->names);
    c->read = c->names = NULL;
}
