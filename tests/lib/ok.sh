# shellcheck shell=sh disable=SC2034
# What the scripts tests/NAME.sh share; each begins by `. tests/lib/ok.sh`, and runs in the repository's root.
# The programs are in ${BUILD:-build}. A script writes to the folder $W; when a test failed, a copy of it is
# left in $BUILD/NAME.test.
BUILD=${BUILD:-build}
case $BUILD in /*) KEPT=$BUILD ;; *) KEPT=$PWD/$BUILD ;; esac     # absolute, as $W is: some change the folder
TRAIN=$KEPT/train
GENERATE=$KEPT/generate
FAULTS=$KEPT/faults
SCRIPT=${0##*/}
KEPT=$KEPT/${SCRIPT%.sh}.test
blank=' '                               # for where a line ends in one
passed=0
failed=0

# A folder in memory, if the system has one with room in which programs may be run. A training run calls fsync
# for each of its files, and the tests make hundreds of runs: on a disk they would spend most of their time
# waiting for it.
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

refuses() {     # refuses STATUS PATTERN COMMAND ...: it writes one sentence to stderr, nothing to stdout
    wanted=$1
    pattern=$2
    shift 2
    ends_with "$wanted" "$@" || return 1
    [ ! -s "$W/out" ] && [ "$(wc -l <"$W/err")" -eq 1 ] && grep -q "^[a-z]*: .*$pattern" "$W/err"
}

# ---- signals and failing calls at a chosen moment --------------------------------------------------------
# The programs in $FAULTS are linked with tests/lib/fault.c, which counts their calls and makes the n-th fail,
# or sends a signal at it: no test depends on time.
moments() {     # moments WHAT: true where programs can be linked so; elsewhere prints that WHAT is left out
    env GRADUS_FAULT="begin 1 RUN" "$FAULTS/train" --help >"$W/moments" 2>&1
    moments=$?
    [ $moments -eq 0 ] && return 0
    if [ $moments -eq 98 ]; then
        echo "$SCRIPT: left out: $1: this linker cannot put calls of ours in the place of others"
    else
        ok "$FAULTS/train can be told what is to happen" sh -c 'cat "$1"; exit 1' - "$W/moments"
    fi
    return 1
}

at() {         # at STATUS MOMENTS PROGRAM FLAGS ...: the exit status when this happens to it (GRADUS_FAULT in
                # tests/lib/fault.h); the moment RUN runs the command $meanwhile
    wanted=$1
    moments=$2
    program=$3
    shift 3
    rm -f "$W/report"
    ends_with "$wanted" env GRADUS_FAULT="$moments" GRADUS_FAULT_RUN="${meanwhile:-}" \
        GRADUS_FAULT_REPORT="$W/report" \
        "$FAULTS/$program" "$@"
}

# ---- what must not be there. These fail where the file or folder itself is missing -------------------------
lacks() {       # lacks GREP'S ARGUMENTS: the files are there, and no line matches
    grep "$@"
    [ $? -eq 1 ]
}

differ() {      # differ A B: both are there, and they differ
    cmp -s "$1" "$2"
    [ $? -eq 1 ]
}

holds_no() {    # holds_no PATTERN DIR: no name in that folder matches
    ls -A "$2" >"$W/names" && lacks "$1" "$W/names"
}

is_empty() {    # is_empty DIR: it is there and empty
    ls -A "$1" >"$W/names" && [ ! -s "$W/names" ]
}

with() {        # with NAME COMMAND ...: with the folder $W/NAME, which holds a gnuplot, first in PATH
    path=$PATH
    PATH=$W/$1:$PATH
    shift
    "$@"
    with=$?
    PATH=$path
    return $with
}

same_run() {    # same_run A B: but for the times that they took, they left the same, and nothing unfinished
    same_table 1-5 "$1" "$2" && holds_no '[.]tmp$' "$2" || return 1
    for same in model.safetensors best.safetensors result.tsv sample.txt vocab.tsv; do
        cmp "$1/$same" "$2/$same" || return 1
    done
    for same in a b; do                # the flags that shape a run; others may be given again when it goes on
        grep -Ev '^(data|sample|threads|checkpoint-every|quiet)	' "$1/config.tsv" >"$W/$same" || return 1
        shift
    done
    cmp "$W/a" "$W/b" || return 1
}

columns() {     # columns FILE: a loss.tsv with its header and one whole row for each step
    head -n 1 "$1" | grep -q '^step	train_loss	val_loss	lr	grad_norm	tokens_per_s$' &&
        awk -F '\t' 'NF != 6 || (NR > 1 && $1 != NR - 1) { print; bad = 1 } END { exit bad }' "$1"
}

same_table() {  # same_table FIELDS A B: these columns of loss.tsv are the same in two runs
    cut -f "$1" "$2/loss.tsv" >"$W/a" && cut -f "$1" "$3/loss.tsv" >"$W/b" && cmp "$W/a" "$W/b"
}

group() {       # group WHAT: the heading of the tests that follow
    echo "$SCRIPT: $1"
}

finish() {      # the last line of each script
    echo "$SCRIPT: $passed passed, $failed failed"
    [ $failed -eq 0 ] || echo "$SCRIPT: what it wrote is in $KEPT"
    [ $failed -eq 0 ]
}
