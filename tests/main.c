/* Runs every suite. CK_RUN_SUITE=ops runs one alone (see the manual of Check). */
#include "suites.h"

#include <signal.h>
#include <stdlib.h>

static Suite *(*const suites[])(void) = {
    random_suite, shape_suite, print_suite, tape_suite, threads_suite, memory_suite, model_suite,
    check_suite, ops_suite, answers_suite, mutants_suite, attention_suite, golden_suite, layers_suite,
    layer_errors_suite, cache_suite, trace_suite, optim_suite, save_suite, load_suite, npy_suite,
    gpt_file_suite, faults_suite,
};

#ifdef GRADUS_COVERAGE
void __gcov_dump(void);
static void keep_counts(int number)     /* of a test that ends by abort, as some shall (make coverage) */
{
    (void)number;
    __gcov_dump();
}
#endif

int main(void)
{
#ifdef GRADUS_COVERAGE
    signal(SIGABRT, keep_counts);
#endif
    SRunner *r = srunner_create(NULL);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        srunner_add_suite(r, suites[i]());
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
