/* vmath.h: exp, log, tanh, erf, sigmoid, 1/sqrt and row sums that a compiler can vectorise.
 *
 * A plain loop over these functions becomes SIMD code at -O3 -fno-math-errno -fno-trapping-math,
 * because nothing in them branches or calls libm: where two formulas meet, both are computed and
 * `cond ? a : b` keeps one. A comparison with NaN is false, so each condition is written to keep the formula
 * that gives NaN for NaN. Results are correct over the whole range, denormals included.
 *
 * "max ulp" is the largest error found, in units in the last place, compared with libm in the next wider
 * type: over every 7th bit pattern of float, and 30 million doubles. Where machines differ, "fma" means AVX2,
 * AVX-512 or ARM, and "base" means x86-64 without FMA. tests/bench/ulp.c repeats the comparison with fewer
 * values.
 *
 * The includer has defined `real` (core/op.h). Every name here begins with real_ or GRA_ to avoid clashes
 * with names of the includer. */
#ifndef GRADUS_VMATH_H
#define GRADUS_VMATH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define GRA_INLINE static inline __attribute__((always_inline))

/* Hints that gcc, unlike clang, needs to turn the enclosing loop into SIMD code. */
#ifdef __clang__
#define GRA_UNROLL
#define GRA_NO_UNROLL
#else
#define GRA_UNROLL    _Pragma("GCC unroll 32")
#define GRA_NO_UNROLL _Pragma("GCC unroll 1")
#endif

/* The polynomials are minimax fits by Remez exchange in 45 digits, highest power first. The error is that of
 * the whole function, relative to its value, before any rounding:
 *
 *     real_exp_poly(r)       (e^r - 1 - r) / r^2                   |r| <= ln(2) / 2
 *     real_log_poly(z)        (log((1+s) / (1-s)) / s - 2) / z      z = s^2, |s| <= 3 - sqrt(8)
 *     real_tanh_poly(z)       (tanh(x) / x - 1) / z                 z = x^2, |x| <= GRA_TANH_CUT
 *     real_erf_poly(z)        erf(x) / x - 1                        z = x^2, |x| <= 1
 *     real_erf_tail_poly(u)   -log(1 - erf(1 + u))                  1 <= 1 + u <= GRA_ERF_END
 */
#ifdef GRADUS_DOUBLE /* ------------------------------------------------------------ double ---- */

typedef uint64_t real_bits;             /* an unsigned integer as wide as a real */
#define GRA_MANTISSA  52                    /* bits of a real below its exponent */
#define GRA_EXP_BIAS  1023                  /* the exponent field of 2^0 */
#define GRA_TWO_M     0x1p52                /* 2^GRA_MANTISSA: from here on, reals are whole numbers */
#define GRA_MIN_REAL  0x1p-1022             /* the smallest normal real */
#define GRA_SQRT_HALF 0x3fe6a09e667f3bcdu   /* the bits of sqrt(1/2) */
#define GRA_LOG2_E    1.4426950408889634
#define GRA_LN2_HI    0.6931471805592082    /* ln 2 to 40 bits, which makes k * GRA_LN2_HI exact, ... */
#define GRA_LN2_LO    7.371002565167799e-13 /* ... and the rest of it */
#define GRA_EXP_MIN   -746.0                /* exp rounds to 0 below, */
#define GRA_EXP_MAX   710.0                 /* to infinity above, */
#define GRA_EXP_SMALL -708.3                /* and to no normal real below this bound */
#define GRA_TANH_CUT  0.625
#define GRA_ERF_END   6.0                   /* erf rounds to 1 from here on */
#define GRA_COPYSIGN  __builtin_copysign
#define GRA_SQRT      __builtin_sqrt

