#!/bin/sh
# Check 0.15.2 (Debian 12): a difference must be less than the tolerance, and may not equal it.
#
# ck_assert_double_eq_tol(1, 1, 0) fails with "1 == 1, 1 == 1, 0 == 0", ck_assert_double_le_tol(1, 1, 0) and
# ge_tol too. Two equal infinities differ by NaN, so they are equal within no tolerance, not even an infinite
# one. 1 and 2 are equal within an infinite tolerance.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
debian check=0.15.2-2+b1 libsubunit-dev=1.4.0-3
cat >"$T/t.c" <<'C'
#include <check.h>
#include <math.h>
#include <stdio.h>
START_TEST(eq) { ck_assert_double_eq_tol(1, 1, 0); } END_TEST
START_TEST(le) { ck_assert_double_le_tol(1, 1, 0); } END_TEST
START_TEST(ge) { ck_assert_double_ge_tol(1, 1, 0); } END_TEST
START_TEST(both) { const double inf = HUGE_VAL; ck_assert_double_eq_tol(inf, inf, inf); } END_TEST
START_TEST(far) { ck_assert_double_eq_tol(1, 2, HUGE_VAL); } END_TEST
int main(void)
{
    Suite *s = suite_create("tolerance");
    TCase *c = tcase_create("c");
    tcase_add_test(c, eq);
    tcase_add_test(c, le);
    tcase_add_test(c, ge);
    tcase_add_test(c, both);
    tcase_add_test(c, far);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_run_all(r, CK_SILENT);
    TestResult **all = srunner_results(r);
    for (int i = 0; i < srunner_ntests_run(r); i++)
        printf("%s %s\n", i == 0 ? "eq" : i == 1 ? "le" : i == 2 ? "ge" : i == 3 ? "both" : "far",
               tr_rtype(all[i]) == CK_PASS ? "passed" : tr_msg(all[i]));
    return 0;
}
C
cc "$T/t.c" -I"$T/usr/include" "$T"/usr/lib/*/libcheck.a "$T"/usr/lib/*/libsubunit.a -lm -lrt -pthread \
    -o "$T/t" || exit 2
"$T/t" | seen "eq Assertion 'fabsl(1 - 1) < 0' failed: 1 == 1, 1 == 1, 0 == 0
le Assertion '1 <= 1, error < 0' failed: 1 == 1, 1 == 1, 0 == 0
ge Assertion '1 >= 1, error < 0' failed: 1 == 1, 1 == 1, 0 == 0
both Assertion 'fabsl(inf - inf) < inf' failed: inf == inf, inf == inf, inf == inf
far passed"
