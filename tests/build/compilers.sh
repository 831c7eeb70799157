#!/bin/sh
# Tests that the sources compile with one command and no flags, that a program with another precision than the
# library's does not link, that make does not compile calls that would crash, and that random numbers do not
# depend on flags. It uses $CC, and gcc and clang if they are installed.
. tests/lib/ok.sh

which_one() {   # which_one COMPILER: which compiler and version it is, whatever its name
    echo __clang__ __clang_major__ __GNUC__ __GNUC_MINOR__ | $1 -E -P - 2>"$W/which.err"
}

# Compiles with the flags of the library's build: the compiler's, and those of sanitizers.
own="${CC:-cc} ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-}"
compilers=${CC:-cc}
for cc in gcc clang; do
    for known in $compilers; do
        [ "$(which_one $cc)" = "$(which_one $known)" ] && continue 2
    done
    command -v $cc >/dev/null && compilers="$compilers $cc"
done

# ---- precision ------------------------------------------------------------------------------------
group "a mismatch of precision does not link"

cat >"$W/nothing.c" <<'END'
#include "core/op.h"
int main(void) { return 0; }
END
cat >"$W/numbers.c" <<'END'
#include "core/gradus.h"
int helper(void);
int main(void)
{
    gra_rng rng;
    gra_real x[4];
    gra_manual_seed(&rng, 1);
    gra_randn(&rng, x, 4);
    return helper();
}
END
cat >"$W/helper.c" <<'END'
#include "core/gradus.h"
int helper(void);
int helper(void) { return 0; }
END
cat >"$W/other.cpp" <<'END'
#include "layers/layers.h"
int main() { return 0; }
END

float=gra_compiled_without_GRADUS_DOUBLE_needs_libgradus
double=gra_compiled_with_GRADUS_DOUBLE_needs_libgradus64
strict="-Wall -Wextra -Wpedantic -Wunused -Wunused-const-variable -Wshadow -Werror -I."

no_link() {     # no_link SYMBOL FILES AND FLAGS ...: the linker reports that symbol as undefined
    expected=$1
    shift
    if "$@" -lm -pthread -o "$W/no" >"$W/link" 2>&1; then
        echo "it links: $*"
        return 1
    fi
    cat "$W/link"
    grep -q "$expected" "$W/link"
}

# Can the linker drop unreferenced functions, and can the compiler mark functions to keep?
gc="-ffunction-sections -fdata-sections -Wl,--gc-sections"
echo 'static int kept __attribute__((used, retain)); int main(void) { return 0; }' >"$W/gc.c"
$own -Werror $gc "$W/gc.c" -o "$W/gc" 2>"$W/gc.err" || gc=

for cc in $compilers; do
    for flags in -O0 "-O3 $gc"; do
        compile="$cc ${flags% -Wl*} $strict -c"
        link="$own ${flags##*sections }"
        for name in nothing helper numbers; do
            ok "$cc $flags: $name, float" $compile "$W/$name.c" -o "$W/${name}32.o"
            ok "$cc $flags: $name, double" $compile -DGRADUS_DOUBLE "$W/$name.c" -o "$W/${name}64.o"
        done
        while read -r first second library expected; do
            what="$cc $flags: $first and $second with $library"
            set -- $link "$W/$first.o" "$W/$second.o" "$BUILD/$library.a"
            if [ "$expected" = links ]; then
                ok "$what" "$@" -lm -pthread -o "$W/yes"
                ok "... and it runs" "$W/yes"
            else
                ok "$what" no_link "$expected" "$@"
            fi
        done <<END
numbers32 helper32 libgradus links
numbers64 helper64 libgradus64 links
numbers32 helper32 libgradus64 $float
numbers64 helper64 libgradus $double
numbers64 helper32 libgradus64 $float
numbers32 helper64 libgradus $double
nothing32 helper32 libgradus64 $float
nothing64 helper64 libgradus $double
END
    done
done
for cc in ${CXX:-c++} clang++; do
    command -v "$cc" >/dev/null || continue
    for flags in -O0 "-O3 -std=c++17"; do
        ok "$cc $flags: with libgradus" $cc $flags $strict ${SANITIZE:-} "$W/other.cpp" "$BUILD/libgradus.a" \
            -lm \
            -pthread -o "$W/yes"
        ok "$cc $flags: with libgradus64" no_link $float $cc $flags $strict "$W/other.cpp" \
            "$BUILD/libgradus64.a"
        ok "$cc $flags: double with libgradus" no_link $double \
            $cc $flags $strict -DGRADUS_DOUBLE "$W/other.cpp" "$BUILD/libgradus.a"
    done
