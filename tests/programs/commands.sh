#!/bin/sh
# Tests the first commands of a new user: make, make lint, make clean, and the answers of train and generate
# to wrong arguments. (train.sh, generate.sh, resume.sh and attention.sh test their results.)
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# ---- make -------------------------------------------------------------------------------------------------
group "make"
ok "a dry run" ends_with 0 ${MAKE:-make} -n B="$W/dry"
for made in libgradus.a libgradus64.a train generate examples/01_scalar; do
    ok "it makes $made" grep -q "\"[al][rd]  $W/dry/$made\"" "$W/out"
done
ok "it does not make the notebooks" lacks notebooks "$W/out"
ok "a dry run of train" ends_with 0 ${MAKE:-make} -n B="$W/dry" train
ok "it also makes generate, which train's last line names" grep -q "\"ld  $W/dry/generate\"" "$W/out"

cores=$(nproc 2>/dev/null || getconf _NPROCESSORS_ONLN)
for target in all train; do
    ok "make -n deps $target" ends_with 0 ${MAKE:-make} -n B="$W/dry" deps $target
    ok "as many jobs at once as there are cores" grep -q "make .*-j$cores .*deps built" "$W/out"
    ok "make -n -j1 $target" ends_with 0 ${MAKE:-make} -n -j1 B="$W/dry" $target
    ok "one at a time" lacks "make .*-j$cores" "$W/out"
done
for target in test check; do
    ok "make -n $target" ends_with 0 ${MAKE:-make} -n B="$W/dry" SCRIPTS= $target
    ok "as many jobs at once as there are cores" grep -q "make .*-j$cores .*tested" "$W/out"
    ok "make -n -j1 $target" ends_with 0 ${MAKE:-make} -n -j1 B="$W/dry" SCRIPTS= $target
    ok "one at a time" lacks "make .*-j$cores .*tested" "$W/out"
    for room in f64/ops f32/layers; do
        ok "$target runs the suites of $room" grep -q "$W/dry/passed/$room\$" "$W/out"
    done
    ok "not those that are left to make test-all" lacks "$W/dry/passed/f32/ops\$" "$W/out"
done

group "make test, and the rest"
ok "a dry run of the rest" ends_with 0 ${MAKE:-make} -n B="$W/dry" rest-tested
for file in $(grep -l '^CASE(.*"long' tests/*/test_*.c); do
    suite=${file##*/test_}
    ok "it has the long tests of $file" grep -q "/f64/test ${suite%.c} " "$W/out"
done
one_suite() { ends_with 0 "$BUILD/f64/test" shape && grep -qx 'Running suite(s): shape' "$W/out"; }
ok "a suite" one_suite
ok "no such suite" ends_with 1 "$BUILD/f64/test" shape circle
ok "... and says so" grep -q '^there is no suite called "circle"; there are$' "$W/err"
printf 'ok 1 - a\nok 2 - b\n' >"$W/right"
printf 'ok 1 - a\nnot ok 2 - b\n' >"$W/wrong"
ok "the count" ends_with 0 env LEFT=much sh tests/build/tools/passed "$W/right" "$W/right"
printf '4 passed, 0 failed\n4 tests passed; left to make test-all: much\n' >"$W/expected"
ok "... is this" cmp "$W/expected" "$W/out"
ok "a failure" ends_with 1 sh tests/build/tools/passed "$W/right" "$W/wrong" "$W/missing"
printf 'FAILED: %s\n' "$W/wrong" "$W/missing" >"$W/expected"
echo '3 passed, 2 failed' >>"$W/expected"
ok "... is counted, and a piece that left no file" cmp "$W/expected" "$W/out"

# ---- make lint --------------------------------------------------------------------------------------------
group "make lint"
right='int right;'
awk -v right="$right" 'BEGIN { while (length(right) < 110) right = right "x"; print right }' >"$W/right.c"
printf '/* \303\251\303\251 */\n' >>"$W/right.c"
printf '\tcc -c $<\n' >"$W/right.mk"
printf '\tcat <<END\n' >"$W/tab.sh"
{
    sed 's/$/x/; q' "$W/right.c"
    printf 'int blank;%s\n' "$blank"
    printf '\tint tab;\n'
    printf 'int cr;\r\n'
    printf '<<<<<<< HEAD\n=======\n>>>>>>> main\n'
    printf '/* TO%s: more */\n/* FIX%s */\n/* XX%s */\n' DO ME X
} >"$W/wrong.c"
ok "good lines" ends_with 0 sh tests/build/tools/lint "$W/right.c" "$W/right.mk"
ok "bad lines" ends_with 1 sh tests/build/tools/lint "$W/right.c" "$W/wrong.c" "$W/tab.sh"
ok "the count of findings" grep -q '^lint: 3 files, 11 findings$' "$W/out"
while read -r finding; do
    ok "$finding" grep -q "^$W/$finding" "$W/out"
