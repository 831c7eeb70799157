#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): FixedLength counts units of UTF-16, and cuts
# characters in two.
#
# With length 3 the four characters of "😀😁😂x" are pieces of 3 and 1 in Rust's tokenizers 0.23.2. In JavaScript
# the first piece ends in half of 😁, which no vocabulary has: both halves become the unknown token.
# shellcheck source=findings/found.sh
. "$(dirname "$0")/found.sh"
node_packages tokenizers@0.23.2 @huggingface/tokenizers@0.2.0
cat >"$T/t.cjs" <<'JS'
const fs = require('fs')
const { Tokenizer: Rust } = require('tokenizers')
const { Tokenizer: Js } = require('@huggingface/tokenizers')
const json = parts => ({ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null,
    pre_tokenizer: null, post_processor: null, decoder: null, ...parts })
// Both, as tokens with a bar between.
async function both(parts, text) {
    fs.writeFileSync('t.json', JSON.stringify(json(parts)))
    console.log('Rust', (await Rust.fromFile('t.json').encode(text)).getTokens().join('|'))
    console.log('JavaScript', new Js(json(parts), {}).encode(text).tokens.join('|'))
}
const bpe = (vocab, merges) => ({ type: 'BPE', dropout: null, unk_token: '?', continuing_subword_prefix: null,
    end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false,
    vocab: Object.fromEntries(['?', ...vocab].map((token, id) => [token, id])), merges })
both({ pre_tokenizer: { type: 'FixedLength', length: 3 }, model: bpe(['😀', '😁', '😂', 'x'], []) }, '😀😁😂x')
JS
cd "$T" && node t.cjs | seen "Rust 😀|😁|😂|x
JavaScript 😀|?|?|😂|x"
