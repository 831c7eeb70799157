/* ulp.c: the errors of the functions of core/kern/vmath.h, in units in the last place.
 *
 *     cc -O3 -std=c11 -ffp-contract=fast -fno-math-errno -fno-trapping-math [-DGRADUS_DOUBLE]
 *        tests/bench/ulp.c -lm
 *
 * The true value is that of the next wider libm: double for float, long double for double (if long double has
 * 80 bits or more). Prints the worst case of each function, and exits with 1 if one exceeds its bound. */
#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#ifdef GRADUS_DOUBLE
typedef double gra_real;
typedef long double wide;
#define PRECISION "double"
#define WIDE(f)   f##l
#define DIGITS    DBL_MANT_DIG
#define MIN_EXP   DBL_MIN_EXP
#else
typedef float gra_real;
typedef double wide;
#define PRECISION "float"
#define WIDE(f)   f
#define DIGITS    FLT_MANT_DIG
#define MIN_EXP   FLT_MIN_EXP
#endif
typedef gra_real real;

#include "../../core/kern/vmath.h"

#define BLOCK 1024          /* arguments evaluated in one vectorised loop */
#define BLOCKS 2000

static wide sigmoid(wide x) { return 1 / (1 + WIDE(exp)(-x)); }
static wide log1p_(wide x) { return WIDE(log1p)(x); }
static wide expm1_(wide x) { return WIDE(expm1)(x); }
static wide rsqrt(wide x) { return 1 / WIDE(sqrt)(x); }

/* exp_below_0, on its range. */
static inline real real_exp_serving(real x)
{
    return x <= 0 && x >= GRA_EXP_SMALL ? real_exp_below_0(x) : real_exp(x);
}

/* expm1_below_0, on its range. */
static inline real real_expm1_serving(real x)
{
    return x <= 0 ? real_expm1_below_0(x) : (real)WIDE(expm1)((wide)x);
}

#define LOOP(name) \
    static void loop_##name(const real *x, real *y) \
    { \
        for (int i = 0; i < BLOCK; i++) \
            y[i] = real_##name(x[i]); \
    }

LOOP(exp)
LOOP(exp_serving)
LOOP(log)
LOOP(log1p)
LOOP(expm1_serving)
LOOP(tanh)
LOOP(erf)
LOOP(sigmoid)
LOOP(rsqrt)

/* Arguments of interest lie in [from, to]; bound is the largest error allowed, in ulp. */
static const struct {
    const char *name;
    void (*loop)(const real *x, real *y);
    wide (*truth)(wide x);
    real from, to;
    double bound;
} functions[] = {
    { "exp", loop_exp, WIDE(exp), GRA_EXP_MIN - 1, GRA_EXP_MAX + 1, 2 },
    { "exp_below_0", loop_exp_serving, WIDE(exp), GRA_EXP_SMALL, 0, 2 },
    { "log", loop_log, WIDE(log), 0, 4, 2 },
    { "log1p", loop_log1p, log1p_, -1, 4, 2 },
    { "expm1_below_0", loop_expm1_serving, expm1_, -4, 0, 3 },
    { "tanh", loop_tanh, WIDE(tanh), -1, 1, 2 },
    { "erf", loop_erf, WIDE(erf), -2, 2, 2 },
    { "sigmoid", loop_sigmoid, sigmoid, -16, 16, 2 },
    { "rsqrt", loop_rsqrt, rsqrt, 0, 4, 2 },
};

/* The error of y in units in the last place of the true value; infinite if only one of them is NaN or
 * infinite, or if they are zeros of different sign. */
static double ulps(real y, wide truth)
{
    real rounded = (real)truth;
    if (isnan(rounded) || isnan(y))
        return isnan(rounded) && isnan(y) ? 0 : HUGE_VAL;
    if (isinf(rounded) || isinf(y))
        return y == rounded ? 0 : HUGE_VAL;
    if (truth == 0 && y == 0 && !signbit(truth) != !signbit(y))
        return HUGE_VAL;
    int e;
    WIDE(frexp)(truth, &e);
    e = e < MIN_EXP ? MIN_EXP : e;                      /* denormals all have the same spacing */
    return (double)WIDE(fabs)(WIDE(ldexp)((wide)y - truth, DIGITS - e));
}

/* The i-th of many numbers spread evenly over [0, 2^64): golden-ratio steps, modulo 2^64. */
static uint64_t spread(int i)
{
    return (uint64_t)i * 0x9e3779b97f4a7c15u;
}

/* Block 0 holds special cases; odd blocks cover the bit patterns of all reals, with every magnitude and both
 * signs; even blocks cover the interval of f. */
static real argument(int f, int block, int i)
{
    const real special[] = {
        0, -(real)0, 1, -1, (real)INFINITY, -(real)INFINITY, (real)NAN, -(real)NAN, GRA_MIN_REAL,
        GRA_MIN_REAL / GRA_TWO_M, -GRA_MIN_REAL / GRA_TWO_M, GRA_TANH_CUT, GRA_ERF_END, GRA_EXP_MIN,
        GRA_EXP_MAX, -GRA_EXP_MIN, -GRA_EXP_MAX
    };
    if (block == 0)
        return special[i % (int)(sizeof special / sizeof *special)];
    uint64_t bits = spread(block * BLOCK + i);
    if (block % 2)
        return real_from_bits((real_bits)(bits >> (64 - 8 * sizeof(real))));
    real unit = (real)((double)(bits >> 11) / 0x1p53);
    return functions[f].from + (functions[f].to - functions[f].from) * unit;
}

static int check_function(int f)
{
    real at = 0, x[BLOCK], y[BLOCK];
    double worst = 0;
    for (int block = 0; block < BLOCKS; block++) {
        for (int i = 0; i < BLOCK; i++)
            x[i] = argument(f, block, i);
        functions[f].loop(x, y);
        for (int i = 0; i < BLOCK; i++) {
            double error = ulps(y[i], functions[f].truth((wide)x[i]));
            if (error > worst) {
                worst = error;
                at = x[i];
            }
        }
    }
    printf("%-22s %s  %6.3f ulp at x = %.17g%s\n", functions[f].name, PRECISION, worst, (double)at,
           worst > functions[f].bound ? "  TOO MUCH" : "");
    return worst > functions[f].bound;
}

int main(void)
{
    int failed = 0;
    for (int f = 0; f < (int)(sizeof functions / sizeof *functions); f++)
        failed |= check_function(f);
    return failed;
}
