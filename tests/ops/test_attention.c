/* Attention: its weights, if the tape keeps them, against plain loops, and the errors if it does not; and
 * layers on inputs with any number of leading dimensions. */
#include "core/random/mcg31.h"
#include "layers/layers.h"
#include "lib/fixture.h"
#include "lib/suites.h"

enum { BATCH = 2, HEADS = 3, TIME = 4, KEYS = 5, HEAD = 2, DIM = HEADS * HEAD, VALUES = 2 * HEAD };

static const double tolerance = sizeof(real) == sizeof(double) ? 1e-14 : 1e-6;

static void open_attention(void)
{
    open_all();
    gra_keep_attention(t, true);
}

static gra_tensor *random_input(gra_shape shape)
{
    size_t n;
    ck_assert(gra_shape_size(shape, &n));
    real *values = gra_alloc(t, n * sizeof *values);
    gra_randn(&rng, values, n);
    return gra_input(t, values, shape);
}

/* ---- kept weights -------------------------------------------------------------------------------- */

/* Memory until the next gra_begin: zeros, and the values of x in double. */
static double *zeros(size_t n)
{
    double *values = gra_alloc(t, n * sizeof *values);
    return memset(values, 0, n * sizeof *values);
}

static double *widened(const real *x, size_t n)
{
    double *values = zeros(n);
    for (size_t i = 0; i < n; i++)
        values[i] = (double)x[i];
    return values;
}

static double *doubles(const gra_tensor *x) { return widened(x->data, x->size); }

static void expect_close(const char *what, const real *x, const double *want, size_t n, double close)
{
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(fabs((double)x[i] - want[i]) <= close * (1 + fabs(want[i])),
                      "%s %zu is %.17g, expected %.17g", what, i, (double)x[i], want[i]);
}

CASE(attention, open_attention, close_all, "")

TEST(weights_change_nothing)                            /* of the result and the gradients, to the last bit */
{
    real y[2][BATCH * TIME * DIM], dq[2][BATCH * TIME * DIM];
    for (int keep = 0; keep < 2; keep++) {
        gra_manual_seed(&rng, 7);
        gra_keep_attention(t, keep);
        gra_begin(t, GRA_TRAIN, &rng);
        gra_tensor *x = random_input(GRA_SHAPE(BATCH, TIME, DIM));
        gra_tensor *out = gra_attention(t, x, x, x, &(gra_attention_options){
            .heads = HEADS, .causal = true, .dropout = 0.3 });
        ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, out, out))), 0);
        memcpy(y[keep], out->data, sizeof y[keep]);
        memcpy(dq[keep], gra_grad(x), sizeof dq[keep]);
    }
    ck_assert_int_eq(memcmp(y[0], y[1], sizeof y[0]), 0);
    ck_assert_int_eq(memcmp(dq[0], dq[1], sizeof dq[0]), 0);
}

TEST(weights_of_every_layer_of_a_step)                  /* each attention has its own */
{
    gra_begin(t, GRA_EVAL, NULL);
    struct gra_causal_attention a, b;
    gra_causal_attention_init(&a, gra_enter(gra_root(model), "a"),
                              &(gra_attention_config){ .d_in = 3, .d_out = 2, .context_length = 6 });
    gra_causal_attention_init(&b, gra_enter(gra_root(model), "b"),
                              &(gra_attention_config){ .d_in = 2, .d_out = 2, .context_length = 6 });
    gra_tensor *y = gra_causal_attention_forward(t, &a, random_input(GRA_SHAPE(1, 4, 3)));
    gra_tensor *z = gra_causal_attention_forward(t, &b, y);
    gra_tensor *first = gra_attention_weights(y), *second = gra_attention_weights(z);
    ck_assert_ptr_ne(first, second);
    for (int i = 0; i < 4; i++) {
        double sum = 0;
        for (int j = 0; j < 4; j++) {
            sum += (double)second->data[i * 4 + j];
            ck_assert(j <= i || second->data[i * 4 + j] == 0);
        }
        ck_assert_double_le(fabs(sum - 1), tolerance);
    }
}

/* ---- strips: the weights are computed some rows at a time, and again in backward ---- */

