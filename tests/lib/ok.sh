# shellcheck shell=sh disable=SC2034
# Shared by the scripts tests/ROOM/NAME.sh, which begin with `. tests/lib/ok.sh` and run in the repository's
# root. The programs are in ${BUILD:-build}. A script writes to the folder $W; if a test fails, a copy of $W
# remains in $BUILD/NAME.test.
BUILD=${BUILD:-build}
case $BUILD in /*) KEPT=$BUILD ;; *) KEPT=$PWD/$BUILD ;; esac     # absolute, like $W: some scripts use cd
TRAIN=$KEPT/train
GENERATE=$KEPT/generate
FAULTS=$KEPT/faults
SCRIPT=${0##*/}
KEPT=$KEPT/${SCRIPT%.sh}.test
blank=' '                               # for lines that end with a blank
passed=0
failed=0

# A folder in memory, if the system has such a folder with enough room, in which programs may run. A training
# run calls fsync for each of its files, and the tests make hundreds of runs: with a disk they would spend
# most of their time waiting.
in_memory() {
    dir=$(mktemp -d /dev/shm/gradus.XXXXXX) || return 1
    printf '#!/bin/sh\n' >"$dir/program"
    if chmod +x "$dir/program" && "$dir/program" &&
        [ "$(df -kP "$dir" | awk 'END { print $4 }')" -gt 500000 ]; then
        echo "$dir"
    else
        rm -rf "$dir"
        return 1
    fi
}

leave() {
    [ $failed -eq 0 ] || [ "$W" = "$KEPT" ] || cp -R "$W" "$KEPT"
    [ $failed -ne 0 ] && [ "$W" = "$KEPT" ] || rm -rf "$W"
}

rm -rf "$KEPT"
W=$(in_memory 2>/dev/null) || { W=$KEPT && mkdir -p "$W" || exit 1; }
trap leave EXIT
trap 'exit 1' HUP INT TERM
unset GRADUS_ISA
LC_ALL=C
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}allocator_may_return_null=1
export LC_ALL ASAN_OPTIONS

# Some scripts have two parts (see tests/tests.mk): `make test` runs the part `if quick`, and `make test-all`
# the part `if rest`. A script that is run by hand runs both parts.
quick() { [ "${PART:-quick}" = quick ]; }
rest() { [ "${PART:-rest}" = rest ]; }

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

ends_with() {   # ends_with STATUS COMMAND ...: leaves its output in $W/out and $W/err
    expected=$1
    shift
    "$@" >"$W/out" 2>"$W/err"
    status=$?
    cat "$W/out" "$W/err"
    [ $status -eq "$expected" ] && return 0
    echo "got exit status $status, expected $expected, of: $*"
    return 1
}

refuses() {     # refuses STATUS PATTERN COMMAND ...: it writes one sentence to stderr and nothing to stdout
    expected=$1
    pattern=$2
    shift 2
    ends_with "$expected" "$@" || return 1
    [ ! -s "$W/out" ] && [ "$(wc -l <"$W/err")" -eq 1 ] && grep -q "^[a-z]*: .*$pattern" "$W/err"
}

# ---- signals and failing calls at a chosen moment --------------------------------------------------------
# The programs in $FAULTS are linked with tests/lib/fault.c, which counts their calls, and makes the n-th call
# fail or sends a signal at that call, so no test depends on time.
moments() {     # moments WHAT: true if programs can be linked so; if not, prints that WHAT is left out
    env GRADUS_FAULT="begin 1 RUN" "$FAULTS/train" --help >"$W/moments" 2>&1
    moments=$?
    [ $moments -eq 0 ] && return 0
    if [ $moments -eq 98 ]; then
        echo "$SCRIPT: left out: $1: this linker cannot wrap functions"
    else
        ok "$FAULTS/train obeys GRADUS_FAULT" sh -c 'cat "$1"; exit 1' - "$W/moments"
    fi
    return 1
}

at() {          # at STATUS MOMENTS PROGRAM FLAGS ...: its exit status with these faults (GRADUS_FAULT in
                # tests/lib/fault.h); RUN runs the command $meanwhile
    expected=$1
    moments=$2
    program=$3
    shift 3
    rm -f "$W/report"
    ends_with "$expected" env GRADUS_FAULT="$moments" GRADUS_FAULT_RUN="${meanwhile:-}" \
        GRADUS_FAULT_REPORT="$W/report" "$FAULTS/$program" "$@"
}

finds() {       # finds PATTERN FILE: ignores blanks and line breaks, since a line may be wrapped within the
                # name of a file
    tr -d ' \n' <"$2" >"$W/unwrapped" && grep -q -- "$(printf '%s' "$1" | tr -d ' ')" "$W/unwrapped"
}

# ---- absent things; these tests fail if the file or folder itself is missing -----------------------------
lacks() {       # lacks GREP'S ARGUMENTS: the files exist, and no line matches
    grep "$@"
    [ $? -eq 1 ]
}

differ() {      # differ A B: both exist, and they differ
    cmp -s "$1" "$2"
    [ $? -eq 1 ]
}

holds_no() {    # holds_no PATTERN DIR: no name in that folder matches
    ls -A "$2" >"$W/names" && lacks "$1" "$W/names"
}

is_empty() {    # is_empty DIR: it exists and is empty
    ls -A "$1" >"$W/names" && [ ! -s "$W/names" ]
}

with() {        # with NAME COMMAND ...: with the folder $W/NAME, which contains a gnuplot, first in PATH
    path=$PATH
    PATH=$W/$1:$PATH
    shift
    "$@"
    with=$?
    PATH=$path
    return $with
}

same_run() {    # same_run A B: except for times, both left the same files, and no unfinished file
    same_table 1-5 "$1" "$2" && holds_no '[.]tmp$' "$2" || return 1
    for same in model.safetensors best.safetensors result.tsv sample.txt vocab.tsv; do
        cmp "$1/$same" "$2/$same" || return 1
    done
    may_change='data|sample|threads|checkpoint-every|quiet|recompute'       # when a run is resumed
    for same in a b; do
        grep -Ev "^($may_change)	" "$1/config.tsv" >"$W/$same" || return 1
        shift
    done
    cmp "$W/a" "$W/b" || return 1
}

columns() {     # columns FILE: a loss.tsv with its header and one complete row for each step
    head -n 1 "$1" | grep -q '^step	train_loss	val_loss	lr	grad_norm	tokens_per_s	val_bits_per_byte$' &&
        awk -F '\t' 'NF != 7 || (NR > 1 && $1 != NR - 1) { print; bad = 1 } END { exit bad }' "$1"
}

same_table() {  # same_table FIELDS A B: two runs have the same values in these columns of loss.tsv
    cut -f "$1" "$2/loss.tsv" >"$W/a" && cut -f "$1" "$3/loss.tsv" >"$W/b" && cmp "$W/a" "$W/b"
}

group() {       # group WHAT: the heading of the tests that follow
    echo "$SCRIPT: $1"
}

finish() {      # the last line of each script
    echo "$SCRIPT: $passed passed, $failed failed"
    [ $failed -eq 0 ] || echo "$SCRIPT: its files are in $KEPT"
    [ $failed -eq 0 ]
}
