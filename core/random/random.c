/* random: PyTorch's CPU generator, bit for bit, and NumPy's legacy generator (np.random.seed).
 *
 * Both are the Mersenne Twister MT19937 (Matsumoto & Nishimura 1998) with integer seeding; they
 * differ in how its 32-bit words become real numbers. The conversions are those of PyTorch's
 * CPUGeneratorImpl and distributions, and of NumPy's RandomState, as documented. Normals come in
 * pairs: PyTorch's by Box & Muller (1958), NumPy's by Marsaglia's polar method.
 *
 * The bits must not depend on whether the compiler fuses a product with a sum. So an expression that is
 * rounded once is written as fma, and a product that is rounded before the addition goes through `rounded`;
 * other products in sums are exact. */
#include "random.h"
#include "../base/base.h"
#include "../kernel.h"
#include "normal.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- the Mersenne Twister ------------------------------------------------------------------- */

enum { WORDS = 624, SHIFT = 397 };
static const uint32_t MARK = 0x6D743139;   /* "mt19" */

void gra_manual_seed(gra_rng *g, uint64_t seed)
{
    if (!g)
        gra_abort("gra_manual_seed: got NULL, expected the address of a gra_rng");
    g->state[0] = (uint32_t)seed;
    for (uint32_t i = 1; i < WORDS; i++) {
        uint32_t last = g->state[i - 1];
        g->state[i] = 1812433253u * (last ^ (last >> 30)) + i;
    }
    g->at = WORDS;
    g->has_normal = false;
    g->normal = 0;
    g->seeded = MARK;
}

bool gra_seeded(const gra_rng *g)
{
    return g && g->seeded == MARK;
}

void gra_need_seeded(const gra_rng *g)
{
    if (!gra_seeded(g))
        gra_abort("gra_rng: got %s, expected a seeded generator: call gra_manual_seed(&rng, 123) first",
                  g ? "a generator that was never seeded" : "NULL");
}

bool gra_take_normal(gra_rng *g)
{
    gra_need_seeded(g);
    const bool cached = g->has_normal;
    g->has_normal = false;
    return cached;
}

static void refill(gra_rng *g)
{
    uint32_t *s = g->state;
    for (int i = 0; i < WORDS; i++) {
        uint32_t y = (s[i] & 0x80000000u) | (s[(i + 1) % WORDS] & 0x7FFFFFFFu);
        s[i] = s[(i + SHIFT) % WORDS] ^ (y >> 1) ^ (y & 1 ? 0x9908B0DFu : 0);
    }
    g->at = 0;
}

uint32_t gra_random(gra_rng *g)
{
    gra_need_seeded(g);
    if (g->at >= WORDS)
        refill(g);
    uint32_t y = g->state[g->at++];
    y ^= y >> 11;
    y ^= (y << 7) & 0x9D2C5680u;
    y ^= (y << 15) & 0xEFC60000u;
    return y ^ (y >> 18);
}

uint64_t gra_random64(gra_rng *g)
{
    uint64_t high = gra_random(g);      /* on its own line: within one expression C sets no order */
    return high << 32 | gra_random(g);
}

/* The remainder favours small numbers by about n / 2^32; PyTorch does the same. */
uint64_t gra_randint(gra_rng *g, uint64_t n)
{
    if (n == 0)
        gra_abort("gra_randint: got 0 for n, expected 1 or more: it draws one of 0 ... n - 1");
    return (n >> 32 ? gra_random64(g) : gra_random(g)) % n;
}

void gra_randperm(gra_rng *g, int *p, int n)
{
    for (int i = 0; i < n; i++)
        p[i] = i;
    for (int i = 0; i < n - 1; i++) {           /* PyTorch's way (Fisher & Yates, from the front) */
        const int j = i + (int)gra_randint(g, (uint64_t)(n - i)), kept = p[i];
        p[i] = p[j];
        p[j] = kept;
    }
}

