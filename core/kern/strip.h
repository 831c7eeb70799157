/* strip.h: the softmax of attention and its gradient, for a strip: some rows of the scores of one head.
 *
 * A head's scores, (time, keys), never stand in memory as a whole: they are computed a strip of rows at a
 * time, for as many keys as the last of these rows sees, and once more in backward (Dao et al. 2022). A strip
 * stands transposed, the scores for one key in a line: so STRIP_LANES rows are computed at once, each in a
 * lane of the processor's vectors, and no sum and no maximum runs across lanes. */
#ifndef GRADUS_STRIP_H
#define GRADUS_STRIP_H

#include "mask.h"

enum { STRIP_LANES = MASK_LANES };

struct strip_saved {                /* of a row, from forward to backward: P = e^(s score - largest) share */
    real largest, share;                /* the largest score, and 1 / sum of the exponentials */
};

struct scores {                         /* what all heads of an attention have in common */
    int      heads, time, keys;
    bool     causal;
    real     scale;
    size_t   mask_batch, mask_head, mask_row, mask_key;  /* strides of the mask; 0 where it is stretched */
    mask_stream *stream;        /* dropout's random numbers, in the order of P's values; NULL: no dropout */
    uint32_t *dropped;                  /* what was drawn from it, a bit a value, for backward */
    real    *weights;                   /* where P is kept, (batch, heads, time, keys); NULL: it is not */
};

struct strip {
    const struct scores *of;
    size_t   head;                      /* batch and head: b heads + h */
    int      first, rows;               /* rows first, first + 1, ... of this head, */
    int      keys;                      /* and how many keys the last of them sees */
    ptrdiff_t ld;                       /* row i and key j are at j*ld + i; 1: a row by itself, in forward */
    real    *P, *dS;
    struct strip_saved *saved;          /* of the strip's first row, as are */
    const real *mask;                   /* this, for key 0, or NULL, */
    real    *dmask;                     /* and its gradient, or NULL */
};

static inline int visible_keys(const struct scores *s, int row)         /* how many keys a row sees */
{
    const int n = s->causal ? row + s->keys - s->time + 1 : s->keys;
    return n < 0 ? 0 : n;
}

/* Small strips skip more of the triangle that a causal mask hides, large ones make better matrix products. */
static inline int strip_rows(const struct scores *s) { return s->time > 128 ? 2 * STRIP_LANES : STRIP_LANES; }
static inline int strip_count(const struct scores *s)
{
    return (s->time + strip_rows(s) - 1) / strip_rows(s);
}

/* Lines are padded against conflicts of cache sets. */
static inline ptrdiff_t strip_ld(const struct scores *s) { return strip_rows(s) + 16; }

/* Tiles of dropout's bits: so many for STRIP_LANES rows, and so many of these for a head. */
static inline size_t tiles_across(const struct scores *s)
{
    return ((size_t)s->keys + MASK_STEPS - 1) / MASK_STEPS;
}
static inline size_t tiles_down(const struct scores *s)
{
    return ((size_t)s->time + STRIP_LANES - 1) / STRIP_LANES;
}

/* P holds q k^T. Afterwards it holds D = dropout(softmax(s q k^T + mask)). */
void gra_strip_softmax(const gra_machine *machine, struct strip *p);

/* P holds q k^T and dS holds dD = dy v^T. Afterwards P holds D, and dS the gradient of q k^T; the mask's
 * gradient is added to dmask. */
void gra_strip_softmax_back(const gra_machine *machine, struct strip *p);

#endif
