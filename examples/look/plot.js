// ---- losses over steps ----------------------------------------------------------------------------------

const PLOT = { high: 180, left: 30, right: 8, top: 8, bottom: 20 };

// The marks of an axis from 0 to `most`: at most six intervals, of 1, 2 or 5 times a power of ten.
function marks(most) {
    const ten = 10 ** Math.floor(Math.log10(Math.max(most, 1e-9) / 6));
    const every = [1, 2, 5, 10].map(k => k * ten).find(every => most / every <= 6);
    return Array.from({ length: Math.floor(most / every + 1e-9) + 1 }, (_, i) => rounded(i * every, 3));
}

const last_of = point => point[1];

// Draws lines ({ className, points: [[step, loss], ...] }) over an axis of so many steps; a level (the loss
// of a model that knows nothing); a mark at a step; points. What is above twice the level is drawn at the
// edge, where its height is written. pick is called with a step that is clicked.
function draw_plot(box, { lines, steps, level = 0, at, points = [], wide = 0, pick }) {
    const { high, left, right, top, bottom } = PLOT;
    const highest = largest(lines.flatMap(one => one.points.map(last_of)));
    const most = level ? Math.min(2 * level, Math.max(1.1 * level, 1.05 * highest)) : 1.05 * highest || 1;
    wide ||= Math.max(220, box.clientWidth);
    const x = step => left + (wide - left - right) * step / Math.max(1, steps);
    const y = loss => high - bottom - (high - bottom - top) * clamp(loss / most, 0, 1);
    const svg = make_svg("svg", { width: wide, height: high, "aria-hidden": true });
    const line = (name, x1, x2, y1, y2) => svg.append(make_svg("line", { class: name, x1, x2, y1, y2 }));
    const across = (v, name) => line(name, left, wide - right, y(v), y(v));
    const write = (x, y, text, name = "") => svg.append(make_svg("text", { x, y, class: name, "text-anchor":
        x < left ? "end" : "middle" }, text));
    for (const loss of marks(most)) {
        across(loss, "mark");
        write(left - 5, y(loss) + 4, loss);
    }
    for (const step of marks(steps))
        write(clamp(x(step), left, wide - 4 * String(step).length), high - 6, step);
    if (level) across(level, "level");
    for (const { className, points } of lines) {
        const there = points.filter(point => Number.isFinite(point[1])), peak = largest(there.map(last_of));
        const d = there.map(([step, loss]) => x(step).toFixed(1) + " " + y(loss).toFixed(1)).join("L");
        if (d) svg.append(make_svg("path", { class: className, d: "M" + d }));
        if (peak > most)
            write(clamp(x(there.find(point => point[1] > most)[0]), 60, wide - 60), top + 14,
                `\u2191 up to ${rounded(peak, 3)}`, className);
    }
    for (const [step, loss] of points) svg.append(make_svg("circle", { cx: x(step), cy: y(loss), r: 3 }));
    if (at >= 0) line("at", x(at), x(at), top, high - bottom);
    if (pick)
        svg.addEventListener("click", ({ clientX }) =>
            pick(steps * (clientX - svg.getBoundingClientRect().x - left) / (wide - left - right)));
    box.replaceChildren(svg);
}
