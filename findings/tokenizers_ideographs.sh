#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): BertNormalizer's handle_chinese_chars leaves
# ideographs past U+FFFF together.
#
# U+4E2D U+6587 are two words in both libraries. U+20000 and U+2A700 (extensions B and C) are two words in
# Rust's tokenizers 0.23.2, which know their blocks. In JavaScript they are one word, which the vocabulary
# does not have.
T=$(mktemp -d) || exit 1                # found.sh removes it
# shellcheck source=findings/lib/found.sh
. "$(dirname "$0")/lib/found.sh"
tokenizers
cat >t.cjs <<'JS'
const { both } = require('./both.cjs')
const model = { type: 'WordLevel', unk_token: '?',
    vocab: { '?': 0, '中': 1, '文': 2, '\u{20000}': 3, '\u{2A700}': 4 } }
const normalizer = { type: 'BertNormalizer', clean_text: true, handle_chinese_chars: true,
    strip_accents: false, lowercase: false }
const parts = { normalizer, model, pre_tokenizer: { type: 'WhitespaceSplit' } }
both(parts, '中文').then(() => both(parts, '\u{20000}\u{2A700}'))
JS
node t.cjs | seen "Rust 中|文
JavaScript 中|文
Rust 𠀀|𪜀
JavaScript 𠀀𪜀"
