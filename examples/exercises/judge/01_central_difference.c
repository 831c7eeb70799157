/* 01 central_difference: the judge. */
#include "judge.h"
#include <float.h>
#include <math.h>

enum { N = 4 };

static double cube(double x)  { return x * x * x; }
static double wave(double x)  { return sin(2 * x) + x; }
static double curve(double x) { return exp(x) - 3 * x * x; }

struct point {
    double (*f)(double);
    double x, h, slope;                 /* slope: the true one, which the formula approximates */
};

static void central(double *out, void *arg)
{
    const struct point *p = arg;
    const double x = p->x, h = p->h, here = p->f(x);
    const bool right = slip("(f(x + h) - f(x)) / h is a one-sided difference: use both sides");
    const bool left = slip("(f(x) - f(x - h)) / h is a one-sided difference: use both sides");
    const bool near = slip("the points are x + h/2 and x - h/2, but the divisor is 2h: use x + h and x - h");
    const bool far = slip("the points are x + 2h and x - 2h, but the divisor is 2h: use x + h and x - h");
    const double to = near || slip("the points are x + h/2 and x - h/2: use x + h and x - h") ? h / 2
                    : far || slip("the points are x + 2h and x - 2h: use x + h and x - h") ? 2 * h : h;
    const double up = left || slip("f(x) is used instead of f(x + h)") ? here
                    : slip("f(x + 2h) is used instead of f(x + h)") ? p->f(x + 2 * h) : p->f(x + to);
    const double down = right || slip("f(x) is used instead of f(x - h)") ? here
                      : slip("f(x - 2h) is used instead of f(x - h)") ? p->f(x - 2 * h) : p->f(x - to);
    const double by = right || left || slip("divided by h, but the two points are 2h apart") ? h
                    : slip("not divided by 2h") ? 1 : slip("divided by 2: divide by 2h") ? 2
                    : slip("divided by h^2: divide by 2h") ? h * h : slip("divided by 2h^2: divide by 2h")
                    ? 2 * h * h
                    : slip("multiplied by 2h: divide by it") ? 1 / (2 * h)
                    : slip("divided by 4h, but the two points are 2h apart") ? 4 * h
                    : slip("divided by x + h: divide by 2h") ? x + h
                    : slip("divided by 2x: divide by 2h") ? 2 * x
                    : slip("divided by 2 + h: divide by 2h") ? 2 + h : near || far ? 2 * h : 2 * to;
    *out = slip("in C a / 2 * h is (a / 2) * h: put 2 * h in brackets") ? (up - down) / 2 * h
         : slip("only f(x - h) is divided by 2h: put the difference in brackets") ? up - down / by
         : slip("only f(x - h) is divided by 2, and then multiplied by h: put the difference, and 2 * h, in "
                "brackets") ? up - down / 2 * h
         : slip("f is left out: the two values are f(x + h) and f(x - h)") ? 2 * h / by
         : slip("the sign is lost: a slope may be negative") ? fabs((up - down) / by)
         : slip("f(x - h) - f(x + h): the sign is wrong") ? (down - up) / by
         : slip("the two values are added: take their difference") ? (up + down) / by
         : slip("f is taken at h and -h: take it at x + h and x - h") ? (p->f(h) - p->f(-h)) / by
         : slip("the fraction is lost: was a number stored in an int?") ? trunc((up - down) / by)
         : slip("the second difference, (f(x + h) - 2 f(x) + f(x - h)) / h^2, is near f''")
         ? (up - 2 * here + down) / (h * h)
         : slip("this is the true slope: expected what the formula gives with the h that is given, error "
                "included")
         ? p->slope : (up - down) / by;
}

static void one(const char *part, double (*f)(double), double x, double h, double slope)
{
    struct point p = { f, x, h, slope };
    judge_part("central_difference of %s", part);
    const double got = central_difference(f, x, h);
    judge_against("central_difference", GRA_SHAPE(1), &got, 1e-9, central, &p);
}

