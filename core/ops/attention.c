/* attention: in each head, with s = 1/sqrt(d), d the width of a head (Vaswani et al. 2017),
 *
 *     P = softmax(s q k^T),  y = D v,  D = dropout(P)
 *     dv += D^T dy,  dD = dy v^T,  dP = dropout's share of dD,
 *     dS = P (dP - sum_j dP P) s,  dq += dS k,  dk += dS^T q.
 *
 * q is (batch, time, heads d), k (batch, keys, kv_heads d), v (batch, keys, kv_heads d_v), y (batch, time,
 * heads d_v): each head has d or d_v columns, side by side. Where k and v have fewer heads than q, neighbours share
 * one: query head h has key-value head h kv_heads / heads (Ainslie et al. 2023). Causal: query i sees the keys up to
 * i + keys - time; a row that sees none, or whose scores are all -inf, is zero and has no gradient.
 *
 * P, (time, keys) a head, never stands in memory: it is computed a strip of rows at a time, as wide as the
 * strip's last row sees, and once more in backward (Dao et al. 2022). Saved: of each row the largest score
 * and 1 / sum, from which backward makes the same P again, and of each value a bit: dropout's mask. */
#include "../internal.h"
#include "../kern/mask.h"
#include "../kern/vmath.h"

struct args {
    int      heads, kv_heads, time, keys;
    int      d, d_v;                    /* columns of one head, in q and k and in v and y */
    bool     causal;
    real     scale;
    bool     drops;                     /* the step trains and dropout > 0: */
    mask_stream *mask;                  /* its beginning: lanes are rows, a step is a key */
    uint32_t *tiles;                    /* and what was drawn from it, for backward */
    real    *room;                      /* each worker's strips, */
    size_t   room_each;                 /* so many values */
    real    *weights;                   /* (batch, heads, time, keys), for those who look: P, */
    gra_tensor *kept;                   /* and as a tensor */
};

static size_t saved(const gra_tensor *y)                /* (batch, heads, time, 2) */
{
    const struct args *s = y->args;
    return (size_t)y->shape.dim[0] * (size_t)s->heads * (size_t)s->time * 2;
}

/* ---- a strip ---- */

/* A strip stands transposed, a key in a line: so what is done to a row is done to ABREAST rows at once, each in a
 * lane of the processor's vectors, and no sum or maximum runs across lanes. */
enum { ABREAST = MASK_LANES };

struct strip {
    const struct args *s;
    int      rows, first, keys;         /* rows from `first` on, and how many keys the last of them sees */
    ptrdiff_t ld;                       /* of P and dS */
    real    *P, *dS;                    /* (keys, rows): P becomes D, dS was dD */
    real    *saved, *weights;           /* of its first row */
    size_t   head;                      /* among all heads of the batch */
    size_t   place;                     /* of P's first value among all of P: where its mask begins */
    gra_mat  q, k, v, dy;               /* its rows and its head's columns */
    real    *to_y, *dq, *dk, *dv;       /* where these are written; NULL: not wanted */
};

static int visible(const struct args *s, int row)       /* how many keys it sees */
{
    int n = s->causal ? row + s->keys - s->time + 1 : s->keys;
    return n < 0 ? 0 : n;
}

/* Few rows skip more of the half that nobody sees, many make better products. */
static int strip_rows(const struct args *s) { return s->time > 128 ? 2 * ABREAST : ABREAST; }
static int strips(const struct args *s)     { return (s->time + strip_rows(s) - 1) / strip_rows(s); }

/* Lines of a strip lie a little apart, so they do not meet in the cache. */
static ptrdiff_t leading(const struct args *s) { return strip_rows(s) + 16; }

/* A head's mask: so many tiles for ABREAST rows; those of the rows from `row` on; NULL: there is none. */
static size_t tiles_across(const struct args *s) { return ((size_t)s->keys + MASK_STEPS - 1) / MASK_STEPS; }
static size_t tiles_down(const struct args *s)   { return ((size_t)s->time + ABREAST - 1) / ABREAST; }
static uint32_t *tiles_at(const struct args *s, size_t head, int row)
{
    const size_t down = head * tiles_down(s) + (size_t)(row / ABREAST);
    return s->tiles ? s->tiles + down * tiles_across(s) * MASK_LANES : NULL;
}

static real *shifted(real *p, size_t by)        { return p ? p + by : NULL; }
static gra_mat turned(gra_mat x)                { return (gra_mat){ x.p, x.col, x.row }; }

