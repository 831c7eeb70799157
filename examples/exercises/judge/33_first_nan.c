/* 33 first_nan: the judge. The expected numbers use eps = 1e-5 under the root: any eps that is small
 * compared with a variance of about 1 gives the same to 3 digits. */
#include "judge.h"

enum { VOCAB = 6, DIM = 4, MOST = 8, NEW = 5, NEARLY = 4, EMBEDDING = VOCAB * DIM };
enum { ALL = 2 * EMBEDDING + VOCAB };

struct asked {
    gra_tape               *t;
    gra_model              *m;
    const struct gated_net *net;
    const int              *ids, *next;
    int                     n;
};

/* One eps fits nearly another: such mistakes are only tried where numbers must fit closely. */
static bool closely;

static gra_tensor *reference(const struct asked *a)
{
    const int n = a->n;
    gra_tape *t = a->t;
    gra_zero_grad(a->m);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = gra_embedding(t, a->net->embedding, a->ids, GRA_SHAPE(n));
    const bool left_out =
        slip("the row that makes nan is left out of the loss: it must count like any other");
    const bool centred =
        slip("rows are not divided by their deviation: that is another network, not a repair");
    const bool nothing = slip("rows are not standardised: that is another network, not a repair");
    const bool by_variance = slip("rows are divided by the variance: the root is missing");
    const bool sample = slip("the variance is now divided by dim - 1: it was dim");
    double eps = 1e-5, beside = 0, to_probabilities = 0;
    for (int i = 0; i < 15 && closely; i++) {                  /* 2, 1, 0.5, 0.3, 0.2, ..., 2e-3 */
        const double large = (const double[]){ 2, 1, 0.5, 0.3, 0.2 }[i % 5] * pow(10, -(i / 5));
        eps = slip_of("eps is %g: it must be small compared with a variance of 1", large) ? large : eps;
        beside = slip_of("%g is added to the deviation: what is added must be small compared with 1", large)
               ? large : beside;
        to_probabilities = slip_of("%g is added to each probability: it must be small compared with them",
                                   large) ? large : to_probabilities;
    }
    const bool rms = slip("rows are divided by the root of the mean of x^2: divide by that of the variance, "
                          "in which each number is less its mean");
    const bool rms_norm = slip("rows are only divided by the root of the mean of x^2: they were "
                               "standardised, with mean 0 and variance 1");
    const bool by_sum = slip("rows are divided by the root of a sum of squares: it was that of their mean");
    const bool whole = slip("the mean is not subtracted from rows: they had mean 0");
    const bool at_0 = slip("a variance of 0 is handled, one of 1e-18 is not: such rows are divided by a tiny "
                           "deviation, which makes tiny differences large");
    const bool gate_first = slip("the gate comes before the division: rows are standardised first");
    x = gate_first ? gra_silu(t, x) : x;
    gra_tensor *mean = gra_mean_dim(t, x, -1, true), *variance = gra_var_dim(t, x, -1, sample, true);
    gra_tensor *size = gra_mean_dim(t, gra_abs(t, gra_sub(t, x, mean)), -1, true);
    variance = rms || rms_norm ? gra_mean_dim(t, gra_mul(t, x, x), -1, true) : variance;
    variance = by_sum ? gra_scale(t, variance, DIM) : variance;
    variance = gra_add(t, variance, at_0 ? gra_eq(t, variance, gra_zeros(t, variance->shape))
                                         : gra_full(t, eps, variance->shape));
    gra_tensor *by = by_variance ? variance : gra_add_scalar(t, gra_sqrt(t, variance), beside);
    by = slip("rows are divided by the mean of |x - mean|: divide by the root of the variance") ? size : by;
    by = slip("the root is taken twice: once is enough") ? gra_sqrt(t, by) : by;
    by = slip("the deviation is detached from the graph: it was part of it") ? gra_detach(t, by) : by;
    mean = slip("the mean is detached from the graph: it was part of it") ? gra_detach(t, mean) : mean;
    by = slip("rows are multiplied by their deviation: divide") ? gra_pow(t, by, -1) : by;
    gra_tensor *y = rms_norm || whole ? x : gra_sub(t, x, mean);
    y = nothing ? x : centred ? y : gra_div(t, y, by);
    gra_tensor *of_minus_y = gra_neg(t, gra_silu(t, gra_neg(t, y))), *gelu = gra_gelu(t, y);
    y = gate_first ? y : slip("the gate is gone: that is another network, not a repair") ? y
      : slip("the gate is x / (1 + e^x): it should be x / (1 + e^-x)") ? of_minus_y
      : slip("the gate is another function: that is another network, not a repair") ? gelu : gra_silu(t, y);
    gra_tensor *bias = slip("the bias is missing") ? NULL : a->net->bias;
    gra_tensor *logits = gra_linear(t, y, a->net->weight, bias), *new = gra_zeros(t, GRA_SHAPE(n, 1));
    if (slip("cross_entropy is given probabilities: their logarithms are missing"))
        logits = gra_softmax(t, logits, -1);
    if (to_probabilities > 0)
        logits = gra_log(t, gra_add_scalar(t, gra_softmax(t, logits, -1), to_probabilities));
    const bool hidden = slip("the new token's logits are 0: a nan was hidden there, not repaired");
    int targets[MOST];
    for (int i = 0; i < n; i++) {
        new->data[i] = hidden && a->ids[i] == NEW;
        targets[i] = left_out && (a->ids[i] == NEW || a->ids[i] == NEARLY) ? GRA_IGNORE_INDEX : a->next[i];
    }
    gra_tensor *loss = gra_cross_entropy(t, gra_masked_fill(t, logits, new, 0), targets);
    return slip("it is now the sum over ids: it was their mean") ? gra_scale(t, loss, n) : loss;
}

