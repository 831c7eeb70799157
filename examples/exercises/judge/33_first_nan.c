/* 33 first_nan: the judge. The expected numbers use eps = 1e-5 under the root: any eps that is small
 * compared with a variance of about 1 gives the same to 3 digits. */
#include "comparison.h"
#include <math.h>

enum { VOCAB = 6, DIM = 4, MOST = 8, NEW = 5, NEARLY = 4 };
enum { EMBEDDING = VOCAB * DIM, ALL = 2 * EMBEDDING + VOCAB };

static gra_tape *t;
static gra_model *m;
static struct gated_net net;

/* The mistakes. From EPS on, one of nine numbers that are too large is added, under the root or to it. */
enum { LEFT_OUT = 1, UNDIVIDED, RMS, WHOLE, DETACHED, NO_BIAS, EPS, MISTAKES = EPS + 18 };
static const char *const says[] = {
    [LEFT_OUT] = "the row that makes nan is left out of the loss, but should count like any other row",
    [UNDIVIDED] = "rows are not divided by their deviation: this is a different network, not a repair",
    [RMS] = "rows are divided by the root of the mean of x^2, but should be standardised",
    [WHOLE] = "the mean is not subtracted from the rows, which should have mean 0",
    [DETACHED] = "the deviation is detached: keep it in the graph", [NO_BIAS] = "the bias is missing",
    [EPS] = "eps is too large: make it small compared with a variance of 1",
    [EPS + 1] = "the number added to the deviation is too large: make it small compared with 1" };

static gra_tensor *reference(const int *ids, const int *next, int n, int mistake)
{
    const int number = mistake - EPS;
    const double large = pow(10, -1 - number / 2 % 9 / 4.0);
    int targets[MOST];
    gra_tensor *x = gra_embedding(t, net.embedding, ids, GRA_SHAPE(n));
    gra_tensor *mean = gra_mean_dim(t, x, -1, true), *variance = gra_var_dim(t, x, -1, 0, true);
    variance = mistake == RMS ? gra_mean_dim(t, gra_mul(t, x, x), -1, true) : variance;
    gra_tensor *by = gra_sqrt(t, gra_add_scalar(t, variance, number >= 0 && mistake % 2 == 0 ? large : 1e-5));
    by = number >= 0 && mistake % 2 ? gra_add_scalar(t, by, large) : by;
    by = mistake == DETACHED ? gra_detach(t, by) : by;
    gra_tensor *y = mistake == RMS || mistake == WHOLE ? x : gra_sub(t, x, mean);
    y = gra_silu(t, mistake == UNDIVIDED ? y : gra_div(t, y, by));
    for (int i = 0; i < n; i++)
        targets[i] = mistake == LEFT_OUT && ids[i] >= NEARLY ? GRA_IGNORE_INDEX : next[i];
    return gra_cross_entropy(t, gra_linear(t, y, net.weight, mistake == NO_BIAS ? NULL : net.bias), targets);
}

/* The loss, in a separate step, of the reference with a mistake, or of the answer if mistake is -1. */
static gra_tensor *loss_of(const int *ids, const int *next, int n, int mistake)
{
    gra_zero_grad(m);
    gra_begin(t, GRA_GRAD, NULL);
    return mistake < 0 ? gated_loss(t, &net, ids, next, n) : reference(ids, next, n, mistake);
}

/* The loss of all ids, then the loss of each single id, or 0 for a row that makes nan: these distinguish the
 * mistakes. */
static const double *losses(const int *ids, const int *next, int n, int mistake)
{
    double *out = judge_room(1 + MOST);
    for (int i = 0; i <= n; i++) {
        const int at = i ? i - 1 : 0;
        gra_tensor *loss = loss_of(ids + at, next + at, i ? 1 : n, mistake);
        gra_trace_nan(t, false);
        judge_tensor(t, "the loss", loss, GRA_SCALAR);
        out[i] = i && ids[i - 1] >= NEARLY ? 0 : gra_item(loss);
    }
    return out;
}

/* The gradients of embedding, weight and bias. */
static double *gradients(gra_tensor *loss)
{
    double *to = judge_room(ALL);
    gra_backward(t, loss);
    memcpy(to, gra_grad(net.embedding), EMBEDDING * sizeof *to);
    memcpy(to + EMBEDDING, gra_grad(net.weight), EMBEDDING * sizeof *to);
    memcpy(to + 2 * EMBEDDING, gra_grad(net.bias), VOCAB * sizeof *to);
    return to;
}

#define FINDS "gra_trace_nan(t, true) at the beginning of gated_loss finds it"

