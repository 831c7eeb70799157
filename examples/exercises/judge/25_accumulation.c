/* 25 accumulation: the judge. The loss that it provides is the cross-entropy of a linear layer, and records
 * which rows are requested, and whether each micro-batch is a step of its own. */
#include "judge.h"

enum { IN = 3, CLASSES = 4, MOST = 12, WEIGHTS = IN * CLASSES, ALL = WEIGHTS + CLASSES, STALE = 3 };

struct batch {
    struct gra_linear layer;
    const double     *x;
    int               target[MOST], n, micro;
    int               used[MOST];           /* how often each row was requested, */
    int               calls;                /* in this many calls, */
    unsigned          step;                 /* the last of them in this step of the tape, */
    gra_tensor       *loss;                 /* which made this */
};

static gra_tensor *rows_loss(gra_tape *t, int from, int to, const struct batch *b)
{
    gra_tensor *x = gra_constant(t, b->x + from * IN, GRA_SHAPE(to - from, IN));
    return gra_cross_entropy(t, gra_linear_forward(t, &b->layer, x), b->target + from);
}

/* What the answer calls. */
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

/* The gradients as one row: weight, then bias. */
static void gradients(const struct batch *b, double *to)
{
    memcpy(to, gra_grad(b->layer.weight), WEIGHTS * sizeof *to);
    memcpy(to + WEIGHTS, gra_grad(b->layer.bias), CLASSES * sizeof *to);
}

/* The gradients, then the loss, of each micro-batch. */
struct rows {
    int    n, micro, first;                             /* compared from number `first` on */
    double piece[MOST][ALL + 1];
    const char *zeros;                                  /* why all gradients may be 0 */
};

static double share(int from, int rows, int n, int micro)
{
    const double of = (double)rows / n;
    const int count = (n + micro - 1) / micro;
    return slip("it is the sum of the micro-batches' means: expected the mean over all n rows") ? 1
         : slip("it is the mean over micro-batches: their sizes differ, so a small one's rows count more")
         ? 1.0 / count
         : slip("each micro-batch counts 1 / (n / micro), where / drops the remainder: a mean of k rows "
                "counts k/n")
         ? 1.0 / (n / micro > 0 ? n / micro : 1)
         : slip("each micro-batch's mean was divided by micro: it is already a mean") ? 1.0 / micro
         : slip("each micro-batch counts as if it had micro rows: the last one has fewer") ? (double)micro / n
         : slip("each micro-batch's mean was divided by n: a mean of k rows counts k/n") ? 1.0 / n
         : slip("each micro-batch's share was taken twice: a mean of k rows counts k/n, once") ? of * of
         : slip("it was divided by the number of micro-batches too: the shares k/n are enough") ? of / count
         : slip("it was divided by n too: the shares k/n are enough") ? of / n
         : slip("the share is inverted: a mean of k rows counts k/n") ? 1 / of
         : slip("each micro-batch counts n / micro: a mean of k rows counts k/n") ? (double)n / micro
         : slip("each micro-batch counts to / n: it has to - from rows") ? (double)(from + rows) / n
         : slip("each micro-batch counts from / n: it has to - from rows") ? (double)from / n
         : slip("each micro-batch counts one row too few: it has to - from rows") ? (rows - 1.) / n
         : slip("each micro-batch counts one row too many: it has to - from rows") ? (rows + 1.) / n
         : slip("it is n times too large: expected the mean over all rows") ? rows : of;
}

/* The gradients, or the loss: the mean over all rows. */
static void mean_of(double *out, void *arg)
{
    const struct rows *r = arg;
    const bool loss = r->first == ALL;
    const int n = r->n, micro = r->micro, count = loss ? 1 : ALL;
    const bool kept = !loss && slip("it still contains the gradients of the previous step: zero them first");
    const bool last = slip(loss ? "it is the loss of the last micro-batch"
                                : "only the last micro-batch is in "
                                  "it: call gra_zero_grad once, before the first, and gra_backward in each");
    const bool first = !loss
        && slip("only the first micro-batch is in it: call gra_backward in each");
    const bool again = slip("each share multiplies what the micro-batches before it have added, too: "
                            "multiply the micro-batch's own loss by it, before gra_backward");
    const bool none = slip(!loss ? r->zeros : "it is 0: add k/n times the mean of each micro-batch, in "
                                              "double (in C, k / n of two int is 0)");
    for (int i = 0; i < count; i++)
        out[i] = kept ? STALE : 0;
    for (int from = 0; from < n; from += micro) {
        const int rows = n - from < micro ? n - from : micro;
        const bool left_out = none || (last && from + rows < n) || (first && from);
        const double by = left_out ? 0 : share(from, rows, n, micro);
        for (int i = 0; i < count; i++)
            out[i] = (again ? by : 1) * out[i] + by * r->piece[from / micro][r->first + i];
    }
}

static void accumulates(const char *part, int n, int micro)
{
    struct batch b = { .x = judge_draw(5, MOST * IN, -2, 2), .n = n, .micro = micro };
    struct rows rows = { .n = n, .micro = micro };
    double got[ALL];
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
        gradients(&b, rows.piece[from / micro]);
        rows.piece[from / micro][ALL] = gra_item(mean);
    }
    for (int i = 0; i < ALL; i++)                       /* what the previous step left */
        *(i < WEIGHTS ? &b.layer.weight->grad[i] : &b.layer.bias->grad[i - WEIGHTS]) = STALE;
    gra_begin(t, GRA_GRAD, NULL);
    b.step = gra_zeros(t, GRA_SHAPE(1))->step;
    const double loss = accumulate(t, m, n, micro, mean_of_rows, &b);
    if (gra_error(t))
        judge_wrong("gradus refused: %s", gra_error(t));
    for (int i = 0; i < n; i++)
        if (!b.used[i])
            judge_wrong("of %d rows with micro = %d, row %d was never used: all n rows count", n, micro, i);
    rows.zeros = gra_zeros(t, GRA_SHAPE(1))->step != b.step ? "all gradients are 0"
        : !b.loss->grad ? "all gradients are 0: gra_backward was not called in the last micro-batch"
        : b.loss->grad[0] != 0 ? "all gradients are 0: they were zeroed after gra_backward"
        : "all gradients are 0: the loss was multiplied by 0 (in C, k / n of two int is 0)";
    gradients(&b, got);
    judge_against("the gradient (weight, then bias)", GRA_SHAPE(ALL), got, 1e-10, mean_of, &rows);
    rows.first = ALL;
    judge_against("the loss returned", GRA_SHAPE(1), &loss, 1e-10, mean_of, &rows);
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
