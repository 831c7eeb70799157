// ---- the loss, and the states along it ------------------------------------------------------------------

const CURVE = { wide: 640 };

function last_step() {                  // computed on first use
    return data.last_step ||= Math.max(...data.curve.concat(data.states).map(part => part.step ?? part[0]));
}

function nearest(list, step_of, step) {
    const far = x => Math.abs(step_of(x) - step);
    return list.reduce((a, b) => far(b) < far(a) ? b : a);
}

function draw_curve() {
    const points = data.states.map(state => [state.step, nearest(data.curve, row => row[0], state.step)[1]]);
    draw_plot(by_id("curve"), { lines: [{ className: "train", points: data.curve }], steps: last_step(),
        points, at: data.states[model.state].step, wide: CURVE.wide, pick: go_to });
}

function show_state(number) {
    const slider = by_id("slider");
    model.state = clamp(number, 0, data.states.length - 1);
    slider.value = data.states[model.state].step;
    slider.setAttribute("aria-valuetext", `after ${slider.value} steps`);
    draw_state();
}

function go_to(step) { show_state(data.states.indexOf(nearest(data.states, state => state.step, step))); }

// Arrow keys move a slider from one of these steps to the next.
function step_keys(slider, steps, go) {
    const keys = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1 };
    slider.addEventListener("keydown", event => {
        const list = steps(), by = keys[event.key];
        if (!by) return;
        event.preventDefault();
        const at = list.indexOf(nearest(list, step => step, Number(slider.value)));
        go(slider.value = list[clamp(at + by, 0, list.length - 1)]);
    });
}

// The slider counts steps, as the curve above it does, and snaps to the states.
function draw_slider() {
    const slider = make("input");
    slider.type = "range";
    slider.id = "slider";
    slider.className = "along";
    slider.min = 0;
    slider.max = last_step();
    slider.value = data.states[model.state].step;
    slider.setAttribute("aria-label", "training step");
    slider.addEventListener("input", () => go_to(Number(slider.value)));
    step_keys(slider, () => data.states.map(state => state.step), go_to);
    return slider;
}

function fit_training() {
    CURVE.wide = clamp(by_id("model").parentNode.clientWidth - 40, 240, 640);
    if (by_id("slider")) by_id("slider").style.width = CURVE.wide - 22 + "px";
    draw_state();
}

// The curve and the slider, which come before the state.
function draw_training(box) {
    const several = data.states.length > 1, parts = [];
    if (several) parts.push(make("h3", "", "Training: move the slider to see the model as it was"));
    if (data.curve.length > 1) {
        const plot = make("div", "plot"), first = data.curve[0][1], last = data.curve.at(-1)[1];
        plot.id = "curve";
        parts.push(make("div", "facts", `training loss, from ${short(first)} to ${short(last)}`), plot);
    }
    if (several) parts.push(draw_slider());
    else if (data.curve.length > 1)
        parts.push(make("div", "facts",
            "The run kept no snapshots: with build/train --snapshot-every N a slider moves through its " +
            "training."));
    box.prepend(...parts);
}
