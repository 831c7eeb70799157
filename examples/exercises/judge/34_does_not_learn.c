/* 34 does_not_learn: the judge. */
#include "comparison.h"

static void no_error(const gra_tape *t, const gra_model *m)
{
    const char *error = gra_error(t) ? gra_error(t) : gra_model_error(m);
    if (error)
        judge_wrong("gradus refused: %s", error);
}

/* ---- 1: a line ---------------------------------------------------------------------------------- */

enum { POINTS = 6, STEPS = 12 };
static const double line_x[POINTS] = { -1, -0.5, 0.1, 0.6, 0.9, 1.3 };
static const double line_y[POINTS] = { -4, -2.4, -0.8, 1, 1.6, 2.9 };

/* The loss at weight and bias; g: its gradient. */
static double line_loss(const double at[2], double g[2])
{
    double loss = g[0] = g[1] = 0;
    for (int i = 0; i < POINTS; i++) {
        const double off = at[0] * line_x[i] + at[1] - line_y[i];
        loss += off * off / POINTS, g[0] += 2 * off * line_x[i] / POINTS, g[1] += 2 * off / POINTS;
    }
    return loss;
}

static void line(void)
{
    struct gra_linear l;
    gra_sgd opt;
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 4);
    double g[2], sum[2] = { 0, 0 };     /* the gradient, and the sum of all so far */
    gra_linear_init(&l, gra_root(m), 1, 1, true);
    gra_sgd_init(&opt, m, NULL);
    opt.lr = 0.3;
    judge_part("1: the line, 12 steps");
    for (int step = 0; step < STEPS; step++) {
        const double was[2] = { l.weight->data[0], l.bias->data[0] }, right = line_loss(was, g);
        const double loss = line_step(t, m, &opt, &l, line_x, line_y, POINTS);
        const double moved[2] = { l.weight->data[0] - was[0], l.bias->data[0] - was[1] };
        const double want[2] = { -0.3 * g[0], -0.3 * g[1] };
        sum[0] -= 0.3 * g[0], sum[1] -= 0.3 * g[1];
        no_error(t, m);
        if (opt.lr != 0.3 || opt.momentum != 0 || opt.weight_decay != 0)
            judge_wrong("1: the optimiser was changed (lr is %g, momentum %g, weight_decay %g): leave it "
                        "as it was. Other steps only hide the mistake, which is in the gradients", opt.lr,
                        opt.momentum, opt.weight_decay);
        judge_clue("is it the mean of the squares, of all points, before the step?");
        judge_numbers(step ? "1: the loss of a later step" : "1: the first loss", GRA_SHAPE(1), &loss, &right,
                      1e-9);
        if (moved[0] == 0 && moved[1] == 0)
            judge_wrong("1: nothing moved: %s", *gra_grad(l.weight) != 0
                        ? "call gra_sgd_step after gra_backward"
                        : "the gradients are 0 when the optimiser steps. Call gra_backward before "
                          "gra_sgd_step, and gra_zero_grad before gra_backward, not between it and "
                          "gra_sgd_step");
        const struct comparison c = judge_comparison(GRA_SHAPE(2), moved, want, 1e-9);
        judge_clue("the gradients are not those of this step's loss alone: what else is in them?");
        judge_explained(&c, "1: how weight and bias move", (struct judge_mistake[]){
            { "the gradients contain those of all previous steps", sum }, { NULL, NULL } });
    }
    judge_close(t, m);
}

/* ---- 2: the next token -------------------------------------------------------------------------- */

enum { VOCAB = 6, DIM = 7, WEIGHTS = VOCAB * DIM };
enum mistake { RIGHT, TWICE, ITSELF };

static gra_tensor *reference(gra_tape *t, const struct next_token *net, const int *ids, int n,
                             enum mistake with)
{
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *x = gra_embedding_forward(t, &net->tokens, ids, GRA_SHAPE(n));
    gra_tensor *logits = gra_linear_forward(t, &net->head, x);
    return gra_cross_entropy(t, with == TWICE ? gra_softmax(t, logits, -1) : logits, ids + (with != ITSELF));
}

/* The loss, and the gradients of the weights of the embedding and the head. */
static double gradients(gra_tape *t, gra_model *m, const struct next_token *net, gra_tensor *loss, double *to)
{
    const double is = *judge_tensor(t, "2: the loss", loss, GRA_SCALAR);
    gra_zero_grad(m);
    gra_backward(t, loss);
    no_error(t, m);
    memcpy(to, gra_grad(net->tokens.weight), WEIGHTS * sizeof *to);
    memcpy(to + WEIGHTS, gra_grad(net->head.weight), WEIGHTS * sizeof *to);
    return is;
}