/* ---- its state as text ------------------------------------------------------------------------
 * mt19937:at:has_normal:bits of normal:the words, all in hexadecimal of fixed width:
 * "mt19937:0270:0:0000000000000000:6c078966..." */

enum { START = 32 };                    /* where the words begin; each has 8 digits */

int gra_rng_text(const gra_rng *g, char text[GRA_RNG_TEXT])
{
    uint64_t normal = 0;
    text[0] = 0;
    if (!gra_seeded(g))
        return -1;
    if (g->has_normal)
        memcpy(&normal, &g->normal, sizeof normal);
    snprintf(text, GRA_RNG_TEXT, "mt19937:%04x:%d:%016" PRIx64 ":", (unsigned)g->at, g->has_normal, normal);
    for (int i = 0; i < WORDS; i++)
        snprintf(text + START + 8 * i, 9, "%08" PRIx32, g->state[i]);
    return 0;
}

/* Only a text written by gra_rng_text is valid: the state is written again and compared. A Twister with only
 * zero words would draw only zeros. */
int gra_rng_from_text(gra_rng *g, const char *text)
{
    gra_rng h = { .seeded = MARK };
    char again[GRA_RNG_TEXT];
    unsigned at, has_normal;
    uint64_t normal;
    uint32_t any = 0;
    if (!text || strlen(text) != GRA_RNG_TEXT - 1 ||
        sscanf(text, "mt19937:%4x:%1x:%16" SCNx64 ":", &at, &has_normal, &normal) != 3)
        return -1;
    h.at = (int)at;
    h.has_normal = has_normal;
    memcpy(&h.normal, &normal, sizeof normal);
    for (int i = 0; i < WORDS; i++) {
        char word[9] = { 0 };
        memcpy(word, text + START + 8 * i, 8);
        any |= h.state[i] = (uint32_t)strtoul(word, NULL, 16);
    }
    if (at > WORDS || !any || !isfinite(h.normal) || gra_rng_text(&h, again) || strcmp(again, text) != 0)
        return -1;
    *g = h;
    return 0;
}

/* ---- PyTorch: uniform ----------------------------------------------------------------------- */

/* A number in [0, 1) from the low 24 bits of a word, as many as a float holds. */
static float uniform(gra_rng *g)
{
    return (float)(gra_random(g) & 0xFFFFFFu) * 0x1p-24f;
}

/* A number in [0, 1) from the low 53 bits of two words, as many as a double holds. */
static double uniform_f64(gra_rng *g)
{
    return (double)(gra_random64(g) & 0x1FFFFFFFFFFFFFu) * 0x1p-53;
}

void gra_rand(gra_rng *g, gra_real *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (gra_real)uniform(g);
}

void gra_rand_f64(gra_rng *g, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = uniform_f64(g);
}

/* x (b - a) + a, rounded once, as in PyTorch's builds for processors with fused multiply-add. */
void gra_uniform(gra_rng *g, gra_real *x, size_t n, double a, double b)
{
    float low = (float)a, width = (float)b - low;
    for (size_t i = 0; i < n; i++)
        x[i] = (gra_real)fmaf(uniform(g), width, low);
}

/* ---- PyTorch: normal ------------------------------------------------------------------------
 * For uniform u, v:  r = sqrt(-2 ln(1 - v)),  t = 2 pi u;  r cos t and r sin t are two independent
 * normals. Fewer than BLOCK values are drawn one by one, in double, and the second of each pair is kept for
 * the next call. More values are drawn in blocks, in which the values of a pair are half a block apart. */

enum { BLOCK = NORMAL_BLOCK, HALF = BLOCK / 2 };

static const double two_pi = 6.283185307179586;

static double one_normal(gra_rng *g)
{
    if (gra_take_normal(g))
        return g->normal;
    double u = uniform_f64(g), v = uniform_f64(g);
    double r = sqrt(-2 * log(1 - v)), t = two_pi * u;
    g->normal = r * sin(t);
    g->has_normal = true;
    return r * cos(t);
}

