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
static const double line_x[POINTS] = { -1, -0.5, 0.1, 0.6, 0.9, 1.3 };
static const double line_y[POINTS] = { -4, -2.4, -0.8, 1, 1.6, 2.9 };

struct line {
    double w, b, lr, first[2], last[2];     /* at the beginning; w and b after the first and the last step */
    int    steps;                           /* that are compared */
};

/* The loss of the line w x + b, `by` times the sum over points; adds its gradients to g. */
static double line_loss(double w, double b, double by, double g[2])
{
    double loss = 0;
    for (int i = 0; i < POINTS; i++) {
        const double off = w * line_x[i] + b - line_y[i];
        loss += by * off * off;
        g[0] += by * 2 * off * line_x[i], g[1] += by * 2 * off;
    }
    return loss;
}

/* The losses of plain descent. */
static void descend(double *losses, void *line)
{
    struct line *l = line;
    double w = l->w, b = l->b, g[2] = { 0, 0 };
    const bool w_still = slip("the weight did not move"), b_still = slip("the bias did not move");
    const bool all = slip("it oscillates. In the second step the weight and the bias do not move by lr times "
                          "the gradients of that step's loss: what else is in these gradients?");
    const bool keeps_w = slip("the gradient of the weight contains those of all previous steps") || all;
    const bool keeps_b = slip("the gradient of the bias contains those of all previous steps") || all;
    const double by = 1.0 / POINTS;
    for (int step = 0; step < l->steps; step++) {
        g[0] = keeps_w ? g[0] : 0, g[1] = keeps_b ? g[1] : 0;
        losses[step] = line_loss(w, b, by, g);
        w -= w_still ? 0 : l->lr * g[0], b -= b_still ? 0 : l->lr * g[1];
        l->last[0] = w, l->last[1] = b;
        if (step == 0)
            memcpy(l->first, l->last, sizeof l->first);
    }
}

/* Is `moved`, that of weight and bias in the second step, a multiple of now + by * first, which are the
 * gradients of the losses of both steps, and not of now alone? */
static bool contains_first(const double moved[2], const double now[2], const double first[2], double by)
{
    const double sum[2] = { now[0] + by * first[0], now[1] + by * first[1] };
    const double size = fmax(fabs(moved[0]), fabs(moved[1])) * 1e-9;
    return fabs(moved[0] * sum[1] - moved[1] * sum[0]) < size * fmax(fabs(sum[0]), fabs(sum[1]))
        && fabs(moved[0] * now[1] - moved[1] * now[0]) > size * fmax(fabs(now[0]), fabs(now[1]));
}

/* The loss that the first step returns. */
static void first_loss(double *out, void *line)
{
    const struct line *l = line;
    const bool after = slip("it is the loss after the step: return that of before");
    const double w = after ? l->first[0] : l->w, b = after ? l->first[1] : l->b;
    const bool turned = slip("x and y are exchanged");
    const int n = POINTS - slip("the last point is missing");
    double by = slip("it is now the sum over points: it was their mean") ? 1 : 1.0 / n;
    by *= slip("it is divided by n once more: it was the mean already") ? 1.0 / n : 1;
    *out = 0;
    for (int i = 0; i < n; i++) {
        const double x = turned ? line_y[i] : line_x[i], y = turned ? line_x[i] : line_y[i];
        *out += by * (w * x + b - y) * (w * x + b - y);
    }
}

/* After the first step neither weight nor bias has moved: why? */
static void still(gra_tape *t, struct gra_linear *l)
{
    gra_tensor *loss = NULL;
    if (*gra_grad(l->weight) != 0 || *gra_grad(l->bias) != 0)
        judge_wrong("1: nothing moved in the first step, but the gradients are there after it: gra_sgd_step "
                    "must come after gra_backward");
    for (int i = 0; i < gra_node_count(t); i++)
        if (gra_node_at(t, i)->size == 1)
            loss = gra_node_at(t, i);
    if (loss && gra_backward(t, loss) == 0)
        judge_wrong("1: nothing moved: gra_backward is not called, so there are no gradients");
    judge_wrong("1: nothing moved: the gradients are 0 when the optimiser steps. gra_zero_grad belongs "
                "before gra_backward, not between it and gra_sgd_step");
}

