/* suites: runs the named suites on Windows, without the signal handling of tests/main.c and
 * tests/lib/crash.c. It skips tests that need another process to observe an abort. */
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