/* Turns n blocks of uniforms into normals. The uniforms are floats even if gra_real is double. */
typedef void fill_blocks(gra_real *x, size_t n, float mean, float std);

static inline void fill(gra_real *x, size_t n, float mean, float std)
{
    for (; n > 0; n--, x += BLOCK) {
        float block[BLOCK];
        for (int i = 0; i < BLOCK; i++)
            block[i] = (float)x[i];
        normal_block(block, mean, std);
        for (int i = 0; i < BLOCK; i++)
            x[i] = (gra_real)block[i];
    }
}

#if defined(__x86_64__) && defined(__GNUC__)
GRA_TARGET_AVX2 static void fill_avx2(gra_real *x, size_t n, float mean, float std)
{
    fill(x, n, mean, std);
}

static fill_blocks *best_fill(void)
{
    __builtin_cpu_init();
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? fill_avx2 : fill;
}
#else
static fill_blocks *best_fill(void)
{
    return fill;
}
#endif

/* If n is not a multiple of BLOCK, the last BLOCK values are drawn again. */
void gra_normal(gra_rng *g, gra_real *x, size_t n, double mean, double std)
{
    if (n < BLOCK) {
        for (size_t i = 0; i < n; i++)
            x[i] = (gra_real)(float)fma(one_normal(g), std, mean);
        return;
    }
    fill_blocks *best = best_fill();
    gra_rand(g, x, n);
    best(x, n / BLOCK, (float)mean, (float)std);
    if (n % BLOCK != 0) {
        gra_rand(g, x + n - BLOCK, BLOCK);
        best(x + n - BLOCK, 1, (float)mean, (float)std);
    }
}

void gra_randn(gra_rng *g, gra_real *x, size_t n)
{
    gra_normal(g, x, n, 0, 1);
}

static void normal_block_f64(double *x)
{
    for (int i = 0; i < HALF; i++) {
        double r = sqrt(-2 * log(1 - x[i])), t = two_pi * x[i + HALF];
        x[i]        = r * cos(t);
        x[i + HALF] = r * sin(t);
    }
}

void gra_randn_f64(gra_rng *g, double *x, size_t n)
{
    if (n < BLOCK) {
        for (size_t i = 0; i < n; i++)
            x[i] = one_normal(g);
        return;
    }
    gra_rand_f64(g, x, n);
    for (size_t i = 0; i < n / BLOCK; i++)
        normal_block_f64(x + i * BLOCK);
    if (n % BLOCK != 0) {
        gra_rand_f64(g, x + n - BLOCK, BLOCK);
        normal_block_f64(x + n - BLOCK);
    }
}

/* ---- NumPy: RandomState ---------------------------------------------------------------------- */

static double numpy_uniform(gra_rng *g)
{
    double high = gra_random(g) >> 5, low = gra_random(g) >> 6;         /* 27 and 26 bits */
    return (high * 0x1p26 + low) * 0x1p-53;
}

/* From a random point (x, y) of the unit disc: its direction and r = x^2 + y^2 are independent. */
static double numpy_one_normal(gra_rng *g)
{
    if (gra_take_normal(g))
        return g->normal;
    double x, y, r;
    do {
        x = 2 * numpy_uniform(g) - 1;
        y = 2 * numpy_uniform(g) - 1;
        r = rounded(x * x) + rounded(y * y);
    } while (r >= 1 || r == 0);
    double f = sqrt(-2 * log(r) / r);
    g->normal = f * x;
    g->has_normal = true;
    return f * y;
}

void gra_numpy_random(gra_rng *g, double *x, size_t n)
{
    for (size_t i = 0; i < n; i++)
        x[i] = numpy_uniform(g);
}

void gra_numpy_normal(gra_rng *g, double *x, size_t n, double loc, double scale)
{
    for (size_t i = 0; i < n; i++)
        x[i] = loc + rounded(scale * numpy_one_normal(g));
}
