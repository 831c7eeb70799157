/* 34 does_not_learn: the judge. */
#include "judge.h"

static void no_error(const gra_tape *t, const gra_model *m)
{
    if (gra_error(t))
        judge_wrong("gradus refused: %s", gra_error(t));
    if (gra_model_error(m))
        judge_wrong("gradus refused: %s", gra_model_error(m));
}

/* ---- 1: a line ---------------------------------------------------------------------------------- */

enum { POINTS = 6, STEPS = 12 };
enum slip { RIGHT, ADDED_UP, WEIGHT_ADDED_UP, BIAS_ADDED_UP, STILL, SUMMED, BIAS_STILL, SLIPS };

/* The losses of plain descent, w and b after the first step, and after the last. */
struct run {
    double losses[STEPS], first[2], last[2];
};

static struct run plain_run(enum slip s, double w, double b, const double *x, const double *y, double lr)
{
    struct run r;
    double gw = 0, gb = 0;
    for (int step = 0; step < STEPS; step++) {
        double sum = 0;
        gw = s == ADDED_UP || s == WEIGHT_ADDED_UP ? gw : 0;
        gb = s == ADDED_UP || s == BIAS_ADDED_UP ? gb : 0;
        for (int i = 0; i < POINTS; i++) {
            const double off = w * x[i] + b - y[i];
            sum += off * off / POINTS;
            gw += 2 * off * x[i] / POINTS, gb += 2 * off / POINTS;
        }
        const double by = s == STILL ? 0 : s == SUMMED ? POINTS * lr : lr;
        w -= by * gw, b -= s == BIAS_STILL ? 0 : by * gb;
        r.losses[step] = s == SUMMED ? POINTS * sum : sum;
        if (step == 0)
            r.first[0] = w, r.first[1] = b;
    }
    r.last[0] = w, r.last[1] = b;
    return r;
}

static void line(void)
{
    const double lr = 0.3, x[POINTS] = { -1, -0.5, 0.1, 0.6, 0.9, 1.3 };
    const double y[POINTS] = { -4, -2.4, -0.8, 1, 1.6, 2.9 };
    struct gra_linear l;
    struct run r[SLIPS], got;
    gra_sgd opt;
    gra_rng rng;
    gra_manual_seed(&rng, 4);
    gra_tape *t = judge_tape(GRA_TRAIN, NULL);
    gra_model *m = gra_model_open(t, &rng);
    gra_linear_init(&l, gra_root(m), 1, 1, true);
    gra_sgd_init(&opt, m, NULL);
    opt.lr = lr;
    for (enum slip s = RIGHT; s < SLIPS; s++)
        r[s] = plain_run(s, l.weight->data[0], l.bias->data[0], x, y, lr);
    judge_part("1: the line, 12 steps");
    for (int step = 0; step < STEPS; step++) {
        got.losses[step] = line_step(t, m, &opt, &l, x, y, POINTS);
        no_error(t, m);
        if (opt.lr != lr || opt.momentum != 0 || opt.weight_decay != 0)
            judge_wrong("1: opt was changed (lr %g, momentum %g): its rate is right, and smaller steps only hide "
                        "what is wrong", opt.lr, opt.momentum);
        if (step == 0)
            got.first[0] = l.weight->data[0], got.first[1] = l.bias->data[0];
    }
    got.last[0] = l.weight->data[0], got.last[1] = l.bias->data[0];
    const double *swings = r[ADDED_UP].losses, *a = r[STILL].first, *b = r[RIGHT].first;
    if (fabs(got.last[0] - r[ADDED_UP].last[0]) < 1e-6)
        judge_wrong("1: the loss goes %.3g, %.3g, %.3g, %.3g, %.3g, %.3g, ...: it swings. In the second step the "
                    "weight and the bias do not move by lr times the gradients of that step's loss: what else "
                    "is in these gradients?", swings[0], swings[1], swings[2], swings[3], swings[4], swings[5]);
    const double far = (got.first[0] - a[0]) / (b[0] - a[0]);
    if (fabs(far) > 1e-9 && fabs(far - 1) > 1e-9 && fabs(got.first[1] - a[1] - far * (b[1] - a[1])) < 1e-5)
        judge_wrong("1: in the first step weight and bias move %.4g times as far as by lr times the gradients of "
                    "the mean squared error%s", far, far < 0 ? ": uphill, the sign is wrong"
                    : fabs(far) < 1 ? ": smaller steps only hide what is wrong"
                    : fabs(far - POINTS) < 1e-6 ? ": as if it were the sum" : "");
    judge_numbers("1: after the first step, weight and bias: number ", GRA_SHAPE(2), got.first, b, 1e-9,
                  JUDGE_MISTAKES(
        { "nothing moved: are the gradients 0 when the optimiser steps, and does it step?", r[STILL].first },
        { "the bias did not move", r[BIAS_STILL].first }));
    judge_numbers("1: the loss of step ", GRA_SHAPE(STEPS), got.losses, r[RIGHT].losses, 1e-9, JUDGE_MISTAKES(
        { "the gradient of the weight holds those of all steps before", r[WEIGHT_ADDED_UP].losses },
        { "the gradient of the bias holds those of all steps before", r[BIAS_ADDED_UP].losses },
        { "it is the sum over points: it was their mean", r[SUMMED].losses }));
    judge_numbers("1: after the last step, weight and bias: number ", GRA_SHAPE(2), got.last, r[RIGHT].last, 1e-9,
                  NULL);
    gra_model_close(m);
    gra_close(t);
}

