// Hostile input, typed, pasted or dropped: none of it runs, and the page goes on or tells why not.
import { writeFileSync } from "node:fs";
import { check, quiet, same } from "./checks.mjs";

const evil = JSON.stringify("</script></textarea><img src=x onerror='owned = 1'><svg onload='owned = 1'>" +
    "<!--<script>owned = 1</script> \u202e turned \u2066 \u061c ${owned = 1} `'\\u0000\\\"\n");
const texts = [["hostile text", `${evil}.repeat(99)`, ""], ["no text", '""', "0 bytes"],
    ["a letter", '"a"', "1 byte"], ["a megabyte", '("to be or not ".repeat(99) + "\\n").repeat(777)', ""]];
const fields = [["lr", "1e38"], ["lr", "0"], ["seed", "99999999999999999999"], ["steps", "0"], ["batch", ""],
    ["context", "100000"], ["batch", "1.5"]];
const typed = [evil, '"(".repeat(1e5)', '"a+".repeat(1e5) + "a"', '"-".repeat(1e5)', '"__proto__ = $"',
    '"y = constructor + toString *"', '"x = randn(99999, 99999)"', '"y = a^1e999 $"'];
const harm = "[typeof owned, document.title, document.images.length, document.scripts.length]";
const turned = `document.body.innerText.replace(by_id("typed_marks").innerText, "")
    .match(/[\\u061c\\u202a-\\u202e\\u2066-\\u2069]/g)`;

export default async function hostile(browser, address, folder) {
    const page = await browser.open(address + "#training", 1280, 800), before = await page.evaluate(harm);

    async function unharmed(what) {
        await check(what + ": nothing was run", async () => same(await page.evaluate(harm), before));
        await check(what + ": no text is turned", async () => same(await page.evaluate(turned), null));
    }
    // After each change the page trains, or shows a sentence with the given word.
    async function attempt(what, word, change) {
        await check(`${what}: ${word ? "a sentence" : "it trains"}`, async () => {
            const run = await page.evaluate("(run_error.textContent = '', training.run)");
            await change();
            await page.until(`${/lr|batch/.test(what)} || run_error.textContent || training.run > ${run} && training.open`);
            if (await page.evaluate("training.open && !training.playing && !run_error.textContent"))
                await page.click("#run_play");
            const why = await page.until(`run_error.textContent || ${!word} && training.open && run.step > 0`);
            if (word ? !String(why).includes(word) : why !== true) throw new Error("got " + why);
        });
    }

    await check("a hostile prompt", async () => {
        await page.paste("#prompt_text", evil);
        await page.until("prompt_text.value.includes('owned') && !run.asked && !to_draw.size");
    });
    await unharmed("a hostile prompt");
    for (const [what, text, word] of texts) {
        await attempt(what, word, () =>
            text === '""' ? page.replace("#run_text", "") : page.paste("#run_text", text));
        await unharmed(what);
    }
    const file = `${folder}/<img src=x onerror="owned = 1">\u202e.txt`;
    writeFileSync(file, "to be or not to be\n".repeat(99));
    await attempt("a hostile name of a file", "", () => page.drop("#run_text", file));
    await unharmed("a hostile name of a file");
    await attempt("zeros and halves of characters", "", () =>
        page.evaluate(`(run_text.value = "a\\0\\ud800 \\udfff b\\r\\n".repeat(200),
            run_text.dispatchEvent(new Event("input")))`));
    for (const [name, value] of fields) {
        const selector = `#run_form [name=${name}]`, was = await page.evaluate(`run_form["${name}"].value`);
        const word = name === "lr" ? "learning rate" : name;
        await attempt(`${name} '${value}'`, word, async () => {
            await page.replace(selector, value);
            await page.press("Tab");
        });
        await page.replace(selector, was);
        await page.press("Tab");
        await page.until(`run_form["${name}"].value === "${was}" && training.open`);
    }
    await check("after all that, it trains", async () => {
        if (!await page.evaluate("training.playing")) await page.click("#run_play");
        await page.until("run.step > 0");
        await page.click("#run_play");
    });
    await page.click("#screens [data-screen=expression]");
    for (const text of typed) {
        await check("a mistake in " + text.slice(0, 40), async () => {
            await page.evaluate("(typed_mistake.textContent = '', 1)");
            await page.paste("#typed_text", text);
            await page.until("/\\w+ \\w+ \\w+/.test(typed_mistake.textContent)");
        });
        await unharmed(text.slice(0, 40));
    }
    await check("after all that, an expression", async () => {
        await page.replace("#typed_text", "y = 2*a");
        await page.until("!typed.waits && document.querySelectorAll('#typed_inputs tr').length === 1");
        same(await page.text("#typed_verdict"), "\u2713 The gradient check passed.");
    });
    await quiet(page, "hostile");
    await page.close();
}