/* The i-th strip of head u % heads in sequence u / heads. */
static struct strip strip_at(gra_tensor *y, size_t u, int i, int worker)
{
    const struct args *s = y->args;
    const gra_tensor *q = y->in[0], *k = y->in[1], *v = y->in[2];
    const size_t b = u / (size_t)s->heads, h = u % (size_t)s->heads, kv = h / (size_t)(s->heads / s->kv_heads);
    const int most = strip_rows(s), first = i * most, rows = s->time - first < most ? s->time - first : most;
    const size_t row = b * (size_t)s->time + (size_t)first, weight_row = u * (size_t)s->time + (size_t)first;
    const size_t key = b * (size_t)s->keys, d = (size_t)s->d, d_v = (size_t)s->d_v;
    const size_t at_q = row * d * (size_t)s->heads + h * d, at_k = key * d * (size_t)s->kv_heads + kv * d;
    const size_t at_y = row * d_v * (size_t)s->heads + h * d_v, at_v = key * d_v * (size_t)s->kv_heads + kv * d_v;
    const ptrdiff_t ld = leading(s);
    real *room = s->room + (size_t)worker * s->room_each;
    return (struct strip){
        .s = s, .rows = rows, .first = first, .keys = visible(s, first + rows - 1), .ld = ld,
        .P = room, .dS = room + s->keys * ld,
        .saved = y->saved + weight_row * 2, .weights = shifted(s->weights, weight_row * (size_t)s->keys),
        .head = u, .place = weight_row * (size_t)s->keys,
        .q = { q->data + at_q, s->heads * s->d, 1 }, .k = { k->data + at_k, s->kv_heads * s->d, 1 },
        .v = { v->data + at_v, s->kv_heads * s->d_v, 1 },
        .dy = { shifted(y->grad, at_y), s->heads * s->d_v, 1 }, .to_y = y->data + at_y,
        .dq = shifted(q->grad, at_q), .dk = shifted(k->grad, at_k), .dv = shifted(v->grad, at_v),
    };
}

/* ---- rows of a strip ---- */

struct lanes {                          /* some of its rows */
    int   n, keys;                      /* how many, and how many keys the last of them sees */
    int   seen[ABREAST];                /* how many each sees; behind the last row, none */
    real *P, *dS, *saved;
    uint32_t *tiles;                    /* of their mask */
};

static struct lanes lanes_at(const struct strip *p, int i)
{
    struct lanes r = { .n = p->rows - i < ABREAST ? p->rows - i : ABREAST, .P = p->P + i, .dS = p->dS + i,
                       .saved = p->saved + 2 * i, .tiles = tiles_at(p->s, p->head, p->first + i) };
    for (int l = 0; l < ABREAST; l++)
        r.seen[l] = l < r.n ? visible(p->s, p->first + i + l) : 0;
    r.keys = r.seen[r.n - 1];
    return r;
}

/* The strip's last keys, which none of these rows sees, have no weight and no gradient. */
static void hide(const struct strip *p, real *lanes, int from)
{
    for (int j = from; j < p->keys; j++)
        memset(lanes + j * p->ld, 0, ABREAST * sizeof(real));
}

static void draw(const struct strip *p, int i, const struct lanes *r)   /* the mask of rows i, i + 1, ... */
{
    mask_stream mask = mask_skip(p->s->mask, p->place + (size_t)i * (size_t)p->s->keys);
    for (int j = 0; j < r->keys; j += MASK_STEPS)
        mask_draw(&mask, r->keys - j < MASK_STEPS ? r->keys - j : MASK_STEPS,
                  r->tiles + j / MASK_STEPS * MASK_LANES);
}

static void drop(const struct strip *p, const struct lanes *r, real *x) /* x, (keys, rows), by that mask */
{
    const real kept = p->s->mask->kept;
    for (int j = 0; j < r->keys; j++) {
        const uint32_t *tile = r->tiles + j / MASK_STEPS * MASK_LANES;
        for (int l = 0; l < ABREAST; l++)
            x[j * p->ld + l] *= mask_factor(tile[l], j % MASK_STEPS, kept);
    }
}

static void keep_weights(const struct strip *p, int i, const struct lanes *r)
{
    const size_t keys = (size_t)p->s->keys;
    for (int l = 0; l < r->n; l++) {
        real *row = p->weights + (size_t)(i + l) * keys;
        for (int j = 0; j < r->seen[l]; j++)
            row[j] = r->P[j * p->ld + l];
        memset(row + r->seen[l], 0, (keys - (size_t)r->seen[l]) * sizeof(real));
    }
}