done <<END
wrong.c:1: 111 columns, at most 110$
wrong.c:2: blanks at the end of the line$
wrong.c:3: a tab
wrong.c:4: a carriage return
wrong.c:5: a mark of a merge
wrong.c:6: a mark of a merge
wrong.c:7: a mark of a merge
wrong.c:8: a marker of something left
wrong.c:9: a marker of something left
wrong.c:10: a marker of something left
tab.sh:1: a tab
END
ok "no file" ends_with 2 sh tests/build/tools/lint "$W/none.c"
ok "all files" sh -c "sh tests/build/tools/lint >'$W/out'; grep -q '^lint: [1-9][0-9][0-9] files' '$W/out'"

# ---- make clean -----------------------------------------------------------------------------------------
# In a folder with everything that the Makefile makes by name, and some files of a user.
built() {
    grep -oh '\$(B)/[a-z0-9_.]*' Makefile tests/tests.mk | sed 's,.*/,,' | grep .
    printf '%s\n' examples train generate libgradus.a broken.test
}

group "make clean"
mkdir -p "$W/b/run" "$W/b/mine/deep" "$W/none"
built | sort -u >"$W/built"
while read -r name; do
    echo made >"$W/b/$name"
done <"$W/built"
echo loss >"$W/b/run/loss.tsv"
echo model >"$W/b/mine/deep/model.safetensors"
ok "the Makefile's files are known" test "$(wc -l <"$W/built")" -ge 15
ok "make clean" ends_with 0 ${MAKE:-make} B="$W/b" clean
ok "a run stays" test -e "$W/b/run/loss.tsv"
ok "so does a user's model" test -e "$W/b/mine/deep/model.safetensors"
ok "nothing else does" test "$(ls "$W/b" | tr '\n' ' ')" = "mine run "
ok "and this is reported" grep -q "left in $W/b: mine run" "$W/out"
rm -r "$W/b/run" "$W/b/mine"
ok "once more" ends_with 0 ${MAKE:-make} B="$W/b" clean
ok "the empty folder is removed" test ! -e "$W/b"


# ---- flags and --help -------------------------------------------------------------------------------------
narrow() {      # narrow FILE ...: no line has more than 80 columns
    awk 'length > 80 { print FILENAME ": " length ": " $0; bad = 1 } END { exit bad }' "$@"
}

same_help() {   # -h is --help
    "$1" --help >"$W/long" && "$1" -h >"$W/short" && cmp "$W/long" "$W/short" && narrow "$W/long"
}

near() {        # near PROGRAM WRONG RIGHT: the answer suggests RIGHT
    refuses 2 "there is no flag '$2': did you mean $3?\$" "$1" "$2" 3
}

group "flags"
ok "train -h" same_help "$TRAIN"
ok "generate -h" same_help "$GENERATE"
ok "--step" near "$TRAIN" --step --steps
ok "--batchsize" refuses 2 "there is no flag '--batchsize': did you mean --batch?" "$TRAIN" --batchsize 3
ok "--dropuot" near "$TRAIN" --dropuot --dropout
for flag in -steps -step -steps=3; do
    ok "$flag" refuses 2 "there is no flag '$flag': did you mean --steps?\$" "$TRAIN" $flag 3
done
ok "-no-quiet" refuses 2 "there is no flag '-no-quiet': did you mean --no-quiet?\$" "$TRAIN" -no-quiet
ok "-4" refuses 2 "got '-4', expected a flag, which begins with two dashes: --help lists them\$" "$TRAIN" -4
ok "--no-quite" near "$TRAIN" --no-quite --no-quiet
ok "--tempreture" near "$GENERATE" --tempreture --temperature
ok "--topk" near "$GENERATE" --topk --top-k
ok "a name of a thousand letters" refuses 2 "there is no flag '--0*'" "$TRAIN" "--$(printf '%01000d' 0)"
ok "--x" refuses 2 "there is no flag '--x': --help lists them\$" "$TRAIN" --x 1

# ---- generate, and its arguments -----------------------------------------------------------------------
bad() {         # bad STATUS PATTERN FLAGS ...: refused, without C names in the sentence
    expected=$1
    pattern=$2
    shift 2
    refuses "$expected" "$pattern" "$GENERATE" "$@" && ! grep 'gra_' "$W/err"
}

text_of() {     # text_of FLAGS ...: generates 40 tokens
    "$GENERATE" --tokens 40 --prompt 'static int' --seed 3 "$@"
}

