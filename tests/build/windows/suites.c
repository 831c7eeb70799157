/* suites: runs the suites that are named, under Windows: without what tests/main.c and tests/lib/crash.c do
 * with signals. What only another process could show, that a program aborts, is left out. */
#include "lib/aborts.h"
#include "lib/suites.h"

#include <stdlib.h>

const char *volatile crash_place;
void crash_note(const char *format, ...) { (void)format; }
void expect_abort(void (*f)(void), const char *sentence)        { (void)f, (void)sentence; }
void expect_abort_ending(void (*f)(void), const char *end)      { (void)f, (void)end; }

int main(int argc, char **argv)
{
    SRunner *r = srunner_create(NULL);
    for (int i = 1; i < argc; i++)
        srunner_add_suite(r, suite_of(argv[i]));
    srunner_run_all(r, CK_ENV);
    return srunner_ntests_run(r) < argc || srunner_ntests_failed(r) ? EXIT_FAILURE : EXIT_SUCCESS;
}
