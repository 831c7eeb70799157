/* 24 warmup_cosine: the judge. */
#include "judge.h"

enum { MOST = 40 };

struct run {
    int    first, last, warmup, steps;
    double lr, min_lr;
};

static double rising(int step, const struct run *r)
{
    const double lr = r->lr, up = (double)(step + 1) / r->warmup;
    return slip("the warm-up begins with 0: step 0 should already move, so use step + 1")
         ? lr * step / r->warmup
         : slip("step + 1 and warmup are int, and so is their quotient in C: 0 until the last step of the "
                "warm-up")
         ? lr * (int)up
         : slip("it does not climb: the rate is lr throughout the warm-up") ? lr
         : slip("the fraction is inverted: it is (step + 1) / warmup") ? lr / up
         : slip("the warm-up climbs from min_lr: it should climb from lr / warmup")
         ? r->min_lr + (lr - r->min_lr) * up
         : slip("the warm-up begins with min_lr in step 0: expected lr (step + 1) / warmup")
         ? r->min_lr + (lr - r->min_lr) * step / r->warmup
         : slip("it is divided by warmup + 1: expected lr (step + 1) / warmup")
         ? lr * (step + 1) / (r->warmup + 1)
         : slip("it is divided by steps: expected lr (step + 1) / warmup") ? lr * (step + 1) / r->steps
         : slip("it does not climb: step + 1 is missing in lr (step + 1) / warmup") ? lr / r->warmup
         : slip("lr is missing: expected lr (step + 1) / warmup") ? up
         : slip("min_lr is added: expected lr (step + 1) / warmup") ? r->min_lr + lr * up
         : slip("the rate is never below min_lr: in the warm-up it is lr (step + 1) / warmup")
         ? fmax(r->min_lr, lr * up) : lr * up;
}

static double falling(int step, const struct run *r)
{
    const double pi = acos(-1), lr = r->lr, min_lr = r->min_lr;
    const bool all = slip("x is step / steps: it must not count the warm-up's steps");
    const int from = all || slip("x counts from step 0: the fall begins at step `warmup`") ? 0
                   : slip("warmup is added to step: x counts from step `warmup`, so subtract it") ? -r->warmup
                   : r->warmup;
    const int fall = all || slip("x is (step - warmup) / steps: the fall has only steps - warmup steps")
                   ? r->steps
        : slip("x is divided by steps + warmup: the fall has only steps - warmup steps")
        ? r->steps + r->warmup
        : slip("x reaches 1 one step too early: it should be 1 in step `steps`")
        ? r->steps - r->warmup - 1
        : slip("x reaches 1 too late: it is 0 in step warmup, and 1 in step `steps`")
        ? r->steps - r->warmup + 1 : r->steps - r->warmup;
    const double x =
        slip("the rate stays lr: (step - warmup) / (steps - warmup), a quotient of ints, is 0 in C") ? 0
        : slip("x counts step + 1: it is 0 in step `warmup`") ? (step - from + 1.) / fall
        : slip("x counts step - 1: it is 0 in step `warmup`") ? (step - from - 1.) / fall
        : slip("x is inverted: it is (step - warmup) / (steps - warmup)") ? (double)fall / (step - from)
        : (double)(step - from) / fall;
    const bool quarter = slip("it is a quarter of a wave, cos(pi x / 2): half a wave is cos(pi x)");
    const double wave = slip("pi is missing: cos takes radians, and half a wave is pi") ? x
        : slip("3.14 is too rough: acos(-1) is pi with all its digits") ? 3.14 * x
        : slip("22 / 7 is too rough: acos(-1) is pi with all its digits") ? 22. / 7 * x
        : slip("pi is 3 here, as 22 / 7 is, of ints: acos(-1) is pi with all its digits") ? 3 * x
        : slip("it is a whole wave, cos(2 pi x): half a wave is cos(pi x)") ? 2 * pi * x
        : slip("x is given in degrees: C's cos takes radians") ? 180 * x
        : slip("it is cos(pi x / 2): half a wave is cos(pi x)") || quarter ? pi * x / 2 : pi * x;
    const double part = slip("the division by 2 is missing: 1 + cos goes from 2 to 0") ? 1 + cos(wave)
        : quarter || slip("cos goes from 1 to -1 here: it is (1 + cos) / 2 that goes from 1 to 0") ? cos(wave)
        : slip("the 1 is missing: (1 + cos) / 2 goes from 1 to 0") ? cos(wave) / 2
        : slip("sin is used instead of cos") ? (1 + sin(wave)) / 2
        : slip("it falls on a straight line: the cosine is missing") ? 1 - x
        : slip("it rises from min_lr to lr: 1 + cos(pi x) falls where x grows from 0 to 1")
        ? (1 - cos(wave)) / 2 : (1 + cos(wave)) / 2;
    return slip("min_lr is added to all of it: the cosine should fall by lr - min_lr")
         ? min_lr + lr * part
         : slip("it falls by lr + min_lr: expected lr - min_lr") ? min_lr + (lr + min_lr) * part
         : slip("it moves by min_lr - lr: expected lr - min_lr") ? min_lr + (min_lr - lr) * part
         : slip("the rate is min_lr from step `warmup` on: that belongs to step `steps`") ? min_lr
         : slip("min_lr is left out: the fall ends at 0") ? lr * part
         : slip("min_lr is not added: lr - min_lr falls to 0") ? (lr - min_lr) * part
         : slip("min_lr is halved too: only 1 + cos is divided by 2") ? min_lr / 2 + (lr - min_lr) * part
         : slip("min_lr is used as a floor: the fall should end at min_lr without one")
         ? fmax(min_lr, lr * part)
         : slip("lr and min_lr are exchanged: the fall begins at lr") ? lr + (min_lr - lr) * part
         : slip("the brackets are missing: multiply lr - min_lr by all of (1 + cos) / 2") ? lr + cos(wave) / 2
         : min_lr + (lr - min_lr) * part;
}

