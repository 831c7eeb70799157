/* 08 softmax: the judge. */
#include "judge.h"
#include <math.h>

enum { MOST = 9 };

struct scores {
    const double *x;
    int           n;
};

static double plain_softmax(const double *x, int n, int i)
{
    double sum = 0;
    for (int k = 0; k < n; k++)
        sum += exp(x[k] - x[i]);
    return 1 / sum;
}

static void weights(double *y, void *arg)
{
    const double *x = ((struct scores *)arg)->x;
    const int n = ((struct scores *)arg)->n;
    double e[MOST], top = -INFINITY, low = INFINITY, total = 0, plain = 0, squares = 0, running = 0;
    const bool undivided = slip("e^(x - largest) was not divided by the sum");
    const bool linear = slip("x is divided by the sum of x: e^x is missing");
    const bool by_top = slip("x was divided by the largest: that is not a softmax");
    const bool by_n = slip("divided by n: divide by the sum");
    const bool of_x = slip("the sum adds up x: it should add up e^x");
    const bool by_score = slip("divided by the largest score: divide by the sum");
    const bool minus =
        slip("this uses e^-x instead of e^x: the largest score should have the largest weight");
    const bool two = slip("this uses 2^x instead of e^x");
    const bool ratio = slip("scores are divided by the largest: subtract it, which does not change y");
    const int from = slip("e^x of the first score is not in the sum"),
        to = n - slip("e^x of the last score is not in the sum");
    double sum = slip("the sum is 1 too large: does it start at 0?");
    const bool only_above = slip("the largest is subtracted only in the numerator: do so in the sum too");
    const bool only_below = slip("the largest is subtracted only in the sum: do so in the numerator too");
    const bool others = slip("each was divided by the sum of the others: its own e^x belongs in the sum too");
    const bool root =
        slip("divided by the root of the sum of squares: divide by the sum, so that the weights sum to 1");
    const bool so_far = slip("divided by the sum so far: finish the sum over all i before you divide");
    const bool again =
        slip("the sum is computed again after some y were divided: it must be the same for all i");
    const bool late = slip("the largest was subtracted from e^x: subtract it from x");
    const bool logarithm = slip("this is the logarithm of the softmax");
    const bool sigmoid = slip("this is the sigmoid of each score: softmax divides by a sum over all scores");
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]), low = fmin(low, x[i]), total += x[i];
    for (int i = 0; i < n; i++) {
        e[i] = minus ? exp(low - x[i]) : two ? exp2(x[i] - top) : ratio ? exp(x[i] / top) : exp(x[i] - top);
        sum += i < from || i >= to ? 0 : only_above ? exp(x[i]) : e[i];
        squares += e[i] * e[i], plain += exp(x[i]);
    }
    for (int i = 0; i < n; i++) {
        running += e[i];
        const double divisor = undivided ? 1 : by_n ? n : by_score ? top : root ? sqrt(squares)
                             : so_far ? running : others ? sum - e[i] : of_x ? total : sum;
        y[i] = linear ? x[i] / total : by_top ? x[i] / top : late ? (exp(x[i]) - top) / (plain - n * top)
             : sigmoid ? 1 / (1 + exp(-x[i])) : logarithm ? x[i] - top - log(sum)
             : (only_below ? exp(x[i]) : e[i]) / divisor;
        sum += again ? y[i] - e[i] : 0;
    }
    const bool twice = slip("softmax was applied twice");
    memcpy(e, y, (size_t)n * sizeof *e);
    for (int i = 0; i < n && twice; i++)
        y[i] = plain_softmax(e, n, i);
}

static void forward(const char *part, const double *x, int n, bool large)
{
    double *y = judge_room((size_t)n), copy[MOST], sum = 0, top = x[0];
    judge_part("%s", part);
    for (int i = 1; i < n; i++)
        top = fmax(top, x[i]);
    memcpy(copy, x, (size_t)n * sizeof *x);
    softmax(x, y, n);
    judge_guarded("y", y, (size_t)n);
    judge_unchanged("x", x, copy, (size_t)n);
    for (int i = 0; i < n && large; i++)
        if (!isfinite(y[i]))
            judge_wrong("y[%d]: got %g, expected %.6g, for the scores %g, %g%s\n%s: subtract the largest of "
                        "all scores first, wherever it is (begin the search with x[0], not with 0)",
                        i, fabs(y[i]), plain_softmax(x, n, i), x[0], x[1], n > 2 ? " ..." : "",
                        x[0] > 0 || x[n - 1] > 0 || n > 2
                            ? "e^x of a large number is infinite"
                            : "e^x of a very negative number is 0, and then the sum is 0");
    for (int i = 0; i < n; i++)
        sum += y[i];
    if (large)
        judge_clue("large scores must not be clipped or scaled: subtract the largest from all, which does "
                   "not change y");
    if (fabs(sum - 1) > 1e-3)
        judge_clue("the weights sum to %.6g: they must sum to 1", sum);
    judge_against("y", GRA_SHAPE(n), y, 1e-12, weights, &(struct scores){ x, n });
}

struct given {
    const double *y, *dy, *before;              /* before: what another use has added to dx */
    int           n;
};

