/* attention: in each head, with d the width of a head and s = 1 / sqrt(d) (Vaswani et al. 2017),
 *
 *     P = softmax(s q k^T + mask),  D = dropout(P),  y = D v
 *
 *     dv += D^T dy,  dD = dy v^T,  dP = dropout(dD),  dS_ij = P_ij (dP_ij - sum_l dP_il P_il),
 *     dq += s dS k,  dk += s dS^T q,  dmask += dS.
 *
 * q is (batch, time, heads d), k (batch, keys, kv_heads d), v (batch, keys, kv_heads d_v), y (batch, time,
 * heads d_v): each head has d or d_v columns, side by side. Where k and v have fewer heads than q, neighbours
 * share one: query head h has key-value head h kv_heads / heads (Ainslie et al. 2023). The mask broadcasts to
 * (batch, heads, time, keys). Causal: query i sees the keys up to i + keys - time; a row that sees none, or
 * whose scores are all -inf, is zero and has no gradient.
 *
 * To follow it: forward_strips has the forward in three lines, backward_heads the backward in six; softmax,
 * mask, dropout and dS = P (dP - ...) are in kern/strip.c. tests/reference/attention.c, against which this is
 * tested, is the same in 86 plain lines.
 *
 * P is computed a strip of rows at a time, and does not stay: of each row, forward saves what backward needs
 * to compute the same P again. */
#include "../internal.h"
#include "../kern/strip.h"

struct args {
    struct scores of;
    int         kv_heads, d, d_v;       /* d, d_v: columns of a head, in q and k and in v and y */
    /* Each worker has buffers for one strip: one in forward, two in backward, `buffers_each` values in all,
     * in which the scores of one key are a line, and a line begins every `ld` values. */
    real       *buffers;
    size_t      buffers_each;
    ptrdiff_t   ld;
    gra_tensor *kept;                   /* P as a tensor, for gra_attention_weights */
};

static size_t rows(const gra_tensor *y)                 /* of P, in all heads */
{
    const struct args *s = y->args;
    return (size_t)y->shape.dim[0] * (size_t)s->of.heads * (size_t)s->of.time;
}

static size_t saved(const gra_tensor *y) { return rows(y) * (sizeof(struct strip_saved) / sizeof(real)); }

static real *at(real *p, size_t i)      { return p ? p + i : NULL; }

/* Strip i of the head u % heads in sequence u / heads, and what is multiplied with it. Its two buffers are
 * overwritten step by step: strip.P holds first q k^T, then P, then D; strip.dS, of backward alone, first dD,
 * then dP, then s dS. D and s_dS are these buffers in their last stage, seen as matrices. */
struct part {
    gra_machine *machine;
    int          worker;
    struct strip strip;
    gra_mat      q, k, v, dy;   /* the strip's rows in q and dy, all keys in k and v; the head's columns */
    gra_mat      D, s_dS;               /* (rows, keys) */
    real        *y, *dq, *dk, *dv;  /* where they belong, as q, k and v; dq, dk, dv are NULL if not wanted */
    /* strides of rows in y and dy, q and dq, k and dk, v and dv */
    ptrdiff_t    row_y, row_q, row_k, row_v;
};

static struct part part_at(gra_tensor *y, size_t u, int i, int worker);

static gra_mat transposed(gra_mat x) { return (gra_mat){ x.p, x.col, x.row }; }

/* c = a b, or c += a b; a is (m, k). A contiguous column is computed as a row, c^T = b^T a^T, which is
 * faster. */
static void multiply(const struct part *p, int m, int n, int k, gra_mat a, gra_mat b, real *c, ptrdiff_t ldc,
                     bool add)
{
    if (n == 1 && ldc == 1)
        gra_gemm_alone(p->machine, p->worker, 1, m, k, transposed(b), transposed(a), c, m, add);
    else
        gra_gemm_alone(p->machine, p->worker, m, n, k, a, b, c, ldc, add);
}

static void forward_strips(void *arg, size_t from, size_t to, int worker)
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    const size_t each = (size_t)strip_count(&s->of);
    for (size_t u = from; u < to; u++) {
        struct part p = part_at(y, u / each, (int)(u % each), worker);
        const int n = p.strip.rows, keys = p.strip.keys;
        /* q k^T, transposed */
        multiply(&p, keys, n, s->d, p.k, transposed(p.q), p.strip.P, s->ld, false);
        /* strip.P: q k^T, P, D */
        gra_strip_softmax(p.machine, &p.strip);
        multiply(&p, n, s->d_v, keys, p.D, p.v, p.y, p.row_y, false);                   /* y = D v */
    }
}

/* Heads that share a key-value head add to the same dk and dv, so one worker does all their strips, in order:
 * from the last one on, which sees every key, so that it can store dk and dv where they are uninitialised. */
