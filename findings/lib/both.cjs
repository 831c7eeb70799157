// both: a text encoded by Hugging Face's tokenizers in Rust and in JavaScript.
const fs = require('fs')
const { Tokenizer: Rust } = require('tokenizers')
const { Tokenizer: Js } = require('@huggingface/tokenizers')
const json = parts => ({ version: '1.0', truncation: null, padding: null, added_tokens: [], normalizer: null,
    pre_tokenizer: null, post_processor: null, decoder: null, ...parts })
// Both results, as tokens with a bar between them.
async function both(parts, text) {
    fs.writeFileSync('t.json', JSON.stringify(json(parts)))
    console.log('Rust', (await Rust.fromFile('t.json').encode(text)).getTokens().join('|'))
    console.log('JavaScript', new Js(json(parts), {}).encode(text).tokens.join('|'))
}
const bpe = (vocab, merges) => ({ type: 'BPE', dropout: null, unk_token: '?', continuing_subword_prefix: null,
    end_of_word_suffix: null, fuse_unk: false, byte_fallback: false, ignore_merges: false,
    vocab: Object.fromEntries(['?', ...vocab].map((token, id) => [token, id])), merges })
module.exports = { both, bpe }