static void softmax(struct strip *p, size_t from, size_t to)            /* P = softmax(s P), then D */
{
    const real scale = p->s->scale;
    for (int i = (int)from; i < (int)to; i += ABREAST) {
        const struct lanes r = lanes_at(p, i);
        real most[ABREAST], sum[ABREAST];
        for (int l = 0; l < ABREAST; l++) {
            most[l] = -(real)INFINITY;
            sum[l] = 0;
        }
        for (int j = 0; j < r.keys; j++)                /* the largest score; a hidden one too: no branch */
            for (int l = 0; l < ABREAST; l++) {
                const real any = r.P[j * p->ld + l], score = j < r.seen[l] ? any : -(real)INFINITY;
                most[l] = score > most[l] ? score : most[l];
            }
        for (int l = 0; l < ABREAST; l++)               /* all -inf: each e^(s score) is 0 */
            most[l] = most[l] == -(real)INFINITY ? 0 : most[l];
        for (int j = 0; j < r.keys; j++)                /* e^(s (score - largest)), and their sum */
            for (int l = 0; l < ABREAST; l++) {
                const real e = real_exp_neg(scale * (r.P[j * p->ld + l] - most[l]));
                r.P[j * p->ld + l] = j < r.seen[l] ? e : 0;
                sum[l] += r.P[j * p->ld + l];
            }
        for (int l = 0; l < ABREAST; l++)
            sum[l] = sum[l] == 0 ? 0 : 1 / sum[l];      /* 0: nothing seen, or all -inf */
        for (int j = 0; j < r.keys; j++)
            for (int l = 0; l < ABREAST; l++)
                r.P[j * p->ld + l] *= sum[l];
        for (int l = 0; l < r.n; l++) {
            r.saved[2 * l] = most[l];
            r.saved[2 * l + 1] = sum[l];
        }
        hide(p, r.P, r.keys);
        if (p->weights)
            keep_weights(p, i, &r);
        if (p->s->drops) {
            draw(p, i, &r);
            drop(p, &r, r.P);
        }
    }
}

static void softmax_back(struct strip *p, size_t from, size_t to)       /* P: scores to D; dS: dD to dS */
{
    const real scale = p->s->scale;
    for (int i = (int)from; i < (int)to; i += ABREAST) {
        const struct lanes r = lanes_at(p, i);
        real most[ABREAST], share[ABREAST], mean[ABREAST];
        for (int l = 0; l < ABREAST; l++) {
            most[l] = l < r.n ? r.saved[2 * l] : 0;
            share[l] = l < r.n ? r.saved[2 * l + 1] : 0;
            mean[l] = 0;
        }
        if (p->s->drops)                                /* dP */
            drop(p, &r, r.dS);
        for (int j = 0; j < r.keys; j++)                /* P again, and the mean of dP */
            for (int l = 0; l < ABREAST; l++) {
                const real P = real_exp_neg(scale * (r.P[j * p->ld + l] - most[l])) * share[l];
                const real any = P * r.dS[j * p->ld + l];
                r.P[j * p->ld + l] = P;
                mean[l] += j < r.seen[l] ? any : 0;
            }
        for (int j = 0; j < r.keys; j++)                /* dS */
            for (int l = 0; l < ABREAST; l++) {
                const real P = r.P[j * p->ld + l], dS = P * (r.dS[j * p->ld + l] - mean[l]) * scale;
                r.P[j * p->ld + l]  = j < r.seen[l] ? P : 0;
                r.dS[j * p->ld + l] = j < r.seen[l] ? dS : 0;
            }
        hide(p, r.P, r.keys);
        hide(p, r.dS, r.keys);
        if (p->s->drops)                                /* D */
            drop(p, &r, r.P);
    }
}

/* A strip of one row, (1, keys), stands as it is: the lanes are for its keys. */
static void softmax_alone(struct strip *p, size_t from, size_t to)
{
    const size_t keys = (size_t)p->keys;
    const real scale = p->s->scale, largest = real_max(p->P, keys);
    const real most = largest == -(real)INFINITY ? 0 : largest;
    (void)from, (void)to;
    for (size_t j = 0; j < keys; j++)
        p->P[j] = real_exp_neg(scale * (p->P[j] - most));
    const real sum = real_sum(p->P, keys), share = sum == 0 ? 0 : 1 / sum;
    for (size_t j = 0; j < keys; j++)
        p->P[j] *= share;
    p->saved[0] = most;
    p->saved[1] = share;
    if (p->weights)
        memcpy(p->weights, p->P, keys * sizeof(real));
}

GRA_VARIANTS(softmax_variants, softmax, struct strip)
GRA_VARIANTS(softmax_alone_variants, softmax_alone, struct strip)
GRA_VARIANTS(softmax_back_variants, softmax_back, struct strip)