/* Errors: 2^-64, 2^-58, 2^-56, 2^-62 and 2^-66. */
static const real real_exp_poly[] = {
    2.092693114790896e-09, 2.5112239550670297e-08, 2.7557233363742524e-07, 2.7557234237251247e-06,
    2.4801587373800123e-05, 0.00019841269897059044, 0.0013888888888858358, 0.008333333333316739,
    0.04166666666666673, 0.16666666666666685, 0.5
};
static const real real_log_poly[] = {
    0.1479598562628067, 0.15314046820640834, 0.18183564477533334, 0.22222198570179197,
    0.2857142874241721, 0.39999999999414554, 0.6666666666666734
};
static const real real_tanh_poly[] = {
    -1.610736031128524e-05, 7.721882533358955e-05, -0.0002286329589759316, 0.0005863523629773157,
    -0.0014549704463540337, 0.003591991566768803, -0.008863221319072358, 0.021869487601978693,
    -0.053968253932484306, 0.1333333333326492, -0.33333333333332876
};
static const real real_erf_poly[] = {
    5.945293570044454e-11, -1.1365685796253296e-09, 1.4657885273255793e-08, -1.635002608052991e-07,
    1.6460972903308296e-06, -1.4925593512642418e-05, 0.00012055331037156047, -0.0008548326978749733,
    0.005223977624781007, -0.02686617064507291, 0.11283791670954857, -0.3761263890318375,
    0.1283791670955126
};
static const real real_erf_tail_poly[] = {
    -2.2488053844707355e-14, 7.95498567625174e-13, -1.325984015874771e-11, 1.387078824870205e-10,
    -1.0211114168594261e-09, 5.594763971988294e-09, -2.3256242379576746e-08, 7.108536883855787e-08,
    -1.304290523592434e-07, -9.971316793521938e-08, 2.0167100884967377e-06, -9.576438450622676e-06,
    2.7140834092095117e-05, -2.6270325968086522e-05, -0.0002373247085958707, 0.0019779030196391775,
    -0.010033825433964116, 0.0415610980464903, 0.8431072563584869, 2.6389675142347913,
    1.8496055099332482
};

#else /* ---------------------------------------------------------------------------- float ---- */

typedef uint32_t real_bits;
#define GRA_MANTISSA  23
#define GRA_EXP_BIAS  127
#define GRA_TWO_M     0x1p23f
#define GRA_MIN_REAL  0x1p-126f
#define GRA_SQRT_HALF 0x3f3504f3u
#define GRA_LOG2_E    1.44269504f
#define GRA_LN2_HI    0.69314575f           /* 15 bits */
#define GRA_LN2_LO    1.4286068e-06f
#define GRA_EXP_MIN   -104.0f
#define GRA_EXP_MAX   89.0f
#define GRA_EXP_SMALL -87.3f
#define GRA_TANH_CUT  0.625f
#define GRA_ERF_END   4.0f
#define GRA_COPYSIGN  __builtin_copysignf
#define GRA_SQRT      __builtin_sqrtf

/* Errors: 2^-28, 2^-29, 2^-28, 2^-29 and 2^-35. */
static const real real_exp_poly[] = { 0.0013950578f, 0.00836889f, 0.041666206f, 0.16666518f, 0.5f };
static const real real_log_poly[] = { 0.2987176f, 0.39977542f, 0.66666776f };
static const real real_tanh_poly[] = {
    -0.0057170116f, 0.02065055f, -0.05374348f, 0.13331491f, -0.33333284f
};
static const real real_erf_poly[] = {
    7.853791e-05f, -0.0008010173f, 0.0051883254f, -0.026853811f, 0.112835854f, -0.37612626f,
    0.12837917f
};
static const real real_erf_tail_poly[] = {
    2.1686528e-05f, -0.0002895269f, 0.0020119648f, -0.010046451f, 0.04156348f, 0.8431071f,
    2.6389675f, 1.8496056f
};

#endif /* ---------------------------------------------------------------- either precision ---- */

/* c[0] x^(n-1) + ... + c[n-1] by Horner's rule. */
GRA_INLINE real real_horner(real x, const real *c, int n)
{
    real y = c[0];
    GRA_UNROLL
    for (int i = 1; i < n; i++)
        y = y * x + c[i];
    return y;
}

#define GRA_POLY(c, x) real_horner(x, c, (int)(sizeof(c) / sizeof *(c)))

GRA_INLINE real_bits real_to_bits(real x)
{
    real_bits b;
    memcpy(&b, &x, sizeof b);
    return b;
}

GRA_INLINE real real_from_bits(real_bits b)
{
    real x;
    memcpy(&x, &b, sizeof x);
    return x;
}

/* e^x = 2^k e^r with k = round(x / ln 2) and r = x - k ln 2, so |r| <= ln(2)/2. Adding 1.5 * 2^M
 * rounds to a whole number and leaves it in the lowest bits; a shift turns these into an exponent. Since 2^k
 * itself may be out of range, the product is formed in two halves.
 * max ulp: float 1.04 fma, 1.01 base; double 0.98, 0.95. */
GRA_INLINE real real_exp(real x)
{
    const real magic = (real)1.5 * GRA_TWO_M;
    x = x < GRA_EXP_MIN ? GRA_EXP_MIN : x;
    x = x > GRA_EXP_MAX ? GRA_EXP_MAX : x;
    real kbits = x * GRA_LOG2_E + magic, k = kbits - magic;
    real hbits = k / 2 + magic;
    real r = (x - k * GRA_LN2_HI) - k * GRA_LN2_LO;
    real y = r * r * GRA_POLY(real_exp_poly, r) + r + 1;

    real_bits half = real_to_bits(hbits), rest = real_to_bits(kbits) - half;
    return y * real_from_bits((half + GRA_EXP_BIAS) << GRA_MANTISSA)
             * real_from_bits((rest + GRA_EXP_BIAS) << GRA_MANTISSA);
}

