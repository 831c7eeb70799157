// What the checks of the page share.
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

// Does the text show that number, to so many digits at least?
export function near(text, number, digits) {
    const shown = text.trim() === "" ? NaN : Number(text);
    if (!(Math.abs(shown - number) <= 0.5001 * 10 ** (1 - digits) * Math.abs(number)))
        throw new Error(`got ${text}, expected ${number}`);
}

// The file that the page gives out when that is clicked is left in the folder, by another name.
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

// At the end of each part: nothing was written to the console, nothing but the page itself was loaded.
export async function quiet(page, what) {
    await check(what + ": no message", () => same(page.messages, []));
    await check(what + ": no network", () =>
        same(page.requests.filter(url => !/^(file|blob|data):/.test(url)), []));
}
