/* 33 first_nan: the judge. What is wanted is computed with eps = 1e-5 under the root: any eps that is small
 * beside a variance of about 1 gives the same to 3 digits. */
#include "judge.h"

enum { VOCAB = 6, DIM = 4, MOST = 8, ALL = 2 * VOCAB * DIM + VOCAB, NEW = 5, NEARLY = 4 };

enum slip {
    RIGHT, ONLY_CENTRED, NOTHING, BY_VARIANCE, DETACHED, MEAN_DETACHED, SAMPLE, BIG_EPS, EPS_1, EPS_AT_0,
    LEFT_OUT, NO_GATE, GATE_TURNED, GELU, NO_LOG, TENTH, LOGITS_0, SLIPS
};

static gra_tensor *reference(gra_tape *t, const struct gated_net *net, const int *ids, const int *next, int n,
                             enum slip s)
{
    int targets[MOST];
    gra_tensor *x = gra_embedding(t, net->embedding, ids, GRA_SHAPE(n));
    gra_tensor *mean = gra_mean_dim(t, x, -1, true), *variance = gra_var_dim(t, x, -1, s == SAMPLE, true);
    gra_tensor *centred = gra_sub(t, x, s == MEAN_DETACHED ? gra_detach(t, mean) : mean);
    gra_tensor *eps = gra_full(t, s == BIG_EPS ? 1e-2 : s == TENTH ? 0.1 : s == EPS_1 ? 1 : 1e-5, variance->shape);
    if (s == EPS_AT_0)
        eps = gra_eq(t, variance, gra_zeros(t, variance->shape));
    variance = gra_add(t, variance, eps);
    gra_tensor *by = s == BY_VARIANCE ? variance : gra_sqrt(t, variance);
    gra_tensor *y = gra_div(t, centred, s == DETACHED ? gra_detach(t, by) : by);
    y = s == ONLY_CENTRED ? centred : s == NOTHING ? x : y;
    for (int i = 0; i < n; i++)
        targets[i] = s == LEFT_OUT && (ids[i] == NEW || ids[i] == NEARLY) ? GRA_IGNORE_INDEX : next[i];
    y = s == NO_GATE ? y : s == GELU ? gra_gelu(t, y)
      : s == GATE_TURNED ? gra_neg(t, gra_silu(t, gra_neg(t, y))) : gra_silu(t, y);
    gra_tensor *logits = gra_linear(t, y, net->weight, net->bias), *new = gra_zeros(t, GRA_SHAPE(n, 1));
    for (int i = 0; i < n && s == LOGITS_0; i++)
        new->data[i] = ids[i] == NEW;
    return gra_cross_entropy(t, s == NO_LOG ? gra_softmax(t, logits, -1) : gra_masked_fill(t, logits, new, 0), targets);
}

/* A net whose rows have a variance of about 1, but for the new token's and one with nearly equal numbers. */
static gra_model *net_open(struct gated_net *net, gra_tape *t)
{
    gra_rng rng;
    gra_manual_seed(&rng, 8);
    gra_model *m = gra_model_open(t, &rng);
    net->embedding = gra_param(gra_root(m), "embedding", gra_init_normal(0.3, 1), GRA_SHAPE(VOCAB, DIM));
    net->weight = gra_param(gra_root(m), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(VOCAB, DIM));
    net->bias = gra_param(gra_root(m), "bias", gra_init_normal(0, 0.5), GRA_SHAPE(VOCAB));
    for (int d = 0; d < DIM; d++) {
        net->embedding->data[NEW * DIM + d] = 0.5;
        net->embedding->data[NEARLY * DIM + d] = -0.7 + 1e-9 * (d * d % 3);
    }
    return m;
}

struct result {
    double loss, embedding[VOCAB * DIM], head[VOCAB * DIM + VOCAB];         /* and the gradients */
};

static void take(struct result *r, const struct gated_net *net, const gra_tensor *loss)
{
    r->loss = gra_item(loss);
    memcpy(r->embedding, gra_grad(net->embedding), sizeof r->embedding);
    memcpy(r->head, gra_grad(net->weight), VOCAB * DIM * sizeof(double));
    memcpy(r->head + VOCAB * DIM, gra_grad(net->bias), VOCAB * sizeof(double));
}

static struct result wanted(gra_tape *t, gra_model *m, const struct gated_net *net, const int *ids,
                            const int *next, int n, enum slip s)
{
    struct result r;
    gra_zero_grad(m);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *loss = reference(t, net, ids, next, n, s);
    gra_backward(t, loss);
    take(&r, net, loss);
    return r;
}

static void traced(gra_tape *t)
{
    if (gra_error(t))
        judge_wrong("the tape says:\n    %s", gra_error(t));
}

static void finite(const char *name, const double *g, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(g[i]))
            judge_wrong("the loss is right, but the gradient of the %s is %s at [%d, %d]: what is hidden or "
                        "mended in the forward alone comes back in the backward. Which op began?\n"
                        "gra_trace_nan(t, true) at the beginning of gated_loss finds it", name, isnan(g[i]) ? "nan" : "infinite", i / DIM,
                        i % DIM);
}

