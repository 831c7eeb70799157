// ---- the screen "A model learns" ------------------------------------------------------------------------
// A worker trains; its answers are kept here and drawn in the next frame. What is shown is one moment of the
// training, run.moment: the latest, or, if at is not null, the moment at that step. wish: should the training
// play while the screen is shown? pace: milliseconds between two steps, so that they can be watched.

const training = { worker: null, run: 0, open: false, playing: false, wish: false, at: null, flags: "",
    in_view: "", prompt_typed: false, pace: 0 };

function new_run() {
    return { step: 0, steps: 1, vocab: 2, rows: [], kept: [0], moment: null, speed: 0, memory: 0, until: null,
        flags: "", look: null, looked: 0, pause: 0, asked: false, ask_again: false };
}
let run = new_run();

function tell(message, transfer) { training.worker?.postMessage(message, transfer || []); }

// In the page's words: the label of a field in place of the flag of build/train.
function in_words(text) {
    return text.replace(/--([a-z-]+)/g, (all, flag) => label_of(by_id("run_form").elements[flag]) || flag)
        .replace(/, byte \d+ of the text/, "").replace("different bytes", "different characters");
}

// If a run is refused, what is shown does not belong to the values of the fields, and is dimmed.
function say_error(text, refused = false) {
    by_id("run_error").textContent = in_words(text);
    for (const id of ["run_middle", "run_later", "inspect"]) by_id(id).classList.toggle("stale", refused);
}

// ---- answers of the worker ------------------------------------------------------------------------------

const answers = {
    opened() {
        run = new_run();
        run.flags = training.flags;
        training.open = true;
        training.at = null;
        by_id("written").hidden = true;
        say_error("");
        ask_look();
    },
    news({ json, playing, speed, memory }) {
        const { rows, ...rest } = read_json(json);
        run.rows.push(...rows);
        Object.assign(run, rest, { speed, memory });
        training.playing = playing;
        draw_soon("loss", "place", "line");
        if (training.at === null && (!playing || performance.now() - run.looked > run.pause))
            ask_look();
    },
    look({ json, why }) {
        run.asked = false;
        run.looked = performance.now();
        if (json) {
            run.look = [json, why];
            draw_soon("moment", "loss", "place", "line");
        }
        if (run.ask_again) ask_look();
    },
    written({ json, why, more }) {
        const { next, text } = read_json(json || '{ "next": [], "text": "" }');
        by_id("prompt_error").textContent = json ? "" : in_words(why);
        draw_next(next);
        if (!more) return;
        by_id("written").hidden = !json;
        by_id("written").replaceChildren(make("b", "", by_id("prompt_text").value), text);
    },
    saved({ name, file }) { download(name, file); },
    loaded({ step }) {
        run.until = [step, "a model was loaded"];
        run.failed = false;
        say_error("");
        training.at = null;
        ask_look();
    },
    changed({ step }) {
        run.until ||= [step, "the learning rate or the batch was changed"];
        draw_soon("line");
    },
    error({ text, fatal }) {
        say_error(text, !training.open);
        training.playing = false;
        run.failed = true;
        if (fatal) end_worker();
        draw_soon("place");
    },
};

function hear(answer) { if (answer.run === training.run) answers[answer.is](answer); }

function end_worker() {
    training.worker.terminate();
    training.worker = null;
    training.open = false;
}

// At most one look is asked for at a time: the moment at the step that is to be shown.
function ask_look() {
    if (!training.open) return;
    run.ask_again = run.asked;
    if (run.asked) return;
    run.asked = true;
    tell({ do: "look", args: [training.at ?? run.step, by_id("prompt_text").value] });
    write_on(0);
}

// ---- drawing --------------------------------------------------------------------------------------------

const to_draw = new Set();
function draw_soon(...parts) {
    if (!to_draw.size) requestAnimationFrame(draw_parts);
    for (const part of parts) to_draw.add(part);
}
function draw_parts() {
    if (!by_id("training").hidden)
        for (const part in drawings) if (to_draw.has(part)) drawings[part]();
    to_draw.clear();
}

function shown_step() { return run.moment ? run.moment.step : 0; }

const drawings = {
    moment() {                          // before what needs its step
        if (!run.look) return;
        const begun = performance.now(), [json, why] = run.look, { page } = run.moment = read_json(json);
        by_id("run_sample").textContent = run.moment.sample;
        by_id("prompt_error").textContent = page ? "" : in_words(why);
        draw_norms(by_id("run_norms"), [{ className: "train", norms: run.moment.norms }], true);
        for (const id of ["inspect", "run_heads"]) by_id(id).classList.toggle("stale", !page);
        if (page) {
            page.curve = [[run.steps, 0]];      // only for the heads, which name the last step
            show(page);
        }
        if (training.in_view) by_id(training.in_view).scrollIntoView();
        training.in_view = "";
        run.pause = clamp(4 * (performance.now() - begun), 300, 1500);  // leaves time for other frames
    },
    loss() {
        const step = shown_step(), held = losses_of(run.rows, 2);
        const rises = held.at(-1)?.[1] > 1.1 * Math.min(...held.map(last_of));
        draw_losses("run", [{ className: "train", text: "training loss", points: losses_of(run.rows, 1) },
            { className: "held", text: "loss of the held-out tenth, never learned from", points: held }],
        run, { at: step, pick: go_to_step });
        by_id("run_held").style.visibility = rises ? "" : "hidden";
        const slider = by_id("run_at");
        slider.max = run.steps;
        slider.value = step;
        slider.setAttribute("aria-valuetext", `after ${step} of ${run.steps} steps`);
    },
    place() {
        const done = training.open && run.step === run.steps;
        by_id("run_place").textContent = `after ${shown_step()} of ${run.steps} steps`;
        by_id("run_play").textContent = training.playing ? "pause" : done ? "play again" : "play";
        by_id("run_step").disabled = !training.open || done;
        tell_guide();
    },
    line() {
        by_id("run_flags").textContent = run.flags;
        by_id("run_until").textContent = run.until ? `, up to step ${run.until.join(", when ")}` : "";
        by_id("run_speed").textContent = training.playing && Number.isFinite(run.speed)
            ? `${run.speed.toFixed(0)} steps a second, ${(run.memory / 2 ** 20).toFixed(0)} MB` : "";
    },
};

