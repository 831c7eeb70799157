/* suites.h: the suites, in the order in which to read their failures: what stands lower in the house
 * comes first. */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

extern const struct suite {
    const char *name;                   /* by which CK_RUN_SUITE knows it; NULL ends the list */
    Suite    *(*make)(void);
} suites[];

bool suite_known(const char *name);
void list_suites(FILE *f);              /* their names, in lines that begin with a line break */

/* Where a size_t has 32 bits, some shapes are too large to count, and elsewhere only too large for the memory. */
#define ADDRESSES_OF_32_BITS (SIZE_MAX <= UINT32_MAX)

Suite *tests_suite(void);
Suite *random_suite(void);
Suite *shape_suite(void);
Suite *print_suite(void);
Suite *tape_suite(void);
Suite *threads_suite(void);
Suite *memory_suite(void);
Suite *model_suite(void);
Suite *check_suite(void);
Suite *slips_suite(void);
Suite *verdicts_suite(void);
Suite *ops_suite(void);
Suite *large_suite(void);
Suite *answers_suite(void);
Suite *refusals_suite(void);
Suite *mutants_suite(void);
Suite *attention_suite(void);
Suite *golden_suite(void);
Suite *layers_suite(void);
Suite *seeds_suite(void);
Suite *layer_errors_suite(void);
Suite *book_suite(void);
Suite *trace_suite(void);
Suite *view_suite(void);
Suite *cache_suite(void);
Suite *optim_suite(void);
Suite *save_suite(void);
Suite *load_suite(void);
Suite *npy_suite(void);
Suite *import_suite(void);
Suite *faults_suite(void);

#endif
