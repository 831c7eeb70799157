// "A model learns": played, paused, stepped, restarted, viewed over time, saved and loaded.
import { readFileSync, writeFileSync } from "node:fs";
import { check, download, note, quiet, same, still } from "./checks.mjs";

// Expressions that the page evaluates.
const step = "Number(/after (\\d+) of/.exec(document.querySelector('#run_place').textContent)?.[1])";
const is_playing = "(document.querySelector('#run_play').textContent === 'pause')";
const done = `(/after (\\d+) of \\1 /.test(document.querySelector("#run_place").textContent) && !${is_playing} &&
    !to_draw.size && !run.asked)`;
// Every step number shown at one moment: the place, the slider, the heads.
const named = `[by_id("run_place").textContent, by_id("run_at").getAttribute("aria-valuetext"),
    by_id("state").textContent].map(text => Number(/after (?:all )?(\\d+)/.exec(text)[1]))`;
const tape_loss = `[...document.querySelectorAll("#rows .row")].find(row => row.textContent.includes("loss"))
    .querySelector(".value").textContent`;
const heads = `[...document.querySelectorAll("#model canvas")].map(canvas => canvas.toDataURL()).join()`;

// Documents with invalid UTF-8, zeros, HTML that would run, and characters that reverse the text after them.
const strange = "</script><img src=x onerror=alert(1)>\xff\xfe \xe2\x80\xae \0 \xed\xa0\x80\r\n".repeat(30);

async function set_field(page, name, value) {
    await page.replace(`#run_form [name=${name}]`, value);
    await page.press("Tab");
}

// All files of a run, to be compared with native files: NAME.tsv, NAME.safetensors, ...
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
    await check("it writes at once, and has no norms of a step", async () => {
        same(await page.text("#run_sample"), readFileSync(folder + "/whole.sample", "utf8"));
        same(await page.evaluate(`[...document.querySelectorAll("#run_norms .number")].map(x => x.textContent).join("")`), "");
    });
}

// A run that is not closed would keep five megabytes of the module. Free memory is not always reused in
// the same way, so the module's size may differ a little.
async function restarts(page) {
    const seen = [];
    for (let i = 0; i < 10; i++) {
        await page.click("#run_again");
        if (!await page.evaluate(is_playing)) await page.click("#run_play");
        await page.until(`training.open && run.step >= 10`);
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

// A text that is too short: the shown results belong to the previous text, and are dimmed.
async function refused(page) {
    await check("a text that is refused, in the page's words", async () => {
        const was = await page.evaluate("run_text.value"), dim = "getComputedStyle(run_middle).opacity < 1";
        await page.paste("#run_text", "'short'");
        const why = await page.until("run_error.textContent");
        if (why.includes("--") || !/context/.test(why)) throw new Error("got " + why);
        same(await page.evaluate(`[${dim}, getComputedStyle(inspect).opacity < 1]`), [true, true]);
        await page.paste("#run_text", JSON.stringify(was));
        await page.until(`!run_error.textContent && training.open && !(${dim})`);
    });
    await check("a prompt that is refused", async () => {
        await page.replace("#prompt_text", "zzz");
        await page.until("prompt_error.textContent && getComputedStyle(inspect).opacity < 1");
        const why = await page.text("#prompt_error");
        if (/byte|--/.test(why)) throw new Error("got " + why);
        await page.replace("#prompt_text", "She sells sea sh");
        await page.until("!prompt_error.textContent && getComputedStyle(inspect).opacity === '1'");
    });
}

// The prompt is continued; the bars follow the sliders.
async function writes_on(page) {
    const bars = `[...document.querySelectorAll("#next .number")].map(x => x.textContent)`;
    const slide = async (name, value) => {
        const before = await page.evaluate(bars + ".join()");
        await page.evaluate(`(write[${JSON.stringify(name)}].value = ${value},
            write.dispatchEvent(new Event("input")), 1)`);
        await page.until(`${bars}.join() !== "${before}"`);
        return page.evaluate(bars);
    };
    await check("write on", async () => {
        await page.click("#write_on");
        const text = await page.until("!written.hidden && written.textContent");
        same([text.startsWith("She sells sea sh"), text.length], [true, 116]);
    });
    await check("temperature 0: one token; top-k 2: two", async () => {
        same((await slide("temperature", 0))[0], "100.0 %");
        await slide("temperature", 2);
        same((await slide("top_k", 2)).filter(p => parseFloat(p) > 0).length, 2);
    });
}

// At step 100 the rate and the batch change; tests/programs/page.sh compares with the module in node.
async function changes(page, folder) {
    await check("a rate and a batch change at step 100", async () => {
        if (await page.evaluate(is_playing)) await page.click("#run_play");
        await page.until(`!${is_playing}`);
        await page.click("#run_again");
        await page.until(`training.open && !${is_playing} && run.step === 0 && !run.asked`);
        await page.evaluate("(() => { for (let i = 0; i < 100; i++) tell({ do: 'step' }); })()");
        await page.until("run.step === 100");
        await set_field(page, "lr", "0.003");
        await set_field(page, "batch", "4");
        await page.until("by_id('run_until').textContent.includes('up to step 100')");
        await page.click("#run_play");
        await page.until(done);
        await download(page, folder, "[data-save=curve]", "loss.tsv", "changed.tsv");
        await set_field(page, "lr", "0.01");
        await set_field(page, "batch", "8");
    });
}

export default async function training(browser, address, folder) {
    const page = await browser.open(address + "#training", 1280, 800), quick = !page.send_to;
    await check("it opens at rest", async () => {
        await page.until("run.moment");
        same(await page.evaluate(`[${is_playing}, run.step]`), [false, 0]);
        await page.until("!run.asked && !to_draw.size");
    });
    await check("nothing moves when it plays", () => still(page, async () => {
        await page.click("#run_play");
        await page.until(`${step} > 0 && /\\d/.test(document.querySelector("#run_legend b").textContent)`);
    }));
    await check("one step everywhere", async () => {
        for (let i = 0; i < 5; i++) {
            const before = await page.evaluate(step);
            await page.until(`!to_draw.size && (${step} > ${before} || !${is_playing})`);
            same(new Set(await page.evaluate(`to_draw.size ? [0] : ${named}`)).size, 1);
        }
    });
    note(`the first loss was seen ${await page.evaluate("performance.now().toFixed(0)")} ms after opening`);
    await check("pause", async () => {
        if (await page.evaluate(is_playing)) await page.click("#run_play");
        await page.until(`!${is_playing}`);
        await page.click("#run_again");
        await page.until(`training.open && run.step === 0 && !run.asked && !to_draw.size`);
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
    await check("to the end, where nothing moves", async () => {
        if (quick) {
            await set_field(page, "steps", "60");
            await page.until("training.open && run.steps === 60 && run.moment && !run.asked && !to_draw.size");
            await page.click("#run_play");
        }
        await still(page, () => page.until(`run.steps === ${quick ? 60 : 400} && ${done}`));
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
    await refused(page);
    if (!quick) {
        await writes_on(page);
        await changes(page, folder);
    }
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
