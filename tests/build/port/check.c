/* check: see check.h. */
#include "check.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef __MINGW32__                     /* MinGW has no fork: there all tests run in this process */
#include <sys/wait.h>
#endif
#include <unistd.h>

struct Suite {
    const char *name;
};

struct TCase {
    const char  *name, *tags;
    void       (*before)(void), (*after)(void);
    const Suite *suite;
};

struct test {
    TFun        *f;
    const char  *name;
    int          from, to;
    const TCase *c;
    struct test *next;
};

struct SRunner {
    int   run, failed;
    FILE *tap;
};

/* ---- making suites: all tests are one list, and nothing is freed before the process ends ---- */

static struct test *first, **last = &first;

static void *new(size_t size)
{
    void *p = calloc(1, size);
    if (!p)
        abort();
    return p;
}

Suite *suite_create(const char *name)
{
    Suite *s = new(sizeof *s);
    s->name = name;
    return s;
}

TCase *tcase_create(const char *name)
{
    TCase *c = new(sizeof *c);
    c->name = name;
    c->tags = "";
    return c;
}

SRunner *srunner_create(Suite *s)                    { (void)s; return new(sizeof(SRunner)); }
void srunner_add_suite(SRunner *r, Suite *s)         { (void)r, (void)s; }
void suite_add_tcase(Suite *s, TCase *c)             { c->suite = s; }
void tcase_set_tags(TCase *c, const char *tags)      { c->tags = tags; }
int  srunner_ntests_run(SRunner *r)                  { return r->run; }
int  srunner_ntests_failed(SRunner *r)               { return r->failed; }
void srunner_free(SRunner *r)                        { (void)r; }

void tcase_add_checked_fixture(TCase *c, void (*before)(void), void (*after)(void))
{
    c->before = before;
    c->after = after;
}

void stand_in_add(TCase *c, TFun *f, const char *name, int from, int to)
{
    *last = new(sizeof **last);
    **last = (struct test){ f, name, from, to, c, NULL };
    last = &(*last)->next;
}

/* ---- running suites ---- */

static pid_t main_process;
#ifdef __MINGW32__
static void *next_test[5];
#define _exit(status) __builtin_longjmp(next_test, 1)
#endif

void stand_in_fail(const char *file, int line, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%s:%d: ", file, line);
    vprintf(format, args);
    va_end(args);
    putchar('\n');
    fflush(stdout);
    if (getpid() == main_process)       /* not in a test: the suite cannot be made */
        abort();
    _exit(EXIT_FAILURE);
}

static void run_here(const struct test *t, int i)
{
    if (t->c->before)
        t->c->before();
    t->f(i);
    if (t->c->after)
        t->c->after();
}

/* Runs a test: returns 0, or its exit status, or 1000 + the signal that ended it. */
static int status_of(const struct test *t, int i)
{
#ifdef __MINGW32__
    if (__builtin_setjmp(next_test))
        return EXIT_FAILURE;
    main_process = 0;                   /* from here on, failures belong to a test */
    run_here(t, i);
    return 0;
#else
    const char *seconds = getenv("CK_DEFAULT_TIMEOUT");
    int status = 0;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        alarm(seconds ? (unsigned)atoi(seconds) : 4);
        run_here(t, i);
        exit(EXIT_SUCCESS);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return EXIT_FAILURE;
    return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
#endif
}

static void run(SRunner *r, const struct test *t, int i)
{
    const char *suite = t->c->suite->name, *in = t->c->name;
    const int status = status_of(t, i);
    const bool passed = status == 0;
    r->run++;
    r->failed += !passed;
    if (!passed)
        printf("FAILED: %s:%s:%s:%d: it ended by %s %d\n", suite, in, t->name, i,
               status > 1000 ? "signal" : "exit status", status % 1000);
    if (r->tap)
        fprintf(r->tap, "%s %d - %s:%s:%s:%d\n", passed ? "ok" : "not ok", r->run, suite, in, t->name, i);
}

/* Do two lists of words, separated by blanks, have a word in common? */
static bool meet(const char *words, const char *those)
{
    for (const char *w = words; *w; w += *w == ' ') {
        const size_t n = strcspn(w, " ");
        for (const char *at = those; n && *at; at += *at == ' ') {
            const size_t m = strcspn(at, " ");
            if (m == n && strncmp(w, at, n) == 0)
                return true;
            at += m;
        }
        w += n;
    }
    return false;
}

static bool named(const char *variable, const char *name)
{
    const char *only = getenv(variable);
    return !only || strcmp(only, name) == 0;
}

static bool tagged(const char *tags)
{
    const char *only = getenv("CK_INCLUDE_TAGS"), *without = getenv("CK_EXCLUDE_TAGS");
    return (!only || meet(only, tags)) && !(without && meet(without, tags));
}

void srunner_run_all(SRunner *r, enum print_output how)
{
    const char *path = getenv("CK_TAP_LOG_FILE_NAME");
    (void)how;
    main_process = getpid();
    r->tap = path ? fopen(path, "w") : NULL;
    for (const struct test *t = first; t; t = t->next)
        for (int i = t->from; i < t->to; i++)
            if (named("CK_RUN_SUITE", t->c->suite->name) && named("CK_RUN_CASE", t->c->name) &&
                tagged(t->c->tags))
                run(r, t, i);
    if (r->tap)
        fclose(r->tap);
    printf("Checks: %d, Failures: %d\n", r->run, r->failed);
}