static void line(void)
{
    struct gra_linear l;
    double losses[STEPS], want[STEPS], first[2], last[2], of[STEPS][2] = { { 0 } }, second[2];
    char name[120];
    gra_sgd opt;
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 4);
    gra_linear_init(&l, gra_root(m), 1, 1, true);
    gra_sgd_init(&opt, m, NULL);
    struct line right = { .w = l.weight->data[0], .b = l.bias->data[0], .lr = opt.lr = 0.3,
                          .steps = STEPS };
    descend(want, &right);
    judge_part("1: the line, 12 steps");
    int regular = 0;
    for (int step = 0; step < STEPS; step++) {
        const double at[2] = { l.weight->data[0], l.bias->data[0] };
        double *g = of[step];
        line_loss(at[0], at[1], 1.0 / POINTS, g);
        losses[step] = line_step(t, m, &opt, &l, line_x, line_y, POINTS);
        no_error(t, m);
        if (opt.lr != right.lr || opt.momentum != 0 || opt.weight_decay != 0)
            judge_wrong("1: the optimiser was changed (lr is %g, momentum %g, weight_decay %g): leave it as "
                        "it was. Other steps only hide the mistake, which is in the gradients",
                        opt.lr, opt.momentum, opt.weight_decay);
        last[0] = l.weight->data[0], last[1] = l.bias->data[0];
        regular += regular == step && fabs(at[0] - last[0] - right.lr * g[0]) < 1e-9
                   && fabs(at[1] - last[1] - right.lr * g[1]) < 1e-9;
        if (step == 0) {
            memcpy(first, last, sizeof first);
            judge_against("1: the first loss", GRA_SHAPE(1), losses, 1e-9, first_loss, &right);
            if (first[0] == at[0] && first[1] == at[1])
                still(t, &l);
        }
        if (step == 1)
            second[0] = last[0] - first[0], second[1] = last[1] - first[1];
    }
    const double far = (first[0] - right.w) / (right.first[0] - right.w);
    const double off = first[1] - right.b - far * (right.first[1] - right.b);
    if (fabs(off) < 1e-5 && far > 1e-9 && far < 1 - 1e-9
        && (contains_first(second, of[1], of[0], 1) || contains_first(second, of[1], of[0], far)))
        judge_clue("1: smaller steps only hide the mistake: in the second step the gradients still contain "
                   "those of the first");
    if (fabs(far) > 1e-9 && fabs(far - 1) > 1e-9 && fabs(off) < 1e-5)
        judge_clue("1: in the first step weight and bias move by %.6g times lr times the gradients of the "
                   "mean squared error%s", far, far < 0 ? ": uphill, the sign is wrong"
                   : fabs(far) < 1 ? ": smaller steps only hide the mistake"
                   : fabs(far - POINTS) < 1e-6 ? ": as if it were the sum" : "");
    if (regular > 0)
        judge_clue("1: until step %d weight and bias move by lr times the gradients of that step's loss, in "
                   "step %d they do not: what else is in these gradients?", regular - 1, regular);
    while (right.steps > 2 && !(losses[right.steps - 1] < 1e3))     /* grown without end: from its steps */
        right.steps--;
    snprintf(name, sizeof name, "1: the loss goes %.3g, %.3g, %.3g, %.3g, %.3g, %.3g, ...: in step ",
             losses[0], losses[1], losses[2], losses[3], losses[4], losses[5]);
    judge_against(name, GRA_SHAPE(right.steps), losses, 1e-9, descend, &right);
    descend(want, &right);
    judge_numbers("1: weight and bias after the last step", GRA_SHAPE(2), last, right.last, 1e-9);
    judge_close(t, m);
}

/* ---- 2: the next token -------------------------------------------------------------------------- */

enum { VOCAB = 6, DIM = 7, WEIGHTS = VOCAB * DIM };

