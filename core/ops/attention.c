/* attention: in each head, with d the width of a head and scale = 1 / sqrt(d)
 * (Vaswani et al. 2017),
 *
 *     P = softmax(scale q k^T + mask),  D = dropout(P),  y = D v
 *
 *     dv += D^T dy,  dD = dy v^T,  dP = dropout(dD),  dS_ij = P_ij (dP_ij - sum_l dP_il P_il),
 *     dq += scale dS k,  dk += scale dS^T q,  dmask += dS.
 *
 * Dropout multiplies dD by the factors, 0 or 1 / (1 - dropout), by which forward multiplied P: backward draws
 * nothing. P is computed one strip of rows at a time and is not kept: forward saves two numbers per row, and
 * backward computes the same P again from them. tests/ops/test_attention.c compares attention with other
 * ops. */
#include "../tape/tape.h"
#include "../kern/gemm.h"
#include "../kern/strip.h"

/* c = a b, or c += a b if add is true. A strip is some rows of one head: s->q and s->y are these rows, s->k
 * and s->v the keys and values that they see. s->D and s->dS, (rows, keys), are reused buffers. */
static void multiply(const struct strip *s, gra_mat a, gra_mat b, gra_mat c, bool add)
{
    gra_gemm_alone(s->machine, s->worker, a, b, c, add);
}

static void forward_strip(struct strip *s)
{
    multiply(s, s->q, gra_mat_transpose(s->k), s->D, false);            /* q k^T, in the buffer of D */
    gra_strip_softmax(s);               /* P = softmax(scale q k^T + mask), D = dropout(P): kern/strip.c */
    multiply(s, s->D, s->v, s->y, false);                               /* y = D v */
}

/* Adds to dq, dk and dv, or overwrites them where they are uninitialised. */
static void backward_strip(struct strip *s, bool add_q, bool add_k, bool add_v)
{
    multiply(s, s->q, gra_mat_transpose(s->k), s->D, false);            /* q k^T, in the buffer of D */
    multiply(s, s->dy, gra_mat_transpose(s->v), s->dS, false);          /* dD = dy v^T, in the buffer of dS */
    /* kern/strip.c computes D from q k^T as in forward and, in the buffer of dS, dP = dropout(dD),
     * dS_ij = P_ij (dP_ij - sum_l dP_il P_il),  dmask += dS (add_mask_back), and finally scale dS. */
    gra_strip_softmax_back(s);
    if (s->dv.p)
        multiply(s, gra_mat_transpose(s->D), s->dy, s->dv, add_v);      /* dv += D^T dy */
    if (s->dq.p)
        multiply(s, s->dS, s->k, s->dq, add_q);                         /* dq += scale dS k */
    if (s->dk.p)
        multiply(s, gra_mat_transpose(s->dS), s->q, s->dk, add_k);      /* dk += scale dS^T q */
}

/* ---- all strips, on all threads ----
 * q is (batch, time, heads d), k (batch, keys, kv_heads d), v (batch, keys, kv_heads d_v), y (batch, time,
 * heads d_v): each head has d or d_v columns, side by side. Where k and v have fewer heads than q, neighbours
 * share one: query head h has key-value head h kv_heads / heads (Ainslie et al. 2023). The mask broadcasts to
 * (batch, heads, time, keys). Causal: query i sees the keys up to i + keys - time; a row that sees no key, or
 * whose scores are all -inf, is zero and has no gradient. */

struct args {
    struct attention of;
    gra_tensor *kept;                   /* P as a tensor, for gra_attention_weights */
};

static size_t rows(const gra_tensor *y)                 /* of P, in all heads */
{
    const struct args *s = y->args;
    return (size_t)y->shape.dim[0] * (size_t)s->of.heads * (size_t)s->of.time;
}

static size_t saved(const gra_tensor *y) { return rows(y) * (sizeof(struct strip_saved) / sizeof(real)); }

static void forward_strips(void *arg, size_t from, size_t to, int worker)
{
    const gra_tensor *y = arg;
    const struct attention *of = &((const struct args *)y->args)->of;
    const size_t each = (size_t)strip_count(of);
    for (size_t u = from; u < to; u++) {
        struct strip s = gra_strip_at(y, of, u / each, (int)(u % each), worker);
        forward_strip(&s);
    }
}