/* dx = before + y (dy - the sum of dy y). */
static void gradient(double *dx, void *arg)
{
    const struct given *g = arg;
    const bool stored = slip("dx is overwritten: accumulate with +=, as x may have other uses");
    const bool kept = slip("what dx held before is added again: dx[j] += ... already keeps it");
    const bool of_dy = slip("the shared sum adds up dy_i: it should add up dy_i y_i");
    const bool of_y = slip("the shared sum adds up y_i y_i: it should add up dy_i y_i");
    const bool and_before =
        slip("what dx held before is in the shared sum too: it adds up dy_i y_i alone, not dx_i");
    const bool running = slip("the shared sum was used before it was complete: it needs a loop of its own");
    const bool last = slip("only the last term of the shared sum is there: = should be +=");
    const bool no_own =
        slip("the shared sum leaves out i = j, or dy_i/dx_i is taken to be y_i: it is y_i (1 - y_i)");
    const int from = slip("the shared sum lacks its first term"),
        to = g->n - slip("the shared sum lacks its last term");
    const int by = slip("the shared sum was divided by n") ? g->n : 1;
    const bool in_bracket = slip("the bracket has y_i: it is [i = j] - y_j, with the y of the x it is for");
    double dot = 0, so_far = 0, squares = 0;
    for (int i = 0; i < g->n; i++)
        squares += g->dy[i] * g->y[i] * g->y[i];
    for (int i = from; i < to; i++)
        dot = (last ? 0 : dot) + (of_y ? g->y[i] : g->dy[i]) * (of_dy ? 1 : g->y[i]) / by
            + (and_before ? g->before[i] : 0);
    for (int i = 0; i < g->n; i++) {
        const double y = g->y[i], dy = g->dy[i], before = stored ? 0 : kept ? 2 * g->before[i] : g->before[i];
        so_far += dy * y;
        const double sum = (running ? so_far : dot) - (no_own ? dy * y : 0);
        const double shared =
            slip("this is y_j dy_j, as if x_j moved only y_j: the term of the shared sum, - y_j dot, is "
                 "missing") ? 0
            : slip("this uses only dy_i/dx_i = y_i (1 - y_i): x_i moves the other y's too") ? dy * y
            : slip("the shared sum is added: subtract it, as the bracket is [i = j] - y_j") ? -sum
            : slip("the shared sum has an extra factor y_j") ? y * sum
            : slip("the factor y_j is missing in the second term: both terms have it") ? sum / y
            : in_bracket ? squares / y
            : slip("for i other than j the sign is wrong: the bracket is 0 - y_j there") ? 2 * dy * y - sum
            : sum;
        const double own = slip("the term with [i = j] is missing") ? 0
            : slip("the factor y_j is missing in the term with [i = j]") ? dy / y : dy;
        const double factor = slip("the factor y_j before the bracket is missing") ? 1
            : slip("the sign is wrong: the term with [i = j] is positive") ? -y
            : slip("there is an extra factor y_j") ? y * y
            : slip("there is an extra factor 1 - y_j") ? y * (1 - y)
            : slip("this uses e^y_j instead of y_j: y is already the softmax") ? exp(y)
            : slip("divided by y_j: multiply by it") ? 1 / y : y;
        dx[i] = before
            + (slip("this is y_i (1 - y_i): multiply by dy, and x_i moves the other y's too")
               ? y * (1 - y)
               : slip("y and dy are exchanged: the factor before the bracket is y_j") ? dy * (y - sum)
               : slip("y - dy is the gradient of the cross-entropy: softmax has its own") ? y - dy
               : factor * (own - shared));
    }
}

static void backward(const char *part, const double *y, const double *dy, int n, bool used)
{
    double *dx = judge_room((size_t)n), copy[2][MOST], before[MOST], sum = 0;
    judge_part("%s", part);
    memcpy(copy[0], y, (size_t)n * sizeof *y);
    memcpy(copy[1], dy, (size_t)n * sizeof *dy);
    for (int i = 0; i < n; i++)
        before[i] = dx[i] = used ? 0.5 * i - 1 : 0;
    softmax_backward(y, dy, dx, n);
    judge_guarded("dx", dx, (size_t)n);
    judge_unchanged("y", y, copy[0], (size_t)n);
    judge_unchanged("dy", dy, copy[1], (size_t)n);
    for (int i = 0; i < n; i++)
        sum += dx[i] - before[i];
    if (fabs(sum) > 1e-6)
        judge_clue("what is added to dx sums to %.6g: it should be 0, as adding one number to all x does not "
                   "change y", sum);
    judge_against("dx", GRA_SHAPE(n), dx, 1e-12, gradient, &(struct given){ y, dy, before, n });
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
    backward("gradient for all y", y5, (double[]){ 0.3, -1.1, 2, 0.7, -0.4 }, 5, false);
    backward("gradient for one y", y5, (double[]){ 0, 0, 0, 1, 0 }, 5, false);
    backward("gradient of x used twice", (double[]){ 0.5, 0.2, 0.3 }, (double[]){ -2, 1, 0.5 }, 3, true);
    backward("gradient of one score", (double[]){ 1 }, (double[]){ 3 }, 1, true);
}
