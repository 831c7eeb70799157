#!/bin/sh
# Tests the module in build/page.html, on one thread and without POSIX: its losses, sample and model are those
# of train with GRADUS_ISA=base, bit for bit. Skipped, with a sentence, if clang's target, libraries or node
# are missing.
. tests/lib/ok.sh

target=wasm32-wasi
clang=${WASM_CC:-clang}
echo 'int answer(void) { return 42; }' >"$W/empty.c"
works() {
    command -v node >/dev/null && "$clang" --target=$target -mexec-model=reactor -Wl,--export=answer \
        -o "$W/empty.wasm" "$W/empty.c" -lm
}
if ! works >"$W/why" 2>&1; then
    echo "wasm.sh: left out: it needs node, and clang with the target $target" \
        "(on Debian: apt install nodejs clang lld wasi-libc libclang-rt-dev-wasm32)"
    exit 0
fi

# Lesson 05's text. The last tenth, 18 bytes, is held out.
printf '%s\n' 'She sells sea shells by the sea shore.' "The shells she sells are sea shells, I'm sure." \
    'For if she sells sea shells by the sea shore,' "then I'm sure she sells sea shore shells." >"$W/text"
shape="--context 16 --width 32 --layers 2 --heads 4 --batch 8 --steps 400 --lr 0.01 --seed 1"

page() {        # page DO NAME FLAGS: runs page.mjs, whose files go to $W/NAME
    mkdir -p "$W/$2" && node tests/build/wasm/page.mjs "$1" "$BUILD/page_f32.wasm" "$W/text" "$3" "$W/$2"
}

native() {      # the module's sources as a program, with the existing objects
    set -- "$BUILD/look_page.c"
    for file in $("${MAKE:-make}" -s page-sources); do
        [ ! -f "$BUILD/f32/${file%.c}.o" ] || file=$BUILD/f32/${file%.c}.o
        set -- "$@" "$file"
    done
    # Some of the objects contain functions that open files, but nothing calls them.
    ${CC:-cc} -std=c11 -O1 -D_POSIX_C_SOURCE=200809L -I. -ffunction-sections -fdata-sections -Wall -Wextra \
        -Werror tests/build/wasm/page.c "$@" -Wl,--gc-sections ${SANITIZE:-} ${CFLAGS:-} ${LDFLAGS:-} -lm \
        -pthread -o "$W/page.native"
}

trained() {     # trained NAME FLAGS: runs train for comparison
    GRADUS_ISA=base "$TRAIN" --data "$W/text" --out "$W/$1" --threads 1 --quiet $2
}

same() {        # same A B FILE ...: equal tables except for times, and equal files byte for byte
    a=$1 b=$2
    shift 2
    for table in "$a" "$b"; do
        cut -f 1-5,7 "$W/$table/loss.tsv" >"$W/$table/table" || return 1
    done
    for file in table "$@"; do
        cmp "$W/$a/$file" "$W/$b/$file" || return 1
    done
}

ok "the page's module compiles without a warning, and links" \
    "${MAKE:-make}" B="$BUILD" WERROR=1 "$BUILD/page_f32.wasm"
ok "train" trained alone "$shape"
ok "page: 400 steps" page train module "$shape"
ok "page: losses, sample and model are those of train, byte for byte" \
    same alone module sample.txt vocab.tsv model.safetensors
ok "page: slices, with looks, samples and saving in between" page look slices "$shape"
ok "page: they change nothing" same alone slices sample.txt vocab.tsv model.safetensors
ok "page: restarts take no memory" page restart other "$shape"
ok "page: impossible settings are refused with a sentence" page refuse other "$shape"
ok "page: so are damaged models, and the model stays" page load other "$shape"
ok "page: what follows a prompt" page write other "$shape"
ok "page: without some parts of the model" page broken other "$shape"
ok "page: natively, it compiles" native
mkdir -p "$W/native"
ok "page: natively, it runs" env GRADUS_ISA=base "$W/page.native" "$W/text" "$shape" "$W/native"
ok "page: natively, the same" same module native model.safetensors
mkdir -p "$W/changed.native"
ok "page: a rate and a batch that change" page change changed "$shape"
ok "page: natively" env GRADUS_ISA=base "$W/page.native" "$W/text" "$shape" "$W/changed.native" change
ok "page: the same" same changed changed.native model.safetensors

# Other flags: dropout, Muon, biases, validations during training; then --lines, with a text of more lines.
other="--width 24 --heads 3 --layers 1 --batch 4 --steps 60 --eval-every 7 --eval-batches 3 --seed 5 --bias \
    --optimizer muon --dropout 0.1 --accumulate 2 --no-tied --gelu tanh"
ok "train, with other flags" trained muon "--context 9 $other"
ok "page, with other flags" page train muon.page "--context 9 $other"
ok "the same" same muon muon.page sample.txt vocab.tsv model.safetensors
seq 1000 37 3000 >"$W/text"
ok "train, with lines" trained lines "--lines --context 6 $other"
ok "page, with lines" page train lines.page "--lines --context 6 $other"
ok "the same" same lines lines.page sample.txt vocab.tsv model.safetensors

finish