/* ---- 2: the next token -------------------------------------------------------------------------- */

enum { VOCAB = 6, DIM = 7, MOST = 8, WEIGHTS = VOCAB * DIM };
enum loss_slip { LOSS, SOFTMAX_TWICE, NOT_SHIFTED, BACKWARDS, ALL_SHIFTED, SUM, MINUS, SIGMOID, DETACHED,
                 LOSS_SLIPS };

static gra_tensor *loss_of(enum loss_slip s, gra_tape *t, const struct next_token *net, const int *ids, int n)
{
    const int *in = s == BACKWARDS || s == ALL_SHIFTED ? ids + 1 : ids;
    const int *next = s == NOT_SHIFTED || s == BACKWARDS ? ids : ids + 1;
    gra_tensor *x = gra_embedding_forward(t, &net->tokens, in, GRA_SHAPE(n));
    gra_tensor *logits = gra_linear_forward(t, &net->head, s == DETACHED ? gra_detach(t, x) : x);
    logits = s == SOFTMAX_TWICE ? gra_softmax(t, logits, -1) : s == SIGMOID ? gra_sigmoid(t, logits) : logits;
    gra_tensor *loss = gra_cross_entropy(t, logits, next);
    return gra_scale(t, loss, s == SUM ? n : s == MINUS ? -1 : 1);
}

struct values {
    double loss, tokens[WEIGHTS], head[WEIGHTS];
};

static struct values values_of(gra_tape *t, gra_model *m, const struct next_token *net, gra_tensor *loss)
{
    struct values v;
    judge_tensor(t, "2: the loss", loss, GRA_SCALAR);
    v.loss = gra_item(loss);
    gra_zero_grad(m);
    gra_backward(t, loss);
    no_error(t, m);
    memcpy(v.tokens, gra_grad(net->tokens.weight), sizeof v.tokens);
    memcpy(v.head, gra_grad(net->head.weight), sizeof v.head);
    return v;
}