/* e^x for x <= 0, as in a softmax: e^x cannot overflow, and 0 is good enough below the normal reals, so half
 * the work is enough. max ulp: float 1.02; double 0.98. */
GRA_INLINE real real_exp_below_0(real x)
{
    const real magic = (real)1.5 * GRA_TWO_M;
    real kbits = x * GRA_LOG2_E + magic, k = kbits - magic;
    real r = (x - k * GRA_LN2_HI) - k * GRA_LN2_LO;
    real y = r * r * GRA_POLY(real_exp_poly, r) + r + 1;
    y *= real_from_bits((real_to_bits(kbits) + GRA_EXP_BIAS) << GRA_MANTISSA);
    return x < GRA_EXP_SMALL ? 0 : y;
}

/* log(x) = k ln 2 + log(1+f), where x = 2^k (1+f) and 1+f lies in [sqrt(1/2), sqrt(2)]. With
 * s = f / (2+f), 1+f = (1+s) / (1-s), and log(1+f) = 2s + sR(s^2) = f - (f^2/2 - s (f^2/2 + R)),
 * whose leading term f has no rounding error. max ulp: float 0.83; double 0.83. */
GRA_INLINE real real_log(real x)
{
    const real inf = (real)__builtin_inf(), nan = (real)__builtin_nan("");
    const real_bits one = (real_bits)GRA_EXP_BIAS << GRA_MANTISSA, mask = ((real_bits)1 << GRA_MANTISSA) - 1;
    real scaled = x < GRA_MIN_REAL ? x * GRA_TWO_M : x;                 /* denormals become normal */
    real bias = x < GRA_MIN_REAL ? GRA_EXP_BIAS + GRA_MANTISSA : GRA_EXP_BIAS;
    real_bits b = real_to_bits(scaled) + (one - GRA_SQRT_HALF);          /* steps at sqrt(1/2), not at 1 */
    real k = real_from_bits(b >> GRA_MANTISSA | real_to_bits(GRA_TWO_M)) - GRA_TWO_M - bias;
    real f = real_from_bits((b & mask) + GRA_SQRT_HALF) - 1;

    real s = f / (2 + f), z = s * s, half = (real)0.5 * f * f;
    real tail = s * (half + z * GRA_POLY(real_log_poly, z)) + k * GRA_LN2_LO;
    real y = k * GRA_LN2_HI - ((half - tail) - f);
    y = x < inf ? y : x;                                        /* log(inf) = inf; NaN stays */
    return x > 0 ? y : x == 0 ? -inf : nan;
}

/* log(1 + e), for -1 <= e: the logarithm of the rounded sum u, plus the rounding error e - (u - 1) times
 * the derivative 1 / u. The result has all digits even if e is far below 1.
 * max ulp: float 1.44; double 1.44. */
GRA_INLINE real real_log1p(real e)
{
    const real u = 1 + e, y = real_log(u);
    return GRA_COPYSIGN(u > 0 && u < (real)__builtin_inf() ? y + (e - (u - 1)) / u : y, e);
}

/* sigmoid(x) = 1 / (1 + e^-x). For negative x it is e / (1 + e) with e = e^x, written as
 * e - e^2 / (1 + e) for the smaller rounding error; e never overflows.
 * max ulp: float 1.84 fma, 1.92 base; double 1.93. */
GRA_INLINE real real_sigmoid(real x)
{
    real e = real_exp(-GRA_COPYSIGN(x, 1));
    real y = (x < 0 ? e * e : 1) / (1 + e);
    return x < 0 ? e - y : y;
}

/* tanh(x): x + x^3 P(x^2) near 0, 1 - 2 / (e^2|x| + 1) with the sign of x elsewhere.
 * max ulp: float 1.33; double 1.35. */
GRA_INLINE real real_tanh(real x)
{
    real a = GRA_COPYSIGN(x, 1), z = a * a;
    real near = a + a * (z * GRA_POLY(real_tanh_poly, z));
    real far = 1 - 2 / (real_exp(2 * a) + 1);
    return GRA_COPYSIGN(a < GRA_TANH_CUT ? near : far, x);
}

/* erf(x): x + x P(x^2) up to 1, 1 - e^-Q(|x|) with the sign of x elsewhere.
 * max ulp: float 1.02 fma, 1.32 base; double 0.98, 1.27. */
