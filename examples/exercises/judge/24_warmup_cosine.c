/* 24 warmup_cosine: the judge. */
#include "judge.h"

enum { MOST = 40 };

enum slip {
    FROM_ZERO = 1, INT_UP, FROM_MIN, SLOW_UP, NO_UP, INT_X, ALL_STEPS, ALL_FROM_WARMUP, EARLY, LATE,
    MIN_ON_TOP, NO_MIN, FLOOR, NO_HALF, PLAIN_COS, NO_PI, QUARTER, WHOLE, DEGREES, LINE, RISES,
    GOES_ON, ZERO_AFTER, LR_AFTER, UP_TOO_LONG, STEP_AFTER, EXCHANGED, BRACKET, NO_LAST, UP_FROM_MIN_ZERO,
    ROUGH_PI, UP_IS_LR, UPSIDE_DOWN, STEP_BY_FALL, ZERO_BY_ZERO
};

static const char *const says[] = { "",
    [FROM_ZERO] = "the warm-up begins with 0: step 0 shall move already, so it counts step + 1",
    [INT_UP] = "step + 1 and warmup are int, so is their quotient in C: 0 until the last step of the warm-up",
    [FROM_MIN] = "the warm-up climbs from min_lr: it climbs from lr / warmup",
    [SLOW_UP] = "the warm-up ends one step late or early: it is lr (step + 1) / warmup",
    [NO_UP] = "there is no warm-up",
    [INT_X] = "the numbers in x are int, and so is their quotient in C: x stays 0",
    [ALL_STEPS] = "x is step / steps: the warm-up's steps must not count in it",
    [ALL_FROM_WARMUP] = "x is (step - warmup) / steps: the fall has only steps - warmup steps",
    [EARLY] = "x reaches 1 one step too early: the rate is min_lr in step `steps`, not in the one before",
    [LATE] = "x reaches 1 too late: it is 0 in step warmup, and 1 in step `steps`",
    [MIN_ON_TOP] = "min_lr is added to all of it: the cosine falls by lr - min_lr, not by lr",
    [NO_MIN] = "min_lr is left out: the fall ends at 0",
    [FLOOR] = "the smaller of two was taken, with min_lr as a floor: the fall goes evenly from lr to min_lr",
    [NO_HALF] = "the division by 2 is missing: 1 + cos goes from 2 to 0",
    [PLAIN_COS] = "cos goes from 1 to -1 here: it is (1 + cos) / 2 that goes from 1 to 0",
    [NO_PI] = "pi is missing: cos takes radians, and half a wave is pi",
    [QUARTER] = "it is a quarter of a wave, cos(pi x / 2): half a wave is cos(pi x)",
    [WHOLE] = "it is a whole wave, cos(2 pi x): half a wave is cos(pi x)",
    [DEGREES] = "x is given in degrees: C's cos takes radians",
    [LINE] = "it falls on a straight line: the cosine is missing",
    [RISES] = "it rises: the sign of the cosine is wrong",
    [GOES_ON] = "after the last step it goes on along the cosine, and rises again: it is to stay at min_lr",
    [ZERO_AFTER] = "after the last step it is 0: it is to stay at min_lr",
    [LR_AFTER] = "after the last step it is lr: it is to stay at min_lr",
    [UP_TOO_LONG] = "step `warmup` belongs to the fall: its rate is lr, where the warm-up's formula gives more",
    [STEP_AFTER] = "x counts step + 1: it is 0 in step `warmup`",
    [EXCHANGED] = "lr and min_lr are exchanged: the fall begins at lr",
    [BRACKET] = "the brackets are missing: it is ((1 + cos) / 2), all of it, that multiplies lr - min_lr",
    [NO_LAST] = "the rate is min_lr in the last step already, steps - 1: it is so only from step `steps` on",
    [UP_FROM_MIN_ZERO] = "the warm-up begins with min_lr in step 0: it is lr (step + 1) / warmup",
    [ROUGH_PI] = "3.14 is too rough: acos(-1) is pi with all its digits",
    [UP_IS_LR] = "it does not climb: the rate is lr throughout the warm-up",
    [UPSIDE_DOWN] = "the fraction is upside down: it is (step + 1) / warmup",
    [STEP_BY_FALL] = "x counts from step 0: the fall begins at step `warmup`",
    [ZERO_BY_ZERO] = "where warmup is steps there is no fall, and x is 0/0: step `steps` belongs to the last case", NULL };

#define HAS(s) ((slips >> (s) & 1) != 0)

