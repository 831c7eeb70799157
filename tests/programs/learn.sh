#!/bin/sh
# Tests build/learn, which runs the exercises: answers that misbehave, keys in a pseudo-terminal
# ($BUILD/terminal), grading a class, and a handout. The part `rest` tests answers compiled with sanitizers,
# and a class. (tests/programs/exercises/check.sh tests the judges.)
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# A folder with everything except a learner's files, which protects a user's answers; its build folder shares
# only built files.
case $BUILD in /*) built=$BUILD ;; *) built=$PWD/$BUILD ;; esac
here=$PWD
root=$W/gradus
mkdir -p "$root/examples/exercises" "$root/build/exercises"
ln -s "$PWD/core" "$PWD/layers" "$root"
ln -s "$PWD"/examples/exercises/*/ "$PWD/examples/exercises/exercises.h" "$root/examples/exercises"
ln -s "$built/f64" "$built/libgradus64.a" "$built/learn" "$root/build"
sanitizers=
rest || sanitizers='s/ -fsanitize=[^ ]*//; s/ -O1 / -O0 /'
sed "s,$BUILD/,build/,g; $sanitizers" "$BUILD/exercises/compile" >"$W/compile"
cp "$W/compile" "$root/build/exercises"
grep -q fsanitize=address "$BUILD/exercises/compile" && sanitizer=used || sanitizer=lacks
cd "$root" || exit 1
own=examples/exercises/08_softmax.c
solution=examples/exercises/solutions/08_softmax.c

clean() {       # nothing that was compiled or run is left
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
    [ $status -eq "$2" ] && finds "$3" "$W/said" && clean && awk 'length > 80 { exit 1 }' "$W/said"
}

refused() {     # refused NAME LINE WORDS: an answer with this line is refused for this reason
    answer "$1" "$2" </dev/null
    ok "$1" judged "$1" 1 "$3"
}

# becomes SCRIPT: the compiler turns answers into this shell script, until `compiles`
begins='head -c 16 >&3; printf "pone\\0" >&3;'           # the first record of a judge
becomes() {
    {
        echo 'cat >"$3" <<\END && chmod +x "$3"'
        printf '#!/bin/sh\n%s\nEND\n' "$1"
    } >build/exercises/compile
}

compiles() { cp "$W/compile" build/exercises; }

asan() { grep -q fsanitize=address build/exercises/compile; }

# ---- answers that misbehave ----------------------------------------------------------------------------
group "answers that misbehave"
cp "$solution" "$W/right.c"
ok "the solution" judged right 0 "Exercise 08: passed"
refused loop 'for (volatile unsigned i = 0; ; i++) ;' \
    "three scores it did not end within 1 second. Usual cause"
refused prints 'for (;;) puts("Exercise 08: passed.");' "it prints without end"
refused null 'volatile double *none = NULL; none[n] = 1;' "it crashed: line [0-9]*: \|SIGSEGV"
ok "where there are no gradients" lacks gradient "$W/said"
refused abort 'abort();' "it crashed with SIGABRT: abort() was called"
refused exit 'exit(0);' "it ended the process (exit status 0)"
refused status 'exit(127);' "it ended the process (exit status 127)"
refused stack 'volatile double a[1 << 28]; for (int i = 0; i < 1 << 28; i += 512) a[i] = x[0];' \
    "the stack\|SIGSEGV"
refused memory 'for (;;) memset(malloc(1 << 20), 1, 1 << 20);' "memory"
refused much 'volatile char *much = malloc((size_t)1 << 40); much[n] = 1;' "memory\|SIGSEGV\|allocation"
answer deep 'if (deep(n) == 3) return;' <<'END'
static int deep(int n) { volatile char a[1000]; a[0] = (char)n; return deep(n + 1) + a[0]; }
END
ok deep judged deep 1 "a function calls itself without end\|SIGSEGV"
refused divides 'volatile int none = n - n; if (n / none) return;' "divided by 0\|division by zero"
ok "on its line" eval '! asan || judged divides 1 "line $(sed -n "/int none/=" "$W/divides.c"):"'
answer talks 'for (int i = 0; i < 20000; i++) printf("line %d\n", i);' </dev/null
ok "output past 64 KB" judged talks 0 \
    "passed. Your program printed: line 0 line 1 .* line 11 ... (these are the first lines)"
