#!/bin/sh
# CC='cc FLAG ...' sh run.sh BUILD N [DIR]: what `make milestone N=1` runs. It judges the answers in DIR
# (examples/exercises) from which milestone N is built, and if all pass, compiles them with the program here
# whose name begins with N, and runs it. An answer that has passed is kept in BUILD/exercises/passed, and
# judged again only when it or its judge has changed.
#
# The line "Answers: 06 07" of a program lists the exercises.
build=$1
n=$2
dir=${3:-examples/exercises}
here=examples/exercises/milestones
passed=$build/exercises/passed
work=$build/exercises/milestone.$$

refuse() {      # refuse SENTENCE
    printf 'milestone: %s\n' "$1" | fold -s -w 78 >&2
    exit 2
}

program=$(ls $here/"$n"_*.c 2>/dev/null)
[ -f "$program" ] || refuse "got N=$n, expected 1, 2 or 3: run make milestone N=1"
[ -d "$dir" ] || refuse "$dir is not a folder"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$work" "$passed" || exit 2

pass() {        # pass NAME: the copy of the answer in $work passes
    judge=$build/f64/examples/exercises/judge/${1%.c}.o
    cmp -s "$work/$1" "$passed/$1" && [ "$(find "$passed/$1" -newer "$judge")" ] && return 0
    "$build/learn" "${1%.c}" "$work/$1" </dev/null >"$work/said" 2>&1
    status=$?
    [ $status -ne 2 ] || refuse "$(tr -s '\n ' '  ' <"$work/said")"
    [ $status -eq 0 ] && cp "$work/$1" "$work/kept" && mv "$work/kept" "$passed/$1"
}

sed -n '1s,^/\* ,,p' "$program"
echo "The milestone is built from your answers:"
left=
for number in $(sed -n 's/^ \* Answers: //p' "$program"); do
    start=$(ls examples/exercises/start/"$number"_*.c)
    name=${start##*/}
    state=NO
    if [ -f "$dir/$name" ]; then
        cp "$dir/$name" "$work" && pass "$name" && state=ok
    fi
    [ $state = ok ] || left="$left $number"
    printf '  %s  %.70s\n' $state "$(sed -n '1s,^/\* ,,; 1s,\.$,,p' "$start")"
done
[ -z "$left" ] || refuse "these exercises must pass first:$left"

# The answers were judged, so warnings are of no interest here.
together() {
    LC_ALL=C $CC -std=c11 -O3 -w -D_POSIX_C_SOURCE=200809L -DGRADUS_DOUBLE -Iexamples/exercises \
        "$work"/*.c "$objects/$name.o" "$build/libgradus64.a" -pthread -lm \
        -o "$work/program"
}
objects=$build/f64/$here
name=${program##*/}
name=${name%.c}
if ! together >"$work/said" 2>&1; then
    twice=$(sed -n "s/.*multiple definition of [^A-Za-z_]*\([A-Za-z0-9_]*\).*/\1/p
                    s/.*duplicate symbol:* '*_*\([A-Za-z0-9_]*\).*/\1/p" "$work/said" | head -n 1)
    [ "$twice" ] || { cat "$work/said" >&2; refuse "the answers cannot be compiled together: see above"; }
    refuse "$(grep -l "$twice *[(=;[]" "$work"/*.c $here/*.c | sed 's,.*/,,' | paste -s -d ' ' -) define \
$twice: write static before it in each answer, so that each has its own"
fi
echo
"$work/program" </dev/null
