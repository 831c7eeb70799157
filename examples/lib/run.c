/* run: the folder that a training run leaves, and reading it back. What is read is checked as strictly as
 * what a user types: each name once, each value in its range, nothing else. */
#include "run.h"
#include "files.h"
#include "say.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char config_name[] = "config.tsv", vocab_name[] = "vocab.tsv", loss_name[] = "loss.tsv",
                  model_name[] = "model.safetensors";

/* ---- writing --------------------------------------------------------------------------------------- */

static int write_named(const char *folder, const char *name, const char *bytes, size_t size)
{
    char *path = file_path(folder, name);
    int failed = !path || file_write(path, bytes, size);
    free(path);
    return failed ? -1 : 0;
}

static int write_config(const char *folder, options *o, const vocabulary *v)
{
    char out[4096], value[64];
    flag table[OPTIONS_FLAGS];
    int n = options_flags(o, table);
    size_t at = 0;
    for (int i = 0; i < n; i++)
        if (table[i].kept)
            at += (size_t)snprintf(out + at, sizeof out - at, "%s\t%s\n", table[i].name,
                                   flag_value(&table[i], value));
    at += (size_t)snprintf(out + at, sizeof out - at, "vocab_size\t%d\nvocab_hash\t%08lx\n", v->size,
                           (unsigned long)vocabulary_hash(v));
    return write_named(folder, config_name, out, at);
}

static size_t vocab_text(const vocabulary *v, char out[4096])
{
    size_t at = 0;
    for (int i = 0; i < v->size; i++) {
        char name[8];
        byte_text(v->byte[i], name);
        at += (size_t)snprintf(out + at, 4096 - at, "%d\t%s\n", v->byte[i], name);
    }
    return at;
}

static int write_vocab(const char *folder, const vocabulary *v)
{
    char out[4096];
    return write_named(folder, vocab_name, out, vocab_text(v, out));
}

static int lost(const run *r)
{
    complain("cannot write %s: %s", r->loss_path, strerror(errno));
    return -1;
}

/* All that a run writes; most of it under another name first. */
static const char *const outputs[] = { config_name, vocab_name, loss_name, model_name,
                                       "sample.txt", "loss.png", "loss.gp" };
enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };

static bool is_config(const char *path)
{
    struct stat about;
    size_t size;
    char *text = stat(path, &about) == 0 && S_ISREG(about.st_mode) ? file_read(path, &size) : NULL;
    bool is = text && strncmp(text, "context\t", strlen("context\t")) == 0 && strstr(text, "\nvocab_hash\t");
    free(text);
    return is;
}

/* No text that is read may be a file that is written. */
static int overwrites_text(const options *o, const char *name)
{
    struct stat a, b;
    char *path = file_path(o->out, name);
    int failed = !path;
    for (int i = 0; i < o->data.n && path && !failed; i++)
        if (stat(path, &a) == 0 && stat(o->data.text[i], &b) == 0 && a.st_dev == b.st_dev &&
            a.st_ino == b.st_ino) {
            complain("--data %s would be overwritten: the run writes %s; give another --out",
                     o->data.text[i], path);
            failed = 1;
        }
    free(path);
    return failed;
}

/* Where no run has been, a file of that name is somebody's own. */
static int overwrites_own(const char *folder, const char *name)
{
    struct stat about;
    char *path = file_path(folder, name);
    int failed = !path;
    if (path && stat(path, &about) == 0 && S_ISREG(about.st_mode) && about.st_size > 0) {
        complain("%s is there, but no config.tsv of a run: give another --out, or move it away", path);
        failed = 1;
    }
    free(path);
    return failed;
}

int run_suits(const options *o)
{
    char *config = file_path(o->out, config_name);
    int failed = !config || folder_try(o->out);
    bool ours = !failed && is_config(config);
    for (int i = 0; i < OUTPUTS && !failed; i++) {
        char other[32];
        snprintf(other, sizeof other, "%s.tmp", outputs[i]);
        failed = overwrites_text(o, outputs[i]) || overwrites_text(o, other) ||
                 (!ours && overwrites_own(o->out, outputs[i]));
    }
    free(config);
    return failed ? -1 : 0;
}

static bool has(const char *folder, const char *name)
{
    char *path = file_path(folder, name);
    bool is = path && access(path, F_OK) == 0;
    free(path);
    return is;
}

