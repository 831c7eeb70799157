#!/bin/sh
# Tests make new-op, new-layer, new-optimizer and new-exercise in a copy of the tree: the new files build at
# once, and the tests report what is still missing, and pass when it is filled in. An unusable NAME changes
# nothing. The part `rest` links all suites.
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# The copy has the objects that are already built. A declaration added to a header does not change these
# objects, so the headers get their old times back. The file build/flags stays, although other flags are used.
mkdir "$W/tree" "$W/tree/build"
cp -Rp Makefile core layers examples tests "$W/tree" || exit 1
for part in f32 f64 flags check.compile check.link; do
    cp -Rp "$BUILD/$part" "$W/tree/build" || exit 1
done
rm -f "$W"/tree/build/f??/test
cd "$W/tree" || exit 1
mkdir -p "$BUILD/f64"                   # the folder to which the double suites write results

new() {         # new KIND NAME=... [INPUTS=...]
    ${MAKE:-make} -s "new-$1" "$2" ${3:+"$3"}
}

build() {       # build TARGET ...
    touch -r build/flags core/gradus.h layers/layers.h examples/exercises/exercises.h
    ${MAKE:-make} -s CC="${CC:-cc}" CXX="${CXX:-c++}" OPT=-O1 SANITIZE="${SANITIZE:-}" CFLAGS="${CFLAGS:-}" \
        LDFLAGS="${LDFLAGS:-}" WERROR=1 B=build write_if_changed=@: "$@"
}

suite() {       # suite PRECISION NAME: runs that suite of the tests
    CK_EXCLUDE_TAGS=long CK_RUN_SUITE=$2 "build/$1/test"
}

tree() {        # lists all files except built ones, with checksums
    find Makefile core layers examples tests -type f -exec cksum {} + | sort
}

narrow() {
    awk 'length > 80 { print; bad = 1 } END { exit bad }' "$@"
}

# ---- names that are refused ----------------------------------------------------------------------------
refused() {     # refused KIND NAME=... SENTENCE [INPUTS=...]: make adds a line about its failure, and
                # the tree stays as in $W/before
    new "$1" "$2" "${4-}" >"$W/out" 2>"$W/err" && return 1
    cat "$W/out" "$W/err"
    tree | cmp - "$W/before" && [ ! -s "$W/out" ] && narrow "$W/err" &&
        [ "$(head -n 1 "$W/err")" = "new-$1: $3" ] &&
        [ "$(wc -l <"$W/err")" -eq 2 ]
}

