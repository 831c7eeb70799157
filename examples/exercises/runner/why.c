/* why: see why.h. */
#include "why.h"
#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static void append(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
static void append(char *text, size_t room, const char *format, ...)
{
    const size_t at = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + at, room - at, format, args);
    va_end(args);
}

/* ---- the compiler ------------------------------------------------------------------------------- */

/* Appends one line of the compiler's, with only the file name of the answer, as its folder is temporary. */
static void append_line(char *text, size_t room, const char *line, size_t n, const char *file)
{
    const char *path = strstr(line, file), *end = line + n, *before = path;
    if (path && path < end) {
        while (before > line && !strchr(" ('\"", before[-1]))
            before--;
        append(text, room, "%.*s", (int)(before - line), line);
        line = strchr(path, '/') + 1;
    }
    append(text, room, "%.*s\n", (int)(end - line), line);
}

static const char *next_line(const char *s)
{
    s += strcspn(s, "\n");
    return s + (*s == '\n');
}

void what_compiler_warns(char *text, size_t room, const struct child *c, const char *file)
{
    int n = 0;
    text[0] = 0;
    for (const char *s = c->output; *s && n < 3; s = next_line(s)) {
        const size_t length = strcspn(s, "\n");
        const char *warning = strstr(s, "warning: ");
        if (warning && warning < s + length)
            append_line(text, room, s, length, file), n++;
    }
}

/* The name, between quotes of any kind, after `words`. */
static bool named_after(const char *output, const char *words, char *name, size_t room)
{
    const char *s = strstr(output, words);
    size_t n = 0;
    if (!s)
        return false;
    s += strlen(words);
    s += strspn(s, " `'\"_:");
    while (n + 1 < room && (isalnum((unsigned char)s[n]) || s[n] == '_'))
        n++;
    snprintf(name, room, "%.*s", (int)n, s);
    return n > 0;
}

/* A linker's message as a sentence. */
static bool linker(char *text, size_t room, const char *output)
{
    char name[80];
    if (named_after(output, "multiple definition of", name, sizeof name) ||
        named_after(output, "duplicate symbol", name, sizeof name))
        snprintf(text, room, !strcmp(name, "main")
                     ? "it defines main, but the judge has its own main: leave yours out%s"
                     : "it defines %s, a name that gradus or the judge uses: choose another, or make it "
                       "static", !strcmp(name, "main") ? "" : name);
    else if (named_after(output, "undefined reference to", name, sizeof name) ||
             named_after(output, "undefined symbol:", name, sizeof name) ||
             named_after(output, "Undefined symbols for architecture x86_64:\n", name, sizeof name) ||
             named_after(output, "Undefined symbols for architecture arm64:\n", name, sizeof name))
        snprintf(text, room, "the function %s is missing: is it in the file, spelt so, not static?", name);
    else if (strstr(output, "relocation"))
        snprintf(text, room, "an array in it is too large");
    else
        return false;
    return true;
}

const char *what_failed(const struct child *c)
{
    static const char *const words[] = { "No space left on device", "Resource temporarily unavailable",
                                         "Cannot allocate memory", "annot fork", "Too many open files" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(c->output, words[i]))
            return i == 3 ? "the system cannot start another process" : words[i];
    return NULL;
}

/* A file that was not found, as a sentence. gcc says "fatal error: x.c: No such file", clang "error: 'x.c'
 * file not found", "fatal" or not. */
static bool not_found(char *text, size_t room, const char *output)
{
    const char *error = strstr(output, "error: "), *name = error ? error + 7 : "";
    const size_t line = strcspn(name, "\n");
    const char *end = strstr(name, ": No such file"), *file = strstr(name, "' file not found");
    end = *name == '\'' ? file : end;
    name += *name == '\'';
    if (!error || !end || end > name + line)
        return false;
    const int n = (int)(end - name);
    snprintf(text, room, "it includes %.*s, expected only exercises.h and the headers of C%s", n, name,
             n > 2 && !strncmp(end - 2, ".c", 2) ? ": write it yourself" : "; there is no such file");
    return true;
}

