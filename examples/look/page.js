"use strict";
// The page of a step. Its data is above, as JSON; text from it is inserted as textContent, never as HTML, and
// without the characters that reverse the direction of the text after them.

const turning = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
const data = JSON.parse(document.getElementById("data").textContent,
    (key, v) => typeof v === "string" ? v.replace(turning, "\ufffd") : v);
const nodes = data.nodes, count = nodes.length;
const by_id = id => document.getElementById(id);

function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
}

function make_svg(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
}

// ---- numbers --------------------------------------------------------------------------------------------

const strange = { nan: NaN, inf: Infinity, "-inf": -Infinity };

function bytes_of(base64) {
    return Uint8Array.from(atob(base64), c => c.charCodeAt(0));
}

function number_of(v) { return typeof v === "string" ? strange[v] : v; }

// A list of numbers: an array, or base64 of their bytes.
function reals(x) {
    if (Array.isArray(x)) return x.map(number_of);
    const buffer = bytes_of(x).buffer;
    return data.bytes === 4 ? new Float32Array(buffer) : new Float64Array(buffer);
}

function list_of(part) {                // a tensor's values or gradients; decoded on first use
    if (!part.list) part.list = reals(part.x);
    return part.list;
}

// The shortest decimals that read back as this number.
function exact(v) {
    if (Number.isNaN(v)) return "nan";
    if (!Number.isFinite(v)) return v > 0 ? "inf" : "-inf";
    if (data.bytes === 8) return String(v);
    const single = Math.fround(v);
    for (let digits = 1; digits < 9; digits++)
        if (Math.fround(Number(v.toPrecision(digits))) === single)
            return String(Number(v.toPrecision(digits)));
    return String(Number(v.toPrecision(9)));
}

function short(v) {
    if (v === undefined) return "";
    if (!Number.isFinite(v)) return exact(v);
    if (v === 0) return "0";
    return Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : v.toPrecision(4);
}

function percent(share) {
    if (!Number.isFinite(share)) return exact(share);
    return (100 * share).toFixed(share > 0 && share < 0.01 ? 2 : 1) + " %";
}

// ---- what a node is called ------------------------------------------------------------------------------

function size_of(node) { return node.shape.reduce((a, b) => a * b, 1); }
function shape_text(node) { return node.shape.length ? "(" + node.shape.join(", ") + ")" : "scalar"; }
function last_part(name) { return name.slice(name.lastIndexOf(".") + 1); }

function node_title(node) {
    const what = node.op || node.kind;
    return node.name ? node.name + " \u2014 " + what : what;
}

// "trf_blocks.0.ff.layers.2": trf_blocks.0, ff, layers.2
function layers_of(path) {
    const parts = [];
    for (const part of path.split("."))
        if (/^\d+$/.test(part) && parts.length) parts[parts.length - 1] += "." + part;
        else if (part) parts.push(part);
    return parts;
}

// ---- the tree: neighbours of one layer are a group ------------------------------------------------------

function group(name) { return { name, children: [], open: false }; }

function build_tree() {
    const root = group("");
    root.depth = -1;
    root.open = true;
    let path = [root];
    nodes.forEach((node, i) => {
        const layers = layers_of(node.path);
        let same = 0;
        while (same < layers.length && same + 1 < path.length && path[same + 1].name === layers[same]) same++;
        path = path.slice(0, same + 1);
        for (let depth = same; depth < layers.length; depth++) {
            const g = group(layers[depth]);
            path[path.length - 1].children.push(g);
            path.push(g);
        }
        path[path.length - 1].children.push({ node: i, from: i, to: i + 1, children: [] });
    });
    dissolve(root);
    set_ranges(root);
    return root;
}

// A group of one node is replaced by the node.
function dissolve(part) {
    part.children.forEach(dissolve);
    const one = child => child.children.length === 1 && child.children[0].node !== undefined;
    part.children = part.children.map(child => one(child) ? child.children[0] : child);
}

function set_ranges(part) {             // and depths and parents
    if (part.node !== undefined) return;
    part.children.forEach(child => {
        child.parent = part;
        child.depth = part.depth + 1;
        set_ranges(child);
    });
    part.from = part.children.length ? part.children[0].from : 0;
    part.to = part.children.length ? part.children[part.children.length - 1].to : 0;
}

