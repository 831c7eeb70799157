// ---- the screen "Break it" ------------------------------------------------------------------------------
// A separate worker trains the unbroken model, unless that has been done, and then the broken model.

const experiment = { worker: null, run: 0, chosen: null, pair: [], results: new Map(), now: null };

function result_of(flags, bits) {
    const text = Object.entries(flags).map(([name, value]) => `--${name} ${value}`).join(" ");
    const key = text + " " + bits;
    if (!experiment.results.has(key))
        experiment.results.set(key, { flags: text, bits, steps: flags.steps, step: 0, vocab: 2, rows: [],
            norms: [], sample: "", error: "", ended: false, done: false });
    return experiment.results.get(key);
}

function choose_break(chosen) {
    const common = { ...PLAIN, ...chosen.common };
    experiment.chosen = chosen;
    experiment.now = null;
    experiment.pair = [result_of(common, 0), result_of({ ...common, ...chosen.flags }, chosen.bits)];
    for (const button of by_id("break_list").children)
        button.setAttribute("aria-pressed", String(button.textContent === chosen.name));
    by_id("break_question").replaceChildren(make("h2", "", chosen.name), make("p", "", chosen.question));
    by_id("break_answers").replaceChildren(...chosen.answers.map(name =>
        make_button("", ({ target }) => answer_break(name, target), outcomes[name])));
    by_id("break_verdict").textContent = "";
    by_id("break_plots").hidden = true;
    const before = chosen.answers.indexOf(chosen.answer);
    if (before >= 0) answer_break(chosen.answer, by_id("break_answers").children[before]);
    keep_state();
}

// The answer stays, so that what happened is shown when the visitor comes back.
function answer_break(name, button) {
    const { bits, flags } = experiment.pair[1];
    experiment.chosen.answer = name;
    for (const other of by_id("break_answers").children) other.disabled = true;
    button.setAttribute("aria-pressed", "true");
    by_id("break_plots").hidden = false;
    by_id("break_command").textContent = bits ? "build/train cannot break a model like this; unbroken: " : "";
    by_id("break_flags").textContent = (bits ? experiment.pair[0] : { flags }).flags;
    train_next();
}

function train_next() {
    experiment.now = experiment.pair.find(result => !result.done) || null;
    redraw_broken();
    if (!experiment.now) {
        by_id("break_verdict").textContent = verdict();
        return;
    }
    const { flags, bits } = experiment.now, text = new TextEncoder().encode(by_id("run_text").defaultValue);
    by_id("break_verdict").textContent = experiment.now === experiment.pair[0]
        ? "The unbroken model trains." : "The broken model trains.";
    Object.assign(experiment.now, { rows: [], norms: [] });
    if (!experiment.worker) experiment.worker = start_worker(hear_experiment);
    const run = ++experiment.run;
    experiment.worker.postMessage({ do: "open", run, flags, text, broken: bits, play: true });
}

function hear_experiment({ is, run, json, playing, text, fatal }) {
    const result = experiment.now;
    if (run !== experiment.run || !result) return;
    if (is === "news") {
        const { rows, ...rest } = read_json(json);
        result.rows.push(...rows);
        Object.assign(result, rest, { ended: !playing && rest.step > 0 });
        experiment.worker.postMessage({ do: "look", args: [result.steps, ""] });
    } else if (is === "look") {
        const { norms, sample } = read_json(json);
        Object.assign(result, { norms, sample, done: result.ended });
    } else if (is === "error") {
        Object.assign(result, { error: text, done: result.done || fatal });
        if (fatal) experiment.worker = experiment.worker.terminate() || null;
    }
    redraw_broken();
    if (result.done) train_next();
}

// ---- what happened --------------------------------------------------------------------------------------

function last_loss({ rows }) {
    const last = rows.slice(-20);
    return last.reduce((sum, row) => sum + row[1], 0) / last.length;
}

function outcome([plain, broken]) {
    const loss = last_loss(broken), before = last_loss(plain), level = Math.log(broken.vocab);
    if (!(loss < 0.99 * level)) return "nothing";
    if (Math.abs(loss - before) < 0.1) return "same";
    return loss < before ? "better" : loss > (before + level) / 2 ? "stuck" : "worse";
}

function verdict() {
    const { pair, chosen } = experiment, [plain, broken] = pair, happened = outcome(pair);
    const measured = { loss: last_loss(broken).toFixed(3), plain: last_loss(plain).toFixed(3),
        level: Math.log(broken.vocab).toFixed(3), first: number_of(broken.rows[0]?.[1] ?? NaN).toFixed(1),
        norm: name => short(broken.norms.find(norm => norm.name === name)?.grad ?? NaN) };
    const judged = chosen.answer === happened ? "You predicted it. "
        : `Not what you predicted. ${outcomes[happened]} `;
    return judged + (broken.error ? broken.error + ". " : "") + chosen.why(measured);
}

// ---- drawing --------------------------------------------------------------------------------------------

let broken_asked = false;
function redraw_broken() {
    if (!broken_asked) requestAnimationFrame(draw_broken);
    broken_asked = true;
}

function draw_broken() {
    broken_asked = false;
    if (by_id("broken").hidden || by_id("break_plots").hidden) return;
    const [plain, broken] = experiment.pair, { name } = experiment.chosen;
    draw_losses("break", [{ className: "as_it_is", text: "as it is, last step", points: losses_of(plain.rows, 1) },
        { className: "is_broken", text: name, points: losses_of(broken.rows, 1) }], plain);
    if (plain.norms.length)
        draw_norms(by_id("break_norms"), [{ className: "as_it_is", norms: plain.norms },
            { className: "is_broken", norms: broken.norms }]);
    by_id("break_plain_text").textContent = plain.sample;
    by_id("break_text").textContent = broken.sample;
}

const broken_screen = {
    start() {
        by_id("break_list").append(...breaks.map(one => make_button("", () => choose_break(one), one.name)));
        by_id("break_code").textContent = by_id("code").content.textContent.trim();
        addEventListener("resize", redraw_broken);
    },
    show: redraw_broken,
    hide() {},
};

// For the guided path: the screen, with one of the breaks chosen.
function set_broken(name) {
    show_screen("broken");
    choose_break(breaks.find(one => one.name === name) || breaks[0]);
}
