#!/bin/sh
# Tests the training program from end to end: build/train and build/generate, as a user runs them.
#
# A group leaves folders in $W, which later groups may use:
#     run        fifty steps: generate uses this run in later groups, and its copies are damaged ($W/d)
#     t1         of "the same seed": "flags" replaces it
#     at.once, in.turn    made twice: from a text, then from lines
#     short, 640, 641     texts too short or just long enough; 641.run is a model of four bytes
#     own        three steps, which "what is in the folder" must not spoil; linked is a copy with links
#     draws      a gnuplot that writes a picture
#     wild       of "generate": an untrained model, whose text depends on everything it read
# $small, $bare and $quick are flags of most runs; $tidy has the flags of runs with --lines.
. tests/lib/ok.sh

bad_train() {   # bad_train STATUS PATTERN FLAGS ...: like refuses; also, no output folder is made
    expected=$1
    pattern=$2
    shift 2
    refuses "$expected" "$pattern" "$TRAIN" --out "$W/never" "$@" && [ ! -e "$W/never" ]
}

trains() {      # trains NAME FLAGS ...: into the folder $W/NAME
    into=$W/$1
    shift
    ends_with 0 "$TRAIN" "$@" --out "$into"
}

bad_generate() { # bad_generate PATTERN FLAGS ...
    pattern=$1
    shift
    refuses 1 "$pattern" "$GENERATE" "$@"
}

small="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --eval-batches 4"

# ---- the files of a run ---------------------------------------------------------------------------
is_png() {
    [ "$(od -An -tx1 -N4 "$1" | tr -d ' \n')" = 89504e47 ]
}

shown() {       # shown SAMPLE: the program printed the sample's first lines, whole or cut at 78
    head -n 8 "$1" | cut -c 1-78 | sed 's/^/  /' >"$W/a"
    sed -n '/^sample:$/,/^$/p' "$W/out" | sed '1d;$d' >"$W/b"
    cmp "$W/a" "$W/b"
}

falls() {       # the mean of the last five training losses is well below that of the first five
    awk -F '\t' 'NR > 1 { x[NR - 1] = $2; n = NR - 1; v = $3 }
        END { for (i = 0; i < 5; i++) { a += x[1 + i]; b += x[n - i] }
              printf "%d steps, %g to %g, validation %s\n", n, a / 5, b / 5, v
              exit !(n == 50 && b < 0.9 * a && v > 0 && v < 0.9 * a / 5) }' "$1"
}

in_bits() {     # the estimates in bits per byte: with tokens of bytes, a nat is 1 / ln 2 bits
    awk -F '\t' 'NR > 1 && ($7 * log(2) - $3) ^ 2 > 1e-14 || ($7 != "") != ($3 != "") { bad = 1 }
        END { exit bad || NR < 9 }' "$1"
}

validated_at() { # validated_at FILE STEP ...: at these steps and no others
    [ "$(awk -F '\t' 'NR > 1 && $3 != "" { printf "%s%s", s, $1; s = " " }' "$1")" = "$2" ]
}

# result_of RUN STEP: the loss over the whole held-out text after that step, as in the last line
result_of() {
    awk -F '\t' -v step="$2" \
        'NR == 1 && $0 != "step\tval_loss\tval_bits_per_byte" { exit 1 }
        NR == 2 && ($1 != step || !($2 > 0) || ($3 * log(2) - $2) ^ 2 > 1e-14) { exit 1 }
        END { exit NR != 2 }' "$1/result.tsv" &&
        grep -q "validation loss $(awk 'NR == 2 { printf "%.4f, %.3f bits", $2, $3 }' "$1/result.tsv")" \
            "$W/out"
}

group "fifty steps on the project's own text"
run=$W/run
ok "it trains" ends_with 0 "$TRAIN" $small --steps 50 --lr 0.02 --eval-every 20 --sample 300 \
    --threads 2 --out "$run"
ok "it reports the model" grep -q 'layers 2, parameters [0-9]*$' "$W/out"
ok "it prints a line at each validation" test "$(grep -c '^step .* val ' "$W/out")" -eq 3
ok "nothing on stderr" test ! -s "$W/err"
ok "the loss falls" falls "$run/loss.tsv"
ok "the table has its columns" columns "$run/loss.tsv"
ok "validation at steps 20, 40 and the last" validated_at "$run/loss.tsv" "20 40 50"
ok "... also in bits per byte" in_bits "$run/loss.tsv"
ok "... and printed so" grep -Eq '^step +50/50 .* val [0-9.]+ \([0-9.]+ bpb\) ' "$W/out"
ok "the result is in a file of its own" result_of "$run" 50
ok "the sample is shown" shown "$run/sample.txt"
ok "and the next command" test "$(tail -n 1 "$W/out")" = "to write more: $GENERATE --model $run"
ok "which works" sh -c "$(tail -n 1 "$W/out" | cut -d : -f 2-) --tokens 5"
ok "the best model generates too" ends_with 0 "$GENERATE" --model "$run/best.safetensors" --tokens 5
ok "the sample has its size" test "$(wc -c <"$run/sample.txt")" -eq 300
for file in config.tsv vocab.tsv model.safetensors loss.gp; do
    ok "$file exists" test -s "$run/$file"
