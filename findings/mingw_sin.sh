#!/bin/sh
# mingw-w64 10.0.0 and glibc 2.36 (Debian 12): sin and cos of MinGW's C library are the processor's fsin and
# fcos, which subtract multiples of a pi of 66 bits.
#
# sin of the double nearest pi has 4 right digits instead of 16, sin(1e5) 15, sin(2^60) 3, and sin(3.4e38) not
# even the sign.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
for needed in x86_64-w64-mingw32-gcc wine; do
    command -v $needed >/dev/null || { echo "it needs $needed"; exit 2; }
done
cat >"$T/t.c" <<'C'
#include <math.h>
#include <stdio.h>
int main(void)
{
    volatile double x[] = { 0x1.921fb54442d18p+1, 1e5, 0x1p60, 0x1.fffffep+127 };
    for (int i = 0; i < 4; i++)
        printf("%.15g ", sin(x[i]));
    return 0;
}
C
cc -w "$T/t.c" -o "$T/glibc" -lm && x86_64-w64-mingw32-gcc -w "$T/t.c" -o "$T/mingw.exe" || exit 2
{ WINEPREFIX=$T/wine WINEDEBUG=-all wine "$T/mingw.exe" 2>/dev/null; echo; "$T/glibc"; echo; } |
    sed 's/ $//' | seen \
    "1.22460635382238e-16 0.0357487979720164 -0.831474748109363 0.976845668142761
1.22464679914735e-16 0.0357487979720165 -0.830649217637255 -0.521876523333659"
