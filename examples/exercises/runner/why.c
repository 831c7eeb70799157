/* why: see why.h. */
#include "why.h"
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

/* Appends the compiler's lines from `s` on that contain `with` ("": all lines). The temporary folder of the
 * answer's file is removed from them. Returns how many more lines there are than `most`. */
static int append_lines(char *text, size_t room, const char *s, const char *with, int most, const char *file)
{
    int n = 0;
    for (size_t length; *s; s += length + (s[length] == '\n')) {
        const char *path = strstr(s, file), *found = strstr(s, with);
        length = strcspn(s, "\n");
        if (!found || found > s + length || n++ >= most)
            continue;
        size_t before = path && path < s + length ? (size_t)(path - s) : 0, after = 0;
        if (path && path < s + length)
            after = (size_t)(strchr(path, '/') + 1 - s);
        while (before && !strchr(" ('\"", s[before - 1]))
            before--;
        append(text, room, "%.*s%.*s\n", (int)before, s, (int)(length - after), s + after);
    }
    return n - most;
}

void what_compiler_warns(char *text, size_t room, const struct child *c, const char *file)
{
    append_lines(text, room, c->output, "warning: ", 3, file);
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

void why_not_compiled(char *text, size_t room, const struct child *c, const char *file)
{
    enum { LINES = 12 };
    const char *from = strstr(c->output, "error: "), *refused = strstr(c->output, "refused: ");
    if (c->late || c->large || c->loud || strstr(c->output, "File size limit") ||
        strstr(c->output, "out of memory"))
        append(text, room,
               "it does not compile: the compiler did not end, or needed too much memory. Usual "
               "cause: an enormous array with initial values, or macros that expand without end");
    else if (refused)
        append(text, room, "%.*s", (int)strcspn(refused + 9, "\n"), refused + 9);
    else {
        while (from && from > c->output && from[-1] != '\n')
            from--;
        append(text, room, "it does not compile:\n");
        const int more = append_lines(text, room, from ? from : c->output, "", LINES, file);
        if (more > 0)
            append(text, room, "(and %d more lines)\n", more);
    }
}

/* ---- crashes ------------------------------------------------------------------------------------ */

/* The meanings of signals and of a sanitizer's words; the part after a | is added if there are gradients. */
static const struct meaning {
    int number;
    const char *name, *words, *says;
} meanings[] = {
    { 0, "", "-buffer-", "an array is read or written past its end, or before its beginning" },
    { 0, "", "stack-overflow",
      "the stack is full: a function calls itself without end, or has an array that is too large" },
    { SIGSEGV, "SIGSEGV", "SEGV on unknown address",
      "it read or wrote memory that is not its own. Usual causes: an index past the end, a pointer that was "
      "never set, malloc() that returned NULL, a function that calls itself without end|, a gradient that is "
      "not needed (NULL)" },
    { 0, "", "null pointer", "a pointer is NULL, or was never set| (a gradient that is not needed is NULL)" },
    { SIGFPE, "SIGFPE", "FPE", "an integer was divided by 0" },
    { SIGABRT, "SIGABRT", "SIGABRT",
      "abort() was called, by an assert, by free() of memory that was not allocated, or by a check" },
    { SIGKILL, "SIGKILL", "hard rss", "it was killed: by itself, or because it needed too much memory" },
};

/* The meaning of a sanitizer's line, or if it is NULL, of a signal; if unknown, the line or signal itself. */
static void append_meaning(char *text, size_t room, const char *report, int number, bool gradients)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        const struct meaning *m = &meanings[i];
        const size_t n = strcspn(m->says, "|");
        if (report ? !strstr(report, m->words) : m->number != number)
            continue;
        append(text, room, "%s%s%.*s%s", report ? "" : m->name, report ? "" : ": ", (int)n, m->says,
               gradients && m->says[n] ? m->says + n + 1 : "");
        return;
    }
    append(text, room, "%s%s", report ? "" : "a signal: ", report ? report : strsignal(number));
}

/* The first line of the answer that a sanitizer's report names; 0: none. */
static int line_in(const char *report, const char *file)
{
    for (const char *s = report; (s = strstr(s, file)); s++)
        if (s[strlen(file)] == ':')
            return atoi(s + strlen(file) + 1);
    return 0;
}

size_t what_it_printed(const struct child *c)
{
    static const char *const begins[] = { "Sanitizer:DEADLYSIGNAL", ": runtime error: ", "=====\n==",
                                          "AddressSanitizer: hard rss" };
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

/* What a sanitizer found, and where; false: nothing. The report comes after the answer's output. */
static bool append_report(char *text, size_t room, const struct child *c, const struct ran *r)
{
    static const char *const begins[] = { "runtime error: ", "AddressSanitizer: " };
    const char *report = c->output + what_it_printed(c), *says = NULL;
    char first[500];
    for (size_t i = 0; i < sizeof begins / sizeof *begins && !says; i++)
        says = strstr(report, begins[i]);
    if (!says)
        return false;
    snprintf(first, sizeof first, "%.*s", (int)strcspn(says, "\n"), says);
    append(text, room, "it crashed: ");
    if (line_in(report, r->file))
        append(text, room, "line %d: ", line_in(report, r->file));
    append_meaning(text, room, first, 0, r->gradients);
    return true;
}

void why_crashed(char *text, size_t room, const struct child *c, const struct ran *r)
{
    const int number = WIFSIGNALED(c->status) ? WTERMSIG(c->status) : 0;
    text[0] = 0;
    if (c->late)
        append(text, room,
               "it did not end within %d second%s. Usual cause: an endless loop, or work that "
               "doubles at each step",
               r->seconds, r->seconds == 1 ? "" : "s");
    else if (c->loud)
        append(text, room, "it prints without end. Usual cause: a loop whose condition never becomes false");
    else if (c->large)
        append(text, room, "it asked for too much memory. Usual cause: a loop that allocates and never ends");
    else if (append_report(text, room, c, r))
        return;
    else if (!number)
        append(text, room,
               "it ended the process (exit status %d) before the judge had finished: an answer must "
               "return, and must not call exit or close the judge's files",
               WEXITSTATUS(c->status));
    else {
        append(text, room, "it crashed with ");
        append_meaning(text, room, NULL, number, r->gradients);
    }
}
