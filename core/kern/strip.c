/* strip: see strip.h. Below, `lanes` are STRIP_LANES neighbouring rows of a strip: value l of a line belongs
 * to the l-th of these rows. Lanes past the strip's last row have unspecified values; they see no key (seen
 * is 0), so nothing is computed from them. A strip has two buffers, and each step overwrites what it has
 * read:
 *
 *                 forward                              backward
 *     p->D        q k^T  ->  P  ->  D                  q k^T  ->  P (for dS)  ->  D (for dv)
 *     p->dS       -                                    dD = dy v^T  ->  dP  ->  dS (for dq and dk)
 *
 * core/ops/attention.c computes the products at both ends of a row. */
#include "strip.h"
#include "../machine/machine.h"
#include "vmath.h"

struct lanes {
    int      n, keys;                   /* how many rows there are, and how many keys the last row sees */
    int      seen[STRIP_LANES];         /* how many keys each row sees */
    real    *P, *dS;                    /* the first line of these rows, in the strip's D and dS */
    ptrdiff_t ld;                       /* values from one line to the next */
    struct strip_saved *saved;
    uint32_t *dropped;                  /* the dropout bits of these rows, a row of tiles */
};

static struct lanes lanes_at(const struct strip *p, int i)      /* of the strip's rows from i on */
{
    const struct attention *s = p->of;
    struct lanes r = { .n = p->D.rows - i < STRIP_LANES ? p->D.rows - i : STRIP_LANES, .P = p->D.p + i,
                       .dS = p->dS.p + i, .ld = p->D.col, .saved = p->saved + i };
    for (int l = 0; l < STRIP_LANES; l++)
        r.seen[l] = l < r.n ? visible_keys(s, p->first + i + l) : 0;
    r.keys = r.seen[r.n - 1];
    if (s->stream) {
        const size_t down = p->head * tiles_down(s) + (size_t)((p->first + i) / STRIP_LANES);
        r.dropped = s->dropped + down * tiles_across(s) * MASK_LANES;
    }
    return r;
}

/* Zeroes x for keys past the causal limit of these rows; later rows of the strip see these keys. */
static void zero_hidden(const struct strip *p, const struct lanes *r, real *x)
{
    for (int j = r->keys; j < p->D.cols; j++)
        memset(x + j * r->ld, 0, STRIP_LANES * sizeof(real));
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
            x[j * r->ld + l] *= mask_factor(tile[l], j % MASK_STEPS, kept);
    }
}

/* ---- the mask that is added to the scores ---- */

static void add_mask(const struct strip *p, int i, const struct lanes *r)       /* P = scale P + mask */
{
    for (int l = 0; l < r->n; l++) {
        const real *mask = p->mask + (size_t)(i + l) * p->of->mask_row;
        for (int j = 0; j < r->seen[l]; j++)
            r->P[j * r->ld + l] = p->of->scale * r->P[j * r->ld + l] + mask[(size_t)j * p->of->mask_key];
    }
}

/* dmask += dS,  dS_ij = P_ij (dP_ij - mean_i), where mean_i = sum_l dP_il P_il, and r->dS still holds dP */
static void add_mask_back(const struct strip *p, int i, const struct lanes *r, const real *mean)
{
    for (int l = 0; l < r->n; l++) {
        double *dmask = p->dmask + (size_t)(i + l) * p->of->mask_row;
        for (int j = 0; j < r->seen[l]; j++)
            dmask[(size_t)j * p->of->mask_key] +=
                (double)(r->P[j * r->ld + l] * (r->dS[j * r->ld + l] - mean[l]));
    }
}

/* ---- softmax ---- */

enum { KEYS = 64 };                     /* terms of a block, summed in real; blocks are summed in double */

static inline void add_block(const real *part, bool several, double *whole, real *sum)
{
    for (int l = 0; several && l < STRIP_LANES; l++)
        whole[l] += (double)part[l];
    for (int l = 0; l < STRIP_LANES; l++)
        sum[l] = several ? (real)whole[l] : part[l];
}

static void keep_weights(const struct strip *p, int i, const struct lanes *r)
{
    const size_t keys = (size_t)p->of->keys, row = p->head * (size_t)p->of->time + (size_t)(p->first + i);
    for (int l = 0; l < r->n; l++) {
        real *weights = p->of->weights + (row + (size_t)l) * keys;
        for (int j = 0; j < r->seen[l]; j++)
            weights[j] = r->P[j * r->ld + l];
        memset(weights + r->seen[l], 0, (keys - (size_t)r->seen[l]) * sizeof(real));
    }
}

