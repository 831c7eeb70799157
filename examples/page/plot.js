// ---- losses over steps, and the norm of each layer's gradient -------------------------------------------

const PLOT = { high: 180, left: 30, right: 8, top: 8, bottom: 20 };

// Steps between marks of an axis of so many, at most six: 1, 2 or 5 times a power of ten.
function mark_every(most) {
    const ten = 10 ** Math.floor(Math.log10(Math.max(most, 1e-9) / 6));
    return [1, 2, 5, 10].map(k => k * ten).find(every => most / every <= 6);
}

function marks(most) {
    const every = mark_every(most), n = Math.floor(most / every + 1e-9);
    return Array.from({ length: n + 1 }, (_, i) => i * every);
}

// Draws lines ({ className, points: [[step, loss], ...] }) over an axis of so many steps, a level (the loss
// of a model that knows nothing) and a mark at a step. What is above twice the level is drawn at the edge.
function draw_plot(box, { lines, steps, level, at }) {
    const { high, left, right, top, bottom } = PLOT, wide = Math.max(220, box.clientWidth);
    const losses = lines.flatMap(line => line.points.map(point => point[1]));
    const most = Math.min(2 * level, Math.max(1.1 * level, 1.05 * largest(losses)));
    const x = step => left + (wide - left - right) * step / Math.max(1, steps);
    const y = loss => high - bottom - (high - bottom - top) * clamp(loss / most, 0, 1);
    const svg = make_svg("svg", { width: wide, height: high, "aria-hidden": true });
    for (const loss of marks(most)) {
        svg.append(make_svg("line", { class: "mark", x1: left, x2: wide - right, y1: y(loss), y2: y(loss) }));
        svg.append(make_svg("text", { x: left - 5, y: y(loss) + 4, "text-anchor": "end" }, short_mark(loss)));
    }
    for (const step of marks(steps)) {
        const middle = clamp(x(step), 0, wide - 4 * String(step).length);
        svg.append(make_svg("text", { x: middle, y: high - 6, "text-anchor": "middle" }, short_mark(step)));
    }
    svg.append(make_svg("line", { class: "level", x1: left, x2: wide - right, y1: y(level), y2: y(level) }));
    for (const { className, points } of lines) {
        const there = points.filter(point => Number.isFinite(point[1]));
        const d = there.map(([step, loss]) => x(step).toFixed(1) + " " + y(loss).toFixed(1)).join("L");
        if (d) svg.append(make_svg("path", { class: className, d: "M" + d }));
    }
    if (at >= 0)
        svg.append(make_svg("line", { class: "at", x1: x(at), x2: x(at), y1: top, y2: high - bottom }));
    box.replaceChildren(svg);
}

function short_mark(v) { return String(Number(v.toPrecision(3))); }

// What the lines of a plot are, with a number each: [className, text, number], ...
function draw_legend(box, entries) {
    box.replaceChildren(...entries.map(([className, text, number]) => {
        const entry = make("span", "entry");
        entry.append(make("i", className), text + " ", make("b", "", number));
        return entry;
    }));
}

// ---- norms ----------------------------------------------------------------------------------------------

// A row for each layer, a bar and a number for each series ({ className, norms: [{ name, grad }] }), on a
// logarithmic scale that grows by decades. Rows and scale are kept as long as the names are the same.
function draw_norms(box, series) {
    const names = series[0].norms.map(norm => norm.name), key = names.join("\n") + series.length;
    if (box.names !== key) {
        box.names = key;
        box.low = Infinity;
        box.high = -Infinity;
        box.replaceChildren(make_scale(), ...names.map(name => make_norm(name, series)));
    }
    for (const grad of series.flatMap(one => one.norms.map(norm => norm.grad)))
        if (Number.isFinite(grad) && grad > 0) {
            box.low = Math.min(box.low, Math.max(-30, Math.floor(Math.log10(grad) - 0.1)));
            box.high = Math.max(box.high, Math.ceil(Math.log10(grad)));
        }
    const decades = Math.max(1, box.high - box.low);
    box.style.setProperty("--decades", Number.isFinite(decades) ? decades : 1);
    const ends = box.querySelectorAll(".scale span");
    [box.low, box.high].forEach((power, i) => {
        ends[i].textContent = Number.isFinite(power) ? "1e" + power : "";
    });
    box.querySelectorAll(".norm").forEach((row, i) => series.forEach(({ norms }, k) => {
        const grad = number_of(norms[i]?.grad ?? NaN), fill = row.querySelectorAll(".fill")[k];
        const share = grad > 0 ? clamp((Math.log10(grad) - box.low) / decades, 0, 1) : 0;
        fill.style.transform = `scaleX(${Number.isFinite(share) ? share : 1})`;
        row.querySelectorAll(".number")[k].textContent = Number.isNaN(grad) ? "" : short(grad);
    }));
}

function make_scale() {
    const scale = make("div", "scale");
    scale.setAttribute("aria-hidden", "true");
    scale.append(make("span"), make("span"));
    return scale;
}

function make_norm(name, series) {
    const row = make("div", "norm"), track = make("div", "track");
    track.append(...series.map(one => make("div", "fill " + one.className)));
    const row_numbers = make("div", "norm_numbers");
    row_numbers.append(...series.map(one => make("div", "number " + one.className)));
    row.append(make("span", "name", name), track, row_numbers);
    return row;
}