static int begin_loss(run *r)
{
    r->loss = fopen(r->loss_path, "w");
    if (!r->loss)
        return lost(r);
    fcntl(fileno(r->loss), F_SETFD, FD_CLOEXEC);
    if (fprintf(r->loss, "step\ttrain_loss\tval_loss\tlr\tgrad_norm\ttokens_per_s\n") < 0 || fflush(r->loss))
        return lost(r);
    return 0;
}

/* The table first: where it cannot be, an earlier run keeps its model. Once the new one has its place, what
 * the earlier one left would contradict it. */
int run_create(run *r, options *o, const vocabulary *v)
{
    static const char *const left[] = { "model.safetensors", "sample.txt", "loss.png", "loss.png.tmp" };
    *r = (run){ .folder = o->out };
    if (folder_make(o->out) || !(r->loss_path = file_path(o->out, loss_name)))
        return -1;
    bool again = has(o->out, config_name);
    if (!o->quiet && has(o->out, model_name) && say("%s holds a finished run: it is replaced\n", o->out))
        return -1;
    if (begin_loss(r) || write_config(o->out, o, v) || write_vocab(o->out, v)) {
        for (int i = 0; i < OUTPUTS && !again; i++)
            file_forget(o->out, outputs[i]);
        return -1;
    }
    for (size_t i = 0; i < sizeof left / sizeof left[0]; i++)
        file_forget(o->out, left[i]);
    return 0;
}

int run_log(run *r, const run_row *row)
{
    char val[32] = "";
    if (!isnan(row->val_loss))
        snprintf(val, sizeof val, "%.9g", row->val_loss);
    int n = fprintf(r->loss, "%ld\t%.9g\t%s\t%.9g\t%.9g\t%.0f\n", row->step, row->train_loss, val, row->lr,
                    row->grad_norm, row->tokens_per_s);
    return n < 0 || fflush(r->loss) ? lost(r) : 0;
}

int run_save(const run *r, gra_model *m, const options *o, const vocabulary *v, long step)
{
    char steps[24], seed[24], hash[24];
    snprintf(steps, sizeof steps, "%ld", step);
    snprintf(seed, sizeof seed, "%ld", o->seed);
    snprintf(hash, sizeof hash, "%08lx", (unsigned long)vocabulary_hash(v));
    const gra_meta meta[] = {
        { "format", "pt" }, { "steps", steps }, { "seed", seed }, { "vocab_hash", hash }
    };
    char *path = file_path(r->folder, model_name);
    int failed = !path || gra_save(m, path, meta, (int)(sizeof meta / sizeof meta[0]));
    if (failed && path)
        complain("cannot write %s: %s", path, gra_model_error(m));
    free(path);
    return failed ? -1 : 0;
}