becomes "$begins while :; do sleep 1; done"
ok "a program that sleeps" judged right 1 "it did not end within 1 second"
mkfifo "$W/held"                        # open until the last of them has ended
cat "$W/held" >"$W/late" &
exec 7>"$W/held"
becomes "$begins exec 8>'$W/held'; (sleep 30; echo late >&8) & (sleep 30; echo late >&8) & exit 0"
ok "a program that starts more programs" judged right 1 "it ended the process"
exec 7>&-
wait $!
ok "all of which are ended" test ! -s "$W/late"
becomes "$begins"'kill -KILL $$'
ok "a program that kills itself" judged right 1 "SIGKILL: it was killed"
becomes 'printf "123456789012345d" >&3'
ok "a record without a word" judged right 1 "it ended the process"
becomes 'word=$(dd bs=16 count=1 2>"'"$W/none"'"); printf "%sp8 1\\0%sd\\0" "$word" "$word" >&3'
ok "a word that is used twice" judged right 1 "it ended the process"
becomes 'head -c 16 >&3; printf "d\\0" >&3'
ok "a word that is used once" judged right 0 "passed"
becomes "$begins"'mkdir -p deep/er && echo >mine.txt && ln -s / deep/link'
ok "files that an answer writes" judged right 1 "it ended the process"
compiles
ok "are removed with the answer" test ! -e mine.txt

# Imitates a sanitizer on a kernel that spreads addresses too widely: the program dies before main the first
# few times. gcc's sanitizers print one endless line, clang's die of SIGSEGV.
cat >"$W/start.c" <<'END'
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>
__attribute__((constructor(101))) static void start(void)
{
    const int starts = open(COUNT, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (write(starts, "", 1) == 1 && lseek(starts, 0, SEEK_END) > DIES)
        return;
    while (!QUIET)
        (void)!write(2, "AddressSanitizer:DEADLYSIGNAL\n", 30);
    signal(SIGSEGV, SIG_DFL);
    kill(getpid(), SIGSEGV);
}
END
dying() {       # dying STARTS QUIET: a compiler, $W/dying, whose sanitized programs die STARTS times
    rm -f "$W/starts"
    ${CC:-cc} -c -DDIES="$1" -DQUIET="$2" -DCOUNT="\"$W/starts\"" "$W/start.c" -o "$W/start.o"
    cat >"$W/dying" <<END
#!/bin/sh
for flag; do
    case \$flag in -c | -E | -M | -print*) exec ${CC:-cc} "\$@" ;; $3) object='$W/start.o' ;; esac
done
exec ${CC:-cc} "\$@" \$object
END
    chmod +x "$W/dying"
    sed "s#^compiler() { [^ ]* #compiler() { $W/dying #" "$W/compile" >build/exercises/compile
}
tried() {       # tried STARTS QUIET lacks|used: compile.sh ends, without or with sanitizers
    dying "$1" "$2" '-fsanitize=address*'
    (cd "$here" && CC=$W/dying sh examples/exercises/compile.sh "$BUILD") >"$W/script" || return 1
    if [ "$3" = used ]; then grep -q fsanitize "$W/script"; else lacks fsanitize "$W/script"; fi
}
for quiet in 0 1; do
    dying 3 $quiet -o
    ok "a program that dies in three starts ($quiet)" judged right 0 "passed"
    ok "and no more than once more" eval '[ $(wc -c <"$W/starts") -eq 4 ]'
    ok "a wrong answer too" eval 'dying 1 $quiet -o && judged abort 1 "SIGABRT"'
    dying 1000 $quiet -o
    ok "a program that dies in all starts" judged right 2 "ended before the judge began"
    ok "a sanitizer whose programs die in all starts" tried 1000 $quiet lacks
    ok "in three" tried 3 $quiet $sanitizer
