/* verdict: see verdict.h. */
#include "verdict.h"
#include "child.h"
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEGABYTES = 1024, COMPILE_SECONDS = 60, WORD = 33 };

/* A word that an answer cannot know, and without which nothing counts as passed. */
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

/* The first lines of a text, with each indented; says how many were left out. */
static void first_lines(char *to, size_t room, const char *text, int most)
{
    size_t at = 0;
    int lines = 0, more = 0;
    to[0] = 0;
    for (const char *s = text; *s; s += strcspn(s, "\n"), s += *s == '\n') {
        const int n = (int)strcspn(s, "\n");
        if (lines++ >= most || at + (size_t)n + 40 > room)
            more++;
        else
            at += (size_t)snprintf(to + at, room - at, "%.*s\n", n, s);
    }
    if (more)
        snprintf(to + at, room - at, "(and %d lines more)\n", more);
}

/* What a signal usually means, in a sentence. */
static const char *meaning(int signal_number)
{
    static const struct { int number; const char *says; } table[] = {
        { SIGSEGV, "SIGSEGV: it read or wrote memory that is not its own. Usual causes: an index past the end, a "
                   "pointer that was never set, a gradient that is NULL because nobody wants it, a function that "
                   "calls itself without end" },
        { SIGBUS,  "SIGBUS: it read or wrote memory that is not its own. Usual cause: a wrong pointer" },
        { SIGFPE,  "SIGFPE: an integer was divided by 0" },
        { SIGABRT, "SIGABRT: abort() was called, by an assert, by free() of what is not allocated, or by a check" },
        { SIGILL,  "SIGILL: no valid instruction. Usual cause: a function that ends without return" },
        { SIGTRAP, "SIGTRAP: a trap. Usual cause: a function that ends without return" },
        { SIGKILL, "SIGKILL: it was killed. Usual cause: it asked for too much memory" },
        { SIGXFSZ, "SIGXFSZ: it wrote too large a file" } };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].number == signal_number)
            return table[i].says;
    return strsignal(signal_number);
}

/* What a sanitizer found: its line of what, and the first place in the answer's own file. */
static bool sanitizer(const char *output, const char *file, char *text, size_t room)
{
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    const char *what = strstr(output, "runtime error: "), *error = strstr(output, "ERROR: AddressSanitizer: ");
    char where[80] = "";
    if (!what && !error)
        return false;
    for (const char *s = what ? output : error; (s = strstr(s, name)); s++)
        if (s[strlen(name)] == ':') {
            snprintf(where, sizeof where, "line %d: ", atoi(s + strlen(name) + 1));
            break;
        }
    what = what ? what + strlen("runtime error: ") : error + strlen("ERROR: AddressSanitizer: ");
    int n = (int)strcspn(what, "\n");
    const char *end = strstr(what, " on address");
    if (end && end - what < n)
        n = (int)(end - what);
    const char *plain = !strncmp(what, "heap-buffer-overflow", 20) || !strncmp(what, "stack-buffer-overflow", 21) ||
                        !strncmp(what, "global-buffer-overflow", 22) ? ": an array is read or written past its end" : "";
    snprintf(text, room, "%s%.*s%s", where, n, what, plain);
    return true;
}

/* Takes the records of the judge apart; true: it has seen all, and all was right. */
static bool read_records(struct verdict *v, const struct child *c, const char *word)
{
    size_t at = 0;
    bool done = false;
    for (const char *r = c->records; r < c->records + c->recorded; r += strlen(r) + 1) {
        if (*r == 'p')
            at += (size_t)snprintf(v->parts + at, sizeof v->parts - at, "%s\n", r + 1);
        else if (*r == 'w' && !v->finding[0])
            snprintf(v->finding, sizeof v->finding, "%s", r + 1);
        else if (*r == 'd')
            done = !strcmp(r + 1, word);
        if (at + 500 > sizeof v->parts)
            break;
    }
    return done && !v->finding[0];
}

/* Says why a judge that came to no end did not. */
static void explain_end(struct verdict *v, const struct child *c, const char *file, int seconds)
{
    char text[1000];
    if (c->late)
        snprintf(v->finding, sizeof v->finding, "it did not end within %d seconds. Usual cause: a loop whose condition "
                 "never becomes false", seconds);
    else if (sanitizer(c->output, file, text, sizeof text))
        snprintf(v->finding, sizeof v->finding, "it crashed: %s", text);
    else if (WIFSIGNALED(c->status))
        snprintf(v->finding, sizeof v->finding, "it crashed by %s", meaning(WTERMSIG(c->status)));
    else
        snprintf(v->finding, sizeof v->finding, "it ended the process (exit status %d) before the judge had seen all: "
                 "an answer returns, and does not call exit", WEXITSTATUS(c->status));
}

void verdict_of(struct verdict *v, const char *build, const char *name, const char *file, int seconds)
{
    static struct child c;
    char word[WORD], script[500], judge[500], program[500];
    memset(v, 0, sizeof *v);
    new_word(word);
    snprintf(script, sizeof script, "%s/exercises/compile", build);
    snprintf(judge, sizeof judge, "%s/f64/examples/exercises/judge/%s.o", build, name);
    snprintf(program, sizeof program, "%s/exercises/%s.%ld", build, name, (long)getpid());
    if (child_run(&c, (char *[]){ "sh", script, (char *)(size_t)file, judge, program, NULL }, "", COMPILE_SECONDS, 0) ||
        !WIFEXITED(c.status) || WEXITSTATUS(c.status)) {
        char lines[3000];
        first_lines(lines, sizeof lines, c.output, 12);
        snprintf(v->finding, sizeof v->finding, "it does not compile:\n%s", lines);
        return;
    }
    setenv("ASAN_OPTIONS", "detect_leaks=0:hard_rss_limit_mb=1024:max_allocation_size_mb=1024", 1);
    if (child_run(&c, (char *[]){ program, NULL }, word, seconds, 0))
        snprintf(v->finding, sizeof v->finding, "it was compiled, but cannot be started");
    else {
        v->passed = read_records(v, &c, word) && WIFEXITED(c.status) && WEXITSTATUS(c.status) == 0;
        if (!v->passed && !v->finding[0])
            explain_end(v, &c, file, seconds);
        first_lines(v->printed, sizeof v->printed, c.output, 12);
    }
    unlink(program);
}
