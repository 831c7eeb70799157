"use strict";
// All parts of a page use this: elements, numbers, colours. Text from the data is inserted as textContent,
// never as HTML, and without the characters that reverse the direction of the text after them.

let data = null;                        // what is shown: see show

const turning = /[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;
function read_json(text) {
    return JSON.parse(text, (key, v) => typeof v === "string" ? v.replace(turning, "\ufffd") : v);
}

const by_id = id => document.getElementById(id);

// parts: texts and elements.
function make(tag, className, ...parts) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    element.append(...parts);
    return element;
}

function make_button(className, act, ...parts) {
    const button = make("button", className, ...parts);
    button.addEventListener("click", act);
    return button;
}

function make_svg(tag, attributes, text) {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const key in attributes) element.setAttribute(key, attributes[key]);
    if (text !== undefined) element.textContent = text;
    return element;
}

// Draws a box again; the focus stays on the element that has the place of the focused one.
function redraw(box, draw) {
    const all = () => [...box.querySelectorAll("button, [tabindex]")];
    const at = all().indexOf(document.activeElement);
    draw();
    if (at >= 0 && all()[at]) all()[at].focus({ preventScroll: true });
}

// In a picture, arrow keys move the cell, at = [row, column], as the pointer does.
function cell_keys(element, at, rows, columns, point) {
    const keys = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "img");
    element.addEventListener("keydown", event => {
        const by = keys[event.key];
        if (!by) return;
        event.preventDefault();
        event.stopPropagation();
        at[0] = clamp(at[0] + by[0], 0, rows - 1);
        at[1] = clamp(at[1] + by[1], 0, columns - 1);
        point(...at);
    });
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

// So many digits, without zeros at the end.
function rounded(v, digits) { return Number.isFinite(v) ? String(Number(v.toPrecision(digits))) : exact(v); }

// The shortest decimals that read back as this number.
function exact(v) {
    if (Number.isNaN(v)) return "nan";
    if (!Number.isFinite(v)) return v > 0 ? "inf" : "-inf";
    if (!data || data.bytes === 8) return String(v);
    let digits = 1;
    while (digits < 9 && Math.fround(rounded(v, digits)) !== Math.fround(v)) digits++;
    return rounded(v, digits);
}

function short(v) {
    if (v === undefined) return "";
    if (!Number.isFinite(v)) return exact(v);
    if (v === 0) return "0";
    return Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(2) : v.toPrecision(4);
}

// As many of its decimals as fit in a column.
function fitted(v, room = 12) {
    let text = exact(v);
    for (let digits = 9; text.length > room && digits > 0; digits--) text = rounded(v, digits);
    return text;
}

function clipped(text, most) { return text.length > most ? text.slice(0, most - 1) + "\u2026" : text; }

function percent(share) {
    if (!Number.isFinite(share)) return exact(share);
    return (100 * share).toFixed(share > 0 && share < 0.01 ? 2 : 1) + " %";
}

// ---- colours --------------------------------------------------------------------------------------------

const dark_scheme = matchMedia("(prefers-color-scheme: dark)"), is_dark = () => dark_scheme.matches;

// A colour for a number: white (or black) is 0, red above, blue below.
function colour(v, most) {
    if (!Number.isFinite(v)) return [255, 220, 0];
    const x = most > 0 ? clamp(v / most, -1, 1) : 0, dark = is_dark();
    const end = x > 0 ? [190, 30, 30] : [20, 90, 190], zero = dark ? [24, 26, 30] : [250, 250, 250];
    if (dark) for (let k = 0; k < 3; k++) end[k] = Math.min(255, end[k] + 60);
    const share = Math.sqrt(Math.abs(x));
    return zero.map((z, k) => Math.round(z + (end[k] - z) * share));
}

function clamp(v, low, high) { return Math.max(low, Math.min(high, v)); }

function largest(list) {
    return list.reduce((m, v) => Number.isFinite(v) ? Math.max(m, Math.abs(v)) : m, 0);
}
