#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): Metaspace with "split": true does not split.
#
# Merges then go across words. With the merge ("a", "▁") Rust's tokenizers 0.23.2 never make the token "a▁"
# from "a a", since each word is a separate piece. The JavaScript tokenizers do, so the ids differ.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
tokenizers
cat >t.cjs <<'JS'
const { both, bpe } = require('./both.cjs')
both({ pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', split: true },
    model: bpe(['a', '▁', 'a▁'], [['a', '▁']]) }, 'a a a')
JS
node t.cjs | seen "Rust a|▁|a|▁|a
JavaScript a▁|a▁|a"
