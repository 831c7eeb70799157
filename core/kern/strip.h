/* strip.h: the softmax of attention and its gradient, for a strip: some rows of the scores of one head.
 *
 * A head's scores, (time, keys), are never in memory as a whole: they are computed a strip of rows at a time,
 * for as many keys as the last of these rows sees, and once more in backward (Dao et al. 2022). A strip is
 * stored transposed: the scores of its rows for one key are contiguous, a line. So STRIP_LANES rows are
 * computed at once, each in a lane of the processor's vectors, and no sum or maximum runs across lanes. */
#ifndef GRADUS_STRIP_H
#define GRADUS_STRIP_H

#include "mask.h"

enum { STRIP_LANES = MASK_LANES };

struct strip_saved {                    /* saved of a row: from it backward computes P again */
    real largest, share;                /* the largest score, and 1 / sum of the exponentials */
};

struct scores {                         /* what all heads of an attention have in common */
    int      heads, time, keys;
    bool     causal;
    real     scale;
    size_t   mask_batch, mask_head, mask_row, mask_key;  /* strides of the mask; 0 where it is stretched */
    mask_stream *stream;                /* dropout's random numbers, one per value of P; NULL: no dropout */
    uint32_t *dropped;                  /* which values dropout zeroes, one bit each, saved for backward */
    real    *weights;                   /* a copy of P is kept here, (batch, heads, time, keys); or NULL */
};

struct strip {
    const struct scores *of;
    size_t   head;                      /* head h of batch b has the number b*heads + h */
    int      first, rows;               /* the strip is the rows first, ..., first + rows - 1 of this head */
    int      keys;                      /* how many keys the last of these rows sees */
    ptrdiff_t ld;                       /* leading dimension: row i, key j is P[j*ld + i]; 1: a single row */
    real    *P, *dS;                    /* scores, then their softmax; and its gradient, then theirs */
    struct strip_saved *saved;          /* what is saved of the first row; the next row's is next to it */
    const real *mask;                   /* the mask's value for the first row and key 0, or NULL */
    real    *dmask;                     /* the gradient of that value, or NULL */
};

static inline int visible_keys(const struct scores *s, int row)         /* how many keys this row sees */
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

/* The leading dimension of a strip: lines are padded, so that they do not compete for the same cache sets. */
static inline ptrdiff_t strip_ld(const struct scores *s) { return strip_rows(s) + 16; }

/* Dropout's bits are stored in tiles of STRIP_LANES rows by MASK_STEPS keys: how many a head has. */
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
