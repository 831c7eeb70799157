#!/bin/sh
# Tests a model with Hugging Face's names, written (--layout huggingface) and trained further (--from).
. tests/lib/ok.sh

small="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --eval-every 10 --eval-batches 4 --sample 0
       --quiet"
data=core/gradus.h

text() {        # text FOLDER: the text that FOLDER's model writes
    "$GENERATE" --model "$1" --prompt 'int ' --tokens 200
}
same_text() {   # same_text A B
    text "$1" >"$W/a.txt" && text "$2" >"$W/b.txt" && cmp "$W/a.txt" "$W/b.txt"
}
names() {       # names FILE: the names of the tensors in FILE
    head -c 100000 "$1" | tr -d '\000' | grep -ao '"[a-z_A-Z0-9.]*":{"dtype"' | cut -d '"' -f 2
}

group "--layout huggingface"
ok "a run" ends_with 0 "$TRAIN" $small --data $data --steps 20 --out "$W/ours"
ok "the same by other names" ends_with 0 "$TRAIN" $small --data $data --steps 20 --layout huggingface \
    --out "$W/theirs"
ok "... writes the same text" same_text "$W/ours" "$W/theirs"
for file in model best; do
    ok "... $file has GPT-2's names" sh -c 'echo "$1" | grep -qx transformer.h.1.attn.c_attn.weight' - \
        "$(names "$W/theirs/$file.safetensors")"
done
ok "... with a config.json" grep -qx '  "n_embd": 16,' "$W/theirs/config.json"
ok "... the others have none" test ! -e "$W/ours/config.json"
ok "a finished run is converted" ends_with 0 "$TRAIN" --resume "$W/ours" --layout huggingface
ok "... to the same file" cmp "$W/ours/model.safetensors" "$W/theirs/model.safetensors"
ok "... and config.json" cmp "$W/ours/config.json" "$W/theirs/config.json"
ok "a run by our names replaces it" ends_with 0 "$TRAIN" $small --data $data --steps 20 --out "$W/theirs"
ok "... and its config.json" test ! -e "$W/theirs/config.json"

# ---- --from ------------------------------------------------------------------------------------------------
# The model to tune: a small version of GPT-2's folder, with another vocabulary.
group "--from"
ok "a model to tune" ends_with 0 "$TRAIN" $small --context 32 --bias --qkv-bias --gelu tanh --tokenizer bpe \
    --vocab 300 --steps 30 --data README.md --layout huggingface --out "$W/run"
mkdir "$W/gpt2"
cp "$W/run/model.safetensors" "$W/run/config.json" "$W/run/vocab.json" "$W/run/merges.txt" "$W/gpt2"
tune="--from $W/gpt2 --data $data --context 16 --batch 4 --eval-every 5 --eval-batches 2 --sample 20 --quiet"

ok "it is tuned" ends_with 0 "$TRAIN" $tune --steps 12 --accumulate 2 --out "$W/tuned"
for flag in "from	$W/gpt2" "context	16" "positions	32" "width	16" "heads	2" "layers	2" "tied	yes" "bias	yes" \
    "qkv-bias	yes" "gelu	tanh" "tokenizer	bpe" "vocab	300" "lr	3e-05" "warmup	0" "accumulate	2"; do
    ok "... config.tsv has $flag" grep -qx "$flag" "$W/tuned/config.tsv"
done
for file in vocab.json merges.txt; do
    ok "... $file is the model's" cmp "$W/gpt2/$file" "$W/tuned/$file"
done
ok "... it begins where the model is: at a rate of 0 nothing changes" ends_with 0 "$TRAIN" $tune --steps 1 \
    --lr 1e-12 --decay 0 --layout huggingface --out "$W/same"
