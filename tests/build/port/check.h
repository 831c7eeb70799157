/* check.h: a replacement for the library Check, where Check is not installed for the machine or C library. It
 * has the part of Check that the tests use, with the same names: see Check's manual. Each test runs in
 * a separate process, so a crash fails only one test. It obeys CK_RUN_SUITE, CK_RUN_CASE, CK_INCLUDE_TAGS,
 * CK_EXCLUDE_TAGS, CK_DEFAULT_TIMEOUT and CK_TAP_LOG_FILE_NAME. port.sh checks that, natively, it runs as
 * many tests as Check and finds the same failures. */
#ifndef STAND_IN_CHECK_H
#define STAND_IN_CHECK_H

#include <inttypes.h>
#include <string.h>

typedef struct Suite   Suite;
typedef struct TCase   TCase;
typedef struct SRunner SRunner;
typedef void TFun(int);
enum print_output { CK_ENV };

/* ---- suites ---- */

Suite   *suite_create(const char *name);
TCase   *tcase_create(const char *name);
void     suite_add_tcase(Suite *s, TCase *c);
void     tcase_set_tags(TCase *c, const char *tags);
void     tcase_add_checked_fixture(TCase *c, void (*before)(void), void (*after)(void));
void     stand_in_add(TCase *c, TFun *f, const char *name, int from, int to);
SRunner *srunner_create(Suite *s);                      /* s may be NULL */
void     srunner_add_suite(SRunner *r, Suite *s);
void     srunner_run_all(SRunner *r, enum print_output how);
int      srunner_ntests_run(SRunner *r);
int      srunner_ntests_failed(SRunner *r);
void     srunner_free(SRunner *r);

#define START_TEST(name) static void name(int _i) { (void)_i;
#define END_TEST         }
#define tcase_add_loop_test(c, f, from, to) stand_in_add(c, f, #f, from, to)

/* ---- assertions: a failed assertion ends the test's process ---- */

__attribute__((format(printf, 3, 4), noreturn))
void stand_in_fail(const char *file, int line, const char *format, ...);

/* _mark_point is defined in tests/lib/crash.h. */
#define ck_abort_msg(...)       stand_in_fail(__FILE__, __LINE__, __VA_ARGS__)
#define ck_assert_msg(x, ...) \
    ((x) ? _mark_point(__FILE__, __LINE__) : stand_in_fail(__FILE__, __LINE__, __VA_ARGS__))
#define ck_assert(x)            ck_assert_msg(x, "'%s' does not hold", #x)
#define STAND_IN_COMPARE(type, print, a, op, b)                                                          \
    do {                                                                                                 \
        const type a_ = (a), b_ = (b);                                                                   \
        ck_assert_msg(a_ op b_, "'%s' does not hold: " print " and " print, #a " " #op " " #b, a_, b_);  \
    } while (0)

#define ck_assert_int_eq(a, b)  STAND_IN_COMPARE(intmax_t, "%jd", a, ==, b)
#define ck_assert_int_ne(a, b)  STAND_IN_COMPARE(intmax_t, "%jd", a, !=, b)
#define ck_assert_int_ge(a, b)  STAND_IN_COMPARE(intmax_t, "%jd", a, >=, b)
#define ck_assert_int_gt(a, b)  STAND_IN_COMPARE(intmax_t, "%jd", a, >, b)
#define ck_assert_int_lt(a, b)  STAND_IN_COMPARE(intmax_t, "%jd", a, <, b)
#define ck_assert_uint_eq(a, b) STAND_IN_COMPARE(uintmax_t, "%ju", a, ==, b)
#define ck_assert_uint_ge(a, b) STAND_IN_COMPARE(uintmax_t, "%ju", a, >=, b)
#define ck_assert_uint_le(a, b) STAND_IN_COMPARE(uintmax_t, "%ju", a, <=, b)
#define ck_assert_uint_lt(a, b) STAND_IN_COMPARE(uintmax_t, "%ju", a, <, b)
#define ck_assert_ptr_eq(a, b)  STAND_IN_COMPARE(uintptr_t, "%#" PRIxPTR, (uintptr_t)(a), ==, (uintptr_t)(b))
#define ck_assert_ptr_ne(a, b)  STAND_IN_COMPARE(uintptr_t, "%#" PRIxPTR, (uintptr_t)(a), !=, (uintptr_t)(b))
#define ck_assert_ptr_null(a)    ck_assert_ptr_eq(a, NULL)
#define ck_assert_ptr_nonnull(a) ck_assert_ptr_ne(a, NULL)
#define ck_assert_double_eq(a, b) STAND_IN_COMPARE(double, "%.17g", a, ==, b)
#define ck_assert_double_le(a, b) STAND_IN_COMPARE(double, "%.17g", a, <=, b)
#define ck_assert_double_eq_tol(a, b, tol)                                                               \
    do {                                                                                                 \
        const double d_ = (a) - (b);                                                                     \
        ck_assert_msg(d_ <= (tol) && -d_ <= (tol), "'%s' is %.17g", #a " - " #b, d_);                    \
    } while (0)
#define ck_assert_str_eq(a, b)                                                                           \
    do {                                                                                                 \
        const char *a_ = (a), *b_ = (b);                                                                 \
        ck_assert_msg(a_ && b_ && strcmp(a_, b_) == 0, "'%s' is \"%s\", expected \"%s\"", #a,              \
                      a_ ? a_ : "NULL", b_ ? b_ : "NULL");                                               \
    } while (0)
#define ck_assert_mem_eq(a, b, n) ck_assert_msg(memcmp(a, b, n) == 0, "'%s' differ", #a " and " #b)

#endif