done
compiles

group "answers that do not compile"
refused slip 'doubl z;' "does not compile: 08_softmax.c:[0-9]*:.*: error: .*doubl"
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
! rest || ok "an endless include" judged endless 1 \
    "does not compile\|softmax is missing\|it includes /dev/zero"
{ echo '#include <maths.h>' && cat "$solution"; } >"$W/header.c"
ok "a header that does not exist" judged header 1 "not compile: 08_softmax.c:1:.*maths.h"
awk 'BEGIN { for (i = 0; i < 20000; i++) print "/* This file is larger than one megabyte, all in all */" }' \
    >"$W/long.c"
ok "a file of more than 1 MB" judged long 2 "the file cannot be read: it is larger than 1 MB"
echo 'int a[1 << 28] = { 1 };' | cat - "$solution" >"$W/large.c"
! rest || ok "an enormous array" judged large 1 "the compiler did not end, or needed too much memory"
sed 's/y\[i\] .= sum;/{ int unused; }/' "$solution" >"$W/warned.c"
ok "a warning of the compiler" judged warned 1 "The compiler warns: 08_softmax.c:.*unused"

# ---- the command line ----------------------------------------------------------------------------------
if quick; then
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
ok "which is offered" finds "learns XOR. .make milestone N=1. runs it." "$W/out"
ok "not beside another exercise" eval 'build/learn 08 </dev/null >"$W/out" && lacks milestone "$W/out"'
ok "and listed" sh -c "build/learn --list | grep -q '^  ok 08 softmax'"
ok "--reset" ends_with 0 build/learn --reset 08
ok "restores the start file" cmp examples/exercises/start/08_softmax.c "$own"
ok "--solution" sh -c "build/learn --solution 8 | cmp - $solution"
ok "two hints" eval \
    'build/learn --hint 8 >"$W/first" && build/learn --hint 8 2 >"$W/second" && differ "$W/first" "$W/second"'
ok "no third hint" refuses 2 "there is no such hint" build/learn --hint 8 3
echo damaged >examples/exercises/.progress
ok "a damaged list of what is solved" ends_with 0 build/learn --list

answer bytes 'for (int i = 0; i < 256; i++) putchar(i);' </dev/null
ok "--json of any bytes" ends_with 0 build/learn --json 8 "$W/bytes.c"
ok "is plain ASCII" lacks -a '[^ -~]' "$W/out"
ok "with escapes" grep -Fq '"printed":"\u0000\u0001' "$W/out"
ok "--json of a wrong answer" ends_with 1 build/learn --json 8 "$W/warned.c"
ok "reports that it failed" grep -q '"passed":false,' "$W/out"
ok "and which part" grep -Fq '{"part":"three scores","passed":false}' "$W/out"
if command -v python3 >/dev/null 2>&1; then
    ok "JSON, for python" sh -c "build/learn --json 8 '$W/bytes.c' | python3 -c 'import json, sys
