/* mask.h: dropout's mask, y_i = x_i / (1 - p) where a stream of random numbers says so, else 0.
 *
 * The mask is PyTorch's (op.h): one number of the generator starts a stream x_0, x_1 = a x_0 mod m, ...,
 * and element i is kept where x_i is below a limit. So no mask is stored: backward draws it again, and
 * each chunk of work skips ahead to its own place in the stream. */
#ifndef GRADUS_MASK_H
#define GRADUS_MASK_H

#include "../op.h"

typedef struct gra_mask {
    uint32_t start, limit;
    real     kept;                                  /* 1 / (1 - p) */
} gra_mask;

static inline gra_mask mask_begin(gra_rng *rng, double p)
{
    return (gra_mask){ .start = gra_bernoulli_start(rng), .limit = gra_bernoulli_limit(p), .kept = 1 / (real)(1 - p) };
}

/* The stream in MASK_LANES streams side by side, element i + MASK_LANES being a^MASK_LANES x_i mod m: a
 * step of all lanes is a vector operation. m = 2^31 - 1, so 2^31 is 1 mod m, and the remainder of a
 * product is its high and low 31 bits added. */
enum { MASK_LANES = 32 };                           /* gcc unrolls 16 into scalar steps, 4 times as slow */

static inline uint32_t mask_product(uint32_t x, uint32_t multiplier)
{
    const uint32_t m = 2147483647;
    const uint64_t product = (uint64_t)x * multiplier;
    const uint32_t sum = (uint32_t)(product >> 31) + (uint32_t)(product & m);
    return sum < m ? sum : sum - m;
}

static inline void mask_step(uint32_t *lane, uint32_t multiplier)
{
    for (int j = 0; j < MASK_LANES; j++)
        lane[j] = mask_product(lane[j], multiplier);
}

typedef struct mask_stream {
    gra_mask mask;
    uint32_t lane[MASK_LANES];                      /* of the elements that come next, */
    uint32_t next;                                  /* and the multiplier that takes them on */
} mask_stream;

/* At element `first`, its lanes so many elements apart, and going on by `step`. */
static inline mask_stream mask_begin_at(gra_mask mask, size_t first, size_t apart, size_t step)
{
    mask_stream s = { .mask = mask, .next = gra_bernoulli_skip(1, step) };
    uint32_t across = gra_bernoulli_skip(1, apart);
    s.lane[0] = gra_bernoulli_skip(mask.start, first);
    for (int n = 1; n < MASK_LANES; n *= 2, across = mask_product(across, across))
        for (int j = 0; j < n; j++)
            s.lane[n + j] = mask_product(s.lane[j], across);
    return s;
}

static inline void mask_next(mask_stream *s, real *factor)      /* of MASK_LANES elements */
{
    for (int j = 0; j < MASK_LANES; j++)
        factor[j] = s->lane[j] < s->mask.limit ? s->mask.kept : 0;
    mask_step(s->lane, s->next);
}

/* to[i] = (add ? to[i] : 0) + x[i] factor_i for i in [from, end); to may be x. */
static inline void mask_apply(gra_mask mask, const real *x, real *to, size_t from, size_t end, bool add)
{
    mask_stream s = mask_begin_at(mask, from, 1, MASK_LANES);
    uint32_t *lane = s.lane;
    size_t i = from;
    for (; i + MASK_LANES <= end; i += MASK_LANES, mask_step(lane, s.next)) {
        real value[MASK_LANES];                     /* apart from `to`, which may be x: so these are vectors */
        for (int j = 0; j < MASK_LANES; j++)
            value[j] = x[i + (size_t)j] * (lane[j] < mask.limit ? mask.kept : 0);
        for (int j = 0; j < MASK_LANES; j++)
            to[i + (size_t)j] = add ? to[i + (size_t)j] + value[j] : value[j];
    }
    for (int j = 0; i < end; i++, j++) {
        real value = x[i] * (lane[j] < mask.limit ? mask.kept : 0);
        to[i] = add ? to[i] + value : value;
    }
}

#endif