void why_not_compiled(char *text, size_t room, const struct child *c, const char *file)
{
    enum { LINES = 12, REFUSED = 3 };   /* as exit status of the script of compile.sh */
    const char *from = strstr(c->output, "error: "), *refused = strstr(c->output, "refused: ");
    int n = 0, more = 0;
    text[0] = 0;
    const bool links = strstr(c->output, "ld returned") || strstr(c->output, "linker command failed");
    const bool full = strstr(c->output, "File size limit") || strstr(c->output, "out of memory");
    if (c->late || c->large || c->loud || full) {
        snprintf(text, room, "it does not compile: the compiler did not end, or needed too much memory. "
                 "Usual cause: an enormous array with initial values, or macros that expand without end");
        return;
    }
    if (WIFEXITED(c->status) && WEXITSTATUS(c->status) == REFUSED && refused) {
        append(text, room, "%.*s", (int)strcspn(refused + 9, "\n"), refused + 9);
        return;
    }
    if ((links && linker(text, room, c->output)) || not_found(text, room, c->output))
        return;
    if (links || !from)
        from = c->output;
    while (from > c->output && from[-1] != '\n')
        from--;
    append(text, room, "it does not compile:\n");
    for (const char *s = from; *s; s = next_line(s))
        if (n++ < LINES && strlen(text) + 200 < room)
            append_line(text, room, s, strcspn(s, "\n"), file);
        else
            more++;
    if (more)
        append(text, room, "(and %d more lines)\n", more);
}

/* ---- crashes ------------------------------------------------------------------------------------ */

struct meaning {
    int         number;                 /* of a signal; 0 in the table of the sanitizers */
    const char *words;                  /* a sanitizer's */
    const char *says;                   /* after a |: what is added where there are gradients */
};

static void append_meaning(char *text, size_t room, const char *says, bool gradients)
{
    const size_t n = strcspn(says, "|");
    append(text, room, "%.*s%s", (int)n, says, gradients && says[n] ? says + n + 1 : "");
}

static const struct meaning signals[] = {
    { SIGSEGV, "", "SIGSEGV: it read or wrote memory that is not its own. Usual causes: an index past the "
                   "end, a pointer that was never set, malloc() that returned NULL, a function that "
                   "calls itself without end|, a gradient that is not needed (NULL)" },
    { SIGBUS,  "", "SIGBUS: it read or wrote memory that is not its own. Usual cause: a wrong pointer" },
    { SIGFPE,  "", "SIGFPE: an integer was divided by 0" },
    { SIGABRT, "", "SIGABRT: abort() was called, by an assert, by free() of memory that was not allocated, "
                   "or by a check" },
    { SIGILL,  "", "SIGILL: an invalid instruction. Usual cause: a function that ends without return" },
    { SIGTRAP, "", "SIGTRAP: a trap. Usual cause: a function that ends without return" },
    { SIGKILL, "", "SIGKILL: it was killed: by itself, or because it needed too much memory" },
    { SIGXFSZ, "", "SIGXFSZ: it wrote a file that is too large" },
    { 0, NULL, NULL } };

static const struct meaning sanitizers[] = {
    { 0, "heap-buffer-overflow",    "an array is read or written past its end, or before its beginning" },
    { 0, "stack-buffer-",           "an array is read or written past its end, or before its beginning" },
    { 0, "dynamic-stack-buffer",    "an array is read or written past its end, or before its beginning" },
    { 0, "global-buffer-overflow",  "an array is read or written past its end, or before its beginning" },
    { 0, "heap-use-after-free",     "memory is used after free()" },
    { 0, "stack-use-after-",        "a local variable is used after its function or block has ended" },
    { 0, "stack-overflow",          "the stack is full: a function calls itself without end, or has an "
                                    "array that is too large" },
    { 0, "attempting double-free",  "free() is called twice for the same memory" },
    { 0, "attempting free on addr", "free() of memory that malloc() did not return" },
    { 0, "SEGV on unknown address", "a pointer is wrong: NULL, never set, or far outside its array"
                                    "| (a gradient that is not needed is NULL)" },
    { 0, "requested allocation",    "it asked for too much memory" },
    { 0, "allocation-size-too-big", "it asked for too much memory" },
    { 0, "calloc-overflow",         "it asked for too much memory" },
    { 0, "out of memory",           "it asked for too much memory" },
    { 0, "negative-size-param",     "a size is negative" },
    { 0, "null pointer passed",     "a NULL pointer is passed to a function that needs memory" },
    { 0, "division by zero",        "an integer is divided by 0" },
    { 0, "null pointer",            "a pointer is NULL| (a gradient that is not needed is NULL)" },
    { 0, "FPE",                     "an integer is divided by 0" },
    { 0, "misaligned address",      "a pointer is wrong: never set, or read where there is none" },
    { 0, NULL, NULL } };