/* The answer's loss and gradients; none may be nan or infinite. */
static struct result answer(gra_tape *t, gra_model *m, const struct gated_net *net, const int *ids,
                            const int *next, int n, double want)
{
    struct result r;
    double before[VOCAB * DIM];
    memcpy(before, net->embedding->data, sizeof before);
    gra_zero_grad(m);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *loss = gated_loss(t, net, ids, next, n);
    traced(t);
    judge_unchanged("the embedding", net->embedding->data, before, VOCAB * DIM);
    judge_tensor(t, "the loss", loss, GRA_SCALAR);
    if (!isfinite(gra_item(loss)))
        judge_wrong("the loss is %s. Which op made the first nan or inf?\n"
                    "gra_trace_nan(t, true) at the beginning of gated_loss finds it",
                    isnan(gra_item(loss)) ? "nan" : "infinite");
    if (fabs(gra_item(loss) - want) < 1e-3) {           /* else its finding is the better one */
        if (!loss->requires_grad)
            judge_wrong("the loss is right, but a constant: no gradient flows from it to the parameters");
        gra_backward(t, loss);
        traced(t);
    }
    gra_trace_nan(t, false);
    take(&r, net, loss);
    if (fabs(r.loss - want) < 1e-3) {
        finite("embedding", r.embedding, VOCAB * DIM);
        finite("weight", r.head, VOCAB * DIM);
    }
    return r;
}

/* The rows of equal and of nearly equal numbers: their gradients depend on the answer's eps, so they are
 * looked at here, and then taken out of the comparison. */
static void equal_rows(struct result *got, struct result want[SLIPS], bool has_new)
{
    bool learns = !has_new;
    for (int i = NEARLY * DIM; i < VOCAB * DIM; i++) {
        if (!(fabs(got->embedding[i]) < 1e5))
            judge_wrong("token %d, whose numbers are nearly equal, gets the gradient %.3g: its variance is 1e-18. "
                        "Rows are divided by the root of eps at least: it must not be tiny, and must count "
                        "for every small variance, not for 0 alone", i / DIM, got->embedding[i]);
        learns |= i / DIM == NEW && fabs(got->embedding[i]) > 1e-9;
        got->embedding[i] = 0;
        for (int s = 0; s < SLIPS; s++)
            want[s].embedding[i] = 0;
    }
    if (!learns)
        judge_wrong("the new token's row of the embedding gets no gradient: it is cut off, and never learns");
}

static void judged(const char *part, const int *ids, const int *next, int n)
{
    struct gated_net net;
    struct result want[SLIPS];
    bool has_new = false;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = net_open(&net, t);
    for (enum slip s = RIGHT; s < SLIPS; s++)
        want[s] = wanted(t, m, &net, ids, next, n, s);
    for (int i = 0; i < n; i++)
        has_new |= ids[i] == NEW;
    judge_part("%s", part);
    struct result got = answer(t, m, &net, ids, next, n, want[RIGHT].loss);
    judge_number("the loss", got.loss, want[RIGHT].loss, 1e-3, JUDGE_MISTAKES(
        { "the row that makes nan is left out of the loss: it is to count as any other", &want[LEFT_OUT].loss },
        { "rows are not divided by their deviation: that is no mend, but another network",
          &want[ONLY_CENTRED].loss },
        { "rows are not standardised: that is no mend, but another network", &want[NOTHING].loss },
        { "rows are divided by the variance: the root is missing", &want[BY_VARIANCE].loss },
        { "the variance divides by dim - 1 now: it was dim", &want[SAMPLE].loss },
        { "the gate is gone: that is no mend, but another network", &want[NO_GATE].loss },
        { "eps is too large: it is to be small beside a variance of 1", &want[BIG_EPS].loss },
        { "eps is too large: it is to be small beside a variance of 1", &want[EPS_1].loss },
        { "eps is too large: it is to be small beside a variance of 1", &want[TENTH].loss },
        { "the gate is turned round: it is x / (1 + e^-x), not x / (1 + e^x)", &want[GATE_TURNED].loss },
        { "the gate is another function: that is no mend, but another network", &want[GELU].loss },
        { "cross_entropy is given probabilities: their logarithms are missing", &want[NO_LOG].loss },
        { "a variance of 0 is mended, one of 1e-18 is not: such rows are divided by their tiny "
          "deviation, which makes large numbers of nothing", &want[EPS_AT_0].loss },
        { "the new token's logits are 0: a nan was hidden there, not mended", &want[LOGITS_0].loss },
        { "a nan was hidden by a 0, not mended", (double[]){ 0 } }));
    equal_rows(&got, want, has_new);
    judge_numbers("the gradient of the embedding", GRA_SHAPE(VOCAB, DIM), got.embedding,
                  want[RIGHT].embedding, 1e-3, JUDGE_MISTAKES(
        { "the deviation is cut off from the graph: it was a part of it", want[DETACHED].embedding },
        { "the mean is cut off from the graph: it was a part of it", want[MEAN_DETACHED].embedding }));
    judge_numbers("the gradient of weight, then bias", GRA_SHAPE(VOCAB * DIM + VOCAB), got.head,
                  want[RIGHT].head, 1e-3, NULL);
    gra_model_close(m);
    gra_close(t);
}

void judge_exercise(void)
{
    judged("without the new token: right before, and to stay so", (int[]){ 0, 3, 1, 2 },
           (int[]){ 3, 1, 2, 0 }, 4);
    judged("with the new token", (int[]){ 1, NEW, 2, 1, 3 }, (int[]){ NEW, 2, 1, 3, 0 }, 5);
    judged("the new token first, and twice", (int[]){ NEW, 0, 3, NEW }, (int[]){ 0, 3, NEW, 1 }, 4);
    judged("the new token alone", (int[]){ NEW }, (int[]){ 2 }, 1);
    judged("a token with nearly equal numbers", (int[]){ 2, NEARLY, 0, NEW }, (int[]){ NEARLY, 0, 3, 1 }, 4);
}
