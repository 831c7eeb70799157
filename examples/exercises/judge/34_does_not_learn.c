/* 34 does_not_learn: the judge. */
#include "judge.h"

static void no_error(const gra_tape *t, const gra_model *m)
{
    const char *error = gra_error(t) ? gra_error(t) : gra_model_error(m);
    if (error)
        judge_wrong("gradus refused: %s", error);
}

static double largest(const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

/* ---- 1: a line ---------------------------------------------------------------------------------- */

enum { POINTS = 6, STEPS = 12 };
static const double line_x[POINTS] = { -1, -0.5, 0.1, 0.6, 0.9, 1.3 };
static const double line_y[POINTS] = { -4, -2.4, -0.8, 1, 1.6, 2.9 };

/* One step of descent of at, weight and bias, by the gradients g, which are added to. Returns the loss. */
static double descend(double at[2], double g[2])
{
    double loss = 0;
    for (int i = 0; i < POINTS; i++) {
        const double off = at[0] * line_x[i] + at[1] - line_y[i];
        loss += off * off / POINTS, g[0] += 2 * off * line_x[i] / POINTS, g[1] += 2 * off / POINTS;
    }
    at[0] -= 0.3 * g[0], at[1] -= 0.3 * g[1];
    return loss;
}

static void line(void)
{
    struct gra_linear l;
    gra_sgd opt;
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 4);
    gra_linear_init(&l, gra_root(m), 1, 1, true);
    gra_sgd_init(&opt, m, NULL);
    opt.lr = 0.3;
    judge_part("1: the line, 12 steps");
    double right[2] = { l.weight->data[0], l.bias->data[0] }, all[2] = { right[0], right[1] }, sum[2] = { 0,
        0 };
    for (int step = 0; step < STEPS; step++) {
        const double was[2] = { l.weight->data[0], l.bias->data[0] };
        double g[2] = { 0, 0 };
        const double loss = line_step(t, m, &opt, &l, line_x, line_y, POINTS), want = descend(right, g);
        const double moved[2] = { l.weight->data[0] - was[0], l.bias->data[0] - was[1] };
        const double far = -moved[0] / (0.3 * g[0]);
        no_error(t, m);
        descend(all, sum);
        if (opt.lr != 0.3 || opt.momentum != 0 || opt.weight_decay != 0)
            judge_wrong("1: the optimiser was changed (lr is %g, momentum %g, weight_decay %g): leave it "
                        "as it was. "
                        "Other steps only hide the mistake, which is in the gradients", opt.lr, opt.momentum,
                        opt.weight_decay);
        judge_clue("is it the mean of the squares, of all points, before the step?");
        judge_numbers(step ? "1: the loss of a later step" : "1: the first loss", GRA_SHAPE(1), &loss, &want,
                      1e-9);
        if (moved[0] == 0 && moved[1] == 0)
            judge_wrong("1: nothing moved: %s", *gra_grad(l.weight) != 0
                        ? "but the gradients are there after the step: gra_sgd_step must come after "
                          "gra_backward"
                        : "the gradients are 0 when the optimiser steps. gra_backward comes before "
                          "gra_sgd_step, and "
                          "gra_zero_grad before gra_backward, not between it and gra_sgd_step");
        if (step && fabs(l.weight->data[0] - all[0]) < 1e-9 && fabs(l.bias->data[0] - all[1]) < 1e-9)
            judge_wrong("1: in step %d weight and bias move by %.4g and %.4g, expected %.4g and "
                        "%.4g\nlikely: the "
                        "gradients contain those of all previous steps", step, moved[0], moved[1],
                            -0.3 * g[0],
                        -0.3 * g[1]);
        if (step == 0 && fabs(far - 1) > 1e-9 && fabs(moved[1] + far * 0.3 * g[1]) < 1e-9)
            judge_wrong("1: in the first step weight and bias move by %.6g times lr times the gradients of "
                        "the mean "
                        "squared error: %s", far, far < 0 ? "uphill, the sign is wrong" : far < 1
                        ? "smaller steps only hide the mistake" : "as if it were the sum");
        judge_clue("the gradients are not those of this step's loss alone: what else is in them?");
        judge_numbers("1: how weight and bias move", GRA_SHAPE(2), moved, (double[]){ -0.3 * g[0],
            -0.3 * g[1] }, 1e-9);
    }
    judge_close(t, m);
}

/* ---- 2: the next token -------------------------------------------------------------------------- */

enum { VOCAB = 6, DIM = 7, WEIGHTS = VOCAB * DIM };
enum mistake { RIGHT, TWICE, ITSELF, SECOND, PREVIOUS, ONE_LESS, MISTAKES };
static const char *const says[] = {
    [TWICE] = "cross_entropy is given a softmax: it takes the logits of net->head, unchanged",
    [ITSELF] = "the target of each token is the token itself: it should be the next one",
    [SECOND] = "the target of each token is the one after the next: it should be the next one",
    [PREVIOUS] = "the target of each token is the previous one: it should be the next one",
    [ONE_LESS] = "the last token is left out: there are n targets, ids[1 .. n]" };

