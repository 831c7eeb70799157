#!/bin/sh
# Hugging Face's libraries open folders written by --layout huggingface, and give the ids of gradus:
# transformers.js 4.3.1, tokenizers 0.23.2 (Rust) and @huggingface/tokenizers 0.2.0 (JavaScript), from npm.
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh

mkdir "$W/npm"
if ! (cd "$W/npm" && npm init -y && npm install --ignore-scripts --no-audit --no-fund tokenizers@0.23.2 \
    @huggingface/tokenizers@0.2.0 @huggingface/transformers@4.3.1) >"$W/npm.log" 2>&1; then
    echo "$SCRIPT: left out: Hugging Face's libraries: npm is missing, or cannot install them"
    exit 0
fi
cp tests/files/huggingface.mjs "$W/npm"
cat >"$W/texts" <<'TEXT'
hello world
int main(void) { return 0; }
  it's 12 years, they'll say: naïve café 日本語
TEXT
small="--context 64 --batch 4 --width 16 --heads 2 --layers 1 --steps 5 --sample 0 --quiet --data README.md"

same_ids() {    # same_ids FOLDER: logits after each token are the same as for the libraries' ids
    (cd "$W/npm" && node huggingface.mjs "$W" "$1" "$W/texts") >"$W/ids" || return 1
    n=0
    while IFS= read -r text; do
        n=$((n + 1))
        "$GENERATE" --model "$W/$1" --prompt "$text" --tokens 1 --logits "$W/text.npy" || return 1
        for ids in $(awk -v n=$n 'int((NR - 1) / 3) + 1 == n { print $2 }' "$W/ids"); do
            "$GENERATE" --model "$W/$1" --ids "$ids" --tokens 1 --logits "$W/ids.npy" || return 1
            cmp "$W/text.npy" "$W/ids.npy" || { cat "$W/ids"; return 1; }
        done
    done <"$W/texts"
    [ "$n" -eq 3 ]
}
# shellcheck disable=SC2086
ok "a model" "$TRAIN" $small --tokenizer bpe --vocab 400 --rows 402 --layout huggingface --out "$W/run"
ok "its ids are theirs" same_ids run
mkdir "$W/pad"
cp "$W/run/model.safetensors" "$W/run/config.json" "$W/run/vocab.json" "$W/run/merges.txt" "$W/pad"
echo '{"<|endoftext|>": 400, "a word": 401}' >"$W/pad/added_tokens.json"
ok "with added tokens, written again" "$TRAIN" --from "$W/pad" --data README.md --steps 1 --sample 0 --quiet \
    --layout huggingface --out "$W/padded"
ok "... too" same_ids padded
# shellcheck source=tests/lib/begins.sh
. tests/lib/begins.sh
begins 400 "$W/padded/tokenizer.json"
ok "a text that begins with <|endoftext|>" same_ids padded
ok "... written again" "$TRAIN" --from "$W/padded" --data README.md --steps 1 --sample 0 --quiet \
    --layout huggingface --out "$W/begun"
ok "... too" same_ids begun
finish
