/* run: the folder that a training run leaves, and reading it back. What is read is checked as strictly as
 * what a user types: each name once, each value in its range, nothing else. */
#include "run.h"
#include "files.h"
#include "say.h"
#include "settings.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char loss_name[] = "loss.tsv", result_name[] = "result.tsv";
const char config_name[] = "config.tsv", vocab_name[] = "vocab.tsv", model_name[] = "model.safetensors";
const char checkpoint_name[] = "checkpoint.safetensors", best_name[] = "best.safetensors";

/* ---- writing --------------------------------------------------------------------------------------- */

static int write_named(const char *folder, const char *name, const char *bytes, size_t size)
{
    char *path = file_path(folder, name);
    int failed = !path || file_write(path, bytes, size);
    free(path);
    return failed ? -1 : 0;
}

/* config.tsv: what makes the model, and which vocabulary it has. */
static int config_table(options *o, long *vocab_size, const char **hash, flag table[SETTINGS_MOST])
{
    int n = options_settings(o, FLAG_MODEL, table);
    table[n++] = (flag){ .name = "vocab_size", .kind = FLAG_INT, .value = vocab_size, .low = 1, .high = 256 };
    table[n++] = (flag){ .name = "vocab_hash", .kind = FLAG_TEXT, .value = (void *)hash };
    return n;
}

static int write_config(const char *folder, options *o, const vocabulary *v)
{
    flag table[SETTINGS_MOST];
    char text[TEXT_HASH];
    size_t size;
    long vocab_size = v->size;
    const char *hash = vocabulary_hash(v, text);
    char *out = settings_write(table, config_table(o, &vocab_size, &hash, table), &size);
    int failed = !out || write_named(folder, config_name, out, size);
    free(out);
    return failed ? -1 : 0;
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

/* All that a run writes. */
static const char *const outputs[] = { config_name, vocab_name, loss_name, result_name, model_name,
                                       checkpoint_name, best_name, "sample.txt", "loss.png", "loss.gp" };
enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };

static const char columns[] = "step\ttrain_loss\tval_loss\tlr\tgrad_norm\ttokens_per_s\n";

/* Whether a table begins there; the next thing read is its first row. A run that was killed at once may have
 * left but some of the columns. */
static bool begins(FILE *table, bool whole)
{
    char begin[sizeof columns] = "";
    const bool some = fgets(begin, sizeof begin, table) && *begin;
    return some && strncmp(columns, begin, whole ? sizeof columns : strlen(begin)) == 0;
}

static bool is_plain(const char *path)          /* and no pipe, from which nothing may ever come */
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* A folder is a run's if its loss.tsv is: the first file that a run makes. */
static bool is_run(const char *folder)
{
    char *path = file_path(folder, loss_name);
    FILE *table = path && is_plain(path) ? file_stream(path, "r") : NULL;
    const bool is = table && begins(table, false);
    if (table)
        fclose(table);
    free(path);
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
        complain("%s is there, but no loss.tsv of a run: give another --out, or move it away", path);
        failed = 1;
    }
    free(path);
    return failed;
}

/* Whether a run may write to that folder. */
static int suits(const options *o)
{
    int failed = 0;
    bool ours = is_run(o->out);
    for (int i = 0; i < OUTPUTS && !failed; i++) {
        char other[32];
        snprintf(other, sizeof other, "%s.tmp", outputs[i]);
        failed = overwrites_text(o, outputs[i]) || overwrites_text(o, other) ||
                 (!ours && overwrites_own(o->out, outputs[i]));
    }
    return failed ? -1 : 0;
}

bool run_has(const char *folder, const char *name)
{
    char *path = file_path(folder, name);
    bool is = path && access(path, F_OK) == 0;
    free(path);
    return is;
}

/* Says what a new run takes the place of. */
static int say_what_was(const options *o)
{
    if (o->resume || o->quiet || (!run_has(o->out, model_name) && !run_has(o->out, checkpoint_name)))
        return 0;
    return say("%s holds a run, and a new one takes its place\n(--resume %s would go on with it)\n", o->out, o->out);
}

/* Two runs that write to one table spoil each other's. Where a file system knows no locks there is none. */
static int lock_table(run *r)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(fileno(r->loss), F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN))
        return 0;
    complain("another run is writing to %s: wait for its end, or give another --out", r->folder);
    return -1;
}

static int open_table(run *r, const options *o)
{
    r->loss_path = file_path(o->out, loss_name);
    if (!r->loss_path)
        return -1;
    r->loss = file_stream(r->loss_path, "r+");
    r->fresh = !r->loss && errno == ENOENT && !o->resume;
    if (r->fresh)
        r->loss = file_stream(r->loss_path, "w+");
    if (!r->loss)
        return lost(r);
    fcntl(fileno(r->loss), F_SETFD, FD_CLOEXEC);
    return 0;
}

