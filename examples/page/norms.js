// ---- what stands beside a plot: its legend, and the norms of layers -------------------------------------

// What the lines of a plot are, with a number each: [className, text, number], ...
function draw_legend(box, entries) {
    box.replaceChildren(...entries.map(([className, text, number]) =>
        make("span", "entry", make("i", className), text + " ", make("b", "", number))));
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
