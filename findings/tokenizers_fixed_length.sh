#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): FixedLength counts units of UTF-16, and cuts
# characters in two.
#
# With length 3 the four characters of "😀😁😂x" are pieces of 3 and 1 in Rust's tokenizers 0.23.2. In JavaScript
# the first piece ends in half of 😁, which no vocabulary has: both halves become the unknown token.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
tokenizers
cat >t.cjs <<'JS'
const { both, bpe } = require('./both.cjs')
both({ pre_tokenizer: { type: 'FixedLength', length: 3 }, model: bpe(['😀', '😁', '😂', 'x'], []) }, '😀😁😂x')
JS
node t.cjs | seen "Rust 😀|😁|😂|x
JavaScript 😀|?|?|😂|x"
