#!/bin/sh
# The key/value cache of build/generate: the same text with it and without, through windows that slide, on any
# number of threads and with each instruction set. BUILD names the folder with the programs.
set -u
BUILD=${BUILD:-build}
TRAIN=$BUILD/train
GENERATE=$BUILD/generate
W=$(mktemp -d) || exit 1
trap 'rm -rf "$W"' EXIT
failed=0

fail() { # fail SENTENCE
    echo "generation.sh: $1" >&2
    failed=1
}

write() { # write FILE FLAGS ...: what generate makes of it goes to FILE
    file=$1
    shift
    "$GENERATE" --model "$W/run" --prompt 'int ' --seed 3 "$@" >"$W/$file" 2>"$W/err" ||
        fail "generate $*: $(cat "$W/err")"
}

"$TRAIN" --context 24 --batch 4 --width 24 --heads 3 --layers 2 --steps 30 --lr 0.02 --threads 1 --quiet --sample 0 \
    --eval-batches 1 --out "$W/run" >/dev/null || exit 1

# shellcheck disable=SC2086 # $how is several words
for how in '--temperature 1' '--temperature 1.5 --top-k 9' '--temperature 0'; do
    write plain --no-cache --tokens 200 --threads 1 $how
    [ "$(wc -c <"$W/plain")" -eq 204 ] || fail "$how: $(wc -c <"$W/plain") bytes, not 204"
    for isa in base avx2 avx512; do
        GRADUS_ISA=$isa
        export GRADUS_ISA
        write plain --no-cache --tokens 200 --threads 1 $how
        for threads in 1 2 3 4; do
            write cached --tokens 200 --threads $threads $how
            cmp -s "$W/plain" "$W/cached" || fail "$how, $isa, $threads threads: the cache changes the text"
        done
        unset GRADUS_ISA
    done
done

# A prompt longer than the window; and what comes through a pipe comes whole.
long=$(printf 'int int int int int int int int int int %.0s' 1 2 3)
write plain --no-cache --prompt "$long" --tokens 60
"$GENERATE" --model "$W/run" --prompt "$long" --seed 3 --tokens 60 | cat >"$W/cached"
cmp -s "$W/plain" "$W/cached" || fail "a long prompt: the cache changes the text"

[ "$failed" = 0 ] && echo "generation.sh: the cache changes no token"
exit "$failed"
