// Drives the page's training module through the page's bridge:  node page.mjs DO MODULE TEXT FLAGS DIR
import fs from "node:fs";
import assert from "node:assert/strict";
import zlib from "node:zlib";

const [, , what, file, text_file, flags, dir] = process.argv;
const open_module = new Function(fs.readFileSync("examples/page/bridge.js", "utf8") + "\nreturn open_module")();
const bytes = fs.readFileSync(file), text = fs.readFileSync(text_file);
const allowed = ["fd_close", "fd_fdstat_get", "fd_seek", "fd_write"];
for (const { name } of WebAssembly.Module.imports(new WebAssembly.Module(bytes)))
    assert(allowed.includes(name), `the module imports ${name}, which a page cannot give`);
const m = await open_module(zlib.gzipSync(bytes));

const open = (how = flags, of = text, broken = 0) => m.number("run_open", how, of, of.length, broken);
const why = () => m.text("run_why");
const news = () => m.json("run_news");
const look = (step, prompt = "She sells sea") => m.text("run_look", step, prompt);
const moment = (...how) => JSON.parse(look(...how)), sample = () => moment(1e9).sample;
const write = (...how) => m.json("run_write", 1e9, "She", 20, ...how);
const saved = () => m.bytes_at(m.number("run_save"), m.number("run_saved_size"));
const must_open = (...how) => assert.equal(open(...how), 0, why());

function write_files() {
    fs.writeFileSync(`${dir}/loss.tsv`, m.text("run_loss_tsv"));
    fs.writeFileSync(`${dir}/sample.txt`, sample());
    fs.writeFileSync(`${dir}/vocab.tsv`, m.text("run_vocab_tsv"));
    fs.writeFileSync(`${dir}/model.safetensors`, saved());
}

