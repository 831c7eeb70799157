// ---- an expression: its text, sliders for free names, numeric gradients, the gradient check --------------
// The module f64 computes (expression.h); here its results become elements.

const typed_examples = {
    "micrograd's": { values: { a: -4, b: 2 }, text: "c = a + b; d = a*b + b^3\n" +
        "c = c + c + 1; c = c + 1 + c + (-a)\nd = d + d*2 + relu(b + a)\nd = d + 3*d + relu(b - a)\n" +
        "e = c - d; f = e^2; g = f/2; g = g + 10/f" },
    "a neuron": { values: { w: -3, x: 2, v: 1, z: 0, b: 6.88 }, text: "s = w*x + v*z + b\ny = tanh(s)" },
    "softmax of x W": { values: {}, text: "x = randn(1, 3); W = randn(3, 2)\n" +
        "p = softmax(x W)\nloss = -log(max(p))" },
};

// values: of all names that were ever in use. slip: the wrong backward, or -1.
const typed = { values: { a: 2, b: -1 }, names: null, slip: -1, module: null, waits: false };

// ---- the text, and a mistake in it ----------------------------------------------------------------------

// The mistake's characters are underlined behind the text; at its end, a blank is underlined.
function draw_mistake(mistake, kind) {
    const box = by_id("typed_text"), text = box.value, line = by_id("typed_mistake");
    const at = mistake ? mistake.at : text.length, end = at + (mistake ? mistake.length : 0);
    const mark = make("mark", mistake ? kind : "", text.slice(at, end) || " ");
    by_id("typed_marks").replaceChildren(text.slice(0, at), mark, text.slice(end) + "\n");
    box.setAttribute("aria-invalid", String(kind === "wrong"));
    box.style.height = "auto";
    box.style.height = box.scrollHeight + 2 + "px";
    const rows = text.slice(0, at).split("\n"), column = rows[rows.length - 1].length + 1;
    const place = rows.length > 1 ? `line ${rows.length}, character ${column}: ` : `character ${column}: `;
    line.className = kind;
    line.replaceChildren(mistake ? place + mistake.text + " " : "");
    const [, asked] = mistake?.text.match(/: a new slider called (\w+)\?$/) || [];
    if (asked) line.append(make_button("", () => {
        box.value = `${asked} = ?\n${text}`;
        compute_soon();
    }, "yes"));
}

// ---- free names -----------------------------------------------------------------------------------------

function set_value(name, value) {
    if (!Number.isFinite(value)) return;                // a number that is being typed
    const slider = by_id("slider_" + name), field = by_id("field_" + name), most = 2 * Math.abs(value);
    typed.values[name] = value;
    if (most > 2 * slider.max) Object.assign(slider, { min: -most, max: most });
    slider.value = value;
    if (Number(field.value) !== value || field.value === "") field.value = value;
    compute_soon();
}

function slider_of(name) {
    const label = make("label", "", name), slider = make("input"), field = make("input");
    Object.assign(slider, { id: "slider_" + name, type: "range", min: -5, max: 5, step: 0.01 });
    Object.assign(field, { id: "field_" + name, type: "number", step: "any" });
    field.setAttribute("aria-label", name + ", as a number");
    label.htmlFor = slider.id;
    for (const input of [slider, field])
        input.addEventListener("input", () => set_value(name, input.valueAsNumber));
    return make("div", "free", label, slider, field);
}

function draw_names(names) {
    typed.names = names;
    by_id("typed_names").replaceChildren(...names.map(slider_of));
    names.forEach((name, i) => set_value(name, typed.values[name] ?? [2, -3, 1, 0.5][i % 4]));
}

function draw_slips(slips) {
    const select = by_id("typed_slip"), all = [{ id: -1, op: "none", text: "" }, ...slips];
    if (!all.some(slip => slip.id === typed.slip)) typed.slip = -1;
    if (all.map(slip => slip.id).join() !== [...select.options].map(option => option.value).join())
        select.replaceChildren(...all.map(slip =>
            new Option(slip.text ? `${slip.op}: ${slip.text}` : slip.op, slip.id)));
    select.value = typed.slip;
}

// ---- gradients ------------------------------------------------------------------------------------------

// Ten digits of two numbers, which are marked from the first digit on that differs.
function pair_of_cells(a, b) {
    const texts = [rounded(a, 10), rounded(b, 10)];
    let same = 0;
    while (same < texts[0].length && texts[0][same] === texts[1][same]) same++;
    return texts.map(text => make("td", "", text.slice(0, same), make("span", "differs", text.slice(same))));
}

