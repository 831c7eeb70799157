// "A model learns": played, paused, stepped, begun anew, looked at through time, saved and loaded.
import { readFileSync, writeFileSync } from "node:fs";
import { check, download, note, quiet, same } from "./checks.mjs";

// Expressions that the page evaluates.
const step = "parseInt(document.querySelector('#run_place').textContent)";
const is_playing = "(document.querySelector('#run_play').textContent === 'pause')";
const done = `(/^(\\d+) of \\1 /.test(document.querySelector("#run_place").textContent) && !${is_playing} &&
    !to_draw.size)`;
const tape_loss = `[...document.querySelectorAll("#rows .row")].find(row => row.textContent.includes("loss"))
    .querySelector(".value").textContent`;
const heads = `[...document.querySelectorAll("#model canvas")].map(canvas => canvas.toDataURL()).join()`;

// Documents of bytes that are no UTF-8, zeros, what HTML would run, what reverses the text after it.
const strange = "</script><img src=x onerror=alert(1)>\xff\xfe \xe2\x80\xae \0 \xed\xa0\x80\r\n".repeat(30);

async function set_field(page, name, value) {
    await page.replace(`#run_form [name=${name}]`, value);
    await page.press("Tab");
}

// All that a run gives out, to be compared with native files: NAME.tsv, NAME.safetensors, ...
async function keep(page, folder, name) {
    await download(page, folder, "[data-save=curve]", "loss.tsv", name + ".tsv");
    await download(page, folder, "[data-save=model]", "model.safetensors", name + ".safetensors");
    await download(page, folder, "[data-save=vocab]", "vocab.tsv", name + ".vocab.tsv");
    await download(page, folder, "[data-save=text]", "text.txt", name + ".txt");
    writeFileSync(`${folder}/${name}.sample`, await page.text("#run_sample"));
    writeFileSync(`${folder}/${name}.command`, await page.text("#run_line code"));
}

async function through_time(page, folder) {
    const seen = new Map(), pictures = [];
    for (const [from, to] of [[1, 0], [0, 0.5], [0.5, 1]]) {
        const before = await page.evaluate(tape_loss);
        await page.drag("#run_at", from, to);
        await page.until(`${tape_loss} !== "${before}" && !run.asked && !to_draw.size`);
        const place = await page.evaluate("document.querySelector('#run_at').getAttribute('aria-valuetext')");
        seen.set(parseInt(place.split(" ")[1]), await page.evaluate(tape_loss));
        pictures.push(await page.evaluate(heads));
    }
    await check("the slider: three times, three losses, three pictures", () =>
        same([seen.size, new Set(seen.values()).size, new Set(pictures).size], [3, 3, 3]));
    const prompt = await page.evaluate("document.querySelector('#prompt_text').value");
    writeFileSync(folder + "/prompt", prompt);
    writeFileSync(folder + "/losses", [...seen].map(pair => pair.join("\t") + "\n").join(""));
    return [...seen.values()];
}

async function loaded(page, folder, [first, , last]) {
    const model = readFileSync(folder + "/whole.safetensors"), broken = Buffer.from(model);
    await page.click("#run_again");
    await page.until(`${step} === 0 && ${tape_loss} === "${first}"`);
    broken.write("{{{{", 8);
    for (const [what, bytes] of [["half a model", model.subarray(0, model.length / 2)],
        ["a broken header", broken], ["no model", "She sells sea shells"], ["an empty file", ""]]) {
        writeFileSync(folder + "/damaged.safetensors", bytes);
        await check(what + ": a sentence", async () => {
            await page.evaluate("document.querySelector('#run_error').textContent = ''");
            await page.attach("#run_load", folder + "/damaged.safetensors");
            const why = await page.until("document.querySelector('#run_error').textContent");
            if (!/\w+ \w+ \w+/.test(why)) throw new Error("got " + why);
            same(await page.evaluate(tape_loss), first);
        });
    }
    await check("a saved model is loaded", async () => {
        await page.attach("#run_load", folder + "/whole.safetensors");
        await page.until(`${tape_loss} === "${last}"`);
        same(await page.text("#run_error"), "");
    });
}

