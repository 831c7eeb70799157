#!/bin/sh
# Tests gradus in another program: the sources in a CMake project, with the lines of core/README.md; in the
# newest C; and the macros of the public headers in C++, except those that op.h lists as C only.
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

# ---- CMake: as sources, and installed ------------------------------------------------------------------
cat >"$W/my.c" <<'END'
#include "layers/layers.h"
int main(void)
{
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_scalar(t, 3);
    gra_backward(t, gra_mul(t, x, x));
    printf("%g\n", gra_grad(x)[0]);
    gra_close(t);
    return 0;
}
END
lines() {       # lines N: the N-th block of CMake in core/README.md
    awk -v block="$1" '/^```cmake/ { n++; on = 1; next } /^```/ { on = 0 } on && n == block' core/README.md
}
project() {     # project NAME N: a folder with my.c and CMakeLists.txt
    mkdir -p "$W/$1" && cp "$W/my.c" "$W/$1" && {
        printf 'cmake_minimum_required(VERSION 3.10)\nproject(my C)\nadd_executable(my my.c)\n'
        lines "$2"
    } >"$W/$1/CMakeLists.txt"
}
built() {       # built NAME: the project builds, and computes d(x x)/dx = 2 x
    CFLAGS="${SANITIZE:-} ${CFLAGS:-}" cmake -S "$W/$1" -B "$W/$1/b" -DCMAKE_C_COMPILER="${CC:-cc}" &&
        cmake --build "$W/$1/b" -j2 && LD_LIBRARY_PATH=$W/root/lib [ "$("$W/$1/b/my")" = 6 ]
}
if command -v cmake >/dev/null; then
    project sources 2
    mkdir "$W/sources/gradus" && cp -R core layers "$W/sources/gradus"
    ok "CMake, the sources" built sources
    if command -v pkg-config >/dev/null; then
        project installed 1
        sed 's,"layers/layers.h",<gradus/layers.h>,' "$W/my.c" >"$W/installed/my.c"
        ok "make install" ends_with 0 ${MAKE:-make} B="$BUILD" PREFIX="$W/root" install
        PKG_CONFIG_PATH=$W/root/lib/pkgconfig
        export PKG_CONFIG_PATH
        ok "CMake, by pkg-config" built installed
    fi
else
    echo "$SCRIPT: left out: there is no cmake"
fi

# ---- the newest C (older ones: compilers.sh; other compilers: port/port.sh) ----------------------------
newest=${CC:-cc}
for cc in clang clang-16 clang-19; do
    command -v $cc >/dev/null && newest=$cc
done
ok "$newest -std=c2x" $newest -std=c2x -fsyntax-only -Wall -Wextra -Wpedantic -Werror -I. core/*/*.c \
    layers/*.c

# ---- C++17 ---------------------------------------------------------------------------------------------
# Every macro of the public headers compiles in C++, except those that op.h lists as C only.
cat >"$W/all.cpp" <<'END'
#include "core/kernel.h"
#include "layers/layers.h"
static void forward(gra_tensor *y, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        y->data[i] = 2 * y->in[0]->data[i];
}
GRA_KERNEL(forward_all, forward, y, y->size, 1)
static void backward(gra_tensor *y, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        y->in[0]->grad[i] += 2 * y->grad[i];
}
GRA_BROADCAST_KERNEL(backward_all, backward, y, 2)
static void move(gra_chunk *s, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        s->p->data[i] -= *(double *)s->arg * s->p->grad[i];
}
GRA_PARAM_KERNEL(move_all, move, 1)
static gra_tensor *twice(gra_tape *t, gra_tensor *x)
{
    static gra_op op;
    op.name = "twice";
    op.forward = forward_all;
    op.backward = backward_all;
    if (gra_bad_inputs(t, "twice", 1, &x))
        return gra_empty(t);
    char shape[GRA_SHAPE_TEXT], text[GRA_TENSOR_TEXT], state[GRA_RNG_TEXT], path[GRA_PATH];
    char args[GRA_ARGS_TEXT];
    gra_node_path(gra_args_text(x, args) ? x : nullptr, path);
    if (x->size > GRA_SERIAL - 1 || x->shape.ndim > GRA_MAX_DIMS || sizeof state < GRA_MAX_ARGS)
        return gra_fail(t, "twice: x is %s, shaped %s", gra_tensor_text(x, text),
                        gra_shape_text(x->shape, shape));
    return gra_run(gra_result_n(t, &op, x->shape, 1, &x));
}
int main()
{
    gra_rng rng;
    gra_manual_seed(&rng, 1);
    gra_tape *t = gra_open(1);
    gra_model *m = gra_model_open(t, &rng);
    gra_param(gra_root(m), "w", gra_init_ones(), GRA_SHAPE(2, 3));
    gra_begin(t, GRA_GRAD, nullptr);
    double lr = 0.5;
    gra_full(t, 1, GRA_SCALAR);
    move_all(m, nullptr, &lr);
    const int ok = gra_item(gra_sum(t, twice(t, gra_ones(t, GRA_SHAPE(2, 3))))) == 12 &&
        GRA_IGNORE_INDEX == -100 &&
                   gra_version() == GRADUS_VERSION && GRA_CHUNKS > 0;
    gra_model_close(m);
    gra_close(t);
    return ok ? 0 : 1;
}
END
for cxx in ${CXX:-c++} clang++; do
    command -v "${cxx%% *}" >/dev/null || continue
    for std in c++11 c++17; do
        ok "$cxx -std=$std: every macro" $cxx -std=$std -Wall -Wextra ${SANITIZE:-} -I. "$W/all.cpp" \
            "$BUILD/libgradus.a" -lm \
            -pthread -o "$W/all"
        ok "... runs" "$W/all"
    done
done
# none was forgotten: every public macro with a value or arguments is above, or in op.h's list of C macros
macros=$(grep -h '^#define GRA' core/gradus.h core/op.h core/kernel.h layers/layers.h layers/gpt.h |
    sed 's/#define \([A-Za-z0-9_]*\).*/\1/' | sort -u)
for name in $macros; do
    case $name in
    GRADUS_H | GRADUS_OP_H | GRADUS_KERNEL_H | GRADUS_LAYERS_H | GRADUS_GPT_H) ;;                    # guards
    # parts of other macros
    GRA_VARIANT* | GRA_TARGET_* | GRA_COUNT | GRA_KEPT | GRA_NEEDS_LIBRARY | GRA_PRINTF) ;;
    GRA_BAD_INPUTS | GRA_SHAPE_OF | GRA_SHAPE_STRING) ok "$name is said to be C's" \
        grep -q "^ \* C++ can call.*\|$name.*are C" core/op.h ;;
    *) ok "$name is tried in C++" grep -q "\b$name\b" "$W/all.cpp" ;;
    esac
done

finish