/* Plain loops: for each query of each head
 *
 *     P_j = e^(s q.k_j + mask_j) / sum,   y = sum_j D_j v_j,   D_j = factor_j P_j,   s = 1 / sqrt(d)
 *
 *     dD_j = dy.v_j,   dP_j = factor_j dD_j,   dS_j = P_j (dP_j - sum_i dP_i P_i),
 *     dv_j += D_j dy,   dmask_j += dS_j,   dq += s dS_j k_j,   dk_j += s dS_j q.
 *
 * A row that sees no key, or whose scores are all -inf, is zeros. */
struct plain {
    int     time, keys;
    bool    causal;
    double *q, *k, *v, *dy, *mask, *factor;             /* mask, factor, P: (BATCH, HEADS, time, keys) */
    double *P, *y, *dq, *dk, *dv, *dmask;
};

static size_t at(int b, int h, int rows, int row, int width)
{
    return (size_t)(((b * rows + row) * HEADS + h) * width);
}

static double dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

static void plain_forward(const struct plain *a, int b, int h, int i)
{
    const size_t row = (size_t)(((b * HEADS + h) * a->time + i) * a->keys);
    const int seen = a->causal ? i + a->keys - a->time + 1 : a->keys;
    double *P = a->P + row, *y = a->y + at(b, h, a->time, i, VALUES), sum = 0, most = -(double)INFINITY;
    for (int j = 0; j < seen; j++) {
        P[j] = dot(a->q + at(b, h, a->time, i, HEAD), a->k + at(b, h, a->keys, j, HEAD), HEAD) / sqrt(HEAD) +
               a->mask[row + (size_t)j];
        most = fmax(most, P[j]);
    }
    for (int j = 0; j < seen; j++)
        sum += P[j] = most == -(double)INFINITY ? 0 : exp(P[j] - most);
    for (int j = 0; j < seen; j++) {
        P[j] /= sum == 0 ? 1 : sum;
        for (int e = 0; e < VALUES; e++)
            y[e] += a->factor[row + (size_t)j] * P[j] * a->v[at(b, h, a->keys, j, VALUES) + (size_t)e];
    }
}

static void plain_backward(const struct plain *a, int b, int h, int i)
{
    const size_t row = (size_t)(((b * HEADS + h) * a->time + i) * a->keys), at_q = at(b, h, a->time, i, HEAD);
    const double s = 1 / sqrt(HEAD), *P = a->P + row, *factor = a->factor + row,
                 *dy = a->dy + at(b, h, a->time, i, VALUES);
    double mean = 0;                                    /* sum_j dP_j P_j */
    for (int j = 0; j < a->keys; j++)
        mean += P[j] * factor[j] * dot(dy, a->v + at(b, h, a->keys, j, VALUES), VALUES);
    for (int j = 0; j < a->keys; j++) {
        const size_t at_k = at(b, h, a->keys, j, HEAD), at_v = at(b, h, a->keys, j, VALUES);
        const double dS = P[j] * (factor[j] * dot(dy, a->v + at_v, VALUES) - mean);
        for (size_t e = 0; e < VALUES; e++)
            a->dv[at_v + e] += factor[j] * P[j] * dy[e];
        for (size_t e = 0; e < HEAD; e++) {
            a->dq[at_q + e] += s * dS * a->k[at_k + e];
            a->dk[at_k + e] += s * dS * a->q[at_q + e];
        }
        a->dmask[row + (size_t)j] += dS;
    }
}

