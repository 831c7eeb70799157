// "An expression": typed, with values from fields and sliders, and compared with a native program.
import { execFileSync } from "node:child_process";
import { check, near, quiet, same } from "./checks.mjs";

const text = "d = a*b + b^3\ng = tanh(d/10 - c)";       // as in page.sh
const names = ["a", "b", "c"];
const table = `[...document.querySelectorAll("#typed_inputs tr")].map(row =>
    [...row.children].map(cell => cell.textContent))`;
const rows = `[...document.querySelectorAll("#rows .row")].map(row =>
    [".what", ".value", ".grad"].map(part => row.querySelector(part).textContent.trim()))`;
const idle = "(!typed.waits && by_id('typed_verdict').textContent)";

// The page's numbers for the values in its fields, and the program's.
async function compare(page, native) {
    const values = await page.evaluate(`${JSON.stringify(names)}.map(name => by_id("field_" + name).value)`);
    const expected = JSON.parse(execFileSync(native, values)), shown = await page.evaluate(table);
    same(shown.map(row => row[0]), names);
    for (const [name, value, grad, numeric, digits] of shown) {
        near(value, expected[name], 4);
        near(grad, expected["d" + name], 10);
        near(numeric, expected["d" + name], 6);
        if (!/^\u2713 (all|[6-9]|1\d)$/.test(digits)) throw new Error(`${name}: ${digits}`);
    }
    const nodes = await page.evaluate(rows);
    for (const name of ["a", "b", "c", "d", "g"]) {
        const [, value, grad] = nodes.find(([what]) => new RegExp(`(^|[^a-z])${name}( |$)`).test(what));
        near(value, expected[name], 4);
        near(grad, expected["d" + name], 4);
    }
    return values;
}

async function change(page, act) {                      // and wait until everything is computed and shown
    await act();
    await page.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    await page.until(idle);
}

async function mistakes(page) {
    for (const [place, wrong, at, length] of [["character 11", "d = a*b + $", 10, 1],
        ["character 7", "y = (a", 6, 0], ["character 5", "y = tanhh(a)", 4, 5],
        ["line 2, character 5", "d = a\ny = %", 10, 1]]) {
        await check("a mistake is pointed at: " + wrong, async () => {
            await change(page, () => page.replace("#typed_text", wrong));
            const line = await page.text("#typed_mistake");
            if (!line.startsWith(place + ": ") || !/: \w+ \w+ \w+/.test(line)) throw new Error("got " + line);
            same(await page.text("#typed_marks .wrong"), wrong.slice(at, at + length) || " ");
        });
    }
    await check("the mark is where the character is", async () =>
        same(await page.evaluate(`(() => {
            const text = by_id("typed_text").getBoundingClientRect(),
                  mark = document.querySelector("#typed_marks .wrong").getBoundingClientRect();
            return mark.left >= text.left && mark.right <= text.right && mark.top >= text.top &&
                mark.bottom <= text.bottom;
        })()`), true));
}

async function slips(page) {
    const all = await page.evaluate("[...by_id('typed_slip').options].slice(1).map(option => option.text)");
    await check("at least six backwards can be broken", () => same(all.length >= 6, true));
    for (const slip of [all.find(slip => slip.startsWith("mul")), all.find(slip => slip.includes("+="))]) {
        await check("broken: " + slip, async () => {
            await change(page, () => page.choose("#typed_slip", slip));
            same(await page.evaluate("by_id('typed_verdict').className"), "bad");
            const report = await page.text("#typed_report"),
                  differ = (await page.evaluate(table)).some(row => row[4][0] === "\u2717");
            if (!/^gradient check FAILED: \w .*: analytic .*,\s*numeric /m.test(report) ||
                differ !== slip.startsWith("mul")) throw new Error("got " + report);
        });
    }
    await check("the check is red", async () => {
        const color = await page.evaluate("getComputedStyle(by_id('typed_verdict')).color");
        const [r, g, b] = color.match(/[\d.]+/g).map(Number);
        same(r > 1.5 * g && r > 1.5 * b, true);
    });
    await check("whole again", async () => {
        await change(page, () => page.choose("#typed_slip", "none"));
        same(await page.evaluate("by_id('typed_verdict').className"), "good");
    });
}