// A bar for each token that may be next.
function draw_next(next) {
    by_id("next").replaceChildren(...next.map(([token, p]) =>
        bar_row(token, [{ className: "train", share: number_of(p) }], [["", percent(number_of(p))]])));
}

// ---- what a visitor does --------------------------------------------------------------------------------

function label_of(field) { return field?.labels?.[0].firstChild.textContent.trim(); }

// What is wrong with the first field that cannot be used, in the browser's words; or nothing.
function mistake_of_form() {
    const field = [...by_id("run_form").elements].find(one => !one.checkValidity());
    return field ? `${label_of(field)}: ${field.validationMessage}` : "";
}

function begin_run(play) {
    const mistake = mistake_of_form();
    if (mistake) {
        say_error(mistake, true);
        return;
    }
    training.wish = play;
    if (!training.worker) training.worker = start_worker(hear);
    training.run++;
    training.open = false;
    training.flags = flags_of_form();
    say_text();
    if (!training.prompt_typed) by_id("prompt_text").value = beginning(by_id("run_text").value, 16);
    tell({ do: "open", run: training.run, flags: training.flags, text: text_bytes(), broken: 0, play,
        pace: training.pace });
    keep_state();
}

// From the next step on; a run that is at its end, or failed, begins anew.
function change_run() {
    const { lr, batch } = by_id("run_form").elements;
    const over = !training.open || run.failed || run.step === run.steps;
    if (over || mistake_of_form()) begin_run(training.playing);
    else tell({ do: "change", args: [lr.valueAsNumber, batch.valueAsNumber] });
    keep_state();
}

function play_or_pause() {
    training.wish = !training.playing;
    if (!training.open || run.step === run.steps) begin_run(true);
    else tell(training.wish ? { do: "play", pace: training.pace } : { do: "pause" });
    training.at = null;
}

function one_step() {
    training.wish = false;
    training.at = null;
    if (training.open) tell({ do: "step" });
}

function go_to_step(step) {
    training.at = step >= run.step ? null : nearest(run.kept, kept => kept, step);
    ask_look();
}

// Continues the prompt by so many tokens; 0: only computes the probabilities of the next token.
function write_on(more) {
    const { temperature, top_k, top_p } = by_id("write").elements;
    for (const { name, value, previousElementSibling: shown } of [temperature, top_k, top_p])
        shown.textContent = name + value === "top_k0" ? "all" : value;
    training.seed = more ? training.seed % 1e6 + 1 || 1 : training.seed || 1;
    if (training.open)
        tell({ do: "write", args: [training.at ?? run.step, by_id("prompt_text").value, more,
            ...[temperature, top_k, top_p].map(slider => slider.valueAsNumber), training.seed] });
}

function save(what) {
    const names = { model: "model.safetensors", vocab: "vocab.tsv", curve: "loss.tsv", text: "text.txt" };
    if (what === "text") download(names.text, text_bytes());
    else if (training.open) tell({ do: "save", what, name: names[what] });
}

async function load(input) {
    const file = input.files[0];
    if (!file || !training.open) return;
    const bytes = new Uint8Array(await file.arrayBuffer());
    input.value = "";
    tell({ do: "load", args: [bytes, bytes.length] }, [bytes.buffer]);
}

const training_screen = {
    start() {
        by_id("run_heads").append(by_id("model"));
        by_id("run_play").addEventListener("click", play_or_pause);
        by_id("run_step").addEventListener("click", one_step);
        by_id("run_again").addEventListener("click", () => begin_run(training.playing));
        by_id("run_at").addEventListener("input", event => go_to_step(Number(event.target.value)));
        step_keys(by_id("run_at"), () => [...new Set(run.kept).add(run.step)], go_to_step);
        by_id("run_load").addEventListener("change", event => load(event.target));
        by_id("prompt_text").addEventListener("input", () => {
            training.prompt_typed = true;
            by_id("written").hidden = true;
            ask_look();
            keep_state();
        });
        by_id("write").addEventListener("input", () => write_on(0));
        by_id("write").addEventListener("submit", event => {
            event.preventDefault();
            write_on(100);
        });
        for (const button of document.querySelectorAll("[data-save]"))
            button.addEventListener("click", () => save(button.dataset.save));
        addEventListener("resize", () => draw_soon("loss"));
        start_controls(() => begin_run(training.playing), change_run);
        begin_run(false);
    },
    show() {
        draw_soon(...Object.keys(drawings));
        if (training.wish && run.step < run.steps) tell({ do: "play", pace: training.pace });
    },
    hide() { tell({ do: "pause" }); },
};

// For the guided path: the screen, with what a station is about in view.
function set_training(what) {
    show_screen("training");
    if (what !== "play" && run.step === 0) begin_run(true);             // something to look at
    training.in_view = { heads: "run_heads", tape: "left", play: "run_bar" }[what];
    if (run.look) draw_soon("moment");  // otherwise the first look brings it into view
}
