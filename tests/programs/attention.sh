#!/bin/sh
# Tests build/generate --attention, which shows what a model attends to, in numbers and pictures.
. tests/lib/ok.sh

fake() {        # fake NAME LINE ...: a gnuplot in $W/NAME
    mkdir "$W/$1"
    printf '#!/bin/sh\n' >"$W/$1/gnuplot"
    chmod +x "$W/$1/gnuplot"
    name=$1
    shift
    printf '%s\n' "$@" >>"$W/$name/gnuplot"
}

looks() {       # looks FILE PROMPT FLAGS ...: draws the weights of the model in $W/run over a prompt
    file=$1
    prompt=$2
    shift 2
    ends_with 0 "$GENERATE" --model "${run:-$W/run}" --tokens 1 --attention "$file" --prompt "$prompt" "$@"
}

whole='printf "a picture\000\000\000\000IEND\256B\140\202"'       # these bytes end a PNG
fake copies "cat >'$W/script'" "$whole"

# tells NAME PROMPT FLAGS ...: writes the weights passed to gnuplot to $W/NAME, a line for each: layer, head,
# query, key, weight; and the tokens' names to $W/NAME.tokens, a line for each byte
tells() {
    told=$W/$1
    shift
    with copies looks "$W/told.png" "$@" || return 1
    awk -v tokens="$told.tokens" 'BEGIN { printf "" > tokens }
        /^set title .layer [0-9]*, head [0-9]*/ { layer = $4 + 0; head = $6 + 0 }
        $1 == "$tokens" && $2 == "<<" { named = 1; next }
        named && $1 == "END" { named = 0 }
        named && $1 == ++n { for (i = 1; i < length($3); i += 3) print substr($3, i, 3) - 100 > tokens }
        $1 == "plot" { cells = 1; next }
        $1 == "e" { cells = 0 }
        cells && NF == 3 && $1 ~ /^[0-9]+$/ { print layer, head, $2, $1, $3 }' "$W/script" >"$told"
}

small="--context 40 --batch 2 --width 16 --heads 2 --eval-batches 2 --init torch --no-tied --no-qkv-bias
    --sample 0 --quiet"
printf 'tab\tn\303\251 \342\202\254 \001' >"$W/odd"
cat core/gradus.h core/op.h "$W/odd" core/ops/attention.c examples/lib/heatmap.c >"$W/text"
ok "a model" ends_with 0 "$TRAIN" $small --layers 3 --steps 3 --data "$W/text" --out "$W/run"

# ---- the numbers ------------------------------------------------------------------------------------
weights() {     # weights FILE LAYERS HEADS N: a line for each weight, in order; rows sum to 1; P is causal
    awk -v layers="$2" -v heads="$3" -v n="$4" '
        BEGIN { layer = head = query = 1 }
        { if (NF != 5 || $1 != layer || $2 != head || $3 != query || $4 != ++key ||
              !($5 >= 0 && $5 <= 1.000001)) {
              print NR ": " $0; bad = 1 }
          sum += $5
          if (query > 1 && ($5 < 0.9 / query || $5 > 1.1 / query)) uneven = 1
          if (key < query) next
          if (sum < 0.99999 || sum > 1.00001) { print NR ": the row sums to " sum; bad = 1 }
          sum = key = 0
          if (++query > n) { query = 1; head++ }
          if (head > heads) { head = 1; layer++ } }
        END { print NR " weights"; exit bad || !uneven || NR != layers * heads * n * (n + 1) / 2 }' "$1"
}

tokens() {      # tokens FILE TEXT: each panel has these queries and keys
    printf '%s' "$2" | od -An -v -tu1 | tr -s ' ' '\n' | grep . |
        awk '{ if ($1 == 32) printf "·"; else if ($1 == 9) printf "→"; else if ($1 == 10) printf "↵"
               else printf($1 < 32 || $1 > 126 ? "\\x%02X" : "%c", $1) }' |
        od -An -v -tu1 | tr -s ' ' '\n' | grep . | cmp - "$1.tokens"
}

group "numbers"
ok "a prompt" tells a 'int main'
printf 'int main' >"$W/prompt"
ok "the text is written all the same" sh -c 'head -c 8 "$1" | cmp - "$2"' - "$W/out" "$W/prompt"
ok "3 x 2 panels of 8 tokens" weights "$W/a" 3 2 8
ok "of its tokens" tokens "$W/a" 'int main'
ok "the same text" ends_with 0 "$GENERATE" --model "$W/run" --prompt 'int main' --tokens 100
mv "$W/out" "$W/plain"
ok "... with the weights" tells b 'int main' --tokens 100
ok "... as without" cmp "$W/plain" "$W/out"
ok "the weights do not depend on the text that follows" cmp "$W/a" "$W/b"
ok "nor on the number of threads" tells b 'int main' --threads 3
ok "... bit for bit" cmp "$W/a" "$W/b"
ok "an empty prompt is a line break" tells b ''
ok "... that attends to itself" \
    sh -c 'cut -d " " -f 3- "$1" | sort -u | grep -qx "1 1 1" &&
        [ "$(echo $(cat "$1.tokens"))" = "226 134 181" ]' - "$W/b"