done
if command -v gnuplot >"$W/ok.out"; then
    ok "the picture exists" is_png "$run/loss.png"
fi
ok "nothing unfinished is left" holds_no tmp "$run"

# ---- the same bits ----------------------------------------------------------------------------------
group "the same seed, the same bits"
quick="--quiet --sample 0 --steps 20"
bare="$quick --data core/gradus.h"
for n in 1 2 4; do
    ok "$n threads" trains t$n $small $bare --dropout 0.1 --threads $n
done
ok "1 and 2 threads" same_table 1-5 "$W/t1" "$W/t2"
ok "1 and 4 threads" same_table 1-5 "$W/t1" "$W/t4"
ok "the parameters too" cmp "$W/t1/model.safetensors" "$W/t4/model.safetensors"
ok "another evaluation" trains e $small $bare --dropout 0.1 --eval-every 3
ok "... does not change the training" same_table 1,2,4,5 "$W/t1" "$W/e"
ok "another seed" trains s $small $bare --dropout 0.1 --seed 2
ok "... is another run" differ "$W/t1/model.safetensors" "$W/s/model.safetensors"
for optimizer in muon sgd; do
    ok "$optimizer" trains $optimizer $small $bare --steps 50 --optimizer $optimizer
    ok "$optimizer: the loss falls" falls "$W/$optimizer/loss.tsv"
done

# In plain C, which every processor can run, though slowly.
group "products of bfloat16 numbers"
wide="--context 32 --batch 8 --width 32 --heads 2 --layers 1 --steps 6 --eval-every 3 --eval-batches 1 --quiet
      --sample 9 --data core/gradus.h"
ok "in float" ends_with 0 env GRADUS_ISA=base "$TRAIN" $wide --out "$W/float"
ok "in bfloat16" ends_with 0 env GRADUS_ISA=base+bf16 "$TRAIN" $wide --products bf16 --out "$W/bf16"
ok "... is another run" differ "$W/float/model.safetensors" "$W/bf16/model.safetensors"
ok "... that was written down" grep -q '^products	bf16$' "$W/bf16/config.tsv"
ok "... and learns as well" sh -c 'paste "$1" "$2" | awk -F "\t" "
    NR > 1 { if ((\$2 - \$9) ^ 2 > 0.0001) bad = 1 } END { exit bad || NR != 7 }"' - \
    "$W/float/loss.tsv" "$W/bf16/loss.tsv"
ok "without an instruction" refuses 1 '--products bf16: .* this processor has no instruction for products' \
    env GRADUS_ISA=base "$TRAIN" $wide --products bf16 --out "$W/none"
ok "... nothing is written" test ! -e "$W/none"

group "batches one after another"
near() {        # near FIELDS STEPS A B: columns of loss.tsv agree to 1e-6 in the first STEPS steps
    cut -f "$1" "$3/loss.tsv" | head -n $(($2 + 1)) >"$W/a"
    cut -f "$1" "$4/loss.tsv" | head -n $(($2 + 1)) >"$W/b"
    paste "$W/a" "$W/b" |
        awk 'NF % 2 { bad = 1 }
            NR > 1 { for (i = 1; i <= NF / 2; i++) if (($i - $(i + NF / 2)) ^ 2 > 1e-12 * $i ^ 2) bad = 1 }
            END { exit bad || NR < 2 }'
}

ok "eight rows at once" trains at.once $small $bare --batch 8 --eval-every 5
ok "four times two" trains in.turn $small $bare --batch 2 --accumulate 4 --eval-every 5 --eval-batches 16
# Later the gradient's norm may differ by 1e-5: AdamW makes full steps even from gradients that are nearly 0.
ok "... the same gradients" near 5 3 "$W/at.once" "$W/in.turn"
ok "... the same losses" near 1-4 20 "$W/at.once" "$W/in.turn"
ok "too many tokens" bad_train 2 \
    '--batch 1000000 times --context 64 times --accumulate 17: got 1088000000 tokens per step, expect' \
    --batch 1000000 --accumulate 17

