#!/bin/sh
# musl 1.2.3 and glibc 2.36 (Debian 12): %a writes the same number with different digits.
#
# The smallest double is 0x1p-1074 in musl, where the first digit is 1, and 0x0.0000000000001p-1022 in glibc.
# A long double 1 is 0x1p+0 in musl and 0x8p-3 in glibc, which takes the first four bits of its mantissa as a
# digit. Texts that are compared byte by byte (golden files) differ; both libraries read all four texts.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
# shellcheck source=findings/lib/musl.sh
. "$(dirname "$0")/lib/musl.sh"
debian libc6-dev=2.36-9+deb12u14
cat >"$T/t.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
    const double least = strtod("0x0.0000000000001p-1022", NULL);
    printf("%a %La %d\n", 0x1p-1074, 1.0L,
           least == strtod("0x1p-1074", NULL) && strtold("0x8p-3", NULL) == strtold("0x1p+0", NULL));
    return 0;
}
C
musl "$T/t.c" "$T/musl"
lib=$(echo "$T"/usr/lib/x86_64-linux-gnu)
cc -w "$T/t.c" -static -L"$lib" -B"$lib" -o "$T/glibc" || exit 2
{ "$T/musl" && "$T/glibc"; } | seen "0x1p-1074 0x1p+0 1
0x0.0000000000001p-1022 0x8p-3 1"