GRA_INLINE real real_erf(real x)
{
    real a = GRA_COPYSIGN(x, 1);
    a = a > GRA_ERF_END ? GRA_ERF_END : a;
    real near = a + a * GRA_POLY(real_erf_poly, a * a);
    real far = 1 - real_exp_below_0(-GRA_POLY(real_erf_tail_poly, a - 1));
    return GRA_COPYSIGN(a < 1 ? near : far, x);
}

/* e^x - 1 for x <= 0, with its digits near 0: 2 t / (1 - t), t = tanh(x / 2). max ulp: float 2.22; double
 * 2.17. */
GRA_INLINE real real_expm1_below_0(real x)
{
    const real t = real_tanh(x / 2);
    return 2 * t / (1 - t);
}

GRA_INLINE real real_sqrt(real x)       /* rounded as IEEE 754 requires */
{
    return GRA_SQRT(x);
}

/* 1 / sqrt(x), two roundings. max ulp: 1.50. */
GRA_INLINE real real_rsqrt(real x)
{
    return 1 / GRA_SQRT(x);
}

/* Rows are reduced to GRA_LANES partial results, which are then combined pairwise: a compiler may
 * keep them in vectors, and the order of additions is the same on every machine. A long row is reduced in
 * blocks, whose sums are added in double: the error does not grow with its length. */
#define GRA_LANES 16
#define GRA_BLOCK (32 * GRA_LANES)

GRA_INLINE void real_fold(real *s, int half)     /* `half` must be a constant, or the code is not SIMD */
{
    for (int j = 0; j < half; j++)
        s[j] += s[j + half];
}

GRA_INLINE real real_sum_lanes(real *s)
{
    real_fold(s, GRA_LANES / 2);
    real_fold(s, GRA_LANES / 4);
    real_fold(s, GRA_LANES / 8);
    real_fold(s, GRA_LANES / 16);
    return s[0];
}

/* Defines a function: the sum over i < n of `term`, which is written with i; n is its last parameter. */
#define GRA_ROW_SUM(name, parameters, term)                                                              \
    GRA_INLINE real name parameters                                                                      \
    {                                                                                                    \
        double sum = 0;                                                                                  \
        for (size_t first = 0, end; first < n; first = end) {                                            \
            real s[GRA_LANES] = { 0 };                                                                   \
            end = n - first < GRA_BLOCK ? n : first + GRA_BLOCK;                                         \
            for (; end - first >= GRA_LANES; first += GRA_LANES)                                         \
                for (size_t j = 0, i = first; j < GRA_LANES; j++, i++)                                   \
                    s[j] += term;                                                                        \
            for (size_t j = 0, i = first; i < end; j++, i++)                                             \
                s[j] += term;                                                                            \
            const real part = real_sum_lanes(s);                                                         \
            if (n <= GRA_BLOCK)                                                                          \
                return part;                                                                             \
            sum += (double)part;                                                                         \
        }                                                                                                \
        return (real)sum;                                                                                \
    }

GRA_ROW_SUM(real_sum, (const real *x, size_t n), x[i])
GRA_ROW_SUM(real_dot, (const real *a, const real *b, size_t n), a[i] * b[i])
GRA_ROW_SUM(real_sum_from, (const real *x, real mean, size_t n), x[i] - mean)
GRA_ROW_SUM(real_sum_squared_from, (const real *x, real mean, size_t n), (x[i] - mean) * (x[i] - mean))

/* The larger of two numbers, or NaN if either is NaN. */
GRA_INLINE real real_larger(real m, real x)
{
    real y = x > m ? x : m;
    return x == x ? y : x;
}

GRA_INLINE void real_fold_max(real *m, int half)
{
    for (int j = 0; j < half; j++)
        m[j] = real_larger(m[j], m[j + half]);
}

/* max_i x_i: NaN if any x_i is NaN, -inf if n is 0. */
GRA_INLINE real real_max(const real *x, size_t n)
{
    real m[GRA_LANES];
    for (int j = 0; j < GRA_LANES; j++)
        m[j] = -(real)__builtin_inf();
    for (; n >= GRA_LANES; n -= GRA_LANES, x += GRA_LANES)
        GRA_NO_UNROLL
        for (int j = 0; j < GRA_LANES; j++)
            m[j] = real_larger(m[j], x[j]);
    for (size_t j = 0; j < n; j++)
        m[j] = real_larger(m[j], x[j]);
    real_fold_max(m, GRA_LANES / 2);
    real_fold_max(m, GRA_LANES / 4);
    real_fold_max(m, GRA_LANES / 8);
    real_fold_max(m, GRA_LANES / 16);
    return m[0];
}

#endif
