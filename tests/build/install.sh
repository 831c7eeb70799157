#!/bin/sh
# Tests make install in an empty root: programs compile with pkg-config and run, with the static and the
# shared library, in both precisions, in C and C++; the libraries export what the public headers declare;
# uninstall removes everything.
. tests/lib/ok.sh

root=$W/root
run_make() {
    ${MAKE:-make} B="$BUILD" PREFIX=/opt/g DESTDIR="$root" "$@" >"$W/make.log" 2>&1 ||
        { tail "$W/make.log"; return 1; }
}
ok "make install" run_make install
lib=$root/opt/g/lib

cat >"$W/first.c" <<'END'
#include <gradus/gradus.h>
#include <gradus/layers.h>
#include <gradus/kernel.h>
#include <stdio.h>
int main(void)
{
    gra_tape *t = gra_open(1);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *a = gra_scalar(t, 2), *b = gra_scalar(t, -3);
    gra_backward(t, gra_mul(t, a, b));
    printf("%g %g %zu %d\n", gra_grad(a)[0], gra_grad(b)[0], sizeof(gra_real),
           gra_version() == GRADUS_VERSION);
    gra_close(t);
    return 0;
}
END
cp "$W/first.c" "$W/first.cpp"

prints() {      # prints LINE COMMAND ...
    expected=$1
    shift
    "$@" >"$W/out" 2>&1
    cat "$W/out"
    [ "$(cat "$W/out")" = "$expected" ]
}

compiled() {    # compiled COMPILER FILE FLAGS ...
    "$@" ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-} -o "$W/first"
}

# ---- with pkg-config, in the new root ------------------------------------------------------------------
PKG_CONFIG_PATH=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
if command -v pkg-config >/dev/null; then
    for name in gradus gradus64; do
        [ $name = gradus ] && line="-3 2 4 1" || line="-3 2 8 1"
        flags=$(pkg-config --cflags $name) libs=$(pkg-config --libs $name)
        private=$(pkg-config --static --libs $name)
        for lang in c cpp; do
            [ $lang = c ] && cc="${CC:-cc} -std=c11 -Wall -Wextra -Werror" ||
                cc="${CXX:-c++} -std=c++17 -Wall -Wextra -Werror"
            command -v "${cc%% *}" >/dev/null || continue
            ok "$name, shared, .$lang" compiled $cc "$W/first.$lang" $flags $libs
            ok "... runs" prints "$line" env LD_LIBRARY_PATH="$lib" DYLD_LIBRARY_PATH="$lib" "$W/first"
            # the archive by its name: -lgradus prefers the shared library
            ok "$name, static, .$lang" compiled $cc "$W/first.$lang" $flags "$lib/lib$name.a" \
                ${private##*-l"$name"}
            ok "... runs" prints "$line" "$W/first"
        done
    done
    ok "the version is the header's" test "$(pkg-config --modversion gradus)" = "$(awk '
        /^#.* GRADUS_VERSION/ { print int($3 / 10000) "." int($3 / 100) % 100 "." $3 % 100 }' core/gradus.h)"
else
    echo "$SCRIPT: left out: there is no pkg-config"
fi

# ---- two precisions do not mix -------------------------------------------------------------------------
if ls "$lib"/libgradus.so >/dev/null 2>&1; then
    ok "both libraries together link" compiled ${CC:-cc} "$W/first.c" \
        -I"$root/opt/g/include" -DGRADUS_DOUBLE -L"$lib" \
        -lgradus -lgradus64
    ok "... but do not run" ends_with 134 sh -c 'LD_LIBRARY_PATH=$1 "$0"; exit $?' "$W/first" "$lib"
    ok "... which is reported" grep -q '^gradus: gra_open: got a program linked with both' "$W/err"
fi

# ---- what the libraries export -------------------------------------------------------------------------
# The functions that the headers declare, as read by a compiler: names before an outermost parenthesis.
declared() {    # declared FLAGS ...
    printf '#include <gradus/gpt.h>\n#include <gradus/kernel.h>\n' >"$W/headers.c"
    ${CC:-cc} -E "$@" -I"$root/opt/g/include" "$W/headers.c" | awk '
        /^# / { ours = /gradus/; next }
        ours { text = text $0 " " }
        END {
            for (i = 1; i <= length(text); i++) {
                c = substr(text, i, 1)
                if (c == "(" && !depth && match(word, /gra_[a-z0-9_]+ *$/) && word !~ /typedef|static/)
                    print substr(word, RSTART)
                depth += (c ~ /[({]/) - (c ~ /[)}]/)
                word = c ~ /[;}]/ && !depth ? "" : depth ? word : word c
            }
        }' | tr -d ' ' | sort -u
}
# exports NEEDED LIBRARY FLAGS ...: the declared functions, the symbol of the precision, nothing else
exports() {
    nm -D --defined-only "$2" | awk '{ print $NF }' | sed 's/@.*//' | grep -v '^_\|^asan\|^ubsan' |
        sort -u >"$W/names"
    needed=$1
    shift 2
    { declared "$@"; echo "$needed"; } | sort -u >"$W/declared"
    diff "$W/declared" "$W/names"
}
if ls "$lib"/libgradus.so >/dev/null 2>&1; then
    ok "libgradus64.so exports what the headers declare" exports \
        gra_compiled_with_GRADUS_DOUBLE_needs_libgradus64 \
        "$lib/libgradus64.so" -DGRADUS_DOUBLE
    declared >"$W/all"
    grep -vx gra_check "$W/all" >"$W/float"              # this function needs double
    declared() { cat "$W/float"; }
    ok "libgradus.so: except gra_check, the same" exports gra_compiled_without_GRADUS_DOUBLE_needs_libgradus \
        "$lib/libgradus.so"
    ok "the soname has the compatible version" grep -q "libgradus.so.0.2" "$lib/libgradus.so"
