// A new visitor's view: one sentence and one button; then the guided path, with keys alone, whose question
// stays in view; and an address that keeps all settings.
import { check, quiet, same, still } from "./checks.mjs";

const shown = `[...document.querySelectorAll("main button, #guide button")]
    .filter(one => one.checkVisibility({ visibilityProperty: true })).map(one => one.id || one.textContent)`;
const settled = "(!typed.waits && !run.asked && !to_draw.size)";

async function first_screen(page) {
    await check("one sentence, one button, and nothing runs", async () => {
        await page.until("run.moment && document.querySelector('.say .now').textContent.includes('26,016')");
        same(await page.text(".say .now"), "This model of 26,016 numbers will learn these four lines.");
        same(await page.evaluate(shown), ["run_play"]);
        same(await page.evaluate("[run.step, training.playing, run.rows.length]"), [0, false, 0]);
        same((await page.text("#run_goal pre")).split("\n").length, 4);
        same(await page.evaluate(`["#guide .say", "#run_play", "#run_goal"].map(one =>
            Math.round(document.querySelector(one).getBoundingClientRect().left - run_play.getBoundingClientRect().left))`),
        [0, 0, 0]);                         // one edge, though the window is too low for the whole box
    });
    await check("play: it learns, and the path goes on", async () => {
        await page.evaluate("document.body.focus()");
        await page.press("Tab", 5);
        same(await page.evaluate("document.activeElement.id"), "run_play");
        await page.press("Enter");
        await page.until("run.step > 3 && training.playing && document.querySelector('#run_loss path')");
        same(await page.evaluate("run.step < run.steps"), true);
        await page.evaluate("(training.pace = 0, tell({ do: 'play' }), 1)");
        await page.until("run.step === run.steps && document.querySelector('.next').checkVisibility({ visibilityProperty: true })");
        same(/by heart/.test(await page.text(".say .now")), true);
        same(/why.*held-out.*rise/i.test(await page.text("#run_held")), true);
        same(await page.evaluate("run_held.checkVisibility({ visibilityProperty: true })"), true);
    });
    await check("the words of a station are explained, or not used", async () =>
        same(await page.evaluate("document.body.innerText.match(/station|tensor|make page/gi)"), null));
}

// Each station by keys: Enter on the button to the next station. The box is in view wherever the page is
// scrolled.
async function stations(page) {
    for (const width of [390, 800, 1280]) {
        await page.resize(width, 800);
        for (let i = 2; i <= 9; i++)
            await check(`station ${i}, ${width} wide: its question is in view`, async () => {
                await page.evaluate("(document.querySelector('.next').focus(), 1)");
                await page.press("Enter");
                await page.until(`${settled} && station === ${i - 1}`);
                if (i === 6) await page.until("run.look && !training.in_view");
                for (const at of ["0", "document.documentElement.scrollHeight / 2", "1e6"]) {
                    const [top, bottom, covered] = await page.evaluate(`(scrollTo({ top: ${at}, behavior: "instant" }), (() => {
                        const { top, bottom, left } = document.querySelector("#guide .say").getBoundingClientRect();
                        return [top, bottom, !guide.contains(document.elementFromPoint(left + 5, top + 5))];
                    })())`);
                    same([top >= 0, bottom <= 0.5 * 800, covered], [true, true, false]);
                }
            });
        await page.click("#guide .stations button");
    }
    await check("what a station speaks of is below its box", async () => {
        await page.resize(390, 800);
        await page.click("#guide .stations button:nth-child(6)");
        await page.until(`${settled} && run.look && !training.in_view`);
        const [heads, box] = await page.evaluate(`["run_heads", "guide"].map(id => {
            const { top, bottom } = by_id(id).getBoundingClientRect();
            return { top, bottom };
        })`);
        if (heads.top < box.bottom - 1 || heads.top > 700) throw new Error(`${heads.top}, ${box.bottom}`);
    });
    await check("an exercise's text is in the page", async () => {
        await page.click("#guide details:last-of-type summary");
        const text = await page.text("#guide pre");
        if (!/#include/.test(text) || await page.evaluate("document.links.length")) throw new Error(text);
    });
}

// The same page again: typed and chosen values are still there, and the station.
async function address_keeps(browser, page) {
    await check("the address keeps an expression, a station, settings", async () => {
        await page.resize(1280, 800);
        await page.click("#guide .stations button:nth-child(3)");
        await page.replace("#typed_text", "y = pi*a + b");
        await page.until(`${settled} && typed.names.join() === "a,b"`);
        await page.replace("#field_a", "1.25");
        await page.evaluate("(by_id('run_form').lr.value = '0.02', by_id('run_text').value = 'to be or not to be', 1)");
        await page.until(settled);
        await page.evaluate("(history.replaceState(null, '', state_text()), 1)");
        const state = `[station, by_id("typed_text").value, by_id("field_a").value, by_id("run_form").lr.value,
            by_id("run_text").value, document.querySelector("#typed_inputs td:nth-child(3)").textContent]`;
        const before = await page.evaluate(state), again = await browser.open(await page.evaluate("location.href"), 1280, 800);
        await again.until("!typed.waits && document.querySelector('#typed_inputs td')");
        same(await again.evaluate(state), before);
        same([before[0], before[2]], [2, "1.25"]);
        await quiet(again, "the address");
        await again.close();
    });
}

// From the first screen to the end of the training no box moves, and nothing hidden can be reached.
async function nothing_moves(browser, address) {
    for (const width of [390, 800, 1280]) {
        const page = await browser.open(address, width, 900);
        await page.until("run.moment && run.parameters && !run.asked && !to_draw.size");
        await check(`nothing moves when play is pressed, ${width} wide`, () => still(page, async () => {
            await page.click("#run_play");
            await page.until("run.step > 20");
        }));
        await check(`nor at the end, ${width} wide`, async () => {
            const seen = await still(page, () => page.until("run.step === run.steps && !run.asked && !to_draw.size"));
            same([seen > 12, await page.evaluate("scrollY")], [true, 0]);
        });
        await page.close();
    }
}

export default async function first(browser, address) {
    await nothing_moves(browser, address);
    const page = await browser.open(address, 1280, 800);
    await first_screen(page);
    await stations(page);
    await address_keeps(browser, page);
    await quiet(page, "first");
    await page.close();
}