group "generate"
small="--context 16 --batch 4 --width 16 --heads 2 --layers 2 --eval-batches 4"
ok "a run" ends_with 0 "$TRAIN" $small --steps 20 --data core/gradus.h --quiet --out "$W/run"
ok "from its folder" ends_with 0 text_of --model "$W/run"
cp "$W/out" "$W/expected"
ok "from its model" ends_with 0 text_of --model "$W/run/model.safetensors"
ok "... the same text" cmp "$W/expected" "$W/out"
ok "... in its folder too" ends_with 0 sh -c 'cd "$1" && shift && "$@"' - "$W/run" \
    "$GENERATE" --tokens 40 --prompt 'static int' --seed 3 --model model.safetensors
ok "... the same text" cmp "$W/expected" "$W/out"
ok "another number of heads than in training" bad 1 'n_heads' --model "$W/run" --heads 1
ok "nothing trained" ends_with 1 sh -c 'cd "$1" && "$2" --prompt a' - "$W/none" "$GENERATE"
ok "... train first" \
    grep -qx 'generate: there is no trained model in build/run: train one first (build/train)' "$W/err"
ok "a folder without a model" bad 1 "there is no model: $W/none/model.safetensors: No such file" \
    --model "$W/none"
: >"$W/empty"
awk 'BEGIN { srand(1); for (i = 0; i < 3000; i++) printf "%c", 1 + int(255 * rand()) }' >"$W/random"
echo '{' >"$W/brace"
ok "an empty file" bad 1 "cannot load $W/empty: not a safetensors file" --model "$W/empty"
for file in "$W/random" "$W/brace" README.md examples/loss.png "$W/run/loss.tsv"; do
    ok "${file##*/}" bad 1 "cannot load $file: not a safetensors file" --model "$file"
done
ok "a checkpoint" bad 1 "is a checkpoint, which only build/train --resume reads" \
    --model "$W/run/checkpoint.safetensors"
cp "$W/run/model.safetensors" "$W/alone.safetensors"
mv "$W/run/model.safetensors" "$W/model"
not_done="its run has not ended. If it was stopped, build/train --resume $W/run continues it"
ok "an unfinished run" bad 1 "$W/run has no model.safetensors yet: $not_done\$" --model "$W/run"
mv "$W/model" "$W/run/model.safetensors"
ok "logits as .csv" bad 2 "--logits: got '$W/x.csv', expected a name that ends in .npy" --model "$W/run" \
    --logits "$W/x.csv"
ok "... no file is written" test ! -e "$W/x.csv"
mkdir "$W/json"
mv "$W/alone.safetensors" "$W/json"
echo '{"n_head": 2, "activation_function": "relu"}' >"$W/json/config.json"
ok "a config.json with another activation" bad 1 'beside it: got activation_function: "relu", expected gelu' \
    --model "$W/json/alone.safetensors" --ids 1
ok "a huge --top-k means all" ends_with 0 text_of --model "$W/run" --top-k 1000000
ok "... the same text" cmp "$W/expected" "$W/out"

# ---- widths: output fits a terminal --------------------------------------------------------------------
says() {        # says PATTERN STATUS COMMAND ...: a line matches, and none has more than 80 columns
    words=$1
    ends=$2
    shift 2
    ends_with "$ends" "$@" && cat "$W/out" "$W/err" >"$W/said" && narrow "$W/said" &&
        grep -q -e "$words" "$W/said"
}

group "80 columns"
PATH=$(dirname "$TRAIN"):$PATH
text=$PWD/core/op.h
mkdir "$W/bin"
ln -s "$TRAIN" "$W/bin/train"
cd "$W" || exit 1
tiny="--context 8 --batch 2 --width 8 --heads 2 --layers 1 --eval-batches 1 --data $text"
ok "a run" says '^step 1250/1250 ' 0 train $tiny --steps 1250
ok "its result" grep -q \
    '^trained 1250 steps in [0-9:]*, validation loss [0-9.]*, [0-9.]* bits per byte$' "$W/said"
ok "its files" grep -q '^sample:$' "$W/said"
ok "the next command" grep -qx 'to write more: generate' "$W/said"
ok "... works" says . 0 generate --tokens 20
ok "the same again, in its place" says '^build/run holds a run, which this one replaces$' 0 train \
    $tiny --steps 3
ok "... or not" says ': all 3 steps are done$' 0 train --resume build/run
ok "without gnuplot" says '^no picture: gnuplot is missing: install it (make deps)$' 0 \
    env PATH="$W/bin" train $tiny --steps 3 --out build/none
ok "a text of one byte" \
    sh -c 'printf a >one; train --data one 2>err; grep -q "the text has 1 bytes; .* but a window" err'
cd "$OLDPWD" || exit 1
${MAKE:-make} help >"$W/help" 2>&1
ok "make help" narrow "$W/help"

finish
