#!/bin/sh
# Makes the seeds of the targets in this folder: sh tests/fuzz/seeds.sh FOLDER fills FOLDER/TARGET with small
# files, valid and broken. The programs in ${BUILD:-build} make the files of a run from README.md: run the
# script in the repository's root.
BUILD=${BUILD:-build}
C=$1
rm -rf "$C"
for target in safetensors npy tokenizer model resume; do
    mkdir -p "$C/$target" || exit 1
done

# ---- safetensors: of b.w (2, 3), a (2) and the scalar c ------------------------------------------------
number=0
seed() {        # seed HEADER BYTES: a file with that header and that many bytes after it
    number=$((number + 1))
    length=$(printf '%s' "$1" | wc -c)
    {
        # shellcheck disable=SC2059
        printf "\\$(printf %03o $((length % 256)))\\$(printf %03o $((length / 256)))\\0\\0\\0\\0\\0\\0%s" "$1"
        head -c "$2" /dev/zero
    } >"$C/safetensors/$number"
}
a='"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}'
b='"b.w":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}'
c='"c":{"dtype":"F32","shape":[],"data_offsets":[32,36]}'
seed "{$a,$b,$c}" 36
seed "{\"__metadata__\":{\"format\":\"pt\",\"\\u0041\\n\":\"\\ud83d\\ude00\"},$a,$b,$c}    " 36
seed ' {"a":{"dtype":"F64","shape":[2],"data_offsets":[0,16]},'\
'"b.w":{"shape":[2,3],"dtype":"F64","data_offsets":[16,64]},'\
'"c":{"dtype":"F64","shape":[],"data_offsets":[64,72]}}' 72
seed '{"a":{"dtype":"F16","shape":[2],"data_offsets":[0,4]},'\
'"b.w":{"dtype":"BF16","shape":[2,3],"data_offsets":[4,16]},'\
'"c":{"dtype":"F16","shape":[],"data_offsets":[16,18]}}' 18
seed "{$a,$b,$c,\"d\":{\"dtype\":\"I64\",\"shape\":[0,3],\"data_offsets\":[36,36]}}" 36
seed "{$a,$b}" 32
seed "{$a,$b,$c}x" 36
seed "{$a,$a,$b,$c}" 36
seed "{$a,$b,$c}" 35
seed '{"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}}' 0
seed '{"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}}' 8
seed '{}' 0
printf '\377\377\377\377\377\377\377\177{}' >"$C/safetensors/long"
printf '' >"$C/safetensors/empty"

# ---- npy -----------------------------------------------------------------------------------------------
npy() {         # npy VERSION HEADER BYTES
    number=$((number + 1))
    length=$(printf '%s\n' "$2" | wc -c)
    [ "$1" = 1 ] && rest='' || rest='\0\0'
    {
        # shellcheck disable=SC2059
        printf "\\223NUMPY\\00$1\\0\\$(printf %03o "$length")\\0$rest%s\n" "$2"
        head -c "$3" /dev/zero
    } >"$C/npy/$number"
}
npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" 24
npy 1 "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }   " 48
npy 2 "{'descr': '>f4', 'fortran_order': False, 'shape': (), }" 4
npy 3 "{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }" 6
npy 1 "{'descr': '>f8', 'fortran_order': True, 'shape': (2, 1, 2), }" 32
npy 1 "{'descr': '<i4', 'fortran_order': False, 'shape': (1,), }" 4
npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (2147483647, 2147483647), }" 0
npy 1 "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 3), }" 0
npy 1 "{\"shape\": (1,), \"descr\": \"|f4\", \"fortran_order\": False}" 4

# ---- a tokenizer ---------------------------------------------------------------------------------------
tokenizer() {   # tokenizer MERGES VOCAB TEXT
    number=$((number + 1))
    # shellcheck disable=SC2059
    printf "$1====\n$2====\n$3" >"$C/tokenizer/$number"
}
{
    cat tests/golden/tokenizer/merges.txt && echo ==== && echo ==== &&
        head -c 300 tests/golden/tokenizer/text.txt
} >"$C/tokenizer/gpt2"
{
    head -n 40 tests/golden/tokenizer/merges.txt && echo ==== && cat tests/golden/tokenizer/vocab.json &&
        echo ==== && head -c 300 tests/golden/tokenizer/text.txt
} >"$C/tokenizer/missing"
{
    printf '{"pre_tokenizer":{"type":"ByteLevel"},' &&
        printf '"model":{"type":"BPE","merges":["x y",["z","z"]],"vocab":%s}}' \
        "$(cat tests/golden/tokenizer/vocab.json)" && printf '\n====\n====\nxyzzy'
} >"$C/tokenizer/json"
tokenizer '#version: 0.2\na b\nab c\n\304\240 a\n' '' "abc it's 12  \n\377\303\251 aaaa"
tokenizer 'a b\nc d' '{"a":0,"b":1,"ab":2}\n' 'ab'
tokenizer '{"model":{"type":"BPE","vocab":{"a":0,"\\u0120":1},"merges":[]}}\n' '' ' a'
tokenizer '{"a":[[[[1,{"b":"\\ud83d\\ude00"}]]]]}\n' '' x
tokenizer '' '' 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'

# ---- the files of a run --------------------------------------------------------------------------------
head -c 2000 README.md >"$C/text"
for flags in '' '--bias --no-tied --optimizer sgd' '--qkv-bias --gelu tanh --init torch --layers 2' \
    '--lines --accumulate 2 --patience 3'; do
    number=$((number + 1))
    # shellcheck disable=SC2086
    "$BUILD/train" --data "$C/text" --context 4 --width 2 --heads 1 --layers 1 --batch 1 --steps 1 \
        --sample 0 \
        --quiet --out "$C/run" $flags >"$C/said" || exit 1
    cp "$C/run/config.tsv" "$C/resume/$number"
    cp "$C/run/model.safetensors" "$C/model/$number"
    {
        printf '{"weight_map":{'
        head -c 100000 "$C/run/model.safetensors" | tr -d '\000' | grep -ao '"[a-z_A-Z0-9.]*":{"dtype"' |
            sed 's/{"dtype"/"a.safetensors",/' | tr -d '\n' | sed 's/,$/}}/'
        printf '\n====\n'
        cat "$C/run/model.safetensors"
    } >"$C/model/shards$number"
    { echo ==== && cat "$C/run/vocab.tsv" && echo ==== && head -c 100 "$C/text"; } >"$C/tokenizer/tsv$number"
done
printf '====\n10\t\\n\n====\nx' >"$C/tokenizer/short"
printf '====\n10\t\\n====\nx' >"$C/tokenizer/unended"
rm -rf "$C/run" "$C/text" "$C/said"
