/* suites.h: how to write a test, and the list of suites. A test registers itself before main begins. The
 * tests in tests/ROOM/test_NAME.c are the suite NAME, in the order of the file:
 *
 *     CASE(name, open_all, close_all, "")     // run before and after each test from here on; a tag or ""
 *
 *     TEST(name) { ... }
 *     TESTS(name, n) { ... }                  // n tests, with _i from 0 to n - 1
 */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

#include "crash.h"

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TEST(name) TESTS(name, 1)
#define TESTS(name, n)                                                                                   \
    static void name##_body(int _i);                                                                     \
    START_TEST(name) { name##_body(_i); } END_TEST                                                       \
    static void name##_add(TCase *c) { tcase_add_loop_test(c, name, 0, n); }                             \
    LISTED(name, .add = name##_add)                                                                      \
    static void name##_body(int _i __attribute__((unused)))

#define CASE(name, before_, after_, tag_) LISTED(name, .before = before_, .after = after_, .tag = tag_)

#define LISTED(name, ...)                                                                                \
    __attribute__((constructor)) static void name##_listed(void)                                         \
    {                                                                                                    \
        static struct listed l = { #name, __FILE__, __LINE__, __VA_ARGS__ };                             \
        list(&l);                                                                                        \
    }

struct listed {
    const char    *name, *file;
    int            line;
    void         (*add)(TCase *c);      /* a test; NULL: a case */
    void         (*before)(void), (*after)(void);
    const char    *tag;
    char           suite[32];
    struct listed *next;
};
void list(struct listed *l);

Suite      *suite_of(const char *name); /* its tests */
const char *next_suite(const char *name);       /* the next suite, by file, or NULL; NULL: the first */
bool        suite_known(const char *name);
void        list_suites(FILE *f);       /* all names, each line after a line break */

#define LENGTH(a) (int)(sizeof(a) / sizeof *(a))

/* If size_t has 32 bits, some shapes have too many values to count; otherwise they only exceed memory. */
#define ADDRESSES_OF_32_BITS (SIZE_MAX <= UINT32_MAX)

/* Sanitizers make programs several times slower. */
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SLOWED 1
#elif defined __has_feature
#define SLOWED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SLOWED 0
#endif

#endif
