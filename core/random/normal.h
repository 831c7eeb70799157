/* normal.h: pairs of normals from pairs of uniforms (Box & Muller 1958), in float, with PyTorch's bits.
 *
 *     r = sqrt(-2 ln(1 - v)),  t = 2 pi u:   r cos t and r sin t
 *
 * PyTorch's builds for x86-64 take ln, sin and cos from the polynomials of Cephes (Moshier's logf, sinf and
 * cosf), eight values at a time, and the compiler fuses each product with the sum that follows. Here fmaf
 * fuses them, and no other product is followed by a sum, so no compiler or flag can fuse more. On a processor
 * without fused multiply-add, libm's slow fmaf gives the same bits. */
#ifndef GRADUS_NORMAL_H
#define GRADUS_NORMAL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ln x for normal x > 0. With x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)):
 * ln x = e ln 2 + f - f^2/2 + f^3 P(f), where ln 2 = 0.693359375 - 2.12194440e-4. */
static inline float normal_log(float x)
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
    y = fmaf(y, f, -1.1514610310e-1f);
    y = fmaf(y, f, 1.1676998740e-1f);
    y = fmaf(y, f, -1.2420140846e-1f);
    y = fmaf(y, f, 1.4249322787e-1f);
    y = fmaf(y, f, -1.6668057665e-1f);
    y = fmaf(y, f, 2.0000714765e-1f);
    y = fmaf(y, f, -2.4999993993e-1f);
    y = fmaf(y, f, 3.3333331174e-1f);
    y = fmaf(y * f, z, e * -2.12194440e-4f);
    y = fmaf(z, -0.5f, y);
    return fmaf(e, 0.693359375f, f + y);
}

/* sin x and cos x for 0 <= x < 8192. With j the even number nearest to 4x / pi and f = x - j pi/4, subtracted
 * in three parts, sin f and cos f are polynomials; j determines which of them is sin x, and the signs. */
static inline void normal_sincos(float x, float *sine, float *cosine)
{
    const int j = ((int)(x * 1.27323954473516f) + 1) & ~1;
    const float k = (float)j;
    const float rest = fmaf(k, -2.4187564849853515625e-4f, fmaf(k, -0.78515625f, x));
    const float f = fmaf(k, -3.77489497744594108e-8f, rest);
    const float z = f * f;
    float s = -1.9515295891e-4f, c = 2.443315711809948e-5f;
    s = fmaf(s, z, 8.3321608736e-3f);
    s = fmaf(s, z, -1.6666654611e-1f);
    s = fmaf(s * z, f, f);
    c = fmaf(c, z, -1.388731625493765e-3f);
    c = fmaf(c, z, 4.166664568298827e-2f);
    c = fmaf(c * z, z, z * -0.5f) + 1;
    const float a = j & 2 ? c : s, b = j & 2 ? s : c;
    *sine   = j & 4 ? -a : a;
    *cosine = (j + 2) & 4 ? -b : b;
}

/* Turns a block of uniforms into normals with this mean and standard deviation. The numbers of a pair are
 * half a block apart. Each operation has a separate loop, which compilers can vectorise. */
enum { NORMAL_BLOCK = 16 };

static inline void normal_block(float *d, float mean, float std)
{
    enum { HALF = NORMAL_BLOCK / 2 };
    float r[HALF], s[HALF], c[HALF];
    for (int i = 0; i < HALF; i++)
        r[i] = -2 * normal_log(1 - d[i]);
    for (int i = 0; i < HALF; i++)
        r[i] = sqrtf(r[i]);
    for (int i = 0; i < HALF; i++)
        normal_sincos(6.283185307179586f * d[i + HALF], &s[i], &c[i]);
    for (int i = 0; i < HALF; i++) {
        d[i]        = fmaf(r[i] * c[i], std, mean);
        d[i + HALF] = fmaf(r[i] * s[i], std, mean);
    }
}

#endif