group "lines"
awk 'BEGIN { for (i = 0; i < 200; i++) print i % 2 ? "ab" : "abcdefgh" }' >"$W/ab"
tidy="--context 16 --width 16 --heads 2 --layers 1 --data $W/ab --lines"
ok "two kinds of lines" trains ab.run $tidy --batch 32 --steps 200 --lr 0.02 --sample 31 \
    --snapshot-every 200
ok "... are counted" grep -qx 'lines     200, held out 20, longer than the context and cut 0' "$W/out"
# A line of each kind has 3 + 9 tokens together, and only two, after "ab", are uncertain: one of two tokens.
ok "... the loss is that of the choice" awk -F '\t' 'NR > 161 { sum += $2 / 40 }
    END { print sum; exit !(sum > 0.107 && sum < 0.124) }' "$W/ab.run/loss.tsv"
ok "... the sample has its size" test "$(wc -c <"$W/ab.run/sample.txt")" -eq 31
only_lines() {  # only_lines FILE: all lines except the last are complete
    sed '$d' "$1" | lacks -Evx 'ab|abcdefgh' && grep -qx ab "$1" && grep -qx abcdefgh "$1"
}
ok "... and only such lines" only_lines "$W/ab.run/sample.txt"
ok "... the next command" test "$(tail -n 1 "$W/out")" = \
    "to write more: $GENERATE --model $W/ab.run --count 20"
ok "... works" sh -c "$(tail -n 1 "$W/out" | cut -d : -f 2-) >'$W/20'"
ok "... it writes 20 lines" test "$(wc -l <"$W/20")" -eq 20
ok "... such lines" only_lines "$W/20"
for name in best snapshot-200; do
    ok "$name ends with the line, too" ends_with 0 "$GENERATE" --model "$W/ab.run/$name.safetensors" \
        --prompt abc --count 2
    ok "... after the prompt" test "$(cat "$W/out")" = "abcdefgh
abcdefgh"
done
ok "at most so many tokens" ends_with 0 "$GENERATE" --model "$W/ab.run" --prompt abc --tokens 2 --count 2
ok "... each on a line" test "$(cat "$W/out")" = "abcde
abcde"
ok "a model of no lines" ends_with 0 "$GENERATE" --model "$run" --prompt int --tokens 30 --count 3 \
    --temperature 9
ok "... writes so many texts" test "$(grep -c '^int' "$W/out")" -eq 3
awk '{ print "\n" $0 " \t\r\n  \r" } END { printf "abcdefghijklmnopqr" }' "$W/ab" >"$W/blanks"
ok "blanks, empty lines, a long one" trains blanks.run $tidy --data "$W/blanks" --steps 1
ok "... are counted" grep -qx 'lines     201, held out 21, longer than the context and cut 1' "$W/out"
ok "... no blank is a token" test "$(wc -l <"$W/blanks.run/vocab.tsv")" -eq 19
tidy="$tidy $quick"
ok "eight lines at once" trains at.once $tidy --eval-every 5 --batch 8 --eval-batches 4
ok "eight times one" trains in.turn $tidy --eval-every 5 --batch 1 --accumulate 8 --eval-batches 32
ok "... each weighs as many tokens as it has" near 1-5 "$W/at.once" "$W/in.turn"
for one in at.once in.turn; do mv "$W/$one/result.tsv" "$W/$one/loss.tsv"; done
ok "... also in the loss over all held-out lines" near 1-3 "$W/at.once" "$W/in.turn"
awk 'BEGIN { for (i = 0; i < 200; i++) print i < 180 ? "aaa" : "bbb" }' >"$W/sorted"
ok "sorted lines" trains sorted.run $tidy --data "$W/sorted" --steps 100 --lr 0.02
ok "... are shuffled before some are held out" awk 'NR == 2 { exit !($2 < 0.5) }' "$W/sorted.run/result.tsv"
{ awk 'BEGIN { while (i++ < 1e6) printf "x" } END { print "" }' </dev/null && cat "$W/ab"; } >"$W/1MB"
ok "a line of 1 MB" trains 1MB.run $tidy --no-quiet --data "$W/1MB" --steps 2
ok "... is cut" grep -qx 'lines     201, held out 21, longer than the context and cut 1' "$W/out"
head -n 9 "$W/ab" >"$W/nine"
tr -c '\n' ' ' <"$W/ab" >"$W/none.txt"
ok "nine lines" bad_train 1 '--lines: the text has 9 lines that are not empty, expected 10 to [0-9]*: a' \
    --lines --data "$W/nine"
ok "only empty lines" bad_train 1 'the text has 0 lines that are not empty' --lines --data "$W/none.txt"