if quick; then
group "refusals"
tree >"$W/before"
for kind in op:softsign layer:swiglu optimizer:lion exercise:softplus; do
    example=${kind#*:}
    kind=${kind%:*}
    ok "$kind without a NAME" refused $kind A=b "got no NAME: run make new-$kind NAME=$example"
    ok "a NAME in the environment does not count" env NAME=host \
        sh -c "! ${MAKE:-make} -s new-$kind 2>&1 | grep -v 'got no NAME\|Error'"
    # one function checks the names of all kinds
    [ $kind = op ] && names="9x _x a-b a'b x;y x/y ../x é" || names=
    for name in Soft 'a b' $names; do
        ok "$kind '$name'" refused $kind NAME="$name" \
            "got '$name', expected a lower-case C identifier, such as $example"
    done
    ok "$kind while" refused $kind NAME=while "'while' is a C keyword: choose another name"
    ok "gra_ twice" refused op NAME=gra_zsign "the prefix gra_ is added to it: run make new-op NAME=zsign"
    ok "a long name" refused $kind NAME=a23456789b23456789c23456789d23456 \
        "got a name of 33 letters, expected at most 32"
done
ok "an op that exists" refused op NAME=tanh "core/ops/tanh.c already exists"
ok "a layer that exists" refused layer NAME=linear "layers/linear.c already exists"
ok "an optimiser that exists" refused optimizer NAME=sgd "core/optim/sgd.c already exists"
ok "a function" refused op NAME=mean "the library already has a gra_mean"
ok "a function of op.h" refused op NAME=run "the library already has a gra_run"
ok "a layer in another's file" refused layer NAME=causal_attention \
    "the library already has a struct gra_causal_attention"
ok "an op's name for an optimiser" refused optimizer NAME=relu "the library already has a gra_relu"
ok "an exercise that exists" refused exercise NAME=gelu "examples/exercises/source/11_gelu.c already exists"
ok "a function of another exercise" refused exercise NAME=neuron \
    "neuron or neuron_backward is already declared: choose another"
ok "a function of C" refused exercise NAME=exp \
    "exp or exp_backward is already declared: choose another"
ok "a macro of the test" refused optimizer NAME=steps \
    "tests/optim/test_optim.c has a STEPS: choose another name"

ok "an op of three operands" refused op NAME=zpot "got INPUTS=3, expected 1 or 2" INPUTS=3
ok "a word for a number" refused layer NAME=zcell "got INPUTS=two, expected 1 or 2" INPUTS=two
ok "inputs of an optimiser" refused optimizer NAME=zlion \
    "got INPUTS=2, but only an op or a layer has inputs" INPUTS=2

# A place that is no longer found: only some of the pieces would be inserted.
sed 's/^} settings/} setting/' tests/optim/test_optim.c >"$W/test_optim.c"
cp -p tests/optim/test_optim.c "$W/saved" && cp "$W/test_optim.c" tests/optim/test_optim.c
tree >"$W/before"
ok "no place for a piece" sh -c "! ${MAKE:-make} -s new-optimizer NAME=zlion 2>'$W/err' && cat '$W/err' &&
    grep -q '^new-optimizer: nothing was written' '$W/err'"
tree >"$W/after"
ok "... changes nothing" cmp "$W/before" "$W/after"
cp -p "$W/saved" tests/optim/test_optim.c
fi

# ---- one of each ---------------------------------------------------------------------------------------
made() {        # made KIND NAME FILE [INPUTS=...]: make reports what it made, in 80 columns
    ends_with 0 new "$1" NAME="$2" "${4-}" && narrow "$W/out" &&
        grep -q "build/f64/test && CK_RUN_SUITE=" "$W/out" && sed 's/NAME=//' "$W/out" >"$W/text" &&
        lacks 'NAME\|CAPS' "$3" "$W/text"
}

group "from the templates"
ok "new-op" made op zsign core/ops/zsign.c
ok "new-layer" made layer zglu layers/zglu.c
ok "new-optimizer" made optimizer zlion core/optim/zlion.c
ok "new-op of two operands" made op zpot core/ops/zpot.c INPUTS=2
ok "its last line points to the section" eval \
    'tail -n 1 "$W/out" | grep "core/README.md" && grep "^## An op of two operands$" core/README.md'
ok "new-layer of two inputs" made layer zcell layers/zcell.c INPUTS=2
ok "new-exercise" ends_with 0 new exercise NAME=zquare
ok "fits 80 columns" narrow "$W/out"
ok "gives each name" lacks 'NAME\|NUMBER' "$W/out" examples/exercises/*/??_zquare.* \
    tests/programs/exercises/??_zquare.txt
exercise=$(ls examples/exercises/source | tail -n 1)
exercise=${exercise%.c}
ok "it takes the next number" test "$exercise" = "$(ls examples/exercises/source | wc -l | tr -d ' ')_zquare"
tree >"$W/before"
ok "once more" refused op NAME=zsign "core/ops/zsign.c already exists"
ok "nothing is left over" test -z "$(find . -name '*.new')"
for new in core/ops/zsign core/ops/zpot core/optim/zlion layers/zglu layers/zcell tests/layers/test_layers; do
    ok "$new.c compiles" build "build/f64/$new.o"
done

marked() {      # each of the four files of the exercise tells what to write
    grep -l "zquare: .* still the template's" examples/exercises/[!s]*/"$exercise".* \
        examples/exercises/source/"$exercise".c \
        tests/programs/exercises/"$exercise".txt >"$W/marked"
    [ "$(wc -l <"$W/marked")" -eq 4 ]
}
ok "the exercise says what to write" marked
ok "it has a title" grep -q "^/\* ${exercise%%_*} zquare: .*[.]\$" "examples/exercises/source/$exercise.c"
ok "it passes its test" build "build/passed/exercises/$exercise"
ok "with four wrong answers" grep -q "start refused, solution passed, 4 wrong answers refused" \
    "build/passed/exercises/$exercise"

rest || { cd "$OLDPWD" && finish; exit; }
ok "the tree builds" build build/f64/test build/f32/test headers