function open_all(part, open) {
    part.children.forEach(child => {
        child.open = open;
        open_all(child, open);
    });
}

const tree = build_tree();
open_all(tree, count <= 45);

// ---- state: what is computed so far, and what is chosen -------------------------------------------------
// done counts steps: up to count, how many nodes have their value, from the first on; past it, how many have
// their gradient, from the last one back.

let done = 2 * count, chosen = null, rows = [];

function has_value(i) { return i < done; }
function has_grad(i) { return i >= 2 * count - done; }
function is_row(part) { return !part.open || part.node !== undefined; }        // it represents its nodes

function visible_rows() {
    const list = [];
    const add = part => part.children.forEach(child => {
        list.push(child);
        if (child.open) add(child);
    });
    add(tree);
    return list;
}

function row_of(i) { return rows.find(part => is_row(part) && part.from <= i && i < part.to); }

// ---- drawing the tape -----------------------------------------------------------------------------------

const ROW = 21;

function cell_text(i, part, there) {
    if (!part) return "";
    if (!there) return "\u00b7";
    const list = size_of(nodes[i]) === 1 ? list_of(part) : null;
    return list ? exact(list[0]) : short(number_of(part.rms));
}

function draw_label(row, part) {
    const node = part.node === undefined ? null : nodes[part.node], what = make("span", "what");
    what.style.paddingLeft = 14 * part.depth + "px";
    if (!node) {
        row.classList.add("group");
        what.textContent = (part.open ? "\u25be " : "\u25b8 ") + part.name;
        what.append(make("span", "number", "  (" + (part.to - part.from) + ")"));
    } else if (node.kind === "node") {
        what.append(make("span", "number", node.number + " "));
        if (node.name) what.append(make("b", "", node.name), "  ");
        what.append(make("span", node.name ? "number" : "", node.op));
    } else {
        row.classList.add("leaf");
        what.textContent = "\u25cb " + (last_part(node.name) || node.op || node.kind);
        if (node.name) what.append(make("span", "number", "  " + node.kind));
    }
    what.title = node ? node_title(node).slice(0, 300) : part.name.slice(0, 300);
    row.append(what);
}

function draw_row(part) {
    const row = make("div", "row"), last = part.to - 1, node = nodes[last];
    row.setAttribute("role", "treeitem");
    if (part.node === undefined) row.setAttribute("aria-expanded", String(part.open));
    row.setAttribute("aria-selected", String(part === chosen));
    if (part === chosen) row.classList.add("chosen");
    row.append(make("span"));
    draw_label(row, part);
    const shown = is_row(part);
    row.append(make("span", "shape", shown ? shape_text(node) : ""));
    row.append(make("span", "value", shown ? cell_text(last, node.data, has_value(last)) : ""));
    row.append(make("span", "grad", shown ? cell_text(last, node.grad, has_grad(last)) : ""));
    row.addEventListener("click", event => {
        const again = part === chosen;
        choose(part);
        if (part.node === undefined && (again || event.detail === 2 || !part.open)) toggle(part);
    });
    return row;
}

function draw_arcs() {
    const svg = by_id("arcs"), seen = new Set(), late = [];
    svg.replaceChildren();
    svg.setAttribute("height", rows.length * ROW);
    const row_number = Array(count);
    rows.forEach((part, i) => { if (is_row(part)) row_number.fill(i, part.from, part.to); });
    nodes.forEach((node, j) => node.in.forEach(i => {
        const a = row_number[i], b = row_number[j];
        if (i < 0 || a === b || seen.has(a + "," + b)) return;
        seen.add(a + "," + b);
        const y1 = (a + 0.5) * ROW, y2 = (b + 0.5) * ROW, wide = Math.min(66, 6 + 2.4 * Math.sqrt(y2 - y1));
        const kind = rows[b] === chosen ? "in" : rows[a] === chosen ? "out" : "";
        const d = `M70 ${y1} C${70 - wide} ${y1} ${70 - wide} ${y2} 70 ${y2}`;
        const path = make_svg("path", { d, class: kind });
        if (kind) late.push(path); else svg.append(path);
    }));
    svg.append(...late);
}