group "flags"
ok "--quiet prints one line" trains t1 $small $bare
ok "... and no other" test "$(wc -l <"$W/out")" -eq 1
ok "a finished run is replaced" trains t1 $small --steps 3 --sample 9
ok "... after a line that reports it" grep -qx "(--resume $W/t1 would continue it)" "$W/out"
ok "--name=value" ends_with 0 "$TRAIN" $small $bare --steps=2 --out="$W/new/in/new/"
ok "... was understood" test "$(wc -l <"$W/new/in/new/loss.tsv")" -eq 3
ok "--help" ends_with 0 "$TRAIN" --help
cp "$W/out" "$W/help"
for name in data steps batch context width heads layers dropout optimizer lr min-lr warmup decay clip seed \
            threads eval-every eval-batches sample out resume checkpoint-every tied bias qkv-bias gelu init \
            accumulate lines patience products recompute quiet; do
    ok "--help explains --$name" grep -Eq "^  --(\[no-\])?$name .* \(.*\)$" "$W/help"
done

# ---- bad input ----------------------------------------------------------------------------------------
group "wrong usage"
ok "not a flag" bad_train 2 \
    "got 'some.txt', expected a flag, which begins with two dashes: --help lists them\$" some.txt
ok "not a flag, with its dashes" bad_train 2 "there is no flag '--bogus': --help lists them\$" --bogus
ok "one dash" bad_train 2 "there is no flag '-steps': did you mean --steps?\$" -steps 3
ok "no, and a flag that is no switch" bad_train 2 "there is no flag '--no-steps': did you mean --steps?\$" \
    --no-steps 3
ok "no, and half a switch" bad_train 2 "there is no flag '--no-tie': did you mean --no-tied?\$" --no-tie
for name in data out resume; do
    ok "--$name ''" bad_train 2 "--$name: got '', expected [A-Z]*\$" --$name ''
done
ok "no value" bad_train 2 '--steps needs a value: a whole number from 1 to 1000000000$' --steps
ok "no value before a flag" bad_train 2 '--data needs a value: FILE' --data --quiet
ok "no choice" bad_train 2 '--gelu needs a value: one of erf|tanh$' --gelu
ok "a switch with a strange value" bad_train 2 "--quiet: got 'maybe', expected one of no|yes" --quiet=maybe
for value in abc '' 3x ' 3' 1e3 0 -1 99999999999999999999; do
    ok "--steps '$value'" bad_train 2 "--steps: got '$value', expected a whole number from 1 to" \
        --steps "$value"
done
for name in batch context width heads layers eval-every eval-batches; do
    ok "--$name 0" bad_train 2 "--$name: got '0', expected a whole number from 1 to" --$name 0
    ok "--$name -4" bad_train 2 "--$name: got '-4', expected a whole number from 1 to" --$name -4
done
for value in x 0 -1 nan inf; do
    ok "--lr $value" bad_train 2 "--lr: got '$value', expected a number from" --lr $value
done
ok "--dropout 1" bad_train 2 "--dropout: got '1', expected a number from 0 to" --dropout 1
ok "an unknown optimiser" bad_train 2 "--optimizer: got 'adam', expected one of adamw|muon|sgd\$" \
    --optimizer adam
ok "heads that do not divide" bad_train 2 '--heads 3 does not divide --width 128' --heads 3
ok "a rate that rises" bad_train 2 '--min-lr 1 is above --lr' --min-lr 1
ok "generate: not a probability" \
    refuses 2 "--top-p: got '1.1', expected a number from 0 to 1" "$GENERATE" --top-p 1.1
ok "generate: not a number" refuses 2 "--top-k: got 'many', expected a whole number" "$GENERATE" --top-k many

full() {        # full COMMAND ...: COMMAND reports that its output is lost
    "$@" >/dev/full 2>"$W/err"
    [ $? -eq 1 ] && cat "$W/err" && grep -q 'cannot write to the standard output: No space' "$W/err"
}

group "bad input"
printf 'To be, or not to be' >"$W/short"
awk 'BEGIN { for (i = 0; i < 640; i++) printf "%c", 97 + i * i % 7 }' >"$W/640"
awk 'BEGIN { for (i = 0; i < 641; i++) printf "%c", 97 + i * i % 7 }' >"$W/641"
: >"$W/empty"
ok "no such file" bad_train 1 'nowhere.txt: No such file' --data "$W/nowhere.txt"
ok "a folder" bad_train 1 'Is a directory' --data "$W"
ok "a name with a line break" bad_train 2 '--data: got a name with a line break' --data "a
b.txt"
ok "a name in Latin-1" bad_train 2 \
    '--data: got the name dir/b?.txt, expected UTF-8, as a checkpoint stores it: rename the file$' \
    --data "$(printf 'dir/b\344.txt')"