/* The loss of all ids, then that of each alone, or 0 for a row that makes nan: one loss could fit several
 * mistakes. `loss` is the answer's or the reference. */
static void losses(const struct asked *a, gra_tensor *(*loss)(const struct asked *a), double *out)
{
    out[0] = gra_item(loss(a));
    for (int i = 0; i < a->n; i++) {
        struct asked one = *a;
        one.ids += i, one.next += i, one.n = 1;
        out[1 + i] = a->ids[i] < NEARLY ? gra_item(loss(&one)) : 0;
    }
}

static void losses_of(double *out, void *arg)
{
    losses(arg, reference, out);
    out[0] = slip("a nan was hidden by a 0, not repaired") ? 0 : out[0];
}

/* The gradients of embedding, weight and bias. */
static void gradients(const struct gated_net *net, double *to)
{
    memcpy(to, gra_grad(net->embedding), EMBEDDING * sizeof *to);
    memcpy(to + EMBEDDING, gra_grad(net->weight), EMBEDDING * sizeof *to);
    memcpy(to + 2 * EMBEDDING, gra_grad(net->bias), VOCAB * sizeof *to);
}

/* The gradient of the embedding, where it does not depend on the answer's eps. */
static void embedding_of(double *out, void *arg)
{
    const struct asked *a = arg;
    gra_backward(a->t, reference(a));
    if (slip("the embedding is detached from the graph: it never learns"))
        gra_zero_grad(a->m);
    memcpy(out, gra_grad(a->net->embedding), EMBEDDING * sizeof *out);
    memset(out + NEARLY * DIM, 0, (VOCAB - NEARLY) * DIM * sizeof *out);
}

/* A net whose rows have a variance of about 1, except the new token's and one with nearly equal numbers. */
static gra_model *net_open(struct gated_net *net, gra_tape **t)
{
    gra_model *m = judge_open(t, GRA_GRAD, 8);
    net->embedding = gra_param(gra_root(m), "embedding", gra_init_normal(0.3, 1), GRA_SHAPE(VOCAB, DIM));
    net->weight = gra_param(gra_root(m), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(VOCAB, DIM));
    net->bias = gra_param(gra_root(m), "bias", gra_init_normal(0, 0.5), GRA_SHAPE(VOCAB));
    for (int d = 0; d < DIM; d++) {
        net->embedding->data[NEW * DIM + d] = 0.5;
        net->embedding->data[NEARLY * DIM + d] = -0.7 + 1e-9 * (d * d % 3);
    }
    return m;
}

#define FINDS "gra_trace_nan(t, true) at the beginning of gated_loss finds it"