function phase_text() {
    if (data.error) return "This step has an error: " + data.error;
    if (done === 2 * count) return "All is computed. Home starts over; \u2193 goes forward, \u2191 backward.";
    if (done === count) return "Forward is done. \u2191 propagates the gradient back, node by node.";
    return done < count ? `Forward: ${done} of ${count} nodes have a value. \u2193 computes the next.`
        : `Backward: ${done - count} of ${count} nodes have a gradient. \u2191 continues.`;
}

function draw() {
    rows = visible_rows();
    by_id("rows").replaceChildren(...rows.map(draw_row));
    by_id("phase").textContent = phase_text();
    by_id("fold").textContent = rows.some(part => part.open) ? "fold" : "unfold";
    by_id("fold").hidden = !rows.some(part => part.node === undefined);
    draw_arcs();
    draw_node();
    const i = rows.indexOf(chosen), box = by_id("tape");
    if (i >= 0 && (i * ROW < box.scrollTop || (i + 1) * ROW > box.scrollTop + box.clientHeight))
        box.scrollTop = (i + 0.5) * ROW - box.clientHeight / 2;
}

function choose(part) {
    chosen = part;
    show_view("node");
    draw();
}

function toggle(part) {
    part.open = !part.open;
    draw();
}

// ---- stepping -------------------------------------------------------------------------------------------

function move(by) {
    const i = rows.indexOf(chosen) + by;
    if (i >= 0 && i < rows.length) choose(rows[i]);
}

function step_to(steps, row) {
    done = steps;
    choose(row);
}

function step_down() {
    if (done === 2 * count) move(1);
    else if (done < count) {
        const row = row_of(done);
        step_to(row.to, row);
    } else if (done > count) {          // back in the backward
        const row = row_of(2 * count - done);
        step_to(2 * count - row.to, row_of(Math.min(row.to, count - 1)));
    }
}

function step_up() {
    if (done === 2 * count) move(-1);
    else if (done >= count) {
        const row = row_of(2 * count - done - 1);
        step_to(2 * count - row.from, row);
    } else if (done > 0) {              // back in the forward
        const row = row_of(done - 1);
        step_to(row.from, row_of(Math.max(row.from - 1, 0)));
    }
}

function restart() { step_to(0, rows[0]); }
function finish() { step_to(2 * count, rows[rows.length - 1]); }
function next_backward() {              // the button, which never only moves the selection
    if (done < count) done = count;
    if (done < 2 * count) step_up();
}
function next_forward() {
    if (done >= count) done = 0;
    step_down();
}

function open_or_enter(open) {
    if (chosen && chosen.node === undefined && chosen.open !== open) toggle(chosen);
    else if (!open && chosen && chosen.parent && chosen.parent !== tree) choose(chosen.parent);
}

const keys = {
    ArrowDown: step_down, ArrowUp: step_up, Home: restart, End: finish,
    ArrowRight: () => open_or_enter(true), ArrowLeft: () => open_or_enter(false),
    Enter: () => { if (chosen && chosen.node === undefined) toggle(chosen); },
};

document.addEventListener("keydown", event => {
    const key = keys[event.key];
    if (!key || event.ctrlKey || event.altKey || event.metaKey || event.target.tagName === "INPUT") return;
    if (event.key === "Enter" && event.target.tagName === "BUTTON") return;
    event.preventDefault();
    key();
});

// ---- tabs -----------------------------------------------------------------------------------------------

const views = [["node", "Node"]];
if (data.states && data.states.length) views.push(["model", "Attention and predictions"]);

function show_view(name) {
    for (const [id] of views) {
        by_id(id).hidden = id !== name;
        const tab = by_id("tab-" + id);
        if (tab) tab.setAttribute("aria-pressed", String(id === name));
    }
}

function draw_tabs() {
    views.forEach(([id, title]) => {
        const button = make("button", "", title);
        button.id = "tab-" + id;
        button.addEventListener("click", () => show_view(id));
        by_id("tabs").append(button);
    });
    by_id("tabs").hidden = views.length < 2;
}