/* Where more strips than this add to the same dk and dv, each strip computes its contribution separately. The
 * contributions are summed in double, in the worker's part of of->sums. */
enum { MANY_STRIPS = 32 };

static gra_mat moved(gra_mat x, real *to) { return x.p ? gra_mat_of(to, x.rows, x.cols) : x; }

static void add_up(double *sum, gra_mat x)
{
    for (ptrdiff_t i = 0; x.p && i < (ptrdiff_t)x.rows * x.cols; i++)
        sum[i] += (double)x.p[i];
}

static void put(const double *sum, gra_mat x, bool add)         /* x = sum, or x += sum */
{
    for (int i = 0; x.p && i < x.rows; i++)
        for (int j = 0; j < x.cols; j++) {
            real *to = x.p + i * x.row + j;
            *to = (add ? *to : 0) + (real)sum[(ptrdiff_t)i * x.cols + j];
        }
}

static size_t sums_each(const struct attention *of)     /* doubles of a worker: sums, then contributions */
{
    return 2 * (size_t)of->keys * (size_t)(of->d + of->d_v);
}

/* Like backward_kv_heads, but for one key-value head: all strips of the heads that share it. */
static void backward_many(const gra_tensor *y, const struct attention *of, size_t head, int strips,
                          int worker)
{
    const int each = strip_count(of);
    const size_t dk_size = (size_t)of->keys * (size_t)of->d, both = sums_each(of) / 2;
    double *dk = of->sums + (size_t)worker * sums_each(of), *dv = dk + dk_size;
    real *part = (real *)(void *)(dk + both);
    gra_mat whole_k = { 0 }, whole_v = { 0 };
    memset(dk, 0, both * sizeof *dk);
    for (int i = 0; i < strips; i++) {
        struct strip s = gra_strip_at(y, of, head + (size_t)(i / each), each - 1 - i % each, worker);
        if (i == 0)                                     /* it sees every key */
            whole_k = s.dk, whole_v = s.dv;
        s.dk = moved(s.dk, part);
        s.dv = moved(s.dv, part + dk_size);
        backward_strip(&s, !y->in[0]->fresh, false, false);
        add_up(dk, s.dk);
        add_up(dv, s.dv);
    }
    put(dk, whole_k, !y->in[1]->fresh);
    put(dv, whole_v, !y->in[2]->fresh);
}

/* Heads that share a key-value head add to the same dk and dv, so one worker computes all their strips, in
 * order. The last strip of each head comes first: it sees every key, so it can overwrite dk and dv where they
 * are uninitialised (fresh). */
static void backward_kv_heads(void *arg, size_t from, size_t to, int worker)
{
    const gra_tensor *y = arg;
    const struct attention *of = &((const struct args *)y->args)->of;
    const size_t batch = (size_t)y->shape.dim[0], kv_heads = (size_t)of->kv_heads;
    const int sharing = of->heads / of->kv_heads, each = strip_count(of);
    for (size_t u = from; u < to; u++) {
        const size_t kv_head = of->heads_first ? u % batch * kv_heads + u / batch : u;
        const size_t head = kv_head * (size_t)sharing;
        if (of->sums)
            backward_many(y, of, head, sharing * each, worker);
        for (int i = 0; !of->sums && i < sharing * each; i++) {
            struct strip s = gra_strip_at(y, of, head + (size_t)(i / each), each - 1 - i % each, worker);
            backward_strip(&s, !y->in[0]->fresh, i > 0 || !y->in[1]->fresh, i > 0 || !y->in[2]->fresh);
        }
    }
}

/* How many strips of one row (as in generation) make a thread worthwhile. */
static size_t rows_at_once(const struct attention *of)
{
    const size_t worth = 1 << 14, each = (size_t)of->keys * (size_t)(of->d + of->d_v);
    return each ? worth / each + 1 : 1;
}

static bool make_buffers(gra_tensor *y, int buffers, ptrdiff_t ld)
{
    struct attention *of = &((struct args *)y->args)->of;
    of->ld = ld;
    of->buffers_each = (size_t)of->keys * (size_t)ld * (size_t)buffers;
    of->buffers = gra_alloc(y->tape, (size_t)gra_threads(y->tape) * of->buffers_each * sizeof(real));
    return of->buffers != NULL;
}

