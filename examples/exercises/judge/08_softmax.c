/* 08 softmax: the judge. */
#include "judge.h"
#include <math.h>

enum { N = 5 };

static void forward(const char *part, const double *x, int n)
{
    double *y = judge_room(N), want[N], sum = 0, top = -INFINITY, low = INFINITY, raw[N], over_top[N], over_n[N], overflow[N];
    judge_part("%s", part);
    for (int i = 0; i < n; i++)
        top = fmax(top, x[i]), low = fmin(low, x[i]);
    for (int i = 0; i < n; i++)
        sum += raw[i] = exp(x[i] - top);
    double plain = 0, by_low = 0, from_low[N];
    for (int i = 0; i < n; i++)
        plain += exp(x[i]), by_low += exp(x[i] - low);
    for (int i = 0; i < n; i++) {
        want[i] = raw[i] / sum;
        over_top[i] = x[i] / top;
        over_n[i] = raw[i] / n;
        overflow[i] = exp(x[i]) / plain;
        from_low[i] = exp(x[i] - low) / by_low;
    }
    softmax(x, y, n);
    judge_guarded("y", y, (size_t)n);
    judge_numbers("y", GRA_SHAPE(n), y, want, 1e-12, JUDGE_MISTAKES(
        { "e^(x - largest) was not divided by the sum", raw },
        { "e^x was taken of the scores as they are: with large ones it is infinite; subtract the largest first", overflow },
        { "the smallest score was subtracted: e^(x - smallest) overflows where scores lie far apart", from_low },
        { "x was divided by the largest: that is no softmax", over_top },
        { "divided by n, not by the sum", over_n }));
}

static void backward(const char *part, const double *dy)
{
    const double y[N] = { 0.1, 0.25, 0.05, 0.4, 0.2 };
    double *dx = judge_room(N), want[N], stored[N], no_dot[N], sum_dy[N], only_dy[N], sigmoid[N], dot = 0, all = 0;
    judge_part("%s", part);
    for (int i = 0; i < N; i++)
        dot += dy[i] * y[i], all += dy[i];
    for (int i = 0; i < N; i++) {
        dx[i] = 0.5 * i - 1;                                            /* what another use has left there */
        stored[i] = y[i] * (dy[i] - dot);
        want[i] = dx[i] + stored[i];
        no_dot[i] = dx[i] + y[i] * dy[i];
        sum_dy[i] = dx[i] + y[i] * (dy[i] - all);
        only_dy[i] = dx[i] + dy[i] - dot;
        sigmoid[i] = dx[i] + dy[i] * y[i] * (1 - y[i]);
    }
    softmax_backward(y, dy, dx, N);
    judge_guarded("dx", dx, N);
    judge_numbers("dx", GRA_SHAPE(N), dx, want, 1e-12, JUDGE_MISTAKES(
        { "dx is overwritten: accumulate with +=, for x may feed other functions", stored },
        { "each x_i is taken to move its own y_i alone, by y_i: the term of the shared sum, - y_j dot, is missing", no_dot },
        { "this is the derivative of y_i by its own x_i alone, y_i (1 - y_i): the other y are moved by x_i too", sigmoid },
        { "the shared sum is that of dy_i y_i, not of dy_i", sum_dy },
        { "the factor y_j before the bracket is missing", only_dy }));
}

void judge_exercise(void)
{
    forward("three scores", (double[]){ 1, 2, 3 }, 3);
    forward("negative scores and equal ones", (double[]){ -1.5, 0.25, -1.5, -4, 0.25 }, N);
    forward("one score", (double[]){ 7 }, 1);
    forward("scores of 1e4", (double[]){ 1e4, 1e4 - 1, 0 }, 3);
    forward("scores of -1e4", (double[]){ -1e4, -1e4 - 1 }, 2);
    backward("gradient for one y", (double[]){ 0, 0, 0, 1, 0 });
    backward("gradient for all y", (double[]){ 0.3, -1.1, 2, 0.7, -0.4 });
}
