#!/bin/sh
# Tests one milestone of examples/exercises/milestones: milestone.sh 1_xor. The milestone must train with the
# solutions, and with right answers of another form; it must refuse wrong or missing answers before training.
BUILD=${BUILD:-build}
name=$1
n=${name%%_*}
solutions=examples/exercises/solutions
W=$BUILD/exercises/$name.check
rm -rf "$W"
mkdir -p "$W" || exit 1
failed=0

fail() {        # fail WHAT: with the milestone's output
    echo "FAILED: milestone $name: $1"
    sed 's/^/    /' "$W/said"
    failed=1
}

trains() {      # trains WHAT DIR WORDS: the milestone passes and prints WORDS, in 80 columns
    sh examples/exercises/milestones/run.sh "$BUILD" "$n" "$2" >"$W/said" 2>&1 || { fail "$1"; return; }
    grep -q "$3" "$W/said" || fail "$1: it lacks '$3'"
    awk 'length > 80 { exit 1 }' "$W/said" || fail "$1: a line of more than 80 columns"
}

refuses() {     # refuses WHAT DIR WORDS: nothing is trained, and these are the last words
    sh examples/exercises/milestones/run.sh "$BUILD" "$n" "$2" >"$W/said" 2>&1
    [ $? -eq 2 ] || fail "must be refused: $1"
    ! grep -q 'step 1' "$W/said" || fail "$1: it was trained"
    sed -n '/^milestone: /,$p' "$W/said" | tr '\n' ' ' | grep -q "$3" || fail "$1: it lacks '$3'"
}

changed() {     # changed FOLDER EXERCISE EDIT ...: the solutions, one of them changed by sed -e EDIT ...
    [ -d "$W/$1" ] || cp -R "$solutions" "$W/$1" || exit 1
    answer=$W/$1/$2
    shift 2
    sed "$@" "$answer" >"$W/edited"
    ! cmp -s "$W/edited" "$answer" || fail "nothing to edit in $answer: $*"
    cp "$W/edited" "$answer"
}

case $n in
    1)
        learned='Your tape has learned XOR'
        changed another 04_scalar_tape.c 's/int i = t->n - 1; i >= 0/int i = (int)(y - t->node); i >= 0/'
        changed wrong 04_scalar_tape.c 's/int i = t->n - 1; i >= 0; i--/int i = 0; i < t->n; i++/'
        wrong=04
        ;;
    2)
        learned='has learned what names look like'
        changed another 07_relu.c 's/if (x\[i\] > 0)/if (y->data[i] > 0)/'
        changed another 06_matmul.c -e 's/double sum = 0/y->data[i * n + j] = 0/' \
            -e 's/sum += a/y->data[i * n + j] += a/' -e '/n + j\] = sum;/d'
        changed wrong 09_cross_entropy.c 's, / rows;,;,'
        wrong=09
        ;;
    3)
        learned='learns as the library'
        changed another 23_clipping.c 's,max_norm / norm;,max_norm / (norm + 1e-6);,'
        changed another 22_adamw.c 's,p\[i\] -= how->lr \* (mm / (sqrt(vv) + how->eps) + \(.*\));,\
            p[i] = p[i] * (1 - how->lr * how->weight_decay) - how->lr * mm / (sqrt(vv) + how->eps);,'
        changed wrong 18_attention_backward.c 's/(da\[j\] - dot)/da[j]/'
        wrong=18
        ;;
esac
trains "the solutions" $solutions "$learned"
trains "answers of another form" "$W/another" "$learned"
refuses "a wrong answer" "$W/wrong" "these exercises must pass first: $wrong "
rm "$W/another/"[01]*.c
refuses "missing answers" "$W/another" "these exercises must pass first: 0[46] "

# Two answers with a function of the same name: each is right when judged alone.
if [ "$n" = 2 ]; then
    rm -rf "$W/another"
    changed another 06_matmul.c '/^static void forward/i\
double twice(double x); double twice(double x) { return 2 * x; }'
    changed another 12_embedding.c '/^void embedding(/i\
double twice(double x); double twice(double x) { return 2 * x; }'
    refuses "a name that two answers define" "$W/another" \
        "06_matmul.c 12_embedding.c define twice: write static before it"
fi
[ $failed -eq 0 ] || exit 1
rm -rf "$W"
echo "milestone $name: trained with solutions and with other right answers; wrong ones refused"