/* The table of an earlier run stays as it is: it begins as a new one does. */
int run_open(run *r, const options *o)
{
    r->folder = o->out;
    if (suits(o) || (!o->resume && folder_make(o->out, &r->made)) || open_table(r, o) || lock_table(r) ||
        say_what_was(o))
        return -1;
    if (o->resume)
        return 0;
    r->end = sizeof columns - 1;
    if (is_plain(r->loss_path) && begins(r->loss, true))
        return 0;
    if (ferror(r->loss) || fseek(r->loss, 0, SEEK_SET) || fputs(columns, r->loss) < 0 || fflush(r->loss))
        return lost(r);
    return 0;
}

/* What an earlier run left would contradict a new one; and files that were being written when a run was
 * killed are of no use to any. */
static void clear(const options *o, bool new)
{
    static const char *const left[] = { model_name, best_name, "sample.txt", "loss.png" };
    for (size_t i = 0; i < sizeof left / sizeof left[0] && new; i++)
        file_forget(o->out, left[i]);
    file_forget(o->out, result_name);           /* the run has not ended now */
    for (int i = 0; i < OUTPUTS; i++)
        file_forget_unfinished(o->out, outputs[i]);
}

int run_begin(run *r, training *t)
{
    int cut;
    do
        cut = ftruncate(fileno(r->loss), (off_t)r->end);
    while (cut != 0 && errno == EINTR);
    if (cut || fseek(r->loss, r->end, SEEK_SET))
        return lost(r);
    if (!r->fresh)                              /* else there was no run whose files these could be */
        clear(&t->o, t->step == 0);
    r->fresh = false;
    r->made = 0;
    return write_config(t->o.out, &t->o, &t->text.vocab) || write_vocab(t->o.out, &t->text.vocab) ? -1 : 0;
}

