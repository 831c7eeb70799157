// ---- the guided path: eight stations, each a sentence, a page set up for it, and a question --------------

const stations = [
    { title: "One number", exercise: "02_chain_rule",
        text: "A tape records each operation. The gradient of a node says how fast the last line changes " +
            "when " +
            "that node does. Move the slider of a and watch both columns.",
        set() { set_expression("c = a*b\ny = c + b", { a: 2, b: -3 }); },
        question: "b is used twice. Which two numbers add up to its gradient?",
        answer: "a, through c = a*b (local derivative a, times dy = 1), and 1, through c + b: a + 1. " +
            "Choose b " +
            "in the tape to see both lines." },
    { title: "One neuron", exercise: "04_scalar_tape",
        text: "A neuron is a weighted sum, a bias and a nonlinearity. Its gradients tell each weight " +
            "which way " +
            "to move.",
        set() { set_expression("s = w*x + v*z + b\ny = tanh(s)", { w: -3, x: 2, v: 1, z: 0, b: 6.88 }); },
        question: "Why is the gradient of v exactly 0?",
        answer: "The gradient of v is z times that of s, and z is 0: an input that is 0 teaches its weight " +
            "nothing in this step." },
    { title: "Broadcasting", exercise: "05_mul_broadcast",
        text: "b has one row, x W has two: b is stretched, so both rows use the same numbers.",
        set() { set_expression("x = randn(2, 3)\nW = randn(3, 4)\nb = randn(1, 4)\ny = mean(x W + b)", {}); },
        question: "All eight numbers of x W have the gradient 1/8. What is that of each number of b?",
        answer: "2/8. It is used in two rows, and gradients of all uses are added: a sum over what was " +
            "stretched." },
    { title: "Softmax and cross-entropy", exercise: "09_cross_entropy",
        text: "Softmax turns scores into probabilities; the loss is -log of the probability of the right " +
            "answer, here that of a.",
        set() { set_expression("sum = exp(a) + exp(b) + exp(c)\nloss = -log(exp(a)/sum)", { a: 1, b: 2,
            c: 0 }); },
        question: "What do the three gradients add up to, and why?",
        answer: "To 0. They are the probabilities, less 1 at the right answer; probabilities add up to 1." },
    { title: "One head", exercise: "15_one_head",
        text: "Each row of an attention head is a query; the colours are the weights of the positions " +
            "that it " +
            "reads. Point at a cell.",
        set() { set_training("heads"); },
        question: "Why is everything above the diagonal empty?",
        answer: "The causal mask: a position must not see the tokens after it, since it is to predict " +
            "them." },
    { title: "A block", exercise: "16_in_matrices",
        text: "A transformer block adds the results of attention and of a feed-forward layer to what " +
            "came in. " +
            "Open trf_blocks.0 in the tape.",
        set() { set_training("tape"); },
        question: "Which two nodes of a block pass their gradient on, unchanged, to two others?",
        answer: "Both add, the residual connections. This straight path is why deep models can be " +
            "trained at all." },
    { title: "Training", exercise: "22_adamw",
        text: "A step is: forward, loss, backward, a small move of each parameter against its gradient. " +
            "Pause, " +
            "then move the slider through the run.",
        set() { set_training("play"); },
        question: "The training loss keeps falling, while the held-out loss rises. What has happened?",
        answer: "The model has learnt the few lines by heart. It is sure of what follows in them, and so " +
            "it is " +
            "sure and wrong elsewhere." },
    { title: "Break it", exercise: "34_does_not_learn",
        text: "A model that does not learn rarely says why. Take a part away, predict what will happen, " +
            "and look " +
            "at the gradients of the layers.",
        set() { set_broken("no residual"); },
        question: "Without the residual connections, which layers stop learning first?",
        answer: "The first blocks: on the way back each block multiplies the gradient by small numbers, " +
            "and " +
            "nothing goes round it. (tok_emb still learns, as the output layer is the same matrix.)" },
];
let station = 0;

function draw_guide() {
    const s = stations[station], box = by_id("guide"), bar = make("div", "stations");
    stations.forEach((other, i) => {
        const button = make("button", "", `${i + 1} ${other.title}`);
        button.setAttribute("aria-pressed", String(i === station));
        button.addEventListener("click", () => go_to_station(i));
        bar.append(button);
    });
    const question = make("details"), exercise = make("a", "", "exercise " + s.exercise.slice(0, 2));
    exercise.href = `../examples/exercises/start/${s.exercise}.c`;
    question.append(make("summary", "", s.question), make("p", "", s.answer));
    const build = make("p", "facts", "Build it yourself: ");
    build.append(exercise, ` of the ladder (make exercise N=${s.exercise.slice(0, 2)})`);
    box.replaceChildren(bar, make("p", "", s.text), question, build);
}

function go_to_station(i) {
    station = i;
    stations[station].set();
    draw_guide();
    by_id("guide").querySelector("[aria-pressed=true]").focus();
}

function show_guide(visible) {
    by_id("guide").hidden = !visible;
    by_id("path").setAttribute("aria-expanded", String(visible));
    if (visible) go_to_station(station);
}