ok "... which writes the same text" same_text "$W/gpt2" "$W/same"
ok "... the whole context remains" grep -qx '  "n_positions": 32,' "$W/same/config.json"
ok "defaults" ends_with 0 "$TRAIN" --from "$W/gpt2" --data $data --steps 1 --sample 0 --quiet --out "$W/plain"
ok "... the context is the model's, if that has fewer than 256" grep -qx 'context	32' "$W/plain/config.tsv"
ok "... a batch of 4" grep -qx 'batch	4' "$W/plain/config.tsv"
ok "from a file" ends_with 0 "$TRAIN" --from "$W/gpt2/model.safetensors" --data $data --steps 1 --sample 0 \
    --quiet --out "$W/file"
ok "... the same run" cmp "$W/plain/model.safetensors" "$W/file/model.safetensors"
ok "from a run of bytes" ends_with 0 "$TRAIN" --from "$W/ours" --data $data --steps 2 --sample 0 --quiet \
    --out "$W/bytes"
ok "dropout changes it" ends_with 0 "$TRAIN" $tune --steps 12 --accumulate 2 --dropout 0.5 --out "$W/dropped"
ok "... the loss too" differ "$W/tuned/result.tsv" "$W/dropped/result.tsv"

group "generate"
ok "from GPT-2's folder" ends_with 0 "$GENERATE" --model "$W/gpt2" --prompt "Hello, I am" --tokens 20
ok "... begins with the prompt" grep -q '^Hello, I am' "$W/out"
cp -R "$W/gpt2" "$W/ending"             # the last token, made by the last merge, ends a text here
sed 's/"[^" ]*": *299/"<|endoftext|>": 299/' "$W/gpt2/vocab.json" >"$W/ending/vocab.json"
sed '$d' "$W/gpt2/merges.txt" >"$W/ending/merges.txt"
ends=0
for seed in 1 2 3 4; do
    ok "until the end of a text" ends_with 0 "$GENERATE" --model "$W/ending" --prompt x --tokens 5000 \
        --temperature 100 --seed $seed
    ok "... after which nothing follows" lacks -a '<|endoftext|>.' "$W/out"
    ends=$((ends + $(tail -n 1 "$W/out" | grep -ac '<|endoftext|>$')))
done
ok "... which is shown" test $ends -ge 3
ok "without a prompt it begins there" ends_with 0 "$GENERATE" --model "$W/ending" --tokens 5

