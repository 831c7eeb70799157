// ---- the guided path: nine stations, each a sentence, a page set up for it, and a question ---------------

// The first station is what a new visitor sees. Its three texts follow the training, in the same place, so
// that nothing below them moves.
function first_texts() {
    const n = (run.parameters || 0).toLocaleString("en"), of = run.parameters ? ` of ${n} numbers` : "";
    return {
        ready: `This model${of} will learn these four lines.`,
        plays: "The model guesses each next letter. The loss says how wrong the guesses are. The gradient " +
            `says, for each of the model's ${n} numbers, which way the loss falls; each step moves them ` +
            "all a little that way.",
        done: "The loss is small: the model nearly knows the lines by heart. Each of the " +
            `${run.steps} steps used ${n} gradients. Where does a gradient come from? Next comes one ` +
            "that you can follow with a pencil.",
    };
}

const stations = [
    { title: "It learns", exercise: "01_central_difference", text: "",
        set() {
            training.pace = 8;
            document.body.classList.add("first");
            show_screen("training");
        },
        question: "What would the loss be if the model guessed each of the 24 characters equally often?",
        answer: "ln 24 = 3.178, the dashed line. The curve begins there, as a new model knows nothing." },
    { title: "One number", exercise: "02_chain_rule",
        text: "A tape is a list of operations, its nodes. The gradient of a node says how fast the " +
            "last line changes when that node does. Move the slider of a and watch both columns.",
        set() { set_expression("c = a*b\ny = c + b", { a: 2, b: -3 }); },
        question: "b is used twice. Which two numbers add up to its gradient?",
        answer: "a, through c = a*b (local derivative a, times dy, the gradient of c, which is 1), and 1, " +
            "through c + b: a + 1. Choose b in the tape to see both lines." },
    { title: "Is it right?", exercise: "04_scalar_tape",
        text: "A gradient check changes each input a little, up and down, and measures how much the result " +
            "changes; a right gradient says the same. A backward is the rule by which an " +
            "operation passes its gradient on: break one, below the table, and see the check find it.",
        set() { set_expression("s = w*x + v*z + b\ny = tanh(s)", { w: -3, x: 2, v: 1, z: 0, b: 6.88 }); },
        question: "Why is the gradient of v exactly 0?",
        answer: "The gradient of v is z times that of s, and z is 0: an input that is 0 teaches its weight " +
            "nothing in this step. (This is a neuron: a weighted sum, a bias, and a nonlinearity.)" },
    { title: "Broadcasting", exercise: "05_mul_broadcast",
        text: "b has one row, x W has two: b is stretched, so both rows use the same numbers.",
        set() { set_expression("x = randn(2, 3)\nW = randn(3, 4)\nb = randn(1, 4)\ny = mean(x W + b)", {}); },
        question: "All eight numbers of x W have the gradient 1/8. What is the gradient of each number of b?",
        answer: "2/8. Each number is used in two rows, and the gradients of all uses are added: a sum " +
            "over what was stretched." },
    { title: "Softmax and cross-entropy", exercise: "09_cross_entropy",
        text: "Softmax turns scores into probabilities; the loss is -log of the probability of the right " +
            "answer, here a.",
        set() { set_expression("s = exp(a) + exp(b) + exp(c)\nloss = -log(exp(a)/s)", { a: 1, b: 2, c: 0 }); },
        question: "What do the three gradients add up to, and why?",
        answer: "To 0. They are the probabilities, which add up to 1, minus 1 at the right answer." },
    { title: "One head", exercise: "15_one_head",
        text: "A head of attention lets each position read from those before it: a row is a position that " +
            "reads, and the colours show how much it reads from each column. Point at a cell.",
        set() { set_training("heads"); },
        question: "Why is everything above the diagonal empty?",
        answer: "The causal mask: a position must not see the tokens after it, as it predicts them." },
    { title: "A block", exercise: "16_in_matrices",
        text: "A transformer block adds the results of attention and of a feed-forward layer to what came " +
            "in. Open trf_blocks.0 in the tape.",
        set() { set_training("tape"); },
        question: "Which two nodes of a block pass their gradient on, unchanged, to two others?",
        answer: "The two add nodes, which are the residual connections. This straight path is why deep " +
            "models can be trained at all." },
    { title: "Training", exercise: "22_adamw",
        text: "A step is a forward, a loss, a backward, and a small move of each parameter against " +
            "its gradient. Move the slider through the run, or change the learning rate while it plays.",
        set() { set_training("play"); },
        question: "The training loss keeps falling, while the held-out loss rises. What has happened?",
        answer: "The model has learnt the few lines by heart. It is sure of what follows in them, and so " +
            "it is sure and wrong elsewhere." },
    { title: "Break it", exercise: "34_does_not_learn",
        text: "A model that does not learn rarely says why. Take a part away, predict what will happen, " +
            "and look at the gradients of the layers.",
        set() { set_broken("no residual"); },
        question: "Without the residual connections, which layers stop learning first?",
        answer: "The first blocks: on the way back each block multiplies the gradient by small numbers, " +
            "and nothing goes round it. (tok_emb still learns, as the output layer is the same matrix.)" },
];
let station = 0;

