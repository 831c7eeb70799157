/* Runs every suite. CK_RUN_SUITE=ops runs one alone, CK_RUN_SUITE=help lists them; see Check's manual. */
#include "crash.h"
#include "suites.h"

#include <stdio.h>
#include <stdlib.h>

int main(void)
{
    if (!suite_known(getenv("CK_RUN_SUITE"), stderr))
        return EXIT_FAILURE;
    crash_watch();
    SRunner *r = srunner_create(NULL);
    for (int i = 0; suites[i].name; i++)
        srunner_add_suite(r, suites[i].make());
    srunner_run_all(r, CK_ENV);
    int run = srunner_ntests_run(r), failed = srunner_ntests_failed(r);
    srunner_free(r);
    if (run == 0)
        fputs("no test was run: CK_RUN_CASE names none, or that suite has none in this precision\n", stderr);
    return failed || run == 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
