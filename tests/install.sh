#!/bin/sh
# make install in an empty root: programs compile and run by pkg-config, with the static and the shared library, in both
# precisions, in C and C++; the shared libraries export public names alone; uninstall leaves nothing.
. tests/lib/ok.sh

root=$W/root
run_make() { ${MAKE:-make} B="$BUILD" PREFIX=/opt/g DESTDIR="$root" "$@" >"$W/make.log" 2>&1 || { tail "$W/make.log"; return 1; }; }
ok "make install" run_make install
lib=$root/opt/g/lib

cat >"$W/first.c" <<'END'
#include <gradus/gradus.h>
#include <gradus/layers.h>
#include <gradus/op.h>
#include <stdio.h>
int main(void)
{
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_scalar(t, 2), *b = gra_scalar(t, -3);
    gra_backward(t, gra_mul(t, a, b));
    printf("%g %g %zu %d\n", gra_grad(a)[0], gra_grad(b)[0], sizeof(gra_real), gra_version() == GRADUS_VERSION);
    gra_close(t);
    return 0;
}
END
cp "$W/first.c" "$W/first.cpp"

prints() {      # prints LINE COMMAND ...
    wanted=$1
    shift
    "$@" >"$W/out" 2>&1
    cat "$W/out"
    [ "$(cat "$W/out")" = "$wanted" ]
}

compiled() {    # compiled COMPILER FILE FLAGS ...
    "$@" ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-} -o "$W/first"
}

# ---- by pkg-config, which is told that the root is elsewhere --------------------------------------------------
PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
if command -v pkg-config >/dev/null; then
    for name in gradus gradus64; do
        [ $name = gradus ] && line="-3 2 4 1" || line="-3 2 8 1"
        flags=$(pkg-config --cflags $name) libs=$(pkg-config --libs $name) private=$(pkg-config --static --libs $name)
        for lang in c cpp; do
            [ $lang = c ] && cc="${CC:-cc} -std=c11 -Wall -Wextra -Werror" || cc="${CXX:-c++} -std=c++17 -Wall -Wextra -Werror"
            command -v "${cc%% *}" >/dev/null || continue
            ok "$name, shared, .$lang" compiled $cc "$W/first.$lang" $flags $libs
            ok "... runs" prints "$line" env LD_LIBRARY_PATH="$lib" DYLD_LIBRARY_PATH="$lib" "$W/first"
            # the archive by its name: -lgradus takes the shared library where both are
            ok "$name, static, .$lang" compiled $cc "$W/first.$lang" $flags "$lib/lib$name.a" ${private##*-l"$name"}
            ok "... runs" prints "$line" "$W/first"
        done
    done
    ok "the version is the header's" test "$(pkg-config --modversion gradus)" = "$(awk '
        $2 == "GRADUS_VERSION" { print int($3 / 10000) "." int($3 / 100) % 100 "." $3 % 100 }' core/gradus.h)"
else
    echo "$SCRIPT: left out: there is no pkg-config"
fi

# ---- what the shared libraries export --------------------------------------------------------------------------
public() {      # public LIBRARY: every name begins with gra_ and stands in a public header
    nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' | grep -v '^_\|^asan\|^ubsan' | sort -u >"$W/names"
    grep -qx gra_open "$W/names" || return 1
    cat core/gradus.h core/op.h layers/layers.h | grep -o 'gra_[A-Za-z0-9_]*' | sort -u >"$W/headers"
    comm -23 "$W/names" "$W/headers" >"$W/internal"
    cat "$W/internal"
    [ ! -s "$W/internal" ]
}
if ls "$lib"/libgradus.so >/dev/null 2>&1; then
    ok "libgradus.so exports public names" public "$lib/libgradus.so"
    ok "libgradus64.so exports public names" public "$lib/libgradus64.so"
    ok "the soname says which versions agree" grep -q "libgradus.so.0.1" "$lib/libgradus.so"
fi

# ---- programs and manual pages -----------------------------------------------------------------------------------
ok "gradus-train speaks under its name" ends_with 2 "$root/opt/g/bin/gradus-train" --nonsense 1
ok "... with the sentence" grep -q "^gradus-train: '--nonsense' is not a flag" "$W/err"
for name in train generate look; do
    page=$root/opt/g/share/man/man1/gradus-$name.1
    ok "gradus-$name: the manual page has every flag" test "$(grep -c '^\.B \\-\\-' "$page")" -eq \
        "$("$BUILD/$name" --help | grep -c '^  --')"
done

# ---- uninstall ---------------------------------------------------------------------------------------------------
echo kept >"$lib/other.so"
ok "make uninstall" run_make uninstall
ok "leaves what is not ours, alone" test "$(find "$root" -type f)" = "$lib/other.so"
ok "make install once more" run_make install
rm "$lib/other.so"
ok "make uninstall" run_make uninstall
ok "nothing is left" test ! -e "$root"

finish