/* sure: the token after id is id + 1, and the net knows it: its logit is 30, the others are 0. */
static void next(const char *part, const int *ids, int n, bool sure)
{
    struct next_token net;
    struct values v[LOSS_SLIPS];
    gra_rng rng;
    gra_manual_seed(&rng, 5);
    gra_tape *t = judge_tape(GRA_TRAIN, NULL);
    gra_model *m = gra_model_open(t, &rng);
    gra_embedding_init(&net.tokens, gra_enter(gra_root(m), "tokens"), VOCAB, DIM);
    gra_linear_init(&net.head, gra_enter(gra_root(m), "head"), DIM, VOCAB, true);
    for (int i = 0; i < WEIGHTS && sure; i++) {
        net.tokens.weight->data[i] = i / DIM == i % DIM;
        net.head.weight->data[i] = i / DIM == (i % DIM + 1) % VOCAB && i % DIM < VOCAB ? 30 : 0;
    }
    judge_part("%s", part);
    for (enum loss_slip s = LOSS; s < LOSS_SLIPS; s++) {
        gra_begin(t, GRA_TRAIN, NULL);
        v[s] = values_of(t, m, &net, loss_of(s, t, &net, ids, n));
    }
    gra_begin(t, GRA_TRAIN, NULL);
    const struct values got = values_of(t, m, &net, next_loss(t, &net, ids, n));
    judge_number("2: the loss", got.loss, v[LOSS].loss, 1e-9, JUDGE_MISTAKES(
        { sure ? "this model gives the token that follows a logit 30 above all others, and yet its loss is not "
                 "near 0: are these logits what cross_entropy is given?"
               : "cross_entropy is not given logits", &v[SOFTMAX_TWICE].loss },
        { "each token is to say itself, not the one that follows", &v[NOT_SHIFTED].loss },
        { "each token is to say the one before it, not the one that follows", &v[BACKWARDS].loss },
        { "inputs and targets are the same tokens, ids[1 .. n]: each is to say itself", &v[ALL_SHIFTED].loss },
        { "it is the sum over tokens: it was their mean", &v[SUM].loss },
        { "cross_entropy is given sigmoids: it takes logits", &v[SIGMOID].loss },
        { "its sign is wrong: it would be made large", &v[MINUS].loss }));
    if (!sure) {
        judge_numbers("2: the gradient of head.weight", GRA_SHAPE(VOCAB, DIM), got.head, v[LOSS].head, 1e-9,
                      NULL);
        judge_numbers("2: the gradient of tokens.weight", GRA_SHAPE(VOCAB, DIM), got.tokens, v[LOSS].tokens, 1e-9,
                      JUDGE_MISTAKES(
            { "the embedding is cut off from the graph: it will never learn", v[DETACHED].tokens }));
    }
    gra_model_close(m);
    gra_close(t);
}

/* ---- 3: XOR ------------------------------------------------------------------------------------- */

enum { XOR_STEPS = 400 };

static void made(const char *name, const gra_tensor *p, gra_shape shape)
{
    char has[GRA_SHAPE_TEXT], wants[GRA_SHAPE_TEXT];
    if (!p)
        judge_wrong("3: %s is not there: xor_init makes it", name);
    if (!gra_same_shape(p->shape, shape))
        judge_wrong("3: %s has the shape %s, wanted %s", name, gra_shape_text(p->shape, has),
                    gra_shape_text(shape, wants));
    if (!p->grad)
        judge_wrong("3: %s is frozen: it gets no gradient, and never learns", name);
}

static double xor_backward(gra_tape *t, gra_model *m, const struct xor_net *net)
{
    static const double x[] = { 0, 0, 0, 1, 1, 0, 1, 1 }, y[] = { 0, 1, 1, 0 };
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *h = gra_tanh(t, gra_linear_forward(t, &net->hidden, gra_constant(t, x, GRA_SHAPE(4, 2))));
    gra_tensor *loss = gra_mse_loss(t, gra_linear_forward(t, &net->out, h), gra_constant(t, y, GRA_SHAPE(4, 1)));
    gra_zero_grad(m);
    gra_backward(t, loss);
    no_error(t, m);
    return gra_item(loss);
}