// The element of two lists in which they differ most.
function farthest_cells(a, b) {
    let i = 0;
    a.forEach((v, k) => { if (Math.abs(v - b[k]) > Math.abs(a[i] - b[i])) i = k; });
    return [a, b].map(list => make("td", "", `[${i}] ${rounded(list[i], 5)}`));
}

function verdict_of(input) {
    if (input.agrees === null) return make("td", "", "not compared");
    const digits = input.digits === 15 ? "all" : String(input.digits);
    return input.agrees ? make("td", "good", "\u2713 " + (input.kink ? "a kink" : digits))
        : make("td", "bad", `\u2717 ${digits}: wrong`);
}

function draw_input(input) {
    const row = make("tr", input.agrees === false ? "wrong" : ""), tensor = input.shape.length > 0;
    const name = make("th", "", input.name);
    const number = x => rounded(tensor ? largest(reals(x)) : number_of(x), 5);
    const cell = x => make("td", "", x === null ? "none" : tensor ? "up to " + number(x) : number(x));
    name.scope = "row";
    row.append(name, tensor ? make("td", "", shape_text(input)) : cell(input.value));
    if (tensor && input.agrees === false)
        row.append(...farthest_cells(reals(input.grad), reals(input.numeric)));
    else if (tensor || input.numeric === null) row.append(cell(input.grad), cell(input.numeric));
    else row.append(...pair_of_cells(number_of(input.grad), number_of(input.numeric)));
    row.append(verdict_of(input));
    return row;
}

function draw_check(check, inputs) {
    const verdict = by_id("typed_verdict"), seen = inputs.some(input => input.agrees === false);
    const untested = inputs.filter(({ agrees, grad, shape }) =>
        agrees && (shape.length ? reals(grad) : [grad]).every(v => v === 0));
    const compared = inputs.every(input => input.agrees !== null);
    const text = check.passed === false ? seen ? "\u2717 The gradient check failed."
        : "\u2717 The backward is wrong, but not in this expression: the op alone fails its check."
        : inputs.some(input => input.grad === null) ? "There is no gradient: the result is nan or infinite."
        : !compared ? "The gradient check was not made."
            : check.passed ? "\u2713 The gradient check passed."
                : "\u2713 What was tested passed. " +
                    `${untested.map(input => input.name).join(", ")} was not tested: its gradient is 0 here.`;
    verdict.className = check.passed === false ? "bad" : compared ? "good" : "";
    if (verdict.textContent !== text) verdict.textContent = text;       // else it would be read out again
    by_id("typed_report").textContent = check.text.replace(/\n +/g, " ");      // lines of any length
}

// ---- at each key ----------------------------------------------------------------------------------------

function compute_typed(m) {
    const text = by_id("typed_text").value, names = typed.names || [];
    const values = Float64Array.from(names, name => typed.values[name]);
    const result = read_json(m.text("expression_run", text, values, names.length, typed.slip)), { error } = result;
    const free = error ? names : result.inputs.filter(input => input.free).map(input => input.name);
    if (free.join() !== typed.names?.join() && !error) {
        draw_names(free);
        compute_typed(m);
        return;
    }
    for (const id of ["typed_result", "inspect"]) by_id(id).classList.toggle("stale", error !== null);
    keep_state();
    if (error) draw_mistake(error, "wrong");
    else {
        draw_mistake(result.warning, "strange");
        draw_slips(result.slips);
        show(result.page);
        by_id("typed_inputs").replaceChildren(...result.inputs.map(draw_input));
        draw_check(result.check, result.inputs);
    }
}

// Once a frame, however many keys and moves of a slider there were.
function compute_soon() {
    if (typed.waits) return;
    typed.waits = true;
    requestAnimationFrame(async () => {
        const m = await typed.module;
        typed.waits = false;
        if (current_screen === "expression") compute_typed(m);
    });
}

function set_expression(text, values) {
    show_screen("expression");
    by_id("typed_text").value = text;
    Object.assign(typed.values, values);
    typed.names = chosen = null;
    typed.slip = -1;
    compute_soon();
}

function start_expression() {
    for (const [title, { text, values }] of Object.entries(typed_examples))
        by_id("typed_examples").append(make_button("", () => set_expression(text, values), title));
    by_id("typed_text").value ||= "c = a*b + b^3\ny = tanh(c/10)";
    by_id("typed_text").addEventListener("input", compute_soon);
    by_id("typed_slip").addEventListener("change", event => {
        typed.slip = Number(event.target.value);
        compute_soon();
    });
    typed.module = open_module(module_bytes("f64"));
    typed.module.catch(error => by_id("status").textContent = "WebAssembly: " + error.message);
}

const expression_screen = {
    start: start_expression,
    show: compute_soon,
    hide() { by_id("inspect").classList.remove("stale"); },
};
