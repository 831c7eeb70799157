#!/bin/sh
# musl 1.2.3 and glibc 2.36 (Debian 12): sscanf of an incomplete number.
#
# "1e+" with %f and "0x" with %x are matching failures in musl, as the C standard says: what was read must be
# a number. glibc stores 1 and 0, and counts them. In both libraries strtod reads the first text as 1, and
# leaves "e+".
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
    float f = -1;
    unsigned u = 9;
    char *rest;
    const int a = sscanf("1e+", "%f", &f), b = sscanf("0x", "%x", &u);
    const double d = strtod("1e+", &rest);
    printf("%d %g, %d %u; %g %s\n", a, f, b, u, d, rest);
    return 0;
}
C
musl "$T/t.c" "$T/musl"
lib=$(echo "$T"/usr/lib/x86_64-linux-gnu)
cc -w "$T/t.c" -static -L"$lib" -B"$lib" -o "$T/glibc" || exit 2
{ "$T/musl" && "$T/glibc"; } | seen "0 -1, 0 9; 1 e+
1 1, 1 0; 1 e+"
