#!/bin/sh
# Tests gradus for Windows, compiled by MinGW and run by wine: the bits of Linux with GRADUS_ISA=base, the
# suites of ops, layers and golden numbers with each instruction set, killed runs, paths and texts of Windows.
# Skipped, with a sentence, if the compiler or wine is missing.
. tests/lib/ok.sh
unset MAKEFLAGS MFLAGS MAKELEVEL

CC=${WINDOWS_CC:-x86_64-w64-mingw32-gcc}
wine=$(command -v /usr/lib/wine/wine64 || command -v wine64 || command -v wine)
if [ ! "$wine" ] || ! command -v "$CC" >/dev/null; then
    echo "windows.sh: left out: it needs $CC and wine (on Debian: apt install gcc-mingw-w64-x86-64 wine64)"
    exit 0
fi
HERE=${KEPT%/*}
P=$HERE/windows
mkdir -p "$P/wine"
WINEPREFIX=$P/wine WINELOADER=$wine WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml=' LC_ALL=C.UTF-8
export WINEPREFIX WINELOADER WINEDEBUG WINEDLLOVERRIDES LC_ALL

compile() { "${MAKE:-make}" WERROR=1 B="$P" CC="$CC" CFLAGS= LDFLAGS= "$@"; }
run() {         # run PROGRAM FLAGS ...: a program of the Windows build
    program=$P/$1.exe
    shift
    "$wine" "$program" "$@"
}

said() {        # said TIMES WORDS FILE
    [ "$(grep -c -- "$2" "$3")" -eq "$1" ] || { cat "$3"; return 1; }
}

ok "it compiles without a warning, and links" compile
# The server stays for a minute after each program: the next program starts faster.
"$(command -v wineserver || echo /usr/lib/wine/wineserver)" -p60
"$wine" wineboot -i >/dev/null 2>&1
ok "a lesson: the gradient check passes" run examples/02_own_op

# ---- the same bits -----------------------------------------------------------------------------------------
shape="--context 32 --width 32 --heads 4 --layers 2 --batch 8 --dropout 0.1 --eval-every 50 --eval-batches 4
       --sample 100 --quiet"
same() {        # same A B: two runs are equal except for times
    for r in "$1" "$2"; do
        cut -f 1-5,7 "$r/loss.tsv" >"$r/table" || return 1
    done
    for file in table sample.txt model.safetensors; do
        cmp "$1/$file" "$2/$file" || return 1
    done
}
both() {        # both NAME FLAGS ...: NAME prints, or writes to $W/file, the same as on Linux
    rm -f "$W/file"
    "$HERE/$@" >"$W/here" && cat "$W/file" >>"$W/here"
    run "$@" >"$W/there" && cat "$W/file" >>"$W/there"
    cmp "$W/here" "$W/there"
}
GRADUS_ISA=base
export GRADUS_ISA
ok "Linux: 200 steps" "$TRAIN" --data core/gradus.h $shape --steps 200 --out "$W/linux"
for threads in 1 2; do
    ok "200 steps, threads: $threads" run train --data core/gradus.h $shape --steps 200 --threads $threads \
        --out "$W/windows$threads"
    ok "... the losses, the sample and the model of Linux, byte for byte" same "$W/linux" "$W/windows$threads"
done
ok "generate: the same text" both generate --model "$W/linux" --prompt 'gra_*' --tokens 50
ok "look: the same page" both look --model "$W/linux" --prompt 'gra_*' --out "$W/file"

# ---- suites, with the replacement for Check ----------------------------------------------------------------
suites='ops answers attention golden optim random'
"$CC" -O1 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -c tests/build/port/check.c -o "$P/check.o"
echo "$P/check.o" >"$P/check.link"
cat >"$P/check.compile" <<'flags'
-isystem tests/build/port -include core/base/system.h -Wno-format -Wno-format-extra-args -Wno-unused-variable
-Dsetenv(name,value,replace)=_putenv_s(name,value) -Dunsetenv(name)=_putenv_s(name,\"\")
flags
sources=$(ls tests/lib/*.c tests/ops/*.c | grep -v -e lib/crash -e lib/aborts -e test_tests -e test_beside)
for suite in golden optim random; do
    sources="$sources $(ls tests/*/test_$suite.c)"
