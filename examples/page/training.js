// ---- the screen "A model learns" ------------------------------------------------------------------------
// A worker trains; its answers are kept here and drawn in the next frame. at is the step that the slider
// was moved to, or null: then all follows the training. wish: is it to play while the screen is shown?

const training = { worker: null, run: 0, open: false, playing: false, wish: true, at: null, flags: "",
    in_view: "", prompt: make("label", "prompt facts", "prompt "), prompt_typed: false };

function new_run() {
    return { step: 0, steps: 1, vocab: 2, rows: [], kept: [0], norms: [], samples: [], speed: 0, memory: 0,
        loaded: null, flags: "", look: null, looked: 0, pause: 0, asked: false, ask_again: false };
}
let run = new_run();

function tell(message, transfer) { training.worker?.postMessage(message, transfer || []); }

function say_error(text) { by_id("run_error").textContent = text; }

// ---- answers of the worker ------------------------------------------------------------------------------

const answers = {
    opened() {
        run = new_run();
        run.flags = training.flags;
        training.open = true;
        training.at = null;
        say_error("");
        say_status("");
        ask_look();
    },
    news({ json, playing, speed, memory }) {
        const { rows, norms, ...rest } = read_json(json);
        run.rows.push(...rows);
        if (norms.length) run.norms.push({ step: rest.step, norms });
        Object.assign(run, rest, { speed, memory });
        training.playing = playing;
        draw_soon("loss", "norms", "sample", "place", "line");
        if (training.at === null && (!playing || performance.now() - run.looked > run.pause))
            ask_look();
    },
    sample({ json }) {
        run.samples.push(read_json(json));
        draw_soon("sample");
    },
    look({ json, text }) {
        run.asked = false;
        run.looked = performance.now();
        by_id("prompt_error").textContent = text || "";
        if (json) {
            run.look = json;
            draw_soon("look");
        }
        if (run.ask_again) ask_look();
    },
    saved({ name, file }) { download(name, file); },
    loaded({ step }) {
        run.loaded = step;
        say_error("");
        ask_look();
        draw_soon("line");
    },
    error({ text, fatal }) {
        say_error(text);
        training.playing = false;
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

// At most one look is asked for at a time: the tape and the heads of the prompt at the shown step.
function ask_look() {
    if (!training.open) return;
    run.ask_again = run.asked;
    if (run.asked) return;
    run.asked = true;
    tell({ do: "look", step: training.at ?? run.step, prompt: by_id("prompt_text").value });
}

// ---- drawing --------------------------------------------------------------------------------------------

const to_draw = new Set();
function draw_soon(...parts) {
    if (!to_draw.size) requestAnimationFrame(draw_parts);
    for (const part of parts) to_draw.add(part);
}
function draw_parts() {
    if (!by_id("training").hidden)
        for (const part of to_draw) drawings[part]();
    to_draw.clear();
}

function shown_step() { return training.at ?? run.step; }

// The last entry of a list that is not after the shown step; a row's first number is its step.
function entry_at_step(list, step_of) { return list.findLast(entry => step_of(entry) <= shown_step()); }

const drawings = {
    loss() {
        const step = shown_step(), level = Math.log(run.vocab);
        const held = run.rows.filter(row => row[2] !== null);
        const row = entry_at_step(run.rows, row => row[0]), held_row = entry_at_step(held, row => row[0]);
        draw_plot(by_id("run_loss"), { steps: run.steps, level, at: step, lines: [
            { className: "train", points: run.rows.map(row => [row[0], number_of(row[1])]) },
            { className: "held", points: held.map(row => [row[0], number_of(row[2])]) }] });
        draw_legend(by_id("run_legend"), [
            ["train", "training loss", row ? number_of(row[1]).toFixed(4) : ""],
            ["held", "held-out text", held_row ? number_of(held_row[2]).toFixed(4) : ""],
            ["level", `knows nothing: ln ${run.vocab} =`, level.toFixed(4)]]);
        const slider = by_id("run_at"), place = `after ${step} of ${run.steps} steps`;
        slider.max = run.steps;
        slider.value = step;
        slider.setAttribute("aria-valuetext", place);
    },
    norms() {
        const entry = entry_at_step(run.norms, entry => entry.step);
        by_id("run_norms_at").textContent = entry ? `in step ${entry.step}` : "";
        if (entry) draw_norms(by_id("run_norms"), [{ className: "train", norms: entry.norms }]);
    },
    sample() {
        const sample = entry_at_step(run.samples, sample => sample.step);
        by_id("run_sample_at").textContent = sample ? `after ${sample.step} steps` : "";
        by_id("run_sample").textContent = sample ? sample.text : "";
    },
    look() {
        if (!run.look) return;
        const begun = performance.now(), page = read_json(run.look);
        page.curve = [[run.steps, 0]];  // this page has a curve of its own; the heads name the last step
        show(page);
        if (training.in_view) by_id(training.in_view).scrollIntoView();
        training.in_view = "";
        run.pause = Math.max(500, 10 * (performance.now() - begun));    // leaves time for other frames
    },
    place() {
        const done = training.open && run.step === run.steps;
        by_id("run_place").textContent = `${run.step} of ${run.steps} steps`;
        by_id("run_play").textContent = training.playing ? "pause" : done ? "play again" : "play";
        by_id("run_step").disabled = !training.open || done;
    },
    line() {
        by_id("run_flags").textContent = run.flags;
        by_id("run_loaded").textContent = run.loaded === null ? ""
            : `, up to step ${run.loaded}, when a model was loaded`;
        by_id("run_speed").textContent = training.playing && Number.isFinite(run.speed)
            ? `${run.speed.toFixed(0)} steps a second, ${(run.memory / 2 ** 20).toFixed(0)} MB` : "";
    },
};

// ---- what a visitor does --------------------------------------------------------------------------------

// What is wrong with the first field that cannot be used, in the browser's words; or nothing.
function mistake_of_form() {
    const field = [...by_id("run_form").elements].find(one => !one.checkValidity());
    return field ? `${field.labels[0].firstChild.textContent.trim()}: ${field.validationMessage}` : "";
}

function begin_run(play) {
    const mistake = mistake_of_form();
    if (mistake) {
        say_error(mistake);
        return;
    }
    training.wish = play;
    if (!training.worker) training.worker = start_worker(hear);
    training.run++;
    training.open = false;
    training.flags = flags_of_form();
    say_text();
    if (!training.prompt_typed) by_id("prompt_text").value = beginning(by_id("run_text").value, 16);
    tell({ do: "open", run: training.run, flags: training.flags, text: text_bytes(), broken: 0, play });
}

function play_or_pause() {
    training.wish = !training.playing;
    if (!training.open || run.step === run.steps) begin_run(true);
    else tell({ do: training.wish ? "play" : "pause" });
}

function one_step() {
    training.wish = false;
    if (training.open) tell({ do: "step" });
}

function go_to_step(step) {
    training.at = step >= run.step ? null : nearest(run.kept, kept => kept, step);
    draw_soon("loss", "norms", "sample");
    ask_look();
}

// Arrow keys move the slider from one kept step to the next.
function slide_by_key(event) {
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const kept = run.kept.filter(step => step < run.step).concat(run.step);
    const i = kept.indexOf(nearest(kept, step => step, shown_step())) + by;
    go_to_step(kept[clamp(i, 0, kept.length - 1)]);
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
    tell({ do: "load", file: bytes }, [bytes.buffer]);
}

function start_prompt() {
    const field = make("input"), why = make("span");
    field.id = "prompt_text";
    field.addEventListener("input", () => {
        training.prompt_typed = true;
        ask_look();
    });
    why.id = "prompt_error";
    why.setAttribute("role", "alert");
    training.prompt.append(field, why);
    by_id("inspect").prepend(training.prompt);
}

const training_screen = {
    start() {
        start_prompt();
        by_id("run_heads").append(by_id("model"));
        by_id("run_play").addEventListener("click", play_or_pause);
        by_id("run_step").addEventListener("click", one_step);
        by_id("run_again").addEventListener("click", () => begin_run(training.playing));
        by_id("run_at").addEventListener("input", event => go_to_step(Number(event.target.value)));
        by_id("run_at").addEventListener("keydown", slide_by_key);
        by_id("run_load").addEventListener("change", event => load(event.target));
        for (const button of document.querySelectorAll("[data-save]"))
            button.addEventListener("click", () => save(button.dataset.save));
        addEventListener("resize", () => draw_soon("loss"));
        start_controls(() => begin_run(true));
        begin_run(true);
    },
    show() {
        by_id("training").hidden = training.prompt.hidden = false;
        draw_soon(...Object.keys(drawings));
        if (training.wish && run.step < run.steps) tell({ do: "play" });
    },
    hide() {
        tell({ do: "pause" });
        by_id("training").hidden = training.prompt.hidden = true;
    },
};

// For the guided path: the screen, with what a station speaks of in view.
function set_training(what) {
    show_screen("training");
    if (what === "play" && (!training.wish || run.step === run.steps)) play_or_pause();
    training.in_view = { heads: "run_heads", tape: "left", play: "run_bar" }[what];
    if (run.look) draw_soon("look");       // otherwise the first look brings it into view
}
