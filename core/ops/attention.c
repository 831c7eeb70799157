/* attention: in each head, with s = 1/sqrt(d), d the width of a head (Vaswani et al. 2017),
 *
 *     P = softmax(s q k^T),  y = D v,  D = dropout(P)
 *     dv += D^T dy,  dD = dy v^T,  dP = dropout's share of dD,
 *     dS = P (dP - sum_j dP P) s,  dq += dS k,  dk += dS^T q.
 *
 * q is (batch, time, dim), k (batch, keys, dim), v (batch, keys, dim_v); head h owns columns
 * h d .. h d + d - 1 of each. Causal: query i sees the keys up to i + keys - time; a row that sees
 * none is zero. Saved: P, and D when something is dropped, as (batch, heads, time, keys). */
#include "../op.h"
#include "../kern/mask.h"
#include "../kern/math.h"

struct args {
    int      heads, time, keys, dim, dim_v;
    bool     causal;
    real     scale;
    bool     drops;                     /* the step trains and dropout > 0: */
    gra_mask mask;
    real    *dS;                        /* backward's (batch, heads, time, keys) */
    gra_tensor *kept;                   /* P, for those who look */
};

static size_t weights(const gra_tensor *y)
{
    const struct args *s = y->args;
    return (size_t)y->shape[0] * (size_t)s->heads * (size_t)s->time * (size_t)s->keys;
}

static size_t saved(const gra_tensor *y)
{
    const struct args *s = y->args;
    return weights(y) * (s->drops ? 2 : 1);
}

static real *dropped(gra_tensor *y)     /* D */
{
    const struct args *s = y->args;
    return s->drops ? y->saved + weights(y) : y->saved;
}

static size_t rows(const gra_tensor *y)
{
    const struct args *s = y->args;
    return (size_t)y->shape[0] * (size_t)s->heads * (size_t)s->time;
}

static int visible(const struct args *s, size_t row)    /* how many keys this row sees */
{
    int n = s->causal ? (int)(row % (size_t)s->time) + s->keys - s->time + 1 : s->keys;
    return n < 0 ? 0 : n;
}

/* ---- products, a head at a time: unit u is head u % heads of sequence u / heads ---- */

static size_t begin(const struct args *s, size_t u, int time, int dim)       /* where it begins in (batch, time, dim) */
{
    size_t b = u / (size_t)s->heads, h = u % (size_t)s->heads;
    return b * (size_t)time * (size_t)dim + h * (size_t)(dim / s->heads);
}

static gra_mat head(const real *x, const struct args *s, size_t u, int time, int dim)
{
    return (gra_mat){ x + begin(s, u, time, dim), dim, 1 };
}

static gra_mat turned(gra_mat a)        /* a^T */
{
    return (gra_mat){ a.p, a.col, a.row };
}

static real *square(real *w, const struct args *s, size_t u)
{
    return w + u * (size_t)s->time * (size_t)s->keys;
}

static void score_heads(void *arg, size_t from, size_t to, int worker)       /* P = q k^T */
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    for (size_t u = from; u < to; u++)
        gra_gemm_alone(y->tape, worker, s->time, s->keys, s->dim / s->heads,
                       head(y->in[0]->data, s, u, s->time, s->dim),
                       turned(head(y->in[1]->data, s, u, s->keys, s->dim)), square(y->saved, s, u), s->keys, false);
}

static void mix_heads(void *arg, size_t from, size_t to, int worker)         /* y = D v */
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    for (size_t u = from; u < to; u++)
        gra_gemm_alone(y->tape, worker, s->time, s->dim_v / s->heads, s->keys,
                       (gra_mat){ square(dropped(y), s, u), s->keys, 1 },
                       head(y->in[2]->data, s, u, s->keys, s->dim_v),
                       y->data + begin(s, u, s->time, s->dim_v), s->dim_v, false);
}

static void mix_heads_back(void *arg, size_t from, size_t to, int worker)    /* dD = dy v^T, where dS will be; dv += D^T dy */
{
    gra_tensor *y = arg, *v = y->in[2];
    const struct args *s = y->args;
    for (size_t u = from; u < to; u++) {
        gra_mat dy = head(y->grad, s, u, s->time, s->dim_v);
        gra_mat vh = head(v->data, s, u, s->keys, s->dim_v);
        gra_gemm_alone(y->tape, worker, s->time, s->keys, s->dim_v / s->heads, dy, turned(vh), square(s->dS, s, u),
                       s->keys, false);
        if (v->grad)
            gra_gemm_alone(y->tape, worker, s->keys, s->dim_v / s->heads, s->time,
                           (gra_mat){ square(dropped(y), s, u), 1, s->keys }, dy,
                           v->grad + begin(s, u, s->keys, s->dim_v), s->dim_v, true);
    }
}

static void score_heads_back(void *arg, size_t from, size_t to, int worker)  /* dq += dS k; dk += dS^T q */
{
    gra_tensor *y = arg, *q = y->in[0], *k = y->in[1];
    const struct args *s = y->args;
    for (size_t u = from; u < to; u++) {
        gra_mat dS = { square(s->dS, s, u), s->keys, 1 };
        gra_mat qh = head(q->data, s, u, s->time, s->dim), kh = head(k->data, s, u, s->keys, s->dim);
        if (q->grad)
            gra_gemm_alone(y->tape, worker, s->time, s->dim / s->heads, s->keys, dS, kh,
                           q->grad + begin(s, u, s->time, s->dim), s->dim, true);
        if (k->grad)
            gra_gemm_alone(y->tape, worker, s->keys, s->dim / s->heads, s->time, turned(dS), qh,
                           k->grad + begin(s, u, s->keys, s->dim), s->dim, true);
    }
}

