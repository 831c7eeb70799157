#!/bin/sh
# Writes the script with which answers are compiled: compile.sh BUILD > BUILD/exercises/compile; then
# sh BUILD/exercises/compile NN_NAME.c JUDGE.o PROGRAM. It uses the address and undefined sanitizers where the
# compiler has some that work, which is tried here, once.
#
# An answer shares a process with its judge, so the script limits what it may contain: standard C that
# includes exercises.h and the headers of C, and uses of their functions those that compute, allocate or
# print. Such an answer cannot read, start processes or send signals. A refused answer is told why in a
# sentence after "refused: ", with the exit status 3.
B=$1
CC=${CC:-cc}
tried=$B/exercises/tried
SANITIZER='-fsanitize=address,undefined -fno-sanitize-recover=all'
echo 'int main(void) { return 0; }' >"$tried.c"
works() { $CC $SANITIZER "$@" "$tried.c" -o "$tried" && "$tried"; }
works >/dev/null 2>&1 || SANITIZER=

# The fastest linker that there is: the default one took a third of the time between a save and the finding.
LINKER=
for linker in gold lld; do
    [ "$LINKER" ] || ! works -fuse-ld=$linker >/dev/null 2>&1 || LINKER=-fuse-ld=$linker
done

# Where the compiler looks for the headers of C; the files that it reads for exercises.h, with those of a
# sanitizer.
FOLDERS=$(LC_ALL=C $CC -E -v -x c /dev/null 2>&1 | sed -n '/^#include </,/^End/s/^ \([^ ]*\).*/\1/p')
HEADERS=$(echo '#include "exercises.h"' |
    $CC $SANITIZER -DGRADUS_DOUBLE -Iexamples/exercises -M -MT x -x c - | tr -d '\\\n' | sed 's/^x: //')

# nm belongs to the tools by which the library was built. Some systems put _ before each name. What gradus and
# the judge use of C, an answer must not define.
# GNU's nm reads every plugin that is installed (LLVM's is 100 MB), unless it is told one.
NM=$($CC -print-prog-name=nm)
$CC -c "$tried.c" -o "$tried.o" || exit 1
PLAIN='--plugin /dev/null'
"$NM" $PLAIN -P "$tried.o" 2>&1 | grep -q '^_*main T' || PLAIN=
FIRST=$("$NM" $PLAIN -P "$tried.o" | sed -n 's/main T.*//p')
JUDGE="$B/f64/examples/exercises/judge/judge.o $B/f64/examples/exercises/judge/numbers.o
    $B/f64/examples/exercises/judge/slip.o $B/f64/examples/exercises/judge/answer.o $B/f64/examples/exercises/judge/formula.o $B/f64/examples/exercises/judge/rules.o $B/f64/examples/exercises/judge/search.o"
TAKEN=$("$NM" $PLAIN -P $JUDGE $B/libgradus64.a | sed -n "s/^$FIRST\([^ ]*\) U.*/\1/p" | sort -u)
rm -rf "$tried" "$tried".*

cat <<END
#!/bin/sh
# Written by examples/exercises/compile.sh: compile NN_NAME.c JUDGE.o PROGRAM
LC_ALL=C
export LC_ALL
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
END
cat <<'END'

refuse() {
    printf 'refused: %s' "$1"
    exit 3
}

