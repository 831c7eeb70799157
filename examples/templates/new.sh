#!/bin/sh
# NAME=softsign sh examples/templates/new.sh op: what `make new-op NAME=softsign` runs; `layer`, `optimizer`
# and `exercise` work likewise. INPUTS=2: an op of two operands, or a layer of two inputs.
#
# Each of these kinds has KIND.c, the new source, and KIND.txt: first the message printed at the end, then
# pieces to insert into existing files; KIND2.c and KIND2.txt are for two inputs. (An exercise has four
# sources, in a folder.) A piece begins with a line
#     @@ FILE | AFTER | BEFORE
# and is inserted into FILE: after a line that begins with AFTER, before the next line that begins with
# BEFORE. NAME is replaced by the name, CAPS by the name in capitals, NUMBER by the number of the exercise.
set -eu
LC_ALL=C
export LC_ALL

kind=$1
name=${NAME-}
templates=examples/templates

refuse() {      # refuse SENTENCE
    printf 'new-%s: %s\n' "$kind" "$1" | fold -s -w 78 >&2
    exit 2
}

# What is written: pairs of a template and a new file.
template=$templates/$kind
exercises=examples/exercises
number=
case $kind in
    op | layer)
        case ${INPUTS:-1} in
            1) ;;
            2) template=${template}2 ;;
            *) refuse "got INPUTS=$INPUTS, expected 1 or 2" ;;
        esac ;;
    *)  [ -z "${INPUTS-}" ] || refuse "got INPUTS=$INPUTS, but only an op or a layer has inputs" ;;
esac
case $kind in
    op)        made=core/ops/$name.c;   example=softsign ;;
    layer)     made=layers/$name.c;     example=swiglu ;;
    optimizer) made=core/optim/$name.c; example=lion ;;
    exercise)  made=$exercises/source/??_$name.c; example=softplus ;;
    *)         kind=KIND; refuse "got '$1', expected op, layer, optimizer or exercise" ;;
esac
pairs="$template.c $made"
if [ "$kind" = exercise ]; then
    number=$(ls $exercises/source | sed -n 's/^0*\([0-9]*\)_.*/\1/p' | sort -n | tail -n 1)
    number=$(printf '%02d' $((number + 1)))
    pairs="$template/source.c  $exercises/source/${number}_$name.c
           $template/hints.txt $exercises/hints/${number}_$name.txt
           $template/judge.c   $exercises/judge/${number}_$name.c
           $template/wrong.txt tests/programs/exercises/${number}_$name.txt"
fi

# ---- invalid names -----------------------------------------------------------------------------------
keywords='auto bool break case char const continue default do double else enum extern float for goto if inline
int long register restrict return short signed sizeof static struct switch typedef union unsigned void
volatile while'

[ -n "$name" ] || refuse "got no NAME: run make new-$kind NAME=$example"
case $name in
    [!a-z]* | *[!a-z0-9_]*) refuse "got '$name', expected a lower-case C identifier, such as $example" ;;
esac
case $kind:$name in
    exercise:*) ;;
    *:gra_*) refuse "the prefix gra_ is added to it: run make new-$kind NAME=${name#gra_}" ;;
esac
case " $(echo $keywords) " in
    *" $name "*) refuse "'$name' is a C keyword: choose another name" ;;
esac
[ ${#name} -le 32 ] || refuse "got a name of ${#name} letters, expected at most 32"
for file in $made; do
    [ ! -e "$file" ] || refuse "$file already exists"
done

# An op is a function, a layer a struct and two functions, an optimiser a type and two functions. `declared`
# lists the names in headers; "struct gra_linear" and the op gra_linear are different names.
declared() {
    cat core/*.h core/*/*.h layers/*.h | sed 's/struct gra_/struct_/g' |
        awk '{ while (match($0, /(gra|struct)_[a-z0-9_]*/)) {
                   print substr($0, RSTART, RLENGTH); $0 = substr($0, RSTART + RLENGTH) } }'
}
case $kind in
    op)        taken="gra_$name" ;;
    layer)     taken="struct_$name gra_${name}_init gra_${name}_forward" ;;
    optimizer) taken="gra_$name struct_$name gra_${name}_init gra_${name}_step" ;;
    exercise)  taken= ;;
