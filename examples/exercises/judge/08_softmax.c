/* 08 softmax: the judge. */
#include "judge.h"
#include <math.h>

enum { MOST = 9 };

static void forward(const char *part, const double *x, int n, bool large)
{
    judge_part("%s", part);
    enum { RAW, LINEAR, LINEAR_TOP, OVER_N, NEGATIVE, BASE_2, LOG, SIGMOID, NO_FIRST, NO_LAST, OTHERS,
           PLUS_1, LENGTH, RUNNING, TWICE, PLUS_TOP, PLUS_SUM, AGAIN, DIVIDED, FROM_POWER, ALL };
    double *y = judge_room((size_t)n), want[MOST], raw[MOST], m[ALL][MOST], copy[MOST];
    double sum = 0, top = -INFINITY, low = INFINITY, plain = 0, total = 0, square = 0, running = 0, minus = 0;
    double two = 0, twice = 0, again = 0, divided = 0;
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]), low = fmin(low, x[i]), copy[i] = x[i];
    for (int i = 0; i < n; i++) {
        sum += raw[i] = exp(x[i] - top);
        square += raw[i] * raw[i];
        plain += exp(x[i]), total += x[i];
        minus += exp(low - x[i]), two += exp2(x[i] - top);
    }
    for (int i = 0; i < n; i++)
        twice += exp(raw[i] / sum), again += raw[i], divided += exp(x[i] / top);
    for (int i = 0; i < n; i++) {
        running += raw[i];
        want[i] = raw[i] / sum;
        m[RAW][i] = raw[i];
        m[LINEAR][i] = x[i] / total;
        m[LINEAR_TOP][i] = x[i] / top;
        m[OVER_N][i] = raw[i] / n;
        m[NEGATIVE][i] = exp(low - x[i]) / minus;
        m[BASE_2][i] = exp2(x[i] - top) / two;
        m[LOG][i] = x[i] - top - log(sum);
        m[SIGMOID][i] = 1 / (1 + exp(-x[i]));
        m[NO_FIRST][i] = raw[i] / (sum - raw[0]);
        m[NO_LAST][i] = raw[i] / (sum - raw[n - 1]);
        m[OTHERS][i] = raw[i] / (sum - raw[i]);
        m[PLUS_1][i] = raw[i] / (sum + 1);
        m[LENGTH][i] = raw[i] / sqrt(square);
        m[RUNNING][i] = raw[i] / running;
        m[TWICE][i] = exp(raw[i] / sum) / twice;
        m[PLUS_TOP][i] = exp(x[i]) / sum;
        m[PLUS_SUM][i] = raw[i] / plain;
        m[DIVIDED][i] = exp(x[i] / top) / divided;
        m[FROM_POWER][i] = (exp(x[i]) - top) / (plain - n * top);
        m[AGAIN][i] = raw[i] / again;
        again += m[AGAIN][i] - raw[i];
    }
    softmax(x, y, n);
    judge_guarded("y", y, (size_t)n);
    judge_unchanged("x", x, copy, (size_t)n);
    for (int i = 0; i < n && large; i++)
        if (!isfinite(y[i]))
            judge_wrong("y[%d] is %g, wanted %.6g, of the scores %g, %g%s\n%s: subtract the largest of all scores "
                        "first, wherever it stands and whatever its sign", i, fabs(y[i]), want[i], x[0], x[1],
                        n > 2 ? " ..." : "", top > 0 ? "e^x of a large number is infinite" :
                        "e^x of a very negative number is 0, and then the sum is 0");
    double weights = 0;
    char clue[100];
    for (int i = 0; i < n; i++)
        weights += y[i];
    snprintf(clue, sizeof clue, "the weights sum to %.6g: wanted are weights that sum to 1", weights);
    judge_numbers("y", GRA_SHAPE(n), y, want, 1e-12, JUDGE_MISTAKES(
        { "e^(x - largest) was not divided by the sum", m[RAW] },
        { "x divided by the sum of x: e^x is missing", m[LINEAR] },
        { "x was divided by the largest: that is no softmax", m[LINEAR_TOP] },
        { "divided by n, not by the sum", m[OVER_N] },
        { "e^-x stands where e^x should: the largest score has the smallest weight", m[NEGATIVE] },
        { "2^x stands where e^x should", m[BASE_2] },
        { "this is the logarithm of the softmax", m[LOG] },
        { "this is the sigmoid of each score by itself: softmax divides by a sum over all", m[SIGMOID] },
        { "e^x of the first score is not in the sum", m[NO_FIRST] },
        { "e^x of the last score is not in the sum", m[NO_LAST] },
        { "each was divided by the sum of the others: its own e^x belongs to the sum, too", m[OTHERS] },
        { "the sum is 1 too large: does it begin at 0?", m[PLUS_1] },
        { "divided by the root of the sum of squares, not by the sum: the weights are to sum to 1", m[LENGTH] },
        { "divided by the sum so far: finish the sum over all i before you divide", m[RUNNING] },
        { "the sum is taken again after some y were divided: it must be the same for all i", m[AGAIN] },
        { "the largest was subtracted from e^x: subtract it from x", m[FROM_POWER] },
        { "softmax was taken twice", m[TWICE] },
        { "scores are divided by the largest: subtract it, only that leaves y as it is", m[DIVIDED] },
        { "the largest is subtracted in the sum alone, not in the numerator", m[PLUS_TOP] },
        { "the largest is subtracted in the numerator alone, not in the sum", m[PLUS_SUM] },
        { "large scores must not be cut off or scaled: subtract the largest from all, which changes no y",
          large ? y : want },
        { clue, fabs(weights - 1) > 1e-3 ? y : want }));
}

