/* verdict: see verdict.h. */
#include "verdict.h"
#include "../../lib/files.h"
#include "why.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTES = 1024, COMPILE_SECONDS = 20, COMPILE_MB = 4096, WORD = 33, PATH = 600 };

/* A random word that an answer cannot know: only records with this word count. */
static void new_word(char *word)
{
    unsigned char bytes[(WORD - 1) / 2] = { 0 };
    FILE *f = fopen("/dev/urandom", "rb");
    if (!f || fread(bytes, 1, sizeof bytes, f) != sizeof bytes)
        bytes[0] = (unsigned char)getpid();
    if (f)
        fclose(f);
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(word + 2 * i, 3, "%02x", bytes[i]);
}

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

/* Parses the judge's records, each of which begins with the word. True: all was judged, all is right. */
static bool read_records(struct verdict *v, const struct child *c, const char *word)
{
    const size_t length = strlen(word);
    bool done = false;
    for (const char *r = c->records, *end = r + c->recorded; r + length < end; r++) {
        if (memcmp(r, word, length))
            continue;
        r += length;
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
    char folder[PATH], answer[PATH], program[PATH];
    const char *file;                   /* "answer.123/08_softmax.c": no other path ends like this */
};

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
        set(v, NOT_JUDGED, "the file cannot be read: %s", strerror(errno));
    else if (strspn(text, " \t\r\n") == n)
        set(v, NOT_PASSED, "the file is empty");
    else if (memchr(text, 0, n))
        set(v, NOT_PASSED, "the file is not C source: it contains zero bytes");
    else if (mkdir(w->folder, 0700) < 0 && errno != EEXIST)
        set(v, NOT_JUDGED, "%s cannot be created: %s", w->folder, strerror(errno));
    else if (file_replace(w->answer, text, n))
        set(v, NOT_JUDGED, "%s cannot be written: %s", w->answer, strerror(errno));
    free(text);
    return !v->finding[0];
}

static void work_end(const struct work *w, struct child *c)
{
    bool (*const stop)(void) = child_stop;
    child_stop = NULL;                  /* clean up even after an interruption */
    child_run(c, (char *[]){ "rm", "-rf", (char *)(size_t)w->folder, NULL },
              &(struct child_limits){ .word = "", .seconds = 60, .megabytes = MEGABYTES });
    child_stop = stop;
}

/* True: it is compiled. */
static bool compile(struct verdict *v, const struct work *w, struct child *c, const char *build,
                    const char *name)
{
    char script[PATH], judge[PATH];
    snprintf(script, sizeof script, "%.400s/exercises/compile", build);
    snprintf(judge, sizeof judge, "%.400s/f64/examples/exercises/judge/%.100s.o", build, name);
    if (access(script, R_OK) || access(judge, R_OK)) {
        set(v, NOT_JUDGED, "the judge of this exercise is not built: `make exercise N=%.2s` builds it", name);
        return false;
    }
    char *argv[] = { "sh", script, (char *)(size_t)w->answer, judge, (char *)(size_t)w->program, NULL };
    setenv("TMPDIR", w->folder, 1);     /* so what an ended compiler leaves is removed too */
    const struct child_limits limits = { .word = "", .seconds = COMPILE_SECONDS, .megabytes = COMPILE_MB,
                                         .addresses = COMPILE_MB };
    if (child_run(c, argv, &limits))
        set(v, NOT_JUDGED, "the compiler cannot be started");
    else if (!WIFEXITED(c->status) || WEXITSTATUS(c->status)) {
        v->result = NOT_PASSED;
        why_not_compiled(v->finding, sizeof v->finding, c, w->file);
    }
    else
        what_compiler_warns(v->warnings, sizeof v->warnings, c, w->file);
    return !v->finding[0];
}

/* Whether answers are compiled with a sanitizer, which maps terabytes and watches memory itself. */
static bool sanitized(const char *build)
{
    char path[PATH];
    size_t n;
    snprintf(path, sizeof path, "%.400s/exercises/compile", build);
    char *script = file_read_plain(path, &n);
    const bool is = script && strstr(script, "-fsanitize=address");
    free(script);
    return is;
}

static void run(struct verdict *v, const struct work *w, struct child *c, const char *build, int seconds)
{
    char word[WORD];
    new_word(word);
    setenv("ASAN_OPTIONS", "detect_leaks=0:hard_rss_limit_mb=1024:max_allocation_size_mb=1024", 1);
    setenv("UBSAN_OPTIONS", "print_stacktrace=0", 1);
    const struct child_limits limits = {
        .folder = w->folder, .word = word, .seconds = seconds, .megabytes = MEGABYTES,
        .addresses = sanitized(build) ? 0 : MEGABYTES,
    };
    if (child_run(c, (char *[]){ "./program", NULL }, &limits)) {
        set(v, NOT_PASSED, "it compiles, but cannot be started");
        return;
    }
    const bool right = read_records(v, c, word) && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 0;
    v->result = right ? PASSED : NOT_PASSED;
    v->nprinted = c->printed;
    if (!right && !v->finding[0]) {
        why_crashed(v->finding, sizeof v->finding, c, w->file, seconds);
        v->nprinted = what_it_printed(c);
    }
    memcpy(v->printed, c->output, v->nprinted);
}

void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds)
{
    static struct child c;
    struct work w;
    memset(v, 0, sizeof *v);
    if (!work_begin(&w, v, build, name, file))
        return;
    if (compile(v, &w, &c, build, name) && !c.stopped)
        run(v, &w, &c, build, seconds);
    if (c.stopped)
        set(v, NOT_JUDGED, "interrupted");
    work_end(&w, &c);
}