/* Why the backward makes a nan although the loss is right. */
static const char *in_backward(const struct asked *a)
{
    gra_zero_grad(a->m);
    gra_begin(a->t, GRA_GRAD, NULL);
    gra_trace_nan(a->t, true);
    gra_backward(a->t, gated_loss(a->t, a->net, a->ids, a->next, a->n));
    const char *made = gra_error(a->t);
    if (made && !strncmp(made, "sqrt", 4))
        return "The root of 0 has an infinite slope, so what is under the root must not be 0: add something "
               "there, not after it";
    if (made && !strncmp(made, "div", 3))
        return "A division by 0 has no finite gradient, even where its result is not used: change what is "
               "divided by, not the result";
    return "Which op made the first nan? " FINDS;
}

static void finite(const struct asked *a, const char *name, const double *g, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(g[i]))
            judge_wrong("the loss is right, but the gradient of the %s is %s at [%d, %d]: it is made in the "
                        "backward\n%s", name, isnan(g[i]) ? "nan" : "infinite", i / DIM, i % DIM,
                        in_backward(a));
}

/* Was something put between softmax, whose result is nan already, and the loss? */
static bool mended_too_late(const gra_tape *t)
{
    bool has_nan = false;
    for (int i = 0; i < gra_node_count(t); i++) {
        const gra_tensor *y = gra_node_at(t, i);
        if (has_nan && strcmp(y->op->name, "log") && strcmp(y->op->name, "cross_entropy"))
            return true;
        for (size_t k = 0; k < y->size && !strcmp(y->op->name, "softmax"); k++)
            has_nan = has_nan || isnan(y->data[k]);
    }
    return false;
}

/* Was a number added, but not to what is 0? At first there is one add_scalar. */
static bool divides_by_0(const gra_tape *t)
{
    int added = 0;
    bool zero = false;
    for (int i = 0; i < gra_node_count(t); i++) {
        const gra_tensor *y = gra_node_at(t, i);
        added += !strcmp(y->op->name, "add_scalar");
        for (size_t k = 0; !strcmp(y->op->name, "div") && k < y->in[1]->size; k++)
            zero = zero || y->in[1]->data[k] == 0;
    }
    return added > 1 && zero;
}

static void traced(gra_tape *t)
{
    if (gra_error(t))
        judge_wrong("the tape says:\n    %s%s", gra_error(t),
                    strncmp(gra_error(t), "div", 3) ? ""
                    : divides_by_0(t)
                        ? "\nA number is added, but not to what is 0: this div still divides by 0"
                        : "\nThis div divides by 0, as the one in gated never does");
}

/* The answer's loss, and its gradients to g; none may be nan or infinite. */
static double answer(const struct asked *a, double want, double *g)
{
    double before[EMBEDDING];
    gra_tape *t = a->t;
    memcpy(before, a->net->embedding->data, sizeof before);
    gra_zero_grad(a->m);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *loss = gated_loss(t, a->net, a->ids, a->next, a->n);
    traced(t);
    judge_unchanged("the embedding", a->net->embedding->data, before, EMBEDDING);
    judge_tensor(t, "the loss", loss, GRA_SCALAR);
    const double got = gra_item(loss);
    if (!isfinite(got))
        judge_wrong("the loss is %s%s. Which op made the first nan or inf?\n" FINDS,
                    isnan(got) ? "nan" : "infinite", mended_too_late(t)
                    ? ". What softmax gives is nan already, so a change behind it comes too late"
                    : divides_by_0(t) ? ". A number is added, but not to what is 0: a div still divides by 0"
                    : "");
    const bool right = fabs(got - want) < 1e-3;      /* otherwise its finding is better */
    if (right && !loss->requires_grad)
        judge_wrong("the loss is right, but it is a constant: no gradient flows from it to the parameters");
    if (right)
        gra_backward(t, loss);
    traced(t);
    gra_trace_nan(t, false);
    gradients(a->net, g);
    finite(a, "embedding", g, EMBEDDING);
    finite(a, "weight", g + EMBEDDING, EMBEDDING);
    return got;
}

static gra_tensor *gated(const struct asked *a)
{
    gra_begin(a->t, GRA_GRAD, NULL);
    gra_tensor *loss = gated_loss(a->t, a->net, a->ids, a->next, a->n);
    gra_trace_nan(a->t, false);
    judge_tensor(a->t, "the loss", loss, GRA_SCALAR);
    return loss;
}

/* The rows of equal and of nearly equal numbers: their gradients depend on the answer's eps, so they are
 * looked at here, and then taken out of the comparison. */
