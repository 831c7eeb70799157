// The ids of texts (the lines of a file) by three libraries of Hugging Face:
//     node huggingface.mjs PARENT FOLDER TEXT
// prints a line "LIBRARY 1,2,3" for each library and text, by the tokenizer in PARENT/FOLDER.
import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const [parent, folder, file] = process.argv.slice(2)
const require = createRequire(path.join(process.cwd(), 'package.json'))
const json = name => JSON.parse(fs.readFileSync(path.join(parent, folder, name), 'utf8'))
const { AutoTokenizer, env } = require('@huggingface/transformers')
const { Tokenizer: Rust } = require('tokenizers')
const { Tokenizer: Js } = require('@huggingface/tokenizers')
env.allowRemoteModels = false
env.localModelPath = parent
const automatic = await AutoTokenizer.from_pretrained(folder)
const rust = Rust.fromFile(path.join(parent, folder, 'tokenizer.json'))
const js = new Js(json('tokenizer.json'), json('tokenizer_config.json'))
for (const text of fs.readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    console.log('transformers.js', String(automatic.encode(text)))
    console.log('rust', String((await rust.encode(text)).getIds()))
    console.log('javascript', String(js.encode(text).ids))
}