ok "an empty file" bad_train 1 'it is empty' --data "$W/empty"
ok "shorter than a window" bad_train 1 \
    'has 19 bytes; the last tenth, .* has 2, but a window of --context 64 needs 65' --data "$W/short"
ok "too little to hold out" bad_train 1 'held out.* has 64, .* needs 65' --data "$W/640"
ok "just enough" trains 641.run $small $quick --context 64 --data "$W/641"
mkdir "$W/elsewhere"
ok "no text of its own here" refuses 1 'give --data FILE' sh -c 'cd "$1" && exec "$2" --out never' - \
    "$W/elsewhere" "$TRAIN"
ok "... nothing is written" test ! -e "$W/elsewhere/never"
ok "a file instead of the folder" refuses 1 'cannot make the folder' "$TRAIN" $small --out "$W/short"
ok "a file on the way to it" refuses 1 'cannot make the folder' "$TRAIN" $small --out "$W/short/a/b"
ln -s nowhere "$W/dangling"
ln -s looping "$W/looping"
for link in dangling looping dangling/a/b; do
    ok "$link link" refuses 1 \
        "cannot make the folder $W/${link%%/*}: it is a symbolic link that does not point to a folder" \
        "$TRAIN" $small --out "$W/$link"
done
if [ "$(cat /proc/sys/vm/overcommit_memory 2>"$W/ok.out")" != 1 ]; then      # 1: any amount is granted
    ok "a model too large" ends_with 1 "$TRAIN" --data "$W/641" --context 1 --width 1000000 --heads 1 \
        --out "$W/large"
    ok "... is out of memory" grep -q '^train: .*memory' "$W/err"
    ok "... before anything is written" test ! -e "$W/large"
fi
small_file() {  # small_file COMMAND ...: COMMAND may write only a few hundred bytes to a file
    sh -c 'ulimit -f 1; exec "$@"' - "$@"
}
ok "generate: a file that may not grow" ends_with 1 small_file "$GENERATE" --model "$run" --tokens 3000
ok "... is reported" grep -q '^generate: cannot write to the standard output: File too large$' "$W/err"
if [ -e /dev/full ]; then
    ok "stdout is full" full "$TRAIN" $small --out "$W/full.out"
    ok "... no model is written" test ! -e "$W/full.out/model.safetensors"
    ok "--help, and stdout is full" full "$TRAIN" --help
    ok "generate --help" full "$GENERATE" --help
    ok "generate: stdout is full" full "$GENERATE" --model "$run"
fi

# ---- binary text, odd names ------------------------------------------------------------------------
group "numbers that go wrong"
wild="$small --data $W/641 --steps 300 --optimizer sgd --lr 1000 --clip 0 --dropout 0.2 --sample 0 --quiet"
ok "a far too large learning rate" ends_with 1 "$TRAIN" $wild --out "$W/wild.1" --threads 1
cp "$W/err" "$W/wild.err"
ok "... is reported" grep -Eq '^train: step [0-9]+: the (loss|gradient) is no longer finite; a smaller --lr' \
    "$W/err"
where='[a-z_]+: made (-?inf|nan) at [(][0-9, ]+[)] .*, (in|after) [a-zA-Z_.0-9]+ [(](for|back)ward[)]'
ok "... and where it began" grep -Eq "^train: it began here: $where\$" "$W/err"
ok "... in two lines" test "$(wc -l <"$W/err")" -eq 2
ok "... and no parameters are written" test ! -e "$W/wild.1/model.safetensors"
ok "... and no rows with nan" lacks -Ei 'nan|inf' "$W/wild.1/loss.tsv"
ok "with two threads" ends_with 1 "$TRAIN" $wild --out "$W/wild.2" --threads 2
ok "... it began there too" cmp "$W/err" "$W/wild.err"
ok "in one of three batches" ends_with 1 "$TRAIN" $wild --accumulate 3 --out "$W/wild.3"
ok "... and where it began" grep -Eq "^train: it began here: $where\$" "$W/err"

group "what is in the folder"
mkdir "$W/own" "$W/theirs"
"$TRAIN" $small --steps 3 --snapshot-every 3 --out "$W/own" >"$W/own.out" 2>&1
echo mine >"$W/theirs/model.safetensors"
ok "a model that no run left" refuses 1 'exists without the loss.tsv of a run' "$TRAIN" $small --steps 3 \
    --out "$W/theirs"