odd=$(printf 'a\tb\nc\\ "\303\251\001')
ok "odd tokens" tells b "$odd"
ok "... are numbers" tokens "$W/b" "$odd"
long='static_gra_tensor_forward(gra_tape_t,_gra_tensor_x)'
ok "a prompt longer than the context" tells b "$long"
ok "... shows what the model sees, its last 40 tokens" weights "$W/b" 3 2 40
ok "... in their positions" tokens "$W/b" "$(printf '%s' "$long" | tail -c 40)"

# A head with zero queries attends evenly: in layer 1, rows 8 to 15 of the 16 of W_query become 0.
blind() {       # blind RUN
    model=$1/model.safetensors
    header=$(od -An -tu4 -N4 "$model" | tr -d ' ')
    at=$(head -c $((8 + header)) "$model" |
        sed -n 's/.*"trf_blocks\.0\.att\.W_query\.weight":{[^}]*"data_offsets":\[\([0-9]*\),.*/\1/p')
    [ -n "$at" ] && dd if=/dev/zero of="$model" bs=1 seek=$((8 + header + at + 512)) count=512 conv=notrunc
}

even() {        # which panels are even
    awk '{ head[$1 "." $2] } $5 < 0.9999 / $3 || $5 > 1.0001 / $3 { uneven[$1 "." $2] = 1 }
        END { for (h in head) if (!uneven[h]) print h }' "$1"
}

cp -R "$W/run" "$W/blind"
ok "head 2 of layer 1 loses its queries" blind "$W/blind"
run=$W/blind
ok "its weights" tells b 'int main'
run=
even "$W/a" >"$W/even.a"
even "$W/b" >"$W/even.b"
ok "no head was even before" test ! -s "$W/even.a"
ok "... now that one is" test "$(cat "$W/even.b")" = 1.2

# ---- gnuplot's input ---------------------------------------------------------------------------------
group "gnuplot's input"
hostile='a`touch pwned`b"'\''$(touch pwned)\'
ok "a hostile prompt" tells a "$hostile"
ok "the file is what gnuplot wrote" sh -c '[ "$(head -c 9 "$1")" = "a picture" ]' - "$W/told.png"
ok "it has no word of the prompt" lacks -e touch -e pwned "$W/script"
ok "... but the numbers of its bytes" tokens "$W/a" "$hostile"
if env --ignore-signal=CHLD true 2>"$W/ok.out"; then      # GNU's env; a shell's trap does not reach a child
    ok "where the parent ignores SIGCHLD" with copies ends_with 0 env --ignore-signal=CHLD "$GENERATE" \
        --model "$W/run" --tokens 1 --prompt int --attention "$W/unheard.png"
    ok "... the picture is there" test -s "$W/unheard.png"
else
    echo "attention.sh: left out: a parent that ignores SIGCHLD: this env has no --ignore-signal"
fi

# ---- pictures ------------------------------------------------------------------------------------------
is_png() {
    [ "$(od -An -tx1 -N4 "$1" | tr -d ' \n')" = 89504e47 ] && tail -c 12 "$1" | grep -q IEND
}

png_width() {
    od -An -tu1 -j18 -N2 "$1" | awk '{ print 256 * $1 + $2 }'
}

is_svg() {
    head -n 1 "$1" | grep -q '^<?xml' && tail -n 3 "$1" | grep -q '</svg>' && ! grep -qi nan "$1"
}

if command -v gnuplot >"$W/ok.out"; then
    group "pictures"
    mkdir "$W/here"
    cd "$W/here" || exit 1
    for ending in png svg; do
        ok "$ending" looks "a.$ending" 'int main'
        ok "... is one" is_$ending "a.$ending"
        ok "a hostile prompt as $ending" looks "hostile.$ending" "$hostile"
        ok "... is one" is_$ending "hostile.$ending"
        ok "one token" looks "one.$ending" a
        ok "... is one" is_$ending "one.$ending"
        ok "odd tokens" looks "odd.$ending" "$odd"
        ok "... is one" is_$ending "odd.$ending"
        name="it's \"a\" \`touch pwned\` \$(touch pwned) %d %s$blank