passes() {      # passes PRECISION SUITE: in one process, since forks would take most of the time
    CK_FORK=no suite "$1" "$2"
}

asks() {        # asks PRECISION SUITE SENTENCE ...: the suite fails, with each sentence
    ! suite "$1" "$2" >"$W/out" 2>&1 || return 1
    cat "$W/out"
    shift 2
    for sentence; do
        grep -q "^$sentence\$" "$W/out" || { echo "it does not say: $sentence"; return 1; }
    done
}

ok "what to write for the op" asks f64 ops \
    "core/ops/zsign.c:[0-9]*: zsign: the formula is still the template's: write it here" \
    "core/ops/zsign.c:[0-9]*: zsign: forward is still the template's: write it" \
    "core/ops/zsign.c:[0-9]*: zsign: backward is still the template's: write it" \
    "core/gradus.h:[0-9]*: zsign: the formula is still the template's: write it" \
    "tests/ops/ops_table.c:[0-9]*: zsign: the formula is still the template's: write it"
ok "for the layer of two inputs" asks f64 layers \
    "layers/zcell.c:[0-9]*: zcell: the formula is still the template's: write it here" \
    "layers/zcell.c:[0-9]*: zcell: init is still the template's: write it" \
    "layers/zcell.c:[0-9]*: zcell: forward is still the template's: write it in layers/zcell.c" \
    "layers/layers.h:[0-9]*: zcell: this text is still the template's: write it"
ok "for the layer" asks f64 layers \
    "layers/zglu.c:[0-9]*: zglu: the formula is still the template's: write it here" \
    "layers/zglu.c:[0-9]*: zglu: init is still the template's: write it" \
    "layers/zglu.c:[0-9]*: zglu: forward is still the template's: write it in layers/zglu.c" \
    "layers/layers.h:[0-9]*: zglu: this text is still the template's: write it" \
    "tests/layers/test_layers.c:.*:gradients:.* zglu, training:"
ok "for the optimiser" asks f64 optim \
    "core/optim/zlion.c:[0-9]*: zlion: the formula is still the template's: write it here" \
    "core/optim/zlion.c:[0-9]*: zlion: the step is still the template's: write it" \
    "core/gradus.h:[0-9]*: zlion: the formula is still the template's: write it" \
    "tests/optim/test_optim.c:[0-9]*: zlion: the step by hand is still the template's: write it"
ok "also in float" asks f32 ops "core/ops/zsign.c:[0-9]*: zsign: forward is still the template's: write it"

# ---- the sentences are removed, but nothing is filled in -----------------------------------------------
edit() {        # edit FILE SED'S ARGUMENTS: must change something
    file=$1
    shift
    sed "$@" "$file" >"$W/edited" && differ "$W/edited" "$file" && cat "$W/edited" >"$file"
}

group "sentences removed"
mine="s/ is still the template's/ is mine/"
for file in core/ops/zsign.c core/ops/zpot.c core/optim/zlion.c core/gradus.h tests/ops/ops_table.c \
    tests/optim/test_optim.c; do
    ok "$file" edit $file "$mine"
done
ok "it builds" build build/f64/test
ok "the op: its values are wrong" asks f64 ops \
    "tests/ops/test_ops.c:.*:values_are_the_formula:.* zsign(.*) is nan, .*"
ok "... and its gradient" asks f64 ops "tests/ops/test_ops.c:.*:gradients:.* zsign:"
ok "so are those of the op of two operands" asks f64 ops \
    "tests/ops/test_ops.c:.*:values_are_the_formula:.* zpot(.*, .*) is nan, .*"
ok "the optimiser's steps are wrong" asks f64 optim \
    "tests/optim/test_optim.c:.*:steps_are_the_formula:.*: gra_zlion_step makes nan of .*"

# ---- filled in -----------------------------------------------------------------------------------------
group "filled in"
ok "zsign" edit core/ops/zsign.c -e 's,= x\[i\] \* (real)NAN;,= x[i] / (1 + fabs(x[i]));,' \
    -e 's,+= dy\[i\] \* x\[i\] \* (real)NAN;,+= dy[i] / ((1 + fabs(x[i])) * (1 + fabs(x[i])));,'
