/* 08 softmax: the judge. */
#include "judge.h"
#include <math.h>

enum { MOST = 9 };

/* Sums of many kinds over n scores, by which mistakes divide. */
struct sums {
    double top, low, sum, plain, total, square, minus, two, twice, divided;
};

static struct sums sums_of(const double *x, int n)
{
    struct sums s = { .top = -INFINITY, .low = INFINITY };
    for (int i = 0; i < n; i++)
        s.top = fmax(s.top, x[i]), s.low = fmin(s.low, x[i]);
    for (int i = 0; i < n; i++) {
        const double e = exp(x[i] - s.top);
        s.sum += e, s.square += e * e, s.plain += exp(x[i]), s.total += x[i];
        s.minus += exp(s.low - x[i]), s.two += exp2(x[i] - s.top), s.divided += exp(x[i] / s.top);
    }
    for (int i = 0; i < n; i++)
        s.twice += exp(exp(x[i] - s.top) / s.sum);
    return s;
}

static void wrong_weights(struct judge_table *m, const double *x, int n, double *want)
{
    const struct sums s = sums_of(x, n);
    const double first = exp(x[0] - s.top), last = exp(x[n - 1] - s.top);
    double running = 0, again = s.sum;
    for (int i = 0; i < n; i++) {
        const double e = exp(x[i] - s.top);
        running += e;
        want[i] = e / s.sum;
        JUDGE_SET(m, i,
            { "e^(x - largest) was not divided by the sum", e },
            { "x divided by the sum of x: e^x is missing", x[i] / s.total },
            { "x was divided by the largest: that is no softmax", x[i] / s.top },
            { "divided by n, not by the sum", e / n },
            { "e^-x stands where e^x should: the largest score has the smallest weight",
              exp(s.low - x[i]) / s.minus },
            { "2^x stands where e^x should", exp2(x[i] - s.top) / s.two },
            { "this is the logarithm of the softmax", x[i] - s.top - log(s.sum) },
            { "this is the sigmoid of each score by itself: softmax divides by a sum over all",
              1 / (1 + exp(-x[i])) },
            { "e^x of the first score is not in the sum", e / (s.sum - first) },
            { "e^x of the last score is not in the sum", e / (s.sum - last) },
            { "each was divided by the sum of the others: its own e^x belongs to the sum, too",
              e / (s.sum - e) },
            { "the sum is 1 too large: does it begin at 0?", e / (s.sum + 1) },
            { "divided by the root of the sum of squares, not by the sum: the weights are to sum to 1",
              e / sqrt(s.square) },
            { "divided by the sum so far: finish the sum over all i before you divide", e / running },
            { "the sum is taken again after some y were divided: it must be the same for all i", e / again },
            { "the largest was subtracted from e^x: subtract it from x",
              (exp(x[i]) - s.top) / (s.plain - n * s.top) },
            { "softmax was taken twice", exp(e / s.sum) / s.twice },
            { "scores are divided by the largest: subtract it, only that leaves y as it is",
              exp(x[i] / s.top) / s.divided },
            { "the largest is subtracted in the sum alone, not in the numerator", exp(x[i]) / s.sum },
            { "the largest is subtracted in the numerator alone, not in the sum", e / s.plain });
        again += e / again - e;
    }
}

static void forward(const char *part, const double *x, int n, bool large)
{
    double *y = judge_room((size_t)n), want[MOST], copy[MOST];
    struct judge_table m = judge_table((size_t)n);
    judge_part("%s", part);
    memcpy(copy, x, (size_t)n * sizeof *x);
    wrong_weights(&m, x, n, want);
    softmax(x, y, n);
    judge_guarded("y", y, (size_t)n);
    judge_unchanged("x", x, copy, (size_t)n);
    for (int i = 0; i < n && large; i++)
        if (!isfinite(y[i]))
            judge_wrong("y[%d] is %g, wanted %.6g, of the scores %g, %g%s\n%s: subtract the largest of all scores "
                        "first, wherever it stands and whatever its sign", i, fabs(y[i]), want[i], x[0], x[1],
                        n > 2 ? " ..." : "", sums_of(x, n).top > 0 ? "e^x of a large number is infinite" :
                        "e^x of a very negative number is 0, and then the sum is 0");
    double weights = 0;
    char clue[100];
    for (int i = 0; i < n; i++)
        weights += y[i];
    snprintf(clue, sizeof clue, "the weights sum to %.6g: wanted are weights that sum to 1", weights);
    if (large)
        judge_also(&m, "large scores must not be cut off or scaled: subtract the largest from all, which changes no y", y);
    if (fabs(weights - 1) > 1e-3)
        judge_also(&m, clue, y);
    judge_numbers("y", GRA_SHAPE(n), y, want, 1e-12, m.mistakes);
}

