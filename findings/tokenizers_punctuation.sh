#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): Punctuation ignores its "behavior".
#
# Of "a.-b" Rust's tokenizers 0.23.2 make four pieces (Isolated), two (Removed), or keep a mark with what
# stands before it (MergedWithPrevious). JavaScript has "a", ".-" and "b" for each, as Rust has for
# Contiguous alone.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
tokenizers
cat >t.cjs <<'JS'
const { both, bpe } = require('./both.cjs')
const marks = bpe(['a', 'b', '.', '-', '.-', 'a.'], [['.', '-'], ['a', '.']])
;(async () => {
    for (const behavior of ['Isolated', 'Removed', 'MergedWithPrevious', 'Contiguous'])
        await both({ pre_tokenizer: { type: 'Punctuation', behavior }, model: marks }, 'a.-b')
})()
JS
node t.cjs | seen "Rust a|.|-|b
JavaScript a|.-|b
Rust a|b
JavaScript a|.-|b
Rust a.|-|b
JavaScript a|.-|b
Rust a|.-|b
JavaScript a|.-|b"
