#!/bin/sh
# Tests that the programs of the notebooks reproduce every printed number, in both precisions, and that a
# wrong number is detected.
. tests/lib/ok.sh

mkdir -p "$W/lines.32" "$W/lines.64" || exit 1

# ---- every number ----

programs=
for source in examples/notebooks/*.c; do
    name=${source##*/}
    name=${name%.c}
    [ "$name" = udl_multihead ] || programs="$programs $BUILD/notebooks/$name"
    programs="$programs $BUILD/notebooks64/$name"
done

# The number of values that a folder's files expect, counted without the programs' reader.
expected() {
    awk '
        FNR == 1 { left = 0 }
        {
            for (i = 1; i <= NF && $i !~ /^#/; i++)
                if (left > 0) {
                    left--
                    count += expect && $i != "nan"
                } else if ($i == "tensor") {
                    expect = $(i + 1) == "expect"
                    left = 1
                    for (d = 1; d <= $(i + 4); d++)
                        left *= $(i + 4 + d)
                    i += 4 + $(i + 4)
                }
        }
        END { print count }' "$1"/0*.txt
}

reproduced() {  # reproduced PROGRAM: the program succeeds, and its last line has K of N with K = N
    ends_with 0 "$1" && [ ! -s "$W/err" ] && awk 'length > 80 { bad = 1 } END { exit bad }' "$W/out" ||
        return 1
    tail -n 1 "$W/out" >"$W/line"
    awk -v name="${1##*/}:" '
        $1 == name && $2 == $4 && $2 > 0 && $0 == $1 " " $2 " of " $4 " printed numbers reproduced" { exit 0 }
        { exit 1 }' "$W/line" || return 1
    case $1 in
    *notebooks64/*) mv "$W/line" "$W/lines.64/${1##*/}" ;;
    *) mv "$W/line" "$W/lines.32/${1##*/}" ;;
    esac
}

same_in_all() { # same_in_all PROGRAM: succeeds with every instruction set of this processor
    for isa in base avx2 avx512; do
        GRADUS_ISA=$isa "$1" >"$W/out" 2>"$W/err" && continue
        cat "$W/err"
        grep -q "got GRADUS_ISA=$isa, expected" "$W/err" || return 1
    done
}

sum() {         # sum EXPECTED FILE ...: the K of the files add up to EXPECTED
    expected=$1
    shift
    got=$(cat "$@" | awk '{ k += $2 } END { print k + 0 }')
    echo "got $got numbers, expected $expected"
    [ "$got" -eq "$expected" ]
}

summed_up() {   # make notebooks prints the total and its parts
    sh examples/notebooks/run.sh $programs >"$W/out" || return 1
    cat "$W/out"
    awk 'length > 80 { exit 1 }' "$W/out" || return 1
    grep -qx "notebooks: $total of $total printed numbers reproduced in float64:" "$W/out" &&
        grep -qx "notebooks: $((total - udl)) of $((total - udl)) in float32, without udl_multihead" \
        "$W/out" &&
        grep -q '^  1471 computed from seeds ' "$W/out" && grep -q '^  144 computed from inputs ' "$W/out" &&
        grep -q '^  213 such an input itself' "$W/out"
}

for program in $programs; do
    ok "$program" reproduced "$program"
    ok "$program, with each instruction set" same_in_all "$program"
done
total=$(expected examples/notebooks/golden)
ok 'the files have 1828 printed numbers' [ "$total" -eq 1828 ]
ok 'float64 reproduces all of them' sum "$total" "$W"/lines.64/*
udl=$(awk '{ print $2 }' "$W/lines.64/udl_multihead")
ok 'float32 reproduces all except those of NumPy' sum $((total - udl)) "$W"/lines.32/*
ok 'make notebooks sums them up' summed_up
ok 'a program prints its own total' \
    grep -qx 'computed: 562, computed from printed inputs: 144, inputs rearranged: 180' \
    "$BUILD/notebooks/attention_variants.txt"

# ---- a wrong number ----

rm -rf "$W/golden"
mkdir "$W/golden"

# off PROGRAM FILE ROLE NAME NUMBER K N: if the tensor's first number is replaced, the program fails
off() {
    cp examples/notebooks/golden/0*.txt "$W/golden" || return 1
    awk -v role="$3" -v name="$4" -v number="$5" '
        found == 1 { $1 = number; found = 2 }
        $1 == "tensor" && $2 == role && $3 == name { found = 1 }
        { print }
        END { exit found != 2 }' "examples/notebooks/golden/$2.txt" >"$W/golden/$2.txt" || return 1
    ends_with 1 "$1" "$W/golden" && grep -q "$2.txt: $4\[0\]: got .*, expected $5: off by" "$W/err" &&
        tail -n 1 "$W/out" | grep -q ": $6 of $7 printed numbers reproduced\$"
}

missing() {     # missing PROGRAM FILE: the numbers of an unknown tensor are not reproduced
    cp examples/notebooks/golden/0*.txt "$W/golden" || return 1
    sed '$d' "examples/notebooks/golden/$2.txt" >"$W/golden/$2.txt"
    printf 'tensor expect more 1 1 2\n1 2\nend\n' >>"$W/golden/$2.txt"
    ends_with 1 "$1" "$W/golden" && grep -q "$2.txt: expect more was not compared" "$W/err"
}

cut() {         # cut PROGRAM FILE: a truncated file
    cp examples/notebooks/golden/0*.txt "$W/golden" || return 1
    sed '$d' "examples/notebooks/golden/$2.txt" >"$W/golden/$2.txt"
    ends_with 2 "$1" "$W/golden" && grep -q "$2.txt: got the end of the file, expected a word" "$W/err"
}

run_fails() {   # run.sh fails if the program fails
    cp examples/notebooks/golden/0*.txt "$W/golden" || return 1
    file=003_self_attention_v2.txt
    sed 's/^0\.2461 0\.2370$/0.2461 0.2470/' examples/notebooks/golden/$file >"$W/golden/$file"
    cp "$P/attention_steps" "$P/trainable_attention" "$W" || return 1
    GOLDEN_FOLDER=$W/golden ends_with 1 sh examples/notebooks/run.sh "$W/attention_steps" \
        "$W/trainable_attention" && grep -q '^notebooks: 1 of 2 programs failed' "$W/out"
}

P=$BUILD/notebooks
P64=$BUILD/notebooks64
ok 'a printed digit' off "$P/attention_steps" 000_two_head expect X_prime 7.503 203 204
ok 'the last printed digit' \
    off "$P64/udl_multihead" 001_udl_multihead expect print_X_8digits 1.78862849 167 168
ok 'an infinity' off "$P/positional_causal" 004_mha_v1 expect head0_masked_scores -inf 339 340
ok 'a parameter' off "$P/attention_variants" 002_mha_splits param w_query.weight -0.235429 886 886
ok 'a computed number' off "$P64/positional_causal" 004_mha_v1 ref output -0.1915 340 340
ok 'an input' off "$P/trainable_attention" 003_self_attention_v2 input inputs 0.44 230 230
ok 'a number left out' missing "$P/trainable_attention" 003_self_attention_v2
ok 'a truncated file' cut "$P/attention_variants" 002_dropout
ok 'a missing folder' ends_with 2 "$P/attention_steps" "$W/none"
ok 'a wrong call' ends_with 2 "$P/attention_steps" examples/notebooks/golden and more
ok 'make notebooks fails with a program' run_fails

finish
