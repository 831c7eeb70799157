#!/bin/sh
# Tests runs with merges (train --tokenizer bpe): their files, resuming, generating, showing, and refusals.
. tests/lib/ok.sh

tiny="--context 8 --batch 2 --width 8 --heads 2 --layers 1 --steps 12 --eval-every 5 --eval-batches 2 --quiet
      --tokenizer bpe --threads 2 --checkpoint-every 1 --snapshot-every 6"
cp tests/golden/tokenizer/text.txt "$W/text"
cat core/gradus.h >>"$W/text"
head -c "$(($(wc -c <"$W/text") / 10))" /dev/zero | tr '\0' '\001' >>"$W/text"     # nearly all held out
bpe() {         # bpe STATUS FLAGS ...: a run in $W/run
    expected=$1
    shift
    ends_with "$expected" "$TRAIN" $tiny --data "$W/text" --out "$W/run" "$@"
}
bad() {         # bad PATTERN FLAGS ...: a run is refused
    pattern=$1
    shift
    refuses "${status:-1}" "$pattern" "$TRAIN" $tiny --data "$W/text" --out "$W/other" "$@"
}

group "a run"
ok "trains" bpe 0 --vocab 400
ok "its files" test -s "$W/run/vocab.json" -a -s "$W/run/merges.txt" -a ! -e "$W/run/vocab.tsv"
ok "256 bytes and 144 merges" test "$(wc -l <"$W/run/merges.txt")" -eq 145
ok "a run of bytes in its place" ends_with 0 "$TRAIN" \
    $tiny --tokenizer bytes --data "$W/text" --out "$W/run"
ok "... has other files" test -s "$W/run/vocab.tsv" -a ! -e "$W/run/vocab.json" -a ! -e "$W/run/merges.txt"
ok "and back" bpe 0 --vocab 400
ok "... has only the first" test -s "$W/run/vocab.json" -a ! -e "$W/run/vocab.tsv"
ok "merges are those of the training part" lacks "$(printf '\304\201')" "$W/run/merges.txt"

group "generation"
prompt=$(printf 'caf\303\251 \344\270\255\377 ')
ok "any prompt" ends_with 0 "$GENERATE" --model "$W/run" --prompt "$prompt" --tokens 1
ok "... is printed as it is" sh -c '[ "$(head -c 11 "$1")" = "$2" ]' - "$W/out" "$prompt"
ok "a text" ends_with 0 "$GENERATE" --model "$W/run" --tokens 40 --seed 1
head -c 60 "$W/run/sample.txt" >"$W/begin"
ok "... of the sample's tokens" sh -c 'head -c 60 "$1" | cmp - "$2"' - "$W/out" "$W/begin"

# Tokens of one byte: every second text would end inside a character, which is omitted.
awk 'BEGIN { while (i++ < 3000) printf "\303\251" }' >"$W/accents"
accents() {     # accents COMMAND ...: $W/out, or the sample of a run, has only whole characters
    "$@" >"$W/out" && [ "$(tr -d '\n' <"$W/out" | wc -c)" -gt 2 ] &&
        sh -c 'tr -d "\n" <"$1" | LC_ALL=C grep -qx "\($(printf "\303\251")\)*"' - "$W/out"
}
ok "a run of accents" ends_with 0 "$TRAIN" $tiny --data "$W/accents" --tokenizer bytes --steps 300 --lr 0.03 \
    --sample 9 --out "$W/accents.run"
ok "... a sample without half a character" accents cat "$W/accents.run/sample.txt"
for n in 4 5; do
    ok "$n tokens of accents" accents "$GENERATE" --model "$W/accents.run" --tokens $n --temperature 0 \
        --prompt é
done
ok "an empty prompt is a newline" ends_with 0 "$GENERATE" --model "$W/run" --prompt "" --tokens 3
ok "look names its tokens" ends_with 0 "$BUILD/look" --model "$W/run" --prompt "the tape" --out "$W/page.html"
ok "... as they are" grep -q '"tokens":\["t","he","·t","a","pe"\]' "$W/page.html"

group "special tokens"
for i in 1 2 3 4 5 6; do
    cat tests/lib/ok.sh
    printf '<|endoftext|>'
done >"$W/documents"
documents() {   # documents FLAGS ...: a run on documents
    ends_with 0 "$TRAIN" $tiny --data "$W/documents" --vocab 300 --context 32 "$@"
}
tuned() {       # tuned MODEL FLAGS ...: a further training step of MODEL
    from=$1
    shift
    ends_with 0 "$TRAIN" --from "$from" --data "$W/documents" --context 8 --steps 1 --sample 0 --quiet "$@"
}
reads() {       # reads N FLAGS ...: the prompt has N tokens
    n=$1
    shift
    ends_with 0 "$GENERATE" --prompt 'i<|endoftext|>i' --tokens 1 --logits "$W/logits.npy" "$@" &&
        grep -aq "($n, 300)" "$W/logits.npy"
}
says() { finds 'the text contains <|endoftext|>, which is read as ordinary characters: --special' "$W/err"; }
ok "a run" documents --special --out "$W/special"
ok "... says nothing" test ! -s "$W/err"
ok "... has the token" grep -q '"<|endoftext|>":256,' "$W/special/vocab.json"
ok "... and no merge of its letters" lacks '|' "$W/special/merges.txt"
ok "generate reads the prompt as the run did" reads 3 --model "$W/special"
ok "... or as ordinary characters" reads 1[0-9] --model "$W/special" --no-special
ok "... and says so" says
ok "look reads it too" ends_with 0 "$BUILD/look" --model "$W/special" --prompt 'i<|endoftext|>' \
    --out "$W/page.html"
