#!/bin/sh
# Hugging Face's @huggingface/tokenizers 0.2.0 (JavaScript): Metaspace with "split": true does not split.
#
# Merges then go across words. With the merge ("a", "▁") Rust's tokenizers 0.23.2 never make the token "a▁"
# of "a a", since each word is a piece of its own; JavaScript's do, and the ids differ.
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
both({ pre_tokenizer: { type: 'Metaspace', replacement: '▁', prepend_scheme: 'never', split: true },
    model: bpe(['a', '▁', 'a▁'], [['a', '▁']]) }, 'a a a')
JS
cd "$T" && node t.cjs | seen "Rust a|▁|a|▁|a
JavaScript a▁|a▁|a"