static double rate(int step, const struct run *r)
{
    if (slip("the rate is lr in all these steps") && (r->warmup == 0 || r->warmup == r->steps))
        return r->lr;
    if (slip("step warmup - 1 is not part of the warm-up: the fall begins with step `warmup`")
        && step == r->warmup - 1 && r->warmup < r->steps)
        return falling(step, r);
    if (slip("step `warmup` belongs to the fall: its rate is lr, where the warm-up's formula gives more")
        && step == r->warmup && r->warmup)
        return rising(step, r);
    if (!slip("there is no warm-up") && step < r->warmup)
        return rising(step, r);
    if (slip("if warmup equals steps there is no fall, and x is 0/0: step `steps` belongs to the last case")
        && step == r->steps && r->warmup == r->steps)
        return NAN;
    const int last = r->steps - slip("the rate is already min_lr in the last step, steps - 1: it should be "
                                     "so only from step `steps` on");
    if (slip("after the last step it follows the cosine, and rises again: it must stay at min_lr")
        || step < last)
        return falling(step, r);
    if (slip("after the last step it keeps the rate of step steps - 1: it must be min_lr"))
        return falling(r->steps - 1, r);
    return slip("after the last step it is 0: it must stay at min_lr") ? 0
         : slip("after the last step it is lr: it must stay at min_lr") ? r->lr : r->min_lr;
}

static void rates_of(double *out, void *arg)
{
    const struct run *r = arg;
    for (int step = r->first; step <= r->last; step++)
        out[step - r->first] = rate(step, r);
}

/* The steps first .. last. */
static void rates(const char *part, struct run r)
{
    double got[MOST], one[MOST], wave[MOST], a, b;
    char name[100];
    const bool up = r.last < r.warmup;
    const int n = r.last - r.first + 1;
    judge_part("%s", part);
    for (int i = 0; i < n; i++) {
        got[i] = warmup_cosine(r.first + i, r.warmup, r.steps, r.lr, r.min_lr);
        one[i] = 1;
        wave[i] = up ? r.first + i + 1 : cos(acos(-1) * (r.first + i - r.warmup) / (r.steps - r.warmup));
    }
    if ((up || (r.first >= r.warmup && r.last < r.steps))
        && judge_combination(got, one, wave, (size_t)n, &a, &b))
        judge_clue("it is %.9g plus %.9g times %s: expected %.9g and %.9g", a, b, up ? "(step + 1)"
                   : "cos(pi x)",
                   up ? 0 : (r.lr + r.min_lr) / 2, up ? r.lr / r.warmup : (r.lr - r.min_lr) / 2);
    snprintf(name, sizeof name, "warmup %d, steps %d, lr %g, min_lr %g: from step %d on, rate", r.warmup,
             r.steps, r.lr, r.min_lr, r.first);
    judge_against(name, GRA_SHAPE(n), got, 3e-6 * r.lr, rates_of, &r);
}

void judge_exercise(void)
{
    rates("the warm-up", (struct run){ 0, 4, 5, 28, 0.8, 0.1 });
    rates("the fall", (struct run){ 5, 27, 5, 28, 0.8, 0.1 });
    rates("after the last step", (struct run){ 28, 36, 5, 28, 0.8, 0.1 });
    rates("no warm-up", (struct run){ 0, 12, 0, 11, 3e-4, 3e-5 });
    rates("warm-up to the end", (struct run){ 0, 9, 7, 7, 2, 0.5 });
    rates("a warm-up of one step", (struct run){ 0, 8, 1, 6, 1e-2, 0 });
}
