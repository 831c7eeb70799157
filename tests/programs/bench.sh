#!/bin/sh
# shellcheck disable=SC2016,SC2154
# Tests that the comparisons of tests/bench are fair: settings that slow the other library down are cleared,
# and there is no ratio if that library is not at its best. PyTorch, the products and our programs are fakes
# that report given times, so no time is measured here.
. tests/lib/ok.sh

mkdir -p "$W/bench"
fake() { cat >"$W/$1" && chmod +x "$W/$1"; }
echo 'flags : fma avx2' >"$W/avx2"
echo 'flags : avx2 avx512f avx512_bf16' >"$W/avx512"

fake python <<'END'
#!/bin/sh
[ "$1" != -c ] || exit 0
env | grep '^[A-Z]*_.*=' >>"${0%/*}/given"
ms=30
case "$*" in *bf16*) ms=15 ;; esac
echo "pytorch ms=$ms mib=300 product=$PRODUCT version=1"
END
fake bench/step <<'END'
#!/bin/sh
case "$* $PRODUCT" in
*bf16*91) ms=4 ;;
*bf16*)   exit 2 ;;
*)        ms=8 ;;
esac
echo "gradus ms=$ms gflops=80 mib=50"
END
fake bench/peak <<'END'
#!/bin/sh
echo 100
END
fake bench/products <<'END'
#!/bin/sh
case "$*" in
*none*) exit 1 ;;
*)      echo "measured $4 with ${OPENBLAS_CORETYPE-nothing}, ${OPENBLAS_L2_SIZE-nothing}" ;;
esac
END

against() {     # against NAME CPUINFO PRODUCT FLAGS ...: in an environment that slows the library down
    name=$1 cpuinfo=$2 product=$3
    shift 3
    env BUILD="$W" MAKE=true PYTHON="$W/python" CPUINFO="$W/$cpuinfo" PRODUCT="$product" \
        OPENBLAS_CORETYPE=Prescott \
        OPENBLAS_L2_SIZE=512 MKL_CBWR=COMPATIBLE ONEDNN_MAX_CPU_ISA=SSE41 OMP_PROC_BIND=true GRADUS_ISA=base \
        sh "tests/bench/against_$name" "$@"
}
printed() {     # printed PATTERN ...: each pattern matches in $W/out
    for pattern in "$@"; do
        grep -q -e "$pattern" "$W/out" || { echo "missing: $pattern"; cat "$W/out"; return 1; }
    done
}

ok "against_pytorch runs" ends_with 0 against pytorch avx2 90 --config nano --pairs 3
ok "it names what was cleared" printed '^cleared from the environment: GRADUS_ISA MKL_CBWR' OMP_PROC_BIND \
    ONEDNN_MAX_CPU_ISA OPENBLAS_CORETYPE OPENBLAS_L2_SIZE
ok "none of these reached PyTorch" \
    lacks -e L2_SIZE -e PROC_BIND -e MKL_CBWR -e ONEDNN -e Prescott -e GRADUS_ISA "$W/given"
ok "it has the requested number of threads" grep -q '^OMP_NUM_THREADS=1$' "$W/given"
ok "the ratio, and the shares of the peak" printed '90 % of the FMA peak (100)' \
    '^ratio config=nano threads=1 dropout=0 precision=float ours=float median=3.75' \
    '^gradus: 8 ms a step, 80 GFLOP/s, 80 % of the FMA peak'
ok "bfloat16 is left out without instructions for it" printed '^bfloat16 was left out'
ok "and bfloat16 has no ratio" lacks 'precision=bf16' "$W/out"

ok "with such instructions bfloat16 has a ratio" ends_with 0 against pytorch avx512 90 --config nano --pairs 2
ok "separate from the first" printed 'precision=bf16 ours=float median=1.88' \
    '^bfloat16 is the fastest PyTorch here: 2.00'
ok "gradus runs in float without the instruction" lacks '^gradus with bfloat16' "$W/out"
ok "and in bfloat16 with the instruction" ends_with 0 against pytorch avx512 91 --config nano --pairs 2
ok "beside PyTorch's bfloat16" printed 'precision=float ours=float median=3.75' \
    'precision=bf16 ours=bf16 median=3.75' '^gradus with bfloat16 products: 4 ms a step, 2.00 times'

ok "below 70 % of the peak there is no ratio" ends_with 1 against pytorch avx2 69 --config nano --pairs 3
ok "but the reason" printed '69 % of the FMA peak' '^NO RATIO'
ok "only the reason" lacks '^ratio' "$W/out"

ok "against_openblas runs" ends_with 0 against openblas avx512 90 --library l
ok "with this library, and without settings" printed '^measured l with nothing, nothing'
ok "a library that is missing" ends_with 1 against openblas avx2 90 --library none

ok "medians" sh -c '. tests/bench/lib/fair.sh; [ "$(median 3 1 2) $(median 4 1 2 10) $(median 7)" = "2 3 7" ]'

finish
