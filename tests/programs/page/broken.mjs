// "Break it": the prediction, and what happens. Then the guided path, which leads through all screens.
import { writeFileSync } from "node:fs";
import { check, near, quiet, same, still } from "./checks.mjs";
import { fits } from "./layout.mjs";

async function break_it(page, name, prediction) {
    const at = await page.evaluate(`breaks.findIndex(one => one.name === ${JSON.stringify(name)}) + 1`);
    await page.click(`#break_list button:nth-child(${at})`);
    same(await page.evaluate("by_id('break_plots').hidden"), true);             // first the question
    same(await page.text("#break_question h2"), name);
    await page.click(`#break_answers button:nth-child(${prediction})`);
    await page.until("!experiment.now && experiment.pair[1].done && !broken_asked");
    return [await page.text("#break_verdict"), ...await page.evaluate(
        `["#break_legend b", "#break_norms .number.is_broken"].map(numbers =>
            [...document.querySelectorAll(numbers)].map(number => Number(number.textContent)))`)];
}

// Each station sets up its page, has a question with an answer, and names a file of the ladder.
async function guided(page) {
    await page.click("#path");
    const count = await page.evaluate("document.querySelectorAll('#guide .stations button').length"), seen = new Set();
    await check("the guided path has nine stations", () => same(count, 9));
    for (let i = 1; i <= count; i++)
        await check("station " + i, async () => {
            await page.click(`#guide .stations button:nth-child(${i})`);
            await page.until("!typed.waits && (current_screen !== 'training' || run.look)");
            seen.add(await page.text("#guide p"));
            const place = i === 1 ? "#first_rest" : "#guide";
            await page.click(place + " summary");
            same(await page.evaluate(`document.querySelector("${place} details p").checkVisibility()`), true);
        });
    await check("no two stations are the same", () => same(seen.size, count));
}

export default async function broken(browser, address, folder) {
    const page = await browser.open(address + "#broken", 1280, 800);
    await check("learning rate 0.3", async () => {
        const [verdict, [plain, fast, level]] = await break_it(page, "learning rate 0.3", 1);
        if (!/^Not what you predicted/.test(verdict)) throw new Error(verdict);
        same(plain < 0.5 && fast > 1.5 && fast < level, true);
        writeFileSync(folder + "/fast.flags", await page.text("#break_flags"));
        writeFileSync(folder + "/fast.loss", String(fast));
    });
    await check("neither residual nor norm", async () => {
        const last = await page.evaluate(`breaks.find(one => one.name === "no residual and no norm").answers
            .indexOf("nothing") + 1`);
        const [verdict, [, loss, level], norms] = await break_it(page, "no residual and no norm", last);
        if (!/^You predicted it/.test(verdict)) throw new Error(verdict);
        near(String(loss), level, 3);
        same(norms[2] < 1e-8, true);            // trf_blocks.0
    });
    await fits(page, folder, "broken, with results");
    const axis = `[...document.querySelectorAll("#break_norms .scale span")].map(end => end.textContent)`;
    const wide = await page.evaluate(axis);
    await check("init of 1: an axis of its own, a loss that is cut and says so, no false command", async () => {
        await break_it(page, "init of 1", 1);
        const [low] = await page.evaluate(axis);
        same([Number(wide[0]) < 1e-8, Number(low) > 1e-4], [true, true]);
        same(/^\u2191 up to 1\d/.test(await page.text("#break_loss text.is_broken")), true);
        same(/cannot break/.test(await page.text("#break_command")), true);
    });
    await check("an experiment that one comes back to", async () => {
        const verdict = await page.text("#break_verdict");
        await page.click("#break_list button:nth-child(1)");
        same(await page.evaluate("[by_id('break_plots').hidden, by_id('break_command').textContent]"), [false, ""]);
        await page.click("#break_list button:last-child");
        same(await page.text("#break_verdict"), verdict);
    });
    await check("the axis is the same when one comes back to the screen", async () => {
        await page.until("!broken_asked");
        const before = await page.evaluate(axis);
        await page.click("#screens [data-screen=training]");
        await page.click("#screens [data-screen=broken]");
        await page.until("!broken_asked");
        same(await page.evaluate(axis), before);
        await page.click("#break_list button:nth-child(4)");
        await page.until("!broken_asked");
        same(await page.evaluate(axis), wide);
    });
    await check("nothing moves while it trains, nor at its end", async () => {
        await page.click("#break_list button:nth-child(3)");
        await page.click("#break_answers button");
        await page.until("!broken_asked");
        await still(page, () => page.until("!experiment.now && experiment.pair[1].done && !broken_asked"));
    });
    await check("the code is there", async () => {
        await page.click("#broken summary");
        if (!/gra_tensor \*/.test(await page.text("#break_code"))) throw new Error("there is no C");
    });
    await guided(page);
    await fits(page, folder, "guided");
    await quiet(page, "broken");
    await page.close();
}