/* sure: the token after id is id + 1, and the net knows it: its logit is about 30 above the others. */
struct text {
    gra_tape          *t;
    gra_model         *m;
    struct next_token *net;
    const int         *ids;
    int                n;
    bool               sure;
};

static gra_tensor *reference(const struct text *a)
{
    gra_tape *t = a->t;
    gra_begin(t, GRA_TRAIN, NULL);
    const bool probable = slip(a->sure
        ? "this model's logit of the next token is about 30 above the others, yet its loss is not near 0: is "
          "cross_entropy given these logits?" : "cross_entropy is not given logits");
    const bool by_column = slip("cross_entropy is given a softmax along dimension 0: it takes the logits");
    const bool itself = slip("the target of each token is the token itself: it should be the next one");
    const bool before = slip("the target of each token is the previous one: it should be the next one");
    const bool shifted =
        slip("inputs and targets are the same tokens, ids[1 .. n]: the inputs are ids[0 .. n - 1]");
    const bool second = slip("the target of each token is the one after the next: it should be the next one");
    const int *in = before || shifted ? a->ids + 1 : a->ids;
    const int *next = itself || before ? a->ids : second ? a->ids + 2 : a->ids + 1;
    const int n = slip("the last token is left out: there are n targets, ids[1 .. n]") && a->n > 1 ? a->n - 1
                : slip("one token too many: there are n targets, ids[1 .. n]") ? a->n + 1 : a->n;
    gra_tensor *x = gra_embedding_forward(t, &a->net->tokens, in, GRA_SHAPE(n));
    x = slip("the embedding is detached from the graph: it will never learn") ? gra_detach(t, x) : x;
    gra_tensor *logits = gra_linear_forward(t, &a->net->head, x);
    logits = probable ? gra_softmax(t, logits, -1) : by_column ? gra_softmax(t, logits, 0)
           : slip("cross_entropy is given sigmoids: it takes logits") ? gra_sigmoid(t, logits)
           : slip("the sign of the logits is wrong") ? gra_neg(t, logits) : logits;
    const double by = slip("it is now the sum over tokens: it was their mean") ? n
                    : slip("it is divided by the size of the vocabulary too: it was the mean over tokens")
                    ? 1. / VOCAB
                    : slip("its sign is wrong: it would be maximised") ? -1 : 1;
    return gra_scale(t, gra_cross_entropy(t, logits, next), by);
}

/* The gradients of both weights. */
static void gradients(const struct text *a, gra_tensor *loss, double *tokens, double *head)
{
    gra_zero_grad(a->m);
    gra_backward(a->t, loss);
    no_error(a->t, a->m);
    memcpy(tokens, gra_grad(a->net->tokens.weight), WEIGHTS * sizeof *tokens);
    memcpy(head, gra_grad(a->net->head.weight), WEIGHTS * sizeof *head);
}

static void loss_of(double *out, void *text)
{
    *out = gra_item(reference(text));
}

static void tokens_of(double *out, void *text)
{
    double head[WEIGHTS];
    gradients(text, reference(text), out, head);
}