/* ---- the op ---- */

static void forward_strips(void *arg, size_t from, size_t to, int worker)
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    const size_t each = (size_t)strips(s);
    const int d = s->d, d_v = s->d_v;
    for (size_t u = from; u < to; u++) {
        struct strip p = strip_at(y, u / each, (int)(u % each), worker);
        gra_gemm_alone(gra_tape_machine(y->tape), worker, p.keys, p.rows, d, p.k, turned(p.q), p.P, p.ld, false);
        gra_variant(gra_tape_machine(y->tape), softmax_variants)(&p, 0, (size_t)p.rows, worker);
        gra_gemm_alone(gra_tape_machine(y->tape), worker, p.rows, d_v, p.keys, (gra_mat){ p.P, 1, p.ld }, p.v, p.to_y,
                       s->heads * d_v, false);
    }
}

/* A query by itself, as generation asks: the same weights, without a strip of which most would be empty. */
static void forward_alone(void *arg, size_t from, size_t to, int worker)
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    const int d = s->d, d_v = s->d_v;
    for (size_t u = from; u < to; u++) {
        struct strip p = strip_at(y, u, 0, worker);
        gra_gemm_alone(gra_tape_machine(y->tape), worker, 1, p.keys, d, p.q, turned(p.k), p.P, p.keys, false);
        gra_variant(gra_tape_machine(y->tape), softmax_alone_variants)(&p, 0, 1, worker);
        gra_gemm_alone(gra_tape_machine(y->tape), worker, 1, d_v, p.keys, (gra_mat){ p.P, p.keys, 1 }, p.v, p.to_y,
                       s->heads * d_v, false);
    }
}

static size_t heads_at_once(const struct args *s)       /* as many as are worth a thread */
{
    const size_t worth = 1 << 14, each = (size_t)s->keys * (size_t)(s->d + s->d_v);
    return each ? worth / each + 1 : 1;
}

/* Strips of heads that share a key-value head add to the same dk and dv: one worker does them all, in order. */
static void backward_heads(void *arg, size_t from, size_t to, int worker)
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    const int d = s->d, d_v = s->d_v, sharing = s->heads / s->kv_heads, each = strips(s);
    for (size_t u = from; u < to; u++)
        for (int n = 0; n < sharing * each; n++) {      /* its heads, and the strips of each from the last on */
            const bool first = n == 0;                  /* it sees every key: here dk and dv are begun */
            struct strip p = strip_at(y, u * (size_t)sharing + (size_t)(n / each), each - 1 - n % each, worker);
            const gra_mat P = { p.P, 1, p.ld }, dS = { p.dS, 1, p.ld };
            gra_gemm_alone(gra_tape_machine(y->tape), worker, p.keys, p.rows, d, p.k, turned(p.q), p.P, p.ld, false);
            gra_gemm_alone(gra_tape_machine(y->tape), worker, p.keys, p.rows, d_v, p.v, turned(p.dy), p.dS, p.ld, false);
            gra_variant(gra_tape_machine(y->tape), softmax_back_variants)(&p, 0, (size_t)p.rows, worker);
            if (p.dv)
                gra_gemm_alone(gra_tape_machine(y->tape), worker, p.keys, d_v, p.rows, turned(P), p.dy, p.dv, s->kv_heads * d_v,
                               !(first && y->in[2]->fresh));
            if (p.dq)
                gra_gemm_alone(gra_tape_machine(y->tape), worker, p.rows, d, p.keys, dS, p.k, p.dq, s->heads * d,
                               !y->in[0]->fresh);
            if (p.dk)
                gra_gemm_alone(gra_tape_machine(y->tape), worker, p.keys, d, p.rows, turned(dS), p.q, p.dk, s->kv_heads * d,
                               !(first && y->in[1]->fresh));
        }
}

static bool make_room(gra_tensor *y, int strips_each)
{
    struct args *s = y->args;
    s->room_each = (size_t)s->keys * (size_t)leading(s) * (size_t)strips_each;
    s->room = gra_alloc(y->tape, (size_t)gra_threads(y->tape) * s->room_each * sizeof(real));
    return s->room != NULL;
}

