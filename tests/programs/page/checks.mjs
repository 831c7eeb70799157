// Code that the checks of the page share.
import { existsSync, renameSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Page } from "./browser.mjs";

function say(...fields) { console.log(fields.map(field => String(field).replace(/\s+/g, " ")).join("\t")); }

export async function check(what, test) {
    try {
        await test();
        say("ok", what);
    } catch (why) {
        say("no", what, why.message);
    }
}

export function note(text) { say("note", text); }

export function same(got, expected) {
    const [a, b] = [JSON.stringify(got), JSON.stringify(expected)];
    if (a !== b) throw new Error(`got ${a}, expected ${b}`);
}

// Does the text show the number, to at least this many digits?
export function near(text, number, digits) {
    const shown = text.trim() === "" ? NaN : Number(text);
    if (!(Math.abs(shown - number) <= 0.5001 * 10 ** (1 - digits) * Math.abs(number)))
        throw new Error(`got ${text}, expected ${number}`);
}

// Clicks, and leaves the file that the page saves in the folder, under another name.
export async function download(page, folder, selector, name, as = name) {
    await page.click(selector);
    const file = `${folder}/downloads/${name}`, end = Date.now() + 1000 * Page.patience;
    const complete = () => existsSync(file) && statSync(file).size && !existsSync(file + ".part");
    while (!complete()) {
        await sleep(20);
        if (Date.now() > end) throw new Error(`${selector} gives no ${name}`);
    }
    renameSync(file, `${folder}/${as}`);
}

// The places of all visible boxes; each box has a unique number.
const boxes = `Object.fromEntries([...document.querySelectorAll("button, p, h2, h3, pre, svg, input, select, " +
    "textarea, summary, footer, section, canvas, table, .row, .norm, .entry")]
    .filter(one => one.checkVisibility({ visibilityProperty: true })).map(one => {
        const { x, y, width, height } = one.getBoundingClientRect();
        one.box_number ??= globalThis.box_count = (globalThis.box_count ?? 0) + 1;
        return [one.box_number, [one.id || one.textContent.slice(0, 20), ...[x, y, width, height].map(Math.round)].join(" ")];
    }))`;

// Acts, and checks that no box visible before and after has moved. Returns the number of such boxes.
export async function still(page, act) {
    const before = await page.evaluate(boxes);
    await act();
    const after = await page.evaluate(boxes), both = Object.keys(before).filter(box => after[box]);
    const place = text => text.split(" ").slice(-4).join(" ");
    same(both.filter(box => place(before[box]) !== place(after[box])).map(box => `${before[box]} to ${place(after[box])}`), []);
    return both.length;
}

// At the end of each part: nothing was written to the console, and only the page itself was loaded.
export async function quiet(page, what) {
    await check(what + ": no message", () => same(page.messages, []));
    await check(what + ": no network", () =>
        same(page.requests.filter(url => !/^(file|blob|data):/.test(url)), []));
}
