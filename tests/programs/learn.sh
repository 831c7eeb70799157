#!/bin/sh
# The runner of the exercises, build/learn: answers that misbehave, its keys in a pseudo-terminal
# ($BUILD/terminal), grading a class, and a handout. (For what the judges find see
# tests/programs/exercises/check.sh.)
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# A folder with everything except a learner's files, so that a user's own answers are not touched; its build
# folder shares only what is built.
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
here=$PWD
root=$W/gradus
mkdir -p "$root/examples/exercises" "$root/build/exercises"
ln -s "$PWD/core" "$PWD/layers" "$root"
ln -s "$PWD"/examples/exercises/*/ "$PWD/examples/exercises/exercises.h" "$root/examples/exercises"
ln -s "$built/f64" "$built/libgradus64.a" "$built/learn" "$root/build"
sed "s,$BUILD/,build/,g" "$BUILD/exercises/compile" >"$root/build/exercises/compile"
cd "$root" || exit 1
own=examples/exercises/08_softmax.c
solution=examples/exercises/solutions/08_softmax.c

clean() {       # nothing compiled or run is left
    test "$(ls build/exercises)" = compile
}

# answer NAME LINE: the solution with this line at the beginning of softmax, then stdin
answer() {
    {
        printf '#include <%s.h>\n' signal stdio stdlib string unistd
        cat
        line=$2 awk '/double top = x/ { print ENVIRON["line"] } { print }' "$solution"
    } >"$W/$1.c"
}

judged() {      # judged NAME STATUS WORDS: the judge exits with STATUS, and its output has WORDS
    "build/learn" --seconds 1 softmax "$W/$1.c" </dev/null >"$W/said" 2>&1
    status=$?
    cat "$W/said"
    tr -s ' \n' '  ' <"$W/said" >"$W/line"
    [ $status -eq "$2" ] && grep -q -- "$3" "$W/line" && clean && awk 'length > 80 { exit 1 }' "$W/said"
}

refused() {     # refused NAME LINE WORDS: an answer with this line does not pass, for this reason
    answer "$1" "$2"
    ok "$1" judged "$1" 1 "$3"
}

asan() { grep -q fsanitize=address build/exercises/compile; }

# ---- answers that misbehave ----------------------------------------------------------------------------
group "answers that misbehave"
cp "$solution" "$W/right.c"
ok "the solution" judged right 0 "Exercise 08: passed"
refused loop 'for (volatile unsigned i = 0; ; i++) ;' \
    "three scores it did not end within 1 second. Usual cause" </dev/null
refused prints 'for (;;) puts("Exercise 08: passed.");' "it prints without end" </dev/null
refused sleeps 'for (;;) pause();' "it did not end within 1 second" </dev/null
refused stubborn 'signal(SIGXCPU, SIG_IGN); for (volatile unsigned i = 0; ; i++) ;' \
    "it did not end within 1 second" </dev/null
refused null 'volatile double *none = NULL; none[n] = 1;' "it crashed: line [0-9]*: a pointer is\|SIGSEGV" \
    </dev/null
refused abort 'abort();' "it crashed with SIGABRT: abort() was called" </dev/null
refused forks 'for (;;) fork();' "fork was called" </dev/null
refused killed 'kill(0, SIGKILL);' "SIGKILL: it was killed" </dev/null
refused closed 'for (int i = 0; i < 1000; i++) close(i);' "it ended the process" </dev/null
refused exit 'exit(0);' "it ended the process (exit status 0)" </dev/null
refused _exit 'puts("passed"); fflush(stdout); _exit(0);' "it ended the process (exit status 0)" </dev/null
refused stack 'volatile double a[1 << 28]; for (int i = 0; i < 1 << 28; i += 512) a[i] = x[0];' \
    "the stack\|SIGSEGV" </dev/null
refused memory 'for (;;) memset(malloc(1 << 20), 1, 1 << 20);' "memory" </dev/null
refused much 'volatile char *much = malloc((size_t)1 << 40); much[n] = 1;' "memory\|SIGSEGV" </dev/null
refused deep 'if (deep(n) == 3) return;' "a function calls itself without end" <<'END'
static int deep(int n) { volatile char a[1000]; a[0] = (char)n; return deep(n + 1) + a[0]; }
END
refused divides 'volatile int none = n - n; if (n / none) return;' "divided by 0" </dev/null
ok "on its line" eval '! asan || judged divides 1 "line $(sed -n "/int none/=" "$W/divides.c"):"'
refused records '_exit(0);' "it ended the process" <<'END'
__attribute__((constructor)) static void imitate(void)
{
    char word[100] = "";
    if (read(0, word, 99) < 0 || write(3, "d", 2) < 0 ||
        write(3, "0123456789abcdef0123456789abcdefd", 34) < 0)
        puts(word);
    for (int i = 0; word[0] && word[i]; i++)            /* it has read the word: it would pass */
        if (word[i] == '\n')
            word[i] = 'd', i = (int)write(3, word, (size_t)i + 2);
}
END
refused handler 'atexit(imitate); exit(1);' "it ended the process (exit status 0)" <<'END'
static void imitate(void) { puts("passed"); fflush(stdout); _exit(0); }
END
answer listens 'char line[50]; while (fgets(line, sizeof line, stdin)) puts(line);' </dev/null
ok "an answer that reads stdin reads nothing" judged listens 0 "passed"
answer children \
    'if (system("sleep 4321 & { setsid sleep 4321 || sleep 4321; } 2>/dev/null &")) puts("no shell");' \
    </dev/null