ok "... is unchanged" grep -q mine "$W/theirs/model.safetensors"
ok "... and the only file" sh -c '[ "$(ls "$1")" = model.safetensors ]' - "$W/theirs"
cp "$W/own/model.safetensors" "$W/own.model"
(cd "$W/own" && cksum ./*) >"$W/own.sums"
no_isa='got GRADUS_ISA=sse, expected base'
ok "no such instruction set" refuses 1 "$no_isa" env GRADUS_ISA=sse "$TRAIN" $small --out "$W/own"
ok "... that is all it reports" grep -q "^train: the first step failed: .*$no_isa" "$W/err"
ok "... and leaves the old run" sh -c 'cd "$1" && cksum ./* | cmp - "$2"' - "$W/own" "$W/own.sums"
for name in sample.txt loss.tsv snapshot-3.safetensors; do
    ok "its $name as the text" refuses 1 "own/$name would be overwritten by the run: give another --out" \
        "$TRAIN" --context 8 --out "$W/own/" --data "$W/../${W##*/}/own/$name"
    ok "... it is kept" sh -c 'cd "$1" && cksum ./* | cmp - "$2"' - "$W/own" "$W/own.sums"
done
ok "no such instruction set, a new folder" refuses 1 "$no_isa" env GRADUS_ISA=sse "$TRAIN" $small \
    --out "$W/no.isa"
ok "... is not made" test ! -e "$W/no.isa"
ok "no such instruction set, to generate" refuses 1 "$no_isa" env GRADUS_ISA=sse "$GENERATE" --model "$W/own"
confined() {    # confined FLAGS ...: train in 400 MB of addresses
    sh -c 'ulimit -v 400000 && exec "$@"' - "$TRAIN" "$@"
}
if confined --help >"$W/ok.out" 2>&1; then
    no_memory='the run does not fit in memory: it needs about [0-9.]* GB .*, and there are 0.41 GB: '
    ok "no memory for a step" refuses 1 "$no_memory" confined --batch 60000 --out "$W/own"
    ok "... leaves the old run" cmp "$W/own/model.safetensors" "$W/own.model"
    ok "no memory for a step, a new folder" refuses 1 "$no_memory" confined --quiet --batch 60000 \
        --out "$W/no.room"
    ok "... is not made" test ! -e "$W/no.room"
else
    echo "$SCRIPT: left out: no memory for a step: in 400 MB of addresses nothing starts here (a sanitizer?)"
fi
echo "key	value" >"$W/theirs/config.tsv"
rm "$W/theirs/model.safetensors"
ok "another program's configuration" refuses 1 'theirs/config.tsv exists without' "$TRAIN" $small \
    --out "$W/theirs"

# The target of a link in the folder does not belong to the run: the run's files replace the links.
group "symbolic links in the folder"
mkdir "$W/draws"
printf '#!/bin/sh\nprintf "a picture\\000\\000\\000\\000IEND\\256B\\140\\202"\n' >"$W/draws/gnuplot"
chmod +x "$W/draws/gnuplot"
relink() {      # relink LINK: to a file that is not the run's
    echo precious >"$W/victim"
    rm -f "$1" && ln -s "$W/victim" "$1"
}
replaced() {    # replaced LINK: a file has replaced LINK, whose target is unchanged
    [ ! -h "$1" ] && [ -s "$1" ] && [ "$(cat "$W/victim")" = precious ]
}
cp -R "$W/own" "$W/linked"
for name in loss.png loss.gp sample.txt result.tsv; do
    relink "$W/linked/$name"
    ok "$name is a link" with draws ends_with 0 "$TRAIN" --resume "$W/linked"
    ok "... and becomes a file" replaced "$W/linked/$name"
done
for name in config.tsv vocab.tsv model.safetensors; do
    relink "$W/linked/$name"
    ok "$name is a link, and a new run begins" with draws ends_with 0 "$TRAIN" $small --steps 3 --sample 0 \
        --out "$W/linked"
    ok "... and it becomes a file" replaced "$W/linked/$name"
done
relink "$W/attention.png"
ok "the picture of the weights is a link" with draws ends_with 0 "$GENERATE" --model "$W/own" --tokens 1 \
    --prompt "int" --attention "$W/attention.png"
ok "... and becomes a file" replaced "$W/attention.png"
relink "$W/linked/loss.tsv"
not_its_own="linked/loss.tsv: got a symbolic link, expected a file of the run's own: remove it"
not_its_own="$not_its_own, or give another --out\$"
ok "loss.tsv is a link, to go on" refuses 1 "$not_its_own" "$TRAIN" --resume "$W/linked"
ok "... to begin" refuses 1 "$not_its_own" "$TRAIN" $small --steps 3 --out "$W/linked"
mkdir "$W/bare"
rm "$W/victim" && mv "$W/linked/loss.tsv" "$W/bare"
ok "... to nothing" refuses 1 "bare${not_its_own#linked}" "$TRAIN" $small --steps 3 --out "$W/bare"
ok "... which is not made" test ! -e "$W/victim"
mkfifo "$W/linked/loss.tsv"
exec 9<>"$W/linked/loss.tsv"            # no run then waits for a reader
ok "loss.tsv is a pipe" refuses 1 "$(echo "$not_its_own" | sed 's/symbolic link/device or pipe/')" \
    "$TRAIN" $small --steps 3 --out "$W/linked"
