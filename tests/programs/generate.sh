#!/bin/sh
# Tests a model in a single file: build/generate --model FILE --ids, and --logits.
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh

# The tokens of a text's bytes in vocab.tsv: "3 1 4".
ids_of() {
    od -An -v -tu1 | tr -s ' ' '\n' | awk -F '\t' '
        FNR == NR { id[$1] = n++; next }
        $1 != "" { printf "%s%d", between, id[$1]; between = " " }' "$W/run/vocab.tsv" -
}

ok "a run" "$TRAIN" --context 16 --batch 4 --width 16 --heads 2 --layers 2 --steps 20 --sample 0 \
    --quiet --out "$W/run"
FILE=$W/run/model.safetensors

same_tokens() { # same_tokens FLAGS ...: from the folder and from the file
    ends_with 0 "$GENERATE" --model "$W/run" --prompt "static int" --tokens 100 "$@" || return 1
    ids_of <"$W/out" >"$W/expected"
    ends_with 0 "$GENERATE" --model "$FILE" --ids " $(printf 'static int' | ids_of)" --tokens 100 "$@" ||
        return 1
    [ "$(cat "$W/out")" = "$(cat "$W/expected")" ]
}
ok "ids are the text's" same_tokens
ok "ids are the text's, at another temperature" same_tokens --temperature 2 --seed 5
ok "ids are the text's, only the likeliest" same_tokens --temperature 0
ok "ids are the text's, of the 3 likeliest" same_tokens --top-k 3 --temperature 3
ok "commas are blanks" ends_with 0 "$GENERATE" --model "$FILE" --ids "1, 2,3 " --tokens 1

few() {         # few K: at a temperature that makes all tokens equally likely, K different tokens occur
    ends_with 0 "$GENERATE" --model "$FILE" --ids 1 --tokens 1 --temperature 100 --top-k "$1" \
        --seed "$2" >"$W/few"
    cut -d ' ' -f 2 "$W/few"
}
most() {
    for seed in 1 2 3 4 5 6 7 8 9 10 11 12; do few "$1" $seed; done | sort -u | wc -l
}
ok "top-k 1: one token" test "$(most 1)" -eq 1
ok "top-k 2: two tokens" test "$(most 2)" -eq 2
ok "top-k 256: all of a small vocabulary" test "$(most 256)" -gt 6

# The key-value cache changes no byte of these texts: with moving windows, after a prompt longer than a
# window, through a pipe. (For the logits with any instruction set and number of threads see test_cache.c.)
as_without() {  # as_without PROMPT FLAGS ...
    prompt=$1
    shift
    ends_with 0 "$GENERATE" --model "$W/run" --prompt "$prompt" --tokens 200 --no-cache --threads 1 "$@" ||
        return 1
    cp "$W/out" "$W/plain"
    "$GENERATE" --model "$W/run" --prompt "$prompt" --tokens 200 --threads 3 "$@" | cat >"$W/cached"
    [ "$(wc -c <"$W/plain")" -eq $((${#prompt} + 200)) ] && cmp "$W/plain" "$W/cached"
}
ok "the cache changes no token" as_without 'int '
ok "nor with --top-k" as_without 'int ' --temperature 1.5 --top-k 9
ok "nor after a long prompt" as_without 'static int int int int int int int int int' \
    --temperature 0

bad() {         # bad STATUS PATTERN FLAGS ...
    expected=$1
    pattern=$2
    shift 2
    refuses "$expected" "$pattern" "$GENERATE" "$@"
}
cp "$FILE" "$W/alone.safetensors"
ok "no ids" bad 1 'has no vocabulary beside it: give tokens as numbers, --ids' \
    --model "$W/alone.safetensors"
ok "text and numbers" bad 2 'got both --ids (tokens as numbers) and --prompt (text): give only one' \
    --model "$FILE" --ids 1 --prompt a
ok "attention of numbers" bad 2 '--attention needs --prompt' --model "$FILE" --ids 1 \
    --attention "$W/a.png"
ok "ids for a folder" ends_with 0 "$GENERATE" --model "$W/run" --ids "1 2"
ok "... are numbers" grep -Eqx '[0-9 ]*' "$W/out"
for word in x 1x -1 1.5 99999 99999999999999999999 0x1; do
    ok "--ids $word" bad 1 "--ids: got '$word', expected a token of this model, 0 to [0-9]*$" \
        --model "$FILE" --ids "1 $word"
done
ok "empty --ids" bad 1 '--ids: got no token' --model "$FILE" --ids ' '
ok "no such file" bad 1 'none.safetensors: No such file' --model "$W/none.safetensors" --ids 1
ok "no such model" bad 1 'No such file' --model "$W/none" --prompt a
ok "not a model" bad 1 'config.tsv: ' --model "$W/run/config.tsv" --ids 1
ok "heads that do not divide" bad 1 '3 heads do not divide the width 16' --model "$FILE" --ids 1 \
    --heads 3
ok "logits that cannot be written" bad 1 'cannot write .*none/a.npy: No such file' \
    --model "$FILE" --ids 1 --logits "$W/none/a.npy"

logits() {      # logits FLAGS ...: leaves them in $W/l.npy
    ends_with 0 "$GENERATE" --tokens 1 --logits "$W/l.npy" "$@"
}
ok "logits of a text" logits --model "$W/run" --prompt abc
mv "$W/l.npy" "$W/expected"
ok "logits of ids" logits --model "$FILE" --ids "$(printf abc | ids_of)"
ok "... are the same" cmp "$W/expected" "$W/l.npy"
ok "... have a row for each token" grep -aq "'shape': (3, $(wc -l <"$W/run/vocab.tsv" | tr -d ' '))" \
    "$W/l.npy"
finish