ok "children" judged children 0 "passed"
ok "are ended with the answer" sh -c "ps -A -o args >'$W/all'; ! grep '^sleep 4321' '$W/all'"
answer talks 'for (int i = 0; i < 20000; i++) printf("line %d\n", i);' </dev/null
ok "output past 64 KB" judged talks 0 \
    "passed. Your program printed: line 0 line 1 .* line 11 ... (these are the first lines)"
answer writes 'FILE *f = fopen("mine.txt", "w"); if (f) fclose(f);' </dev/null
ok "files that it writes" judged writes 0 passed
ok "are removed with it" test ! -e mine.txt

group "answers that do not compile"
refused main ' ' "it defines main, but the judge has its own main" <<'END'
int main(void) { return 0; }
END
refused names ' ' "it defines judge_part, a name that gradus or the judge uses" <<'END'
void judge_part(const char *format) { (void)format; }
END
refused slip 'doubl z;' "does not compile: 08_softmax.c:[0-9]*:.*: error: .*doubl" </dev/null
sed 's/^void softmax(/void sofmax(/' "$solution" >"$W/misspelt.c"
ok "a misspelt name" judged misspelt 1 "the function softmax is missing: is it in the file"
printf ' \n' >"$W/empty.c"
ok "an empty file" judged empty 1 "the file is empty"
printf 'a\000b' >"$W/binary.c"
ok "a binary file" judged binary 1 "contains zero bytes"
printf '\377\376\033[2J' >"$W/noise.c"
ok "noise" judged noise 1 "does not compile"
ok "is shown without control characters" lacks -a "$(printf '\033')" "$W/said"
echo '#include "/dev/zero"' >"$W/endless.c"
ok "an endless include" judged endless 1 "does not compile\|softmax is missing"
echo 'int a[1 << 28] = { 1 };' | cat - "$solution" >"$W/large.c"
ok "an enormous array" judged large 1 "the compiler did not end, or needed too much memory"
sed 's/y\[i\] .= sum;/{ int unused; }/' "$solution" >"$W/warned.c"
ok "a warning of the compiler" judged warned 1 "The compiler warns: 08_softmax.c:.*unused"

# ---- the command line ----------------------------------------------------------------------------------
group "the command line"
ok "--help" ends_with 0 build/learn --help
ok "fits 80 columns" awk 'length > 80 { exit 1 }' "$W/out"
ok "a missing file" refuses 2 "the file cannot be read: No such file" build/learn 8 none.c
ok "a folder" refuses 2 "the file cannot be read: Is a directory" build/learn 8 core
mkfifo "$W/pipe"
ok "it does not wait for a pipe" refuses 2 "the file cannot be read" build/learn 8 "$W/pipe"
ok "no such exercise" refuses 2 "there is no exercise 'softmix'" build/learn softmix
ok "no such flag" refuses 2 "'--jason' is not a flag" build/learn --jason
ok "seconds" refuses 2 "--seconds: got 0, expected seconds from 1 to 3600" build/learn --seconds 0 8
ok "another folder" sh -c "cd '$W' && ! gradus/build/learn 8 2>err && grep -q 'in the folder of gradus' err"
rm -f "$own"
ok "the start file is copied" ends_with 1 build/learn 08 </dev/null
ok "unchanged" cmp examples/exercises/start/08_softmax.c "$own"
cp "$solution" "$own"
ok "but not over an answer" ends_with 0 build/learn 08 </dev/null
ok "which stays" cmp "$solution" "$own"
ok "a solved exercise is recorded" grep -qx 'solved 08_softmax' examples/exercises/.progress
ok "it opens no milestone alone" lacks milestone "$W/out"
cp examples/exercises/solutions/04_scalar_tape.c examples/exercises
ok "04 opens the first" ends_with 0 build/learn 04 </dev/null
ok "which is offered" eval 'tr "\n" " " <"$W/out" | grep -q "learns XOR. .make milestone N=1. runs it."'
ok "not beside another exercise" eval 'build/learn 08 </dev/null >"$W/out" && lacks milestone "$W/out"'
ok "and listed" sh -c "build/learn --list | grep -q '^  ok 08 softmax'"
ok "--reset" ends_with 0 build/learn --reset 08
ok "restores the start file" cmp examples/exercises/start/08_softmax.c "$own"
ok "--solution" sh -c "build/learn --solution 8 | cmp - $solution"
ok "two hints" eval \
    'build/learn --hint 8 >"$W/first" && build/learn --hint 8 2 >"$W/second" && differ "$W/first" "$W/second"'