two.$ending"
        ok "a hostile name" looks "$name" 'int main'
        ok "... is the file's" is_$ending "$name"
    done
    its="its \"a\" \`touch pwned\` \$(touch pwned) %d %s  two"
    ok "no command was run, nothing else is left" test "$(ls | tr '\n' ' ' | tr -d "'")" = \
        "a.png a.svg hostile.png hostile.svg $its.png $its.svg odd.png odd.svg one.png one.svg "
    for layer in 1 2 3; do
        ok "two panels of layer $layer" test "$(grep -c "layer $layer, head [12]" a.svg)" -eq 2
    done
    ok "six in all" test "$(grep -c 'layer [0-9]*, head [0-9]*' a.svg)" -eq 6
    for label in '`' '"' "'" '\$' '(' '\\' '·'; do
        ok "a label $label" grep -q ">$label<" hostile.svg
    done
    ok "a label ↵" grep -q '>↵<' odd.svg
    ok 'a label \xC3' grep -q '>\\xC3<' odd.svg
    ok "40 tokens" looks long.png "$long"
    ok "... make a larger picture" test "$(png_width long.png)" -gt "$(png_width a.png)"
    cd "$OLDPWD" || exit 1
fi

# ---- refusals -----------------------------------------------------------------------------------
bad() {         # bad STATUS PATTERN FILE: there is no picture, not even a part of one
    refuses "$1" "$2" "$GENERATE" --model "$W/run" --tokens 1 --prompt int --attention "$3"
}

untouched() {   # the folder is unchanged
    [ "$(ls -A "$W/old")" = a.png ] && [ "$(cat "$W/old/a.png")" = 'an old one' ]
}

group "refusals"
ok "--help" ends_with 0 "$GENERATE" --help
ok "--help explains --attention" grep -Eq '^  --attention FILE .*\.png or \.svg \(none\)$' "$W/out"
for name in picture picture.pdf picture.png.gz picture.tsv png ''; do
    ok "--attention '$name'" bad 2 "got '$name', expected a name that ends in .png or .svg" "$name"
done
ok "no value" refuses 2 '--attention needs a value' "$GENERATE" --attention
fake draws 'cat >/dev/null' "$whole"
for ending in png svg; do
    ok "$ending: no such folder" with draws bad 1 "cannot draw $W/nowhere/a.$ending: No such file" \
        "$W/nowhere/a.$ending"
    mkdir "$W/folder.$ending"
    ok "$ending: a folder of that name" with draws bad 1 "cannot draw $W/folder.$ending: Is a directory" \
        "$W/folder.$ending"
    ok "... nothing is left" is_empty "$W/folder.$ending"
    ok "... and nothing unfinished" holds_no '[.]tmp$' "$W"
    if [ -e /dev/full ]; then
        ln -s /dev/full "$W/full.$ending"
        ok "$ending: the disk is full" with draws bad 1 "cannot draw $W/full.$ending: No space" \
            "$W/full.$ending"
    fi
done
mkdir "$W/old" "$W/none"
echo 'an old one' >"$W/old/a.png"
fake dies 'echo half; echo clutter >&2; kill -9 $$'
fake fails 'echo half; echo clutter >&2; exit 3'
fake silent 'cat >/dev/null'
fake cuts 'printf "\\211PNG\\r\\n\\032\\n and no end"'
mkdir "$W/denied"
echo 'not a program' >"$W/denied/gnuplot"
for name in none denied; do
    ok "no gnuplot, $name" refuses 1 'gnuplot is missing: install it (make deps)$' \
        env PATH="$W/$name" "$GENERATE" --model "$W/run" --prompt int --attention "$W/old/a.png"
done
for name in dies fails silent cuts; do
    ok "gnuplot $name" with $name bad 1 "cannot draw $W/old/a.png: gnuplot failed" "$W/old/a.png"
    ok "... only the old picture stays" untouched
done
ok "a large model" ends_with 0 "$TRAIN" $small --context 360 --batch 1 --heads 8 --layers 4 --steps 1 \
    --data core/gradus.h --out "$W/large"
ok "too many weights to draw" refuses 1 '4 layers x 8 heads x 360 x 360 tokens are too many for a picture' \
    with draws "$GENERATE" --model "$W/large" --prompt "$(head -c 400 core/gradus.h)" \
    --attention "$W/old/a.png"
ok "... only the old picture stays" untouched
ok "a prompt that it cannot spell" refuses 1 "no token for '~'" "$GENERATE" --model "$W/large" --prompt '~' \
    --attention "$W/old/never.png"
ok "... nothing is written" untouched

finish