static void equal_rows(double *g, bool has_new)
{
    bool learns = !has_new;
    for (int i = NEARLY * DIM; i < VOCAB * DIM; i++) {
        if (!(fabs(g[i]) < 1e5))
            judge_wrong("token %d, whose numbers are %s equal, gets the gradient %.3g\neps must not be tiny, "
                        "as such a row is divided by its root, and it must apply to every small variance, "
                        "not only to 0", i / DIM, i / DIM == NEW ? "all" : "nearly", g[i]);
        learns |= i / DIM == NEW && fabs(g[i]) > 1e-9;
        g[i] = 0;
    }
    if (!learns)
        judge_wrong("the new token's row of the embedding gets no gradient: it is detached, and never "
                    "learns");
}

static void judged(const char *part, const int *ids, const int *next, int n)
{
    struct gated_net net;
    bool has_new = false;
    double g[ALL], want[ALL], got_all[1 + MOST], want_all[1 + MOST];
    gra_tape *t;
    gra_model *m = net_open(&net, &t);
    struct asked a = { t, m, &net, ids, next, n };
    for (int i = 0; i < n; i++)
        has_new |= ids[i] == NEW;
    judge_part("%s", part);
    gra_tensor *loss = reference(&a);
    gra_backward(t, loss);
    gradients(&net, want);
    const double expected = gra_item(loss), got = answer(&a, expected, g);
    losses(&a, gated, got_all);
    got_all[0] = got;
    int off = -1;                                       /* the first loss that is */
    bool others = has_new;                              /* are all but the new token right, or nearly? */
    losses_of(want_all, &a);
    for (int i = n; i >= 0; i--) {
        off = fabs(got_all[i] - want_all[i]) > 1e-3 ? i : off;
        others &= i == 0 || (fabs(got_all[i] - want_all[i]) < 1e-2 && ids[i - 1] != NEARLY);
    }
    for (int i = 1; i >= 0 && off >= 0; i--) {
        closely = i;
        const char *why = judge_slip(GRA_SHAPE(1 + n), got_all, i ? 1e-5 : 1e-3, losses_of, &a);
        if (why && strncmp(why, "two", 3))              /* two could be anything */
            judge_wrong("the loss%s: got %.6g, expected %.6g\nlikely: %s", off ? " of one token alone" : "",
                        got_all[off], want_all[off], why);
    }
    if (others)
        judge_clue("alone, each other token has the right loss, or nearly. The new token's numbers less "
                   "their mean are 0, and must be 0 when they are standardised: was something added?");
    else if (!has_new)
        judge_clue("%s rows have a variance of about 1, and never made a nan: what else is changed for them?",
                   fabs(got / expected - 1) < 0.05 ? "it is near, but not the same to 3 digits, though these"
                                                   : "these");
    judge_numbers("the loss", GRA_SHAPE(1), &got, &expected, 1e-3);
    judge_clue("rows with a variance of about 1 have another loss than before: what is changed for them?");
    judge_against("the loss of all, then of each alone,", GRA_SHAPE(1 + n), got_all, 1e-3, losses_of, &a);
    equal_rows(g, has_new);
    judge_against("the gradient of the embedding", GRA_SHAPE(VOCAB, DIM), g, 1e-3, embedding_of, &a);
    if (has_new && n == 1)
        judge_clue("the new token's numbers less their mean are 0, so it adds nothing here: was something "
                   "added to them?");
    judge_numbers("the gradient of weight", GRA_SHAPE(VOCAB, DIM), g + EMBEDDING, want + EMBEDDING, 1e-3);
    judge_numbers("the gradient of bias", GRA_SHAPE(VOCAB), g + 2 * EMBEDDING, want + 2 * EMBEDDING, 1e-3);
    judge_close(t, m);
}

void judge_exercise(void)
{
    judged("without the new token: it was right, and must stay so", (int[]){ 0, 3, 1, 2 },
           (int[]){ 3, 1, 2, 0 }, 4);
    judged("with the new token", (int[]){ 1, NEW, 2, 1, 3 }, (int[]){ NEW, 2, 1, 3, 0 }, 5);
    judged("the new token first, and twice", (int[]){ NEW, 0, 3, NEW }, (int[]){ 0, 3, NEW, 1 }, 4);
    judged("the new token alone", (int[]){ NEW }, (int[]){ 2 }, 1);
    judged("a token with nearly equal numbers", (int[]){ 2, NEARLY, 0, NEW }, (int[]){ NEARLY, 0, 3, 1 }, 4);
}