/* The best step, with the mistakes. */
static double mistaken_step(double f, double f3)
{
    const double a = fabs(f), b = fabs(f3);
    const double e = slip("e, the DBL_EPSILON, is left out") ? 1
                   : slip("FLT_EPSILON is for float: these are doubles") ? (double)FLT_EPSILON
                   : slip("DBL_MIN is the smallest double: e is DBL_EPSILON") ? DBL_MIN
                   : slip("divided by e: multiply by it") ? 1 / DBL_EPSILON : DBL_EPSILON;
    const double three = slip("the 3 is missing: the derivative of h^2/6 is h/3") ? 1
        : slip("the factor is 6: it should be 3, as the derivative of h^2/6 is h/3 (did you make both errors "
               "equal? Their sum is smallest at another step)") ? 6
        : slip("the factor is 2: it should be 3, as the derivative of h^2/6 is h/3") ? 2
        : slip("the factor is 3/2: it should be 3, as the derivative of h^2/6 is h/3") ? 1.5
        : slip("the factor is 12: it should be 3, as the derivative of h^2/6 is h/3") ? 12
        : slip("the 3 is not under the root: it is h^3 that has this factor") ? 27
        : slip("the factor is 1/3: it should be 3") ? 1. / 3 : 3;
    const double ratio = slip("f and f''' are exchanged: the larger f''', the smaller the step") ? b / a
                       : slip("multiplied by f''': divide by it") ? a * b
                       : slip("divided by f: multiply by it") ? 1 / a / b
                       : slip("f is left out") ? 1 / b : slip("f''' is left out") ? a
                       : slip("f and f''' are left out: |f| / |f'''| belongs under the root") ? 1 : a / b;
    const bool signs = slip("the error does not depend on the signs of f and f''': take |f| and |f'''|");
    const double cube = three * e * (signs && f * f3 < 0 ? -ratio : ratio);
    return slip("this is h^3: take its cube root") ? cube
        : slip("this is the square root, but the formula gives h^3") ? sqrt(cube)
        : slip("only the 3 e is under the root: |f| / |f'''| belongs there too") ? cbrt(three * e) * ratio
        : slip("it is 1: in C the integer division 1 / 3 gives 0, and x to the power 0 is 1") ? 1
        : slip("pow has no root of a negative number, and the error does not depend on signs: take |f| and "
               "|f'''|") && f * f3 < 0 ? (double)NAN
        : slip("negative: the step must be positive") ? -cbrt(cube) : cbrt(cube);
}

/* Steps are small: compare their logarithms, and how they change with f and f'''. */
static void step_numbers(double h, double by_f, double by_f3, double *out)
{
    out[0] = (h > 0) - (h < 0), out[1] = log(fabs(h));
    out[2] = log(fabs(by_f / h)), out[3] = log(fabs(by_f3 / h));
}

static void best(double *out, void *arg)
{
    const double *f = arg;
    const double h = mistaken_step(f[0], f[1]), by_f = mistaken_step(8 * f[0], f[1]);
    step_numbers(h, by_f, mistaken_step(f[0], 8 * f[1]), out);
}

