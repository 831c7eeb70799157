#!/bin/sh
# Tests folders like those of other tools: a tied table under its second name, shards, more rows than tokens,
# added tokens, a tokenizer with a template that begins a text. Each folder is made from a folder of gradus.
. tests/lib/ok.sh
. tests/lib/begins.sh

small="--context 16 --batch 4 --width 16 --heads 2 --layers 1 --steps 10 --sample 0 --quiet --tokenizer bpe
       --vocab 300 --bias --qkv-bias --gelu tanh --tied --data README.md"
text() { "$GENERATE" --model "$1" --prompt 'hello world' --tokens 40; }
same_text() { text "$1" >"$W/a.txt" && text "$2" >"$W/b.txt" && cmp "$W/a.txt" "$W/b.txt"; }
copy() {        # copy NAME: the folder without its tokenizer.json
    mkdir "$W/$1"
    for file in model.safetensors config.json vocab.json merges.txt; do
        cp "$W/run/$file" "$W/$1"
    done
}
refused() {     # refused FOLDER SENTENCE
    "$GENERATE" --model "$1" --prompt x 2>"$W/why"
    [ $? -eq 1 ] && grep -F "$2" "$W/why" && return
    cat "$W/why"
    false
}
change() { LC_ALL=C sed "$2" "$1" >"$W/changed" && mv "$W/changed" "$1"; }
goes_on() {     # goes_on FOLDER: tunes it, by texts and by lines, stops and resumes, and writes it again
    "$TRAIN" --from "$1" --data README.md --steps 2 --batch 2 --context 8 --sample 20 --quiet \
        --layout huggingface --out "$W/on" && "$TRAIN" --resume "$W/on" --layout huggingface --quiet &&
        text "$W/on" >/dev/null &&
        "$TRAIN" --from "$W/on" --lines --data README.md --steps 1 --batch 2 --sample 20 --quiet \
            --out "$W/lines" &&
        text "$W/lines" >/dev/null
}

ok "a model" ends_with 0 "$TRAIN" $small --layout huggingface --out "$W/run"

group "the tied table's other name"
copy alias
change "$W/alias/model.safetensors" '1s/"transformer.wte.weight":/        "lm_head.weight":/'
ok "GPT-2's" same_text "$W/run" "$W/alias"
ok "... goes on" goes_on "$W/alias"
change "$W/alias/config.json" 's/"tie_word_embeddings": true/"tie_word_embeddings": false/'
ok "an untied head needs both tables" refused "$W/alias" "there is no tensor wte.weight"

group "shards"
copy sharded
mv "$W/sharded/model.safetensors" "$W/sharded/a.safetensors"
cp "$W/sharded/a.safetensors" "$W/sharded/b.safetensors"
head -c 100000 "$W/run/model.safetensors" | tr -d '\000' | grep -ao '"[a-z_A-Z0-9.]*":{"dtype"' |
    cut -d '"' -f 2 |
    awk 'BEGIN { print "{\"metadata\":{\"total_size\":1},\n\"weight_map\":{" }
         { printf "%s\"%s\":\"%s.safetensors\"", (NR > 1 ? ",\n" : ""), $1, (NR % 2 ? "a" : "b") }
         END { print "}}" }' \
    >"$W/index"
index=$W/sharded/model.safetensors.index.json
cp "$W/index" "$index"
ok "two" same_text "$W/run" "$W/sharded"
ok "... go on" goes_on "$W/sharded"
ok "... the index by its name" same_text "$W/run" "$index"
ok "... other files are ignored" ends_with 0 cp README.md "$W/sharded/c.safetensors"
ok "... there" same_text "$W/run" "$W/sharded"
hostile() { sed "$1" "$W/index" >"$index"; refused "$W/sharded" "$2"; }
ok "a shard is missing" hostile 's/b.safetensors/d.safetensors/' "d.safetensors: No such file or directory"
ok "a tensor is not in its shard" hostile 's/wte/wtf/' "tensor transformer.wtf.weight is not in "
ok "a tensor twice" hostile 's/.*wpe.*/&&/' "is there twice"
for path in ../run/model.safetensors /etc/passwd . .. ''; do
    ok "a path that leaves the folder: '$path'" hostile "s,b.safetensors,$path," \
        "expected one beside the index"
