#!/bin/sh
# Tests build/page.html, gradus in a browser. page/*.mjs act like a visitor, in Chromium, and in Firefox if it
# is installed; the page's numbers and files are compared with those of the programs.
. tests/lib/ok.sh

find_program() {                # find_program NAME ...: the path of the first installed program
    for name in "$@"; do
        command -v "$name" && return 0
    done
    return 1
}
left_out() {
    echo "$SCRIPT: left out: $1"
    finish
    exit
}
command -v node >"$W/node" || left_out "the page is driven by node, which is not installed"
chromium=$(find_program chromium chromium-browser google-chrome) || left_out "there is no Chromium"
sh tests/build/tools/wasm || left_out "clang cannot compile for wasm32-wasi here"

ok "make page" "${MAKE:-make}" --no-print-directory B="$BUILD" page
page=$BUILD/page.html
case $page in /*) ;; *) page=$PWD/$page ;; esac

# ---- the page itself -------------------------------------------------------------------------------------
at_most() { wc -c "$2" | awk -v most="$1" '{ print } $1 > most { exit 1 }'; }
ok "it has at most 620 kB" at_most 620000 "$page"
alone() {       # the page loads no other file, and turns no text into code or elements
    sed '/<script type="text\/plain"/,/<.script>/d; /<template/,/<.template>/d' "$page" >"$W/code" &&
        lacks -E ' src=|<link|[ :]url\(|@import|fetch\(|import |innerHTML|insertAdjacentHTML|eval\(' "$W/code"
}
ok "it stands alone" alone
policy() { grep -q "http-equiv=.Content-Security-Policy. content=.default-src 'none'; style-src" "$page"; }
ok "its policy allows no network" policy
exercises() {   # each station of the guided path names an exercise of the ladder
    sed -n 's/.*exercise: "\([^"]*\)".*/examples\/exercises\/start\/\1.c/p' "$page" >"$W/exercises"
    [ "$(wc -l <"$W/exercises")" -eq 9 ] && xargs ls <"$W/exercises"
}
ok "the guided path names nine exercises" exercises

# ---- in a browser ----------------------------------------------------------------------------------------
drive() {       # drive NAME PROGRAM: each check of page/*.mjs is a test; its files are in $W/NAME
    node --experimental-websocket --no-warnings tests/programs/page/page.mjs "$1" "$2" "$page" \
        "$BUILD/f64/tests/programs/page/native" "$W/$1" >"$W/$1.seen" 2>"$W/$1.err"
    while IFS='	' read -r verdict what why; do
        case $verdict in
        ok | no) ok "$1: $what" sh -c 'echo "$2"; [ "$1" = ok ]' - "$verdict" "$why" ;;
        note) echo "$SCRIPT: $1: $what" ;;
        esac
    done <"$W/$1.seen"
    rm -rf "$W/$1/profile"
    ok "$1 was driven to the end" ends "$W/$1.seen" "$W/$1.err"
    ends "$W/$1.seen" "$W/$1.err" >"$W/ends"
}
ends() { cat "$2"; [ "$(tail -n 1 "$1")" = end ]; }

native() {      # native NAME RUN: runs the page's command on the page's text
    line=$(tr -s ' \n' '  ' <"$W/$1/$2.command")
    flags=${line#GRADUS_ISA=base build/train --data text.txt }
    [ "$flags" != "$line" ] || { echo "got '$line'"; return 1; }
    ends_with 0 env GRADUS_ISA=base "$TRAIN" --data "$W/$1/$2.txt" $flags --snapshot-every 1 --quiet \
        --out "$W/$1/$2"
}
same_losses() { # all but tokens_per_s
    cut -f 1-5,7 "$W/$1/$2.tsv" >"$W/a" && cut -f 1-5,7 "$W/$1/$2/loss.tsv" >"$W/b" && cmp "$W/a" "$W/b"
}
same_prompt() { # the tape's loss is that of build/look, for the parameters at each slider position
    mkdir -p "$W/$1/then"
    cp "$W/$1/whole/vocab.tsv" "$W/$1/whole/config.tsv" "$W/$1/then"
    cp "$W/$1/whole/model.safetensors" \
        "$W/$1/whole/snapshot-$(tail -n 1 "$W/$1/losses" | cut -f 1).safetensors"
    while IFS='	' read -r at loss; do
        cp "$W/$1/whole/snapshot-$at.safetensors" "$W/$1/then/model.safetensors" &&
            ends_with 0 env GRADUS_ISA=base "$BUILD/look" --model "$W/$1/then" \
                --prompt "$(cat "$W/$1/prompt")" --out "$W/then.html" || return 1
        [ "$(sed -n 's/^loss = //p' "$W/out")" = "$loss" ] || { echo "step $at: $loss"; return 1; }
    done <"$W/$1/losses"
    [ "$(wc -l <"$W/$1/losses")" -eq 3 ]
}
written() {     # build/generate writes with the model saved by the page
    mkdir -p "$W/$1/saved"
    cp "$W/$1/whole.safetensors" "$W/$1/saved/model.safetensors" &&
        cp "$W/$1/whole.vocab.tsv" "$W/$1/saved/vocab.tsv" &&
        ends_with 0 "$GENERATE" --model "$W/$1/saved" --prompt She --tokens 20
}
changed() {     # a rate and a batch changed at step 100: as in node (wasm.sh: as in a native program)
    flags=$(sed 's/.*text.txt//' "$W/chromium/whole.command" | tr '\n' ' ')
    mkdir -p "$W/changed" && node tests/build/wasm/page.mjs change "$BUILD/page_f32.wasm" \
        "$W/chromium/whole.txt" "$flags" "$W/changed" &&
        cmp "$W/changed/loss.tsv" "$W/chromium/changed.tsv"
}
compare() {     # compare NAME: the files that the page saved in that browser
    for run in whole other; do
        ok "$1: the command that the page names, $run" native "$1" $run
        ok "$1: the same losses, $run" same_losses "$1" $run
        ok "$1: the same model.safetensors, $run" cmp "$W/$1/$run/model.safetensors" "$W/$1/$run.safetensors"
        ok "$1: the same vocab.tsv, $run" cmp "$W/$1/$run/vocab.tsv" "$W/$1/$run.vocab.tsv"
    done
    ok "$1: the same sample" cmp "$W/$1/whole/sample.txt" "$W/$1/whole.sample"
    ok "$1: the text that was dropped" cmp "$W/$1/dropped" "$W/$1/other.txt"
    ok "$1: the tape's loss through time" same_prompt "$1"
    ok "$1: generate reads the model" written "$1"
}
fast() {        # a learning rate of 0.3 gives the same end as in train
    ends_with 0 env GRADUS_ISA=base "$TRAIN" --data "$W/chromium/first.txt" $(cat "$W/chromium/fast.flags") \
        --quiet --out "$W/fast" &&
        awk -F '\t' -v loss="$(cat "$W/chromium/fast.loss")" \
            'END { print $2, loss; exit !(($2 - loss)^2 < 1e-8) }' "$W/fast/loss.tsv"
}

drive chromium "$chromium" && compare chromium && ok "chromium: a rate that changed" changed &&
    ok "chromium: a broken run's loss" fast
if ! firefox=$(find_program firefox-esr firefox); then
    echo "$SCRIPT: left out: there is no Firefox"
elif ! node --experimental-websocket --no-warnings -e WebSocket 2>"$W/node"; then
    echo "$SCRIPT: left out: Firefox: this node has no WebSocket"
else
    drive firefox "$firefox" && compare firefox
fi
finish