ok "... and names the token" grep -q '"tokens":..i","[^"]*|endoftext|>"' "$W/page.html"
ok "tuned without the flag" tuned "$W/special" --out "$W/spelled"
ok "... says so" says
ok "... generate reads it in the same way" reads 1[0-9] --model "$W/spelled"
ok "tuned with it" tuned "$W/spelled" --special --out "$W/read"
ok "... says nothing" test ! -s "$W/err"
ok "... generate reads it in the same way" reads 3 --model "$W/read"
awk 'BEGIN { while (i++ < 222) printf "ab"; printf "a<|endoftext|>"
             while (j++ < 42) printf j % 10 }' >"$W/cut"
ok "the last tenth does not begin inside one" ends_with 0 "$TRAIN" $tiny --data "$W/cut" --vocab 260 \
    --special --no-quiet --out "$W/whole"
ok "... but behind it" grep -q '^text  *bytes 500, .*held out for validation 42$' "$W/out"
ok "bytes have no such token" refuses 1 \
    '--special: the tokenizer has no special token, such as <|endoftext|>' \
    "$TRAIN" $tiny --tokenizer bytes --data "$W/documents" --special --out "$W/never"

group "resuming"
if moments "a run that is killed"; then
    ok "killed" at 137 "begin 9 KILL" train $tiny --vocab 400 --data "$W/text" --out "$W/part"
    ok "... and resumed" ends_with 0 "$TRAIN" --resume "$W/part"
    for file in model.safetensors result.tsv sample.txt vocab.json merges.txt; do
        ok "... with the same $file" cmp "$W/run/$file" "$W/part/$file"
    done
    ok "special tokens: killed" at 137 "begin 9 KILL" train $tiny --vocab 300 --context 32 --special \
        --data "$W/documents" --out "$W/part.special"
    ok "... and resumed" ends_with 0 "$TRAIN" --resume "$W/part.special"
    ok "... the same" cmp "$W/special/model.safetensors" "$W/part.special/model.safetensors"
    ok "killed before its tokenizer is written" at 137 "rename 2 KILL" train $tiny --vocab 400 \
        --data "$W/text" --out "$W/early"
    ok "... it is learnt again" ends_with 0 "$TRAIN" --resume "$W/early"
    ok "... the same" cmp "$W/run/merges.txt" "$W/early/merges.txt"
fi
changed() {     # changed PATTERN: the run in $W/changed is refused
    refuses 1 "$1" "$TRAIN" --resume "$W/changed" &&
        cmp "$W/run/checkpoint.safetensors" "$W/changed/checkpoint.safetensors"
}
anew() { rm -rf "$W/changed" && cp -R "$W/run" "$W/changed"; }
anew && sed '3{h;d;};4G' "$W/run/merges.txt" >"$W/changed/merges.txt"
ok "two merges exchanged" changed 'the tokenizer in .*changed differs from the one that its run began with'
anew && sed '30d' "$W/run/merges.txt" >"$W/changed/merges.txt"
ok "a merge is missing" changed 'merges.txt: .*missing'
anew && rm "$W/changed/merges.txt"
ok "no merges" changed 'vocab.json has no merges.txt beside it'
ok "... in generation too" refuses 1 'vocab.json has no merges.txt beside it' "$GENERATE" --model "$W/changed"
anew && rm "$W/changed/vocab.json" "$W/changed/merges.txt"
ok "no tokenizer" changed 'changed has no tokenizer, expected vocab.json and merges.txt'
ok "... a model of numbers" refuses 1 'no vocabulary beside it' "$GENERATE" --model "$W/changed"
ok "a smaller tokenizer" bpe 0 --vocab 300
anew && ok "a larger one again" bpe 0 --vocab 400
cp "$W/run/vocab.json" "$W/run/merges.txt" "$W/changed"
ok "a tokenizer of another size than the model" refuses 1 \
    'changed does not belong to .*: it has 400 tokens, the model 300' "$GENERATE" --model "$W/changed"

group "refusals"
status=2
ok "a size for bytes" bad '--vocab 300 needs --tokenizer bpe' --tokenizer bytes --vocab 300
ok "rows for bytes" bad '--rows 300 needs --tokenizer bpe' --tokenizer bytes --rows 300
ok "fewer than bytes" bad '--vocab: got 256, expected 257 to 65536' --vocab 256
status=1
printf 'abcdefgh' >"$W/short"
ok "a text without merges" bad 'too short for merges' --data "$W/short"
head -c 1000 /dev/zero | tr '\0' a >"$W/few"
ok "a text of few tokens" bad 'the text has [0-9]* tokens; .* --context 8 needs 9' --data "$W/few"
ok "... leaves nothing" test ! -e "$W/other"
finish
