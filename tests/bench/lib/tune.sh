# tune.sh: PyTorch's best settings on this machine, for against_pytorch, which sources it and has pytorch().
# tune_pytorch sets `libraries`, `setting`, `adam` and `best` (milliseconds) for float, `adam16` and `best16`
# for bfloat16; best16 stays empty if that was not measured.

# attempt PRECISION ADAM LIBRARIES SETTING: becomes the choice if it is the fastest so far. A setting that
# takes twice as long as the fastest is not tried again.
attempt() {
    case $hopeless in *"[$*]"*) return 0 ;; esac
    if ! line=`pytorch "$3" "$4" --precision "$1" --adam "$2" --seconds 1 2>/dev/null`; then
        echo "    failed: $*"
        hopeless="${hopeless}[$*]"
        return 0
    fi
    ms=`value ms "$line"` kernel=`value kernel "$line"` file=`value library "$line"`
    folder_=${file%/*}
    printf '%11s ms  %-5s  %-7s  %-26s  %s\n' "$ms" "$1" "$2" "$kernel" "${folder_##*/}"
    if [ -z "$best" ] || less "$ms" "$best"; then
        best=$ms adam=$2 libraries=$3 setting=$4
    elif less "2 * $best" "$ms"; then
        hopeless="${hopeless}[$*]"
    fi
}

# OpenBLAS chooses its kernel itself or takes ours; so does BLIS, whose Debian build knows few processors and
# uses its slowest kernel on others.
attempt_openblas() {    # attempt_openblas LIBRARIES
    attempt float foreach "$1" ''
    for core in `openblas_kernels`; do
        attempt float foreach "$1" OPENBLAS_CORETYPE=$core
    done
}
attempt_blis() {
    attempt float foreach "$1" ''
    ! has_avx512 || attempt float foreach "$1" BLIS_ARCH_TYPE=skx
}

# Each library is preloaded instead of the system's, which PyTorch was built with, unless PyTorch has MKL.
attempt_libraries() {
    case $system in
    OpenBLAS*) attempt_openblas '' ;;
    BLIS*)     attempt_blis '' ;;
    *)         attempt float foreach '' '' ;;
    esac
    case $system in
    MKL*) return 0 ;;
    esac
    for folder in /usr/lib/*/openblas-openmp /usr/lib/*/openblas-pthread /usr/lib/*/blis-openmp; do
        [ -f $folder/libblas.so.3 ] && [ $folder != "$system_folder" ] || continue
        case $folder in
        */blis*) attempt_blis "$folder/libblis.so.4 $folder/libblas.so.3" ;;
        *)       attempt_openblas "$folder/libblas.so.3 $folder/libopenblas.so.0" ;;
        esac
    done
}

tune_pytorch() {
    echo "PyTorch's settings, each tried twice (once if it takes twice as long as the best):"
    best= libraries= setting= hopeless= kernel= file= adam16= best16=
    attempt float foreach '' ''
    system=$kernel system_folder=${file%/*}
    for round in 1 2; do
        attempt_libraries
        attempt float flat "$libraries" "$setting"
    done
    [ -n "$best" ] || {
        echo "against_pytorch: got no step from PyTorch with any setting:" \
            "see \`$python tests/bench/torch_step.py\`" >&2
        exit 1
    }
    has_bf16 || {
        echo "bfloat16 was left out: this processor has no instructions for it"
        return 0
    }
    best_float=$best adam_float=$adam best=
    for round in 1 2; do
        attempt bf16 foreach "$libraries" "$setting"
        attempt bf16 flat "$libraries" "$setting"
    done
    best16=$best adam16=$adam best=$best_float adam=$adam_float
}

# PyTorch's product beside the processor's peak, in turns; ends the comparison where the share is below 70 %.
check_product() {
    shares= products= peaks=
    for round in 1 2 3; do
        line=`pytorch "$libraries" "$setting" --product --seconds 1`
        product=`value product "$line"` peak=`"$BUILD/bench/peak" "$threads"`
        shares="$shares `compute %.1f "100 * $product / $peak"`"
        products="$products $product" peaks="$peaks $peak"
    done
    share=`median $shares` peak=`median $peaks`
    cat <<END

PyTorch `value version "$line"`, AdamW $adam (bfloat16: ${adam16:-left out}), ${setting:-no setting}
kernel `value kernel "$line"`, from `value library "$line"`
its product of 2048 x 2048 matrices: `median $products` GFLOP/s, $share % of the FMA peak ($peak)
END
    less "$share" 70 || return 0
    echo "NO RATIO: with less than 70 % of the peak in a product PyTorch is not at its best. Is another BLAS"
    echo "installed (Debian: apt install libblis-dev libopenblas0-openmp), and is the machine idle?"
    exit 1
}