static void backward_heads(void *arg, size_t from, size_t to, int worker)
{
    gra_tensor *y = arg;
    const struct args *s = y->args;
    const int sharing = s->of.heads / s->kv_heads, each = strip_count(&s->of);
    for (size_t u = from; u < to; u++)
        for (int i = 0; i < sharing * each; i++) {
            struct part p = part_at(y, u * (size_t)sharing + (size_t)(i / each), each - 1 - i % each, worker);
            const int n = p.strip.rows, keys = p.strip.keys;
            /* add or, where the gradient is uninitialised (fresh), overwrite */
            const bool add_q = !y->in[0]->fresh;
            const bool add_k = i > 0 || !y->in[1]->fresh, add_v = i > 0 || !y->in[2]->fresh;
            /* q k^T, transposed */
            multiply(&p, keys, n, s->d, p.k, transposed(p.q), p.strip.P, s->ld, false);
            /* dD, transposed */
            multiply(&p, keys, n, s->d_v, p.v, transposed(p.dy), p.strip.dS, s->ld, false);
            /* strip.P: q k^T, P, D;  strip.dS: dD, dP, s dS */
            gra_strip_softmax_back(p.machine, &p.strip);
            if (p.dv)
                /* dv += D^T dy */
                multiply(&p, keys, s->d_v, n, transposed(p.D), p.dy, p.dv, p.row_v, add_v);
            if (p.dq)
                /* dq += s dS k */
                multiply(&p, n, s->d, keys, p.s_dS, p.k, p.dq, p.row_q, add_q);
            if (p.dk)
                /* dk += s dS^T q */
                multiply(&p, keys, s->d, n, transposed(p.s_dS), p.q, p.dk, p.row_k, add_k);
        }
}

/* Where the rows of strip i and the columns of its head begin in each tensor. */
static struct part part_at(gra_tensor *y, size_t u, int i, int worker)
{
    const struct args *s = y->args;
    const struct scores *of = &s->of;
    const gra_tensor *q = y->in[0], *k = y->in[1], *v = y->in[2], *mask = y->in[3];
    const size_t b = u / (size_t)of->heads, h = u % (size_t)of->heads;
    const size_t kv = h / (size_t)(of->heads / s->kv_heads);
    const int most = strip_rows(of), first = i * most, n = of->time - first < most ? of->time - first : most;
    const size_t row = b * (size_t)of->time + (size_t)first, key = b * (size_t)of->keys;
    const int row_q = of->heads * s->d, row_k = s->kv_heads * s->d, row_v = s->kv_heads * s->d_v,
              row_y = of->heads * s->d_v;
    const size_t at_q = row * (size_t)row_q + h * (size_t)s->d;
    const size_t at_k = key * (size_t)row_k + kv * (size_t)s->d;
    const size_t at_v = key * (size_t)row_v + kv * (size_t)s->d_v;
    const size_t at_y = row * (size_t)row_y + h * (size_t)s->d_v;
    const size_t at_mask = b * of->mask_batch + h * of->mask_head + (size_t)first * of->mask_row;
    real *P = s->buffers + (size_t)worker * s->buffers_each, *dS = P + of->keys * s->ld;
    return (struct part){
        .machine = gra_tape_machine(y->tape), .worker = worker,
        .strip = { .of = of, .head = u, .first = first, .rows = n, .keys = visible_keys(of, first + n - 1),
                   .ld = s->ld, .P = P, .dS = dS, .mask = mask ? mask->data + at_mask : NULL,
                   .dmask = mask ? at(mask->grad, at_mask) : NULL,
                   .saved = (struct strip_saved *)(void *)y->saved + u * (size_t)of->time + first },
        .q = { q->data + at_q, row_q, 1 }, .k = { k->data + at_k, row_k, 1 },
        .v = { v->data + at_v, row_v, 1 },
        .dy = { at(y->grad, at_y), row_y, 1 }, .D = { P, 1, s->ld }, .s_dS = { dS, 1, s->ld },
        .y = y->data + at_y, .dq = at(q->grad, at_q), .dk = at(k->grad, at_k), .dv = at(v->grad, at_v),
        .row_y = row_y, .row_q = row_q, .row_k = row_k, .row_v = row_v,
    };
}

/* How many strips of one row, as generation has, are worth a thread. */
static size_t rows_at_once(const struct args *s)
{
    const size_t worth = 1 << 14, each = (size_t)s->of.keys * (size_t)(s->d + s->d_v);
    return each ? worth / each + 1 : 1;
}

static bool make_buffers(gra_tensor *y, int buffers, ptrdiff_t ld)
{
    struct args *s = y->args;
    s->ld = ld;
    s->buffers_each = (size_t)s->of.keys * (size_t)ld * (size_t)buffers;
    s->buffers = gra_alloc(y->tape, (size_t)gra_threads(y->tape) * s->buffers_each * sizeof(real));
    return s->buffers != NULL;
}

static void forward(gra_tensor *y)
{
    struct args *s = y->args;
    const int batch = y->shape.dim[0];
    const bool keeps = gra_tape_keeps_attention(y->tape), row = s->of.time == 1 && !s->of.stream;
    if (!make_buffers(y, 1, row ? 1 : strip_ld(&s->of)))
        return;
    if (keeps && !(s->of.weights = gra_alloc(y->tape, rows(y) * (size_t)s->of.keys * sizeof(real))))
        return;
    gra_parallel(gra_tape_machine(y->tape), (size_t)batch * (size_t)s->of.heads * (size_t)strip_count(&s->of),
                 row ? rows_at_once(s) : 1, forward_strips, y);
    if (keeps)
        s->kept = gra_constant(y->tape, s->of.weights, GRA_SHAPE(batch, s->of.heads, s->of.time, s->of.keys));
}