/* sure: the token after id is id + 1, and the net knows it: its logit is about 30 above the others. */
static void next(const char *part, const int *ids_, int n, bool sure)
{
    struct next_token net;
    double got[2 * WEIGHTS], want[2 * WEIGHTS], none[2 * WEIGHTS];
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 5);
    const int *ids = judge_ids(ids_, (size_t)n + 1);
    gra_embedding_init(&net.tokens, gra_enter(gra_root(m), "tokens"), VOCAB, DIM);
    gra_linear_init(&net.head, gra_enter(gra_root(m), "head"), DIM, VOCAB, true);
    for (int i = 0; i < WEIGHTS && sure; i++) {
        net.tokens.weight->data[i] = i / DIM == i % DIM;
        if (i / DIM == (i % DIM + 1) % VOCAB && i % DIM < VOCAB)
            net.head.weight->data[i] = 30;
    }
    judge_part("%s", part);
    const double right = gradients(t, m, &net, reference(t, &net, ids, n, RIGHT), want);
    const double twice = gradients(t, m, &net, reference(t, &net, ids, n, TWICE), none);
    const double itself = gradients(t, m, &net, reference(t, &net, ids, n, ITSELF), none);
    gra_begin(t, GRA_TRAIN, NULL);
    const double loss = gradients(t, m, &net, next_loss(t, &net, ids, n), got);
    const struct comparison c = judge_comparison(GRA_SHAPE(1), &loss, &right, 1e-9);
    judge_clue("cross_entropy takes the logits of net->head themselves, and the target of each token should "
               "be the next token");
    judge_explained(&c, "2: the loss", (struct judge_mistake[]){
        { "cross_entropy is given a softmax: give it the logits of net->head, unchanged", &twice },
        { "the target of each token is the token itself, but should be the next token", &itself },
        { NULL, NULL } });
    judge_numbers("2: the gradient of tokens.weight", GRA_SHAPE(VOCAB, DIM), got, want, 1e-9);
    judge_numbers("2: the gradient of head.weight", GRA_SHAPE(VOCAB, DIM), got + WEIGHTS, want + WEIGHTS,
                  1e-9);
    judge_close(t, m);
}

/* ---- 3: XOR ------------------------------------------------------------------------------------- */

enum { XOR_STEPS = 400 };

static double xor_backward(gra_tape *t, gra_model *m, const struct xor_net *net)
{
    static const double x[] = { 0, 0, 0, 1, 1, 0, 1, 1 }, y[] = { 0, 1, 1, 0 };
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *h = gra_tanh(t, gra_linear_forward(t, &net->hidden, gra_constant(t, x, GRA_SHAPE(4, 2))));
    gra_tensor *out = gra_linear_forward(t, &net->out, h);
    gra_tensor *loss = gra_mse_loss(t, out, gra_constant(t, y, GRA_SHAPE(4, 1)));
    gra_zero_grad(m);
    gra_backward(t, loss);
    no_error(t, m);
    return gra_item(loss);
}

static void learns_xor(uint64_t seed)
{
    struct xor_net net = { 0 };
    gra_adamw opt;
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, seed);
    judge_part("3: XOR, 400 steps, random seed %d", (int)seed);
    xor_init(&net, gra_root(m));
    no_error(t, m);
    judge_params(m, 4, (const struct judge_param[]){
        { "hidden.weight", GRA_SHAPE(XOR_HIDDEN, 2), net.hidden.weight },
        { "hidden.bias", GRA_SHAPE(XOR_HIDDEN), net.hidden.bias },
        { "out.weight", GRA_SHAPE(1, XOR_HIDDEN), net.out.weight },
        { "out.bias", GRA_SHAPE(1), net.out.bias } });
    for (int i = 0; i < 4; i++)
        if (!gra_param_at(m, i)->grad)
            judge_wrong("3: %s is frozen: it gets no gradient, and never learns", gra_param_at(m, i)->name);
    double largest = 0, apart = 0;      /* |hidden.weight|, and the difference of two units */
    for (int i = 0; i < 2 * XOR_HIDDEN; i++) {
        largest = fmax(largest, fabs(net.hidden.weight->data[i]));
        apart = fmax(apart, fabs(net.hidden.weight->data[i] - net.hidden.weight->data[i % 2]));
    }
    const double begins = xor_backward(t, m, &net);
    double loss = begins;
    gra_adamw_init(&opt, m, NULL);
    opt.lr = 0.05, opt.weight_decay = 0;
    for (int step = 0; step < XOR_STEPS; step++) {
        loss = xor_backward(t, m, &net);
        gra_adamw_step(&opt);
    }
    if (begins < 0.05)
        judge_wrong("3: the loss is %.3g before the first step: this net was given the solution, not "
                    "trained", begins);
    if (!(loss < 0.02))
        judge_wrong("3: the loss after %d steps: got %.*g, expected less than 0.02\nlikely: %s", XOR_STEPS,
                    judge_digits(loss, 0.02), loss, largest < 0.02
                    ? "the weights are small, or 0, and so are their gradients: 400 steps are not enough"
                    : apart < 1e-3 ? "hidden units begin with the same weights, or nearly: they get the same "
                                     "gradients, so they stay the same, and do the work of one"
                    : largest > 4 ? "weights are large: tanh is flat there, so little gradient passes through"
                    : "the initial values of hidden.weight and out.weight");
    judge_close(t, m);
}

void judge_exercise(void)
{
    line();
    next("2: the next token, predicted by a model that is sure and right",
         (int[]){ 0, 1, 2, 3, 4, 5, 0, 1 }, 7, true);
    next("2: the next token, loss and gradients", (int[]){ 4, 0, 0, 5, 2, 1 }, 5, false);
    next("2: a single token", (int[]){ 3, 1 }, 1, false);
    for (uint64_t seed = 1; seed <= 3; seed++)
        learns_xor(seed);
}