TESTS(attention_agrees_with_plain_loops, 8 * 8)         /* _i: sizes, causal, dropout, a mask */
{
    static const int sizes[][2] = { { TIME, KEYS }, { 32, 32 }, { 33, 33 }, { 100, 70 }, { 150, 150 },
                                    { 130, 201 }, { 200, 131 }, { 1, 70 } };
    static const double close = sizeof(real) == sizeof(double) ? 1e-13 : 1e-5;
    const int time = sizes[_i / 8][0], keys = sizes[_i / 8][1];
    const size_t weights = (size_t)(BATCH * HEADS * time * keys);
    const double p = _i & 2 ? 0.3 : 0;
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *q = random_input(GRA_SHAPE(BATCH, time, DIM)), *k = random_input(GRA_SHAPE(BATCH, keys, DIM));
    gra_tensor *v = random_input(GRA_SHAPE(BATCH, keys, 2 * DIM)),
               *c = random_input(GRA_SHAPE(BATCH, time, 2 * DIM));
    gra_tensor *mask = _i & 4 ? random_input(GRA_SHAPE(BATCH, HEADS, time, keys)) : NULL;
    const struct plain a = { time, keys, _i & 1, doubles(q), doubles(k), doubles(v), doubles(c),
                             mask ? doubles(mask) : zeros(weights), zeros(weights), zeros(weights),
                             zeros(c->size), zeros(q->size), zeros(k->size), zeros(v->size), zeros(weights) };
    gra_rng same = rng;
    uint32_t x = mcg31_start(&same);
    for (size_t i = 0; i < weights; i++, x = mcg31_next(x))     /* PyTorch's dropout */
        a.factor[i] = p == 0 ? 1 : x < mcg31_limit(p) ? 1 / (1 - p) : 0;
    for (int row = 0; row < BATCH * HEADS * time; row++) {
        plain_forward(&a, row / time / HEADS, row / time % HEADS, row % time);
        plain_backward(&a, row / time / HEADS, row / time % HEADS, row % time);
    }
    gra_tensor *y = gra_attention(t, q, k, v, &(gra_attention_options){ .heads = HEADS, .causal = _i & 1,
                                                                        .dropout = p, .mask = mask });
    expect_close("y", y->data, a.y, y->size, close);
    const gra_tensor *w = gra_attention_weights(y);     /* before dropout */
    ck_assert(gra_same_shape(w->shape, GRA_SHAPE(BATCH, HEADS, time, keys)) && !w->requires_grad);
    ck_assert_ptr_eq(gra_attention_weights(gra_reshape(t, y, GRA_SHAPE(-1))), w);
    expect_close("weight", w->data, a.P, w->size, close);
    gra_backward(t, gra_sum(t, gra_mul(t, c, y)));
    expect_error("no error");
    expect_close("dq", gra_grad(q), a.dq, q->size, close);
    expect_close("dk", gra_grad(k), a.dk, k->size, close);
    expect_close("dv", gra_grad(v), a.dv, v->size, close);
    if (mask)
        expect_close("dmask", gra_grad(mask), a.dmask, mask->size, close);
}

TESTS(a_hidden_key_may_be_nan_or_inf, 2)
{
    enum { N = 3 };
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *q = random_input(GRA_SHAPE(1, N, DIM)), *k = random_input(GRA_SHAPE(1, N, DIM));
    /* then the scores of the first query and the last are infinite */
    q->data[DIM - 1] = q->data[q->size - 1] = 1;
    gra_tensor *want = gra_attention(t, q, k, q, &(gra_attention_options){ .heads = HEADS, .causal = true });
    k->data[k->size - 1] = _i ? (real)INFINITY : (real)NAN; /* the last key: only the last query sees it */
    gra_tensor *y = gra_attention(t, q, k, q, &(gra_attention_options){ .heads = HEADS, .causal = true });
    for (int i = 0; i < (N - 1) * DIM; i++)
        ck_assert_msg(y->data[i] == want->data[i], "value %d is %g, expected %g", i, (double)y->data[i],
                      (double)want->data[i]);
    ck_assert(isnan(y->data[y->size - 1]));
}

/* Only the last TIME keys count, and none for the first query: the result is that of only these keys. */
static gra_tensor *few_of(gra_tensor *q, gra_tensor *k, gra_tensor *v, bool causal)
{
    const int keys = k->shape.dim[1], hidden = keys - TIME;
    gra_tensor *mask = gra_zeros(t, GRA_SHAPE(TIME, keys));
    for (int i = 0; i < TIME; i++)
        for (int j = 0; j < (i == 0 ? keys : hidden); j++)
            mask->data[i * keys + j] = -(real)INFINITY;
    return gra_attention(t, q, k, v, &(gra_attention_options){ .heads = HEADS, .causal = causal,
                                                               .mask = mask });
}

static gra_tensor *last_keys(const gra_tensor *x)
{
    return gra_input(t, x->data + x->size - TIME * DIM, GRA_SHAPE(1, TIME, DIM));
}

