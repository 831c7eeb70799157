/* strip: see strip.h. Below, `lanes` are STRIP_LANES neighbouring rows of a strip: value l of a line belongs
 * to row l of them. Lanes beyond the strip's last row have unspecified values; they see no key (seen is 0),
 * so that nothing is computed from them. */
#include "strip.h"
#include "../internal.h"
#include "vmath.h"

struct lanes {
    int      n, keys;                   /* how many rows there are, and how many keys the last of them sees */
    int      seen[STRIP_LANES];         /* how many keys each of them sees */
    real    *P, *dS;
    struct strip_saved *saved;
    uint32_t *dropped;                  /* these rows' dropout bits, a row of tiles */
};

static struct lanes lanes_at(const struct strip *p, int i)      /* of the strip's rows from i on */
{
    const struct scores *s = p->of;
    struct lanes r = { .n = p->rows - i < STRIP_LANES ? p->rows - i : STRIP_LANES, .P = p->P + i,
                       .dS = p->dS + i, .saved = p->saved + i };
    for (int l = 0; l < STRIP_LANES; l++)
        r.seen[l] = l < r.n ? visible_keys(s, p->first + i + l) : 0;
    r.keys = r.seen[r.n - 1];
    if (s->stream) {
        const size_t down = p->head * tiles_down(s) + (size_t)((p->first + i) / STRIP_LANES);
        r.dropped = s->dropped + down * tiles_across(s) * MASK_LANES;
    }
    return r;
}

/* Zeros for the keys beyond the causal limit of these rows, which later rows of the strip see. */
static void zero_hidden(const struct strip *p, const struct lanes *r, real *x)
{
    for (int j = r->keys; j < p->keys; j++)
        memset(x + j * p->ld, 0, STRIP_LANES * sizeof(real));
}

/* ---- dropout ---- */

static void draw(const struct strip *p, int i, const struct lanes *r)
{
    const size_t place = (p->head * (size_t)p->of->time + (size_t)(p->first + i)) * (size_t)p->of->keys;
    mask_stream stream = mask_skip(p->of->stream, place);
    for (int j = 0; j < r->keys; j += MASK_STEPS)
        mask_draw(&stream, r->keys - j < MASK_STEPS ? r->keys - j : MASK_STEPS,
                  r->dropped + j / MASK_STEPS * MASK_LANES);
}

static void drop(const struct strip *p, const struct lanes *r, real *x)
{
    const real kept = p->of->stream->kept;
    for (int j = 0; j < r->keys; j++) {
        const uint32_t *tile = r->dropped + j / MASK_STEPS * MASK_LANES;
        for (int l = 0; l < STRIP_LANES; l++)
            x[j * p->ld + l] *= mask_factor(tile[l], j % MASK_STEPS, kept);
    }
}

/* ---- the mask that is added to the scores ---- */

static void add_mask(const struct strip *p, int i, const struct lanes *r)       /* P = s P + mask */
{
    for (int l = 0; l < r->n; l++) {
        const real *mask = p->mask + (size_t)(i + l) * p->of->mask_row;
        for (int j = 0; j < r->seen[l]; j++)
            r->P[j * p->ld + l] = p->of->scale * r->P[j * p->ld + l] + mask[(size_t)j * p->of->mask_key];
    }
}

/* dmask += P (dP - mean), where dS still holds dP */
static void add_mask_back(const struct strip *p, int i, const struct lanes *r, const real *mean)
{
    for (int l = 0; l < r->n; l++) {
        real *dmask = p->dmask + (size_t)(i + l) * p->of->mask_row;
        for (int j = 0; j < r->seen[l]; j++)
            dmask[(size_t)j * p->of->mask_key] += r->P[j * p->ld + l] * (r->dS[j * p->ld + l] - mean[l]);
    }
}

/* ---- softmax ---- */

static void keep_weights(const struct strip *p, int i, const struct lanes *r)
{
    const size_t keys = (size_t)p->of->keys, row = p->head * (size_t)p->of->time + (size_t)(p->first + i);
    for (int l = 0; l < r->n; l++) {
        real *weights = p->of->weights + (row + (size_t)l) * keys;
        for (int j = 0; j < r->seen[l]; j++)
            weights[j] = r->P[j * p->ld + l];
        memset(weights + r->seen[l], 0, (keys - (size_t)r->seen[l]) * sizeof(real));
    }
}

