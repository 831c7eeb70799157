#!/bin/sh
# The key/value cache of build/generate: the same text with it and without, through windows that slide, on any
# number of threads and with each instruction set.
set -u
. tests/lib/ok.sh

write() {       # write FILE FLAGS ...: what generate makes of it goes to FILE in $W
    file=$1
    shift
    "$GENERATE" --model "$W/run" --prompt 'int ' --seed 3 "$@" >"$W/$file" 2>"$W/err" || cat "$W/err"
}

same_text() {   # same_text ISA FLAGS ...: where this processor has it
    GRADUS_ISA=$1
    export GRADUS_ISA
    shift
    "$GENERATE" --model "$W/run" --tokens 1 2>&1 | grep -q 'but this processor has' && return 0
    write plain --no-cache --tokens 200 --threads 1 "$@"
    [ "$(wc -c <"$W/plain")" -eq 204 ] || return 1
    for threads in 1 2 3 4; do
        write cached --tokens 200 --threads $threads "$@"
        cmp "$W/plain" "$W/cached" || return 1
    done
}

through_a_pipe() { # a prompt longer than the window
    long=$(printf 'int int int int int int int int int int %.0s' 1 2 3)
    write plain --no-cache --prompt "$long" --tokens 60
    [ "$(wc -c <"$W/plain")" -eq $((${#long} + 60)) ] || return 1
    "$GENERATE" --model "$W/run" --prompt "$long" --seed 3 --tokens 60 | cat >"$W/cached"
    cmp "$W/plain" "$W/cached"
}

ok "a model" "$TRAIN" --context 24 --batch 4 --width 24 --heads 3 --layers 2 --steps 30 --lr 0.02 --threads 1 \
    --quiet --sample 0 --eval-batches 1 --out "$W/run"
for isa in base avx2 avx512; do
    ok "$isa: the cache changes no token" same_text $isa --temperature 1
    ok "$isa: nor among the likeliest" same_text $isa --temperature 1.5 --top-k 9
    ok "$isa: nor the likeliest" same_text $isa --temperature 0
done
unset GRADUS_ISA
ok "a long prompt, through a pipe" through_a_pipe

finish