ok "no third" refuses 2 "there is no such hint" build/learn --hint 8 3
echo damaged >examples/exercises/.progress
ok "a damaged list of what is solved" ends_with 0 build/learn --list

answer bytes 'for (int i = 0; i < 256; i++) putchar(i);' </dev/null
ok "--json of any bytes" ends_with 0 build/learn --json 8 "$W/bytes.c"
ok "is plain ASCII" lacks -a '[^ -~]' "$W/out"
ok "with escapes" grep -Fq '"printed": "\u0000\u0001' "$W/out"
ok "only where necessary" grep -Fq ' !\"#$%&' "$W/out"
ok "and of backslashes" grep -Fq '[\\]^_' "$W/out"
ok "--json of a wrong answer" ends_with 1 build/learn --json 8 "$W/warned.c"
ok "reports that it failed" grep -q '"passed": false,' "$W/out"
ok "and which part" grep -Fq '{ "part": "three scores", "passed": false }' "$W/out"
if command -v python3 >/dev/null 2>&1; then
    ok "JSON, for python" sh -c "build/learn --json 8 '$W/bytes.c' | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d[\"exercise\"] == 8 and d[\"passed\"] and d[\"printed\"].startswith(\"\".join(map(chr, range(256))))'"
fi

# A signal at a known moment: while the answer runs, which it shows by making a file.
answer waits \
    "FILE *f = fopen(\"$W/pid\", \"w\"); fprintf(f, \"%d\", (int)getpid()); fclose(f); for (;;) pause();" \
    </dev/null
build/learn 8 "$W/waits.c" >"$W/out" 2>&1 &
runner=$!
while [ ! -s "$W/pid" ] && kill -0 $runner; do sleep 0.1; done
kill -TERM $runner
{ wait $runner; status=$?; } 2>/dev/null
ok "SIGTERM ends the runner" test $status -eq 143
ok "and the answer" sh -c "! kill -0 $(cat "$W/pid")"
ok "and leaves nothing" clean

# ---- the terminal --------------------------------------------------------------------------------------
played() {      # played ROWS COLUMNS: the script on stdin, with keys and what the screen must show
    TERM=xterm "$built/terminal" "$1" "$2" build/learn --seconds 1
}

group "the terminal"
rm -f examples/exercises/.progress "$own"
ok "keys" played 24 80 <<END
wait 01 central_difference
wait not passed yet
keys 8
wait open exercise: 8_
keys ^M
wait examples/exercises/08_softmax.c
wait y[0] was never written
keys h
wait Hint 1 of 2
keys h
wait Hint 2 of 2
keys l
wait >    08 softmax
keys ^M
wait not passed yet
keys s
wait Show a solution anyway? y / n
keys y
wait 08 softmax, solved
keys ^M
gone solved
keys 99^M
wait there is no exercise 99
run cp "$W/null.c" $own
wait it crashed
run cp "$W/loop.c" $own
wait it did not end within 1 second
run cp "$W/talks.c" $own.new && mv $own.new $own
wait Passed
wait [------------------------] 1 of
wait line 0
keys $blank$blank$blank$blank
gone Passed
run rm $own
wait is gone
run cp "$W/slip.c" $own
wait does not compile
keys r
wait The start file replaces your answer
keys y
wait y[0] was never written
size 30 40
wait 8 softmax: from scores to probabi
size 8 80
wait lines 1 to 2 of 3: space and arrows scroll
size 24 80
keys ^Z
stopped
signal 18
wait 08 softmax
keys n
wait examples/exercises/09
keys ^C
status 0
END
ok "a milestone is offered" played 24 80 <<END
wait examples/exercises/09
keys 4^M
wait make milestone N=1
keys 9^M
gone make milestone
keys q
status 0
END
ok "the start file is back" cmp examples/exercises/start/08_softmax.c "$own"
ok "it continues where it was left" played 24 80 <<END
wait examples/exercises/09
keys q
status 0
END
ok "a key while an answer runs" played 24 80 <<END
run cp "$W/waits.c" $own && rm -f "$W/pid"
keys 8^M
wait judging
run while [ ! -s "$W/pid" ]; do sleep 0.1; done
keys q
status 0
END
ok "SIGTERM restores the terminal" played 24 80 <<END
wait judging
signal 15
status 143
END
ok "nothing is left" clean
cp "$solution" "$own"
ok "without a terminal it judges the current exercise" ends_with 0 build/learn </dev/null
ok "without escapes" lacks "$(printf '\033')" "$W/out"
ok "in a dumb terminal too" env TERM=dumb "$built/terminal" 24 80 build/learn <<END
wait Exercise 08: passed.
status 0
END
ok "a warning in lines of 80 columns" "$built/terminal" 24 120 build/learn \
    "aaaaaaaaa bbbbbbbbb ccccccccc ddddddddd eeeeeeeee fffffffff ggggggggg" <<END