done
for bad in '' '{' '[]' '{}' '{"weight_map":{}}' '{"weight_map":{"a":1}}' '{"weight_map":{"a":"b"' \
    '{"weight_map":[]}'; do
    echo "$bad" >"$index"
    ok "not an index: $bad" refused "$W/sharded" "expected a JSON object with weight_map"
done
head -c 70000000 /dev/zero >"$index"
ok "... or too long" refused "$W/sharded" "it is too long"

group "more rows than tokens"
ok "a model" ends_with 0 "$TRAIN" $small --rows 320 --layout huggingface --out "$W/padded"
ok "... of 320 rows" grep -q '"vocab_size": 320' "$W/padded/config.json"
ok "... writes only tokens" "$GENERATE" --model "$W/padded" --temperature 50 --tokens 2000
ok "... goes on" goes_on "$W/padded"
ok "... with its rows" grep -q '"vocab_size": 320' "$W/on/config.json"
cp "$W/run/model.safetensors" "$W/run/config.json" "$W/padded"
sed 's/}$/,"one":300}/' "$W/run/vocab.json" >"$W/padded/vocab.json"
rm "$W/padded/tokenizer.json"
ok "fewer rows than tokens are refused" ends_with 1 "$GENERATE" --model "$W/padded"

group "added tokens"
ok "a model of 302 rows" ends_with 0 "$TRAIN" $small --rows 302 --layout huggingface --out "$W/added"
rm "$W/added/tokenizer.json"
echo '{"[PAD]": 300, "of any look": 301}' >"$W/added/added_tokens.json"
ok "beside vocab.json" text "$W/added"
ok "... go on" goes_on "$W/added"
ok "... into tokenizer.json" grep -q '"id":301,"content":"of any look"' "$W/on/tokenizer.json"
rm "$W/on/vocab.json" "$W/on/merges.txt"
ok "... which is enough" text "$W/on"
echo '{"[PAD]": 5}' >"$W/added/added_tokens.json"
ok "an id twice" refused "$W/added" "two tokens have this id"

group "a tokenizer that begins a text"
rows() {        # rows FOLDER: prints the number of logits
    "$GENERATE" --model "$1" --prompt 'int main' --tokens 1 --logits "$W/l.npy" &&
        head -c 100 "$W/l.npy" | grep -ao "'shape': ([0-9]*"
}
echo '{"<|endoftext|>": 300}' >"$W/added/added_tokens.json"
ok "a folder with that token" goes_on "$W/added"
mkdir "$W/bos"
cp "$W/on/model.safetensors" "$W/on/config.json" "$W/on/tokenizer.json" "$W/bos"
plain=$(rows "$W/bos" | sed 's/.*(//')
begins 300 "$W/bos/tokenizer.json"
ok "<|endoftext|> before the text" test "$(rows "$W/bos" | sed 's/.*(//')" -eq $((plain + 1))
ok "... goes on" goes_on "$W/bos"
ok "... and is written again" grep -q TemplateProcessing "$W/on/tokenizer.json"
ok "... by a run of our names too" grep -q TemplateProcessing "$W/lines/tokenizer.json"
change "$W/bos/tokenizer.json" 's/"ids":\[300\]/"ids":[301]/'
ok "an id that is not the token's is refused" refused "$W/bos" "post_processor.special_tokens"
change "$W/bos/tokenizer.json" 's/"id":"<|endoftext|>","type_id"/"id":"a","type_id"/'
ok "another token is refused" refused "$W/bos" 'post_processor.type: got "TemplateProcessing"'
finish