done

# ---- the gradient check ------------------------------------------------------------------------------
group "gra_check is for double precision"

cat >"$W/check.c" <<'END'
#include "core/gradus.h"
static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg) { (void)arg; return gra_exp(t, in[0]); }
int main(void)
{
    const gra_check_in in = { .name = "x", .shape = GRA_SHAPE(3) };
    return gra_check(gra_open(1), &(gra_check_options){ .nin = 1, .in = &in, .f = f }, NULL);
}
END
# the compiler refuses it with a sentence; a compiler without the attribute leaves this to the linker
no_float_check() {
    "$@" -o "$W/no" 2>"$W/link" && return 1
    cat "$W/link"
    grep -q "compile with -DGRADUS_DOUBLE, link libgradus64\|gra_check" "$W/link"
}
for cc in $compilers; do
    ok "$cc: double" $cc -I. -DGRADUS_DOUBLE "$W/check.c" "$BUILD/libgradus64.a" -lm -pthread -o "$W/yes"
    ok "... and it passes" "$W/yes"
    ok "$cc: float" no_float_check $cc -I. "$W/check.c" "$BUILD/libgradus.a" -lm -pthread
done
ok "${CC:-cc}: the sentence" grep -q "compile with -DGRADUS_DOUBLE, link libgradus64" "$W/link"

# ---- names --------------------------------------------------------------------------------------------
group "headers define no macro but GRA... and gra_..."