fi

# ---- programs and manual pages -------------------------------------------------------------------------
ok "gradus-train reports under its name" ends_with 2 "$root/opt/g/bin/gradus-train" --nonsense 1
ok "... with the sentence" grep -q "^gradus-train: there is no flag '--nonsense'" "$W/err"
ok "gradus-generate names the program beside it" ends_with 1 \
    sh -c 'cd "$1" && PATH=$2:$PATH gradus-generate' - "$W" \
    "$root/opt/g/bin"
ok "... by its name" grep -q "train one first (gradus-train)$" "$W/err"
clean_page() {  # clean_page FILE: groff reports nothing
    groff -ww -man -Tutf8 "$1" 2>&1 >/dev/null | lacks .
}
for name in train generate look; do
    page=$root/opt/g/share/man/man1/gradus-$name.1
    ok "gradus-$name: the manual page has every flag" test "$(grep -c '^\.B \\-\\-' "$page")" -eq \
        "$("$BUILD/$name" --help | grep -c '^  --')"
    command -v groff >/dev/null && ok "... in good roff" clean_page "$page"
done
ok "quotes are kept" grep -qF '\-\-ids \(dqN N N\(dq' "$root/opt/g/share/man/man1/gradus-generate.1"

# ---- uninstall -----------------------------------------------------------------------------------------
echo kept >"$lib/other.so"
mkdir "$root/opt/theirs"
ok "make uninstall" run_make uninstall
ok "leaves only foreign files" test "$(find "$root" -type f -o -type d -empty | sort)" = "$lib/other.so
$root/opt/theirs"

# ---- README's lines, on an account without settings ----------------------------------------------------
home=$W/home
alone() { env -u PKG_CONFIG_PATH -u PKG_CONFIG_SYSROOT_DIR -u LD_LIBRARY_PATH HOME="$home" "$@"; }
as_readme() {   # the README's line, with this compiler
    line=$(sed -n 's/^    \(cc my\.c .*\)/\1/p' README.md)
    flags=${line#cc my.c}
    alone sh -c "export PKG_CONFIG_PATH=\$HOME/.local/lib/pkgconfig
        ${CC:-cc} ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-} $W/first.c $flags -o $W/first"
}
ok "make install PREFIX=\$HOME/.local" alone ${MAKE:-make} B="$BUILD" PREFIX="$home/.local" install
if command -v pkg-config >/dev/null; then
    ok "README's line compiles a program" as_readme
    ok "... which finds the library" prints "-3 2 4 1" alone "$W/first"
fi
ok "gradus-train starts" alone "$home/.local/bin/gradus-train" --help

# ---- folders with any name, whatever the umask; and impossible places ----------------------------------
root="$W/a 'root' of \"two\"  \`"
lib=$root/opt/g/lib
private() { (umask 077 && run_make "$@"); }
ok "make install to a folder with blanks and quotes, umask 077" private install
ok "it exists" test -f "$lib/libgradus.a"
ok "all can read it" test -z "$(find "$root"/* ! -perm -444)"
ok "the .pc files name the place without DESTDIR" grep -qx prefix=/opt/g "$lib/pkgconfig/gradus64.pc"
ok "make uninstall" run_make uninstall
ok "nothing is left" is_empty "$root"
for place in PREFIX LIBDIR INCLUDEDIR BINDIR MANDIR; do
    ok "$place=lib" ends_with 2 ${MAKE:-make} B="$BUILD" DESTDIR="$root" $place=lib install
    ok "... must be absolute" grep -q "^make: $place: got 'lib', expected an absolute path, such as " \
        "$W/err"
done
: >"$W/file"
ok "a place that cannot be written to" ends_with 2 ${MAKE:-make} B="$BUILD" PREFIX="$W/file" install
ok "... is named" grep -q "^make install: cannot write to $W/file/lib: be root, or choose another place," \
    "$W/err"

finish
