/* 25 accumulation: the judge. It provides the loss, the cross-entropy of a linear layer. The loss records
 * which rows are requested, and whether each micro-batch is a separate step. */
#include "comparison.h"

enum { IN = 3, CLASSES = 4, MOST = 12, WEIGHTS = IN * CLASSES, ALL = WEIGHTS + CLASSES, STALE = 3 };

struct batch {
    struct gra_linear layer;
    const double     *x;
    int               target[MOST], n, micro;
    int               used[MOST];           /* how often each row was requested */
    int               calls;                /* how often the loss was called */
    unsigned          step;                 /* the step of the tape in the last call */
    gra_tensor       *loss;                 /* the loss made by the last call */
};

static gra_tensor *rows_loss(gra_tape *t, int from, int to, const struct batch *b)
{
    gra_tensor *x = gra_constant(t, b->x + from * IN, GRA_SHAPE(to - from, IN));
    return gra_cross_entropy(t, gra_linear_forward(t, &b->layer, x), b->target + from);
}

/* The loss that the answer calls. */
static gra_tensor *mean_of_rows(gra_tape *t, int from, int to, void *arg)
{
    struct batch *b = arg;
    if (from < 0 || to > b->n)
        judge_wrong("loss was called for rows %d to %d, but there are only rows 0 to %d", from, to - 1,
                    b->n - 1);
    if (from >= to)
        judge_wrong("loss was called for the rows from %d up to %d (excluded): there are none", from, to);
    if (to - from > b->micro)
        judge_wrong("loss was called for %d rows at once (%d to %d), but there is memory for micro = %d",
                    to - from, from, to - 1, b->micro);
    for (int i = from; i < to; i++)
        if (b->used[i]++)
            judge_wrong("of %d rows with micro = %d, row %d was used more than once: loss was called for "
                        "rows %d to %d", b->n, b->micro, i, from, to - 1);
    gra_tensor *loss = rows_loss(t, from, to, b);
    if (gra_error(t))
        judge_wrong("in micro-batch %d: gradus refused: %s", b->calls, gra_error(t));
    if (!b->calls && loss->step == b->step)
        judge_wrong("the first micro-batch is not in a step of its own: call gra_begin before loss");
    if (loss->step == b->step)
        judge_wrong("two micro-batches (the second from row %d on) were computed in one step of the tape, "
                    "which keeps the memory of both: call gra_begin for each", from);
    b->step = loss->step;
    b->calls++;
    gra_retain_grad(b->loss = loss);
    return loss;
}

/* The gradients as one row, weight and then bias, and the loss. */
static double *row(const struct batch *b, double loss)
{
    double *to = judge_room(ALL + 1);
    memcpy(to, gra_grad(b->layer.weight), WEIGHTS * sizeof *to);
    memcpy(to + WEIGHTS, gra_grad(b->layer.bias), CLASSES * sizeof *to);
    to[ALL] = loss;
    return to;
}

/* Mistakes in adding up the micro-batches, where k of n rows have the share k/n. */
enum { SUM = 1, MEANS, PIECES, ONE_ROW, AGAIN, LAST, FIRST, KEPT, MISTAKES };
static const char *const says[MISTAKES] = {
    [SUM] = "this is the sum of the micro-batches' means, but should be the mean over all n rows",
    [MEANS] = "this is the mean over the micro-batches, where the rows of a small one count for more",
    [PIECES] = "each micro-batch counts 1 / (n / micro), which drops the remainder: k rows should count k/n",
    [ONE_ROW] = "each micro-batch's mean was divided by n, but the mean of k rows should count k/n",
    [AGAIN] = "this was divided by the number of micro-batches too: the shares k/n are enough",
    [LAST] = "this is only the last micro-batch: call gra_zero_grad once, before the first, and "
             "gra_backward in each",
    [FIRST] = "this is only the first micro-batch: call gra_backward in each",
    [KEPT] = "this still contains the gradients of the previous step: zero them first" };

