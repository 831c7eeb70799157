// ---- losses with a legend, and the norms of layers ---------------------------------------------------------

// The losses in a column of a run's rows: [[step, loss], ...].
function losses_of(rows, column) {
    return rows.filter(row => row[column] !== null).map(row => [row[0], number_of(row[column])]);
}

// A plot of lines ({ className, text, points }); above it, each name, and the loss at a step or the last.
function draw_losses(name, lines, { vocab, steps }, { at, pick } = {}) {
    const level = Math.log(vocab), entry = (className, text, loss) => make("span", "entry",
        make("i", className), text + " ", make("b", "", loss?.toFixed(4) ?? "\u00a0"));
    draw_plot(by_id(name + "_loss"), { lines, steps, level, at, pick });
    by_id(name + "_legend").replaceChildren(...lines.map(({ className, text, points }) =>
        entry(className, text, points.findLast(([step]) => step <= (at ?? steps))?.[1])),
    entry("level", `guesses blindly: ln ${vocab} =`, level));
}

// A name, a bar for each share ({ className, share }), and texts of as many columns.
function bar_row(name, bars, ...columns) {
    const fills = bars.map(({ className, share }) => {
        const fill = make("div", "fill " + className);
        fill.style.transform = `scaleX(${share})`;
        return fill;
    });
    const cells = columns.map(column =>
        make("div", "", ...column.map(([className, text]) => make("div", "number " + className, text))));
    return make("div", "norm", make("span", "name", name), make("div", "track", ...fills), ...cells);
}

// A row for each layer, a bar and a number for each series ({ className, norms: [{ name, grad, ratio }] }),
// on a logarithmic scale of the decades that they are in.
function draw_norms(box, series, has_ratio) {
    const powers = series.flatMap(one => one.norms.map(norm => Math.log10(norm.grad))).filter(Number.isFinite);
    const low = Math.max(-30, Math.floor(Math.min(...powers) - 0.1)), high = Math.ceil(Math.max(...powers));
    const decades = Math.max(1, high - low), scale = make("div", "scale",
        ...[low, high].map(power => make("span", "", powers.length ? "1e" + power : "")));
    scale.setAttribute("aria-hidden", "true");
    box.style.setProperty("--decades", decades);
    box.replaceChildren(scale, ...series[0].norms.map(({ name }, i) => {
        const here = series.map(({ className, norms }) => ({ className, ...norms[i] }));
        return bar_row(name, here.map(({ className, grad }) =>
            ({ className, share: grad > 0 ? clamp((Math.log10(grad) - low) / decades, 0, 1) : 0 })),
        here.map(({ className, grad }) => [className, short(grad ?? undefined)]),
        ...has_ratio ? [here.map(({ ratio }) => ["", ratio ? percent(ratio) : ""])] : []);
    }));
}