exec 9>&-

group "any bytes, any name"
awk 'BEGIN { for (i = 0; i < 3000; i++) printf "%c", i * i % 251 }' | tr 'a-z' '\000-\031' >"$W/binary"
odd="$W/it's a \"run\" \`touch oops\` \$(touch oops) %d$blank
two"
ok "binary bytes" ends_with 0 "$TRAIN" $small --steps 5 --data "$W/binary" --out "$odd"
ok "the files are there" test -s "$odd/model.safetensors"
if command -v gnuplot >"$W/ok.out"; then
    ok "the picture too" is_png "$odd/loss.png"
fi
ok "no command was run" test ! -e oops -a ! -e "$odd/oops"
ok "it generates" ends_with 0 "$GENERATE" --model "$odd" --tokens 40
ok "... forty bytes" test "$(wc -c <"$W/out")" -eq 40

# ---- gnuplot missing, dying (other states: tests/programs/attention.sh) ---------------------------
group "gnuplot missing, dying"
few="--steps 5 --eval-every 2 --sample 0"
mkdir "$W/none" "$W/dies" "$W/interrupts"
printf '#!/bin/sh\necho clutter; echo clutter >&2; kill -9 $$\n' >"$W/dies/gnuplot"
chmod +x "$W/dies/gnuplot"
ok "missing" ends_with 0 env PATH="$W/none" "$TRAIN" $small $few --out "$W/g1"
ok "... it reports how to get the picture" grep -q 'install it (make deps)' "$W/out"
ok "dying" ends_with 0 env PATH="$W/dies:$PATH" "$TRAIN" $small $few --out "$W/g2"
ok "... it reports that" grep -q '^no picture: gnuplot failed' "$W/out"
ok "... once, and without gnuplot's own words" lacks clutter "$W/out" "$W/err"
ok "... and keeps none" holds_no png "$W/g2"

# ---- Ctrl-C ------------------------------------------------------------------------------------------------
# Each step, batch of a validation and letter of the sample is one "begin"; the first "begin" is a trial.
if moments "Ctrl-C, and two runs in one folder"; then
    group "Ctrl-C"
    little="$small --data core/op.h"
    endless="$little --steps 1000000 --eval-every 1000000"
    ok "exit status 130" at 130 "begin 21 INT" train $endless --sample 50 --out "$W/c1"
    ok "it reports how far it got" grep -q "^stopped after 20 steps in .*(20 of 1000000), validation loss " \
        "$W/out"
    ok "and how it goes on" grep -qx "to resume: $FAULTS/train --resume $W/c1" "$W/out"
    echo "train: stopping: the last validation and files follow; Ctrl-C again skips them" >"$W/stopping"
    ok "before that, what it is doing" cmp "$W/stopping" "$W/err"
    ok "the table is whole" columns "$W/c1/loss.tsv"
    ok "the last row has no estimate" validated_at "$W/c1/loss.tsv" ""
    ok "it has the loss over all of the held-out text" result_of "$W/c1" \
        "$(tail -n 1 "$W/c1/loss.tsv" | cut -f 1)"
    ok "it has the parameters" ends_with 0 "$GENERATE" --model "$W/c1" --tokens 5
    ok "it has the sample" test "$(wc -c <"$W/c1/sample.txt")" -eq 50

    ok "with --quiet" at 130 "begin 21 INT" train $endless --quiet --sample 0 --out "$W/c4"
    ok "... no such line" test ! -s "$W/err" -a "$(wc -l <"$W/out")" -eq 2

    # This gnuplot acts as Ctrl-C, while train waits for the last picture.
    printf '#!/bin/sh\nkill -INT $PPID\n' >"$W/interrupts/gnuplot"
    chmod +x "$W/interrupts/gnuplot"
    ok "a second one ends it" with interrupts at 130 "begin 21 INT" train $endless --sample 0 --out "$W/c2"
    ok "... at once" lacks stopped "$W/out"
    ok "... and it was a second one" cmp "$W/stopping" "$W/err"
    ok "what was written before is whole" ends_with 0 "$GENERATE" --model "$W/c2" --tokens 5

    second="'$TRAIN' $small --data core/op.h --quiet --out '$W/two' >'$W/two.out' 2>'$W/two.err'"
    meanwhile="$second; echo \$? >'$W/two.status'"
    ok "two runs in one folder" at 0 "begin 6 RUN" train $little --steps 9 --sample 0 --out "$W/two"
    ok "... the second is refused" test "$(cat "$W/two.status")" -eq 1 -a ! -s "$W/two.out"
    ok "... with a sentence" \
        test "$(cat "$W/two.err" | cut -d : -f 1,2)" = "train: another run is writing to $W/two"
    ok "... and spoils nothing" \
        test "$(awk 'NR > 1 && $1 != NR - 1 { exit 1 } END { print NR }' "$W/two/loss.tsv")" = 10
