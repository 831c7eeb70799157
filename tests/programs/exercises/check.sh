#!/bin/sh
# Tests one exercise of examples/exercises: check.sh 08_softmax. The start file must be judged as not solved,
# the solution as solved, and each wrong answer in tests/programs/exercises/08_softmax.txt must be refused for
# its intended reason. In that file "= name" begins a wrong answer; "! words" must be in its finding; "% 1"
# gives its time limit in seconds, if not 10; then come edits of the solution: lines after "- " must occur
# exactly once, and lines after "+ " replace them. An empty line separates two edits.
BUILD=${BUILD:-build}
name=$1
wrong=tests/programs/exercises/$name.txt
W=$BUILD/exercises/$name.check
rm -rf "$W"
mkdir -p "$W" || exit 1
failed=0

fail() {        # fail WHAT: with the judge's output
    echo "FAILED: exercise $name: $1"
    sed 's/^/    /' "$W/said"
    failed=1
}

judge() {       # judge BUILD FILE: returns the judge's status; its output goes to $W/said
    "$1/learn" --seconds "${seconds:-10}" "$name" "$2" >"$W/said" 2>&1
}

judge "$BUILD" "examples/exercises/start/$name.c"
[ $? -eq 1 ] || fail "the start file must be judged not solved"
! grep -q "compiler warns" "$W/said" || fail "the start file must compile without warnings"

# The solution must pass, and the judge's cases must reveal each special and distinguish it from all other
# mistakes. NOTES=yes is for the author of a judge: it shows specials that a rule also makes and, if there are
# many, mistakes that pass.
tried=$BUILD/f64/tests/programs/exercises/tried.o
of_judge=$BUILD/f64/examples/exercises/judge/$name.o
sed "s#[^ ]*/judge/answer\\.o#$tried#" "$BUILD/exercises/compile" >"$W/compile"
sh "$W/compile" "examples/exercises/solutions/$name.c" "$of_judge" "$W/tries" >"$W/said" 2>&1 &&
    "$W/tries" </dev/null >"$W/said" 2>"$W/tried" || fail "the solution must pass"
awk -v FS='\t' -v total="$W/total" -v notes="$NOTES" '
    # A line of tried.c: formula and output; case (c) or telling (t), rule (r) or special (s); hash; sentence.
    {
        key = $1 FS $4
        if (!(key in all)) { keys[++n] = key; of[n] = $1; says[n] = $4 }
        all[key] = all[key] " " $3
        shown[key] = shown[key] ($2 ~ /^c/ ? " " $3 : "")
        special[key] = $2 ~ /s/
    }
    END {
        for (i = 1; i <= n; i++) {
            if (says[i] == "")
                continue
            key = keys[i]
            tries++
            if (shown[key] != shown[of[i] FS]) {
                twin = all[key] FS of[i]
                if (twin in first && special[key] && special[keys[first[twin]]])
                    same[says[first[twin]] "\n    " says[i]]
                else if (twin in first && special[keys[first[twin]]] && !(says[first[twin]] in ruled))
                    ruled[says[first[twin]]] = says[i]
                else if (!(twin in first))
                    first[twin] = i
                seen[says[i]]
            } else if (all[key] != all[of[i] FS] && passed++ < 3)
                pass = pass "\n    " says[i]
            if (special[key])
                specials[says[i]]
        }
        for (s in specials)
            if (!(s in seen))
                print "no case shows: " s
        for (s in same)
            print "no case tells these apart:\n    " s
        for (s in ruled)
            if (notes)
                print "note: a rule makes this special too:\n    " s "\n    " ruled[s] >"/dev/stderr"
        if (notes && passed > tries / 50)    # a few of these are right: any score may be the largest
            print "note: " passed " of " tries " mistakes pass every case, such as" pass >"/dev/stderr"
        print tries + 0 >total
    }' "$W/tried" >"$W/said"
[ ! -s "$W/said" ] || fail "specials of the judge"

# Writes $W/K.c and $W/K.words for the K-th wrong answer, and a line with its seconds and its name to $W/list.
awk -v dir="$W" -v wrong="$wrong" '
    function edit(    at) {
        if (old == "")
            return
        at = index(text, old)
        if (!at || index(substr(text, at + 1), old)) {
            bad = 1
            where = at ? "more than once" : "nowhere"
            print wrong ": " name ": these lines are in the solution " where ":\n" old >"/dev/stderr"
        } else
            text = substr(text, 1, at - 1) new substr(text, at + length(old))
        old = new = ""
    }
    function finish() {
        edit()
        if (!n)
            return
        if (text == solution) {
            print wrong ": " name ": it edits nothing" >"/dev/stderr"
            bad = 1
        }
        printf "%s", text >(dir "/" n ".c")
        printf "%s", words >(dir "/" n ".words")
        print seconds, name >(dir "/list")
    }
    FILENAME != wrong { solution = solution $0 "\n"; next }
    /^= / { finish(); n++; name = substr($0, 3); text = solution; words = ""; seconds = 10; next }
    /^% / { seconds = $2; next }
    /^! / { words = words substr($0, 3) "\n"; next }
    /^- / || $0 == "-" { if (new != "") edit(); old = old (old == "" ? "" : "\n") substr($0, 3); next }
    /^\+ / || $0 == "+" { new = new (new == "" ? "" : "\n") substr($0, 3); next }
    /^$/ { edit() }
    END { finish(); exit bad }' "examples/exercises/solutions/$name.c" "$wrong" ||
        { : >"$W/said"; fail "see above"; }

# Sets $lacks to the error in the judgement of the $n-th wrong answer, or to "".
refused() {     # refused BUILD
    lacks=
    judge "$1" "$W/$n.c"
    [ $? -eq 1 ] || { lacks="it must be refused"; return; }
    lacks=$(awk '
        FILENAME ~ /[.]words$/ { words[++n] = $0; next }
        /^or: *$/ { print "its \"or\" has nothing after it" }
        /does not compile/ { print "it does not compile" }
        { gsub(/[ \t]+/, " "); sub(/^ /, "") }
        $0 != "" { said = said $0 " " }
        END {
            if (!n)
                print "it has no line of words to find"
            for (i = 1; i <= n; i++)
                if (!index(said, words[i]))
                    print "the finding lacks \"" words[i] "\""
        }' "$W/$n.words" "$W/said")
}

# Wrong answers are first judged in a folder that compiles without sanitizers and optimisation, which saves a
# fifth of the time. Only answers that need more (a line named by a sanitizer) are judged in $BUILD.
quick=$W/quick
mkdir -p "$quick/exercises" || exit 1
ln -s ../../../f64 ../../../learn "$quick"
sed 's/ -fsanitize=[^ ]*//; s/ -O1 / -O0 /' "$BUILD/exercises/compile" >"$quick/exercises/compile"
n=0
while read -r seconds what; do
    n=$((n + 1))
    refused "$quick"
    [ ! "$lacks" ] || refused "$BUILD"
    [ ! "$lacks" ] || fail "$what: $lacks"
done <"$W/list"
[ $n -ge 4 ] || fail "expected at least four wrong answers"
[ $failed -eq 0 ] || exit 1
total=$(cat "$W/total")
echo "exercise $name: start refused, solution passed, $n wrong answers refused, $total mistakes tried"
rm -rf "$W"
