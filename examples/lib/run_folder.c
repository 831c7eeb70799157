/* run_folder: see run_folder.h. */
#include "run_folder.h"
#include "../../core/base/system.h"
#include "../import/export.h"
#include "files.h"
#include "message.h"
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char columns[] = ROW_COLUMNS;

/* The files that a run writes. */
static const char *const outputs[] = { CHECKPOINT_FILE, "loss.tsv", MODEL_FILE, BEST_FILE, "result.tsv",
                                       "sample.txt", "loss.png", "loss.gp", "config.tsv", VOCAB_TSV,
                                       VOCAB_JSON, MERGES_TXT, TOKENIZER_JSON, TOKENIZER_CONFIG,
                                       "config.json" };
enum { OUTPUTS = sizeof outputs / sizeof outputs[0] };

static int lost(const run *r)
{
    return warn("cannot write %s/loss.tsv: %s", r->folder, strerror(errno));
}

/* ---- opening: is the folder a run's? ----------------------------------------------------------------- */

/* Do both paths, whatever their names, lead to one file? */
static bool is_same(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/* The text must not be a file that the run writes or removes. */
static int refuse_output_as_text(const options *o)
{
    char path[FILE_PATH];
    const char *own = o->data ? say_last(o->data) : "";
    const int names = OUTPUTS + (run_snapshot_step(own) >= 0);
    for (int i = 0; i < names && o->data; i++)
        if (is_same(o->data, file_path(path, o->out, i < OUTPUTS ? outputs[i] : own)))
            return warn("--data %s would be overwritten by the run: give another --out, or a copy", o->data);
    return 0;
}

/* The same for the model of --from, which may lie in an earlier run's folder. */
static int refuse_output_as_model(const training *t)
{
    if (!*t->folder || t->o.resume || !is_same(t->folder, t->o.out))
        return 0;
    return warn("--from %s would be overwritten by the run: give another --out", t->o.from);
}

/* A folder with loss.tsv is a run's. In a folder without loss.tsv a model was not written by a run, and must
 * not be overwritten. */
static int refuse_strangers(const char *folder)
{
    char path[FILE_PATH];
    for (int i = 0; i < OUTPUTS && !file_is_there(path, folder, "loss.tsv"); i++)
        if (file_is_there(path, folder, outputs[i]))
            return warn("%s/%s exists without the loss.tsv of a run: give another --out, or move it away",
                        folder, outputs[i]);
    return 0;
}

/* Locks the folder, as two runs must not write to the same files. If the file system has no locks, the run
 * continues without. */
static int lock(const run *r)
{
    struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
    if (fcntl(fileno(r->table), F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN))
        return 0;
    return warn("another run is writing to %s: wait until it ends, or give another --out", r->folder);
}

/* Finds where the rows of the first n steps end: later rows are removed, as their steps are run again. */
static int find_end(run *r, const char *path, long n)
{
    size_t size;
    long step = 0;
    char *text = file_read(path, &size);
    char *at = text && strncmp(text, columns, sizeof columns - 1) == 0 ? text + sizeof columns - 1 : NULL;
    while (at && step < n && strtol(at, NULL, 10) == step + 1 && (at = strchr(at, '\n')) != NULL) {
        at++;
        step++;
    }
    const bool found = at && step == n;
    if (text && !found)
        warn("%s does not match the checkpoint of step %ld: it lacks the row of step %ld", path, n,
             step + 1);
    r->end = found ? (long)(at - text) : -1;
    free(text);
    return found ? 0 : -1;
}

/* Opens the table for appending. A symbolic link is not followed, even if it has appeared only now. */
static FILE *open_table(const char *path)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    FILE *table = fd < 0 ? NULL : fdopen(fd, "a");
    if (fd >= 0 && !table)
        close(fd);
    return table;
}

int run_open(run *r, const training *t)
{
    const options *o = &t->o;
    *r = (run){ .folder = o->out, .text = &t->text };
    if (refuse_output_as_text(o) || refuse_output_as_model(t) ||
        (!o->resume && (refuse_strangers(o->out) || folder_make(o->out))))
        return -1;
    char path[FILE_PATH];
    file_path(path, o->out, "loss.tsv");
    const char *odd = file_oddity(path);                /* opening a pipe would wait for its other end */
    if (odd)
        return warn("%s: got a %s, expected a file of the run's own: remove it, or give another --out", path,
                    odd);
    if (t->step > 0 && find_end(r, path, t->step))
        return -1;
    r->table = open_table(path);
    if (!r->table)
        return lost(r);
    if (lock(r))
        return -1;
    if (!o->resume && !o->quiet && file_is_there(path, o->out, CHECKPOINT_FILE))
        say("%s holds a run, which this one replaces\n(--resume %s would continue it)\n", o->out,
            o->out);
    return 0;
}