/* A file system that cannot bring a file to the disk is no failure. */
int run_sync(run *r)
{
    int failed = fflush(r->loss);
    while (!failed && fsync(fileno(r->loss)) && errno != EINVAL && errno != ENOTSUP)
        failed = errno != EINTR;
    return failed ? lost(r) : 0;
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

int run_save(const run *r, const training *t)
{
    char steps[24], seed[24], hash[TEXT_HASH];
    const vocabulary *v = &t->text.vocab;
    snprintf(steps, sizeof steps, "%ld", t->step);
    snprintf(seed, sizeof seed, "%ld", t->o.seed);
    const gra_meta meta[] = {
        { "format", "pt" }, { "steps", steps }, { "seed", seed }, { "vocab_hash", vocabulary_hash(v, hash) }
    };
    const gra_gpt_config config = options_model(&t->o, v->size);
    char *path = file_path(r->folder, model_name);
    int failed = !path || gra_gpt_save(t->model, &config, path, meta, (int)(sizeof meta / sizeof meta[0]));
    if (failed && path)
        complain("cannot write %s: %s", path, file_why(gra_model_error(t->model), path));
    free(path);
    return failed ? -1 : 0;
}

int run_result(const run *r, long step, double val_loss)
{
    char text[96];
    int n = snprintf(text, sizeof text, "step\tval_loss\n%ld\t%.9g\n", step, val_loss);
    return write_named(r->folder, result_name, text, (size_t)n);
}

int run_close(run *r)
{
    int failed = r->loss && fclose(r->loss) && lost(r);
    if (r->loss && r->fresh)
        file_forget(r->folder, loss_name);
    if (r->made)
        folder_unmake(r->folder, &r->made);
    free(r->loss_path);
    *r = (run){ 0 };
    return failed ? -1 : 0;
}

/* ---- reading ---------------------------------------------------------------------------------------- */

static int read_config(const char *path, options *o, long *vocab_size, const char **hash, char **text)
{
    flag table[SETTINGS_MOST];
    size_t size;
    *text = file_read(path, &size);
    if (!*text || settings_read(path, *text, size, table, config_table(o, vocab_size, hash, table)))
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
         now[TEXT_HASH];
    int failed =
        !config || !vocab || read_config(config, o, &vocab_size, &hash, &text) || read_vocab(vocab, v);
    if (!failed) {
        if (v->size != vocab_size || strcmp(vocabulary_hash(v, now), hash) != 0) {
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

/* The number at *at and what must follow it, of which one character is passed. */
static bool next_number(const char **at, const char *follows, double *x)
{
    char *end;
    *x = strtod(*at, &end);
    bool well = end != *at && isfinite(*x) && *end && strchr(follows, *end);
    *at = end + well;
    return well;
}

static bool next_row(const char **at, run_row *row)
{
    double step;
    *row = (run_row){ .val_loss = (double)NAN };
    bool well = next_number(at, "\t", &step) && next_number(at, "\t", &row->train_loss) &&
                (**at == '\t' ? (++*at, true) : next_number(at, "\t", &row->val_loss)) &&
                next_number(at, "\t", &row->lr) && next_number(at, "\t", &row->grad_norm) &&
                next_number(at, "\n", &row->tokens_per_s);
    row->step = well && step >= 1 && step <= 1e9 ? (long)step : 0;
    return row->step > 0;
}

/* Room for n rows is made once so many can stand in the file: the shortest has 12 bytes. */
run_row *run_rows(run *r, const char *folder, long n)
{
    size_t size = 0;
    char *path = file_path(folder, loss_name), *text = path ? file_read(path, &size) : NULL;
    bool well = text && (size_t)n <= size / 12 && strncmp(text, columns, sizeof columns - 1) == 0;
    run_row *rows = well ? malloc(((size_t)n + 1) * sizeof *rows) : NULL;
    const char *at = well ? text + sizeof columns - 1 : NULL;
    long read = 0;
    while (rows && read < n) {
        r->last = (long)(at - text);
        if (!next_row(&at, &rows[read]) || rows[read].step != read + 1)
            break;
        read++;
    }
    if (well && !rows)
        complain("out of memory");
    else if (text && (!well || read < n)) {
        complain("%s does not go with the checkpoint of step %ld: it lacks the row of step %ld", path, n, read + 1);
        free(rows);
        rows = NULL;
    }
    r->end = rows ? (long)(at - text) : 0;
    free(text);
    free(path);
    return rows;
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

static double values_in(const gra_file *f)
{
    double n = 0;
    for (int i = 0; i < gra_file_count(f); i++)
        n += (double)gra_file_at(f, i)->size;
    return n;
}

int run_holds(const gra_file *f, const char *path, const options *o, int vocab_size)
{
    const gra_gpt_config config = options_model(o, vocab_size);
    const double wanted = values_of(&config), held = values_in(f);
    if (held < wanted)
        complain("%s is damaged: it has %.0f values, and its own model has %.0f", path, held, wanted);
    return held < wanted ? -1 : 0;
}

/* Whether the file's values are as many as the model's, and were learnt with its vocabulary. */
static bool file_fits(const gra_file *f, const char *path, const gra_gpt_config *c, const vocabulary *v)
{
    char hash[TEXT_HASH];
    const double wanted = values_of(c), held = values_in(f);
    const double again = c->tied ? (double)v->size * c->emb_dim : 0;    /* a tied head has two names */
    const char *learnt = gra_file_meta(f, "vocab_hash");
    if (held != wanted && held != wanted + again) {
        complain("cannot load %s: its %.0f values are not the %.0f of the model in config.tsv", path, held,
                 wanted);
        return false;
    }
    if (learnt && strcmp(learnt, vocabulary_hash(v, hash)) != 0) {
        complain("cannot load %s: it was learnt with the vocabulary %.20s, and that of vocab.tsv is %s", path,
                 learnt, hash);
        return false;
    }
    return true;
}

int run_fits(gra_model *m, const char *path, const options *o, const vocabulary *v)
{
    const gra_gpt_config config = options_model(o, v->size);
    gra_file *f = gra_file_open(m, path);
    if (!f)
        complain("cannot load %s: %s", path, file_why(gra_model_error(m), path));
    int failed = !f || !file_fits(f, path, &config, v);
    gra_file_close(f);
    return failed ? -1 : 0;
}

int run_load(const char *path, gra_model *m)
{
    int failed = gra_load(m, path);
    if (failed)
        complain("cannot load %s: %s", path, file_why(gra_model_error(m), path));
    return failed;
}

/* A safetensors file begins with the length of its header, 8 bytes, and the header's {. */
static int looks_like_model(const char *path)
{
    char begin[9] = "";
    int fd = file_open(path, O_RDONLY | O_NONBLOCK);
    if (fd < 0) {
        complain("cannot read %s: %s", path, strerror(errno));
        return -1;
    }
    size_t n = file_some(fd, begin, sizeof begin);
    close(fd);
    if (n == sizeof begin && begin[8] == '{')
        return 0;
    complain("%s is not a model: %s; give the folder that train left, or a .safetensors file", path,
             n ? "it is no safetensors file" : "it is empty");
    return -1;
}

int run_model(gra_model *m, const char *folder, const char *path, bool *learnt)
{
    if (looks_like_model(path))
        return -1;
    gra_file *f = gra_file_open(m, path);
    if (!f)
        complain("cannot load %s: %s", path, file_why(gra_model_error(m), path));
    const bool stopped = f && gra_file_meta(f, "checkpoint");
    if (stopped)
        complain("%s is a checkpoint, with which build/train --resume %s goes on; to generate give the model, "
                 "--model %s", path, folder, folder);
    *learnt = f && gra_file_meta(f, "vocab_hash");
    gra_file_close(f);
    return f && !stopped ? 0 : -1;
}