static void backward(const char *part, const double *y, const double *dy, int n, bool used)
{
    judge_part("%s", part);
    enum { STORED, NO_DOT, SUM_DY, ONLY_DY, SIGMOID, NEGATIVE, PLUS, MEAN, RUNNING, NO_DY, ENTROPY, SQUARED, DOT_DY,
           DOT_ALONE, SUM_Y, TWICE_Y, SQUARE, OVER, DOUBLE, NO_FIRST, NO_LAST, ONE_LESS, NO_Y_DY,
           WITHOUT_J, E_TO_Y, ALL };
    double *dx = judge_room((size_t)n), want[MOST], m[ALL][MOST], copy[2][MOST];
    double dot = 0, all = 0, running = 0, squares = 0;
    for (int i = 0; i < n; i++)
        dot += dy[i] * y[i], all += dy[i], squares += y[i] * y[i], copy[0][i] = y[i], copy[1][i] = dy[i];
    for (int i = 0; i < n; i++) {
        const double before = dx[i] = used ? 0.5 * i - 1 : 0;           /* what another use has left there */
        running += dy[i] * y[i];
        m[STORED][i] = y[i] * (dy[i] - dot);
        want[i] = before + m[STORED][i];
        m[NO_DOT][i] = before + y[i] * dy[i];
        m[SUM_DY][i] = before + y[i] * (dy[i] - all);
        m[ONLY_DY][i] = before + dy[i] - dot;
        m[SIGMOID][i] = before + dy[i] * y[i] * (1 - y[i]);
        m[NEGATIVE][i] = before - m[STORED][i];
        m[PLUS][i] = before + y[i] * (dy[i] + dot);
        m[MEAN][i] = before + y[i] * (dy[i] - dot / n);
        m[RUNNING][i] = before + y[i] * (dy[i] - running);
        m[NO_DY][i] = before + y[i] * (1 - y[i]);
        m[ENTROPY][i] = before + y[i] - dy[i];
        m[SQUARED][i] = before + y[i] * (dy[i] - y[i] * dot);
        m[DOT_DY][i] = before + dy[i] * (y[i] - dot);
        m[DOT_ALONE][i] = before - y[i] * dot;
        m[SUM_Y][i] = before + y[i] * dy[i] - dot;
        m[TWICE_Y][i] = before + y[i] * (dy[i] - squares);
        m[ONE_LESS][i] = before + y[i] * (1 - y[i]) * (dy[i] - dot);
        m[NO_Y_DY][i] = before + dy[i] - y[i] * dot;
        m[WITHOUT_J][i] = before + y[i] * (dy[i] - dot + dy[i] * y[i]);
        m[E_TO_Y][i] = before + exp(y[i]) * (dy[i] - dot);
        m[SQUARE][i] = before + y[i] * y[i] * (dy[i] - dot);
        m[OVER][i] = before + (dy[i] - dot) / y[i];
        m[DOUBLE][i] = before + want[i];
        m[NO_FIRST][i] = before + y[i] * (dy[i] - dot + dy[0] * y[0]);
        m[NO_LAST][i] = before + y[i] * (dy[i] - dot + dy[n - 1] * y[n - 1]);
    }
    softmax_backward(y, dy, dx, n);
    judge_guarded("dx", dx, (size_t)n);
    judge_unchanged("y", y, copy[0], (size_t)n);
    judge_unchanged("dy", dy, copy[1], (size_t)n);
    double sum = 0;
    char clue[160];
    for (int i = 0; i < n; i++)
        sum += dx[i] - want[i];
    snprintf(clue, sizeof clue, "what is added to dx sums to %.6g: wanted is 0, since the same number added to all x "
             "changes no y", sum);
    judge_numbers("dx", GRA_SHAPE(n), dx, want, 1e-12, JUDGE_MISTAKES(
        { "dx is overwritten: accumulate with +=, for x may feed other functions", m[STORED] },
        { "each x_i is taken to move its own y_i alone, by y_i: the term of the shared sum, - y_j dot, is missing",
          m[NO_DOT] },
        { "this is the derivative of y_i by its own x_i alone, y_i (1 - y_i): the other y are moved by x_i too",
          m[SIGMOID] },
        { "y_i (1 - y_i) without dy: it is the derivative by its own x_i alone, and dy is to multiply it", m[NO_DY] },
        { "the shared sum is that of dy_i y_i, not of dy_i", m[SUM_DY] },
        { "the shared sum is that of dy_i y_i, not of y_i y_i", m[TWICE_Y] },
        { "the factor y_j before the bracket is missing", m[ONLY_DY] },
        { "the factor y_j is missing in the second term: y_j is taken out of both", m[SUM_Y] },
        { "the sign is wrong: the term with [i = j] is the positive one", m[NEGATIVE] },
        { "the shared sum is added: the bracket is [i = j] - y_j, with a minus", m[PLUS] },
        { "the shared sum was divided by n", m[MEAN] },
        { "the shared sum was used before it was complete: it needs a loop of its own", m[RUNNING] },
        { "a factor y_j too many before the shared sum", m[SQUARED] },
        { "y and dy are exchanged: it is y_j that stands before the bracket", m[DOT_DY] },
        { "the term with [i = j] is missing", m[DOT_ALONE] },
        { "a factor y_j too many", m[SQUARE] },
        { "a factor 1 - y_j too many", m[ONE_LESS] },
        { "the factor y_j is missing in the term with [i = j]", m[NO_Y_DY] },
        { "the shared sum leaves out i = j", m[WITHOUT_J] },
        { "e^y_j stands where y_j should: y is the softmax already", m[E_TO_Y] },
        { "divided by y_j, not multiplied", m[OVER] },
        { "what dx held before is added once more: dx[j] += ... keeps it already", m[DOUBLE] },
        { "the shared sum lacks its first term", m[NO_FIRST] },
        { "the shared sum lacks its last term", m[NO_LAST] },
        { "y - dy is the gradient of the cross-entropy: wanted is softmax's own", m[ENTROPY] },
        { clue, fabs(sum) > 1e-6 ? dx : want }));
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