// A summary, and what it opens.
function fold_out(title, ...parts) { return make("details", "", make("summary", "", title), ...parts); }

function draw_guide() {
    const s = stations[station], next = stations[station + 1];
    const n = s.exercise.slice(0, 2), exercise = by_id("exercises").content.getElementById(s.exercise);
    const bar = make("div", "stations", ...stations.map(({ title }, i) =>
        make_button("", () => go_to_station(i), `${i + 1} `, make("span", "", title))));
    bar.children[station].setAttribute("aria-pressed", "true");
    const on = make_button("next", () => next ? go_to_station(station + 1) : show_alone("expression"),
        (next ? `${station + 2} ${next.title}` : "On your own") + " \u2192");
    const rest = [fold_out(s.question, make("p", "", s.answer)), fold_out(`Build it yourself: exercise ${n}`,
        make("p", "facts", `In the source of gradus, make exercise N=${n} judges your answer.`),
        make("pre", "", exercise.textContent))];
    by_id("guide").replaceChildren(bar, make("p", "say", s.text), ...station ? [...rest, on] : []);
    by_id("first_next").replaceChildren(...station ? [] : [on]);
    by_id("first_rest").replaceChildren(...station ? [] : rest);
    tell_guide();
    document.documentElement.style.scrollPaddingTop = by_id("guide").offsetHeight + 8 + "px";
}

// At a new phase of the first station's training: the text, while what is open stays open.
function tell_guide() {
    const say = document.querySelector("#guide .say"), is_first = document.body.classList.contains("first");
    const phase = run.step === run.steps ? "done" : run.step || training.playing ? "plays" : "ready";
    document.body.dataset.phase = phase;
    if (is_first && say)
        say.replaceChildren(...Object.entries(first_texts()).map(([when, text]) =>
            make("span", when === phase ? "now" : "", text)));
}

function leave_first() {
    training.pace = 0;
    document.body.classList.remove("first", "new");
}

function go_to_station(i) {
    station = i;
    leave_first();
    const moved = by_id("guide").contains(document.activeElement);
    stations[station].set();
    draw_guide();
    for (const panel of document.querySelectorAll("#left, #right, .screen")) panel.scrollTop = 0;
    if (moved) by_id("guide").querySelector("[aria-pressed=true]").focus({ preventScroll: true });
    keep_state();
}

function show_guide(visible) {
    by_id("guide").hidden = !visible;
    by_id("path").setAttribute("aria-expanded", String(visible));
    document.documentElement.style.scrollPaddingTop = "";
    if (visible) go_to_station(station);
    else leave_first();
}
