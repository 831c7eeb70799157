#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): Punctuation ignores its "behavior".
#
# From "a.-b" Rust's tokenizers 0.23.2 make four pieces (Isolated) or two (Removed), or keep a mark with the
# text before it (MergedWithPrevious). JavaScript makes "a", ".-" and "b" each time, as Rust does only for
# Contiguous.
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