static void step(double f, double f3)
{
    double given[2] = { f, f3 }, got[4];
    const double right = cbrt(3 * DBL_EPSILON * fabs(f) / fabs(f3));
    judge_part("best_step of f = %g, f''' = %g", f, f3);
    const double h = best_step(f, f3), by_f = best_step(8 * f, f3) / h, by_f3 = best_step(f, 8 * f3) / h,
        power = log(by_f) / log(8);
    if (h == 0)
        judge_wrong("best_step(%g, %g) is 0: is there an integer division?", f, f3);
    step_numbers(h, by_f * h, by_f3 * h, got);
    const char *fits = judge_slip(GRA_SHAPE(4), got, 1e-8, best, given);
    if (fits && !(fabs(h / right - 1) <= 1e-8))
        judge_wrong("best_step(%g, %g): got %.*g, expected %.*g\nlikely: %s", f, f3, judge_digits(h, right),
                    h != h ? fabs(h) : h, judge_digits(h, right), right, fits);
    if (fabs(power - 1. / 3) < 1e-6 && fabs(by_f3 - 0.5) < 1e-6)
        judge_clue("it depends on f and f''' as it should, but h^3 is %.4g times what is expected: look at "
                   "the constant factors, and at what is under the root", pow(h / right, 3));
    if (fabs(by_f * by_f3 - 1) < 1e-6)
        judge_clue("it grows with |f| / |f'''| to the power %.4g: it should be 1/3 (in C 1.0 / 3, or cbrt), "
                   "as h^3 is proportional to it", power);
    judge_clue("with 8 f it becomes %.4g times as large, with 8 f''' %.4g times: expected 2 and 0.5, as h^3 "
               "is proportional to |f| / |f'''|", by_f, by_f3);
    judge_numbers("best_step(f, f3) / (the best one)", GRA_SHAPE(1), (double[]){ h / right }, (double[]){ 1 },
                  1e-8);
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

struct place {
    const double *x;
    int           n;
    double        h;
};

static void gradient(double *g, void *arg)
{
    const struct place *p = arg;
    const int n = p->n;
    const double h = p->h;
    const bool one_side = slip("this is the one-sided difference, (f(x + h) - f(x)) / h: use both sides");
    const bool together = slip("all x move at once: move one x[i] at a time");
    const double left_there =
        slip("x[i] is not put back before the next one is moved: it stays x[i] - h") ? -h
        : slip("x[i] is not put back before the next one is moved: it stays x[i] + h") ? h : 0;
    const bool left_side = slip("this is the one-sided difference, (f(x) - f(x - h)) / h: use both sides");
    const bool far = slip("the points are x[i] + 2h and x[i] - 2h: use x[i] + h and x[i] - h");
    const bool close = slip("the points are x[i] + h/2 and x[i] - h/2: use x[i] + h and x[i] - h");
    const double wide =
        far || slip("the points are x[i] + 2h and x[i] - 2h, but the divisor is 2h: move x[i] by h") ? 2
        : close || slip("the points are x[i] + h/2 and x[i] - h/2, but the divisor is 2h: move x[i] by h")
        ? 0.5 : 1;
    const bool no_up = slip("f is evaluated at x[i] instead of x[i] + h");
    const bool zeros = slip("the other x are 0 where f is evaluated: it is a function of all n numbers");
    const bool tail = slip("f is given &x[i], n - i: it is a function of all n numbers, from x[0] on");
    const bool shifted = tail || slip("f is given &x[i]: it is a function of all n numbers, from x[0] on");
    const bool half_back =
        slip("x[i] is moved by h and back again, so that the second point is x: it should be x - h");
    const bool same = slip("f is the same at both points: x[i] must be x[i] + h at one, x[i] - h at the "
                           "other, and f must be given all n numbers");
    const bool first = slip("x[0] is moved every time: for g[i] move x[i]");
    const bool relative = slip("the step is h times x[i]: it should be h itself");
    const bool grows = slip("the step is h times max(1, |x[i]|): it should be h itself");
    const bool apart = slip("x[i] is moved by h times |x[i]| where that is more, but the difference is "
                            "divided by 2h: move by h");
    const bool fewer = slip("f is given only the first i + 1 numbers: it is a function of all n");
    const bool alone = slip("f is given only x[i]: it is a function of all n numbers");
    const bool own = slip("this is the slope of a much smaller h: use the h that is given");
    const bool added = slip("the two values are added: take their difference");
    const bool halved = slip("only f below is divided by 2h: put the difference in brackets");
    const double by = slip("in C a / 2 * h is (a / 2) * h: put 2 * h in brackets") ? 2 / h
                    : slip("multiplied by 2h: divide by it") ? 1 / (2 * h)
                    : slip("divided by n too") ? 2 * h * n
                    : slip("divided by h^2: divide by 2h") ? h * h
                    : slip("divided by h, but the two points are 2h apart") ? h
                    : slip("divided by 2: divide by 2h") ? 2 : slip("not divided by 2h") ? 1
                    : slip("the sign is wrong: it is f above minus f below") ? -2 * h
                    : far ? 4 * h : close ? h : 2 * h;
    double x[2 * N];
    memcpy(x, p->x, sizeof x);
    for (int i = 0; i < n; i++) {
        const double more = fmax(1, fabs(x[i])), to = relative ? h * x[i] : grows || apart ? h * more
                                 : own ? 1e-5 : h * wide;
        const double down = one_side || half_back ? 0 : same ? to : -to, up = left_side || no_up ? 0 : to;
        const int k = first ? 0 : i, of = alone ? 1 : fewer ? i + 1 : tail ? n - i : n;
        double above[N], below[N];
        memcpy(above, alone || shifted ? x + i : x, (size_t)of * sizeof *x);
        for (int j = 0; j < of && zeros; j++)
            above[j] = j == i ? x[j] : 0;
        memcpy(below, above, (size_t)of * sizeof *x);
        for (int j = 0; j < of; j++)
            if (together || alone || j == (shifted ? 0 : k))
                above[j] += up, below[j] += down;
        const double apart_by = one_side || left_side ? h : own ? 2e-5 : relative ? by * x[i]
                              : grows ? by * more : by;
        const double upper = field(above, of), lower = field(below, of);
        g[i] = halved ? upper - lower / apart_by : (upper + (added ? lower : -lower)) / apart_by;
        x[i] += left_there;
    }
}

static void many(uint64_t seed, int n, double h, double most)
{
    double *x = judge_draw(seed, (size_t)2 * N, -most, most), *g = judge_room(N), copy[2 * N];
    judge_part("numeric_gradient of a function of %d number%s%s", n, n > 1 ? "s" : "",
               most > 1 ? ", some of them large" : "");
    memcpy(copy, x, sizeof copy);
    numeric_gradient(field, x, n, h, g);
    judge_guarded("g", g, (size_t)N);
    judge_against("g", GRA_SHAPE(n), g, 1e-9, gradient, &(struct place){ copy, n, h });
    for (int i = n; i < N; i++)
        if (g[i] != JUDGE_UNWRITTEN)
            judge_wrong("g has %d numbers here, but g[%d] was written, past its end", n, i);
    for (int i = 0; i < 2 * N; i++)
        if (x[i] != copy[i])
            judge_wrong("x[%d] was %.17g, and is %.17g afterwards:\nkeep a copy of x[i], and put that back",
                        i, copy[i], x[i]);
}

void judge_exercise(void)
{
    one("x^3 at 1.3, h = 0.2", cube, 1.3, 0.2, 5.07);
    one("sin(2x) + x at 0.3, h = 0.125", wave, 0.3, 0.125, 2 * cos(0.6) + 1);
    one("e^x - 3x^2 at 0.7, h = 1e-3", curve, 0.7, 1e-3, exp(0.7) - 4.2);
    many(12, 3, 0.1, 1);
    many(11, 1, 0.25, 1);
    many(13, 4, 0.003, 1);
    many(14, 4, 0.1, 9);
    step(0.3, 7);
    step(1, 1);
    step(-2000, 0.5);
    step(6, -0.01);
}
