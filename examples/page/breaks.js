// ---- ways to break a model, and why each has its effect --------------------------------------------------
// bits are those of broken.h, and flags replace those of PLAIN. why gets what was measured: the losses of
// both models (means of the last twenty steps), the first loss, and the gradient's norm in each layer in the
// last step.

const PLAIN = { context: 16, width: 32, layers: 4, heads: 4, batch: 8, steps: 200, optimizer: "adamw",
    lr: 0.01, seed: 1, sample: 120 };

const outcomes = {
    better: "The loss falls lower than before.",
    same: "Hardly anything changes.",
    worse: "The model learns, but worse.",
    stuck: "The model learns only how frequent each character is.",
    nothing: "The model learns nothing at all.",
};

const breaks = [
    { name: "learning rate 0.3", bits: 0, flags: { lr: 0.3 }, answers: ["better", "same", "stuck", "nothing"],
        question: "The learning rate is thirty times as large. Larger steps should arrive sooner, " +
            "should they not?",
        why: m => `The loss ends at ${m.loss} instead of ${m.plain}. The gradient is right only near ` +
            "where it was computed: steps this long overshoot, and the model learns hardly more than how " +
            "frequent each character is." },
    { name: "no residual", bits: 1, flags: {}, answers: ["same", "worse", "stuck", "nothing"],
        question: "A block passes on only what it has computed, y = f(x) in place of y = x + f(x). The " +
            "matrices are all still there.",
        why: m => `The loss ends at ${m.loss} instead of ${m.plain}: on the way back the gradient ` +
            `shrinks in each block, from ${m.norm("trf_blocks.3")} in the last to ` +
            `${m.norm("trf_blocks.0")} in the first. With the residual connection it also goes round ` +
            "every block, unchanged, so that all of them learn." },
    { name: "no norm", bits: 2, flags: {}, answers: ["same", "worse", "stuck", "nothing"],
        question: "The layer norms are left out. Numbers now have whatever size the matrices give them.",
        why: m => `The loss ends at ${m.loss} instead of ${m.plain}: the model learns, but later. GPT-2's ` +
            "first weights are small, and without a norm so is all that they compute; the residual " +
            "connection still carries the gradient until the weights have grown." },
    { name: "no residual and no norm", bits: 3, flags: {}, answers: ["same", "worse", "stuck", "nothing"],
        question: "There is neither a way round the blocks nor a norm: small numbers are multiplied by " +
            "small weights, in four blocks.",
        why: m => `The loss ends at ${m.loss}; a model that knows nothing has the loss ${m.level}. ` +
            "Each block makes numbers and gradients smaller and nothing makes them larger again: in the " +
            `first block the gradient's norm is ${m.norm("trf_blocks.0")}, far below the 1e-8 that AdamW ` +
            "adds to its denominator, so that no weight moves." },
    { name: "no positions", bits: 4, flags: {}, answers: ["same", "worse", "stuck", "nothing"],
        question: "Tokens no longer say where they are. Is a text then a bag of letters?",
        why: m => `The loss ends at ${m.loss}, with positions at ${m.plain}. The causal mask tells the ` +
            "model about order all the same: the first token sees one token, the second two, and so on, " +
            "which the layers can use." },
    { name: "no warm-up", bits: 0, flags: { warmup: 0 }, answers: ["better", "same", "worse", "stuck"],
        question: "The learning rate starts at its full height, and no longer rises over the first " +
            "tenth of the steps.",
        why: m => `The loss ends at ${m.loss} instead of ${m.plain}. Warm-up protects AdamW's first ` +
            "steps, when it has seen few gradients; a small model with norms before its layers and with " +
            "clipped gradients hardly needs it." },
    { name: "no causal mask", bits: 8, flags: {}, common: { steps: 600 },
        answers: ["better", "same", "worse", "stuck"],
        question: "Each position sees all others, also the one whose token it must predict. (600 steps.)",
        why: m => `The loss ends at ${m.loss} instead of ${m.plain}, too low to be true: the model learned ` +
            "to read the answer. When it writes there is no answer to read, and what it writes is worth " +
            "nothing." },
    { name: "batch 1", bits: 0, flags: { batch: 1 }, answers: ["better", "same", "worse", "nothing"],
        question: "A step has one window of the text instead of eight. It is eight times as " +
            "cheap.",
        why: m => `The loss ends at ${m.loss} instead of ${m.plain}, and its curve is rough. A gradient ` +
            "from one window is a noisy estimate of that of the whole text, and after the same number of " +
            "steps the model has seen an eighth of the windows." },
    { name: "init of 1", bits: 16, flags: {}, answers: ["better", "same", "worse", "nothing"],
        question: "The weights begin as random numbers of size 1 instead of 0.02.",
        why: m => `The loss begins at ${m.first}, far above the ${m.level} of a model that knows ` +
            `nothing, and ends at ${m.loss} instead of ${m.plain}. Large random weights make confident ` +
            "wrong predictions, and most of the run is spent on undoing them." },
];
