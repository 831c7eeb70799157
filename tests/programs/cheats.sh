#!/bin/sh
# Tests answers that try to pass without solving anything, or to disturb the runner: each is refused for a
# specific reason. In a class (the part `rest`) they change nothing for other students. (learn.sh tests
# answers that merely go wrong.)
# shellcheck source=tests/lib/ok.sh
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL
solutions=$PWD/examples/exercises/solutions
class=$W/class
mkdir "$class"

# refused NAME WORDS [STATEMENTS]: an answer to exercise 18 with the text of stdin is refused for this reason.
# Its attention_backward has only these statements; with "none" it does not define this function.
refused() {
    mkdir "$class/$1"
    {
        printf '#include "exercises.h"\n#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n'
        cat
        [ "${3:-}" = none ] || cat <<END
void attention_backward(const double *q, const double *k, const double *v, const double *a, const double *dy,
                        double *dq, double *dk, double *dv, int n, int m, int d, int e)
{
    (void)q, (void)k, (void)v, (void)a, (void)dy, (void)dq, (void)dk, (void)dv, (void)n, (void)m, (void)d;
    (void)e;
    ${3:-}
}
END
    } >"$class/$1/18_attention_backward.c"
    ! quick || ok "$1" judged "$class/$1/18_attention_backward.c" "$2"
}

judged() {
    "$BUILD/learn" --seconds 2 18 "$1" </dev/null >"$W/said" 2>&1
    status=$?
    cat "$W/said"
    [ $status -eq 1 ] && finds "$2" "$W/said"
}

group "includes"
for name in "$solutions/18_attention_backward.c" solutions/18_attention_backward.c \
    ../exercises/solutions/18_attention_backward.c \
    /proc/self/cwd/examples/exercises/solutions/18_attention_backward.c; do
    case $name in /proc/*) [ -d /proc/self/cwd ] || continue ;; esac
    refused "$(echo "$name" | tr / _)" \
        "it includes .*solutions/18_attention" none <<END
#include "$name"
END
done
refused "a solution where it is not" "it does not compile: .*/solutions/18_attention_backward.c" none <<END
#include "../solutions/18_attention_backward.c"
END
refused "a solution in angle brackets" "it includes .*solutions/18" none <<END
#include <$solutions/18_attention_backward.c>
END
refused "as if it were a header of C" "it includes .*solutions/18" none <<END
#include </usr/include/../..$solutions/18_attention_backward.c>
END
refused "by a macro" "it includes .*solutions/18" none <<END
#define IT(x) <x>
#define SOLUTION $solutions/18_attention_backward.c
#include IT(SOLUTION)
END
refused "in a header that counts as the system's" "it contains #pragma" <<END
#pragma GCC system_header
#include "$solutions/18_attention_backward.c"
END
refused "the judge" "it includes .*judge/answer.h" <<END
#include "judge/answer.h"
END

group "taking the judge's place"
# The secret word is in memory, and writing it is all that a record needs.
refused "scanning memory" "it uses _exit\|it uses write" '
    cheat();' <<'END'
#include <unistd.h>
static char mine[16];
static void cheat(void)
{
    char *volatile here = mine;
    for (char *at = here - 4000; at < here + 4000; at++)
        if (write(3, at, 16) < 0 || write(3, "d", 2) < 0)
            _exit(1);
    _exit(0);
}
END
# In glibc, the descriptor of a stream can be changed: printed text goes to the records.
refused "printing records" "it ended the process" '
    char junk[4096];
    volatile char *at = junk;
    #ifdef __GLIBC__
    stdout->_fileno = 3;
    #endif
    for (int i = 0; i < 4080; i++, at++)
        fwrite((char *)at, 1, 16, stdout), fwrite("d", 1, 2, stdout);
    exit(0);' </dev/null
refused "before main" "it contains __attribute__" <<'END'
__attribute__((constructor)) static void first(void) { exit(0); }
END
refused "by a pragma" "it contains _Pragma" <<'END'
static int first;
_Pragma("weak first")
END
refused "main" "it defines main, but the judge has its own" <<'END'
int main(void) { return 0; }
END
refused "calling main again" "it uses main" <<'END'
int main(void);
int (*again)(void) = main;
END
refused "the judge's functions" "it uses judge_part" <<'END'
void judge_part(const char *format, ...);
void (*part)(const char *format, ...) = judge_part;
END
refused "redefining them" "it defines judge_wrong, a name that gradus or the judge uses" <<'END'
void judge_wrong(const char *format, ...) { (void)format; }
END
for define in 'ssize_t read(int a, void *b, size_t n)' 'ssize_t write(int a, const void *b, size_t n)' \
    'void *memcpy(void *a, const void *b, size_t n)' 'int fflush(FILE *a)'; do
    name=${define%%"("*}
    name=${name##*[ *]}
    refused "defining $name" "it defines $name, a name that gradus or the judge uses" <<END
#include <sys/types.h>
$define { return 0; }
END
done
refused "the options of a sanitizer" "it defines __asan_default_options" <<'END'
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "halt_on_error=0"; }
END
refused "a place of its own" "it contains __attribute__" <<'END'
#define PLACE __attribute__
PLACE((section(".preinit_array"))) static void (*const first)(void);
END