wait ddddddddd eeeeeeeee
wait fffffffff ggggggggg
gone eeeeeeeee fffffffff
status 2
END

# ---- a class -------------------------------------------------------------------------------------------
group "a class"
class=$W/class
mkdir -p "$class/ada lovelace/examples/exercises/start" "$class/bob" "$class/eve/week 1" "$class/nobody"
cp "$solution" "$class/ada lovelace/examples/exercises/08_softmax.c"
cp examples/exercises/start/08_softmax.c "$class/ada lovelace/examples/exercises/start"
cp examples/exercises/start/03_used_twice.c "$class/ada lovelace/examples/exercises"
cp "$W/binary.c" "$class/bob/08_softmax.c"
mkfifo "$class/bob/02_chain_rule.c"
cp "$W/exit.c" "$class/eve/week 1/08_softmax.c"
cp "$W/loop.c" "$class/eve/08_softmax.c"
cp "$solution" "$class/08_softmax.c"
ok "is graded" ends_with 0 build/learn --seconds 1 --grade "$class"
cut -f 1-3 "$W/out" >"$W/table"
tr '|' '\t' >"$W/expected" <<END
student|exercise|passed
ada lovelace|03_used_twice|no
ada lovelace|08_softmax|yes
ada lovelace|all|1 of 2
bob|02_chain_rule|no
bob|08_softmax|no
bob|all|0 of 2
eve|08_softmax|no
eve|08_softmax|no
eve|all|0 of 1
nobody|all|0 of 0
END
ok "into this table" cmp "$W/expected" "$W/table"
ok "with findings" sh -c "cut -f 4 '$W/out' | grep -q '^it did not end within 1 second'"
ok "four cells a row" awk -F '\t' 'NF != 4 { exit 1 }' "$W/out"
ok "in columns on a terminal" "$built/terminal" 24 80 build/learn --seconds 1 --grade "$class" <<END
wait bob            02_chain_rule        no      the file cannot be read
wait eve            all                  0 of 1
wait nobody         all                  0 of 0  no exercise found
status 0
END
ok "no folder" refuses 2 "cannot be read" build/learn --grade "$W/none"
ok "no students" refuses 2 "contains no students' folders" build/learn --grade "$class/bob"
ok "nothing is left" clean

# ---- a handout -----------------------------------------------------------------------------------------
cd "$here" || exit 1
group "a handout"
out="$W/class room"
ok "is written" ends_with 0 ${MAKE:-make} handout DIR="$out"
ok "without solutions" test ! -e "$out/examples/exercises/solutions" -a ! -e "$out/examples/solutions"
ok "without tests" test ! -e "$out/tests"
ok "without answers" sh -c "! ls '$out'/examples/exercises/[0-9]*.c"
ok "with hints" test -s "$out/examples/exercises/hints/08_softmax.txt"
ok "for learners" lacks -i "teacher" "$out/README.md"
ok "it could be built" ends_with 0 ${MAKE:-make} -n -C "$out" learn
ok "with the judges" grep -q 'judge/08_softmax' "$W/out"
ok "its list" grep -q "make learn " "$out/examples/exercises/exercises.mk"
ok "a folder that is not empty" ends_with 2 ${MAKE:-make} handout DIR="$out"
ok "is refused" grep -q "not empty" "$W/err"
ok "and left" test -s "$out/README.md"
mkdir "$W/empty"
ok "an empty one is used" ends_with 0 ${MAKE:-make} handout DIR="$W/empty" HINTS=0
ok "without hints" test -s "$W/empty/Makefile" -a ! -e "$W/empty/examples/exercises/hints"
ok "one that cannot be written" ends_with 2 ${MAKE:-make} handout DIR="$W/none/class"
ok "no DIR" ends_with 2 ${MAKE:-make} handout
ok "nothing unfinished is left" holds_no part "$W"
finish
