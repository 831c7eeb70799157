/* verdict: see verdict.h. */
#include "verdict.h"
#include "../../lib/files.h"
#include "why.h"
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MEGABYTES = 1024,
    COMPILE_SECONDS = 20,
    COMPILE_MB = 4096,
    WORD = 16,
    RECORDS = 250,
    STARTS = 20,
    PATH = 600
};

static void set(struct verdict *v, enum verdict_result result, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void set(struct verdict *v, enum verdict_result result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(v->finding, sizeof v->finding, format, args);
    va_end(args);
    v->result = result;
}

/* Parses the judge's records: the n-th begins with the n-th word. True: all was judged, and all is right. */
static bool read_records(struct verdict *v, const struct child *c, char words[][WORD])
{
    int n = 0;
    bool done = false;
    for (const char *r = c->records, *end = r + c->recorded; n < RECORDS && r + WORD < end; r++) {
        if (memcmp(r, words[n], WORD))
            continue;
        n++;
        r += WORD;
        const size_t at = strlen(v->parts);
        if (*r == 'p' && at + strlen(r + 1) + 2 < sizeof v->parts)
            snprintf(v->parts + at, sizeof v->parts - at, "%s\n", r + 1);
        else if (*r == 'w' && !v->finding[0])
            snprintf(v->finding, sizeof v->finding, "%s", r + 1);
        done = done || *r == 'd';
    }
    return done && !v->finding[0];
}

/* The folder in which one answer is compiled and run; it is removed afterwards. */
struct work {
    char folder[PATH], answer[PATH], program[PATH], script[PATH], judge[PATH];
    const char *file;                   /* "answer.123/08_softmax.c": no other path ends like this */
    bool gradients;                     /* the answer uses gradients of tensors */
    bool sanitized;                     /* with a sanitizer, which maps terabytes and watches memory itself */
};

/* Has make built the judge of this exercise? */
static bool is_built(struct work *w, struct verdict *v, const char *build, const char *name)
{
    size_t n;
    snprintf(w->script, sizeof w->script, "%.400s/exercises/compile", build);
    snprintf(w->judge, sizeof w->judge, "%.400s/f64/examples/exercises/judge/%.100s.o", build, name);
    char *script = access(w->judge, R_OK) ? NULL : file_read_plain(w->script, &n);
    if (script)
        w->sanitized = strstr(script, "-fsanitize=address");
    else if (errno == ENOENT)
        set(v, NOT_JUDGED, "the judge of this exercise is not built: `make learn` builds all, and `make "
            "exercise N=%.2s` this one", name);
    else
        set(v, NOT_JUDGED, "the judge of this exercise cannot be read: %s", strerror(errno));
    free(script);
    return script;
}

/* Removes a file, or a folder with all that it contains, without following links. */
static void remove_all(const char *path)
{
    char inner[PATH];
    DIR *d = unlink(path) && errno != ENOENT ? opendir(path) : NULL;
    for (struct dirent *e; d && (e = readdir(d));)
        if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
            snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) < PATH)
            remove_all(inner);
    if (d)
        closedir(d), rmdir(path);
}

static bool work_begin(struct work *w, struct verdict *v, const char *build, const char *name,
                       const char *file)
{
    snprintf(w->folder, sizeof w->folder, "%.400s/exercises/answer.%ld", build, (long)getpid());
    snprintf(w->answer, sizeof w->answer, "%.450s/%.100s.c", w->folder, name);
    snprintf(w->program, sizeof w->program, "%.450s/program", w->folder);
    w->file = w->answer + strlen(w->folder);
    while (w->file > w->answer && w->file[-1] != '/')
        w->file--;
    size_t n;
    char *text = file_read_plain(file, &n);
    if (!text)
        set(v, NOT_JUDGED, "the file cannot be read: %s", errno == EFBIG ? "it is larger than 1 MB"
                                                                         : strerror(errno));
    else if (strspn(text, " \t\r\n") == n)
        set(v, NOT_PASSED, "the file is empty");
    else if (memchr(text, 0, n))
        set(v, NOT_PASSED, "the file is not C source: it contains zero bytes");
    else if (remove_all(w->folder), mkdir(w->folder, 0700) < 0)
        set(v, NOT_JUDGED, "%s cannot be created: %s", w->folder, strerror(errno));
    else if (file_replace(w->answer, text, n))
        set(v, NOT_JUDGED, "%s cannot be written: %s", w->answer, strerror(errno));
    w->gradients = text && (strstr(text, "->grad") || strstr(text, "gra_grad("));
    free(text);
    return !v->finding[0];
}

