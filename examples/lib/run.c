/* run: the folder of a training run and its table. */
#include "run.h"
#include "files.h"
#include "say.h"
#include "trained.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char loss_name[] = "loss.tsv", result_name[] = "result.tsv";
const char checkpoint_name[] = "checkpoint.safetensors", best_name[] = "best.safetensors";

/* ---- writing --------------------------------------------------------------------------------------- */

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

/* A folder is a run's if its loss.tsv is: the first file that a run makes. 1, 0, or -1: it cannot be read. */
static int is_run(const char *folder)
{
    char *path = file_path(folder, loss_name);
    const bool plain = path && is_plain(path);
    FILE *table = plain ? file_stream(path, "r") : NULL;
    int is = table && begins(table, false);
    if (plain && !table)
        complain("cannot read %s: %s", path, strerror(errno));
    if (!path || (plain && !table))
        is = -1;
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
    const int ours = o->resume ? 1 : is_run(o->out);
    int failed = ours < 0;
    for (int i = 0; i < OUTPUTS && !failed; i++) {
        char other[32];
        snprintf(other, sizeof other, "%s.tmp", outputs[i]);
        failed = overwrites_text(o, outputs[i]) || overwrites_text(o, other) ||
                 (!ours && overwrites_own(o->out, outputs[i]));
    }
    return failed ? -1 : 0;
}

/* Says what a new run takes the place of. */
static int say_what_was(const options *o)
{
    if (o->resume || o->quiet || (!file_is_in(o->out, model_name) && !file_is_in(o->out, checkpoint_name)))
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
    return trained_begin(t->o.out, &t->o, &t->text.vocab);
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

int run_last_again(run *r)
{
    return fseek(r->loss, r->last, SEEK_SET) ? lost(r) : 0;
}

int run_result(const run *r, long step, double val_loss)
{
    char text[96];
    int n = snprintf(text, sizeof text, "step\tval_loss\n%ld\t%.9g\n", step, val_loss);
    char *path = file_path(r->folder, result_name);
    int failed = !path || file_write(path, text, (size_t)n);
    free(path);
    return failed ? -1 : 0;
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
