/* 01 central_difference: the judge. */
#include "judge.h"
#include <float.h>
#include <math.h>

enum { N = 4 };

static double cube(double x)  { return x * x * x; }
static double wave(double x)  { return sin(2 * x) + x; }
static double curve(double x) { return exp(x) - 3 * x * x; }

/* slope: the true one, which the formula is only near. */
static void one(const char *part, double (*f)(double), double x, double h, double slope)
{
    const double up = f(x + h), here = f(x), down = f(x - h);
    judge_part("central_difference of %s", part);
    const double got = central_difference(f, x, h), want = (up - down) / (2 * h);
    /* Any difference divided by any of these, if no more is known of it. */
    const struct { const char *text; double value; } difference[] = {
        { "f(x + h) - f(x - h)", up - down }, { "f(x + h) - f(x)", up - here }, { "f(x) - f(x - h)", here - down },
        { "f(x - h) - f(x + h)", down - up }, { "f(x) - f(x + h)", here - up },
        { "f(x + h/2) - f(x - h/2)", f(x + h / 2) - f(x - h / 2) } }, by[] = { { "2", 2 }, { "(2 h)", 2 * h }, { "h", h },
        { "h^2", h * h }, { "(2 h^2)", 2 * h * h }, { "(4 h)", 4 * h }, { "1", 1 }, { "(x + h)", x + h }, { "(2 x)", 2 * x } };
    char other[100] = "";
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 9; j++)
            if (!other[0] && fabs(got - difference[i].value / by[j].value) <= 1e-9 * fabs(got))
                snprintf(other, sizeof other, "yours is (%s) / %s", difference[i].text, by[j].text);
    judge_number("central_difference", got, want, 1e-9, JUDGE_MISTAKES(
        { "(f(x + h) - f(x)) / h, the difference to one side: look to both", &(double){ (up - here) / h } },
        { "(f(x) - f(x - h)) / h, the difference to one side: look to both", &(double){ (here - down) / h } },
        { "divided by h, but the two points are 2h apart", &(double){ (up - down) / h } },
        { "not divided by 2h", &(double){ up - down } },
        { "in C a / 2 * h is (a / 2) * h: put 2 * h in brackets", &(double){ (up - down) / 2 * h } },
        { "only f(x - h) is divided by 2h: put the difference in brackets",
          &(double){ up - down / (2 * h) } },
        { "f(x - h) - f(x + h): the sign", &(double){ (down - up) / (2 * h) } },
        { "the sum of both values in place of their difference", &(double){ (up + down) / (2 * h) } },
        { "the points are x + h/2 and x - h/2, not x + h and x - h",
          &(double){ (f(x + h / 2) - f(x - h / 2)) / h } },
        { "the points are h/2 to both sides, but their values are divided by 2h",
          &(double){ (f(x + h / 2) - f(x - h / 2)) / (2 * h) } },
        { "one side only, and divided by 2h", &(double){ (up - here) / (2 * h) } },
        { "the second difference, (f(x + h) - 2 f(x) + f(x - h)) / h^2: that is near f''",
          &(double){ (up - 2 * here + down) / (h * h) } },
        { "the points are x and x - 2h, not x + h and x - h", &(double){ (here - f(x - 2 * h)) / (2 * h) } },
        { "the points are x and x + 2h, not x + h and x - h", &(double){ (f(x + 2 * h) - here) / (2 * h) } },
        { "multiplied by 2h, not divided by it", &(double){ (up - down) * (2 * h) } },
        { "the points are x + 2h and x - 2h, not x + h and x - h",
          &(double){ (f(x + 2 * h) - f(x - 2 * h)) / (4 * h) } },
        { "the points are x + 2h and x - 2h, not x + h and x - h",
          &(double){ (f(x + 2 * h) - f(x - 2 * h)) / (2 * h) } },
        { "this is the true slope: wanted is what the formula gives with this h, error and all", &slope },
        { other[0] ? other : NULL, &got }));
}

