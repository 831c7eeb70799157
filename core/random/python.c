/* python: the random module of Python: its seed, shuffle, gauss and choices.
 *
 * Python's generator is also the Mersenne Twister, but Python seeds it with an array (Matsumoto & Nishimura
 * 2002), and random.random() uses its bits like NumPy. Normals come in pairs by Box & Muller (1958), in
 * double:
 *
 *     t = 2 pi u,  r = sqrt(-2 ln(1 - v)):   r cos t, and r sin t for the next call */
#include "random.h"
#include "../base/base.h"

#include <math.h>

enum { WORDS = 624 };

/* State word i, computed from the previous word; the words from 1 on form a ring; word 0 repeats the last. */
static uint32_t mixed(const uint32_t *s, int i, uint32_t factor)
{
    return s[i] ^ ((s[i - 1] ^ s[i - 1] >> 30) * factor);
}

static int after(uint32_t *s, int i)
{
    if (i < WORDS - 1)
        return i + 1;
    s[0] = s[WORDS - 1];
    return 1;
}

/* The key is the seed, in as many 32-bit words as needed, the lowest first. */
void gra_python_seed(gra_rng *g, uint64_t seed)
{
    const uint32_t key[] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
    const int words = key[1] ? 2 : 1;
    uint32_t *s = g->state;
    int i = 1;
    gra_manual_seed(g, 19650218);
    for (int k = 0; k < WORDS; k++, i = after(s, i))
        s[i] = mixed(s, i, 1664525) + key[k % words] + (uint32_t)(k % words);
    for (int k = 0; k < WORDS - 1; k++, i = after(s, i))
        s[i] = mixed(s, i, 1566083941) - (uint32_t)i;
    s[0] = 0x80000000u;
}

static double uniform(gra_rng *g)
{
    double u;
    gra_numpy_random(g, &u, 1);
    return u;
}

/* One of 0 ... n - 1, all equally likely: draws as many bits as n has, until they are below n. */
static uint32_t below(gra_rng *g, uint32_t n)
{
    int bits = 0;
    while (bits < 32 && n >> bits)
        bits++;
    uint32_t r;
    do
        r = gra_random(g) >> (32 - bits);
    while (r >= n);
    return r;
}

void gra_python_shuffle(gra_rng *g, int *x, int n)      /* Fisher & Yates, from the end */
{
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)below(g, (uint32_t)i + 1), kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}

static double one_gauss(gra_rng *g)
{
    if (gra_take_normal(g))
        return g->normal;
    const double t = 6.283185307179586 * uniform(g), r = sqrt(-2 * log(1 - uniform(g)));
    g->normal = r * sin(t);
    g->has_normal = true;
    return r * cos(t);
}

void gra_python_gauss(gra_rng *g, gra_real *x, size_t n, double mu, double sigma)
{
    for (size_t i = 0; i < n; i++)
        x[i] = (gra_real)(mu + rounded(sigma * one_gauss(g)));
}

/* The first index at which the sum of the weights exceeds a random share of their total. */
int gra_python_choices(gra_rng *g, const gra_real *weights, int n)
{
    double total = 0, sum = 0;
    for (int i = 0; i < n; i++)
        total += (double)weights[i];
    if (!(total > 0) || isinf(total))
        gra_abort("gra_python_choices: got %d weights whose sum is %g, expected a finite sum above 0", n,
                  total);
    const double share = uniform(g) * total;
    for (int i = 0; i < n - 1; i++) {
        sum += (double)weights[i];
        if (sum > share)
            return i;
    }
    return n - 1;
}