export default async function expression(browser, address, folder, native) {
    const page = await browser.open(address + "#expression", 1280, 800);
    await check("it opens with an expression", () => page.until(idle));
    await check("typed", async () => {
        await change(page, () => page.replace("#typed_text", text));
        await compare(page, native);
    });
    await check("values are typed", async () => {
        for (const [name, value] of [["a", "1.5"], ["b", "-2.25"], ["c", "0.125"]])
            await change(page, () => page.replace("#field_" + name, value));
        same(await compare(page, native), ["1.5", "-2.25", "0.125"]);
    });
    await check("a slider is dragged", async () => {
        await change(page, () => page.drag("#slider_a", 0.65, 0.9));
        const [a] = await compare(page, native);
        if (!(a > 3 && a < 5)) throw new Error(`a is ${a}`);
    });
    await check("a slider is moved by a key", async () => {
        const before = await page.evaluate("Number(by_id('field_a').value)");
        await page.evaluate("by_id('slider_a').focus()");
        await change(page, () => page.press("ArrowLeft", 5));
        const [a] = await compare(page, native);
        if (!(a < before && a > before - 1)) throw new Error(`a is ${a}, before ${before}`);
    });
    await slips(page);
    await mistakes(page);
    await check("tensors", async () => {
        const softmax = "x = randn(2, 3)\nW = randn(3, 2)\ny = softmax(x W)";
        await change(page, () => page.replace("#typed_text", softmax));
        same((await page.evaluate(table)).map(row => row.slice(0, 2)), [["x", "(2, 3)"], ["W", "(3, 2)"]]);
        same(await page.evaluate("by_id('typed_verdict').className"), "good");
    });
    await check("an input is chosen, whose chain rule adds up", async () => {
        await change(page, () => page.click("#typed_examples button"));
        same(await page.evaluate("document.querySelectorAll('table.chain tr').length > 2"), true);
    });
    await check("the picture has each node, and is lit from the last one back", async () => {
        const boxes = `[...document.querySelectorAll("#graph .box")]`;
        same(await page.evaluate(`${boxes}.length === nodes.length`), true);
        await page.click("#restart");
        same(await page.evaluate(`${boxes}.filter(box => box.matches(".has_value, .has_grad")).length`), 0);
        await page.click("#up");
        await page.click("#up");
        same(await page.evaluate(`${boxes}.map(box => box.matches(".has_grad")).lastIndexOf(false) <
            ${boxes}.findIndex(box => box.matches(".has_grad"))`), true);
        await page.click("#all");
    });
    await check("a gradient of 0: a green tick, and what was not tested", async () => {
        await change(page, () => page.click("#typed_examples button:nth-child(2)"));
        same(await page.evaluate("[typed_verdict.className, typed_verdict.textContent]"), ["good",
            "\u2713 What was tested passed. v was not tested: its gradient is 0 here."]);
    });
    await check("one set of numbers: the report's are the table's", async () => {
        const [, analytic] = /analytic (\S+),/.exec(await page.text("#typed_report"));
        const shown = await page.evaluate(`[...document.querySelectorAll("#typed_inputs td:nth-child(3)")]
            .map(cell => Number(cell.textContent).toPrecision(5))`);
        if (!shown.includes(Number(analytic).toPrecision(5))) throw new Error(`${analytic}: ${shown}`);
    });
    for (const [what, says] of [["y = ln(a)", /did you mean log\?/], ["y = foo(a)", /there are relu tanh/]])
        await check("it answers: " + what, async () => {
            await change(page, () => page.replace("#typed_text", what));
            if (!says.test(await page.text("#typed_mistake"))) throw new Error(await page.text("#typed_mistake"));
        });
    await check("pi, max of two and x^y", async () => {
        await change(page, () => page.replace("#typed_text", "y = pi*a + max(a, b)^b"));
        same((await page.evaluate(table)).map(row => row[0]), ["a", "b"]);
        same(await page.evaluate("typed_verdict.className"), "good");
    });
    await check("a word asks, and becomes a slider", async () => {
        await change(page, () => page.replace("#typed_text", "y = rate*a"));
        same(/a new slider called rate\?/.test(await page.text("#typed_mistake")), true);
        await change(page, () => page.click("#typed_mistake button"));
        same((await page.evaluate(table)).map(row => row[0]), ["rate", "a"]);
    });
    await check("a result that is nan has no gradient, and why", async () => {
        await change(page, () => page.replace("#typed_text", "y = log(a - 9)"));
        same((await page.evaluate(table)).map(row => [row[2], row[4]]), [["none", "not compared"]]);
        same(await page.evaluate("[...document.querySelectorAll('#rows .grad')].map(x => x.textContent).join('')"), "");
        same(/no gradient/.test(await page.text("#typed_verdict")), true);
        await page.click("#rows .row");
        same(/none: y is nan/.test(await page.text("#node .grad .facts")), true);
        await change(page, () => page.replace("#typed_text", "y = log(nan)"));
        same(/nan is not a number/.test(await page.text("#typed_mistake")), true);
    });
    await check("the tape writes a name and its kind in one size", async () => {
        await change(page, () => page.replace("#typed_text", "y = w*x"));
        same(await page.evaluate(`[...document.querySelectorAll("#rows .row:first-child .what, #rows .row:first-child .number")]
            .map(one => getComputedStyle(one).fontSize)`), ["14px", "14px"]);
        same(await page.text("#rows .row:first-child .what"), "w  input");
    });
    await quiet(page, "expression");
    await page.close();
}