/* ---- beginning --------------------------------------------------------------------------------------- */

/* Is it a file that was being written when a run was killed, as "model.safetensors.123-0.tmp"? */
static bool is_unfinished(const char *name)
{
    bool begins = strncmp(name, SNAPSHOT, strlen(SNAPSHOT)) == 0;
    for (int i = 0; i < OUTPUTS; i++)
        begins = begins || strncmp(name, outputs[i], strlen(outputs[i])) == 0;
    return begins && file_ends_in(name, ".tmp");
}

long run_snapshot_step(const char *file)
{
    char name[64];
    const bool begins = strncmp(file, SNAPSHOT, strlen(SNAPSHOT)) == 0;
    const long step = begins ? strtol(file + strlen(SNAPSHOT), NULL, 10) : -1;
    snprintf(name, sizeof name, SNAPSHOT_FILE, step);
    return strcmp(name, file) == 0 ? step : -1;
}

/* Removes unfinished files and, for a new run, the files of an earlier run. */
static void clear(const char *folder, bool new)
{
    char path[FILE_PATH];
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (is_unfinished(entry->d_name) || (new && run_snapshot_step(entry->d_name) >= 0))
            unlink(file_path(path, folder, entry->d_name));
    if (dir)
        closedir(dir);
    /* all but the new run's checkpoint and table */
    for (int i = 2; i < OUTPUTS && new; i++)
        unlink(file_path(path, folder, outputs[i]));
}

static int write_config_json(const training *t)
{
    char json[EXPORT_JSON];
    const tokenizer *k = &t->text.tokens;
    export_config(&t->gpt.config, tokenizer_is_end_of_text(k, k->end) ? k->end : -1, json);
    return run_write(t, "config.json", json, strlen(json)) || tokenizer_export(k, t->o.out) ? -1 : 0;
}

int run_begin(run *r, const training *t)
{
    int failed;
    do
        failed = ftruncate(fileno(r->table), (off_t)r->end);
    while (failed && errno == EINTR);
    if (failed || (r->end == 0 && (fputs(columns, r->table) < 0 || fflush(r->table))))
        return lost(r);
    clear(r->folder, t->step == 0);
    if (t->o.layout && write_config_json(t))
        return -1;
    if (t->step > 0)
        return 0;
    char *flags = options_write(&t->o);
    failed = !flags || run_write(t, "config.tsv", flags, strlen(flags)) ||
             tokenizer_write(&t->text.tokens, r->folder);
    free(flags);
    return failed ? -1 : 0;
}

/* ---- writing ----------------------------------------------------------------------------------------- */

int run_log(run *r, const run_row *row)
{
    char line[ROW_TEXT];
    row_text(row, r->text, line);
    return fprintf(r->table, "%s", line) < 0 || fflush(r->table) ? lost(r) : 0;
}

/* A file system without fsync is not an error. */
int run_sync(run *r)
{
    int failed;
    do
        failed = fsync(fileno(r->table));
    while (failed && errno == EINTR);
    return failed && errno != EINVAL && errno != ENOTSUP ? lost(r) : 0;
}

int run_save(const training *t, const char *name)
{
    char heads[24], path[FILE_PATH], why[IMPORT_WHY];
    gra_meta meta[TRAINING_META];
    const int n = training_meta(t, meta, heads);
    file_path(path, t->o.out, name);
    if (t->o.layout)
        return export_gpt(t->tape, t->model, &t->gpt, path, meta, n, why) ? warn("cannot write %s", why) : 0;
    return gra_save(t->model, path, meta, n) ? warn("cannot write %s", gra_model_error(t->model)) : 0;
}

int run_snapshot(const training *t)
{
    char name[64];
    snprintf(name, sizeof name, SNAPSHOT_FILE, t->step);
    return t->o.snapshot_every > 0 && t->step % t->o.snapshot_every == 0 ? run_save(t, name) : 0;
}

int run_write(const training *t, const char *name, const char *bytes, size_t n)
{
    char path[FILE_PATH];
    return file_write(file_path(path, t->o.out, name), bytes, n);
}

void run_close(run *r)
{
    if (r->table)
        fclose(r->table);
    r->table = NULL;
}
