/* normal.h: pairs of normals from pairs of uniforms (Box & Muller 1958), in float, with PyTorch's bits.
 *
 *     r = sqrt(-2 ln(1 - v)),  t = 2 pi u:   r cos t and r sin t
 *
 * PyTorch's builds for x86-64 take ln, sin and cos from the polynomials of Cephes (Moshier's logf, sinf and
 * cosf), eight values at a time, where the compiler makes one operation of a product and the sum that it goes
 * into. So does this, by `fused`; every other product goes into no sum, so that no compiler and no flag finds
 * anything more to fuse. `has_fma` says whether the processor has the operation: the bits are the same. */
#ifndef GRADUS_NORMAL_H
#define GRADUS_NORMAL_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Does every processor have it that this is compiled for? */
#if defined(__FMA__) || defined(__aarch64__) || defined(FP_FAST_FMAF)
#define NORMAL_FMA true
#else
#define NORMAL_FMA false
#endif

/* ab + c, rounded once. Without the operation, in double: there the product is exact, and the sum s lacks
 * `rest`, exactly (Knuth's two-sum). Where a part is missing s is made odd, towards the rest, after which
 * rounding to float goes the right way (Boldo & Melquiond 2008); libm's fmaf would be many times slower. */
static inline float fused(float a, float b, float c, bool has_fma)
{
    if (has_fma)
        return fmaf(a, b, c);
    const double p = (double)a * (double)b, s = p + (double)c, d = s - p;
    const double rest = (p - (s - d)) + ((double)c - d);
    const int up = (rest > 0) - (rest < 0);
    int64_t bits;
    memcpy(&bits, &s, sizeof bits);
    bits += bits & 1 ? 0 : s > 0 ? up : -up;
    double odd;
    memcpy(&odd, &bits, sizeof odd);
    return (float)odd;
}

/* ln x for normal x > 0. With x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)):
 * ln x = e ln 2 + f - f^2/2 + f^3 P(f), where ln 2 = 0.693359375 - 2.12194440e-4. */
static inline float normal_log(float x, bool has_fma)
{
    uint32_t bits;
    float m;
    memcpy(&bits, &x, sizeof bits);
    int exponent = (int)(bits >> 23) - 126;
    bits = (bits & 0x7FFFFFu) | 0x3F000000u;                            /* x = 2^exponent m, m in [1/2, 1) */
    memcpy(&m, &bits, sizeof m);
    const int small = m < 0.707106781186547524f;
    const float e = (float)(exponent - small), f = (m - 1) + (small ? m : 0), z = f * f;
    float y = 7.0376836292e-2f;
    y = fused(y, f, -1.1514610310e-1f, has_fma);
    y = fused(y, f, 1.1676998740e-1f, has_fma);
    y = fused(y, f, -1.2420140846e-1f, has_fma);
    y = fused(y, f, 1.4249322787e-1f, has_fma);
    y = fused(y, f, -1.6668057665e-1f, has_fma);
    y = fused(y, f, 2.0000714765e-1f, has_fma);
    y = fused(y, f, -2.4999993993e-1f, has_fma);
    y = fused(y, f, 3.3333331174e-1f, has_fma);
    y = fused(y * f, z, e * -2.12194440e-4f, has_fma);
    y = fused(z, -0.5f, y, has_fma);
    return fused(e, 0.693359375f, f + y, has_fma);
}

/* sin x and cos x for 0 <= x < 8192. With j the even number nearest to 4x / pi and f = x - j pi/4, in three
 * parts, sin f and cos f are polynomials; j says which is which, and their signs. */
static inline void normal_sincos(float x, float *sine, float *cosine, bool has_fma)
{
    const int j = ((int)(x * 1.27323954473516f) + 1) & ~1;
    const float k = (float)j;
    const float f = fused(k, -3.77489497744594108e-8f,
                          fused(k, -2.4187564849853515625e-4f, fused(k, -0.78515625f, x, has_fma), has_fma),
                          has_fma);
    const float z = f * f;
    float s = -1.9515295891e-4f, c = 2.443315711809948e-5f;
    s = fused(s, z, 8.3321608736e-3f, has_fma);
    s = fused(s, z, -1.6666654611e-1f, has_fma);
    s = fused(s * z, f, f, has_fma);
    c = fused(c, z, -1.388731625493765e-3f, has_fma);
    c = fused(c, z, 4.166664568298827e-2f, has_fma);
    c = fused(c * z, z, z * -0.5f, has_fma) + 1;
    const float a = j & 2 ? c : s, b = j & 2 ? s : c;
    *sine   = j & 4 ? -a : a;
    *cosine = (j + 2) & 4 ? -b : b;
}

/* The uniforms of a block become normals with this mean and standard deviation; pairs lie half a block
 * apart. In loops of one thing each, of which compilers make vectors. */
enum { NORMAL_BLOCK = 16 };

static inline void normal_block(float *d, float mean, float std, bool has_fma)
{
    enum { HALF = NORMAL_BLOCK / 2 };
    float r[HALF], s[HALF], c[HALF];
    for (int i = 0; i < HALF; i++)
        r[i] = -2 * normal_log(1 - d[i], has_fma);
    for (int i = 0; i < HALF; i++)
        r[i] = sqrtf(r[i]);
    for (int i = 0; i < HALF; i++)
        normal_sincos(6.283185307179586f * d[i + HALF], &s[i], &c[i], has_fma);
    for (int i = 0; i < HALF; i++) {
        d[i]        = fused(r[i] * c[i], std, mean, has_fma);
        d[i + HALF] = fused(r[i] * s[i], std, mean, has_fma);
    }
}

#endif