// A run that is not closed would keep five megabytes of the module. What is free is not always used again in
// the same way, so its size may differ a little.
async function restarts(page) {
    const seen = [];
    for (let i = 0; i < 10; i++) {
        await page.click("#run_again");
        if (!await page.evaluate(is_playing)) await page.click("#run_play");
        await page.until(`training.open && run.step >= 10 && run.step < 100`);
        await page.send("HeapProfiler.collectGarbage");
        seen.push([await page.evaluate("run.memory"), (await page.send("Runtime.getHeapUsage")).usedSize]);
    }
    const [third, tenth] = [seen[2], seen[9]];
    note(`memory after 3 and 10 restarts, in bytes: ${third[0]} and ${tenth[0]} of the module, ` +
        `${third[1]} and ${tenth[1]} of the page's scripts`);
    await check("ten restarts: memory does not grow", () =>
        same([tenth[0] < third[0] + 1.5e6, tenth[1] < third[1] + 1.5e6], [true, true]));
    await check("ten restarts: one worker", () => same(page.workers.length, 1));
}

export default async function training(browser, address, folder) {
    const page = await browser.open(address + "#training", 1280, 800), quick = !page.send_to;
    await check("it opens playing, and a loss arrives", () => page.until(
        `${is_playing} && ${step} > 0 && /\\d/.test(document.querySelector("#run_legend b").textContent)`));
    note(`the first loss was seen ${await page.evaluate("performance.now().toFixed(0)")} ms after opening`);
    await check("pause", async () => {
        await page.click("#run_play");
        await page.until(`!${is_playing}`);
    });
    await check("one step is one", async () => {
        const before = await page.evaluate(step);
        await page.click("#run_step");
        await page.until(`${step} > ${before}`);
        same(await page.evaluate(step), before + 1);
    });
    if (!quick) {
        await page.click("#run_play");
        await page.until(`run.step < 300 && ${is_playing}`);
        const frames = await page.evaluate(`new Promise(resolve => {
            const times = [], next = () => requestAnimationFrame(frame);
            const frame = time => times.push(time) < 60 ? next() : resolve(times);
            next();
        })`);
        note(`frames a second while training: ${(59e3 / (frames[59] - frames[0])).toFixed(0)}`);
    }
    await check("to the end", async () => {
        if (quick) await set_field(page, "steps", "60");
        await page.until(`run.steps === ${quick ? 60 : 400} && ${done}`);
    });
    await keep(page, folder, "first");
    await check("restart, three single steps, play", async () => {
        await page.click("#run_again");
        await page.until(`training.open && ${step} === 0`);
        for (const i of [1, 2, 3]) {
            await page.click("#run_step");
            await page.until(`${step} === ${i}`);
        }
        await page.click("#run_play");
        await page.until(done);
    });
    await keep(page, folder, "whole");
    await check("it gives out the same bytes again", () => {
        for (const file of [".tsv", ".safetensors", ".sample"])
            if (!readFileSync(folder + "/whole" + file).equals(readFileSync(folder + "/first" + file)))
                throw new Error(file + " has other bytes");
    });
    const losses = await through_time(page, folder);
    await loaded(page, folder, losses);
    if (!quick) await restarts(page);
    await check("other settings", async () => {
        await set_field(page, "steps", "40");
        await set_field(page, "seed", "2");
        await page.choose("#run_form [name=width]", "64");
        await page.choose("#run_form [name=optimizer]", "muon");
        await page.click("#run_form [name=lines]");
        writeFileSync(folder + "/dropped", Buffer.from(strange, "latin1"));
        await (page.drop ? page.drop("#run_text", folder + "/dropped")
            : page.attach("#run_file", folder + "/dropped"));
        await page.until("document.querySelector('#run_text_facts').textContent.includes('dropped')");
        if (!await page.evaluate(is_playing)) await page.click("#run_play");
        await page.until(`${done} && run.steps === 40`);
    });
    await keep(page, folder, "other");
    await quiet(page, "training");
    await page.close();
}
