# answer.sh: what the script written by ../compile.sh does for each answer, with the variables and functions
# that the script has set. Messages of the compiler and the linker go to stderr.
LC_ALL=C CCACHE_DISABLE=1        # (a cache may list the files that were read under other paths)
export LC_ALL CCACHE_DISABLE

refuse() {
    printf 'refused: %s\n' "$1"
    exit 3
}

# ---- its text: no extensions that would let it contain anything -----------------------------------------
# Lines that end in \ are joined first.
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

# ---- the compiler and the linker ------------------------------------------------------------------------
compiler -std=c11 -Wall -Wextra -Werror=implicit-function-declaration -Werror=incompatible-pointer-types \
    -Werror=int-conversion -Werror=return-type -D_POSIX_C_SOURCE=200809L -DGRADUS_DOUBLE \
    -Iexamples/exercises -MD -MT x -MF "$program.d" -c "$answer" -o "$program.o" || exit
link 2>"$program.link"
linked=$?

# ---- what it includes, and the names that it uses and defines ------------------------------------------
# The compiler has written the files that it read to $program.d; nm lists the names of two objects.
found=$(names_in "$program.o" "$object" | folders=$folders headers="$answer $headers" taken=$taken \
    awk -v first="$first" -v number="${answer##*/}" -v linked=$linked \
    -f examples/exercises/compile/names.awk "$program.d" examples/exercises/exercises.h -)
[ ! "$found" ] || refuse "$found"
cat "$program.link" >&2
exit $linked