done
ok "the suites compile" compile WRAPPED= EXPRESSION= FORMULA= TESTED='$(filter-out %/notebook.c,$(READER))' \
    TESTS="tests/build/windows/suites.c $(echo $sources)" "$P/f64/test"
# MinGW's sin and cos are wrong for large x, and less accurate near pi: findings/mingw_sin.sh. The test of the
# ops' answers fails and ends at them; the gradients of all ops are tested.
only_sin() {
    "$wine" "$P/f64/test.exe" $suites >"$W/out" 2>&1
    said 1 '^FAILED' "$W/out" && said 1 '^FAILED: ops:ops:answers_and_refusals' "$W/out" &&
        said 1 '^Checks: [0-9]*[0-9][0-9][0-9], Failures: 1' "$W/out"
}
for isa in base avx2 avx512; do
    export GRADUS_ISA=$isa
    ok "$suites: $isa" only_sin
done
unset GRADUS_ISA

# ---- files of Windows --------------------------------------------------------------------------------------
short="$shape --steps 3 --threads 1"
printf 'one two three\r\nfour five six\r\n%.0s' $(seq 100) >"$W/ein Täxt 中.txt"
drive=$(echo "Z:$W" | tr / '\\')
run train $(echo $short | sed s/--quiet//) --data "$drive\\ein Täxt 中.txt" --out "$drive\\a b\\lauf ä" \
    >"$W/out" 2>&1
ok "a path with a drive, backslashes, blanks, and letters outside ASCII" \
    test -f "$W/a b/lauf ä/model.safetensors"
ok "\\r\\n is reported once" said 1 'carriage returns' "$W/out"
ok "... and learned" grep -q "^13" "$W/a b/lauf ä/vocab.tsv"
ok "the files have no \\r" lacks "$(printf '\r')" "$W/a b/lauf ä/loss.tsv" "$W/a b/lauf ä/config.tsv"
ok "it is resumed there" run train --resume "$drive\\a b\\lauf ä\\"
ok "without gnuplot the run says so, and keeps the script" said 1 'gnuplot is missing' "$W/out"

# ---- killed and resumed ------------------------------------------------------------------------------------
flags="--data LICENSE $shape --steps 100 --checkpoint-every 1 --threads 1"
killer() {      # train, with tests/build/windows/kill.c
    "$CC" -std=c11 -Wall -Wextra -Werror -D_POSIX_C_SOURCE=200809L -I. -static -pthread \
        $(printf -- '-Wl,--wrap=%s ' gra_write gra_rename gra_stat gra_clip_grad_norm) \
        tests/build/windows/kill.c "$P/f32/examples/train.o" $(find "$P/f32/examples/lib" \
        "$P/f32/examples/import" -name '*.o') "$P/utf8.o" "$P/libgradus.a" -lm -o "$P/killed.exe"
}
killed() {      # killed N: the run begins or continues, and is killed at the N-th call
    set -- "$1" $flags --out "$W/killed"
    [ ! -f "$W/killed/checkpoint.safetensors" ] || set -- "$1" --resume "$W/killed"
    n=$1
    shift
    ends_with 9 env GRADUS_KILL="$n" "$wine" "$P/killed.exe" "$@"
}
ok "train, to be killed, links" killer
export GRADUS_ISA=base
ok "a run that is not killed, on Linux" "$TRAIN" $flags --out "$W/whole"
for i in $(seq 30); do
    ok "killed at call $((80 + 4 * i))" killed $((80 + 4 * i))
done
ok "resumed to the end" "$wine" "$P/train.exe" --resume "$W/killed"
ok "30 kills change no bit" same "$W/whole" "$W/killed"

# ---- files that cannot be written --------------------------------------------------------------------------
GRADUS_HOLD=$W/killed/result.tsv "$wine" "$P/killed.exe" --resume "$W/killed" 2>"$W/err"
ok "a file that another program has open" said 1 'cannot write .*result.tsv: Permission denied' "$W/err"
run train $short --data LICENSE --out "$W/whole/table/run" 2>"$W/err"
ok "a folder that cannot be made" said 1 'cannot make the folder' "$W/err"
finish