ok "its formula" edit tests/ops/ops_table.c 's,x \* (double)NAN,x / (1 + fabs(x)),'
ok "zpot" edit core/ops/zpot.c -e 's,(a_i + b_i) \* (real)NAN;,sqrt(a_i * a_i + b_i * b_i);,' \
    -e 's,dy_i \* b_i \* (real)NAN;,dy_i * a_i / y->data[w.y + i];,' \
    -e 's,dy_i \* a_i \* (real)NAN;,dy_i * b_i / y->data[w.y + i];,'
ok "its formula" edit tests/ops/ops_table.c 's,(a + b) \* (double)NAN,hypot(a\, b),'
ok "zcell" edit layers/zcell.c -e "$mine" -e '/^    (void)/d' \
    -e 's|return gra_fail.*|gra_tensor *z = gra_add(t, gra_linear_forward(t, \&l->input, x),\
                            gra_linear_forward(t, \&l->state, h));\
    return gra_tanh(t, z);|'
ok "zglu's struct" edit layers/layers.h -e "$mine" \
    -e 's,struct gra_linear linear; .*,struct gra_linear gate\, up\, down;,' \
    -e 's,\(gra_zglu_init.*\)int dim,\1int dim\, int hidden,'
ok "its init" edit layers/zglu.c -e "$mine" -e 's,int dim),int dim\, int hidden),' -e '/^    (void)/d' \
    -e 's|gra_linear_init.*|gra_linear_init(\&l->gate, gra_enter(scope, "gate"), dim, hidden, false);\
    gra_linear_init(\&l->up, gra_enter(scope, "up"), dim, hidden, false);\
    gra_linear_init(\&l->down, gra_enter(scope, "down"), hidden, dim, false);|' \
    -e 's|return gra_fail.*|gra_tensor *gate = gra_silu(t, gra_linear_forward(t, \&l->gate, x));\
    return gra_linear_forward(t, \&l->down, gra_mul(t, gate, gra_linear_forward(t, \&l->up, x)));|'
ok "its test" edit tests/layers/test_layers.c 's/\(PLAIN("zglu", zglu, X(3, 1, 5), 5\))/\1, 7)/'
ok "zlion's settings" edit core/gradus.h 's|lr, beta, weight_decay;|lr, beta1, beta2, weight_decay;|'
ok "its step" edit core/optim/zlion.c -e 's|[.]beta = 0.9|.beta1 = 0.9, .beta2 = 0.99|' \
    -e 's|beta = (real)opt->beta,|beta1 = (real)opt->beta1, beta2 = (real)opt->beta2,|' \
    -e 's|v\[i\] = beta.*|const real c = beta1 * v[i] + (1 - beta1) * g[i];|' \
    -e 's|p\[i\] -= .*|p[i] -= lr * ((real)((c > 0) - (c < 0)) + decay * p[i]);\
        v[i] = beta2 * v[i] + (1 - beta2) * g[i];|'
ok "its test" edit tests/optim/test_optim.c \
    -e 's|v\[0\] = o->zlion.*|const double c = o->zlion.beta1 * v[0] + (1 - o->zlion.beta1) * g;\
    v[0] = o->zlion.beta2 * v[0] + (1 - o->zlion.beta2) * g;|' \
    -e 's|p \* (double)NAN|p - o->zlion.lr * ((c > 0) - (c < 0) + o->zlion.weight_decay * p)|' \
    -e 's|{ ZLION, "beta",.*|{ ZLION, "beta1", offsetof(optimiser, zlion.beta1) },\
    { ZLION, "beta2", offsetof(optimiser, zlion.beta2) },|'
ok "it builds" build build/f64/test build/f32/test headers
for precision in f64 f32; do
    for suite in ops layers optim; do
        ok "$precision: the suite $suite passes" passes $precision $suite
    done
done

# This suite's bound is meant for longer sums, so some ops exceed it here, but not these.
sums() {
    CK_FORK=no SUMS_TERMS=1000 CK_RUN_SUITE=sums build/f64/test || return 1
    CK_FORK=no SUMS_TERMS=1000 CK_RUN_SUITE=sums build/f32/test >"$W/out"
    cat "$W/out"
    grep -q "Errors: 0" "$W/out" && lacks 'zpot\|zsign' "$W/out"
}
ok "float agrees with double" sums

cd "$OLDPWD" || exit 1
finish
