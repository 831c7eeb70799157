/* mask.h: dropout's mask, y_i = x_i / (1 - p) for the elements that a stream of random numbers keeps, else 0.
 *
 * The mask is PyTorch's (mcg31.h): one number of the generator starts a stream x_0, x_1 = a x_0 mod m, ...,
 * and element i is kept where x_i is below a limit. Any chunk of work skips ahead to its own place in the
 * stream. Forward stores the result, one bit per element, for backward. */
#ifndef GRADUS_MASK_H
#define GRADUS_MASK_H

#include "../random/mcg31.h"
#include "../op.h"

/* The stream is drawn as MASK_LANES streams side by side: a step of all lanes takes a few vector operations.
 * The bits of MASK_STEPS steps are a tile: bit s of its word l is lane l's in step s. */
enum { MASK_LANES = 32, MASK_STEPS = 32, MASK_TILE = MASK_LANES * MASK_STEPS };

static inline size_t mask_bytes(size_t tiles) { return tiles * MASK_LANES * sizeof(uint32_t); }

typedef struct mask_stream {
    uint32_t lane[MASK_LANES];                      /* the next number of each lane */
    uint32_t once, twice;                       /* multipliers that advance a lane by one step, and by two */
    uint32_t limit;                                 /* an element is kept where its number is below this */
    real     kept;                                  /* 1 / (1 - p), the factor of kept elements */
} mask_stream;

/* Starts a mask at element 0: lane l + 1 begins `apart` elements after lane l, and a step advances each lane
 * by `step` elements. */
static inline mask_stream mask_begin(gra_rng *rng, double p, size_t apart, size_t step)
{
    mask_stream s = { .lane[0] = mcg31_start(rng), .once = mcg31_skip(1, step),
                      .limit = mcg31_limit(p), .kept = 1 / (real)(1 - p) };
    uint32_t across = mcg31_skip(1, apart);
    s.twice = mcg31_product(s.once, s.once);
    for (int n = 1; n < MASK_LANES; n *= 2, across = mcg31_product(across, across))
        for (int l = 0; l < n; l++)
            s.lane[n + l] = mcg31_product(s.lane[l], across);
    return s;
}

static inline mask_stream mask_skip(const mask_stream *from, size_t elements)
{
    mask_stream s = *from;
    const uint32_t across = mcg31_skip(1, elements);
    for (int l = 0; l < MASK_LANES; l++)
        s.lane[l] = mcg31_product(s.lane[l], across);
    return s;
}

/* Draws a tile, or its first steps, two steps at a time, since neither depends on the other. Where x < limit
 * < 2^31, the top bit of x - limit is set; this bit is shifted into the word from the left. */
static inline void mask_draw(mask_stream *s, int steps, uint32_t *tile)
{
    const uint32_t top = (uint32_t)1 << 31, limit = s->limit, once = s->once, twice = s->twice;
    uint32_t lane[MASK_LANES], bits[MASK_LANES] = { 0 };
    int drawn = 0;
    memcpy(lane, s->lane, sizeof lane);
    for (; drawn < steps; drawn += 2)
        for (int l = 0; l < MASK_LANES; l++) {
            const uint32_t x = lane[l], next = mcg31_product(x, once);
            bits[l] = bits[l] >> 2 | ((x - limit) & top) >> 1 | ((next - limit) & top);
            lane[l] = mcg31_product(x, twice);
        }
    memcpy(s->lane, lane, sizeof lane);
    for (int l = 0; l < MASK_LANES; l++)
        tile[l] = bits[l] >> (MASK_STEPS - drawn);
}

static inline real mask_factor(uint32_t word, int step, real kept)
{
    return word & (uint32_t)1 << step ? kept : 0;
}

#endif