fi

# ---- generate -------------------------------------------------------------------------------------------
text() {        # text FILE FLAGS ...
    file=$1
    shift
    ends_with 0 "$GENERATE" --model "$W/wild" "$@" && cp "$W/out" "$file"
}

starts_with() { # starts_with FILE BEGINNING
    n=$(wc -c <"$2")
    head -c "$n" "$1" | cmp - "$2"
}

group "generate"
# An untrained model with large random embeddings: a token depends on all previous ones and on its position.
ok "a wild model" trains wild $small --steps 1 --init torch --no-tied --sample 0
ok "greedy" text "$W/g.a" --prompt 'static int ' --tokens 200 --temperature 0
ok "... again, another seed, one thread" text "$W/g.b" --prompt 'static int ' --tokens 200 --temperature 0 \
    --seed 9 --threads 1
ok "... is the same" cmp "$W/g.a" "$W/g.b"
ok "the prompt and 200 tokens, beyond the context of 16" test "$(wc -c <"$W/g.a")" -eq 211
ok "fewer tokens" text "$W/g.c" --prompt 'static int ' --tokens 20 --temperature 0
ok "... are its beginning" starts_with "$W/g.a" "$W/g.c"

part() {        # part FROM TO: these bytes of the greedy text; a final x protects a line break at the end
    head -c "$2" "$W/g.a" | tail -c $(($2 - $1 + 1))
    echo x
}

# The model sees its text: a prompt with the first four tokens gives the same continuation. When its 16
# positions are full, at the 17th byte, it keeps the last 8: a prompt of only these 8 continues in the same
# way.
begun=$(part 1 15)
last=$(part 10 17)
ok "from its own beginning" text "$W/g.b" --prompt "${begun%x}" --tokens 196 --temperature 0
ok "... it goes on alike" cmp "$W/g.a" "$W/g.b"
ok "from the last half of its context" text "$W/g.b" --prompt "${last%x}" --tokens 194 --temperature 0
tail -c 202 "$W/g.a" >"$W/g.c"
ok "... it goes on alike" cmp "$W/g.b" "$W/g.c"
ok "a seed" text "$W/g.d" --tokens 100 --temperature 1
ok "... again" text "$W/g.e" --tokens 100 --temperature 1
ok "... is the same" cmp "$W/g.d" "$W/g.e"
ok "another" text "$W/g.e" --tokens 100 --temperature 1 --seed 2
ok "... differs" differ "$W/g.d" "$W/g.e"
ok "a prompt longer than the context" text "$W/g.f" --prompt 'int main(int argc, char **argv)' --tokens 9
ok "an empty prompt" text "$W/g.g" --prompt '' --tokens 9
ok "... nine tokens" test "$(wc -c <"$W/g.g")" -eq 9
ok "a prompt that it cannot spell" bad_generate \
    "no token for '.xC3', byte 2 of the text: it knows only the 4 different bytes" --model "$W/641.run" \
    --prompt "aéb"

damaged() {     # damaged NAME: a copy of the run, to damage
    rm -rf "$W/d"
    cp -R "$run" "$W/d"
}

damaged; rm "$W/d/model.safetensors"
ok "no parameters" bad_generate 'model.safetensors' --model "$W/d"
damaged; head -c 1000 "$run/model.safetensors" >"$W/d/model.safetensors"
ok "parameters cut short" bad_generate 'model.safetensors' --model "$W/d"
damaged; cp "$W/641.run/vocab.tsv" "$W/d/vocab.tsv"
ok "another model's vocabulary" bad_generate "the vocabulary in .* does not belong to .*: it has 4 tokens" \
    --model "$W/d"
damaged; sed '1s/.*/7	x/' "$run/vocab.tsv" >"$W/d/vocab.tsv"
ok "a damaged vocabulary" bad_generate 'vocab.tsv is damaged' --model "$W/d"
damaged; size=$(wc -c <"$run/model.safetensors"); head -c $((size - 400)) "$run/model.safetensors" >"$W/d/nan"
awk 'BEGIN { for (i = 0; i < 400; i++) printf "%c", 255 }' >>"$W/d/nan"
mv "$W/d/nan" "$W/d/model.safetensors"
ok "no numbers among its parameters" bad_generate 'logits are not finite' --model "$W/d"

finish
