// Every screen at three widths, by keyboard alone, in dark mode: is everything visible and reachable?
import { check, quiet, same } from "./checks.mjs";

const widths = [390, 800, 1280], screens = ["expression", "training", "broken"];

// Texts that are partly cut off, and boxes that must be scrolled sideways. Scrolling up or down does not
// count; a field scrolls with its text.
const cut = `(() => {
    const found = [], range = document.createRange(), texts = document.createTreeWalker(document.body, 4);
    const out = (a, b, c, d) => b < a - 1 || c > d + 1;
    for (let node; (node = texts.nextNode()); ) {
        const element = node.parentElement;
        if (!node.data.trim() || element.closest("script, style, template, option, textarea, noscript") ||
            !element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true })) continue;
        range.selectNodeContents(node);
        const text = range.getBoundingClientRect();
        for (let box = element; box; box = box.parentElement) {
            const { overflowX, overflowY, display } = getComputedStyle(box);
            const edge = box.getBoundingClientRect();
            if (display === "inline") continue;
            if (overflowX !== "visible" && out(edge.left, text.left, text.right, edge.right) ||
                overflowY === "hidden" && out(edge.top, text.top, text.bottom, edge.bottom)) {
                found.push(node.data.trim().slice(0, 40) + " in " + (box.id || box.className || box.tagName));
                break;
            }
        }
    }
    return found;
})()`;
const sideways = `[...document.querySelectorAll("*")].filter(box => box.clientWidth &&
    box.scrollWidth > box.clientWidth + 1 && !["visible", "hidden"].includes(getComputedStyle(box).overflowX))
    .map(box => box.id || box.className || box.tagName)`;
const wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth";

// Texts without enough contrast to their background (WCAG AA asks for 4.5).
const faint = `(() => {
    const found = new Set(), canvas = new OffscreenCanvas(1, 1),
          context = canvas.getContext("2d", { willReadFrequently: true });
    const light = colors => {
        for (const color of colors) { context.fillStyle = color; context.fillRect(0, 0, 1, 1); }
        const [r, g, b] = [...context.getImageData(0, 0, 1, 1).data].map(v => v / 255)
            .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
    };
    for (const element of document.querySelectorAll("body *")) {
        if (![...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()) ||
            element.disabled || element.closest("script, style, template, noscript, option, #typed_marks") ||
            !element.checkVisibility({ visibilityProperty: true })) continue;
        const behind = ["Canvas"], style = getComputedStyle(element);
        for (let box = element; box; box = box.parentElement)
            behind.splice(1, 0, getComputedStyle(box).backgroundColor);
        const color = element instanceof SVGElement ? style.fill : style.color;
        const [a, b] = [light(behind), light([...behind, color])], ratio = Math.max(a, b) / Math.min(a, b);
        if (ratio < 4.5)
            found.add(ratio.toFixed(1) + " " + element.tagName + "." + element.className + " " +
                      element.textContent.trim().slice(0, 20));
    }
    return [...found];
})()`;

const controls = `[...document.querySelectorAll(
    "button, input, select, textarea, a[href], summary, [tabindex='0']")].filter(control =>
        !control.disabled && control.checkVisibility({ visibilityProperty: true }))`;
const name_of = "(control => control.id || control.name || control.textContent || control.outerHTML)";

// Elements that Tab does not reach, that show no focus, or that have no name for a screen reader.
async function keyboard(page, screen) {
    await page.evaluate(`(document.activeElement.blur(), globalThis.reached = new Set(),
        globalThis.controls = () => ${controls},
        globalThis.unseen = [], globalThis.look_at = ({ target }) => {
            reached.add(controls().indexOf(target));
            const { outlineStyle, boxShadow } = getComputedStyle(target);
            if (outlineStyle === "none" && boxShadow === "none") unseen.push(${name_of}(target));
        }, addEventListener("focusin", look_at), 1)`);
    const count = await page.evaluate(controls + ".length");
    await page.press("Tab", count + 5);
    await check(screen + ": Tab reaches every control", async () => same(await page.evaluate(
        `controls().filter((_, i) => !reached.has(i)).map(${name_of})`), []));
    await check(screen + ": the focus can be seen", async () => same(await page.evaluate("unseen"), []));
    await page.evaluate("(removeEventListener('focusin', look_at), 1)");
    const { nodes } = await page.send("Accessibility.getFullAXTree");
    await check(screen + ": each control has a name", () =>
        same(nodes.filter(node => !node.ignored && !node.name?.value &&
            node.properties?.some(({ name, value }) => name === "focusable" && value.value) &&
            node.role.value !== "RootWebArea").map(node => node.role.value), []));
}

async function show(page, screen) {
    await page.click(`#screens [data-screen=${screen}]`);
    await page.until(`document.body.dataset.screen === "${screen}" && document.querySelector("#rows .row")`);
    if (screen === "training") {
        await page.click("#run_play");
        await page.until("training.playing && run.step > 0");
        await page.click("#run_play");
    }
    await page.until("!training.playing && !run.asked && !to_draw.size && !typed.waits");
}

// Checks the page as it is now, at each width, and leaves a picture in the folder.
export async function fits(page, folder, what) {
    for (const width of widths) {
        await page.resize(width, 800);
        await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
        await page.picture(`${folder}/${what}-${width}.png`);
        await check(`${what}, ${width} wide: no text is cut`, async () => same(await page.evaluate(cut), []));
        await check(`${what}, ${width} wide: nothing is wider than the page`, async () =>
            same(await page.evaluate(wider), 0));
        await check(`${what}, ${width} wide: nothing is scrolled sideways`, async () =>
            same(await page.evaluate(sideways), []));
    }
}

export default async function layout(browser, address, folder) {
    const page = await browser.open(address + "#expression", 1280, 800);
    for (const screen of screens) {
        await show(page, screen);
        await fits(page, folder, screen);
        await check(screen + ": colours", async () => same(await page.evaluate(faint), []));
        await keyboard(page, screen);
        await page.media({ "prefers-color-scheme": "dark" });
        await page.picture(`${folder}/${screen}-dark.png`);
        await check(screen + ": colours in the dark", async () => same(await page.evaluate(faint), []));
        await page.media({});
    }
    await page.media({ "prefers-reduced-motion": "reduce" });
    await check("reduced motion: none", async () => same(await page.evaluate(
        `[...document.querySelectorAll("*")].filter(element => {
            const { transitionDuration, animationDuration } = getComputedStyle(element);
            return /[1-9]/.test(transitionDuration + animationDuration);
        }).map(element => element.id || element.className)`), []));
    await quiet(page, "layout");
    await page.close();
}
