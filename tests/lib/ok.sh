# shellcheck shell=sh disable=SC2034
# What the scripts tests/NAME.sh share; each begins with it: . tests/lib/ok.sh
# They run in the repository's root. The programs are in ${BUILD:-build}; what a script writes goes to $W,
# NAME.test in that folder, and stays there when something failed.
BUILD=${BUILD:-build}
case $BUILD in /*) W=$BUILD ;; *) W=$PWD/$BUILD ;; esac     # $W is absolute: some change the folder
TRAIN=$W/train
GENERATE=$W/generate
SCRIPT=${0##*/}
W=$W/${SCRIPT%.sh}.test
passed=0
failed=0

rm -rf "$W"
mkdir -p "$W" || exit 1
unset GRADUS_ISA
LC_ALL=C
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export LC_ALL ASAN_OPTIONS

ok() {          # ok WHAT COMMAND ...: the command succeeds
    what=$1
    shift
    if "$@" >"$W/ok.out" 2>&1; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        echo "FAILED: $what"
        sed 's/^/    /' "$W/ok.out"
    fi
}

ends_with() {   # ends_with STATUS COMMAND ...: what it wrote stays in $W/out and $W/err
    wanted=$1
    shift
    "$@" >"$W/out" 2>"$W/err"
    status=$?
    cat "$W/out" "$W/err"
    [ $status -eq "$wanted" ] && return 0
    echo "exit status $status, not $wanted, of: $*"
    return 1
}

refuses() {     # refuses STATUS PATTERN COMMAND ...: one sentence of a program on stderr, nothing on stdout
    wanted=$1
    pattern=$2
    shift 2
    ends_with "$wanted" "$@" || return 1
    [ ! -s "$W/out" ] && [ "$(wc -l <"$W/err")" -eq 1 ] && grep -q "^[a-z]*: .*$pattern" "$W/err"
}

nap() {         # a tenth of a second where sleep knows fractions
    sleep 0.1 2>"$W/nap.err" || sleep 1
}

rows() {        # waits until a table has so many lines, at most 300 naps
    i=0
    while [ "$(cat "$1" 2>"$W/nap.err" | wc -l)" -lt "$2" ] && [ $i -lt 300 ]; do
        nap
        i=$((i + 1))
    done
}

same_table() {  # same_table FIELDS A B: two runs have the same there
    cut -f "$1" "$2/loss.tsv" >"$W/a" && cut -f "$1" "$3/loss.tsv" >"$W/b" && cmp "$W/a" "$W/b"
}

group() {       # group WHAT: comes now
    echo "$SCRIPT: $1"
}

finish() {      # the last line of each script
    echo "$SCRIPT: $passed passed, $failed failed"
    [ $failed -eq 0 ] && rm -rf "$W"
    [ $failed -eq 0 ]
}
