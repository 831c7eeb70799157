#!/bin/sh
# Tests the lessons in examples/, and the code in the README files and in the comments of the public headers:
# all code compiles, and the programs print what the text shows.
. tests/lib/ok.sh

lesson() {      # lesson STATUS NAME [PROGRAM [FILE]]: runs the lesson, with its output in $W/out
    status=$1
    name=$2
    program=${3:-$BUILD/examples/$2}
    shift $(($# < 3 ? $# : 3))
    ok "$name: exit status $status" ends_with "$status" "$program" "$@"
    ok "$name: nothing on stderr" cmp "$W/err" /dev/null
    ok "$name: at most 80 columns" awk 'length > 80 { print; bad = 1 } END { exit bad }' "$W/out"
}

has_line() {    # has_line LINE
    grep -Fqx -- "$1" "$W/out" || { echo "it does not say '$1' but"; cat "$W/out"; return 1; }
}

says() {        # says WHAT LINE: the lesson printed exactly this line
    ok "$name: $1" has_line "$2"
}

shows() {       # shows WHAT AWK: the awk program exits with 0 on the lesson's output
    ok "$name: $1" awk "{ print } $2" "$W/out"
}

compile() {     # compile FILE LIBRARY PROGRAM FLAG ...: as in the README, with the flags of the library
    file=$1 library=$2 program=$3
    shift 3
    ${CC:-cc} "$file" -I. "$@" "$library" ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-} -lm -pthread -o "$program"
}

# ---- the lessons ----------------------------------------------------------------------------------
lesson 0 01_scalar
says "value" "y = ab + c = 4"
says "gradients" "dy/da = -3, dy/db = 2, dy/dc = 1"
says "micrograd's numbers" "g = 24.704, dg/da = 138.834, dg/db = 645.577"
shows "the tape, from b to g" '$1 == "b" && $3 == 2 && $4 == 645.577 { n++ }
    $1 == 24 && $2 == "g" && $4 == "add" && $7 == "22" && $8 == 24.7041 && $9 == 1 { n += n }
    END { exit n != 2 }'
shows "a difference near the gradient" \
    '$1 == "0.01000" && $2 > 138.6 && $2 < 139.1 { n++ } END { exit n != 1 }'

lesson 0 02_own_op
shows "the check passes" '/^gradient check passed: / { n++ } END { exit n != 1 }'
says "all elements" "compared: 52 elements of 2 tensors"
shows "beta is near 1.702" '/^step 200 / && $4 > 1.69 && $4 < 1.73 { n++ } END { exit n != 1 }'

lesson 0 03_line
shows "the loss falls" \
    '/^ *[0-9]/ { if (!n++) first = $4; last = $4 } END { exit !(n == 11 && last < first / 20) }'
shows "it finds the line of least squares" '
    $1 == "found" { a = $4; b = $6 }
    $1 == "least" { n++; da = $5 - a; db = $7 - b }
    END { exit !(n && a > 2.5 && b < -0.5 && da * da < 1e-6 && db * db < 1e-6) }'
shows "... near the truth" '
    $1 == "found" { a = $4; b = $6 }
    $1 == "truth" { n++; da = $4 - a; db = $6 - b }
    END { exit !(n && da * da < 0.04 && db * db < 0.04) }'

lesson 0 04_gated_linear_unit
shows "the check passes" '/^gradient check passed: / { n++ } END { exit n != 1 }'
says "all elements" "compared: 66 elements of 5 tensors"
says "its parameters have names" "glu.gate.weight  (3, 5)"
says "a vector's shape" "glu.gate.bias    (3)"
shows "a gate learns what a Linear cannot" '
    /^loss left: / { n++; sub(",", "", $4); line = $4; gate = $6 }
    END { exit !(n && line > 0.15 && gate < 0.01) }'

lesson 0 05_next_token
shows "the loss falls" '
    $1 == "step" { if (!n++) first = $4; last = $4 } END { exit !(n == 9 && first > 4.5 && last < 0.12) }'
sed '1,/^$/d' "$W/out" >"$W/written"
cat >"$W/expected" <<'END'
The shells she sells are sea shells, I'm sure.
For if she sells sea shells by the sea shore,
then I'm sure she sells sea shore shells.

She sells sea shells by the sea shore.
END
ok "05_next_token: it knows the text by heart" diff "$W/expected" "$W/written"

lesson 0 08_micrograd
says "the notebook's first loss" "step  0  loss 0.895844102868322  accuracy 50%"
says "... and its last" "step 99  loss 0.010978370135493  accuracy 100%"

lesson 0 09_makemore
grep -Fxf tests/golden/makemore.txt "$W/out" >"$W/same"
ok "09_makemore: the losses of parts 1 and 3 are PyTorch's" cmp tests/golden/makemore.txt "$W/same"
shows "part 5 learns" '/^part 5/ { n++ } n && /^train/ && $2 < 1.5 { n++ } END { exit n != 2 }'

# Python's lines are in tests/golden/microgpt.txt; make_microgpt.py wrote them, with one scalar per node.
lesson 0 06_microgpt
says "as many scalar nodes as on Python's tape" "18 nodes instead of 37140"
shows "a time" '/^[0-9]+ microseconds per step$/ { n++ } END { exit n != 1 }'
grep -E '^(num|vocab|step|sample) ' "$W/out" >"$W/lines"
grep -Fxf tests/golden/microgpt.txt "$W/lines" >"$W/same"
ok "06_microgpt: its lines are some of Python's" diff "$W/lines" "$W/same"
says "the last step" "step 1000 / 1000 | loss 1.6710"
ok "06_microgpt: 34 lines" test "$(wc -l <"$W/lines")" -eq 34

microgpt=$BUILD/examples/06_microgpt
sed -n '/ own\[\] = {/,/};/p' examples/06_microgpt.c | grep -o '"[^"]*"' | tr -d '"' >"$W/own"
lesson 0 "06_microgpt, its names as a file" "$microgpt" "$W/own"
ok "06_microgpt: all 1025 lines are Python's" diff tests/golden/microgpt.txt "$W/out"
awk '{ printf " \t%s \r\n\n", $0 }' "$W/own" >"$W/blanks"
lesson 0 "06_microgpt, blanks and empty lines around names" "$microgpt" "$W/blanks"
ok "06_microgpt: ... are no part of them" diff tests/golden/microgpt.txt "$W/out"

# The context has room for 16 letters: of a longer name the first 16 are learned, and no end. The losses are
# those of make_microgpt.py. All bytes count as letters, but no control character reaches the terminal.
printf '%s\n' abcdefghijklmnop abcdefghijklmno abcdefghijklmnopq '  Mary Ann  ' '' >"$W/long"
{ printf hippopotomonstrosesquippedaliophobia && head -c 200000 /dev/zero | tr '\0' k; } >>"$W/long"
lesson 0 "06_microgpt, long names" "$microgpt" "$W/long"
sed -n 4,8p "$W/out" >"$W/first"
cat >"$W/expected" <<'END'
step    1 / 1000 | loss 3.2478
step    2 / 1000 | loss 3.2410
step    3 / 1000 | loss 2.9978
step    4 / 1000 | loss 3.2536
step    5 / 1000 | loss 2.5571
END
ok "06_microgpt: long names are cut" diff "$W/expected" "$W/first"
printf 'x\033\177\001\377\n' >"$W/bytes"
lesson 0 "06_microgpt, bytes that are no letters" "$microgpt" "$W/bytes"
shows "an escape is a question mark" '$1 == "sample" && $3 ~ /^x[?][?][?]/ { n++ } END { exit !n }'
tr -d '\n -~\377' <"$W/out" >"$W/control"
ok "06_microgpt: no control characters" cmp "$W/control" /dev/null

printf '\n \r\n' >"$W/empty"
printf 'ada\nal\0an\n' >"$W/zero"
head -c 4194304 /dev/zero | tr '\0' a >"$W/large"
ok "06_microgpt: no file" refuses 1 'absent: No such file' "$microgpt" "$W/absent"
ok "06_microgpt: a folder" refuses 1 "$W: Is a directory" "$microgpt" "$W"
ok "06_microgpt: no name" refuses 1 'empty: got no name, expected one per line' "$microgpt" "$W/empty"
ok "06_microgpt: nothing" refuses 1 'null: got no name, expected one per line' "$microgpt" /dev/null
ok "06_microgpt: a byte of 0" refuses 1 'zero: got a byte 0, expected text' "$microgpt" "$W/zero"
ok "06_microgpt: 4 MB" refuses 1 'large: got 4 MB or more, expected less' "$microgpt" "$W/large"

lesson 0 10_compute_again
shows "the same bits, whatever is kept" '/ MiB / { n++; same += $NF == first || !first; first = $NF }
    END { exit !(n == 7 && same == 7) }'

lesson 0 07_half_the_bits
says "a number" "         257           256   0.39 %"
if ! grep -q '^This processor has no instruction' "$W/out"; then
    shows "the error of a product" '
        $1 == 4096 && NF == 3 { n++; exact = $2; rounded = $3 }
        END { exit !(n && exact < 1e-6 && rounded > 1e-3 && rounded < 4e-3) }'
    shows "both trainings learn" '
        $1 == 20 { a = $2; b = $3 } $1 == 160 { n++; last_a = $2; last_b = $3 }
        END { exit !(n && last_a < a / 2 && last_b < b / 2 && last_a != last_b) }'
fi
GRADUS_ISA=base
export GRADUS_ISA
lesson 0 07_half_the_bits
unset GRADUS_ISA
says "without the instruction" \
    "This processor has no instruction for products of bfloat16 numbers. To see the"

# ---- README.md and the README files of folders ---------------------------------------------------------
# Their blocks go to one file each: $W/block.1 is the text between the first two fences, and so on; the word
# after the fence is in $W/block.1.kind.
readmes="README.md core/README.md examples/README.md tests/bench/README.md"
cat $readmes >"$W/readmes"
awk -v w="$W/block." '
    /^```/ { if (!open) { n++; kind = substr($0, 4); printf "%s", kind > (w n ".kind"); printf "" > (w n) }
             open = !open; next }
    open { print > (w n) }
    END { exit open }' "$W/readmes"
ok "README: fences are closed" test $? -eq 0

# A block that is a program is run, and must print the block after it.
n=1
blocks=0
programs=0
while [ -f "$W/block.$n" ]; do
    if [ "$(cat "$W/block.$n.kind")" = c ]; then
        blocks=$((blocks + 1))
        cp "$W/block.$n" "$W/block.c"
        precisions="-UGRADUS_DOUBLE -DGRADUS_DOUBLE"
        grep -q 'gra_check(' "$W/block.c" && precisions=-DGRADUS_DOUBLE      # this block needs double
        for precision in $precisions; do
            ok "README: C code $blocks compiles, $precision" ${CC:-cc} \
                -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra \
                -Wpedantic -Wshadow -Wconversion -Werror $precision -I. -c "$W/block.c" -o "$W/block.o"
        done
        if grep -q '^int main' "$W/block.c"; then
            programs=$((programs + 1))
            ok "README: program $programs links" compile "$W/block.c" "$BUILD/libgradus.a" "$W/program"
            "$W/program" >"$W/program.out" 2>&1
            ok "README: it prints the next block" diff "$W/block.$((n + 1))" "$W/program.out"
        fi
    fi
    n=$((n + 1))
done
ok "README: two programs, a check, an op, two layers and an optimiser" test $blocks -eq 7 -a $programs -eq 2

same_block() {  # same_block WORDS FILE: the block with these words is this text
    diff "$(grep -l -e "$1" "$W"/block.*[0-9] | head -n 1)" "$2"
}
# The judge of an exercise, run alone, prints the parts that it checked ("p: ...") and the finding ("w: ...").
ok "the start file of exercise 32 compiles" sh "$BUILD/exercises/compile" \
    examples/exercises/start/32_wrong_backward.c \
    "$BUILD/f64/examples/exercises/judge/32_wrong_backward.o" "$W/judge"
"$W/judge" 3>&- | sed '/^p: /d; s/^w: //' >"$W/report"
ok "README: it shows the report of exercise 32" same_block "gradient check FAILED" "$W/report"
"$BUILD/train" --help | sed 1,3d >"$W/help"
ok "README: the manual shows the flags of train --help" same_block "--steps N" "$W/help"

# ---- the code in the comments of the public headers -----------------------------------------------------
# It is indented by five blanks; after a statement, two or more blanks begin an explanation.
headers="core/gradus.h core/op.h core/kernel.h layers/layers.h layers/gpt.h"
awk -v w="$W/code." '
    /^ \*     / {
        line = substr($0, 8)
        if (match(line, /[;,{}]  +[^ ]/))
            line = substr(line, 1, RSTART)
        text = text line "\n"
        next
    }
    /^ \*$/ { next }
    {
        if (text ~ /;/) {                       # not a formula, nor a message
            n++
            printf "%s", text > (w n)
        }
        text = ""
    }' $headers
echo 'gra_tensor *z = gra_mul(t, gra_zeros(t, GRA_SHAPE(2, 3)), gra_full(t, 2, GRA_SCALAR)); (void)z;' \
    >"$W/code.shape"

# as_file CODE: a whole op, in which { ... means a loop over y; or statements, with declarations
as_file() {
    echo '#include "layers/gpt.h"'
    if grep -q '^static void forward' "$1"; then
        echo '#include "core/op.h"'
        echo 'static real f(real x) { return x; } static const real df = 1;'
        echo 'gra_tensor *my_op(gra_tape *t, gra_tensor *x);'
        sed 's/{ \.\.\. /{ for (size_t i = 0; i < y->size; i++) /' "$1"
    else
        echo 'void code(gra_tape *t, gra_model *model, gra_scope scope, gra_tensor *x, gra_tensor *y,'
        echo '    gra_tensor *logits, struct gra_multi_head_attention att, struct gra_gpt gpt,'
        echo '    const int *prompt, int n, int id) { {'
        cat "$1"
        echo '} (void)y; (void)logits; }'
    fi
}

codes=0
for code in "$W"/code.*; do
    as_file "$code" >"$W/file.c"
    first=$(head -n 1 "$code")
    ok "header: $first" ${CC:-cc} -std=c11 -Werror -Werror=implicit-function-declaration -I. -fsyntax-only \
        "$W/file.c"
    if command -v "${CXX:-c++}" >/dev/null && ! grep -q '[ {][.][a-z_]* = \|){' "$code"; then
        ok "header, as C++: $first" ${CXX:-c++} -std=c++11 -Werror -I. -fsyntax-only -x c++ "$W/file.c"
    fi
    codes=$((codes + 1))
done
ok "headers: their code was found" test $codes -ge 7

# All files that they link to or name must exist.
paths=0
for readme in $readmes; do
    for path in $(grep -o '`\(core\|layers\|examples\|tests\)/[a-z0-9_./]*`' $readme | tr -d '`') \
                $(grep -o '](\([^)#:]*\))' $readme | sed "s|](\(.*\))|${readme%README.md}\1|"); do
        ok "$readme: $path exists" test -e "$path"
        paths=$((paths + 1))
    done
done
ok "README: it names files" test $paths -gt 20

finish