group "reaching the system"
refused "assembly" "it contains __asm__" <<'END'
static void system_call(void) { __asm__ volatile("nop"); }
END
refused "assembly in two pieces" "it contains ##" <<'END'
#define PASTE(a, b) a ## b
static void system_call(void) { PASTE(__as, m__) volatile("nop"); }
END
refused "assembly in two lines" "it contains __asm" <<'END'
static void system_call(void) { __a\
sm volatile("nop"); }
END
refused "assembly by a trigraph" "it contains ??/" <<'END'
static void system_call(void) { __a??/
sm volatile("nop"); }
END
for name in kill ptrace fork raise signal longjmp syscall dlsym mmap pthread_create read dup2 _exit; do
    refused "$name" "it uses [_a-z0-9]*$name" "if (!use) exit(1);" <<END
long $name();
static long (*volatile use)() = $name;
END
done
for name in fopen getenv system dprintf scanf getchar freopen atexit; do
    refused "$name" "it uses [_a-z0-9]*$name" "if (!use) exit(1);" <<END
static void (*volatile use)(void) = (void (*)(void))$name;
END
done
refused "files by gradus" "it uses gra_file_open" 'if (!gra_file_open("/proc/self/mem")) exit(1);' </dev/null
refused "what is typed" "it uses stdin" 'if (stdin) exit(1);' </dev/null

group "not solving it"
refused "gradus' own backward" "it uses gra_.*this exercise is to be solved in plain C, without gradus" '
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_input(t, q, GRA_SHAPE(n, d));
    gra_backward(t, gra_sum(t, x));
    for (int i = 0; i < n * d; i++)
    dq[i] += gra_grad(x)[i];' <<'END'
END
refused "printing that it passed" "it ended the process" '
    puts("Exercise 18: passed.");
    exit(0);' <<'END'
#include <stdio.h>
#include <stdlib.h>
END

# ---- right answers stay right --------------------------------------------------------------------------
passes() {      # passes WHAT: the solution passes with this text in front of it
    { cat && cat "$solutions/18_attention_backward.c"; } >"$W/18_attention_backward.c"
    ! quick || ok "$1" "$BUILD/learn" 18 "$W/18_attention_backward.c"
}
group "right answers"
passes "that print, allocate and compare" <<'END'
#include <assert.h>
#include <complex.h>
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <math.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define LOG(format, ...) fprintf(stderr, format "\n", ##__VA_ARGS__)
#pragma STDC FP_CONTRACT OFF
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void helper(int *x, int n);
void helper(int *x, int n)
{
    char text[100];
    int *copy = malloc(sizeof *copy * (size_t)n);
    assert(copy != NULL);
    if (!copy)
        perror("malloc"), exit(1);
    memcpy(copy, x, sizeof *copy * (size_t)n);
    qsort(copy, (size_t)n, sizeof *copy, compare);
    snprintf(text, sizeof text, "%d %g %g %d", copy[0], creal(csqrt(-1)), fmaxf(1, 2), isdigit('1'));
    errno = isnan(hypot(copy[0], 1)) || !isfinite(tgamma(2)) || signbit(lgamma(2)) || (int)strlen(text);
    LOG("%s %s %g %d", text, strerror(errno), strtod("1", NULL), rand() % 7);
    LOG("done %g", difftime(time(NULL), clock()));
    free(copy);
}
END
passes "with names of C that nobody uses" <<'END'
double gamma_of(double x);
double gamma_of(double x) { return 2 * x; }
double tgamma(double x);
END

# ---- a class -------------------------------------------------------------------------------------------
# Before and after each of these cheats comes a student who has solved the exercise.
rest || { finish; exit; }
group "a class with all of these"
for name in "$class"/*; do
    mkdir "${name}_next"
    cp "$solutions/18_attention_backward.c" "${name}_next"
done
mkdir "$class/link"
ln -s "$solutions/18_attention_backward.c" "$class/link"
ok "is graded" ends_with 0 "$BUILD/learn" --seconds 2 --grade "$class" --only 18
ok "each cheat is refused, each right answer passes" awk -F '\t' '
    $2 ~ /^18/ && ($1 ~ /_next$/) != ($3 == "yes") { print; bad = 1 }
    $2 ~ /^18/ { n++ }
    END { exit bad || n < 80 }' "$W/out"
ok "a link is not followed" grep -q '^link	18_attention_backward	-	0 of 8	not handed in$' "$W/out"
ok "nothing is left" holds_no answer "$BUILD/exercises"
finish
