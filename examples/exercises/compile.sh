#!/bin/sh
# Writes the script with which answers are compiled: compile.sh BUILD > BUILD/exercises/compile; then
# sh BUILD/exercises/compile NN_NAME.c JUDGE.o PROGRAM. Three pieces share the work:
#
#   compile.sh           here: finds out once what this system has, and writes it as a list of settings,
#                        whose last line reads compile/answer.sh
#   compile/answer.sh    runs for each answer: checks its text, compiles and links it
#   compile/names.awk    checks the names that it uses; the list of allowed names is in it
#
# Why this is needed: an answer shares a process with its judge, so what it may contain is limited to standard
# C that includes exercises.h and the headers of C, and uses only their functions that compute, allocate or
# print. Such an answer cannot read, start processes or send signals. If an answer is refused, a sentence
# after "refused: " says why, and the exit status is 3.
B=$1
CC=${CC:-cc}
tried=$B/exercises/tried
SANITIZER='-fsanitize=address,undefined -fno-sanitize-recover=all'
echo 'int main(void) { return 0; }' >"$tried.c"

# works FLAGS: a program compiled with these flags runs. Where the kernel spreads addresses more widely than a
# sanitizer expects, many starts end before main, or print without end: one start of 20 must succeed, within
# limits.
works() {
    $CC $SANITIZER "$@" "$tried.c" -o "$tried" || return 1
    for start in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        (ulimit -t 5 && ulimit -f 100 && exec "$tried" >"$tried.out" 2>&1) && return 0
    done
    return 1
}
works >/dev/null 2>&1 || SANITIZER=

# The fastest linker here: the default linker took a third of the time between a save and the finding.
LINKER=
for linker in gold lld; do
    [ "$LINKER" ] || ! works -fuse-ld=$linker >/dev/null 2>&1 || LINKER=-fuse-ld=$linker
done

# The folders where the compiler looks for the headers of C; the files that it reads for exercises.h, with the
# headers of a sanitizer.
FOLDERS=$(LC_ALL=C $CC -E -v -x c /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ \([^ ]*\).*/\1/p')
HEADERS=$(echo '#include "exercises.h"' |
    $CC $SANITIZER -DGRADUS_DOUBLE -Iexamples/exercises -M -MT x -x c - | tr -d '\\\n' | sed 's/^x: //')

# nm belongs to the tools that built the library. Some systems put _ before each name. An answer must not
# define a name that gradus or the judge defines, or uses from C. GNU's nm reads every plugin that is
# installed (LLVM's is 100 MB), unless it is given one.
NM=$($CC -print-prog-name=nm)
$CC -c "$tried.c" -o "$tried.o" || exit 1
PLAIN='--plugin /dev/null'
"$NM" $PLAIN -P "$tried.o" 2>&1 | grep -q '^_*main T' || PLAIN=
FIRST=$("$NM" $PLAIN -P "$tried.o" | sed -n 's/main T.*//p')
JUDGE=
for part in judge comparison answer formula sentences rules search; do
    JUDGE="$JUDGE $B/f64/examples/exercises/judge/$part.o"
done
TAKEN=$("$NM" $PLAIN -P $JUDGE $B/libgradus64.a | sed -n "s/^$FIRST\([^ ]*\) [A-Z].*/\1/p" | sort -u)
rm -rf "$tried" "$tried".*

cat <<END
#!/bin/sh
# Written by examples/exercises/compile.sh: compile NN_NAME.c JUDGE.o PROGRAM
answer=\$1
object=\$2
program=\$3
folders='$(echo $FOLDERS)'
headers='$(echo $HEADERS)'
compiler() { $CC -g1 -O1 -fno-lto -fno-omit-frame-pointer $SANITIZER "\$@"; }
names_in() { "$NM" $PLAIN -P "\$@"; }
first='$FIRST'
taken='$(echo $TAKEN)'
link() {
    compiler $LINKER "\$object" $(echo $JUDGE) \\
        "\$program.o" $B/libgradus64.a -pthread -lm -o "\$program"
}
. examples/exercises/compile/answer.sh
END