const actions = {
    // All steps at once, then the files.
    train() {
        must_open();
        const { steps } = news();
        assert.equal(m.number("run_train", steps + 5), steps);
        assert.equal(m.number("run_train", 5), 0);
        write_files();
    },

    // A learning rate and a batch that change after step 100.
    change() {
        must_open();
        m.number("run_train", 100);
        assert.equal(m.number("run_change", 0.003, 4), 0, why());
        m.number("run_train", 5000);
        write_files();
    },

    // What follows a prompt: the probabilities of the next token, and tokens drawn from them.
    write() {
        must_open();
        m.number("run_train", 60);
        const all = write(1, 0, 1, 1), cold = write(0, 0, 1, 1), three = write(1, 3, 1, 1), half = write(1, 0, 0.5, 1);
        const sum = ({ next }) => next.reduce((sum, [, p]) => sum + p, 0), used = ({ next }) => next.filter(x => x[1] > 0);
        assert.equal(all.text.length, 20);
        assert.deepEqual(cold.next[0], [all.next[0][0], 1]);
        assert.equal(used(three).length, 3);
        assert(Math.abs(sum(three) - 1) < 1e-5);
        const ratio = x => x.next[0][1] / x.next[1][1];
        assert(Math.abs(ratio(three) - ratio(all)) < 1e-4 * ratio(all));
        assert(Math.abs(ratio(write(2, 0, 1, 1)) ** 2 - ratio(all)) < 1e-3 * ratio(all));
        assert(used(half).length < 6 && Math.abs(sum(half) - 1) < 1e-5);
        assert.equal(write(1, 0, 1, 1).text, all.text);
        assert.notEqual(write(1, 0, 1, 2).text, all.text);
        assert.equal(write(0, 0, 1, 1).text, write(0, 0, 1, 2).text);
        assert.equal(m.json("run_write", 0, "", 5, 1, 0, 1, 1).text.length, 5);
    },

    // Everything that a page does between slices: the files must be those of train.
    look() {
        must_open();
        const first = look(0), rows = [];
        assert.equal(JSON.parse(first).page.states[0].step, 0);
        assert(JSON.parse(first).norms.every(x => x.grad === null && x.ratio === null), "norms before a step");
        let all = news();
        const { steps } = all;
        for (let n; (n = m.number("run_train", 7)) > 0;) {
            all = news();
            rows.push(...all.rows);
            const last = rows.at(-1), { norms } = moment(1e9), norm = Math.hypot(...norms.map(x => x.grad));
            assert(norms.every(x => x.ratio > 1e-6 && x.ratio < 1.5), JSON.stringify(norms));
            assert.equal(last[0], all.step);
            assert(Math.abs(norm - last[3]) < 1e-5 * norm, `the layers' norms ${norm}, the gradient's ${last[3]}`);
            assert.equal(all.kept[0], 0);
            assert.equal(all.kept.at(-1), all.step);
            assert(all.kept.length <= 61);
            for (const step of [0, all.step, all.step >> 1]) {
                const { page: shown, step: near } = moment(step);
                assert.equal(shown.states[0].step, near);
                const distance = Math.min(...all.kept.map(kept => Math.abs(kept - step)));
                assert.equal(Math.abs(near - step), distance, `step ${step}: ${near}`);
                assert(shown.nodes.some(x => x.op === "attention" && x.grad), "no gradients");
            }
            write(0.8, 0, 1, 1);
            saved();
        }
        const kept = moment(steps >> 1);
        assert.deepEqual(moment(kept.step), kept, "a moment that changes");
        assert.deepEqual(rows.map(row => row[0]), Array.from({ length: steps }, (_, i) => i + 1));
        assert(all.kept.length > 40, `kept ${all.kept.length} states`);
        const curve = ({ page: { nodes } }) => JSON.stringify(nodes);
        assert.equal(curve(JSON.parse(look(0))), curve(JSON.parse(first)), "step 0 has changed");
        assert.notEqual(curve(JSON.parse(look(steps))), curve(JSON.parse(first)));
        write_files();
    },

    // A run takes no more memory than the previous run.
    restart() {
        const sizes = [];
        for (let i = 0; i < 11; i++) {
            must_open();
            m.number("run_train", 80);
            for (const f of [() => look(40), () => write(1, 3, 0.9, 1), saved, news]) f();
            assert.equal(open("--heads 3"), -1);
            sizes.push(m.memory());
        }
        assert.equal(Math.max(...sizes), sizes[0], sizes.join(" "));
    },

    // Impossible settings are refused with a sentence.
    refuse() {
        const refused = (pattern, status) => {
            assert(status === -1 || status === "" || status === null, `got ${status}, expected a refusal`);
            assert.match(why(), pattern);
        };
        for (const call of [() => m.number("run_train", 1), news, () => look(0), () => write(0.8, 0, 1, 1)])
            refused(/no run is open/, call());
        refused(/there is no flag '--witdh'/, open("--witdh 32"));
        refused(/--heads 3 does not divide --width 128/, open("--heads 3"));
        refused(/expected a whole number/, open("--width 0"));
        refused(/needs a value/, open("--width"));
        refused(/from 0 to 2147483647/, open("--seed 2147483648"));     // a long has 32 bits here
        refused(/build\/train --help/, open("--help"));
        for (const flag of ["--from x", "--resume x", "--tokenizer bpe", "--layout huggingface"])
            refused(/need files/, open(flag));
        refused(/--context 64 needs 65/, open(""));
        refused(/expected at most 1073741824/, open("--batch 1000000 --context 1000000 --accumulate 1000000"));
        refused(/expected positive sizes that fit in memory/, open(flags + " --width 100000"));
        refused(/^--products bf16: /, open(flags + " --products bf16"));
        refused(/--lines: the text has 4 lines .* expected 10/, open(flags + " --lines"));
        refused(/the text has 0 bytes/, open(flags, new Uint8Array(0)));
        must_open(flags + " --lr 900 --clip 0");
        refused(/no longer finite; a smaller --lr may help/, m.number("run_train", 99));
        refused(/no longer finite/, m.number("run_train", 99));
        must_open();
        refused(/the model has no token for 'z'/, moment(0, "lazy").page);
        refused(/got 1 token, expected 2 or more/, moment(0, "S").page);
        refused(/got 0 tokens/, moment(0, "").page);
        refused(/the model has no token for 'z'/, m.text("run_write", 0, "lazy", 9, 1, 0, 1, 1));
        for (const [lr, rows] of [[-1, 8], [NaN, 8], [0.1, 0]]) assert.equal(m.number("run_change", lr, rows), -1);
        assert(look(0, "She sells sea shells by the sea shore.\n".repeat(99)));
    },

    // Damaged models: each gets a sentence, and the model does not change.
    load() {
        must_open();
        m.number("run_train", 20);
        const good = saved(), again = Buffer.from(good);
        let refused = 0;
        const load = file => m.number("run_load", file, file.length);
        const must_refuse = (file, what) => {
            assert.equal(load(file), -1, what);
            assert.match(why(), /^(the file: |this is not a model).*/);
            assert.deepEqual(Buffer.from(saved()), again, `${what} has changed the model`);
        };
        for (let n = 0; n < good.length; n += n < 2000 ? 37 : 4099)
            must_refuse(good.slice(0, n), `cut to ${n} bytes`);
        must_refuse(new Uint8Array([...good, 0]), "a byte too many");
        let seed = 1;
        const random = n => (seed = (seed * 48271) % 2147483647) % n;
        for (let i = 0; i < 200; i++) {
            const bad = good.slice(), at = random(i < 150 ? 2000 : bad.length);
            bad[at] ^= 1 + random(255);
            const status = load(bad);
            refused += status !== 0;
            if (status) assert.match(why(), /^(the file: |this is not a model).*/);
            else {                      // the damage hit a value, or a text without meaning
                sample();
                assert.equal(load(good), 0, why());
            }
            assert.deepEqual(Buffer.from(saved()), again);
        }
        assert(refused > 100, `${refused} of 200 were refused`);
        const before = sample();
        m.number("run_train", 20);
        assert.notEqual(sample(), before);
        assert.equal(load(good), 0, why());
        assert.equal(sample(), before);
        assert(moment(1e9).norms.every(x => x.grad === null), "norms of a model that was loaded");
        must_open(flags.replace("--heads 4", "--heads 2"));
        refused = load(good);
        assert.equal(refused, -1);
        assert.match(why(), /got a model of 4 heads, expected 2/);
    },

    // What each part of a GPT contributes.
    broken() {
        const loss = {}, first = {};
        const [no_residual, no_norm, no_positions, no_mask, init_one] = [1, 2, 4, 8, 16];
        for (const how of [0, no_residual, no_norm, no_residual + no_norm, no_positions, no_mask, init_one]) {
            must_open(flags.replace("--layers 2", "--layers 4"), text, how);
            m.number("run_train", 200);
            const { rows, vocab } = news();
            loss[how] = rows.at(-1)[1];
            first[how] = rows[0][1];
            const chance = Math.log(vocab);
            if (how === no_residual + no_norm)
                assert(rows.every(row => Math.abs(row[1] - chance) < 0.01), `neither: ${loss[how]}`);
            const shown = moment(200).page, changed = moment(200, "She sells set").page;
            const begins = ({ states }) => JSON.stringify(states[0].next.slice(0, 3));
            assert.equal(begins(shown) === begins(changed), !(how & no_mask), "a later token is seen");
            assert.equal(shown.nodes.some(x => x.op === "layer_norm"), !(how & no_norm));
            assert.equal(shown.nodes.some(x => x.op === "add"), !(how & no_residual) || !(how & no_positions));
            assert(sample().length > 100);
        }
        assert(loss[0] < 1 && loss[no_residual] > loss[0] + 1, JSON.stringify(loss));
        assert(first[init_one] > 2 * first[0]);
        assert.notEqual(loss[no_positions], loss[0]);
    },
};
actions[what]();
