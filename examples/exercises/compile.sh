#!/bin/sh
# Writes the script with which answers are compiled: compile.sh BUILD > BUILD/exercises/compile; then
# sh BUILD/exercises/compile ANSWER.c JUDGE.o PROGRAM. It uses the address and undefined sanitizers where the
# compiler has some that work, which is tried here, once.
B=$1
SANITIZER='-fsanitize=address,undefined -fno-sanitize-recover=all'
echo 'int main(void) { return 0; }' >"$B/exercises/empty.c"
works() { ${CC:-cc} $SANITIZER "$B/exercises/empty.c" -o "$B/exercises/empty" && "$B/exercises/empty"; }
works >/dev/null 2>&1 || SANITIZER=
rm -rf "$B/exercises/empty" "$B/exercises/empty.c" "$B/exercises/empty.dSYM"
cat <<END
#!/bin/sh
# Written by examples/exercises/compile.sh: compile ANSWER.c JUDGE.o PROGRAM
LC_ALL=C exec ${CC:-cc} -std=c11 -O1 -g -Wall -Wextra -fno-omit-frame-pointer $SANITIZER \\
    -Werror=implicit-function-declaration -Werror=incompatible-pointer-types \\
    -Werror=int-conversion -Werror=return-type \\
    -D_POSIX_C_SOURCE=200809L -DGRADUS_DOUBLE -Iexamples/exercises "\$1" "\$2" \\
    $B/f64/examples/exercises/judge/judge.o $B/f64/examples/exercises/judge/numbers.o \\
    $B/f64/examples/exercises/judge/slip.o $B/libgradus64.a -pthread -lm -o "\$3"
END