static void next(const char *part, const int *ids, int n, bool sure)
{
    struct next_token net;
    double tokens[WEIGHTS], head[WEIGHTS], want[WEIGHTS];
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_TRAIN, 5);
    gra_embedding_init(&net.tokens, gra_enter(gra_root(m), "tokens"), VOCAB, DIM);
    gra_linear_init(&net.head, gra_enter(gra_root(m), "head"), DIM, VOCAB, true);
    for (int i = 0; i < WEIGHTS && sure; i++) {
        net.tokens.weight->data[i] = i / DIM == i % DIM;
        if (i / DIM == (i % DIM + 1) % VOCAB && i % DIM < VOCAB)
            net.head.weight->data[i] = 30;
    }
    judge_part("%s", part);
    struct text a = { t, m, &net, judge_ids(ids, (size_t)n + 1), n, sure };
    gradients(&a, reference(&a), tokens, want);
    gra_begin(t, GRA_TRAIN, NULL);
    gra_tensor *loss = next_loss(t, &net, a.ids, n);
    const double got = *judge_tensor(t, "2: the loss", loss, GRA_SCALAR);
    gradients(&a, loss, tokens, head);
    if (isnan(got))
        judge_wrong("2: the loss is nan. cross_entropy takes the logits themselves, also where they are "
                    "negative");
    if (sure && got > 1e-9)
        judge_clue("as cross_entropy sees it, the next token's logit is about %.4g above the others, but "
                   "this model's is 30 above: is it given these logits, unchanged?",
                   -log(expm1(got) / (VOCAB - 1)));
    if (!sure)
        judge_clue("2: a sure model's loss is right, so inputs and targets are: give cross_entropy the "
                   "logits of net->head, unchanged");
    judge_against("2: the loss", GRA_SHAPE(1), &got, 1e-9, loss_of, &a);
    if (!sure) {
        judge_numbers("2: the gradient of head.weight", GRA_SHAPE(VOCAB, DIM), head, want, 1e-9);
        judge_against("2: the gradient of tokens.weight", GRA_SHAPE(VOCAB, DIM), tokens, 1e-9, tokens_of, &a);
    }
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

/* How many hidden units differ from all before them; *most: by how much, the two that differ most. */
static int different_units(const struct xor_net *net, double *most)
{
    int different = 0;
    *most = 0;
    for (int i = 0; i < XOR_HIDDEN; i++) {
        bool new = true;
        for (int k = 0; k < i; k++)
            new &= apart(net, i, k) > 0, *most = fmax(*most, apart(net, i, k));
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
    double most;
    const int different = different_units(&net, &most);
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
        judge_wrong("3: the loss is %.3g before the first step: this net was given the solution, not "
                    "trained", begins);
    if (loss < 0.02) {
        gra_model_close(m);
        gra_close(t);
        return;
    }
    if (gradient == 0 && out_gradient == 0 && weight == 0)
        judge_wrong("3: the loss stays at %.3g. All weights start at 0, and so do their gradients: hidden "
                    "units that are 0 give out.weight none, and out.weight, also 0, gives them none", loss);
    if (different == 1)
        judge_wrong("3: the loss stays at %.3g. All %d hidden units begin with the same weights "
                    "(hidden.weight[0] is %.3g, %.3g) or their negatives, which make the same unit, and get "
                    "the same gradients, so they stay the same: they are one unit, eight times",
                    loss, XOR_HIDDEN, first[0], first[1]);
    if (most < 1e-3)
        judge_wrong("3: the loss stays at %.3g. The hidden units begin with weights that differ by at most "
                    "%.2g: their gradients are nearly the same, and they stay nearly one unit", loss, most);
    if (different < XOR_HIDDEN)
        judge_wrong("3: the loss stays at %.3g. The %d hidden units begin with only %d different sets of "
                    "weights: units that begin alike get the same gradients, and stay alike", loss,
                    XOR_HIDDEN, different);
    if (weight < 0.02)
        judge_wrong("3: the loss stays at %.3g. Weights of at most %.2g are small: so are their gradients, "
                    "and 400 steps do not lead far enough away. Let them be larger", loss, weight);
    if (weight > 4)
        judge_wrong("3: the loss stays at %.3g. Weights of up to %.3g are large: tanh is flat there, so "
                    "little gradient passes through", loss, weight);
    judge_wrong("3: the loss after %d steps: got %.*g, expected less than 0.02. hidden.weight starts with "
                "numbers up to %.3g, its gradient with %.3g", XOR_STEPS, judge_digits(loss, 0.02),
                loss, weight, gradient);
}

void judge_exercise(void)
{
    line();
    next("2: the next token, predicted by a model that is sure and right",
         (int[]){ 0, 1, 2, 3, 4, 5, 0, 1 }, 7, true);
    next("2: the next token, loss and gradients", (int[]){ 4, 0, 0, 5, 2, 1 }, 5, false);
    next("2: a single token", (int[]){ 3, 1 }, 1, false);
    learns_xor(1);
    learns_xor(2);
    learns_xor(3);
}