# ---- its text: no extensions by which it could contain anything ----------------------------------------
found=$(awk '
    { line = line $0 }
    /\\$/ { line = substr(line, 1, length(line) - 1); next }
    line !~ /^[ \t]*#[ \t]*pragma[ \t]+STDC/ {
        gsub(/,[ \t]*##[ \t]*__VA_ARGS__/, "", line)
        word = "(^|[^A-Za-z0-9_])(_*asm_*|__attribute(__)?|_?[Pp]ragma)([^A-Za-z0-9_]|$)"
        if (match(line, word "|##|%:%:|[?][?][=/]")) {
            line = substr(line, RSTART, RLENGTH)
            gsub(/[^A-Za-z_#%:?=\/]/, "", line)
            print line
            exit
        }
    }
    { line = "" }' "$answer")
[ ! "$found" ] || refuse "it contains $found, expected standard C: no assembly, attributes, pragmas, \
trigraphs, or names put together by ##"

compiler -std=c11 -Wall -Wextra -Werror=implicit-function-declaration -Werror=incompatible-pointer-types \
    -Werror=int-conversion -Werror=return-type -D_POSIX_C_SOURCE=200809L -DGRADUS_DOUBLE \
    -Iexamples/exercises -MD -MT x -MF "$program.d" -c "$answer" -o "$program.o" || exit
link || exit

# ---- what it includes, and the names that it uses and defines ------------------------------------------
# An exercise whose prototypes do not mention gradus is to be solved without it.
names='
    cos sin tan acos asin atan atan2 cosh sinh tanh acosh asinh atanh sincos exp exp2 exp10 expm1 log log10
    log1p log2 logb ilogb frexp ldexp modf scalbn scalbln sqrt cbrt hypot pow erf erfc tgamma lgamma ceil
    floor trunc round lround llround rint lrint llrint nearbyint fabs fdim fma fmax fmin fmod remainder remquo
    copysign nan nextafter nexttoward cabs carg cimag creal conj cproj cexp clog cpow csqrt ccos csin ctan
    abs labs llabs div ldiv lldiv rand srand rand_r random srandom drand48 erand48 srand48 qsort bsearch
    malloc calloc realloc aligned_alloc posix_memalign free exit abort time clock difftime
    atoi atol atoll atof tolower toupper bcmp bcopy bzero index rindex
    printf fprintf sprintf snprintf vprintf vfprintf vsprintf vsnprintf puts fputs putchar putc fputc fwrite
    fflush perror setbuf setvbuf stdout stderr __stdoutp __stderrp
    __errno_location __errno ___errno __error __tls_get_addr __emutls_get_address __bzero __exp10
    __sincos_stret __sincosf_stret memset_pattern4 memset_pattern8 memset_pattern16 _GLOBAL_OFFSET_TABLE_'
found=$(names_in "$program.o" "$object" | folders=$folders listed="$answer $headers $names" taken=$taken \
    awk -v first="$first" -v number="${answer##*/}" '
    function fill(set, words,    word, i) {
        for (i = split(words, word, " "); i > 0; i--)
            set[word[i]]
    }
    function may_include(file,    i) {
        for (i = 1; i <= n; i++)
            if (index(file, folder[i] "/") == 1 && !index(substr(file, length(folder[i])), "/../"))
                return 1
        return file in listed
    }
    function may_use(name) {
        if (name ~ /^gra_/)
            return (gradus || name ~ /^gra_compiled_with/) && name !~ /^gra_(file|load|save|write|listing)_?/
        return name in listed || (name ~ /[fl]$/ && substr(name, 1, length(name) - 1) in listed) ||
            name ~ /^((mem|str|stp|is)[a-z]*)$/ ||
            name ~ /^__(asan|ubsan|tsan|gcov|aarch64|aeabi|stack_chk|ctype|assert)_[A-Za-z0-9_]*$/ ||
            name ~ /^__(v?(f|s|sn)?printf|mem[a-z]*|st[rp][a-z]*)_chk$|^__isoc[0-9]*_strto[a-z]*$/ ||
            name ~ /^__(is|fp|sign|fin)[a-z]*$|^__[a-z0-9]*_finite$|^__[a-z]*[hsdtx][fic][234]?$/
    }
    BEGIN {
        n = split(ENVIRON["folders"], folder, " ")
        fill(listed, ENVIRON["listed"])
        fill(taken, ENVIRON["taken"])
        number = substr(number, 1, 2)
        gradus = 1
    }
    FILENAME ~ /[.]d$/ {
        gsub(/^x:|\\$/, "")
        gsub(/\\ /, "?")
        for (i = 1; i <= NF; i++)
            if (!may_include($i) && !included)
                included = $i
        next
    }
    FILENAME ~ /[.]h$/ {
        if (/^\/[*] [0-9][0-9] /)
            here = $2 == number
        gradus = /^\/[*]/ && here ? 0 : gradus || (here && /gra_/)
        for (; match($0, /[A-Za-z0-9_]+[(]/); $0 = substr($0, RSTART + RLENGTH))
            asked[substr($0, RSTART, RLENGTH - 1)]
        next
    }
    /:$/ { files++; next }
    length($2) != 1 || index($1, ".") { next }
    { name = index($1, first) == 1 ? substr($1, length(first) + 1) : $1 }
    files == 2 && $2 == "U" { taken[name] }
    files == 1 && $2 ~ /[Uvw]/ && !may_use(name) && !used { used = name }
    files == 1 && $2 ~ /[A-TV-Z]/ { defined[++count] = name }
    END {
        for (i = 1; i <= count && !bad; i++) {
            name = defined[i]
            if (!(name in asked) && (name in taken || name ~ /^_/) && name !~ /asan_globals_registered$/)
                bad = name
        }
        if (!count)
            print "nm cannot read it"
        else if (included)
            print "it includes " included ", expected only exercises.h and the headers of C: " \
                "write it yourself"
        else if (bad)
            print "it defines " bad ", a name that gradus or the judge uses: choose another, or make it " \
                "static"
        else if (used ~ /^gra_/ && !gradus)
            print "it uses " used ": this exercise is to be solved in plain C, without gradus"
        else if (used)
            print "it uses " used ", expected only gradus, and functions of C that compute, allocate or print"
    }' "$program.d" examples/exercises/exercises.h -)
[ ! "$found" ] || refuse "$found"
END
