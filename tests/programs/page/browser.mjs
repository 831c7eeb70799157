// Pages in a real browser, driven with real keys and mouse events:
//
//     const browser = await start("/usr/bin/chromium", "folder");
//     const page = await browser.open("file:///page.html", 800, 600);
//     await page.click("#play");
//     await page.until("document.querySelector('#loss').textContent");
//     await browser.close();
//
// chromium.mjs and firefox.mjs export start; pages in Firefox have neither media nor drop. This file has
// their shared code.
import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

export const quoted = JSON.stringify;

// The profile and the downloads are kept in the folder. The browser ends when this script ends.
export function run(program, folder, flags, stdio) {
    mkdirSync(folder + "/downloads", { recursive: true });
    const env = { ...process.env, HOME: folder, TMPDIR: folder, LC_ALL: "C.UTF-8" };     // for names of files
    const child = spawn(program, flags, { stdio, env });
    process.on("exit", () => child.kill());
    return [child, new Promise(resolve => child.on("exit", resolve).on("error", resolve))];
}

// Both browsers read and write JSON: an answer has the number of its call; an event has none.
export function connect(write, on_event) {
    const calls = [];
    return {
        send: (method, params = {}, sessionId = undefined) => new Promise((resolve, reject) => {
            const id = calls.push({ method, resolve, reject });
            write(quoted({ id, method, params, sessionId }));
        }),
        receive(text) {
            const message = JSON.parse(text), call = calls[message.id - 1];
            if (!call) on_event(message);
            else if (message.error) call.reject(new Error(call.method + ": " + text));
            else call.resolve(message.result);
        } };
}

// What both browsers do in the same way, with their evaluate, mouse, key and screenshot.
export class Page {
    messages = [];              // of the console, exceptions, refused requests, dialogs; of workers too
    requests = [];              // addresses

    static patience = 60;       // seconds, far more than anything takes; fewer after the first timeout

    async until(expression) {
        for (const end = Date.now() + 1000 * Page.patience; Date.now() < end; await sleep(20)) {
            const value = await this.evaluate(expression);
            if (value) return value;
        }
        const waited = Page.patience;
        Page.patience = 10;
        throw new Error(`not so after ${waited} s: ${expression}`);
    }
    text(selector) { return this.evaluate(`document.querySelector(${quoted(selector)}).textContent`); }
    // A point in an element, as shares of its width and height: in view, not covered, and at rest.
    async point(selector, across = 0.5, down = 0.5) {
        const found = await this.evaluate(`(async () => {
            const element = document.querySelector(${quoted(selector)});
            if (!element) return "is not there";
            element.scrollIntoView({ block: "nearest", behavior: "instant" });
            for (let before = ""; ; await new Promise(requestAnimationFrame)) {
                const { x, y, width, height } = element.getBoundingClientRect();
                if (before === (before = [x, y, width, height].join())) break;
            }
            const box = element.getBoundingClientRect(), x = Math.round(box.x + ${across} * (box.width - 1)),
                  y = Math.round(box.y + ${down} * (box.height - 1)), top = document.elementFromPoint(x, y);
            return element.contains(top) ? [x, y] : "is hidden or covered by " + top?.outerHTML.slice(0, 80);
        })()`);
        if (typeof found === "string") throw new Error(selector + " " + found);
        return found;
    }
    async click(selector, across, down) {
        await this.mouse(await this.point(selector, across, down), ["move", "down", "up"]);
    }
    async drag(selector, from, to) {                    // a slider's thumb, for example: shares of its width
        await this.mouse(await this.point(selector, from), ["move", "down"]);
        for (let i = 1; i <= 5; i++)
            await this.mouse(await this.point(selector, from + i / 5 * (to - from)), ["move"]);
        await this.mouse(await this.point(selector, to), ["up"]);
    }
    async press(name, times = 1) {                      // "a", "Tab", "Shift+Tab", "Control+a"
        const keys = name.split(/(?<=.)\+/), key = keys.pop();
        for (; times > 0; times--) await this.key(key, keys[0]);
    }
    async type(text) { for (const key of text) await this.key(key === "\n" ? "Enter" : key); }
    async replace(selector, text) {                     // all the text in a field
        await this.click(selector);
        await this.press("Control+a");
        await (text ? this.type(text) : this.press("Delete"));
    }
    async choose(selector, text) {                      // in a list, by its keys
        const list = `document.querySelector(${quoted(selector)})`;
        await this.evaluate(list + ".focus()");
        await this.press("Home");
        for (let i = await this.evaluate(list + ".length"); i > 0; i--) {
            if (await this.evaluate(list + ".selectedOptions[0].text") === text) return;
            await this.press("ArrowDown");
        }
        throw new Error(`${selector} has no ${text}`);
    }
    // Replaces all text of a field by text from the clipboard, given as an expression.
    async paste(selector, expression) {
        await this.evaluate(`(() => {
            const from = document.body.appendChild(document.createElement("textarea"));
            from.value = ${expression};
            from.select();
            document.execCommand("copy");
            from.remove();
            document.querySelector(${quoted(selector)}).select();
        })()`);
        await this.press("Control+v");
    }
    async picture(file) { writeFileSync(file, Buffer.from(await this.screenshot(), "base64")); }
}
