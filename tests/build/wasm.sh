#!/bin/sh
# The library as a WebAssembly module, on one thread and without POSIX: the losses of a training are, bit for
# bit, those of GRADUS_ISA=base. Left out, with a sentence, where clang's target, its libraries or node are
# missing.
. tests/lib/ok.sh

target=wasm32-wasi
clang=${WASM_CC:-clang}
flags="--target=$target -std=c11 -O1 -msimd128 -ffp-contract=fast -fno-math-errno -fno-trapping-math
       -D_POSIX_C_SOURCE=200809L -I. -ffunction-sections -fdata-sections -fvisibility=hidden
       -Wall -Wextra -Werror"
# With -O, clang would run wasm-opt, if that is installed, without SIMD. The stack is below the data, so that
# an overflow traps.
link="--target=$target -mexec-model=reactor -Wl,--gc-sections,--strip-all,--stack-first,-z,stack-size=262144"

echo 'int answer(void) { return 42; }' >"$W/empty.c"
works() {
    command -v node >/dev/null && "$clang" $flags -c "$W/empty.c" -o "$W/empty.o" &&
        "$clang" $link -Wl,--export=answer -o "$W/empty.wasm" "$W/empty.o" -lm
}
if ! works >"$W/why" 2>&1; then
    echo "wasm.sh: left out: it needs node, and clang with the target $target" \
        "(on Debian: apt install nodejs clang lld wasi-libc libclang-rt-dev-wasm32)"
    exit 0
fi

module() {      # module OUT FLAG ...: all of core but files, which a page does not have, and the layers
    out=$1
    shift
    mkdir -p "$W/$out"
    for file in core/*/*.c layers/*.c tests/build/wasm/losses.c; do
        case $file in
        core/files/*) continue ;;
        esac
        "$clang" $flags "$@" -c "$file" -o "$W/$out/$(echo "$file" | tr / _).o" || return 1
    done
    "$clang" $link -Wl,--export=losses -o "$W/$out.wasm" "$W/$out"/*.o -lm
}

compare() {     # compare PRECISION STEPS FLAG ...
    name=$1 steps=$2 archive=$3
    shift 3
    ok "$name: it compiles without a warning, and links" module "$name" "$@"
    ok "$name: it runs, and imports only what a page gives" \
        sh -c 'node tests/build/wasm/run.mjs "$1" "$2" >"$3"' - "$W/$name.wasm" "$steps" "$W/$name.page"
    ok "$name: the native program compiles" ${CC:-cc} "$@" -O2 -D_POSIX_C_SOURCE=200809L -I. \
        tests/build/wasm/losses.c "$BUILD/$archive" ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-} -lm -pthread \
        -o "$W/$name.native"
    ok "$name: it runs" sh -c 'GRADUS_ISA=base "$1" "$2" >"$3"' - "$W/$name.native" "$steps" "$W/$name.base"
    ok "$name: the losses fall" awk '
        { if (NR == 1) first = $3; last = $3 }
        END { exit !(NR > 9 && last < first) }' "$W/$name.base"
}

compare float 400 libgradus.a
ok "float: the same bits in all steps" cmp "$W/float.page" "$W/float.base"

# In double exp, log and tanh are those of the C library, which may differ in the last bit.
compare double 60 libgradus64.a -DGRADUS_DOUBLE
cut -d ' ' -f 1,3 "$W/double.page" >"$W/page"
cut -d ' ' -f 1,3 "$W/double.base" >"$W/base"
ok "double: the same to 1e-12" sh -c 'paste -d " " "$1" "$2" | awk "
    (\$2 - \$4) ^ 2 > 1e-24 || \$1 != \$3 { bad = 1 } END { exit bad || NR != 60 }"' - "$W/page" "$W/base"

finish
