#!/bin/sh
# Runs each target in tests/fuzz for ${FUZZ_SECONDS:-20} seconds under libFuzzer, which comes with clang and
# varies the inputs that reach new branches. If libFuzzer is missing (or FUZZ_SECONDS is 0), the targets run
# only on their seeds. Run this script in the repository's root.
BUILD=${BUILD:-build}
MAKE=${MAKE:-make}
seconds=${FUZZ_SECONDS:-20}
targets=$(cd tests/fuzz && for file in *.c; do echo "${file%.c}"; done)
W=$BUILD/fuzz
failed=0

mkdir -p "$W"
BUILD=$BUILD sh tests/fuzz/seeds.sh "$W/seeds" || exit 1
for target in $targets; do
    printf '%s: ' "$target"
    "$W/$target" "$W/seeds/$target"/* || failed=1
done
[ "$seconds" -gt 0 ] || exit $failed

printf '%s\n' 'int LLVMFuzzerTestOneInput(const char *s, long n);' \
    'int LLVMFuzzerTestOneInput(const char *s, long n) { return !s && n; }' \
    >"$W/empty.c"
if ! clang -fsanitize=fuzzer,address,undefined "$W/empty.c" -o "$W/empty" 2>"$W/empty.err"; then
    echo "fuzz.sh: clang with libFuzzer is not installed: only the seeds were tried"
    exit $failed
fi
programs=
for target in $targets; do
    programs="$programs $W/libfuzzer/fuzz/$target"
done
# shellcheck disable=SC2086
$MAKE -j"$(getconf _NPROCESSORS_ONLN)" B="$W/libfuzzer" CC=clang OPT='-O1 -g' FUZZER=-fsanitize=fuzzer \
    SANITIZE='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all' $programs \
    >"$W/make.log" || {
    cat "$W/make.log"
    exit 1
}
for target in $targets; do
    mkdir -p "$W/found/$target"
    if "$W/libfuzzer/fuzz/$target" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=1024 \
        -print_final_stats=1 -close_fd_mask=1 -artifact_prefix="$W/$target-" "$W/found/$target" \
        "$W/seeds/$target" \
        >"$W/$target.log" 2>&1; then
        executions=$(sed -n 's/^stat::number_of_executed_units: *//p' "$W/$target.log")
        echo "$target: $executions executions in $seconds seconds"
    else
        echo "FAILED: $target: the input is in $W/$target-*"
        tail -n 60 "$W/$target.log"
        failed=1
    fi
done
exit $failed
