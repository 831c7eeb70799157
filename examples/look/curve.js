// ---- the loss, and the states along it ------------------------------------------------------------------

const CURVE = { wide: 640, high: 70, edge: 8 };         // the knob's centre at both ends of the slider

function steps_of_run() {               // computed on first use
    const all = () => data.curve.map(row => row[0]).concat(data.states.map(state => state.step));
    return data.span ||= { first: Math.min(...all()), last: Math.max(...all()) };
}

function curve_x(step) {
    const { first, last } = steps_of_run();
    return CURVE.edge + (CURVE.wide - 2 * CURVE.edge) * (step - first) / Math.max(1, last - first);
}

function nearest(list, step_of, step) {
    const far = x => Math.abs(step_of(x) - step);
    return list.reduce((a, b) => far(b) < far(a) ? b : a);
}

// The steps of the states, as far as their numbers fit.
function draw_step_numbers(svg) {
    let free = Infinity;
    [...data.states].reverse().forEach(state => {
        const x = curve_x(state.step), half = 4 * String(state.step).length;
        if (x + half > free) return;
        free = x - half - 6;
        const at = { x: clamp(x, half, CURVE.wide - half), y: CURVE.high + 13, "text-anchor": "middle" };
        svg.append(make_svg("text", at, state.step));
    });
}

function draw_curve() {
    const svg = make_svg("svg", { id: "curve", width: CURVE.wide, height: CURVE.high + 16 });
    const losses = data.curve.map(row => row[1]), most = Math.max(...losses), least = Math.min(...losses);
    const y = loss => 4 + (CURVE.high - 8) * (most > least ? (most - loss) / (most - least) : 0);
    const points = data.curve.map(([step, loss]) => curve_x(step).toFixed(1) + " " + y(loss).toFixed(1));
    svg.append(make_svg("path", { d: "M" + points.join("L") }));
    for (const state of data.states) {          // one for each state
        const loss = nearest(data.curve, row => row[0], state.step)[1];
        svg.append(make_svg("circle", { cx: curve_x(state.step), cy: y(loss), r: 3 }));
    }
    const at = curve_x(data.states[model.state].step);
    svg.append(make_svg("line", { x1: at, x2: at, y1: 0, y2: CURVE.high }));
    svg.append(make_svg("text", { x: CURVE.wide - CURVE.edge, y: 12, "text-anchor": "end" },
        `training loss, from ${short(losses[0])} to ${short(losses[losses.length - 1])}`));
    draw_step_numbers(svg);
    svg.addEventListener("click", event => {
        const { first, last } = steps_of_run(), wide = CURVE.wide - 2 * CURVE.edge;
        const share = (event.clientX - svg.getBoundingClientRect().left - CURVE.edge) / wide;
        go_to(first + (last - first) * share);
    });
    return svg;
}

function show_state(number) {
    const slider = by_id("slider");
    model.state = clamp(number, 0, data.states.length - 1);
    slider.value = data.states[model.state].step;
    slider.setAttribute("aria-valuetext", `after ${slider.value} steps`);
    draw_state();
}

function go_to(step) { show_state(data.states.indexOf(nearest(data.states, state => state.step, step))); }

// The slider counts steps, as the curve above it does, and snaps to the states.
function draw_slider() {
    const slider = make("input");
    const keys = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };
    slider.type = "range";
    slider.id = "slider";
    slider.min = steps_of_run().first;
    slider.max = steps_of_run().last;
    slider.value = data.states[model.state].step;
    slider.setAttribute("aria-label", "training step");
    slider.addEventListener("input", () => go_to(Number(slider.value)));
    slider.addEventListener("keydown", event => {
        if (!keys[event.key]) return;
        event.preventDefault();
        show_state(model.state + keys[event.key]);
    });
    return slider;
}

function fit_training() {
    CURVE.wide = clamp(by_id("model").parentNode.clientWidth - 40, 240, 640);
    if (by_id("slider")) by_id("slider").style.width = CURVE.wide + "px";
    draw_state();
}

// The curve and the slider, which stand before the state.
function draw_training(box) {
    const several = data.states.length > 1, parts = [];
    if (several) parts.push(make("h3", "", "Training: move the slider to see the model as it was"));
    if (data.curve.length > 1) parts.push(draw_curve());
    if (several) parts.push(draw_slider());
    else if (data.curve.length > 1)
        parts.push(make("div", "facts",
            "The run kept no snapshots: with build/train --snapshot-every N a slider moves through its " +
            "training."));
    box.prepend(...parts);
}
