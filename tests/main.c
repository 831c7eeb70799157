/* Runs the suites whose names are the arguments, or every suite. CK_RUN_SUITE=help lists them; Check's manual
 * has more such variables. */
#include "lib/crash.h"
#include "lib/suites.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The limits are generous: on a busy machine a second of work may take minutes. A limit on processor time
 * ends an endless loop; a test that waits for ever ends after an hour. If programs are slower, or all tests
 * share a process (CK_FORK=no), the limits are higher (CK_TIMEOUT_MULTIPLIER: the Makefile). */
static void limit_tests(void)
{
    enum { SECONDS = 120, HOUR = 3600 };
    const char *factor = getenv("CK_TIMEOUT_MULTIPLIER"), *fork = getenv("CK_FORK");
    const bool shared = fork && strcmp(fork, "no") == 0;
    const int longer = (factor && atoi(factor) > 1 ? atoi(factor) : 1) * (shared ? 5 : 1);
    const rlim_t seconds = SECONDS * (rlim_t)longer;
    struct rlimit limit;
    if (getrlimit(RLIMIT_CPU, &limit) == 0 && (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur > seconds)) {
        limit.rlim_cur = seconds;
        setrlimit(RLIMIT_CPU, &limit);
    }
    setenv("CK_DEFAULT_TIMEOUT", "3600", 0);
    if (shared)                                             /* then Check has no timeout */
        alarm(HOUR);
}

static const char *why_none(void)
{
    return getenv("CK_RUN_CASE") ? "CK_RUN_CASE matches none, or none in this precision"
                                 : "CK_INCLUDE_TAGS and CK_EXCLUDE_TAGS exclude all";
}

static bool asked_for(const char *suite, char **names)
{
    if (!*names)
        return true;
    while (*names && strcmp(*names, suite) != 0)
        names++;
    return *names;
}

static int none_called(const char *suite)
{
    fprintf(stderr, "there is no suite called \"%s\"; there are", suite);
    list_suites(stderr);
#ifndef GRADUS_DOUBLE
    fputs("Those that check gradients, which needs double precision, are in build/f64/test\n", stderr);
#endif
    return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const char *suite = getenv("CK_RUN_SUITE");
    if (suite && strcmp(suite, "help") == 0) {
        fputs("suites:", stdout);
        list_suites(stdout);
        return EXIT_SUCCESS;
    }
    if (suite && !suite_known(suite))
        return none_called(suite);
    for (int i = 1; i < argc; i++)
        if (!suite_known(argv[i]))
            return none_called(argv[i]);
    crash_watch();
    limit_tests();
    SRunner *r = srunner_create(NULL);
    for (const char *name = NULL; (name = next_suite(name));)
        if (asked_for(name, argv + 1))
            srunner_add_suite(r, suite_of(name));
    srunner_run_all(r, CK_ENV);
    int run = srunner_ntests_run(r), failed = srunner_ntests_failed(r);
    srunner_free(r);
    if (run == 0)
        fprintf(stderr, "no test was run: %s\n", why_none());
    return failed || run == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
