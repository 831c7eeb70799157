#!/bin/sh
# Tries the other compilers, C libraries and processors that are installed, and prints a table of what passed
# and what was skipped, with the missing packages (by Debian's names). ONLY="aarch64 clang" tries a part:
# names of compilers or machines, or gcc, clang.
#
# With each compiler: everything compiles without a warning, and the sources also compile with one command, in
# three versions of C; the newest gcc and the newest clang run the suites. On each machine (musl; foreign ones
# with a cross compiler and qemu's user mode), compiled with -O3: the suites run (they compare files byte for
# byte), and every other machine resumes a run.
#
# Where Check is not compiled for the machine, tests/build/port/check.c replaces it. Natively the replacement
# must run as many tests as Check and detect a broken op.
cd "$(dirname "$0")/../../.." || exit 1
P=${BUILD:-build}/port
case $P in /*) ;; *) P=$PWD/$P ;; esac
MAKE=${MAKE:-make}
JOBS=${JOBS:-2}
unset MAKEFLAGS MFLAGS MAKELEVEL CK_RUN_SUITE CK_RUN_CASE CK_INCLUDE_TAGS GRADUS_ISA
LC_ALL=C CK_EXCLUDE_TAGS=long
export LC_ALL CK_EXCLUDE_TAGS
failed=0
ran=
counts=
mkdir -p "$P/files" || exit 1
: >"$P/table"
rm -rf "$P/files/"*

# ---- the table -----------------------------------------------------------------------------------------
row() {         # row NAME WHERE RESULT: a line of the table
    printf '%-12s %-24s %s\n' "$1" "$2" "$3" | tee -a "$P/table"
}
skip() { row "$1" "$2" "skipped: no package $3"; }
bad() {         # bad NAME WHERE WHAT LOG
    row "$1" "$2" "FAILED: $3, see $4"
    failed=1
}
selected() {      # selected NAME: ONLY is empty, or names NAME or its family
    [ -z "${ONLY:-}" ] && return
    for only in $ONLY; do
        case $1 in "$only" | "$only"-*) return 0 ;; esac
    done
    return 1
}

# ---- one build -----------------------------------------------------------------------------------------
stand_in() {    # stand_in B CC FLAGS: the build in B uses tests/build/port/check.c instead of Check
    mkdir -p "$1" &&
        $2 -std=gnu11 -O1 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror $3 -c tests/build/port/check.c \
        -o "$1/check.o" && echo '-isystem tests/build/port' >"$1/check.compile" &&
        echo "$1/check.o" >"$1/check.link"
}
build() {       # build B CC FLAGS AR TARGETS ...
    b=$1 cc=$2 flags=$3 ar=$4
    shift 4
    "$MAKE" -k -j"$JOBS" WERROR=1 B="$b" CC="$cc" CFLAGS="$flags" AR="$ar" "$@" >>"$b.log" 2>&1
}
by() {       # by RUNNER PROGRAM: makes PROGRAM a script that runs it with RUNNER, for tests that run programs
    [ -z "$1" ] || [ "$(head -c 2 "$2")" = '#!' ] && return
    mv "$2" "$2.program" && printf '#!/bin/sh\nexec %s "$0.program" "$@"\n' "$1" >"$2" && chmod +x "$2"
}

suites() {      # suites B LEFT_OUT: "float N, double N"; the tests that failed go to B.log
    counts=
    for f in f64 f32; do                # the float suites read what the double ones write
        n=0
        for suite in $(CK_RUN_SUITE=help "$1/$f/test" | sed 1d); do
            case " $2 " in *" $suite "* | *" $suite/$f "*) continue ;; esac
            rm -f "$1/tap"
            CK_RUN_SUITE=$suite CK_TIMEOUT_MULTIPLIER=10 CK_TAP_LOG_FILE_NAME="$1/tap" \
                "$1/$f/test" >"$1/out" 2>&1 || {
                cat "$1/out" >>"$1.log"
                counts="suite $suite, $f"
                return 1
            }
            n=$((n + $(grep -c '^ok' "$1/tap")))
        done
        [ $f = f64 ] && counts="double $n" || counts="float $n, $counts"
    done
}

# ---- compilers -----------------------------------------------------------------------------------------
one_line() {    # one_line CC: without make and its flags, in three versions of C
    for std in c11 gnu17 c2x; do
        $1 -std=$std -O3 -fPIC -fsyntax-only -Wall -Wextra -Werror -I. core/*/*.c layers/*.c ||
            return 1
    done
    for level in "-O0" ${2:-}; do
        $1 $level -fPIC -I. examples/03_line.c core/*/*.c layers/*.c -lm -pthread -o "$P/$1/vendored" &&
            "$P/$1/vendored" || return 1
    done
}
try_compiler() {        # try_compiler CC NEWEST: the newest of its family runs the suites too
    b=$P/$1
    where="$(uname -m)"
    command -v "$1" >/dev/null || { skip "$1" "$where" "$1"; return; }
    rm -f "$b.log"
    stand_in "$b" "$1" "" >"$b.log" 2>&1 && build "$b" "$1" "$([ "$2" ] || echo -O1)" ar programs ||
        { bad "$1" "$where" "compiling" "$b.log"; return; }
    one_line "$1" "${2:+-O3}" >>"$b.log" 2>&1 || { bad "$1" "$where" "without make" "$b.log"; return; }
    [ "$2" ] || { row "$1" "$where" "compiles, without warnings"; return; }
    suites "$b" "" || { bad "$1" "$where" "$counts" "$b.log"; return; }
    row "$1" "$where" "compiles; $counts"
}
family() {      # family NAME FROM TO
    newest=
    for v in $(seq "$2" "$3"); do
        command -v "$1-$v" >/dev/null && newest=$1-$v
    done
    for v in $(seq "$2" "$3"); do
        selected "$1-$v" && try_compiler "$1-$v" "$([ "$1-$v" = "$newest" ] && echo yes)"
    done
}

# ---- machines ------------------------------------------------------------------------------------------
run() { # run NAME: a run that is interrupted at the 3rd step; other machines resume its checkpoint
    mkdir -p "$P/files/$1"
    GRADUS_FAULT="begin 3 INT" "$P/$1/faults/train" --data LICENSE --steps 4 --context 16 --width 16 \
        --heads 2 --layers 1 \
        --batch 2 --warmup 1 --eval-every 2 --eval-batches 1 --sample 0 --threads 2 \
        --quiet --out "$P/files/$1/run"
    [ -f "$P/files/$1/run/checkpoint.safetensors" ]
}
try_machine() { # try_machine NAME WHERE CC FLAGS AR RUNNER PACKAGES LEFT_OUT
    b=$P/$1
    echo 'int main(void) { return 0; }' >"$P/hello.c"
    command -v "$3" >/dev/null && $3 $4 "$P/hello.c" -o "$P/hello" 2>/dev/null ||
        { skip "$1" "$2" "$7"; return; }
    runner=
    "$P/hello" 2>/dev/null || runner=$6
    $runner "$P/hello" 2>/dev/null || { skip "$1" "$2" "qemu-user"; return; }
    rm -f "$b.log"
    mkdir -p "$b"
    if [ "$1" != native ]; then
        stand_in "$b" "$3" "$4" >"$b.log" 2>&1 || { bad "$1" "$2" "the stand-in for Check" "$b.log"; return; }
    fi
    build "$b" "$3" "$4" "$5" "$b/f64/test" "$b/f32/test" "$b/train" "$b/faults/train" "$b/libgradus.a" \
        "$b/libgradus64.a" || { bad "$1" "$2" "compiling" "$b.log"; return; }
    for program in f64/test f32/test train faults/train; do
        by "$runner" "$b/$program"
    done
    run "$1" >>"$b.log" 2>&1 || { bad "$1" "$2" "an interrupted run" "$b.log"; return; }
    ran="$ran $1"
    [ "$1" = native ] && ! selected native && return      # native is then only used for comparison
    left_out=${runner:+$8}
    suites "$b" "$left_out" || { bad "$1" "$2" "$counts" "$b.log"; return; }
    row "$1" "$2${runner:+, qemu}" "$counts${left_out:+ *}"
}

# ---- the stand-in for Check ----------------------------------------------------------------------------
try_stand_in() {
    b=$P/stand-in
    rm -f "$b.log"
    stand_in "$b" "${CC:-cc}" "" >"$b.log" 2>&1 && build "$b" "${CC:-cc}" "" ar "$b/f64/test" "$b/f32/test" ||
        { bad stand-in "" "compiling" "$b.log"; return; }
    [ "$counts" ] || suites "$P/native" "" || { bad stand-in "" "Check: $counts" "$P/native.log"; return; }
    native=$counts
    suites "$b" "" || { bad stand-in "" "$counts" "$b.log"; return; }
    [ "$counts" = "$native" ] || { bad stand-in "" "$counts, and with Check $native" "$b.log"; return; }
    sed 's/y = -x/y = +x/' core/ops/neg.c >"$b/neg.c"
    cmp -s "$b/neg.c" core/ops/neg.c && { bad stand-in "" "core/ops/neg.c was not broken" "$b.log"; return; }
    ${CC:-cc} -std=c11 -O1 -Icore/ops -I. -c "$b/neg.c" -o "$b/f32/core/ops/neg.o" &&
        build "$b" "${CC:-cc}" "" ar "$b/f32/test"
    CK_RUN_SUITE=ops "$b/f32/test" >"$b/out" 2>&1 &&
        { bad stand-in "" "a broken op passes" "$b/out"; return; }
    rm -f "$b/f32/core/ops/neg.o"
    row stand-in "for Check" "as many tests as Check; a broken op fails"
}

# ---- WebAssembly ---------------------------------------------------------------------------------------
try_wasm() {    # with the native machine's libraries and train: the numbers must agree
    b=$P/wasm
    BUILD=$P/native MAKE=$MAKE sh tests/build/wasm.sh >"$b.log" 2>&1 ||
        { bad wasm32 "wasi-libc, node" "tests/build/wasm.sh" "$b.log"; return; }
    if grep -q 'left out' "$b.log"; then
        skip wasm32 "wasi-libc, node" "nodejs, lld, wasi-libc or libclang-rt-dev-wasm32"
    else
        row wasm32 "wasi-libc, node" "$(sed -n 's/^wasm.sh: //p' "$b.log"), of tests/build/wasm.sh"
    fi
}

# ---- all of it -----------------------------------------------------------------------------------------
# Not run under qemu: suites that compute a lot or start many programs would take most of an hour.
SLOW="mutants verdicts cache import faults layers/f64"
try_machine native "$(uname -m), with Check" "${CC:-cc}" "" ar "" check ""
[ "$ran" ] || exit 1           # there is nothing to compare the other machines with
selected stand-in && try_stand_in
selected musl && try_machine musl "$(uname -m), musl" musl-gcc "" ar "" musl-tools ""
selected aarch64 && try_machine aarch64 "aarch64, glibc" aarch64-linux-gnu-gcc "" aarch64-linux-gnu-ar \
    "qemu-aarch64 -L /usr/aarch64-linux-gnu" "gcc-aarch64-linux-gnu or libc6-dev-arm64-cross" "$SLOW"
selected i686 && try_machine i686 "i686, glibc" i686-linux-gnu-gcc "-msse2 -mfpmath=sse" i686-linux-gnu-ar \
    "qemu-i386 -L /usr/i686-linux-gnu" "gcc-i686-linux-gnu or libc6-dev-i386-cross" "$SLOW"
selected s390x && try_machine s390x "s390x, glibc" s390x-linux-gnu-gcc "-std=gnu11" s390x-linux-gnu-ar \
    "qemu-s390x -L /usr/s390x-linux-gnu" "gcc-s390x-linux-gnu or libc6-dev-s390x-cross" "$SLOW"
selected wasm32 && try_wasm

# Each machine resumes the runs of all machines.
if [ "$ran" != " native" ]; then
    for machine in $ran; do
        for begun in $ran; do
            rm -rf "$P/files/resumed"
            cp -R "$P/files/$begun/run" "$P/files/resumed" &&
                "$P/$machine/train" --resume "$P/files/resumed" --quiet >"$P/files/$machine.err" 2>&1 ||
                bad "$machine" "files" "the run of $begun" "$P/files/$machine.err"
        done
    done
    [ $failed = 1 ] || row files "" "the runs of$ran: resumed on each"
fi

family gcc 9 14
family clang 11 19

printf '\n'
cat "$P/table"
grep -q '\*$' "$P/table" && echo "* without the suites $SLOW: too slow under qemu"
[ $failed = 0 ]
