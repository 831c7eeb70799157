#!/bin/sh
# Runs the quick suites under valgrind, which detects uninitialised values besides what AddressSanitizer
# detects. valgrind shows programs a processor without AVX-512, and runs one thread at a time; the scheduler
# must be fair, or a waiting thread would keep the other threads from working. The script is skipped if
# valgrind is missing; sanitizer builds cannot run under valgrind. Tests tagged long would take minutes. The
# test program is in ${BUILD:-build}/f32.
BUILD=${BUILD:-build}
out=$BUILD/f32/valgrind.out
failed=0

if ! command -v valgrind >"$out"; then
    echo "valgrind.sh: left out: valgrind is not installed"
    exit 0
fi
for suite in shape print tape model optim attention golden save load; do
    if CK_RUN_SUITE=$suite CK_EXCLUDE_TAGS=long CK_TIMEOUT_MULTIPLIER=20 \
        valgrind -q --fair-sched=try --error-exitcode=99 --leak-check=full \
            "$BUILD/f32/test" >"$out" 2>&1; then
        echo "$suite: $(sed -n 's/^100%: //p' "$out")"
    else
        echo "FAILED: $suite"
        cat "$out"
        failed=1
    fi
done
exit $failed