esac
for word in $taken; do
    if declared | grep -x "$word" >/dev/null; then
        refuse "the library already has a $(echo "$word" | sed 's/^struct_/struct gra_/')"
    fi
done
if [ "$kind" = exercise ]; then
    printf '#include "exercises.h"\nchar %s, %s_backward;\n' "$name" "$name" |
        ${CC:-cc} -std=c11 -w -DGRADUS_DOUBLE -I$exercises -fsyntax-only -x c - 2>/dev/null ||
        refuse "$name or ${name}_backward is already declared: choose another"
    [ "$number" -le 99 ] || refuse "there are 99 exercises already"
fi
caps=$(echo "$name" | tr a-z A-Z)
if [ "$kind" = optimizer ] && grep -w "$caps" tests/optim/test_optim.c >/dev/null; then
    refuse "tests/optim/test_optim.c has a $caps: choose another name"
fi

# ---- first all files are written beside their places, then they are moved ----------------------------
work=$(mktemp -d "${TMPDIR:-/tmp}/gradus.XXXXXX")
changed=
moved=
leave() {       # on failure, restores every file
    status=$?
    if [ $status -ne 0 ]; then
        for file in $moved; do
            if [ -e "$work/old/$file" ]; then cp -p "$work/old/$file" "$file"; else rm -f "$file"; fi
        done
        echo "new-$kind: nothing was written" >&2
    fi
    for file in $changed; do
        rm -f "$file.new"
    done
    rm -rf "$work"
}
trap leave EXIT
trap 'exit 1' HUP INT TERM

fill_in() {     # fill_in FILE: prints the template with the name
    sed -e "s/CAPS/$caps/g" -e "s/NUMBER/$number/g" -e "s/NAME\([^=]\)/$name\1/g" \
        -e "s/NAME\$/$name/" "$1"
}

insert() {      # insert FILE AFTER BEFORE: inserts $work/piece into FILE.new, above blank lines before BEFORE
    if [ ! -e "$1.new" ]; then
        changed="$changed $1"
        mkdir -p "$work/old/${1%/*}"
        cp -p "$1" "$work/old/$1"
        cp -p "$1" "$1.new"
    fi
    awk -v after="$2" -v before="$3" -v piece="$work/piece" '
        { begin = $0; sub(/^ */, "", begin) }
        state == 1 && index(begin, before) == 1 { while ((getline line < piece) > 0) print line; state = 2 }
        state == 1 && begin == "" { blank = blank "\n"; next }
        { printf "%s", blank; blank = ""; print }
        state == 0 && index(begin, after) == 1 { state = 1 }
        END { printf "%s", blank; exit state != 2 }' "$1.new" >"$work/with" ||
        { echo "new-$kind: $1 no longer has a line that begins '$2' and then one '$3'" >&2; exit 1; }
    cat "$work/with" >"$1.new"
}

fill_in $template.txt >"$work/text"
pieces=$(grep -c '^@@ ' "$work/text")
piece=0
while [ $piece -lt "$pieces" ]; do
    piece=$((piece + 1))
    awk -v n=$piece '/^@@ / { k++; next } k == n' "$work/text" >"$work/piece"
    where=$(awk -v n=$piece '/^@@ / && ++k == n { print substr($0, 4) }' "$work/text")
    file=${where%% | *}
    where=${where#* | }
    insert "$file" "${where%% | *}" "${where#* | }"
done
set -- $pairs
while [ $# -gt 0 ]; do
    changed="$changed $2"
    fill_in "$1" >"$2.new"
    shift 2
done

trap '' HUP INT TERM
for file in $changed; do
    moved="$moved $file"
    mv "$file.new" "$file"
done
sed '/^@@ /,$d' "$work/text" | sed '$d'