/* ---- rows of the weights ---- */

static void softmax(gra_tensor *y, size_t from, size_t to)      /* P = softmax(s P) over the visible keys, else 0 */
{
    const struct args *s = y->args;
    for (size_t i = from; i < to; i++) {
        real *p = y->saved + i * (size_t)s->keys;
        const size_t n = (size_t)visible(s, i);
        if (n) {
            const real most = real_max(p, n), scale = s->scale;
            for (size_t j = 0; j < n; j++)
                p[j] = real_exp(scale * (p[j] - most));
            const real share = 1 / real_sum(p, n);
            for (size_t j = 0; j < n; j++)
                p[j] *= share;
        }
        memset(p + n, 0, ((size_t)s->keys - n) * sizeof(real));
    }
}

static void drop(gra_tensor *y, size_t from, size_t to)         /* D = P mask / (1 - dropout) */
{
    const struct args *s = y->args;
    mask_apply(s->mask, y->saved, dropped(y), from * (size_t)s->keys, to * (size_t)s->keys, false);
}

static void softmax_back(gra_tensor *y, size_t from, size_t to) /* dS: from dD to the scores' gradient */
{
    const struct args *s = y->args;
    const size_t n = (size_t)s->keys;
    if (s->drops)
        mask_apply(s->mask, s->dS, s->dS, from * n, to * n, false);
    for (size_t i = from; i < to; i++) {
        const real *p = y->saved + i * n;
        real *d = s->dS + i * n;
        const real mean = real_dot(d, p, n), scale = s->scale;
        for (size_t j = 0; j < n; j++)
            d[j] = p[j] * (d[j] - mean) * scale;
    }
}

GRA_KERNEL(softmax, rows(y), 16 * (size_t)((struct args *)y->args)->keys)
GRA_KERNEL(drop, rows(y), 8 * (size_t)((struct args *)y->args)->keys)
GRA_KERNEL(softmax_back, rows(y), 8 * (size_t)((struct args *)y->args)->keys)

/* ---- the op ---- */

static void show_weights(gra_tensor *y)
{
    struct args *s = y->args;
    if (gra_tape_keeps_attention(y->tape))
        s->kept = gra_constant(y->tape, y->saved, GRA_DIMS(y->shape[0], s->heads, s->time, s->keys));
}

static void forward(gra_tensor *y)
{
    const struct args *s = y->args;
    const size_t heads = (size_t)y->shape[0] * (size_t)s->heads;
    gra_parallel(y->tape, heads, 1, score_heads, y);
    softmax_all(y);
    if (s->drops)
        drop_all(y);
    show_weights(y);
    gra_parallel(y->tape, heads, 1, mix_heads, y);
}

static void backward(gra_tensor *y)
{
    struct args *s = y->args;
    const size_t heads = (size_t)y->shape[0] * (size_t)s->heads;
    s->dS = gra_alloc(y->tape, weights(y) * sizeof(real));
    if (!s->dS)
        return;
    gra_parallel(y->tape, heads, 1, mix_heads_back, y);
    softmax_back_all(y);
    gra_parallel(y->tape, heads, 1, score_heads_back, y);
}

static const gra_op op = { .name = "attention", .forward = forward, .backward = backward, .saved = saved,
                           .args = sizeof(struct args) };

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
    if (q->ndim != 3 || k->ndim != 3 || v->ndim != 3)
        return gra_fail(t, "attention: q %s, k %s, v %s: each must be (batch, time, dim)", GRA_SHAPE_OF(q),
                        GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    if (q->shape[0] != k->shape[0] || k->shape[0] != v->shape[0] || k->shape[1] != v->shape[1] ||
        q->shape[2] != k->shape[2])
        return gra_fail(t, "attention: q %s, k %s, v %s: batches must agree, k and v in time, q and k in dim",
                        GRA_SHAPE_OF(q), GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    if (heads < 1 || q->shape[2] % heads || v->shape[2] % heads)
        return gra_fail(t, "attention: %d heads cannot share q %s and v %s: the last sizes must divide by the heads",
                        heads, GRA_SHAPE_OF(q), GRA_SHAPE_OF(v));
    if (!(dropout >= 0 && dropout < 1))
        return gra_fail(t, "attention: dropout %g, wanted 0 <= dropout < 1", dropout);
    if (gra_tape_mode(t) != GRA_TRAIN)
        dropout = 0;
    if (dropout > 0 && !gra_can_draw(t, "attention"))
        return gra_empty(t);

    gra_tensor *y = gra_result(t, &op, GRA_DIMS(q->shape[0], q->shape[1], v->shape[2]), q, k, v);
    struct args *s = y->args;
    *s = (struct args){ .heads = heads, .time = q->shape[1], .keys = k->shape[1], .dim = q->shape[2],
                        .dim_v = v->shape[2], .causal = causal, .drops = dropout > 0,
                        .scale = (real)(1 / sqrt((double)q->shape[2] / heads)) };
    if (dropout > 0)
        s->mask = mask_begin(gra_tape_rng(t), dropout);
    return gra_run(y);
}