static void backward(gra_tensor *y)
{
    const struct args *s = y->args;
    const gra_tensor *mask = y->in[3];
    const size_t units = (size_t)y->shape.dim[0] * (size_t)s->kv_heads;
    /* strips accumulate the mask's gradient; and without queries there is no strip to overwrite the others */
    if ((mask && mask->fresh) || s->of.time == 0)
        gra_zero_fresh(y);
    /* all heads may add to one mask's gradient: on one thread */
    if (make_buffers(y, 2, strip_ld(&s->of)))
        gra_parallel(gra_tape_machine(y->tape), units, mask && mask->grad ? units : 1, backward_heads, y);
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
    return gra_fail(y->tape, "gra_attention_weights: they were not kept: call gra_keep_attention(t, true) "
                    "first");
}

static void set_mask(struct scores *of, gra_shape mask)         /* its strides */
{
    size_t *stride[4] = { &of->mask_batch, &of->mask_head, &of->mask_row, &of->mask_key }, size = 1;
    for (int i = 3, d = mask.ndim - 1; d >= 0; d--, i--) {
        *stride[i] = mask.dim[d] == 1 ? 0 : size;
        size *= (size_t)mask.dim[d];
    }
}

gra_tensor *gra_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v,
                          const gra_attention_options *how)
{
    if (!how)
        return gra_fail(t, "attention: the options are NULL: &(gra_attention_options){ .heads = 1 }, say");
    gra_tensor *mask = how->mask;
    if (GRA_REFUSES(t, "attention", q, k, v, mask ? mask : q))
        return gra_empty(t);
    if (q->shape.ndim != 3 || k->shape.ndim != 3 || v->shape.ndim != 3)
        return gra_fail(t, "attention: q %s, k %s, v %s: each must be (batch, time, dim)", GRA_SHAPE_OF(q),
                        GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    const int batch = q->shape.dim[0], time = q->shape.dim[1], keys = k->shape.dim[1], heads = how->heads;
    if (batch != k->shape.dim[0] || batch != v->shape.dim[0] || keys != v->shape.dim[1])
        return gra_fail(t, "attention: q %s, k %s, v %s: batches must agree, and k and v in time",
                        GRA_SHAPE_OF(q), GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    if (heads < 1 || q->shape.dim[2] % heads || q->shape.dim[2] == 0)
        return gra_fail(t, "attention: %d heads cannot share q %s: its last size must be a multiple of the "
                        "heads, and not 0", heads, GRA_SHAPE_OF(q));
    const int d = q->shape.dim[2] / heads, kv_heads = k->shape.dim[2] / d;
    if (kv_heads < 1 || k->shape.dim[2] != kv_heads * d || heads % kv_heads || v->shape.dim[2] % kv_heads)
        return gra_fail(t, "attention: q %s has %d head%s of %d columns, but k is %s and v %s: they must "
                        "have as many heads, or fewer that %d divides by", GRA_SHAPE_OF(q), heads,
                        heads == 1 ? "" : "s", d, GRA_SHAPE_OF(k), GRA_SHAPE_OF(v), heads);
    const gra_shape scores = GRA_SHAPE(batch, heads, time, keys);
    gra_shape both;
    if (mask && (!gra_broadcast(mask->shape, scores, &both) || !gra_same_shape(both, scores)))
        return gra_fail(t, "attention: the mask is %s: it does not broadcast to the scores, (batch, heads, "
                        "time, keys) = (%d, %d, %d, %d)", GRA_SHAPE_OF(mask), batch, heads, time, keys);
    if (!(how->dropout >= 0 && how->dropout < 1))
        return gra_fail(t, "attention: dropout %g, wanted 0 <= dropout < 1", how->dropout);
    const double dropout = gra_tape_mode(t) == GRA_TRAIN ? how->dropout : 0;
    if (dropout > 0 && !gra_can_draw(t, "attention"))
        return gra_empty(t);

    const int d_v = v->shape.dim[2] / kv_heads;
    gra_tensor *y = gra_result(t, &op, GRA_SHAPE(batch, time, heads * d_v), q, k, v, mask);
    struct args *s = y->args;
    *s = (struct args){ .kv_heads = kv_heads, .d = d, .d_v = d_v,
                        .of = { .heads = heads, .time = time, .keys = keys, .causal = how->causal,
                                .scale = (real)(1 / sqrt((double)d)) } };
    if (mask)
        set_mask(&s->of, mask->shape);
    if (dropout > 0) {
        s->of.dropped =
            mask_tiles(t, (size_t)batch * (size_t)heads * tiles_down(&s->of) * tiles_across(&s->of));
        s->of.stream = gra_alloc(t, sizeof *s->of.stream);
        if (s->of.stream)
            *s->of.stream = mask_begin(gra_tape_rng(t), dropout, (size_t)keys, 1);
    }
    return gra_run(y);
}