/* The first line of the answer that a sanitizer's report names, from `report` on; 0: none. */
static int line_in(const char *report, const char *file)
{
    for (const char *s = report; (s = strstr(s, file)); s++)
        if (s[strlen(file)] == ':')
            return atoi(s + strlen(file) + 1);
    return 0;
}

size_t what_it_printed(const struct child *c)
{
    static const char *const begins[] = {
        "AddressSanitizer:DEADLYSIGNAL", "UndefinedBehaviorSanitizer:DEADLYSIGNAL", ": runtime error: ",
        "=================================================================\n==",
    };
    size_t n = c->printed;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++) {
        const char *s = strstr(c->output, begins[i]);
        while (s && s > c->output && s[-1] != '\n')
            s--;
        if (s && (size_t)(s - c->output) < n)
            n = (size_t)(s - c->output);
    }
    return n;
}

/* An array of the answer's own may be too short for a line that is right: where it was allocated. Far from an
 * array nobody knows whether it is the one that was meant. */
static void append_allocation(char *text, size_t room, const char *report, const char *file)
{
    const char *region = strstr(report, "-byte region");
    const char *from = region ? strstr(region, "allocated by") : NULL;
    const char *caller = from ? strstr(from, "#1 ") : NULL;
    char frame[500];
    const char *located = strstr(report, "is located ");
    if (!caller || !located || atoi(located + 11) > 64)
        return;
    snprintf(frame, sizeof frame, "%.*s", (int)strcspn(caller, "\n"), caller);
    while (region > report && isdigit((unsigned char)region[-1]))
        region--;
    if (line_in(frame, file))
        append(text, room, "; line %d allocated it, with %d bytes", line_in(frame, file), atoi(region));
}

/* What a sanitizer found, and where. A process writes its report last, so the last one is taken. */
static bool sanitizer(char *text, size_t room, const char *output, const struct ran *r)
{
    static const char *const begins[] = { "runtime error: ", "ERROR: AddressSanitizer: ",
                                          "AddressSanitizer: hard rss" };
    const char *report = NULL, *what = NULL;
    char first[500];                    /* its first line */
    for (size_t i = 0; i < sizeof begins / sizeof *begins && !report; i++)
        for (const char *s = output; (s = strstr(s, begins[i])); s++)
            report = s, what = i == 2 ? "out of memory" : s + strlen(begins[i]);
    if (!report)
        return false;
    const bool undefined = !strncmp(report, begins[0], strlen(begins[0]));
    while (undefined && report > output && report[-1] != '\n')       /* it names the place before the words */
        report--;
    const int line = line_in(report, r->file);
    text[0] = 0;
    if (line)
        append(text, room, "line %d: ", line);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(what, "\n"), what);
    for (const struct meaning *m = sanitizers; m->words; m++)
        if (strstr(first, m->words)) {
            append_meaning(text, room, m->says, r->gradients);
            if (m == sanitizers)                /* heap-buffer-overflow */
                append_allocation(text, room, report, r->file);
            return true;
        }
    append(text, room, "%s", first);
    return true;
}

void why_crashed(char *text, size_t room, const struct child *c, const struct ran *r)
{
    char found[1000];
    const int seconds = r->seconds;
    const int number = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    if (c->late)
        snprintf(text, room, "it did not end within %d second%s. Usual cause: an endless loop, or work "
                 "that doubles at each step", seconds, seconds == 1 ? "" : "s");
    else if (c->loud)
        snprintf(text, room, "it prints without end. Usual cause: a loop whose condition never becomes "
                 "false");
    else if (c->large)
        snprintf(text, room, "it asked for too much memory. Usual cause: a loop that allocates and never "
                 "ends");
    else if (sanitizer(found, sizeof found, c->output, r))
        snprintf(text, room, "it crashed: %s", found);
    else if (number) {
        const struct meaning *m = signals;
        while (m->says && m->number != number)
            m++;
        snprintf(text, room, "it crashed with ");
        append_meaning(text, room, m->says ? m->says : strsignal(number), r->gradients);
    } else
        snprintf(text, room, "it ended the process (exit status %d) before the judge had finished: an answer "
                 "must return, and must not call exit or close the judge's files", WEXITSTATUS(c->status));
}