/* Compared as a multiple of the right step: steps are small numbers. */
static void step(double f, double f3)
{
    static const char signs[] = "the signs of f and f''' count in the error: take |f| and |f'''|";
    const double e = DBL_EPSILON, a = fabs(f), b = fabs(f3), right = cbrt(3 * e * a / b);
    judge_part("best_step of f = %g, f''' = %g", f, f3);
    const double h = best_step(f, f3), by_f = best_step(8 * f, f3) / h, by_f3 = best_step(f, 8 * f3) / h;
    char growth[200], constant[200];
    snprintf(constant, sizeof constant, "with f and f''' it grows as it should, but h^3 is %.4g times what is wanted: "
             "look at the constant factors, and at what stands under the root", pow(h / right, 3));
    snprintf(growth, sizeof growth, "with 8 f it becomes %.4g times as large, with 8 f''' %.4g times; wanted "
             "are 2 and 0.5, for h^3 is proportional to |f| / |f'''|", by_f, by_f3);
    const struct judge_mistake known[] = {
        { signs, &(double){ cbrt(3 * e * f / f3) / right } },
        { signs, &(double){ pow(3 * e * f / f3, 1. / 3) / right } },
        { "the 3 is missing: the derivative of h^2/6 is h/3", &(double){ cbrt(e * a / b) / right } },
        { "a factor of 6, not 3: the derivative of h^2/6 is h/3 (are both errors made equal? Their sum is "
          "smallest at another step)", &(double){ cbrt(6 * e * a / b) / right } },
        { "a factor of 2, not 3: the derivative of h^2/6 is h/3", &(double){ cbrt(2 * e * a / b) / right } },
        { "a factor of 3/2, not 3: the derivative of h^2/6 is h/3",
          &(double){ cbrt(1.5 * e * a / b) / right } },
        { "a factor of 1/3, not 3", &(double){ cbrt(e * a / b / 3) / right } },
        { "h^3, without the cube root", &(double){ 3 * e * a / b / right } },
        { "the square root, but it is h^3 that is known", &(double){ sqrt(3 * e * a / b) / right } },
        { "the square root of e |f| / |f'''|, but it is h^3 that is known",
          &(double){ sqrt(e * a / b) / right } },
        { "it is 1: in C the integers 1 / 3 give 0, and x to the power of 0 is 1", &(double){ 1 / right } },
        { "f and f''' are exchanged: the larger f''', the smaller the step",
          &(double){ cbrt(3 * e * b / a) / right } },
        { "f is left out", &(double){ cbrt(3 * e / b) / right } },
        { "f''' is left out", &(double){ cbrt(3 * e * a) / right } },
        { "e, the DBL_EPSILON, is left out", &(double){ cbrt(3 * a / b) / right } },
        { "FLT_EPSILON is that of float: these are doubles",
          &(double){ cbrt(3 * (double)FLT_EPSILON * a / b) / right } },
        { "negative: the step is to be positive", &(double){ -1 } },
        { "it is 0: do integers come in?", &(double){ 0 } },
        { fabs(by_f - 2) < 1e-6 && fabs(by_f3 - 0.5) < 1e-6 ? constant : growth, &(double){ h / right } } };
    const double got = h / right;                       /* it may be very small: compared relative to each other */
    for (size_t i = 0; !(fabs(got - 1) <= 1e-8) && i < sizeof known / sizeof *known; i++)
        if (fabs(got - *known[i].numbers) <= 1e-8 * fabs(*known[i].numbers) ||
            (got != got && *known[i].numbers != *known[i].numbers))
            judge_wrong("best_step(f, f3) / (the best one) is %.6g, wanted 1\nit fits: %s", got, known[i].says);
    judge_number("best_step(f, f3) / (the best one)", got, 1, 1e-8, NULL);
}

static double field(const double *x, int n)
{
    double sum = 0.5, product = 1;
    for (int i = 0; i < n; i++) {
        sum += (i + 1) * x[i] * x[i] * x[i];
        product *= x[i] + 0.75;
    }
    return sum + product;
}

static double moved(const double *x, int n, int i, double by)           /* f with x[i] moved */
{
    double copy[N];
    memcpy(copy, x, sizeof copy);
    copy[i] += by;
    return field(copy, n);
}