/* Gradients may not be nan or infinite, nor huge where rows have equal or nearly equal numbers. */
static void finite(const int *ids, const int *next, int n, const double *g)
{
    for (int i = 0; i < ALL; i++)
        if (!isfinite(g[i])) {
            gra_trace_nan(t, true);
            gra_backward(t, loss_of(ids, next, n, -1));
            const char *made = gra_error(t) ? gra_error(t) : "";
            judge_wrong("the loss is right, but the backward makes a gradient of %g\n%s", fabs(g[i]),
                        !strncmp(made, "sqrt", 4)
                        ? "likely: a number under a root is 0, where the slope of the root is infinite"
                        : !strncmp(made, "div", 3)
                        ? "likely: a division by 0 has no finite gradient, even if it is not used" : FINDS);
        } else if (i >= NEARLY * DIM && i < EMBEDDING && fabs(g[i]) >= 1e5)
            judge_wrong("token %d, whose numbers are %s equal, gets the gradient %.3g\nlikely: eps is "
                        "tiny, or only a variance of 0 is handled, not every small variance",
                        i / DIM, i / DIM == NEW ? "all" : "nearly", g[i]);
}

static void judged(const char *part, const int *ids, const int *next, int n, bool has_new)
{
    struct judge_mistake mistakes[MISTAKES + 1] = { { "", NULL } };
    double before[EMBEDDING], new = 0;
    judge_part("%s", part);
    double *want = gradients(loss_of(ids, next, n, 0)), *cut = gradients(loss_of(ids, next, n, DETACHED));
    memcpy(before, net.embedding->data, sizeof before);
    gra_tensor *loss = loss_of(ids, next, n, -1);
    judge_unchanged("the embedding", net.embedding->data, before, EMBEDDING);
    judge_tensor(t, "the loss", loss, GRA_SCALAR);
    if (!isfinite(gra_item(loss)))
        judge_wrong("the loss is %g. Which op made the first nan or inf?\n" FINDS, fabs(gra_item(loss)));
    const double *all = losses(ids, next, n, -1), *right = losses(ids, next, n, 0);
    struct comparison c = judge_comparison(GRA_SHAPE(1 + n), all, right, 1e-3);
    c.tolerance = 1e-3;
    for (int k = 1; k < MISTAKES && !judge_agrees(&c); k++)
        mistakes[k] = (struct judge_mistake){ says[k < EPS ? k : EPS + k % 2], losses(ids, next, n, k) };
    judge_clue(has_new ? "the new token's numbers minus their mean are 0: was something added to them?"
               : "these rows have a variance of about 1, and never made a nan: what has changed for them?");
    c.tolerance /= judge_agrees(&c) ? 1 : 10;           /* numbers that are too large are near one another */
    judge_explained(&c, "the loss of all, then of each alone,", mistakes);
    double *g = gradients(loss_of(ids, next, n, -1));
    if (gra_error(t))
        judge_wrong("the tape says:\n    %s", gra_error(t));
    finite(ids, next, n, g);
    for (int i = NEARLY * DIM; i < EMBEDDING; i++) {
        new = i / DIM == NEW ? fmax(new, fabs(g[i])) : new;
        g[i] = want[i] = cut[i] = 0;
    }
    if (has_new && new <= 1e-9)
        judge_wrong("the new token's row of the embedding gets no gradient: it never learns");
    judge_clue("the new token's numbers minus their mean are 0: was something added to them?");
    c = judge_comparison(GRA_SHAPE(ALL), g, want, 1e-3);
    judge_explained(&c, "the gradient (embedding, weight, bias)",
                    (struct judge_mistake[]){ { says[DETACHED], cut }, { NULL, NULL } });
}

/* Rows have a variance of about 1, except the new token's and one with nearly equal numbers. */
void judge_exercise(void)
{
    m = judge_open(&t, GRA_GRAD, 8);
    net.embedding = gra_param(gra_root(m), "embedding", gra_init_normal(0.3, 1), GRA_SHAPE(VOCAB, DIM));
    net.weight = gra_param(gra_root(m), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(VOCAB, DIM));
    net.bias = gra_param(gra_root(m), "bias", gra_init_normal(0, 0.5), GRA_SHAPE(VOCAB));
    for (int d = 0; d < DIM; d++) {
        net.embedding->data[NEW * DIM + d] = 0.5;
        net.embedding->data[NEARLY * DIM + d] = -0.7 + 1e-9 * (d * d % 3);
    }
    judged("without the new token: it was right, and must stay so", (int[]){ 0, 3, 1, 2 },
           (int[]){ 3, 1, 2, 0 }, 4, false);
    judged("with the new token", (int[]){ 1, NEW, 2, 1, 3 }, (int[]){ NEW, 2, 1, 3, 0 }, 5, true);
    judged("the new token first, and twice", (int[]){ NEW, 0, 3, NEW }, (int[]){ 0, 3, NEW, 1 }, 4, true);
    judged("the new token alone", (int[]){ NEW }, (int[]){ 2 }, 1, true);
    judged("a token with nearly equal numbers", (int[]){ 2, NEARLY, 0, NEW },
           (int[]){ NEARLY, 0, 3, 1 }, 4, true);
}