static void forward(gra_tensor *y)
{
    struct args *s = y->args;
    struct attention *of = &s->of;
    const int batch = y->shape.dim[0];
    const bool keeps = gra_tape_keeps_attention(y->tape), row = of->time == 1 && !of->stream;
    if (!make_buffers(y, 1, row ? 1 : strip_ld(of)))
        return;
    if (keeps && !(of->weights = gra_alloc(y->tape, rows(y) * (size_t)of->keys * sizeof(real))))
        return;
    gra_parallel(gra_tape_machine(y->tape), (size_t)batch * (size_t)of->heads * (size_t)strip_count(of),
                 row ? rows_at_once(of) : 1, forward_strips, y);
    if (keeps)
        s->kept = gra_constant(y->tape, of->weights, GRA_SHAPE(batch, of->heads, of->time, of->keys));
}

/* How many key-value heads add to the same values of dmask: all heads of a sequence, or one head of every
 * sequence, or all heads of all sequences. One thread must compute these heads in order. */
static size_t heads_in_a_row(const gra_tensor *y, struct attention *of)
{
    const size_t batch = (size_t)y->shape.dim[0], kv_heads = (size_t)of->kv_heads;
    const bool shared = y->in[3] && y->in[3]->grad;
    const bool by_sequences = shared && batch > 1 && of->mask_batch == 0;
    const bool by_heads = shared && of->heads > 1 && of->mask_head == 0;
    of->heads_first = by_sequences && !by_heads;
    return (by_sequences ? batch : 1) * (by_heads ? kv_heads : 1);
}

static size_t all_sums(const gra_tensor *y, const struct attention *of)
{
    return (size_t)gra_threads(y->tape) * sums_each(of);
}

/* Memory for the sums in double; false: out of memory. */
static bool make_sums(gra_tensor *y)
{
    struct attention *of = &((struct args *)y->args)->of;
    const gra_tensor *mask = y->in[3];
    const bool many = (y->in[1]->grad || y->in[2]->grad) &&
                      strip_count(of) * (of->heads / of->kv_heads) > MANY_STRIPS;
    of->dmask = mask && mask->grad ? gra_sums_take(y->tape, mask->size) : NULL;
    of->sums = many ? gra_sums_take(y->tape, all_sums(y, of)) : NULL;
    return !gra_error(y->tape);
}

static void backward(gra_tensor *y)
{
    struct attention *of = &((struct args *)y->args)->of;
    /* without queries no strip overwrites the gradients; dmask always accumulates */
    if ((y->in[3] && y->in[3]->fresh) || of->time == 0)
        gra_zero_fresh(y);
    if (!make_buffers(y, 2, strip_ld(of)) || !make_sums(y))
        return;
    gra_parallel(gra_tape_machine(y->tape), (size_t)y->shape.dim[0] * (size_t)of->kv_heads,
                 heads_in_a_row(y, of), backward_kv_heads, y);
    for (size_t i = 0; of->dmask && i < y->in[3]->size; i++)
        y->in[3]->grad[i] += (real)of->dmask[i];                        /* dmask += dS */
    if (of->dmask)
        gra_sums_give_back(y->tape, y->in[3]->size, of->dmask);
    if (of->sums)
        gra_sums_give_back(y->tape, all_sums(y, of), of->sums);
}

static const gra_op op = { .name = "attention", .forward = forward, .backward = backward, .saved = saved,
                           .args = sizeof(struct args), .overwrites_grad = true };

gra_tensor *gra_attention_weights(gra_tensor *y)
{
    if (!y)
        return NULL;
    if (gra_is_stale(y, __func__))
        return gra_empty(y->tape);
    if (y->base)                                        /* a reshaped result */
        y = y->base;
    if (y->op == &op && ((struct args *)y->args)->kept)
        return ((struct args *)y->args)->kept;
    if (!y->tape)
        return NULL;
    if (y->op != &op)
        return gra_fail(y->tape, "gra_attention_weights: got the result of %s, expected that of attention",
                        y->op ? y->op->name : "no op");
    return gra_fail(y->tape, "gra_attention_weights: the weights were not kept: call "
                    "gra_keep_attention(t, true) first");
}

