#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): Punctuation ignores its "behavior".
#
# Of "a.-b" Rust's tokenizers 0.23.2 make four pieces (Isolated), two (Removed), or keep a mark with what
# stands before it (MergedWithPrevious). JavaScript has "a", ".-" and "b" for each, as Rust has for
# Contiguous alone.
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
const marks = bpe(['a', 'b', '.', '-', '.-', 'a.'], [['.', '-'], ['a', '.']])
;(async () => {
    for (const behavior of ['Isolated', 'Removed', 'MergedWithPrevious', 'Contiguous'])
        await both({ pre_tokenizer: { type: 'Punctuation', behavior }, model: marks }, 'a.-b')
})()
JS
cd "$T" && node t.cjs | seen "Rust a|.|-|b
JavaScript a|.-|b
Rust a|b
JavaScript a|.-|b
Rust a.|-|b
JavaScript a|.-|b
Rust a|.-|b
JavaScript a|.-|b"
