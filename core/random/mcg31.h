/* mcg31.h: the random numbers behind dropout's masks, as drawn by PyTorch's builds with MKL on Intel
 * processors.
 *
 * One 32-bit output of the generator starts a stream x_0, x_1 = a x_0 mod m, ... (the generator MCG31 of
 * MKL); element i of a tensor is kept where x_i / m < 1 - p. Since x_i = a^i x_0 mod m, a thread can skip
 * ahead to any element. */
#ifndef GRADUS_MCG31_H
#define GRADUS_MCG31_H

#include "../gradus.h"
#include <math.h>

enum { MCG31_A = 1132489760, MCG31_M = 2147483647 };            /* a, and m = 2^31 - 1, a prime */

static inline uint32_t mcg31_start(gra_rng *g)                  /* x_0 */
{
    uint32_t x = gra_random(g) % MCG31_M;
    return x ? x : 1;                                           /* after 0 all numbers would be 0 */
}

static inline uint32_t mcg31_product(uint32_t x, uint32_t y)    /* x y mod m, for x and y below m */
{
    const uint32_t m = MCG31_M;
    const uint64_t product = (uint64_t)x * y;       /* 2^31 is 1 mod m, so the high and low bits are added */
    const uint32_t sum = (uint32_t)(product >> 31) + (uint32_t)(product & m), less = sum - m;
    return less < sum ? less : sum;                     /* if sum < m, less has wrapped around */
}

static inline uint32_t mcg31_next(uint32_t x)
{
    return mcg31_product(x, MCG31_A);
}

static inline uint32_t mcg31_skip(uint32_t x, uint64_t i)       /* i steps at once */
{
    uint32_t power = MCG31_A;                       /* a, a^2, a^4, ...: one for each binary digit of i */
    for (; i; i >>= 1, power = mcg31_product(power, power))
        x = mcg31_product(x, i & 1 ? power : 1);
    return x;
}

static inline uint32_t mcg31_limit(double p)                    /* element i is kept where x_i < this */
{
    return (uint32_t)ceil((1 - p) * (double)MCG31_M);
}

#endif