macros() {      # macros < SOURCE: the names of all macros that SOURCE leaves defined
    $own -I. -E -dM -x c - | sed 's/^#define \([A-Za-z0-9_]*\).*/\1/' | sort -u
}
public="core/gradus.h core/op.h core/kernel.h layers/layers.h layers/gpt.h core/kern/vmath.h"
cat core/*.h layers/*.h core/kern/vmath.h | grep '^#include <' | macros >"$W/macros.c"   # the C library's own
for header in $public; do
    printf '#include "core/op.h"\n#include "%s"\n' "$header" | macros | comm -13 "$W/macros.c" - >"$W/macros"
    ok "$header has macros" grep -q '^GRA_' "$W/macros"
    ok "$header: they begin with GRA or gra_" awk '!/^(GRA|gra_)/ { print; bad = 1 } END { exit bad }' \
        "$W/macros"
done

# ---- with make ------------------------------------------------------------------------------------
group "make compiles no call that would crash"

cat >"$W/right.c" <<'END'
#include "core/kernel.h"
gra_tensor *my_op(gra_tape *t, gra_tensor *x);
static void forward(gra_tensor *y, size_t from, size_t to)
{
    memcpy(y->data + from, y->in[0]->data + from, to - from);
}
GRA_KERNEL(forward_all, forward, y, y->size, 1)
gra_tensor *my_op(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "my_op", .forward = forward_all };
    return gra_run(gra_result_like(t, &op, x));
}
END
sed '$s/$/ gra_tensor *use(gra_tape *t); gra_tensor *use(gra_tape *t) { return my_opp(t); }/' \
    "$W/right.c" >"$W/undeclared.c"
sed 's/ = forward_all/ = forward/' "$W/right.c" >"$W/chunk.c"
sed 's/, x));/, x->size));/' "$W/right.c" >"$W/number.c"

as_make_does() {        # as_make_does COMPILER NAME: compiles $W/NAME.c as make compiles a file of core/
    (unset MAKEFLAGS MFLAGS MAKELEVEL
     ${MAKE:-make} -n V=1 CC="$1" B="$W/made" OPT=-O0 WERROR= "$W/made/f32/core/base/shape.o") >"$W/make" ||
         return 2
    sed -n "s,-MMD.* core/base/shape.c -o [^ ]*,-fsyntax-only $W/$2.c,p" "$W/make" >"$W/make.line"
    grep -q fsyntax-only "$W/make.line" || return 2
    sh "$W/make.line" 2>"$W/make.err"
}

refused_by() {          # refused_by COMPILER NAME WARNING: COMPILER reports WARNING as an error
    as_make_does "$1" "$2"
    [ $? = 1 ] && grep -q "error: .*\[-Werror.*$3\]" "$W/make.err" && return
    cat "$W/make.err"
    return 1
}

for cc in $compilers; do
    ok "$cc: correct code" as_make_does "$cc" right
    ok "$cc: a function without a declaration" refused_by "$cc" undeclared implicit-function-declaration
    ok "$cc: .forward = forward for forward_all" refused_by "$cc" chunk 'incompatible-.*pointer-types'
    ok "$cc: a number for a tensor" refused_by "$cc" number int-conversion
done

# ---- without make -----------------------------------------------------------------------------------
group "one command without flags compiles it"

cat >"$W/my.c" <<'END'
#include "layers/layers.h"
int main(void)
{
    gra_rng rng;
    gra_manual_seed(&rng, 123);
    gra_tape *t = gra_open(2);
    gra_model *model = gra_model_open(t, &rng);
    struct gra_linear l;
    gra_linear_init(&l, gra_root(model), 64, 96, true);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *w = l.weight, *y = gra_sum(t, gra_exp(t, gra_matmul_nt(t, w, w)));
    gra_backward(t, y);
    printf("%s: %.5g, gradient %.4g\n", gra_isa_name(t), gra_item(y), (double)gra_grad(w)[0]);
    gra_close(t);
    gra_model_close(model);
    return 0;
}
END
ok "by make's library" $own -I. "$W/my.c" "$BUILD/libgradus.a" -lm -pthread -o "$W/my"

set -- '' -std=c11                      # the first compiler takes the sources as GNU C, the next as ISO C
for cc in $compilers; do
    ok "$cc $1 my.c core/*/*.c layers/*.c" $cc $1 -I. "$W/my.c" core/*/*.c layers/*.c \
        -lm -pthread -o "$W/mine"
    for isa in '' base avx2 avx512; do
        GRADUS_ISA=$isa "$W/my" >"$W/my.expected" 2>"$W/my.err" || continue       # this processor lacks it
        GRADUS_ISA=$isa "$W/mine" >"$W/mine.out" 2>&1
        ok "... which computes the same, ${isa:-the best instructions}" diff "$W/my.expected" "$W/mine.out"
    done
    set -- "$2" "$1"
done
ok "${CC:-cc} -std=c11" ${CC:-cc} -std=c11 -fsyntax-only -I. core/*/*.c layers/*.c

# ---- random bits ----------------------------------------------------------------------------------
group "no flag changes the bits of random numbers"

cat >"$W/bits.c" <<'END'
#include "core/gradus.h"
#include <string.h>
static void tell(const char *what, const void *values, size_t bytes)
{
    unsigned long long hash = 0xcbf29ce484222325u;
    for (const unsigned char *c = values; bytes > 0; c++, bytes--)
        hash = (hash ^ *c) * 0x100000001b3u;
    printf("%s %016llx\n", what, hash);
}
int main(void)
{
    enum { N = 5000 };
    static gra_real x[N];
    static double y[N];
    gra_rng g;
    gra_manual_seed(&g, 123);
    gra_uniform(&g, x, N, -0.3, 0.1), tell("uniform", x, sizeof x);
    gra_normal(&g, x, N, 0.3, 0.02), tell("normals in blocks", x, sizeof x);
    for (int i = 0; i < N; i += 5)
        gra_normal(&g, x + i, 5, 0.3, 0.02);
    tell("single normals", x, sizeof x);
    gra_rand_f64(&g, y, N), tell("uniform, float64", y, sizeof y);
    gra_randn_f64(&g, y, N), tell("normals, float64", y, sizeof y);
    gra_numpy_random(&g, y, N), tell("NumPy's uniform", y, sizeof y);
    gra_numpy_normal(&g, y, N, 0.3, 0.7), tell("NumPy's normals", y, sizeof y);
    gra_python_gauss(&g, x, N, 0.3, 0.7), tell("Python's normals", x, sizeof x);
    return 0;
}
END
ok "by make's library" $own -I. "$W/bits.c" "$BUILD/libgradus.a" -lm -pthread -o "$W/bits"
"$W/bits" >"$W/bits.expected"
fma=
grep -qw fma /proc/cpuinfo 2>"$W/cpuinfo.err" && fma=-mfma
for cc in $compilers; do
    for flags in '-O0 -std=c11' '-O3 -ffp-contract=off' "-O3 -ffp-contract=fast $fma" \
        "-O2 -std=gnu17 $fma"; do
        ok "$cc $flags compiles" $cc $flags -I. "$W/bits.c" core/random/*.c core/base/*.c -lm \
            -o "$W/bits"
        "$W/bits" >"$W/bits.out"
        ok "... and draws the same" diff "$W/bits.expected" "$W/bits.out"
    done
done

finish