/* dx = y (dy - dot), with the shared sum dot of dy y: factors and signs before that sum, and what is summed. */
static void wrong_factors(struct judge_table *m, const double *y, const double *dy, int i, double dot, double before)
{
    const double added = y[i] * (dy[i] - dot);
    JUDGE_SET(m, i,
        { "dx is overwritten: accumulate with +=, for x may feed other functions", y[i] * (dy[i] - dot) },
        { "each x_i is taken to move its own y_i alone, by y_i: the term of the shared sum, - y_j dot, is missing",
          before + y[i] * dy[i] },
        { "this is the derivative of y_i by its own x_i alone, y_i (1 - y_i): the other y are moved by x_i too",
          before + dy[i] * y[i] * (1 - y[i]) },
        { "y_i (1 - y_i) without dy: it is the derivative by its own x_i alone, and dy is to multiply it",
          before + y[i] * (1 - y[i]) },
        { "the factor y_j before the bracket is missing", before + dy[i] - dot },
        { "the factor y_j is missing in the second term: y_j is taken out of both",
          before + y[i] * dy[i] - dot },
        { "the sign is wrong: the term with [i = j] is the positive one", before - added },
        { "the shared sum is added: the bracket is [i = j] - y_j, with a minus",
          before + y[i] * (dy[i] + dot) },
        { "a factor y_j too many before the shared sum", before + y[i] * (dy[i] - y[i] * dot) },
        { "y and dy are exchanged: it is y_j that stands before the bracket", before + dy[i] * (y[i] - dot) },
        { "the term with [i = j] is missing", before - y[i] * dot },
        { "a factor y_j too many", before + y[i] * y[i] * (dy[i] - dot) },
        { "a factor 1 - y_j too many", before + y[i] * (1 - y[i]) * (dy[i] - dot) },
        { "the factor y_j is missing in the term with [i = j]", before + dy[i] - y[i] * dot },
        { "e^y_j stands where y_j should: y is the softmax already", before + exp(y[i]) * (dy[i] - dot) },
        { "divided by y_j, not multiplied", before + (dy[i] - dot) / y[i] },
        { "what dx held before is added once more: dx[j] += ... keeps it already", before + before + added },
        { "y - dy is the gradient of the cross-entropy: wanted is softmax's own", before + y[i] - dy[i] });
}

static void wrong_sums(struct judge_table *m, const double *y, const double *dy, int n, int i, double dot, double before)
{
    double all = 0, squares = 0, running = 0;
    for (int k = 0; k < n; k++)
        all += dy[k], squares += y[k] * y[k], running += k <= i ? dy[k] * y[k] : 0;
    JUDGE_SET(m, i,
        { "the shared sum is that of dy_i y_i, not of dy_i", before + y[i] * (dy[i] - all) },
        { "the shared sum is that of dy_i y_i, not of y_i y_i", before + y[i] * (dy[i] - squares) },
        { "the shared sum was divided by n", before + y[i] * (dy[i] - dot / n) },
        { "the shared sum was used before it was complete: it needs a loop of its own",
          before + y[i] * (dy[i] - running) },
        { "the shared sum leaves out i = j", before + y[i] * (dy[i] - dot + dy[i] * y[i]) },
        { "the shared sum lacks its first term", before + y[i] * (dy[i] - dot + dy[0] * y[0]) },
        { "the shared sum lacks its last term", before + y[i] * (dy[i] - dot + dy[n - 1] * y[n - 1]) });
}

static void backward(const char *part, const double *y, const double *dy, int n, bool used)
{
    double *dx = judge_room((size_t)n), want[MOST], copy[2][MOST], dot = 0, sum = 0;
    struct judge_table m = judge_table((size_t)n);
    char clue[160];
    judge_part("%s", part);
    memcpy(copy[0], y, (size_t)n * sizeof *y);
    memcpy(copy[1], dy, (size_t)n * sizeof *dy);
    for (int i = 0; i < n; i++)
        dot += dy[i] * y[i];
    for (int i = 0; i < n; i++) {
        const double before = dx[i] = used ? 0.5 * i - 1 : 0;           /* what another use has left there */
        want[i] = before + y[i] * (dy[i] - dot);
        wrong_factors(&m, y, dy, i, dot, before);
        wrong_sums(&m, y, dy, n, i, dot, before);
    }
    softmax_backward(y, dy, dx, n);
    judge_guarded("dx", dx, (size_t)n);
    judge_unchanged("y", y, copy[0], (size_t)n);
    judge_unchanged("dy", dy, copy[1], (size_t)n);
    for (int i = 0; i < n; i++)
        sum += dx[i] - want[i];
    snprintf(clue, sizeof clue, "what is added to dx sums to %.6g: wanted is 0, since the same number added to all x "
             "changes no y", sum);
    if (fabs(sum) > 1e-6)
        judge_also(&m, clue, dx);
    judge_numbers("dx", GRA_SHAPE(n), dx, want, 1e-12, m.mistakes);
}

void judge_exercise(void)
{
    const double y5[5] = { 0.1, 0.25, 0.05, 0.4, 0.2 };
    forward("three scores", (double[]){ 1, 2, 3.5 }, 3, false);
    forward("negative scores and equal ones", (double[]){ -1.5, 0.25, -1.5, -4, 0.25 }, 5, false);
    forward("nine scores", judge_draw(81, 9, -3, 3), 9, false);
    forward("one score", (double[]){ 7 }, 1, false);
    forward("scores of 1e4", (double[]){ 1e4, 1e4 - 1, 0 }, 3, true);
    forward("scores of 1e4, the largest in the middle", (double[]){ 0, 1e4, 1e4 - 1, -1e4 }, 4, true);
    forward("scores of 1e4, the largest at the end", (double[]){ -1e4, 0, 3, 1e4 }, 4, true);
    forward("scores of -1e4", (double[]){ -1e4 - 1, -1e4 }, 2, true);
    backward("gradient for one y", y5, (double[]){ 0, 0, 0, 1, 0 }, 5, false);
    backward("gradient for all y", y5, (double[]){ 0.3, -1.1, 2, 0.7, -0.4 }, 5, false);
    backward("gradient of x used twice", (double[]){ 0.5, 0.2, 0.3 }, (double[]){ -2, 1, 0.5 }, 3, true);
    backward("gradient of one score", (double[]){ 1 }, (double[]){ 3 }, 1, true);
}
