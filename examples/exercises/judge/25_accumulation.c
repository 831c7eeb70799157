/* 25 accumulation: the judge. The loss that it hands out is the cross-entropy of a linear layer, and sees
 * which rows are asked for, and whether each micro-batch is a step of its own. */
#include "judge.h"

enum { IN = 3, CLASSES = 4, MOST = 12, WEIGHTS = IN * CLASSES, ALL = WEIGHTS + CLASSES };

struct batch {
    struct gra_linear layer;
    const double     *x;
    int               target[MOST], n, micro;
    int               used[MOST];           /* how often each row was asked for, */
    int               calls;                /* in so many calls, */
    unsigned          step;                 /* the last of them in this step of the tape */
    bool              watched;              /* not while the judge itself asks */
};

static gra_tensor *mean_of_rows(gra_tape *t, int from, int to, void *arg)
{
    struct batch *b = arg;
    if (b->watched && (from < 0 || to > b->n))
        judge_wrong("loss was asked for rows %d to %d, but there are only rows 0 to %d", from, to - 1,
                    b->n - 1);
    if (b->watched && from >= to)
        judge_wrong("loss was asked for the rows from %d up to, not including, %d: these are none", from, to);
    if (b->watched && to - from > b->micro)
        judge_wrong("loss was asked for %d rows at once (%d to %d), but there is memory for micro = %d",
                    to - from, from, to - 1, b->micro);
    gra_tensor *x = gra_constant(t, b->x + from * IN, GRA_SHAPE(to - from, IN));
    if (b->watched && gra_error(t))
        judge_wrong("in micro-batch %d: gradus refused: %s", b->calls, gra_error(t));
    if (b->watched && b->calls && x->step == b->step)
        judge_wrong("two micro-batches (rows from %d on are the second) were computed in one step of the "
                    "tape, which keeps the memory of both: gra_begin begins a new step", from);
    b->step = x->step;
    b->calls++;
    for (int i = from; i < to; i++)
        b->used[i]++;
    return gra_cross_entropy(t, gra_linear_forward(t, &b->layer, x), b->target + from);
}

/* The gradients as one row: weight, then bias. */
static void gradients(const struct batch *b, double *to)
{
    memcpy(to, gra_grad(b->layer.weight), WEIGHTS * sizeof *to);
    memcpy(to + WEIGHTS, gra_grad(b->layer.bias), CLASSES * sizeof *to);
}

/* Adds to sum[ALL + 1] the gradients and the loss of the mean of rows from .. to - 1, times `by`. */
static void add(gra_tape *t, gra_model *m, struct batch *b, int from, int to, double by, double *sum)
{
    double g[ALL];
    gra_zero_grad(m);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *loss = mean_of_rows(t, from, to, b);
    gra_backward(t, loss);
    gradients(b, g);
    for (int i = 0; i < ALL; i++)
        sum[i] += by * g[i];
    sum[ALL] += by * gra_item(loss);
}

