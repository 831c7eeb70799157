#!/bin/sh
# musl 1.2.3 (Debian 12): the first rand() of a program is 0, and the first numbers of seeds 1, 2, 3 ...
# differ by equal steps.
#
# A program's first two numbers are 0 and 740882966. After srand(n) the first number is that of n - 1 plus
# 740882966 or 740882967, modulo 2^31: one number from each of many seeds is not a random sample.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
# shellcheck source=findings/lib/musl.sh
. "$(dirname "$0")/lib/musl.sh"
cat >"$T/t.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const int first = rand(), second = rand();
    printf("%d %d\n", first, second);
    unsigned before = 0;
    int equal = 0;
    for (unsigned n = 1; n <= 1000; n++) {
        srand(n);
        const unsigned now = (unsigned)rand(), step = now - before & 0x7fffffff;
        equal += n > 1 && (step == 740882966 || step == 740882967);
        before = now;
    }
    printf("%d of 999 steps\n", equal);
    return 0;
}
C
musl "$T/t.c" "$T/t" && "$T/t" | seen "0 740882966
999 of 999 steps"
