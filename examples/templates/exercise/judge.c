/* NUMBER NAME: the judge.                 NAME: the references are still the template's: write them */
#include "judge.h"

struct given {
    const double *x, *dy, *before;      /* before: what another use of x has added to dx */
    int           n;
};

/* y = x^2, with the known mistakes at their places: judge_against (judge.h) tries them one by one, and the
 * finding names the one that gives the answer's numbers. */
static void values(double *y, void *arg)
{
    const struct given *g = arg;
    const int power = slip("this is x: square it") ? 1 : slip("this is x^3: it should be x^2") ? 3 : 2;
    for (int i = 0; i < g->n; i++)
        y[i] = pow(g->x[i], power);
}

/* dx = before + dy 2 x */
static void gradient(double *dx, void *arg)
{
    const struct given *g = arg;
    const bool stored = slip("dx is overwritten: accumulate with +=, as x may have other uses");
    const double two = slip("the factor 2 is missing: x is a factor of y twice") ? 1 : 2;
    const bool no_dy = slip("this is the slope: multiply it by dy");
    const bool no_x = slip("the factor x is missing");
    for (int i = 0; i < g->n; i++)
        dx[i] = (stored ? 0 : g->before[i]) + two * (no_dy ? 1 : g->dy[i]) * (no_x ? 1 : g->x[i]);
}

static void forward(const char *part, const double *x, int n)
{
    double *y = judge_room((size_t)n);
    judge_part("%s", part);
    NAME(x, y, n);
    judge_guarded("y", y, (size_t)n);
    judge_against("y", GRA_SHAPE(n), y, 1e-12, values, &(struct given){ .x = x, .n = n });
}

static void backward(const char *part, const double *before, int n)
{
    const double *x = judge_draw(2, (size_t)n, -3, 3), *dy = judge_draw(3, (size_t)n, -1, 1);
    double *dx = judge_room((size_t)n);
    judge_part("%s", part);
    memcpy(dx, before, (size_t)n * sizeof *dx);
    NAME_backward(x, dy, dx, n);
    judge_guarded("dx", dx, (size_t)n);
    judge_against("dx", GRA_SHAPE(n), dx, 1e-12, gradient, &(struct given){ x, dy, before, n });
}

void judge_exercise(void)
{
    forward("three numbers", (double[]){ 2, -3, 0.5 }, 3);
    forward("one number", (double[]){ 3 }, 1);
    forward("nine numbers", judge_draw(1, 9, -3, 3), 9);
    backward("gradient", (double[5]){ 0 }, 5);
    backward("gradient of x used twice", (double[4]){ 1, -2, 3, 0.5 }, 4);
}
