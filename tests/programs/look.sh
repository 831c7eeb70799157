#!/bin/sh
# Tests build/look, which shows a step as a page. The data is checked as text; if a browser is installed, the
# page is also driven in the browser.
#
# The first half leaves pages, which the second half drives: $W/NAME.html, with look's output in $W/NAME.txt,
# and the browser's findings in $W/NAME.seen. The NAMEs are:
#     scalar              lesson 01's expression         run         of $W/run, a model with snapshots
#     long plain ids      prompts and models of other kinds, not driven
#     nan                 of $W/diverged, a model whose last value is nan
#     hostile empty       of look/hostile.c              double      of look/double.c
. tests/lib/ok.sh
LOOK=${BUILD:-build}/look
case $LOOK in /*) ;; *) LOOK=$PWD/$LOOK ;; esac

page() {        # page NAME FLAGS ...: $W/NAME.html, and look's output in $W/NAME.txt
    name=$1
    shift
    ends_with 0 "$LOOK" "$@" --out "$W/$name.html" && cp "$W/out" "$W/$name.txt"
}
at_most() {     # at_most BYTES FILE
    wc -c "$2" | awk -v most="$1" '{ print } $1 > most { exit 1 }'
}
alone() {       # alone FILE: the page needs no other file, and has two scripts: its data and its code
    sed '/id="data"/,/^<.script>/d' "$1" >"$W/code" &&
        lacks -Ei 'src=|href=|url\(|@import|fetch\(|import ' "$W/code" &&
        [ "$(grep -ci '<script' "$1")" -eq 2 ] && [ "$(grep -ci '</script' "$1")" -eq 2 ]
}
printed() {     # printed NAME WHAT: the number that look printed
    sed -n "s,^$2 = ,,p" "$W/$1.txt"
}
holds() {       # holds NAME NUMBER: a tensor has NUMBER as its only value
    [ -n "$2" ] && grep -qF "\"x\":[$2]" "$W/$1.html"
}

# ---- the pages -------------------------------------------------------------------------------------------
scalar() { "$BUILD/f32/tests/programs/look/scalar" "$W/scalar.html" >"$W/scalar.txt"; }
ok "lesson 01's expression" scalar
ok "it has at most 60 kB" at_most 60000 "$W/scalar.html"
ok "it stands alone" alone "$W/scalar.html"
for what in g dg/da dg/db; do
    ok "the page has $what" holds scalar "$(printed scalar "$what")"
done

run="--data README.md --eval-batches 1 --sample 0 --quiet"
ok "a run of the usual size that keeps snapshots" ends_with 0 "$TRAIN" $run --steps 14 --snapshot-every 1 \
    --out "$W/run"
printf 'It writes </script> and \303\251' >"$W/run/sample.txt"
text=$(head -c 400 README.md | tr -d '\n' | tail -c 64)
ok "its page, of 64 tokens" page run --model "$W/run" --prompt "$text"
for part in parts.css page.css numbers.js tape.js graph.js node.js chain.js heads.js plot.js curve.js \
    start.js; do
    ok "the page has all of $part" sh -c "! grep -vxF -f '$W/run.html' examples/look/$part"
done
ok "it has at most 3 MB" at_most 3000000 "$W/run.html"
ok "it stands alone" alone "$W/run.html"
ok "the page holds the loss" holds run "$(printed run loss)"
states() { [ "$(grep -o '"exact":' "$W/run.html" | wc -l)" -eq "$1" ]; }
ok "twelve snapshots and the end" states 13
once() { [ "$(grep -o '"step":14,' "$W/run.html" | wc -l)" -eq 1 ]; }
ok "the last snapshot is the end, and occurs once" once
ok "the page has the run's sample" grep -qF '"sample":"It writes \u003c/script> and é"' "$W/run.html"
(printf é; head -c 1998 README.md; printf é) >"$W/run/sample.txt"
ok "a long prompt: the last tokens" page long --model "$W/run" --prompt "$text$text"
ok "a long sample: its beginning, whole characters" lacks '"sample":".*[^"]*\(ufffd\|�\)' "$W/long.html"
ok "a run without a sample" rm "$W/run/sample.txt"

# ---- snapshots: a run that is stopped and resumed leaves the same ones -----------------------------------
small="$run --context 8 --width 8 --heads 2 --layers 1 --batch 1 --steps 7 --snapshot-every 3"
ok "a small run" ends_with 0 "$TRAIN" $small --out "$W/whole"
kept() {
    [ "$(cd "$1" && echo snapshot-*)" = \
        "snapshot-0.safetensors snapshot-3.safetensors snapshot-6.safetensors" ]
}
ok "its snapshots" kept "$W/whole"
resumed() {
    at 0 "begin 12 INT" train $small --checkpoint-every 1 --out "$W/parts" || [ "$status" -eq 130 ] ||
        return 1
    ends_with 0 "$TRAIN" --resume "$W/parts" || return 1
    for n in 0 3 6; do
        cmp "$W/whole/snapshot-$n.safetensors" "$W/parts/snapshot-$n.safetensors" || return 1
    done
    cmp "$W/whole/model.safetensors" "$W/parts/model.safetensors"
}
moments "a run that is interrupted" && ok "stopped and resumed" resumed
ok "a run without snapshots" ends_with 0 "$TRAIN" $small --snapshot-every 0 --out "$W/whole"
ok "removes those of the previous run" holds_no '^snapshot-' "$W/whole"
ok "its page has no slider" page plain --model "$W/whole" --prompt "gradus"

# ---- a file with only parameters, as other programs write it -------------------------------------------
mkdir "$W/alone"
cp "$W/run/model.safetensors" "$W/alone"
ok "a file without a vocabulary" page ids --model "$W/alone/model.safetensors" --ids "3 14, 15 9"
ok "its tokens are numbers" grep -qF '"tokens":["3","14","15","9"]' "$W/ids.html"
ok "which the page states" grep -q '"about":"A GPT of 4 layers.*shown as numbers' "$W/ids.html"
ok "the page holds the loss" holds ids "$(printed ids loss)"
ok "its step is unknown" grep -q '"step":-1,' "$W/ids.html"

# ---- a model that has diverged: the last of its values is nan ------------------------------------------
mkdir "$W/diverged"
cp "$W/run/model.safetensors" "$W/run/vocab.tsv" "$W/diverged"
printf '\000\000\300\177' | dd of="$W/diverged/model.safetensors" bs=1 conv=notrunc \
    seek=$(($(wc -c <"$W/run/model.safetensors") - 4)) 2>"$W/dd"
ok "a model that has diverged" page nan --model "$W/diverged" --prompt gradus
ok "it stands alone" alone "$W/nan.html"

# ---- the formulas of every op ----------------------------------------------------------------------------
ops() {         # each source of an op, and each op that a source names, has a row in the compiled table
    for file in core/ops/*.c; do
        op=${file##*/}
        grep -q "{ \"${op%.c}\", \"$file\", \"..*" "$BUILD/look_page.c" ||
            { echo "no formula: $file"; return 1; }
    done
    for op in $(grep -hoE '(\.name = |^[A-Z_]+\(gra_[a-z_]*, )"[a-z_]*"' core/ops/*.c |
        sed 's/.*"\(.*\)"/\1/'); do
        grep -q "{ \"$op\", " "$BUILD/look_page.c" || { echo "no formula: $op"; return 1; }
    done
}
ok "each op has its formulas" ops

# ---- the constants of ops (their texts: tests/view/test_view.c) -------------------------------------------
all_constants() {       # an op that has constants shows them: the exceptions have only tables of integers
    grep -L 'args_text' $(grep -l 'args = sizeof' core/ops/*.c) | tr '\n' ' ' >"$W/without"
    [ "$(cat "$W/without")" = "core/ops/attention.c core/ops/cross_entropy.c core/ops/embedding.c \
core/ops/where.c " ] || { cat "$W/without"; return 1; }
}
ok "no constant is left out" all_constants

# ---- from a program, with hostile names and numbers ------------------------------------------------------
hostile='<b>"&'\''.html'
ok "hostile names and numbers" ends_with 0 "$BUILD/f32/tests/programs/look/hostile" "$W/empty.html" \
    "$W/$hostile"
cp "$W/$hostile" "$W/hostile.html"
ok "it stands alone" alone "$W/hostile.html"
ok "a tape without nodes" alone "$W/empty.html"
one_line() { LC_ALL=C lacks "$(printf '[\001-\010\013-\037\177]')" "$W/hostile.html"; }
ok "no control byte" one_line
if command -v iconv >/dev/null; then
    ok "all is UTF-8" iconv -f UTF-8 -t UTF-8 "$W/hostile.html"
fi

# ---- in double: every digit, the largest and smallest numbers, in a locale with a decimal comma ----------
localedef -i de_DE -f UTF-8 "$W/de_DE.UTF-8" 2>"$W/localedef" ||
    echo "$SCRIPT: left out: the decimal comma: there is no localedef"
ok "its page" ends_with 0 env LOCPATH="$W" "$BUILD/f64/tests/programs/look/double" "$W/double.html"
cp "$W/out" "$W/double.txt"
ok "no decimal comma" lacks '":-\{0,1\}[0-9]*,[0-9]' "$W/double.html"
ok "the largest numbers" grep -q '"rms":1.5e+308,"mean":0,.*"bins":\[2,.*,2\]' "$W/double.html"
ok "the smallest" grep -q '"rms":4.94066e-324,"mean":0,.*"bins":\[1,.*,2,.*,1\]' "$W/double.html"
ok "nan among others" grep -q '"strange":1,"rms":"nan","min":1,' "$W/double.html"

# ---- refusals --------------------------------------------------------------------------------------------
ok "one token" refuses 1 'got 1 token, expected 2 or more' "$LOOK" --model "$W/run" --prompt a
ok "no model" refuses 1 'there is no model' "$LOOK" --model "$W/none"
ok "a vocabulary is missing" refuses 1 '\-\-ids "464' "$LOOK" --model "$W/alone"
ok "no such token" refuses 1 "--ids: got '70000', expected a token" "$LOOK" --model "$W/alone" --ids "3 70000"
ok "text and numbers" refuses 2 'only one of them' "$LOOK" --ids "3 4" --prompt a
ok "no folder for the page" refuses 1 'cannot write' "$LOOK" --model "$W/run" --out "$W/none/page.html"

# ---- in a browser: the rest ------------------------------------------------------------------------------
rest || { finish; exit; }
browser=
for name in chromium chromium-browser google-chrome; do
    [ -n "$browser" ] || browser=$(command -v $name)
done
if [ -z "$browser" ]; then
    echo "$SCRIPT: left out: the pages in a browser: there is no chromium"
    finish
    exit
fi

drive() {       # drive NAME DRIVER FLAG ...: writes $W/NAME.seen, by a page that ends in look/DRIVER.js
    (cd tests/programs/look && cat driver.js "$2.js") >"$W/driver.js" &&
        awk -v driver="$W/driver.js" '/<\/body>/ {
            print "<script>"; while ((getline line < driver) > 0) print line; print "</script>" } { print }' \
            "$W/$1.html" >"$W/$1.driven.html" || return 1
    driven=$W/$1
    shift 2
    "$browser" --headless --no-sandbox --disable-gpu "$@" \
        --user-data-dir="$W/browser" --virtual-time-budget=5000 \
        --dump-dom "file://$driven.driven.html" >"$driven.dom" 2>"$driven.err"
    sed -n '/<pre id="seen">/,/<\/pre>/p' "$driven.dom" | sed 's/<[^>]*>//g' >"$driven.seen"
    cat "$driven.seen"
    grep -q '^end$' "$driven.seen" && lacks '^error' "$driven.seen"
}
seen() {        # seen NAME WHAT VALUE: the browser saw VALUE, a pattern or a number in any notation
    is=$(sed -n "s,^$2 ,,p" "$W/$1.seen")
    echo "$2 $is"
    # shellcheck disable=SC2254
    case $is in
    $3) return 0 ;;
    *[!-+.e0-9]* | '') return 1 ;;
    *) awk "BEGIN { exit !($is == $3) }" ;;
    esac
}
shown() {       # shown NAME DRIVER WHAT=VALUE ...: the page, driven without an error, shows these values
    shown=$1
    ok "$1 in $browser, $2" drive "$1" "$2" $window
    shift 2
    for pair in "$@"; do
        ok "$shown: $pair" seen "$shown" "${pair%%=*}" "${pair#*=}"
    done
}

window=
shown scalar scalar empty=1 forward=3 turned=0 backward=4 opened=49 formula=1 exponent=1 factor=1 local=1 \
    users=7 line=1 leads=1 typed=1 shown=1 fewer=1 wrong=0 compared=7 "again=$(printed scalar dg/da)" \
    "sum=$(printed scalar dg/db)" "g=$(printed scalar g)" "dg/da=$(printed scalar dg/da)" \
    "dg/db=$(printed scalar dg/db)"
loss=$(printed run loss)
shown run trained first=1 moved=1 stands=1 key=1 clicked=1 axis=1 lit=1 sums=1 head=1 kept=1 \
    opens=1 folded=3 plain=1 stays=1 enters=1 heads=1 back_to=1 sample=1 wrong=0 'compared=[1-9]*' \
    "loss=$loss" "back=$loss" "node=$loss"
fits() { awk '$1 == "rows" && $2 <= 25 { good = 1 } END { exit !good }' "$W/run.seen"; }
ok "four layers fit a screen" fits
shown nan nan loss=nan says=1 upright=0
shown hostile hostile images=0 scripts=2 owned=0 turned=10 long=1 'numbers=nan/inf/-inf/*0'
shown empty empty
shown double double fits=0 wrong=0 'compared=[1-9]*' "loss=$(printed double loss)" largest=1.5e308 among=nan \
    'value=\[8,9\]=29.666666666666668' 'gradient=\[8,9\]=18.9046666666666*'
for name in scalar run double; do
    shown $name widths cut390=0 cut800=0 cut1280=0
done
window=--window-size=500,800             # the narrowest window that it allows
for name in scalar run; do
    shown $name narrow wide=500 beside=0 beneath=1 curve=1
done
finish
