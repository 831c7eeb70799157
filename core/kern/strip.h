/* strip.h: the strips of attention: which matrices a strip multiplies, its softmax, and softmax's gradient.
 *
 * A head's scores, (time, keys), are never in memory as a whole. They are computed one strip of neighbouring
 * rows at a time, for as many keys as the last row of the strip sees, and again in backward (Dao et al.
 * 2022). A strip is stored transposed, with a line for each key:
 *
 *              row 0  row 1  row 2  ...
 *     key 0      .      .      .             a line: the scores of all rows of the strip for one key
 *     key 1      .      .      .             the next line
 *
 * So STRIP_LANES rows are computed at once, each in a lane of the processor's vectors, and no sum or maximum
 * runs across lanes. */
#ifndef GRADUS_STRIP_H
#define GRADUS_STRIP_H

#include "mask.h"
#include "../kernel.h"

enum { STRIP_LANES = MASK_LANES };

struct strip_saved {                    /* saved for each row: backward computes P again from it */
    real largest, inv_sum;              /* the largest score, and 1 / sum of the exponentials */
};

struct attention {                      /* common to all strips of an attention */
    gra_machine *machine;
    int      heads, kv_heads, time, keys;
    int      d, d_v;                    /* columns of a head: of q and k, and of v and y */
    bool     causal;
    bool     heads_first;               /* backward handles all sequences of a head before the next head */
    real     scale;
    size_t   mask_batch, mask_head, mask_row, mask_key;  /* strides of the mask; 0 where it is stretched */
    mask_stream *stream;                /* dropout's random numbers, one per value of P; NULL: no dropout */
    uint32_t *dropped;                  /* which values dropout zeroes, one bit each, saved for backward */
    double  *dmask;                     /* the mask's gradient, summed in double: strips share it; or NULL */
    double  *sums;                      /* each worker's sums of dk and dv if strips are many, or NULL */
    real    *weights;                   /* a copy of P is kept here, (batch, heads, time, keys); or NULL */
    real    *buffers;                   /* each worker's buffer, for a strip's D and dS */
    size_t   buffers_each;              /* values in a worker's buffer */
    ptrdiff_t ld;                       /* values from one line to the next; 1 where a strip is one row */
};

/* Some rows of a head. The matrices are parts of the tensors of the same name; if a gradient is not needed,
 * its p is NULL. */
struct strip {
    const struct attention *of;
    gra_machine *machine;
    int      worker;
    size_t   head;                      /* head h of batch b has the number b*heads + h */
    int      first;                     /* row of the head that is the strip's first */
    gra_mat  q, y, dq, dy;              /* (rows, d or d_v) */
    gra_mat  k, v, dk, dv;              /* (keys, d or d_v): the keys that the last of these rows sees */
    gra_mat  D, dS;                     /* (rows, keys), in this worker's buffers; D.row is 1, D.col the ld */
    struct strip_saved *saved;          /* the values saved for the first row, followed by the next row's */
    const real *mask;                   /* the mask's value for the first row and key 0, or NULL */
    double  *dmask;                     /* the sum so far of that value's gradient, or NULL */
};

static inline int visible_keys(const struct attention *s, int row)         /* how many keys this row sees */
{
    const int n = s->causal ? row + s->keys - s->time + 1 : s->keys;
    return n < 0 ? 0 : n;
}

/* Small strips skip more of the triangle that a causal mask hides; large strips multiply faster. */
static inline int strip_rows(const struct attention *s) { return STRIP_LANES * (s->time > 128 ? 2 : 1); }
static inline int strip_count(const struct attention *s)
{
    return (s->time + strip_rows(s) - 1) / strip_rows(s);
}

/* The leading dimension of a strip: lines are padded to keep them from competing for the same cache sets. */
static inline ptrdiff_t strip_ld(const struct attention *s) { return strip_rows(s) + 16; }

/* The number of tiles of a head. A tile has dropout's bits for STRIP_LANES rows and MASK_STEPS keys. */
static inline size_t tiles_across(const struct attention *s)
{
    return ((size_t)s->keys + MASK_STEPS - 1) / MASK_STEPS;
}
static inline size_t tiles_down(const struct attention *s)
{
    return ((size_t)s->time + STRIP_LANES - 1) / STRIP_LANES;
}

/* Strip i of a head, for the attention y of q, k, v and a mask (y->in). */
struct strip gra_strip_at(const gra_tensor *y, const struct attention *of, size_t head, int i, int worker);

/* Before: p->D contains q k^T. After: D = dropout(P), P = softmax(scale q k^T + mask). */
void gra_strip_softmax(struct strip *p);

/* Before: p->D contains q k^T, and p->dS contains dD = dy v^T. After: p->D contains D, and p->dS the gradient
 * of q k^T, which is scale P_ij (dP_ij - sum_l dP_il P_il). The mask's gradient is added to dmask. */
void gra_strip_softmax_back(struct strip *p);

#endif