group "--train-last"
ok "the last block" ends_with 0 "$TRAIN" $tune --steps 12 --train-last 1 --out "$W/last"
cp -R "$W/run" "$W/still"
ok "the model by our names" ends_with 0 "$TRAIN" --resume "$W/still" --layout gradus
values() {      # values FILE NAME: the bytes of a tensor, as text
    header=$(head -c 8 "$1" | od -An -tu4 | awk '{ print $1 }')
    place=$(head -c $((8 + header)) "$1" | tail -c "$header" | tr '}' '\n' | grep "\"$2\":" |
        sed -n 's/.*"data_offsets":\[\([0-9]*\),\([0-9]*\)\].*/\1 \2/p')
    [ "$place" ] || return 1
    tail -c +$((9 + header + ${place% *})) "$1" | head -c $((${place#* } - ${place% *})) | od -An -v -tx1
}
for name in tok_emb.weight pos_emb.weight trf_blocks.0.att.W_query.weight trf_blocks.0.norm2.shift; do
    ok "$name is frozen" test "$(values "$W/last/model.safetensors" $name)" = \
        "$(values "$W/still/model.safetensors" $name)"
done
for name in trf_blocks.1.att.W_query.weight trf_blocks.1.norm1.shift final_norm.scale; do
    ok "$name is trained" test "$(values "$W/last/model.safetensors" $name)" != \
        "$(values "$W/still/model.safetensors" $name)"
done
ok "... and its moments are in the checkpoint" sh -c 'echo "$1" | grep -qx adamw.exp_avg.final_norm.scale' - \
    "$(names "$W/last/checkpoint.safetensors")"
ok "... no others" sh -c '! echo "$1" | grep exp_avg.*trf_blocks.0' - \
    "$(names "$W/last/checkpoint.safetensors")"

# ---- resumed: only from the run's own folder ---------------------------------------------------------------
if moments "a tuned run that is killed"; then
    group "kill -9"
    flags="$tune --steps 12 --checkpoint-every 2 --train-last 1 --accumulate 2 --dropout 0.1"
    ok "never stopped" ends_with 0 "$TRAIN" $flags --out "$W/whole"
    same_tuned() {
        same_table 1-5 "$W/whole" "$W/part" || return 1
        for file in model.safetensors best.safetensors result.tsv sample.txt vocab.json merges.txt; do
            cmp "$W/whole/$file" "$W/part/$file" || return 1
        done
    }
    for moment in 1 2 9 16 23 30; do
        rm -rf "$W/part"
        ok "killed at the step that begins as number $moment" at 137 "begin $moment KILL" train $flags \
            --out "$W/part"
        [ -e "$W/part/checkpoint.safetensors" ] || continue
        [ $moment -lt 9 ] || mv "$W/gpt2" "$W/away"
        ok "... it goes on" ends_with 0 "$TRAIN" --resume "$W/part"
        ok "... with the same bits" same_tuned
        [ $moment -lt 9 ] || mv "$W/away" "$W/gpt2"
    done
fi

# ---- refused -----------------------------------------------------------------------------------------------
group "bad input"
bad() {         # bad STATUS PATTERN FLAGS ...: nothing is written
    expected=$1
    pattern=$2
    shift 2
    refuses "$expected" "$pattern" "$TRAIN" --from "$W/gpt2" --data $data --out "$W/never" "$@" &&
        [ ! -e "$W/never" ]
}
for flag in width=16 heads=2 layers=2 tied=yes bias=yes qkv-bias=yes gelu=tanh init=gpt2 positions=32 \
    tokenizer=bpe vocab=300; do
    ok "--$flag" bad 2 "--${flag%=*} cannot be given with --from: the model in .*gpt2 has its own\$" \
        "--$flag"
done
ok "a context that is too long" bad 1 '--context: got 33, expected at most 32, the positions of the model$' \
    --context 33
ok "too many blocks" bad 1 '--train-last: got 3, expected at most 2, the blocks of the model$' --train-last 3
head -c 100 $data >"$W/short"
ok "a short text" bad 1 'the text has [0-9]* tokens; the last tenth, .* needs 17' --context 16 \
    --data "$W/short"
ok "no such folder" refuses 1 'there is no model: .*none: No such file' "$TRAIN" --from "$W/none" --data $data
ok "given again" refuses 2 '--from cannot be given with --resume' "$TRAIN" --resume "$W/tuned" \
    --from "$W/gpt2"
ok "its own folder" refuses 1 '--from .*run would be overwritten by the run: give another --out$' "$TRAIN" \
    --from "$W/run" --data $data --out "$W/run"
ok "a name with a line break" refuses 2 '--from: got a name with a line break' "$TRAIN" --data $data --from "a
b"
broken() {      # broken FILE: a copy of the folder without it
    rm -rf "$W/broken"
    cp -R "$W/gpt2" "$W/broken"
    rm "$W/broken/$1"
}
broken_from() { # broken_from PATTERN
    refuses 1 "$1" "$TRAIN" --from "$W/broken" --data $data --out "$W/never" && [ ! -e "$W/never" ]
}
broken merges.txt
ok "no merges" broken_from 'merges'
broken vocab.json; rm "$W/broken/merges.txt"
ok "no tokenizer" broken_from 'has no tokenizer'
broken model.safetensors
ok "no model" broken_from 'there is no model'
broken vocab.json
{ cat "$W/gpt2/merges.txt" && printf '~ ~\n~ }\n'; } >"$W/broken/merges.txt"    # more tokens than rows
ok "another vocabulary" broken_from \
    'the vocabulary in .*broken does not belong to .*: it has [0-9]* tokens, the model'
ok "more than any memory" refuses 1 \
    'the run does not fit in memory: it needs about [0-9.]* GB (parameters .*), and there are [0-9.]* GB: ' \
    "$TRAIN" --width 100000 --heads 1 --layers 1000 --data $data --out "$W/never"
finish
