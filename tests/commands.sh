#!/bin/sh
# The commands that one types first, as they answer: make clean, and what train and generate say to somebody who
# gives them the wrong thing. (What they compute: tests/train.sh, generate.sh, resume.sh, attention.sh.)
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# ---- make clean -----------------------------------------------------------------------------------------
# In a folder where all stands, by name, that the Makefile makes there, beside what a user has made.
built() {
    grep -o '\$(B)/[a-z0-9_.]*' Makefile | sed 's,.*/,,' | grep .
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
ok "it cleans" ends_with 0 ${MAKE:-make} B="$W/b" clean
ok "a run stays" test -e "$W/b/run/loss.tsv"
ok "so does a model that somebody put there" test -e "$W/b/mine/deep/model.safetensors"
ok "nothing else does" test "$(ls "$W/b" | tr '\n' ' ')" = "mine run "
ok "and that is said" grep -q "left in $W/b: mine run" "$W/out"
rm -r "$W/b/run" "$W/b/mine"
ok "once more" ends_with 0 ${MAKE:-make} B="$W/b" clean
ok "an empty folder goes" test ! -e "$W/b"

finish
