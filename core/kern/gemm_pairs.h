/* gemm_pairs.h: steps of two values of k, rounded to bfloat16: the upper 16 bits of a float, which are its
 * sign, its exponent and 7 bits of its mantissa (8 with the implied one). The two values share the 32 bits of
 * a real, the first in the lower half. Their products are added in the order of vdpbf16ps:
 *
 *     sum += x1 y1, then sum += x0 y0, each rounded to float once
 *
 * Rounding is to nearest, ties to even. Subnormal inputs and sums count as 0. With EMULATED this file is
 * plain C, which gives the same bits on any processor: for tests. */

#if EMULATED
#include <float.h>

static inline uint32_t bits_of(real x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline real real_of(uint32_t bits)
{
    real x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline uint32_t rounded(real x)
{
    const uint32_t bits = bits_of(x), size = bits & 0x7FFFFFFF;
    if (size > 0x7F800000)
        return bits >> 16 | 0x40;                               /* a NaN stays a NaN */
    return size < 0x00800000 ? bits >> 16 & 0x8000 : (bits + 0x7FFF + (bits >> 16 & 1)) >> 16;
}

static inline real pair(real x, real y)     { return real_of(rounded(x) | rounded(y) << 16); }

static inline real normal(real x)           { return fabsf(x) < FLT_MIN ? copysignf(0, x) : x; }

static inline real plus(real sum, real x, real y)
{
    const uint32_t px = bits_of(x), py = bits_of(y), upper = 0xFFFF0000;
    sum = normal(fmaf(real_of(px & upper), real_of(py & upper), normal(sum)));
    return normal(fmaf(real_of(px << 16), real_of(py << 16), sum));
}

#define EACH(x, value) for (int l = 0; l < (int)(sizeof(x) / sizeof(real)); l++) (x)[l] = value

static inline vec plus_vec(vec sum, real x, vec y)
{
    EACH(sum, plus(sum[l], x, y[l]));
    return sum;
}

static inline half_vec plus_half(half_vec sum, real x, half_vec y)
{
    EACH(sum, plus(sum[l], x, y[l]));
    return sum;
}

static inline lines pairs(lines x, lines y)
{
    EACH(x, pair(x[l], y[l]));
    return x;
}

static inline int pair_across(int n, const real *x, const real *y, real *to)
{
    (void)n, (void)x, (void)y, (void)to;
    return 0;
}

static inline int pair_along(int k, const real *x, real *to)
{
    (void)k, (void)x, (void)to;
    return 0;
}
#else
static inline real pair(real x, real y)
{
    const __m128bh both = _mm_cvtneps_pbh(_mm_setr_ps(x, y, 0, 0));
    return _mm_cvtss_f32((__m128)both);
}

static inline vec plus_vec(vec sum, real x, vec y)
{
    return (vec)_mm512_dpbf16_ps((__m512)sum, (__m512bh)_mm512_set1_ps(x), (__m512bh)y);
}

static inline half_vec plus_half(half_vec sum, real x, half_vec y)
{
    return (half_vec)_mm256_dpbf16_ps((__m256)sum, (__m256bh)_mm256_set1_ps(x), (__m256bh)y);
}

static inline lines pairs(lines x, lines y)
{
    const __m256i halves = (__m256i)_mm256_cvtne2ps_pbh((__m256)y, (__m256)x);
    const __m256i place = _mm256_setr_epi16(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15);
    return (lines)_mm256_permutexvar_epi16(place, halves);
}

/* Across lines: packs the pairs x_i, y_i of as many lines as fill whole vectors, and returns the number of
 * lines. n is the width of a panel: 32 for b, 12 (8 and 4) for a. */
static inline __attribute__((always_inline)) int pair_across(int n, const real *x, const real *y, real *to)
{
    const __m512i place = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8,
                                           23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    int i = 0;
    for (; i + 16 <= n; i += 16) {
        const __m512i halves = (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(y + i), _mm512_loadu_ps(x + i));
        _mm512_storeu_si512(to + i, _mm512_permutexvar_epi16(place, halves));
    }
    for (; i + 8 <= n; i += 8)
        *(loose_lines *)(to + i) = pairs(*(const loose_lines *)(x + i), *(const loose_lines *)(y + i));
    for (; i + 4 <= n; i += 4) {
        const __m128i halves = (__m128i)_mm_cvtne2ps_pbh(_mm_loadu_ps(y + i), _mm_loadu_ps(x + i));
        _mm_storeu_si128((__m128i *)(to + i), _mm_unpacklo_epi16(halves, _mm_srli_si128(halves, 8)));
    }
    return i;
}

/* Along a line: packs the pairs x_0, x_1; x_2, x_3; ... of as many values as fill whole vectors, and returns
 * the number of values. */
static inline int pair_along(int k, const real *x, real *to)
{
    int p = 0;
    for (; p + 32 <= k; p += 32)
        _mm512_storeu_si512(to + p / 2, (__m512i)_mm512_cvtne2ps_pbh(_mm512_loadu_ps(x + p + 16),
                                                                     _mm512_loadu_ps(x + p)));
    return p;
}
#endif

#define PLUS(sum, x, y) _Generic(sum, vec: plus_vec, half_vec: plus_half)(sum, x, y)

static inline real step_of(const real *x, ptrdiff_t next, bool more)
{
    return pair(*x, more ? x[next] : 0);
}

static inline void store(real *to, ptrdiff_t wide, lines first, lines second)
{
    (void)wide;
    *(loose_lines *)to = pairs(first, second);
}

static inline __attribute__((always_inline)) void steps_of(int n, const real *x, ptrdiff_t next, bool more,
                                                           real *to)
{
    for (int i = more ? pair_across(n, x, x + next, to) : 0; i < n; i++)
        to[i] = step_of(x + i, next, more);
}

static void pack_row(int k, const real *x, real *to)
{
    for (int p = pair_along(k, x, to); p < k; p += 2)
        to[p / 2] = step_of(x + p, 1, p + 1 < k);
}