static void set_mask(struct attention *of, gra_shape mask)         /* its strides */
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
        return gra_fail(t, "attention: got NULL for the options, expected a gra_attention_options, as in "
                        "&(gra_attention_options){ .heads = 1 }");
    gra_tensor *mask = how->mask;
    if (GRA_BAD_INPUTS(t, "attention", q, k, v, mask ? mask : q))
        return gra_empty(t);
    if (q->shape.ndim != 3 || k->shape.ndim != 3 || v->shape.ndim != 3)
        return gra_fail(t, "attention: got q %s, k %s, v %s, expected (batch, time, dim) for each",
                        GRA_SHAPE_OF(q), GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    const int batch = q->shape.dim[0], time = q->shape.dim[1], keys = k->shape.dim[1], heads = how->heads;
    if (batch != k->shape.dim[0] || batch != v->shape.dim[0] || keys != v->shape.dim[1])
        return gra_fail(t, "attention: got q %s, k %s, v %s, expected one batch size, and one time for k "
                        "and v", GRA_SHAPE_OF(q), GRA_SHAPE_OF(k), GRA_SHAPE_OF(v));
    if (heads < 1 || q->shape.dim[2] % heads || q->shape.dim[2] == 0)
        return gra_fail(t, "attention: got %d heads for q %s, expected a last size that is a multiple of "
                        "the heads, and not 0", heads, GRA_SHAPE_OF(q));
    const int d = q->shape.dim[2] / heads, kv_heads = k->shape.dim[2] / d;
    if (kv_heads < 1 || k->shape.dim[2] != kv_heads * d || heads % kv_heads || v->shape.dim[2] % kv_heads)
        return gra_fail(t, "attention: got k %s and v %s for q %s of %d head%s of %d columns, expected as "
                        "many heads in k and v, or a divisor of %d", GRA_SHAPE_OF(k), GRA_SHAPE_OF(v),
                        GRA_SHAPE_OF(q), heads, heads == 1 ? "" : "s", d, heads);
    const gra_shape scores = GRA_SHAPE(batch, heads, time, keys);
    gra_shape both;
    if (v->shape.dim[2] / kv_heads > INT_MAX / heads)
        return gra_fail(t, "attention: got v %s for %d heads, expected fewer columns: the result would have "
                        "more than %d", GRA_SHAPE_OF(v), heads, INT_MAX);
    if (mask && (!gra_broadcast(mask->shape, scores, &both) || !gra_same_shape(both, scores)))
        return gra_fail(t, "attention: got mask %s, expected one that broadcasts to the scores, (batch, "
                        "heads, time, keys) = (%d, %d, %d, %d)", GRA_SHAPE_OF(mask), batch, heads, time,
                        keys);
    if (!(how->dropout >= 0 && how->dropout < 1))
        return gra_fail(t, "attention: got dropout %g, expected 0 <= dropout < 1", how->dropout);
    const double dropout = gra_tape_mode(t) == GRA_TRAIN ? how->dropout : 0;
    if (dropout < how->dropout)
        gra_tape_no_dropout(t);
    if (dropout > 0 && !gra_need_rng(t, "attention"))
        return gra_empty(t);

    const int d_v = v->shape.dim[2] / kv_heads;
    gra_tensor *y = gra_result(t, &op, GRA_SHAPE(batch, time, heads * d_v), q, k, v, mask);
    struct args *s = y->args;
    *s = (struct args){ .of = { .machine = gra_tape_machine(t), .heads = heads, .kv_heads = kv_heads,
                                .time = time, .keys = keys, .d = d, .d_v = d_v, .causal = how->causal,
                                .scale = (real)(1 / sqrt((double)d)) } };
    if (mask)
        set_mask(&s->of, mask->shape);
    if (dropout > 0) {
        const size_t tiles = tiles_down(&s->of) * tiles_across(&s->of);
        s->of.dropped = gra_alloc(t, mask_bytes((size_t)batch * (size_t)heads * tiles));
        s->of.stream = gra_alloc(t, sizeof *s->of.stream);
        if (s->of.stream)
            *s->of.stream = mask_begin(gra_tape_rng(t), dropout, (size_t)keys, 1);
    }
    return gra_run(y);
}