static void accumulates(const char *part, int n, int micro)
{
    enum { N = ALL + 1 };                                                   /* and the loss */
    double want[N] = { 0 }, sum[N] = { 0 }, mean[N] = { 0 }, last[N] = { 0 }, stale[N] = { 0 }, all[N] = { 0 };
    double by_micro[N] = { 0 }, whole[N] = { 0 }, by_n[N] = { 0 }, scaled_last[N] = { 0 };
    double twice[N] = { 0 }, got[ALL];
    struct batch b = { .x = judge_draw(5, MOST * IN, -2, 2), .n = n, .micro = micro };
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_model *m = gra_model_open(t, &rng);
    gra_linear_init(&b.layer, gra_root(m), IN, CLASSES, true);
    for (int i = 0; i < MOST; i++)
        b.target[i] = (i * i + i / 3) % CLASSES;

    judge_part("%s", part);
    const int pieces = (n + micro - 1) / micro;
    add(t, m, &b, 0, n, 1, want);
    add(t, m, &b, 0, n, n, all);
    for (int from = 0; from < n; from += micro) {
        const int to = from + micro < n ? from + micro : n;
        add(t, m, &b, from, to, 1, sum);
        add(t, m, &b, from, to, 1.0 / pieces, mean);
        add(t, m, &b, from, to, 1.0 / micro, by_micro);
        add(t, m, &b, from, to, (double)micro / n, whole);
        add(t, m, &b, from, to, 1.0 / n, by_n);
        add(t, m, &b, from, to, (double)(to - from) / n * (to - from) / n, twice);
        if (to == n)
            add(t, m, &b, from, to, 1, last), add(t, m, &b, from, to, (double)(to - from) / n, scaled_last);
    }
    for (int k = 0; k < 2; k++)             /* what the step before has left */
        for (size_t i = 0; i < gra_param_at(m, k)->size; i++)
            gra_param_at(m, k)->grad[i] = stale[k * WEIGHTS + (int)i] = 0.3 + (double)i;
    for (int i = 0; i < ALL; i++)
        stale[i] += want[i];
    memset(b.used, 0, sizeof b.used);
    b.calls = 0;
    b.watched = true;

    const double loss = accumulate(t, m, n, micro, mean_of_rows, &b);
    if (gra_error(t))
        judge_wrong("gradus refused: %s", gra_error(t));
    for (int i = 0; i < n; i++)
        if (b.used[i] != 1)
            judge_wrong("of %d rows with micro = %d, row %d was %s", n, micro, i,
                        b.used[i] ? "used more than once" : "never used: all n rows count");
    gradients(&b, got);
    const double zero[ALL] = { 0 };
    judge_numbers("the gradient (weight, then bias)", GRA_SHAPE(ALL), got, want, 1e-10, JUDGE_MISTAKES(
        { "the gradients of the step before are still in it: they must not count", stale },
        { "every gradient is 0: nothing went backward, or times 0 (two int are divided as int), or gra_zero_grad took it "
          "away again", zero },
        { "it is that of the last micro-batch alone: what was there before it was zeroed", last },
        { "it is that of the last micro-batch alone: what was there before it was zeroed", scaled_last },
        { "it is the sum of the micro-batches' means: the loss is the mean over all n rows", sum },
        { "it is the mean over micro-batches: their sizes differ, so rows of the small one "
          "count for more", mean },
        { "each micro-batch's mean was divided by micro: it is a mean already", by_micro },
        { "each micro-batch counts as if it had micro rows: the last one has fewer", whole },
        { "each micro-batch's mean was divided by n: a mean of k rows counts k/n", by_n },
        { "each micro-batch's share was taken twice: a mean of k rows counts k/n, once", twice },
        { "it is n times too large: the loss is the mean over all rows, not their sum", all }));
    judge_number("the loss returned", loss, want[ALL], 1e-10, JUDGE_MISTAKES(
        { "it is the loss of the last micro-batch", last + ALL },
        { "it is the loss of the last micro-batch, scaled", scaled_last + ALL },
        { "it is the sum of the micro-batches' means: return the mean over all n rows", sum + ALL },
        { "it is the mean over micro-batches: their sizes differ, so rows of the small one "
          "count for more", mean + ALL },
        { "the micro-batches' means were divided by micro: they are means already", by_micro + ALL },
        { "each micro-batch counts as if it had micro rows: the last one has fewer", whole + ALL },
        { "the micro-batches' means were divided by n: a mean of k rows counts k/n", by_n + ALL },
        { "each micro-batch's share was taken twice: a mean of k rows counts k/n, once", twice + ALL },
        { "it is the sum over rows: return their mean", all + ALL }));
    gra_model_close(m);
    gra_close(t);
}

void judge_exercise(void)
{
    accumulates("one micro-batch that holds all: micro = n", 4, 4);
    accumulates("10 rows, 5 at a time", 10, 5);
    accumulates("7 rows, 3 at a time: the last piece is smaller", 7, 3);
    accumulates("5 rows, one at a time", 5, 1);
    accumulates("2 rows where 9 would fit", 2, 9);
}