static const double *mean_of(double *const *piece, int n, int micro, int mistake)
{
    const int count = (n + micro - 1) / micro;
    double *out = judge_room(ALL + 1);
    for (int i = 0; i <= ALL; i++)
        out[i] = mistake == KEPT ? STALE : 0;
    for (int k = 0; k < count; k++) {
        const double rows = k < count - 1 ? micro : n - k * micro, share = rows / n;
        const double by = mistake == SUM ? 1 : mistake == MEANS ? 1.0 / count
                        : mistake == PIECES ? 1.0 / (n / micro > 0 ? n / micro : 1)
                        : mistake == ONE_ROW ? 1.0 / n : mistake == AGAIN ? share / count
                        : (mistake == LAST && k < count - 1) || (mistake == FIRST && k > 0) ? 0 : share;
        for (int i = 0; i <= ALL; i++)
            out[i] += by * piece[k][i];
    }
    return out;
}

static void accumulates(const char *part, int n, int micro)
{
    struct batch b = { .x = judge_draw(5, MOST * IN, -2, 2), .n = n, .micro = micro };
    struct judge_mistake gradients[MISTAKES + 1] = { { "", NULL } }, losses[MISTAKES + 1] = { { "", NULL } };
    double *piece[MOST];
    gra_tape *t;
    gra_model *m = judge_open(&t, GRA_GRAD, 3);
    gra_linear_init(&b.layer, gra_root(m), IN, CLASSES, true);
    for (int i = 0; i < MOST; i++)
        b.target[i] = (i * i + i / 3) % CLASSES;

    judge_part("%s", part);
    for (int from = 0; from < n; from += micro) {
        gra_zero_grad(m);
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *mean = rows_loss(t, from, from + micro < n ? from + micro : n, &b);
        gra_backward(t, mean);
        piece[from / micro] = row(&b, gra_item(mean));
    }
    for (int i = 0; i < ALL; i++)                       /* gradients left by the previous step */
        *(i < WEIGHTS ? &b.layer.weight->grad[i] : &b.layer.bias->grad[i - WEIGHTS]) = STALE;
    gra_begin(t, GRA_GRAD, NULL);
    b.step = gra_zeros(t, GRA_SHAPE(1))->step;
    const double loss = accumulate(t, m, n, micro, mean_of_rows, &b);
    if (gra_error(t))
        judge_wrong("gradus refused: %s", gra_error(t));
    for (int i = 0; i < n; i++)
        if (!b.used[i])
            judge_wrong("of %d rows with micro = %d, row %d was never used: use all n rows", n, micro, i);
    for (int k = 1; k < MISTAKES; k++) {
        gradients[k] = (struct judge_mistake){ says[k], mean_of(piece, n, micro, k) };
        losses[k] = (struct judge_mistake){ says[k], gradients[k].numbers + ALL };
    }
    losses[LAST].says = "this is the loss of the last micro-batch";
    losses[FIRST].says = losses[KEPT].says = "";
    const double zero[ALL] = { 0 }, *got = row(&b, loss), *want = mean_of(piece, n, micro, 0);
    gradients[0] = (struct judge_mistake){ gra_zeros(t, GRA_SHAPE(1))->step != b.step ? "all gradients are 0"
        : !b.loss->grad ? "all gradients are 0: gra_backward was not called in the last micro-batch"
        : b.loss->grad[0] != 0 ? "all gradients are 0: they were zeroed after gra_backward"
        : "all gradients are 0: the loss was multiplied by 0 (in C, k / n is 0 for ints k < n)", zero };
    const struct comparison of_gradients = judge_comparison(GRA_SHAPE(ALL), got, want, 1e-10);
    const struct comparison of_loss = judge_comparison(GRA_SHAPE(1), got + ALL, want + ALL, 1e-10);
    judge_explained(&of_gradients, "the gradient (weight, then bias)", gradients);
    judge_clue("Add up k/n times the mean of each micro-batch, from 0 on, in double");
    judge_explained(&of_loss, "the loss returned", losses);
    judge_close(t, m);
}

void judge_exercise(void)
{
    accumulates("10 rows, 4 at a time: the last micro-batch is smaller", 10, 4);
    accumulates("6 rows, 3 at a time", 6, 3);
    accumulates("one micro-batch that holds all: micro = n", 4, 4);
    accumulates("5 rows, one at a time", 5, 1);
    accumulates("2 rows where 9 would fit", 2, 9);
}
