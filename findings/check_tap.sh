#!/bin/sh
# Check 0.15.2 (Debian 12): in the TAP log, a newline in a message is written as it is.
#
# The text after the newline is a line of the log, without the "# " of a comment: with a message
# "line\nok 2 - x" the log of one test, whose plan is 1..1, has two results, and one of them is "ok".
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
debian check=0.15.2-2+b1 libsubunit-dev=1.4.0-3
cat >"$T/t.c" <<'C'
#include <check.h>
START_TEST(a) { ck_abort_msg("line\nok 2 - x"); } END_TEST
int main(void)
{
    Suite *s = suite_create("s");
    TCase *c = tcase_create("c");
    tcase_add_test(c, a);
    suite_add_tcase(s, c);
    SRunner *r = srunner_create(s);
    srunner_set_fork_status(r, CK_NOFORK);
    srunner_set_tap(r, "log");
    srunner_run_all(r, CK_SILENT);
    srunner_free(r);
    return 0;
}
C
cc "$T/t.c" -I"$T/usr/include" "$T"/usr/lib/*/libcheck.a "$T"/usr/lib/*/libsubunit.a -lm -lrt -pthread \
    -o "$T/t" || exit 2
cd "$T" && ./t && sed 's,not ok 1 - .*t.c:,not ok 1 - t.c:,' log | seen "not ok 1 - t.c:c:a: line
ok 2 - x
1..1"
