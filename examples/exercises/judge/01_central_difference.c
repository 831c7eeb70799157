/* 01 central_difference: the judge. */
#include "answer.h"
#include <float.h>
#include <math.h>
#include <string.h>

static double (*of)(double);            /* the function whose difference is taken */
static double cube(double x)  { return x * x * x; }
static double wave(double x)  { return sin(2 * x) + x; }
static double f_of(const double *x) { return of(x[0]); }

CALLS(difference, c->out[0][0] = central_difference(of, c->in[0][0], c->in[1][0]))

static const struct judge_answer central = {
    .call = difference, .functions = (const struct judge_function[]){ { "f", 1, f_of }, { NULL, 0, NULL } },
    .in = { "x in 0.4..1.6", "h in 0.01..0.3" }, .out = { "difference" },
    .lines = "difference = (f(x + h) - f(x - h)) / (2 * h)\n", .special = {
        { "(f(x + h) - f(x)) / h is a one-sided difference: use both sides",
          "difference = (f(x + h) - f(x)) / h" },
        { "(f(x) - f(x - h)) / h is a one-sided difference: use both sides",
          "difference = (f(x) - f(x - h)) / h" },
        { "the points are x + h/2 and x - h/2, h apart: use x + h and x - h",
          "difference = (f(x + h/2) - f(x - h/2)) / h" },
        { "the points are x + 2h and x - 2h: use x + h and x - h",
          "difference = (f(x + 2*h) - f(x - 2*h)) / (4 * h)" },
        { "f is taken at h and -h: take it at x + h and x - h", "difference = (f(h) - f(-h)) / (2 * h)" } } };

/* 0.5 + the sum of (j + 1) x_j^3 + the square of the sum of x_j */
static double field(const double *x, int n)
{
    double cubes = 0.5, sum = 0;
    for (int j = 0; j < n; j++)
        cubes += (j + 1) * x[j] * x[j] * x[j], sum += x[j];
    return cubes + sum * sum;
}

static void gradient(const struct judge_call *c)
{
    double *x = c->in[0], before[4];
    memcpy(before, x, (size_t)c->size[0] * sizeof *x);
    numeric_gradient(field, x, c->size[0], c->in[1][0], c->out[0]);
    for (int i = 0; i < c->size[0]; i++)
        if (x[i] != before[i])
            judge_wrong("x[%d] was %.17g, and is %.17g afterwards:\nkeep a copy of x[i], and put that back",
                        i, before[i], x[i]);
}

#define AT(up) "0.5 + sum(j, (j + 1) * (" up ")^3) + sum(j, " up ")^2"
static const struct judge_answer numeric = {
    .sizes = { "i n", "j n" }, .telling = { 4, 4 }, .call = gradient,
    .in = { "x[i]", "h in 0.01..0.3" }, .out = { "g[i]" }, .lines =
        "above[i] = " AT("x[j] + [i = j] * h") "             # f at x[i] + h\n"
        "below[i] = " AT("x[j] - [i = j] * h") "             # f at x[i] - h\n"
        "here[i] = " AT("x[j]") "                            # f at x\n\n"
        "g[i] = (above[i] - below[i]) / (2 * h)\n", .special = {
        { "this is the one-sided difference, (f(x + h) - f(x)) / h: use both sides",
          "g[i] = (above[i] - here[i]) / h" },
        { "x[i] is moved by h and back again: move it on to x[i] - h for the second point",
          "g[i] = (above[i] - here[i]) / (2 * h)" },
        { "f is the same at both points: move x[i] up by h for one, down by h for the other", "g[i] = 0" },
        { "all x move at once: move one x[i] at a time",
          "above[i] = " AT("x[j] + h") "\nbelow[i] = " AT("x[j] - h") },
        { "x[0] is moved every time: for g[i] move x[i]",
          "above[i] = " AT("x[j] + [j = 0] * h") "\nbelow[i] = " AT("x[j] - [j = 0] * h") } } };

static void steps(const struct judge_call *c)
{
    for (int k = 0; k < c->size[0]; k++)
        c->out[0][k] = best_step(c->in[0][k], c->in[1][k]);
}

static const struct judge_answer best = {
    .sizes = { "k many" }, .telling = { 5 }, .call = steps,
    .in = { "f[k] in -3..3  # f", "f3[k] in 0.5..9  # f'''" }, .out = { "h[k]" }, .lines =
        "e = 2.220446049250313e-16                           # DBL_EPSILON\n"
        "h[k] = cbrt(3 * e * abs(f[k]) / abs(f3[k]))\n", .special = {
        { "this is 1: in C the integer division 1 / 3 gives 0, and x to the power 0 is 1", "h[k] = 1" },
        { "the error does not depend on the signs of f and f''': take |f| and |f'''|",
          "h[k] = cbrt(3 * e * f[k] / f3[k])" },
        { "FLT_EPSILON is for float: use DBL_EPSILON", "e = 1.1920928955078125e-7" },
        { "the factor is 6, but should be 3: the derivative of h^2/6 is h/3 (did you make both errors equal? "
          "Their sum is smallest at a different step)",
          "h[k] = cbrt(6 * e * abs(f[k]) / abs(f3[k]))" } } };

static void one(const char *part, double (*f)(double), double x, double h)
{
    of = f;
    judge_case(&central, (struct judge_case){ .part = part, .in = { &x, &h }, .tolerance = 1e-9 });
}

void judge_exercise(void)
{
    const double h[] = { 0.1, 0.25, 0.003 }, f[] = { 0.3, 1, -2000, 6 }, f3[] = { 7, 1, 0.5, -0.01 };
    one("central_difference of x^3 at 1.3, h = 0.2", cube, 1.3, 0.2);
    one("central_difference of sin(2x) + x at 0.3, h = 0.125", wave, 0.3, 0.125);
    CASES(&numeric,
        CASE("numeric_gradient of a function of 3 numbers", { 3, 3 }, .in = { [1] = h }, .tolerance = 1e-9),
        CASE("numeric_gradient of a function of 1 number", { 1, 1 }, .in = { [1] = h + 1 },
             .tolerance = 1e-9),
        CASE("numeric_gradient of a function of 4 numbers, some of them large", { 4, 4 },
             .in = { [1] = h + 2 }, .low = -9, .high = 9, .tolerance = 1e-9));
    CASES(&best,
        CASE("best_step of f = 0.3, f''' = 7", { 1 }, .in = { f, f3 }, .tolerance = 1e-14),
        CASE("best_step of f = 1, f''' = 1", { 1 }, .in = { f + 1, f3 + 1 }, .tolerance = 1e-14),
        CASE("best_step of f = -2000, f''' = 0.5", { 1 }, .in = { f + 2, f3 + 2 }, .tolerance = 1e-13),
        CASE("best_step of f = 6, f''' = -0.01", { 1 }, .in = { f + 3, f3 + 3 }, .tolerance = 1e-13));
}