/* How many hidden units differ from all before them: in weights, bias, or what leads out of them. */
static int different_units(const struct xor_net *net)
{
    const double *w = net->hidden.weight->data, *b = net->hidden.bias->data, *out = net->out.weight->data;
    int different = 0;
    for (int i = 0; i < XOR_HIDDEN; i++) {
        bool new = true;
        for (int k = 0; k < i; k++)
            new &= w[2 * i] != w[2 * k] || w[2 * i + 1] != w[2 * k + 1] || b[i] != b[k] || out[i] != out[k];
        different += new;
    }
    return different;
}

static double largest(const double *x, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    return most;
}

static void learns_xor(uint64_t seed)
{
    struct xor_net net = { 0 };
    gra_adamw opt;
    gra_rng rng;
    gra_manual_seed(&rng, seed);
    gra_tape *t = judge_tape(GRA_TRAIN, NULL);
    gra_model *m = gra_model_open(t, &rng);
    judge_part("3: XOR, 400 steps, random seed %d", (int)seed);
    xor_init(&net, gra_root(m));
    no_error(t, m);
    made("hidden.weight", net.hidden.weight, GRA_SHAPE(XOR_HIDDEN, 2));
    made("hidden.bias", net.hidden.bias, GRA_SHAPE(XOR_HIDDEN));
    made("out.weight", net.out.weight, GRA_SHAPE(1, XOR_HIDDEN));
    made("out.bias", net.out.bias, GRA_SHAPE(1));
    const int different = different_units(&net);
    const double begins = xor_backward(t, m, &net), weight = largest(net.hidden.weight->data, 2 * XOR_HIDDEN),
                 gradient = largest(net.hidden.weight->grad, 2 * XOR_HIDDEN),
                 out_gradient = largest(net.out.weight->grad, XOR_HIDDEN);
    const double first[2] = { net.hidden.weight->data[0], net.hidden.weight->data[1] };
    double loss = begins;
    gra_adamw_init(&opt, m, NULL);
    opt.lr = 0.05;
    opt.weight_decay = 0;
    for (int step = 0; step < XOR_STEPS; step++) {
        loss = xor_backward(t, m, &net);
        gra_adamw_step(&opt);
    }
    if (begins < 0.05)
        judge_wrong("3: the loss is %.3g before the first step: this net was not taught, but told", begins);
    if (loss < 0.02) {
        gra_model_close(m);
        gra_close(t);
        return;
    }
    if (gradient == 0 && out_gradient == 0)
        judge_wrong("3: the loss stays at %.3g. All weights begin as 0, and so do all their gradients: hidden "
                    "units that are 0 give out.weight none, and out.weight, 0 itself, gives them none", loss);
    if (different == 1)
        judge_wrong("3: the loss stays at %.3g. All %d hidden units begin with the same weights (hidden.weight[0] "
                    "is %.3g, %.3g), and get the same gradients, so they stay the same: they are "
                    "one unit, eight times", loss, XOR_HIDDEN, first[0], first[1]);
    if (different < XOR_HIDDEN)
        judge_wrong("3: the loss stays at %.3g. Of %d hidden units only %d begin with weights of their own", loss,
                    XOR_HIDDEN, different);
    if (weight > 4)
        judge_wrong("3: the loss stays at %.3g. Weights of up to %.3g are large: tanh is flat there, so little "
                    "gradient comes through", loss, weight);
    judge_wrong("3: the loss is %.3g after %d steps, where less than 0.02 is wanted. hidden.weight begins with "
                "numbers up to %.3g, their gradients with %.3g", loss, XOR_STEPS, weight, gradient);
}

void judge_exercise(void)
{
    line();
    next("2: the next token, said by a model that is sure and right",
         (int[]){ 0, 1, 2, 3, 4, 5, 0, 1 }, 7, true);
    next("2: the next token, loss and gradients", (int[]){ 4, 0, 0, 5, 2, 1 }, 5, false);
    next("2: a single token", (int[]){ 3, 1 }, 1, false);
    learns_xor(1);
    learns_xor(2);
    learns_xor(3);
}