static void many(uint64_t seed, int n, double h)
{
    double *x = judge_draw(seed, N, -1, 1), *g = judge_room(N), left[2][N];
    double want[N], forward[N], by_h[N], together[N], not_back[N], half_back[N];
    double relative[N], nothing[N] = { 0 }, first[N], copy[N], fewer[N], alone[N], by_2[N], minus[N], undivided[N];
    judge_part("numeric_gradient of a function of %d number%s", n, n > 1 ? "s" : "");
    memcpy(copy, x, sizeof copy);
    memcpy(left[0], x, sizeof copy);
    memcpy(left[1], x, sizeof copy);
    for (int i = 0; i < n; i++) {
        double all[2][N];
        for (int j = 0; j < N; j++)
            all[0][j] = x[j] + h, all[1][j] = x[j] - h;
        want[i] = (moved(x, n, i, h) - moved(x, n, i, -h)) / (2 * h);
        forward[i] = (moved(x, n, i, h) - field(x, n)) / h;
        by_h[i] = 2 * want[i];
        first[i] = (moved(x, n, 0, h) - moved(x, n, 0, -h)) / (2 * h);
        together[i] = (field(all[0], n) - field(all[1], n)) / (2 * h);
        not_back[i] = (moved(left[0], n, i, h) - moved(left[0], n, i, -h)) / (2 * h);
        half_back[i] = (moved(left[1], n, i, h) - field(left[1], n)) / (2 * h);
        relative[i] = (moved(x, n, i, h * x[i]) - moved(x, n, i, -h * x[i])) / (2 * h * x[i]);
        fewer[i] = (moved(x, i + 1, i, h) - moved(x, i + 1, i, -h)) / (2 * h);
        const double up = x[i] + h, down = x[i] - h;
        alone[i] = (field(&up, 1) - field(&down, 1)) / (2 * h);
        by_2[i] = want[i] * h;
        undivided[i] = want[i] * 2 * h;
        minus[i] = -want[i];
        left[0][i] -= h;                        /* x[i] is left at x - h */
    }
    numeric_gradient(field, x, n, h, g);
    judge_guarded("g", g, (size_t)N);
    judge_numbers("g", GRA_SHAPE(n), g, want, 1e-9, JUDGE_MISTAKES(
        { "the difference to one side, (f(x + h) - f(x)) / h: look to both", forward },
        { "divided by h, but the two points are 2h apart", by_h },
        { "all x move at once: one x[i] at a time, and the others stay", together },
        { "x[i] is not put back before the next one is moved", not_back },
        { "f is asked twice at the same point: once at x[i] + h, once at x[i] - h", nothing },
        { "x[0] moves every time: for g[i] it is x[i] that moves", first },
        { "the step is h times x[i]: wanted is h itself", relative },
        { "f is asked for its first i + 1 numbers: it is a function of all n", fewer },
        { "f is asked for x[i] alone: it is a function of all n numbers", alone },
        { "divided by 2, not by 2h", by_2 },
        { "not divided by 2h", undivided },
        { "the sign: f above minus f below", minus },
        { "x[i] is moved by h and back again, so that the second point is x, not x - h", half_back }));
    for (int i = n; i < N; i++)
        if (g[i] != JUDGE_UNWRITTEN)
            judge_wrong("g has %d numbers here, but g[%d] was written too: past its end", n, i);
    for (int i = 0; i < N; i++)
        if (x[i] != copy[i])
            judge_wrong("x[%d] was %.17g, and is %.17g afterwards:\nkeep a copy of x[i], and put "
                        "that back", i, copy[i], x[i]);
}

void judge_exercise(void)
{
    one("x^3 at 1.5, h = 0.5", cube, 1.5, 0.5, 6.75);
    one("sin(2x) + x at 0.3, h = 0.125", wave, 0.3, 0.125, 2 * cos(0.6) + 1);
    one("e^x - 3x^2 at -1, h = 1e-3", curve, -1, 1e-3, exp(-1) + 6);
    step(1, 1);
    step(0.3, 7);
    step(-2000, 0.5);
    step(6, -0.01);
    many(11, 1, 0.25);
    many(12, 3, 0.1);
    many(13, 4, 0.003);
}