static double rate(uint64_t slips, int step, int warmup, int steps, double lr, double min_lr)
{
    const double pi = acos(-1), up = (double)(step + 1) / warmup;
    const double from = HAS(ALL_STEPS) || HAS(STEP_BY_FALL) ? 0 : warmup;
    const double fall = HAS(ALL_STEPS) || HAS(ALL_FROM_WARMUP) ? steps
                      : steps - warmup - HAS(EARLY) + HAS(LATE);
    if (HAS(UP_TOO_LONG) && step == warmup && warmup)
        return lr * up;
    if (step < warmup && !HAS(NO_UP))
        return HAS(FROM_ZERO) ? lr * step / warmup : HAS(INT_UP) ? lr * (int)up
             : HAS(UP_IS_LR) ? lr : HAS(UPSIDE_DOWN) ? lr / up
             : HAS(FROM_MIN) ? min_lr + (lr - min_lr) * up
             : HAS(UP_FROM_MIN_ZERO) ? min_lr + (lr - min_lr) * step / warmup
             : HAS(SLOW_UP) ? lr * (step + 1) / (warmup + 1) : lr * up;
    if (HAS(ZERO_BY_ZERO) && step == steps && warmup == steps)
        return NAN;
    if (step >= steps - HAS(NO_LAST) && !HAS(GOES_ON))
        return HAS(ZERO_AFTER) ? 0 : HAS(LR_AFTER) ? lr : min_lr;
    const double x = HAS(INT_X) ? 0 : (step - from + HAS(STEP_AFTER)) / fall;
    const double wave = HAS(NO_PI) ? x : HAS(ROUGH_PI) ? 3.14 * x
                      : HAS(QUARTER) ? pi * x / 2 : HAS(WHOLE) ? 2 * pi * x
                      : HAS(DEGREES) ? 180 * x : pi * x;
    const double part = HAS(NO_HALF) ? 1 + cos(wave) : HAS(PLAIN_COS) || HAS(QUARTER) ? cos(wave)
                      : HAS(LINE) ? 1 - x : HAS(RISES) ? (1 - cos(wave)) / 2 : (1 + cos(wave)) / 2;
    return HAS(MIN_ON_TOP) ? min_lr + lr * part : HAS(NO_MIN) ? lr * part
         : HAS(FLOOR) ? fmax(min_lr, lr * part)
         : HAS(EXCHANGED) ? lr + (min_lr - lr) * part : HAS(BRACKET) ? min_lr + (lr - min_lr) + cos(wave) / 2
         : min_lr + (lr - min_lr) * part;
}

struct run {
    int    first, last, warmup, steps;
    double lr, min_lr;
};

static void rates_of(uint64_t slips, double *out, void *arg)
{
    const struct run *r = arg;
    for (int step = r->first; step <= r->last; step++)
        out[step - r->first] = rate(slips, step, r->warmup, r->steps, r->lr, r->min_lr);
}

/* The steps first .. last. */
static void rates(const char *part, int first, int last, int warmup, int steps, double lr, double min_lr)
{
    struct run run = { first, last, warmup, steps, lr, min_lr };
    double got[MOST], one[MOST], wave[MOST], a, b;
    char name[100], factors[160] = "";
    const bool up = last < warmup;
    const int n = last - first + 1;
    judge_part("%s", part);
    for (int i = 0; i < n; i++) {
        got[i] = warmup_cosine(first + i, warmup, steps, lr, min_lr);
        one[i] = 1;
        wave[i] = up ? first + i + 1 : cos(acos(-1) * (first + i - warmup) / (steps - warmup));
    }
    if ((up || (first >= warmup && last < steps)) && judge_combination(got, one, wave, (size_t)n, &a, &b))
        snprintf(factors, sizeof factors, "it is %.4g plus %.4g times %s: wanted %.4g and %.4g", a, b,
                 up ? "(step + 1)" : "cos(pi x)", up ? 0 : (lr + min_lr) / 2,
                 up ? lr / warmup : (lr - min_lr) / 2);
    snprintf(name, sizeof name, "warmup %d, steps %d, lr %g, min_lr %g: counted from step %d, rate", warmup,
             steps, lr, min_lr, first);
    judge_slips(name, GRA_SHAPE(n), got, 3e-6 * lr, says, rates_of, &run, factors[0] ? factors : NULL);
}

void judge_exercise(void)
{
    rates("the warm-up", 0, 4, 5, 25, 0.8, 0.1);
    rates("the fall", 5, 24, 5, 25, 0.8, 0.1);
    rates("after the last step", 25, 33, 5, 25, 0.8, 0.1);
    rates("no warm-up", 0, 12, 0, 11, 3e-4, 3e-5);
    rates("warm-up to the end", 0, 9, 7, 7, 2, 0.5);
    rates("a warm-up of one step", 0, 8, 1, 6, 1e-2, 0);
}