static void softmax(struct strip *p, size_t from, size_t to)            /* rows */
{
    const real scale = p->mask ? 1 : p->of->scale;      /* add_mask has multiplied by the scale */
    for (int i = (int)from; i < (int)to; i += STRIP_LANES) {
        const struct lanes r = lanes_at(p, i);
        real largest[STRIP_LANES], sum[STRIP_LANES];
        double whole[STRIP_LANES] = { 0 };
        if (p->mask)
            add_mask(p, i, &r);
        for (int l = 0; l < STRIP_LANES; l++) {
            largest[l] = -(real)INFINITY;
            sum[l] = 0;
        }
        for (int j = 0; j < r.keys; j++)                /* the largest score */
            for (int l = 0; l < STRIP_LANES; l++) {
                const real value = r.P[j * r.ld + l], score = j < r.seen[l] ? value : -(real)INFINITY;
                largest[l] = score > largest[l] ? score : largest[l];
            }
        for (int l = 0; l < STRIP_LANES; l++)           /* 0 if all are -inf, which makes each e^score 0 */
            largest[l] = largest[l] == -(real)INFINITY ? 0 : largest[l];
        for (int first = 0, end; first < r.keys; first = end) { /* e^(scale (score - largest)), their sum */
            real part[STRIP_LANES] = { 0 };
            end = r.keys - first < KEYS ? r.keys : first + KEYS;
            for (int j = first; j < end; j++)
                for (int l = 0; l < STRIP_LANES; l++) {
                    const real e = real_exp_below_0(scale * (r.P[j * r.ld + l] - largest[l]));
                    r.P[j * r.ld + l] = j < r.seen[l] ? e : 0;
                    part[l] += r.P[j * r.ld + l];
                }
            add_block(part, r.keys > KEYS, whole, sum);
        }
        for (int l = 0; l < STRIP_LANES; l++)           /* sum is 0 without keys, or if all scores are -inf */
            sum[l] = sum[l] == 0 ? 0 : 1 / sum[l];
        for (int j = 0; j < r.keys; j++)
            for (int l = 0; l < STRIP_LANES; l++)
                r.P[j * r.ld + l] *= sum[l];
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

/* Computes scale dS in double, for rows of more than LONG_ROW keys. A row of dq is the sum of scale dS k,
 * whose terms mostly cancel: the sum of n independent terms is about sqrt(n) times one term, 1 / sqrt(n) of
 * the sum of their magnitudes. Rounding errors that differ from key to key cancel too. Errors common to all
 * keys do not cancel: errors of the mean of dP, of dP - mean (which is no more precise than dP), and of the
 * weights P (whose sum is not exactly 1 after rounding). */
enum { LONG_ROW = 1 << 16 };

static inline void long_rows_back(const struct lanes *r, real s)
{
    double mean[STRIP_LANES] = { 0 }, weights[STRIP_LANES] = { 0 };
    for (int j = 0; j < r->keys; j++)
        for (int l = 0; l < STRIP_LANES; l++) {
            const double P = j < r->seen[l] ? (double)r->P[j * r->ld + l] : 0;
            const double dP = j < r->seen[l] ? (double)r->dS[j * r->ld + l] : 0;
            mean[l] += P * dP;
            weights[l] += P;
        }
    for (int l = 0; l < STRIP_LANES; l++)               /* 0, if all weights are 0 */
        mean[l] /= weights[l] == 0 ? 1 : weights[l];
    for (int j = 0; j < r->keys; j++)
        for (int l = 0; l < STRIP_LANES; l++) {
            const double P = (double)r->P[j * r->ld + l], dP = (double)r->dS[j * r->ld + l];
            r->P[j * r->ld + l]  = j < r->seen[l] ? (real)P : 0;
            r->dS[j * r->ld + l] = j < r->seen[l] ? (real)(P * (dP - mean[l]) * (double)s) : 0;
        }
}

static inline void rows_back(const struct lanes *r, const real *mean, real s)           /* all other rows */
{
    for (int j = 0; j < r->keys; j++)
        for (int l = 0; l < STRIP_LANES; l++) {
            const real P = r->P[j * r->ld + l], dS = P * (r->dS[j * r->ld + l] - mean[l]) * s;
            r->P[j * r->ld + l]  = j < r->seen[l] ? P : 0;
            r->dS[j * r->ld + l] = j < r->seen[l] ? dS : 0;
        }
}

static void softmax_back(struct strip *p, size_t from, size_t to)       /* rows */
{
    const real s = p->of->scale, scale = p->mask ? 1 : s;       /* add_mask has multiplied by the scale */
    for (int i = (int)from; i < (int)to; i += STRIP_LANES) {
        const struct lanes r = lanes_at(p, i);
        real largest[STRIP_LANES], inv_sum[STRIP_LANES], mean[STRIP_LANES];
        double whole[STRIP_LANES] = { 0 };
        if (p->mask)
            add_mask(p, i, &r);
        for (int l = 0; l < STRIP_LANES; l++) {
            mean[l] = 0;
            largest[l] = l < r.n ? r.saved[l].largest : 0;
            inv_sum[l] = l < r.n ? r.saved[l].inv_sum : 0;
        }
        if (p->of->stream)                              /* dP = dropout(dD), with forward's bits */
            drop(p, &r, r.dS);
        for (int first = 0, end; first < r.keys; first = end) { /* P again, and sum_j dP P, the mean of dP */
            real part[STRIP_LANES] = { 0 };
            end = r.keys - first < KEYS ? r.keys : first + KEYS;
            for (int j = first; j < end; j++)
                for (int l = 0; l < STRIP_LANES; l++) {
                    const real e = real_exp_below_0(scale * (r.P[j * r.ld + l] - largest[l]));
                    const real P = e * inv_sum[l];
                    const real value = P * r.dS[j * r.ld + l];
                    r.P[j * r.ld + l] = P;
                    part[l] += j < r.seen[l] ? value : 0;
                }
            add_block(part, r.keys > KEYS, whole, mean);
        }
        if (p->dmask)
            add_mask_back(p, i, &r, mean);
        if (r.keys > LONG_ROW)                          /* the gradient of q k^T: scale P (dP - mean) */
            long_rows_back(&r, s);
        else
            rows_back(&r, mean, s);
        zero_hidden(p, &r, r.P);
        zero_hidden(p, &r, r.dS);
        if (p->of->stream)                              /* P becomes D */
            drop(p, &r, r.P);
    }
}

/* A single row, as in generation with a key-value cache: scores are contiguous, so keys are the lanes. */
static void softmax_row(struct strip *p, size_t from, size_t to)
{
    const size_t keys = (size_t)p->D.cols;
    const real scale = p->mask ? 1 : p->of->scale;
    real *P = p->D.p;
    (void)from, (void)to;
    for (size_t j = 0; p->mask && j < keys; j++)
        P[j] = p->of->scale * P[j] + p->mask[j * p->of->mask_key];
    const real most = real_max(P, keys), largest = most == -(real)INFINITY ? 0 : most;
    for (size_t j = 0; j < keys; j++)
        P[j] = real_exp_below_0(scale * (P[j] - largest));
    const real sum = real_sum(P, keys), inv_sum = sum == 0 ? 0 : 1 / sum;
    for (size_t j = 0; j < keys; j++)
        P[j] *= inv_sum;
    *p->saved = (struct strip_saved){ largest, inv_sum };
    if (p->of->weights)
        memcpy(p->of->weights + p->head * keys, P, keys * sizeof(real));
}

GRA_VARIANTS(softmax_on, softmax, struct strip)
GRA_VARIANTS(softmax_row_on, softmax_row, struct strip)
GRA_VARIANTS(softmax_back_on, softmax_back, struct strip)

void gra_strip_softmax(struct strip *p)
{
    gra_variant(p->machine, p->D.col == 1 ? softmax_row_on : softmax_on)(p, 0, (size_t)p->D.rows, 0);
}

void gra_strip_softmax_back(struct strip *p)
{
    gra_variant(p->machine, softmax_back_on)(p, 0, (size_t)p->D.rows, 0);
}

/* ---- where a strip's matrices are ---- */

/* Rows of one head in one sequence of x, (batch, rows, heads * width). `values`: x's data or its gradient. */
static gra_mat head_rows(const gra_tensor *x, real *values, int width, size_t batch, int head, int first,
                         int n)
{
    const int rows = x->shape.dim[1], cols = x->shape.dim[2];
    if (!values)
        return (gra_mat){ 0 };
    const gra_mat all_heads = gra_mat_of(values + batch * (size_t)rows * (size_t)cols, rows, cols);
    return gra_mat_part(all_heads, first, n, head * width, width);
}

struct strip gra_strip_at(const gra_tensor *y, const struct attention *of, size_t head, int i, int worker)
{
    const gra_tensor *q = y->in[0], *k = y->in[1], *v = y->in[2], *mask = y->in[3];
    const size_t b = head / (size_t)of->heads;
    const int h = (int)(head % (size_t)of->heads), kv = h / (of->heads / of->kv_heads);
    const int most = strip_rows(of), first = i * most, n = of->time - first < most ? of->time - first : most;
    const int keys = visible_keys(of, first + n - 1), d = of->d, d_v = of->d_v;
    const size_t at_mask = b * of->mask_batch + (size_t)h * of->mask_head + (size_t)first * of->mask_row;
    real *D = of->buffers + (size_t)worker * of->buffers_each, *dS = D + of->keys * of->ld;
    return (struct strip){
        .of = of, .machine = of->machine, .worker = worker, .head = head, .first = first,
        .q = head_rows(q, q->data, d, b, h, first, n),      .dq = head_rows(q, q->grad, d, b, h, first, n),
        .k = head_rows(k, k->data, d, b, kv, 0, keys),      .dk = head_rows(k, k->grad, d, b, kv, 0, keys),
        .v = head_rows(v, v->data, d_v, b, kv, 0, keys),    .dv = head_rows(v, v->grad, d_v, b, kv, 0, keys),
        .y = head_rows(y, y->data, d_v, b, h, first, n),    .dy = head_rows(y, y->grad, d_v, b, h, first, n),
        .D = { D, n, keys, 1, of->ld },                     .dS = { dS, n, keys, 1, of->ld },
        .mask = mask ? mask->data + at_mask : NULL, .dmask = of->dmask ? of->dmask + at_mask : NULL,
        .saved = (struct strip_saved *)(void *)y->saved + head * (size_t)of->time + first,
    };
}