static void softmax(struct strip *p, size_t from, size_t to)            /* rows */
{
    const real scale = p->mask ? 1 : p->of->scale;      /* add_mask has multiplied by the scale */
    for (int i = (int)from; i < (int)to; i += STRIP_LANES) {
        const struct lanes r = lanes_at(p, i);
        real largest[STRIP_LANES], sum[STRIP_LANES];
        if (p->mask)
            add_mask(p, i, &r);
        for (int l = 0; l < STRIP_LANES; l++) {
            largest[l] = -(real)INFINITY;
            sum[l] = 0;
        }
        for (int j = 0; j < r.keys; j++)                /* the largest score */
            for (int l = 0; l < STRIP_LANES; l++) {
                const real value = r.P[j * p->ld + l], score = j < r.seen[l] ? value : -(real)INFINITY;
                largest[l] = score > largest[l] ? score : largest[l];
            }
        for (int l = 0; l < STRIP_LANES; l++)           /* all -inf: then 0, so that each e^score is 0 */
            largest[l] = largest[l] == -(real)INFINITY ? 0 : largest[l];
        for (int j = 0; j < r.keys; j++)                /* e^(s (score - largest)), and their sum */
            for (int l = 0; l < STRIP_LANES; l++) {
                const real e = real_exp_le0(scale * (r.P[j * p->ld + l] - largest[l]));
                r.P[j * p->ld + l] = j < r.seen[l] ? e : 0;
                sum[l] += r.P[j * p->ld + l];
            }
        for (int l = 0; l < STRIP_LANES; l++)
            /* the sum is 0 where the row sees no key, or all its scores are -inf */
            sum[l] = sum[l] == 0 ? 0 : 1 / sum[l];
        for (int j = 0; j < r.keys; j++)
            for (int l = 0; l < STRIP_LANES; l++)
                r.P[j * p->ld + l] *= sum[l];
        for (int l = 0; l < r.n; l++)
            r.saved[l] = (struct strip_saved){ largest[l], sum[l] };
        zero_hidden(p, &r, r.P);
        if (p->of->weights)
            keep_weights(p, i, &r);
        if (p->of->stream) {
            draw(p, i, &r);
            drop(p, &r, r.P);
        }
    }
}

static void softmax_back(struct strip *p, size_t from, size_t to)       /* rows */
{
    const real s = p->of->scale, scale = p->mask ? 1 : s;
    for (int i = (int)from; i < (int)to; i += STRIP_LANES) {
        const struct lanes r = lanes_at(p, i);
        real largest[STRIP_LANES], share[STRIP_LANES], mean[STRIP_LANES];
        if (p->mask)
            add_mask(p, i, &r);
        for (int l = 0; l < STRIP_LANES; l++) {
            largest[l] = l < r.n ? r.saved[l].largest : 0;
            share[l] = l < r.n ? r.saved[l].share : 0;
            mean[l] = 0;
        }
        if (p->of->stream)                              /* dP = dropout(dD) */
            drop(p, &r, r.dS);
        for (int j = 0; j < r.keys; j++)                /* P again, and sum_j dP P, the mean of dP */
            for (int l = 0; l < STRIP_LANES; l++) {
                const real P = real_exp_le0(scale * (r.P[j * p->ld + l] - largest[l])) * share[l];
                const real value = P * r.dS[j * p->ld + l];
                r.P[j * p->ld + l] = P;
                mean[l] += j < r.seen[l] ? value : 0;
            }
        if (p->dmask)
            add_mask_back(p, i, &r, mean);
        /* dS = P (dP - mean), times s: the gradient of q k^T */
        for (int j = 0; j < r.keys; j++)
            for (int l = 0; l < STRIP_LANES; l++) {
                const real P = r.P[j * p->ld + l], dS = P * (r.dS[j * p->ld + l] - mean[l]) * s;
                r.P[j * p->ld + l]  = j < r.seen[l] ? P : 0;
                r.dS[j * p->ld + l] = j < r.seen[l] ? dS : 0;
            }
        zero_hidden(p, &r, r.P);
        zero_hidden(p, &r, r.dS);
        if (p->of->stream)                              /* D */
            drop(p, &r, r.P);
    }
}

/* A single row, as in generation with a key-value cache: its scores are contiguous, so keys are the lanes. */
static void softmax_row(struct strip *p, size_t from, size_t to)
{
    const size_t keys = (size_t)p->keys;
    const real scale = p->mask ? 1 : p->of->scale;
    (void)from, (void)to;
    for (size_t j = 0; p->mask && j < keys; j++)
        p->P[j] = p->of->scale * p->P[j] + p->mask[j * p->of->mask_key];
    const real most = real_max(p->P, keys), largest = most == -(real)INFINITY ? 0 : most;
    for (size_t j = 0; j < keys; j++)
        p->P[j] = real_exp_le0(scale * (p->P[j] - largest));
    const real sum = real_sum(p->P, keys), share = sum == 0 ? 0 : 1 / sum;
    for (size_t j = 0; j < keys; j++)
        p->P[j] *= share;
    *p->saved = (struct strip_saved){ largest, share };
    if (p->of->weights)
        memcpy(p->of->weights + p->head * keys, p->P, keys * sizeof(real));
}

GRA_VARIANTS(softmax_on, softmax, struct strip)
GRA_VARIANTS(softmax_row_on, softmax_row, struct strip)
GRA_VARIANTS(softmax_back_on, softmax_back, struct strip)

void gra_strip_softmax(const gra_machine *machine, struct strip *p)
{
    gra_variant(machine, p->ld == 1 ? softmax_row_on : softmax_on)(p, 0, (size_t)p->rows, 0);
}

void gra_strip_softmax_back(const gra_machine *machine, struct strip *p)
{
    gra_variant(machine, softmax_back_on)(p, 0, (size_t)p->rows, 0);
}
