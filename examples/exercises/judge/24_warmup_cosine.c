/* 24 warmup_cosine: the judge. */
#include "judge.h"

enum { MOST = 40 };

enum slip {
    FROM_ZERO, INT_UP, FROM_MIN, SLOW_UP, NO_UP, INT_X, ALL_STEPS, ALL_FROM_WARMUP, EARLY, LATE,
    MIN_ON_TOP, NO_MIN, FLOOR, NO_HALF, PLAIN_COS, NO_PI, QUARTER, WHOLE, DEGREES, LINE, RISES,
    GOES_ON, ZERO_AFTER, LR_AFTER, UP_TOO_LONG, STEP_AFTER, EXCHANGED, BRACKET, NO_LAST, UP_FROM_MIN_ZERO,
    ROUGH_PI, UP_IS_LR, UPSIDE_DOWN, STEP_BY_FALL, ZERO_BY_ZERO, SLIPS, RIGHT = SLIPS
};

static const char *const says[SLIPS] = {
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
    [ZERO_BY_ZERO] = "where warmup is steps there is no fall, and x is 0/0: step `steps` belongs to the last case"
};

/* The rate as it is with a slip, or RIGHT. */
static double rate(enum slip s, int step, int warmup, int steps, double lr, double min_lr)
{
    const double pi = acos(-1), up = (double)(step + 1) / warmup;
    const double from = s == ALL_STEPS || s == STEP_BY_FALL ? 0 : warmup;
    const double fall = s == ALL_STEPS || s == ALL_FROM_WARMUP ? steps
                      : steps - warmup - (s == EARLY) + (s == LATE);
    if (s == UP_TOO_LONG && step == warmup && warmup)
        return lr * up;
    if (step < warmup && s != NO_UP)
        return s == FROM_ZERO ? lr * step / warmup : s == INT_UP ? lr * (int)up
             : s == UP_IS_LR ? lr : s == UPSIDE_DOWN ? lr / up
             : s == FROM_MIN ? min_lr + (lr - min_lr) * up
             : s == UP_FROM_MIN_ZERO ? min_lr + (lr - min_lr) * step / warmup
             : s == SLOW_UP ? lr * (step + 1) / (warmup + 1) : lr * up;
    if (s == ZERO_BY_ZERO && step == steps && warmup == steps)
        return NAN;
    if (step >= steps - (s == NO_LAST) && s != GOES_ON)
        return s == ZERO_AFTER ? 0 : s == LR_AFTER ? lr : min_lr;
    const double x = s == INT_X ? 0 : (step - from + (s == STEP_AFTER)) / fall;
    const double wave = s == NO_PI ? x : s == ROUGH_PI ? 3.14 * x
                      : s == QUARTER ? pi * x / 2 : s == WHOLE ? 2 * pi * x
                      : s == DEGREES ? 180 * x : pi * x;
    const double part = s == NO_HALF ? 1 + cos(wave) : s == PLAIN_COS || s == QUARTER ? cos(wave)
                      : s == LINE ? 1 - x : s == RISES ? (1 - cos(wave)) / 2 : (1 + cos(wave)) / 2;
    return s == MIN_ON_TOP ? min_lr + lr * part : s == NO_MIN ? lr * part
         : s == FLOOR ? fmax(min_lr, lr * part)
         : s == EXCHANGED ? lr + (min_lr - lr) * part : s == BRACKET ? min_lr + (lr - min_lr) + cos(wave) / 2
         : min_lr + (lr - min_lr) * part;
}

/* The steps first .. last. */
static void rates(const char *part, int first, int last, int warmup, int steps, double lr, double min_lr)
{
    double got[MOST], want[MOST], wrong[SLIPS][MOST];
    double one[MOST], wave[MOST], a, b;
    struct judge_mistake mistakes[SLIPS + 2] = { 0 };
    char factors[160];
    const bool up = last < warmup;
    const int n = last - first + 1;
    char name[100];
    judge_part("%s", part);
    for (int i = 0; i < n; i++) {
        got[i] = warmup_cosine(first + i, warmup, steps, lr, min_lr);
        one[i] = 1;
        wave[i] = up ? first + i + 1 : cos(acos(-1) * (first + i - warmup) / (steps - warmup));
        want[i] = rate(RIGHT, first + i, warmup, steps, lr, min_lr);
        for (int s = 0; s < SLIPS; s++)
            wrong[s][i] = rate(s, first + i, warmup, steps, lr, min_lr);
    }
    for (int s = 0; s < SLIPS; s++)
        mistakes[s] = (struct judge_mistake){ says[s], wrong[s] };
    if ((up || (first >= warmup && last < steps)) && judge_combination(got, one, wave, (size_t)n, &a, &b)) {
        snprintf(factors, sizeof factors, "it is %.4g plus %.4g times %s: wanted %.4g and %.4g", a, b,
                 up ? "(step + 1)" : "cos(pi x)", up ? 0 : (lr + min_lr) / 2,
                 up ? lr / warmup : (lr - min_lr) / 2);
        mistakes[SLIPS] = (struct judge_mistake){ factors, got };
    }
    snprintf(name, sizeof name, "warmup %d, steps %d, lr %g, min_lr %g: counted from step %d, rate", warmup,
             steps, lr, min_lr, first);
    judge_numbers(name, GRA_SHAPE(n), got, want, 3e-6 * lr, mistakes);
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