static gra_tensor *reference(gra_tape *t, const struct next_token *net, const int *ids, int n,
                             enum mistake with)
{
    const int *in = with == PREVIOUS ? ids + 1 : ids, less = with == ONE_LESS && n > 1;
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *x = gra_embedding_forward(t, &net->tokens, in, GRA_SHAPE(n - less));
    gra_tensor *logits = gra_linear_forward(t, &net->head, x);
    return gra_cross_entropy(t, with == TWICE ? gra_softmax(t, logits, -1) : logits, with == ITSELF
                             || with == PREVIOUS ? ids : with == SECOND ? ids + 2 : ids + 1);
}

/* The gradients of the weights of the embedding and the head. */
static void gradients(gra_tape *t, gra_model *m, const struct next_token *net, gra_tensor *loss, double *to)
{
    gra_zero_grad(m);
    gra_backward(t, loss);
    no_error(t, m);
    memcpy(to, gra_grad(net->tokens.weight), WEIGHTS * sizeof *to);
    memcpy(to + WEIGHTS, gra_grad(net->head.weight), WEIGHTS * sizeof *to);
}

/* sure: the token after id is id + 1, and the net knows it: its logit is about 30 above the others. */
static void next(const char *part, const int *ids_, int n, bool sure)
{
    struct next_token net;
    double got[2 * WEIGHTS], want[2 * WEIGHTS];
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
    gra_tensor *loss = reference(t, &net, ids, n, RIGHT);
    const double right = gra_item(loss);
    gradients(t, m, &net, loss, want);
    gra_begin(t, GRA_TRAIN, NULL);
    const double is = *judge_tensor(t, "2: the loss", loss = next_loss(t, &net, ids, n), GRA_SCALAR);
    gradients(t, m, &net, loss, got);
    for (int with = TWICE; with < MISTAKES && fabs(is - right) > 1e-9; with++)
        if (fabs(is - gra_item(reference(t, &net, ids, n, (enum mistake)with))) < 1e-9)
            judge_wrong("2: the loss: got %.6g, expected %.6g\nlikely: %s", is, right, says[with]);
    if (sure && is > 1e-9)
        judge_clue("as cross_entropy sees it, the next token's logit is about %.4g above the others, but "
                   "this "
                   "model's is 30 above: is it given these logits, unchanged?",
                       -log(expm1(is) / (VOCAB - 1)));
    judge_clue("cross_entropy takes the logits of net->head themselves, also where they are negative");
    judge_numbers("2: the loss", GRA_SHAPE(1), &is, &right, 1e-9);
    if (n > 1 && largest(want, WEIGHTS) > 1e-9 && largest(got, WEIGHTS) == 0)
        judge_wrong("2: the gradient of tokens.weight is 0\nlikely: the embedding is detached from the "
                    "graph: it will "
                    "never learn");
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

/* By how much two hidden units differ: in weights, bias or output weights. A unit with all signs changed is
 * the same unit, as tanh(-z) is -tanh(z). */
static double apart(const struct xor_net *net, int i, int k)
{
    const double *w = net->hidden.weight->data, *b = net->hidden.bias->data, *out = net->out.weight->data;
    double off[2];
    for (int s = 0; s < 2; s++) {
        const double sign = s ? -1 : 1;
        off[s] = fmax(fmax(fabs(w[2 * i] - sign * w[2 * k]), fabs(w[2 * i + 1] - sign * w[2 * k + 1])),
                      fmax(fabs(b[i] - sign * b[k]), fabs(out[i] - sign * out[k])));
    }
    return fmin(off[0], off[1]);
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
    double least = INFINITY;
    for (int i = 0; i < XOR_HIDDEN; i++)
        for (int k = 0; k < i; k++)
            least = fmin(least, apart(&net, i, k));
    const double begins = xor_backward(t, m, &net), weight = largest(net.hidden.weight->data, 2 * XOR_HIDDEN);
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
                    judge_digits(loss, 0.02), loss, weight == 0
                    ? "all weights start at 0, and so do their gradients: hidden units of 0 give "
                      "out.weight none"
                    : weight < 0.02 ? "weights are small: so are their gradients, and 400 steps are not "
                                      "enough"
                    : least < 1e-3 ? "hidden units begin with the same weights, or nearly, or their "
                                     "negatives: they "
                                     "get the same gradients, so they stay the same, and do the work of one"
                    : weight > 4 ? "weights are large: tanh is flat there, so little gradient passes through"
                    : "the numbers with which hidden.weight and out.weight begin");
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