/* True: it is compiled. */
static bool compile(struct verdict *v, const struct work *w, struct child *c)
{
    char *argv[] = { "sh", (char *)(size_t)w->script, (char *)(size_t)w->answer, (char *)(size_t)w->judge,
                     (char *)(size_t)w->program, NULL };
    setenv("TMPDIR", w->folder, 1);     /* then files of a killed compiler are removed too */
    const struct child_limits limits = { .seconds = COMPILE_SECONDS, .megabytes = COMPILE_MB,
                                         .addresses = COMPILE_MB };
    if (child_run(c, argv, &limits))
        set(v, NOT_JUDGED, "the compiler cannot be run");
    else if (WIFEXITED(c->status) && WEXITSTATUS(c->status) && what_failed(c))
        set(v, NOT_JUDGED, "it could not be compiled: %s", what_failed(c));
    else if (!WIFEXITED(c->status) || WEXITSTATUS(c->status)) {
        v->result = NOT_PASSED;
        why_not_compiled(v->finding, sizeof v->finding, c, w->file);
    } else
        what_compiler_warns(v->warnings, sizeof v->warnings, c, w->file);
    return !v->finding[0];
}

static bool draw_words(char words[RECORDS][WORD])
{
    FILE *f = fopen("/dev/urandom", "rb");
    const bool drawn = f && fread(words, WORD, RECORDS, f) == RECORDS;
    if (f)
        fclose(f);
    return drawn;
}

static void run(struct verdict *v, const struct work *w, struct child *c, int seconds)
{
    static char words[RECORDS][WORD];
    c->recorded = 0;
    if (!draw_words(words)) {
        set(v, NOT_JUDGED, "/dev/urandom cannot be read: %s", strerror(errno));
        return;
    }
    setenv("ASAN_OPTIONS", "detect_leaks=0:hard_rss_limit_mb=1024:max_allocation_size_mb=1024", 1);
    setenv("UBSAN_OPTIONS", "print_stacktrace=0", 1);
    const struct child_limits limits = {
        .folder = w->folder,
        .input = words[0],
        .ninput = sizeof words,
        .seconds = seconds,
        .megabytes = MEGABYTES,
        .addresses = w->sanitized ? 0 : MEGABYTES,
        .fixed = w->sanitized,
    };
    /* With some addresses a sanitizer crashes while it starts: then nothing of the answer has run. */
    for (int starts = 0; starts < STARTS && !c->recorded && !c->late && !c->large && !c->stopped; starts++)
        if (child_run(c, (char *[]){ "./program", "runner", NULL }, &limits)) {
            set(v, NOT_JUDGED,
                "it was compiled, but it cannot be run here: is the machine out of processes "
                "or memory?");
            return;
        }
    if (!c->recorded) {
        set(v, NOT_JUDGED, "the compiled program ended before the judge began, in each of %d starts", STARTS);
        return;
    }
    const bool done = read_records(v, c, words);
    const bool right = done && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
    v->result = right ? PASSED : NOT_PASSED;
    v->nprinted = c->printed;
    if (!right && !v->finding[0]) {
        why_crashed(v->finding, sizeof v->finding, c, &(struct ran){ w->file, seconds, w->gradients });
        v->nprinted = what_it_printed(c);
    }
    memcpy(v->printed, c->output, v->nprinted);
}

void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds)
{
    static struct child c;
    struct work w = { .sanitized = false };
    c.stopped = false;
    memset(v, 0, sizeof *v);
    if (!is_built(&w, v, build, name))
        return;
    if (work_begin(&w, v, build, name, file) && compile(v, &w, &c) && !c.stopped)
        run(v, &w, &c, seconds);
    if (c.stopped)
        set(v, NOT_JUDGED, "interrupted");
    remove_all(w.folder);
}