d = json.load(sys.stdin)
assert d[\"exercise\"] == 8 and d[\"passed\"]
assert d[\"printed\"].startswith(bytes(range(256)).decode(errors=\"replace\"))'"
fi

# A signal at a known moment: while the answer runs, as the file that it makes shows.
becomes "echo \$\$ >'$W/pid'; while :; do sleep 1; done"
build/learn 8 "$W/right.c" >"$W/out" 2>&1 &
runner=$!
while [ ! -s "$W/pid" ] && kill -0 $runner; do sleep 0.1; done
kill -TERM $runner
{ wait $runner; status=$?; } 2>/dev/null
ok "SIGTERM ends the runner" test $status -eq 143
ok "and the answer" sh -c "! kill -0 $(cat "$W/pid")"
ok "and leaves nothing" clean
compiles

# ---- the terminal --------------------------------------------------------------------------------------
played() {      # played ROWS COLUMNS: the script on stdin, with keys and what the screen must show
    TERM=xterm "$built/terminal" "$1" "$2" build/learn --seconds 1
}

group "the terminal"
rm -f examples/exercises/.progress "$own"
for value in '' 1; do
    export NO_COLOR="$value"
    ok "NO_COLOR='$value'" played 24 80 <<END
wait the text at its top says what
wait not passed yet
colors $((1 - ${value:-0}))
keys q
status 0
END
done
unset NO_COLOR
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
wait lines 1 to 2 of 6: space and arrows scroll
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
becomes "echo \$\$ >'$W/pid'; while :; do sleep 1; done"
ok "a key while an answer runs" played 24 80 <<END
run rm -f "$W/pid"
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
compiles
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

fi
# ---- a class -------------------------------------------------------------------------------------------
if rest; then
group "a class"
class=$W/class
mkdir -p "$class/ada lovelace/gradus/examples/exercises/start" "$class/bob" "$class/eve/week 1" \
    "$class/nobody" \
    "$class/ada lovelace/gradus/core/ops"
cp "$solution" "$class/ada lovelace/gradus/examples/exercises/08_softmax.c"
cp examples/exercises/exercises.h examples/exercises/start/03_used_twice.c \
    "$class/ada lovelace/gradus/examples/exercises"
cp examples/exercises/start/08_softmax.c "$class/ada lovelace/gradus/examples/exercises/start"
touch "$class/ada lovelace/gradus/core/ops/add.c" "$class/ada lovelace/gradus/core/mine.c"
cp "$W/binary.c" "$class/bob/08_softmax.c"
mkfifo "$class/bob/02_chain_rule.c"
cp "$solution" "$class/bob/softmax.c"
cp "$solution" "$class/bob/old.C"
ln -s "$solution" "$class/bob/03_used_twice.c"
cp "$solution" "$class/eve/08_softmax (1).c"
cp "$W/loop.c" "$class/eve/08_softmax.c"
cp "$W/slip.c" "$class/eve/week 1/08_softmax.c"
cp examples/exercises/solutions/02_chain_rule.c "$class/eve"
cp "$solution" "$class/08_softmax.c"

# A class on a slow machine: times do not matter here, so each answer gets enough seconds.
graded() { build/learn --seconds 2 --grade "$class" "$@" >"$W/out" 2>"$W/err"; }
ok "is graded" graded --only "softmax, 3" --out "$W/feedback"
cut -f 1-4 "$W/out" >"$W/table"
tr '|' '\t' >"$W/expected" <<END
student|exercise|passed|parts
ada lovelace|03_used_twice|no|0 of 5
ada lovelace|08_softmax|yes|11 of 11
ada lovelace|all|1 of 2|11 of 16
bob|03_used_twice|-|0 of 5
bob|08_softmax|no|0 of 11
bob|-|-|-
bob|-|-|-
bob|-|-|-
bob|-|-|-
bob|all|0 of 2|0 of 16
eve|03_used_twice|-|0 of 5
eve|08_softmax|yes|11 of 11
eve|08_softmax|no|0 of 11
eve|08_softmax|no|0 of 11
eve|-|-|-
eve|all|1 of 2|11 of 16
nobody|03_used_twice|-|0 of 5
nobody|08_softmax|-|0 of 11
nobody|all|0 of 2|0 of 16
END
ok "into this table" cmp "$W/expected" "$W/table"
cut -f 5 "$W/out" | grep -v '^not handed in$' | sed '/^$/d' >"$W/findings"
cat >"$W/expected" <<END
finding
dv: FINDING
the file is not C source: it contains zero bytes
02_chain_rule.c: not judged: it is not a file
03_used_twice.c: not judged: symbolic links are not followed
old.C: not judged: no exercise has this name
softmax.c: not judged: no exercise has this name: is it 08_softmax.c?
08_softmax (1).c: it should be called 08_softmax.c
08_softmax.c: it did not end within 2 seconds. Usual cause: an endless loop, or work that doubles at each step
week 1/08_softmax.c: it does not compile: 08_softmax.c:LINE
not asked for: 02_chain_rule.c
END
sed 's/^\(dv: \).*[^.:,;?!][.] It.*/\1FINDING/
    s/\(08_softmax[.]c:\)[0-9][0-9]*:.*/\1LINE/' "$W/findings" >"$W/lines"
ok "with these findings" cmp "$W/expected" "$W/lines"
ok "and a file that is no student's" grep -q 'class/08_softmax.c is not judged: it is not in a st' "$W/err"
ok "five cells a row" awk -F '\t' 'NF != 5 { exit 1 }' "$W/out"
cp "$W/out" "$W/again" && cp -R "$W/feedback" "$W/texts"
ok "a second time" graded --only "softmax, 3" --out "$W/feedback"
ok "into the same bytes" cmp "$W/out" "$W/again"
ok "and texts" diff -r "$W/feedback" "$W/texts"
cat >"$W/expected" <<END
eve: 1 of 2 exercises passed, 11 of 16 parts

  --  03_used_twice           not handed in
  ok  08_softmax              11 of 11 parts
END
ok "a student's text" cmp "$W/expected" "$W/feedback/eve.txt"
ok "has the finding" grep -q '^the file is not C source' "$W/feedback/bob.txt"
ok "and what was not judged" \
    grep -q '^  --  softmax.c: not judged: no exercise has this name' "$W/feedback/bob.txt"
ok "nothing about others" lacks "eve\|ada" "$W/feedback/bob.txt"
ok "without --only: what anybody has handed in" graded
ok "is the same for all" sh -c "grep -c '	all	. of 3	' '$W/out' | grep -qx 4"
ok "as JSON" graded --json --only 8
if command -v python3 >/dev/null 2>&1; then
    ok "for python" python3 -c "import json, sys
rows = json.load(open(sys.argv[1]))
eve = [r for r in rows if r['student'] == 'eve' and r['judged']]
assert [(r['passed'], r['parts_passed'], r['parts']) for r in eve] == [(1, 11, 11), (0, 0, 11), (0, 0, 11)]
assert eve[0]['file'] == '08_softmax (1).c' and eve[2]['file'] == 'week 1/08_softmax.c'" "$W/out"
fi
mkdir -p "$W/linked/ada"
cp "$solution" "$W/linked/ada/08.c"
ln -s ada "$W/linked/zoe"
build/learn --grade "$W/linked" --only 8 >"$W/linked.tsv" 2>"$W/err"
ok "a folder that is a link has rows" \
    grep -q '^zoe	-	-	-	.: not judged: symbolic links are not followed$' "$W/linked.tsv"
ok "a number alone suggests its exercise" \
    grep -q '^ada	-	-	-	08.c: not judged: no exercise has this name: is it 08_softmax.c?$' "$W/linked.tsv"
# zoe with dots; a name with an escape sequence; a long one.
named=$W/named
for name in 'zo\303\253' 'up\033[A' 'averylong\303\251\303\240name'; do
    name=$(printf "$name")
    mkdir -p "$named/$name" && cp "$solution" "$named/$name/08_softmax.c"
done
{
    printf 'wait zo\303\253           08_softmax            yes\n'
    printf 'wait up.[A         08_softmax            yes\n'
    printf 'wait averylong\303\251\303\240.. 08_softmax            yes\nstatus 0\n'
} >"$W/script"
ok "names in UTF-8, in columns on a terminal" \
    "$built/terminal" 30 80 build/learn --grade "$named" --only 8 <"$W/script"
ok "as JSON" ends_with 0 build/learn --json --grade "$named" --only 8
ok "in UTF-8" grep -q "$(printf '"student":"zo\303\253"')" "$W/out"
ok "no such exercise" refuses 2 "there is no exercise 'softmix'" \
    build/learn --grade "$class" --only "8 softmix"
ok "--out without --grade" refuses 2 "--out needs --grade" build/learn --out "$W/none" 8
ok "--out that cannot be made" refuses 2 "cannot make the folder" build/learn --grade "$class" --only 8 \
    --out "$W/out/x"
ok "in columns on a terminal" \
    "$built/terminal" 30 80 build/learn --seconds 2 --grade "$class" --only "3 8" <<END
wait student       exercise              passed parts     finding
wait bob           08_softmax            no     0 of 11   the file is not C source..
wait eve           all                   1 of 2 11 of 16
wait nobody        03_used_twice         -      0 of 5    not handed in
status 0
END
ok "no folder" refuses 2 "cannot be read" build/learn --grade "$W/none"
ok "no DIR" refuses 2 "make grade DIR=folder" build/learn --grade ""
ok "no students" refuses 2 "contains no students' folders" build/learn --grade "$class/nobody"
ok "nothing is left" clean

# ---- when the system fails ------------------------------------------------------------------------------
group "when the system fails"
faulty() {      # faulty WISH: a right answer is not judged, a sentence says why, and no files are left
    GRADUS_FAULT=$1 build/faulty --json 8 "$W/right.c" </dev/null >"$W/said" 2>&1
    status=$?
    cat "$W/said"
    [ $status -eq 2 ] && grep -q '"judged":false' "$W/said" && clean
}
if moments "failing calls of the runner"; then
    ln -s "$built/faults/learn" build/faulty
    ok "without a fault" env GRADUS_FAULT="fork 3 EAGAIN" build/faulty 8 "$W/right.c"
    for fault in "fork 1 EAGAIN" "fork 2 EAGAIN" "read 7 EIO ever" "stat 1 EIO" "stat 2 EIO" \
        "mkdir 1 ENOSPC" "rename 1 ENOSPC" "write 1 ENOSPC" "write 2 ENOSPC" "write 3 ENOSPC"; do
        ok "$fault" faulty "$fault"
    done
fi
echo 'echo "cc: fatal error: cannot execute: Resource temporarily unavailable" >&2; exit 1' \
    >build/exercises/compile
ok "a compiler that cannot go on" judged right 2 "could not be compiled: Resource temporarily unavailable"
rm build/exercises/compile
ok "judges that are not built" refuses 2 "is not built: .make learn. builds all" build/learn 8 "$W/right.c"
rmdir build/exercises
ok "without their folder" refuses 2 "is not built: .make learn. builds all" build/learn 8 "$W/right.c"

fi
# ---- a handout -----------------------------------------------------------------------------------------
quick || { finish; exit; }
cd "$here" || exit 1
group "a handout"
out="$W/class room"
ok "is written" ends_with 0 ${MAKE:-make} handout DIR="$out"
ok "without solutions" test ! -e "$out/examples/exercises/solutions" -a ! -e "$out/examples/solutions"
ok "nor the sources of the exercises" test ! -e "$out/examples/exercises/source"
ok "with the start files" diff -r examples/exercises/start "$out/examples/exercises/start"
ok "in which nothing is solved" lacks ', solved\|^//' -r "$out/examples/exercises/start"
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
ok "an empty folder is used" ends_with 0 ${MAKE:-make} handout DIR="$W/empty" HINTS=0
ok "without hints" test -s "$W/empty/Makefile" -a ! -e "$W/empty/examples/exercises/hints"
ok "a folder that cannot be written" ends_with 2 ${MAKE:-make} handout DIR="$W/none/class"
ok "no DIR" ends_with 2 ${MAKE:-make} handout
ok "nothing unfinished is left" holds_no part "$W"
finish