TESTS(a_long_row_with_few_keys_that_count, 2)           /* _i: causal */
{
    enum { LONG = 70 * 1000 };
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *q = random_input(GRA_SHAPE(1, TIME, DIM)), *same_q = last_keys(q);
    gra_tensor *k = random_input(GRA_SHAPE(1, LONG, DIM)), *few_k = last_keys(k);
    gra_tensor *v = random_input(GRA_SHAPE(1, LONG, DIM)), *few_v = last_keys(v);
    gra_tensor *c = random_input(GRA_SHAPE(1, TIME, DIM));
    gra_tensor *y = few_of(q, k, v, _i), *want = few_of(same_q, few_k, few_v, _i);
    gra_backward(t, gra_add(t, gra_sum(t, gra_mul(t, c, y)), gra_sum(t, gra_mul(t, c, want))));
    expect_error("no error");
    const size_t n = c->size, before = k->size - n;
    expect_close("y", y->data, doubles(want), n, tolerance);
    expect_close("dq", gra_grad(q), widened(gra_grad(same_q), n), n, tolerance);
    expect_close("dk", gra_grad(k) + before, widened(gra_grad(few_k), n), n, tolerance);
    expect_close("dv", gra_grad(v) + before, widened(gra_grad(few_v), n), n, tolerance);
    expect_close("dk of a key that does not count,", gra_grad(k), zeros(before), before, 0);
    expect_close("dv of a key that does not count,", gra_grad(v), zeros(before), before, 0);
}

/* ---- weights that were not kept ---- */

static gra_tensor *attended(gra_tensor *x)
{
    return gra_attention(t, x, x, x, &(gra_attention_options){ .heads = 1 });
}

TEST(weights_that_were_not_kept)
{
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = random_input(GRA_SHAPE(1, 2, 3));
    gra_attention_weights(gra_neg(t, attended(x)));
    expect_error("gra_attention_weights: got the result of neg, expected that of attention");
    gra_begin(t, GRA_GRAD, NULL);
    gra_attention_weights(gra_reshape(t, random_input(GRA_SHAPE(1, 2, 3)), GRA_SHAPE(-1)));
    expect_error("gra_attention_weights: got the result of no op, expected that of attention");
    ck_assert_ptr_null(gra_attention_weights(gra_param(gra_root(model), "w", gra_init_ones(), GRA_SHAPE(2))));
    ck_assert_ptr_null(gra_attention_weights(NULL));
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert(isnan(gra_item(gra_attention_weights(attended(random_input(GRA_SHAPE(2, 3)))))));
    expect_error("attention: got q (2, 3), k (2, 3), v (2, 3), expected (batch, time, dim) for each");
    gra_keep_attention(t, false);
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert(isnan(gra_item(gra_attention_weights(attended(random_input(GRA_SHAPE(1, 2, 3)))))));
    expect_error("gra_attention_weights: the weights were not kept: call gra_keep_attention(t, true) first");
}

/* ---- layers take (..., time, d_in) ----------------------------------------------------------------- */

TEST(leading_dimensions_are_the_batch)
{
    struct gra_multi_head_attention a;
    gra_multi_head_attention_init(&a, gra_root(model), &(gra_attention_config){
        .d_in = DIM, .d_out = 2 * HEADS, .context_length = TIME, .num_heads = HEADS, .qkv_bias = true });
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = random_input(GRA_SHAPE(2, 3, TIME, DIM));
    gra_tensor *y = gra_multi_head_attention_forward(t, &a, x);
    ck_assert_str_eq(GRA_SHAPE_OF(y), "(2, 3, 4, 6)");
    for (int i = 0; i < 6; i++) {                       /* each sequence by itself */
        gra_tensor *one = gra_constant(t, x->data + i * TIME * DIM, GRA_SHAPE(TIME, DIM));
        gra_tensor *z = gra_multi_head_attention_forward(t, &a, one);
        ck_assert_str_eq(GRA_SHAPE_OF(z), "(4, 6)");
        for (size_t j = 0; j < z->size; j++)
            ck_assert_double_le(fabs((double)(z->data[j] - y->data[(size_t)i * z->size + j])), tolerance);
    }
}