int run_close(run *r)
{
    int failed = r->loss && fclose(r->loss) && lost(r);
    free(r->loss_path);
    r->loss = NULL;
    r->loss_path = NULL;
    return failed ? -1 : 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

/* Cuts "name\tvalue\n" off the front of *text. False at its end, or where there is no such line. */
static bool next_line(char **text, char **name, char **value)
{
    char *end = strchr(*text, '\n'), *tab = strchr(*text, '\t');
    if (!end || !tab || tab > end)
        return false;
    *end = *tab = 0;
    *name = *text;
    *value = tab + 1;
    *text = end + 1;
    return true;
}

static const flag *find(const flag *table, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (table[i].kept && strcmp(table[i].name, name) == 0)
            return &table[i];
    return NULL;
}

static int parse_config(const char *path, char *text, const char *end, const flag *table, int n)
{
    char *name, *value, wants[160];
    bool seen[OPTIONS_FLAGS] = { false };
    for (int line = 1; next_line(&text, &name, &value); line++) {
        const flag *f = find(table, n, name);
        if (!f || seen[f - table]) {
            complain("%s, line %d: '%s' %s", path, line, name,
                     f ? "stands there twice" : "is not the name of a setting");
            return -1;
        }
        seen[f - table] = true;
        if (!flag_set(f, value)) {
            complain("%s, line %d: %s is %s, not '%s'", path, line, name, flag_wants(f, wants), value);
            return -1;
        }
    }
    if (text != end) {
        complain("%s is damaged: each line must be a name, a tab and a value", path);
        return -1;
    }
    for (int i = 0; i < n; i++)
        if (table[i].kept && !seen[i]) {
            complain("%s lacks the line '%s'", path, table[i].name);
            return -1;
        }
    return 0;
}

static int read_config(const char *path, options *o, long *vocab_size, const char **hash, char **text)
{
    flag table[OPTIONS_FLAGS + 2];
    int n = options_flags(o, table);
    table[n++] = (flag){
        .name = "vocab_size", .kind = FLAG_INT, .value = vocab_size, .low = 1, .high = 256, .kept = true
    };
    table[n++] = (flag){ .name = "vocab_hash", .kind = FLAG_TEXT, .value = (void *)hash, .kept = true };
    size_t size;
    *text = file_read(path, &size);
    if (!*text || parse_config(path, *text, *text + size, table, n))
        return -1;
    if (o->width % o->heads != 0) {
        complain("%s is damaged: %ld heads do not divide the width %ld", path, o->heads, o->width);
        return -1;
    }
    return 0;
}

/* The vocabulary must be what this program would have written for its bytes, to the letter. */
static int read_vocab(const char *path, vocabulary *v)
{
    size_t size, n = 0;
    char bytes[256], again[4096], *text = file_read(path, &size);
    if (!text)
        return -1;
    for (char *line = text; *line && n < sizeof bytes; n++) {
        char *end = strchr(line, '\n');
        bytes[n] = (char)strtol(line, NULL, 10);
        line = end ? end + 1 : line + strlen(line);
    }
    vocabulary_of(v, bytes, n);
    bool same = n > 0 && vocab_text(v, again) == size && memcmp(again, text, size) == 0;
    free(text);
    if (!same)
        complain("%s is damaged: it must list bytes in ascending order, each with how it prints", path);
    return same ? 0 : -1;
}

int run_read(const char *folder, options *o, vocabulary *v)
{
    long vocab_size = 0;
    const char *hash = NULL;
    char *text = NULL, *config = file_path(folder, config_name), *vocab = file_path(folder, vocab_name),
         now[16];
    int failed =
        !config || !vocab || read_config(config, o, &vocab_size, &hash, &text) || read_vocab(vocab, v);
    if (!failed) {
        snprintf(now, sizeof now, "%08lx", (unsigned long)vocabulary_hash(v));
        if (v->size != vocab_size || strcmp(now, hash) != 0) {
            complain("%s is another model's vocabulary: its %d bytes are not the %ld of %s", vocab, v->size,
                     vocab_size, config);
            failed = 1;
        }
    }
    free(text);
    free(config);
    free(vocab);
    return failed ? -1 : 0;
}

/* How many values such a model has; in double, for a damaged configuration may ask for any number. */
static double values_of(const gra_gpt_config *c)
{
    double w = c->emb_dim, v = c->vocab_size, shift = c->bias ? 1 : 0, qkv = c->qkv_bias ? 1 : 0;
    double norm = w + shift * w, attention = 4 * w * w + 3 * qkv * w + shift * w;
    double feed_forward = 8 * w * w + shift * 5 * w;
    return (v + c->context_length) * w + c->n_layers * (attention + feed_forward + 2 * norm) + norm +
           (c->tied ? 0 : v * w);
}

/* How many bytes of values a safetensors file has: what follows the header and its length in 8 bytes.
 * -1 after a complaint. */
static double value_bytes(const char *path)
{
    struct stat about;
    unsigned char length[8];
    double header = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool well = fd >= 0 && fstat(fd, &about) == 0 &&
                read(fd, length, sizeof length) == (ssize_t)sizeof length;
    if (fd < 0)
        complain("cannot load %s: %s", path, strerror(errno));
    else if (!well)
        complain("cannot load %s: it is damaged: there is no header", path);
    if (fd >= 0)
        close(fd);
    if (!well)
        return -1;
    for (int i = 7; i >= 0; i--)
        header = header * 256 + length[i];
    return fmax((double)about.st_size - 8 - header, 0);
}

int run_fits(const char *folder, const options *o, const vocabulary *v)
{
    gra_gpt_config config = options_model(o, v->size);
    char *path = file_path(folder, model_name);
    double wanted = values_of(&config), bytes = path ? value_bytes(path) : -1;
    int failed = bytes < 4 * wanted || bytes > 8 * wanted;      /* F32 or F64 */
    if (failed && bytes >= 0)
        complain("cannot load %s: its %.0f bytes are not the %.0f values of the model in config.tsv", path,
                 bytes, wanted);
    free(path);
    return failed ? -1 : 0;
}

int run_load(const char *folder, gra_model *m)
{
    char *path = file_path(folder, model_name);
    int failed = !path || gra_load(m, path);
    if (failed && path)
        complain("cannot load %s: %s", path, gra_model_error(m));
    free(path);
    return failed ? -1 : 0;
}
