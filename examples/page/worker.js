// ---- the worker: a model of its own, trained between messages -------------------------------------------
// work is the whole program of a worker, which is given its source and open_module's: it must not refer to
// anything else on the page. Messages are { do: "open", ... }, answers { is: "news", ... }. An answer
// has the number of the run that it belongs to, so that the page can ignore those of an earlier one.

function work() {
    const SLICE = 50, NEWS = 100;       // milliseconds: of training between messages, and between news
    let c = null, run = 0, opened = false, playing = false, pace = 0, step = 0, told = { step: 0, at: 0 };

    function say(is, rest) { postMessage({ is, run, ...rest }); }

    function news() {
        const now = performance.now(), speed = 1000 * (step - told.step) / (now - told.at);
        told = { step, at: now };
        say("news", { json: c.text("run_news"), playing, speed, memory: c.memory() });
    }
    function stop(why) {
        playing = false;
        if (why) say("error", { text: why });
        news();
    }

    function attempt(is, failed) {
        if (failed) say("error", { text: c.text("run_why") });
        else say(is, { step });
    }

    // Some steps of training. Was there one? If not, all are done, or an error ended them.
    function train(most) {
        const n = c.number("run_train", most);
        if (n > 0) {
            step += n;
            return true;
        }
        stop(n < 0 ? c.text("run_why") : "");
        return false;
    }
    function slice() {
        if (!playing) return;
        const end = performance.now() + (pace ? 0 : SLICE);
        do
            if (!train(pace ? 1 : 4)) return;
        while (performance.now() < end);
        if (performance.now() - told.at >= NEWS) news();
        if (pace) setTimeout(slice, pace);
        else turn.port2.postMessage(null);
    }
    const turn = new MessageChannel();  // lets the messages of the page in; a timer would wait 4 ms
    turn.port1.onmessage = slice;

    const actions = {
        async module(m) { c = await open_module(m.bytes); },
        open(m) {
            run = m.run;
            step = 0;
            playing = false;
            opened = c.number("run_open", m.flags, m.text, m.text.length, m.broken) === 0;
            attempt("opened", !opened);
            if (!opened) return;
            told = { step, at: performance.now() };
            news();
            if (m.play) actions.play(m);
        },
        play(m) {                       // pace: milliseconds between steps that are to be watched
            pace = m.pace || 0;
            if (playing || !opened) return;
            playing = true;
            told = { step, at: performance.now() };
            turn.port2.postMessage(null);
        },
        pause() { if (playing) stop(); },
        step() { if (train(1)) stop(); },
        // look and write return a text; change and load report success. args: the arguments of run_look, ...
        look(m) { say("look", { json: c.text("run_look", ...m.args), why: c.text("run_why") }); },
        write(m) {
            say("written", { json: c.text("run_write", ...m.args), why: c.text("run_why"), more: m.args[2] });
        },
        change(m) { attempt("changed", c.number("run_change", ...m.args)); },
        load(m) { attempt("loaded", c.number("run_load", ...m.args)); },
        save(m) {
            const at = m.what === "model" ? c.number("run_save") : 0;
            const file = at ? c.bytes_at(at, c.number("run_saved_size"))
                : new TextEncoder().encode(c.text({ curve: "run_loss_tsv", vocab: "run_vocab_tsv" }[m.what]));
            say("saved", { name: m.name, file });
        },
    };
    // Messages are handled one after another: the first waits until the module is compiled.
    let before = Promise.resolve();
    onmessage = ({ data }) => {
        before = before.then(() => actions[data.do](data)).catch(error => {
            playing = false;
            c = null;                   // a module that has trapped cannot go on
            say("error", { text: String(error), fatal: true });
        });
    };
}

// A worker with a module. hear is called with each of its answers.
function start_worker(hear) {
    const source = [open_module.toString(), `\n(${work})()`];
    const url = URL.createObjectURL(new Blob(source, { type: "text/javascript" }));
    const worker = new Worker(url);
    worker.onmessage = ({ data }) => {
        URL.revokeObjectURL(url);
        hear(data);
    };
    worker.postMessage({ do: "module", bytes: module_bytes("f32") });
    return worker;
}