static void forward(gra_tensor *y)
{
    struct args *s = y->args;
    const size_t heads = (size_t)y->shape.dim[0] * (size_t)s->heads, rows = heads * (size_t)s->time;
    const bool keeps = gra_tape_keeps_attention(y->tape);
    if (!make_room(y, 1))
        return;
    if (keeps && !(s->weights = gra_alloc(y->tape, rows * (size_t)s->keys * sizeof(real))))
        return;
    if (s->time == 1 && !s->drops)
        gra_parallel(gra_tape_machine(y->tape), heads, heads_at_once(s), forward_alone, y);
    else
        gra_parallel(gra_tape_machine(y->tape), heads * (size_t)strips(s), 1, forward_strips, y);
    if (keeps)
        s->kept = gra_constant(y->tape, s->weights, GRA_SHAPE(y->shape.dim[0], s->heads, s->time, s->keys));
}

static void backward(gra_tensor *y)
{
    const struct args *s = y->args;
    if (s->keys > 0 && s->time == 0)
        gra_zero_fresh(y);                              /* nobody looks at the keys */
    if (make_room(y, 2))
        gra_parallel(gra_tape_machine(y->tape), (size_t)y->shape.dim[0] * (size_t)s->kv_heads, 1, backward_heads, y);
}

static const gra_op op = { .name = "attention", .forward = forward, .backward = backward, .saved = saved,
                           .args = sizeof(struct args), .stores = true };

gra_tensor *gra_attention_weights(gra_tensor *y)
{
    if (!y)
        return NULL;
    if (y->base)                                        /* a reshaped result is a result */
        y = y->base;
    if (y->op == &op && ((struct args *)y->args)->kept)
        return ((struct args *)y->args)->kept;
    if (!y->tape)
        return NULL;
    if (y->op != &op)
        return gra_fail(y->tape, "gra_attention_weights: this is the result of %s, not of gra_attention",
                        y->op ? y->op->name : "no op");
    return gra_fail(y->tape, "gra_attention_weights: they were not kept: call gra_keep_attention(t, true) first");
}

gra_tensor *gra_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, int heads, bool causal,
                          double dropout)
{
    if (GRA_REFUSES(t, "attention", q, k, v))
        return gra_empty(t);
    if (q->shape.ndim != 3 || k->shape.ndim != 3 || v->shape.ndim != 3)
        return gra_fail(t, "attention: q %s, k %s, v %s: each must be (batch, time, dim)", GRA_SHAPE_OF(q),
                        GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    if (q->shape.dim[0] != k->shape.dim[0] || k->shape.dim[0] != v->shape.dim[0] || k->shape.dim[1] != v->shape.dim[1])
        return gra_fail(t, "attention: q %s, k %s, v %s: batches must agree, and k and v in time", GRA_SHAPE_OF(q),
                        GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    if (heads < 1 || q->shape.dim[2] % heads)
        return gra_fail(t, "attention: %d heads cannot share q %s: its last size must divide by the heads", heads,
                        GRA_SHAPE_OF(q));
    const int d = q->shape.dim[2] / heads, kv_heads = d ? k->shape.dim[2] / d : heads;
    if (kv_heads < 1 || k->shape.dim[2] != kv_heads * d || heads % kv_heads || v->shape.dim[2] % kv_heads)
        return gra_fail(t, "attention: q %s has %d head%s of %d columns, but k is %s and v %s: they must have as many "
                        "heads, or fewer that %d divides by", GRA_SHAPE_OF(q), heads, heads == 1 ? "" : "s", d,
                        GRA_SHAPE_OF(k), GRA_SHAPE_OF(v), heads);
    const int d_v = v->shape.dim[2] / kv_heads;
    if (!(dropout >= 0 && dropout < 1))
        return gra_fail(t, "attention: dropout %g, wanted 0 <= dropout < 1", dropout);
    if (gra_tape_mode(t) != GRA_TRAIN)
        dropout = 0;
    if (dropout > 0 && !gra_can_draw(t, "attention"))
        return gra_empty(t);

    gra_tensor *y = gra_result(t, &op, GRA_SHAPE(q->shape.dim[0], q->shape.dim[1], heads * d_v), q, k, v);
    struct args *s = y->args;
    *s = (struct args){ .heads = heads, .kv_heads = kv_heads, .time = q->shape.dim[1], .keys = k->shape.dim[1],
                        .d = d, .d_v = d_v, .causal = causal, .drops = dropout > 0,
                        .scale = (real)(1 / sqrt((double)d)) };
    if (dropout > 0) {
        s->mask = gra_alloc(t, sizeof *s->mask);
        s->tiles = mask_tiles(t, (size_t)q->shape.dim[0] * (size_t)heads * tiles_down(s) * tiles_across(s));
        if (s->mask)
            *s->mask = mask_begin(gra_tape_rng(t), dropout, (size_t)s->keys, 1);
    }
    return gra_run(y);
}
