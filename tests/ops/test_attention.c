/* Attention: its weights compared with other ops if the tape keeps them, and the errors if it does not; and
 * layers on inputs with any number of leading dimensions. */
#include "layers/layers.h"
#include "lib/fixture.h"
#include "lib/suites.h"

enum { BATCH = 2, HEADS = 3, TIME = 4, KEYS = 5, HEAD = 2, DIM = HEADS * HEAD };

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

/* The values of x in double, until the next gra_begin. */
static double *widened(const real *x, size_t n)
{
    double *values = gra_alloc(t, n * sizeof *values);
    for (size_t i = 0; i < n; i++)
        values[i] = (double)x[i];
    return values;
}

static double *doubles(const gra_tensor *x) { return widened(x->data, x->size); }

static void expect_close(const char *what, const real *x, const double *want, size_t n, double close)
{
    for (size_t i = 0; i < n; i++)
        if (!(fabs((double)x[i] - want[i]) <= close * (1 + fabs(want[i]))))
            ck_abort_msg("%s %zu is %.17g, expected %.17g", what, i, (double)x[i], want[i]);
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

/* ---- strips: the weights are computed a few rows at a time, and again in backward ---- */

static gra_tensor *by_head(gra_tensor *x)               /* (batch, heads, time, d) */
{
    return gra_transpose(t, gra_reshape(t, x, GRA_SHAPE(BATCH, x->shape.dim[1], HEADS, -1)), 1, 2);
}

/* Attention made of other ops, and its weights before dropout. */
static gra_tensor *of_ops(gra_tensor *const in[4], const gra_attention_options *how, gra_tensor **weights)
{
    gra_tensor *p = gra_scale(t, gra_matmul_nt(t, by_head(in[0]), by_head(in[1])), 1 / sqrt(HEAD));
    p = how->mask ? gra_add(t, p, in[3]) : p;
    *weights = gra_softmax(t, how->causal ? gra_causal_mask(t, p) : p, -1);
    p = gra_matmul(t, gra_dropout(t, *weights, how->dropout), by_head(in[2]));
    return gra_reshape(t, gra_transpose(t, p, 1, 2), GRA_SHAPE(BATCH, in[0]->shape.dim[1], -1));
}

/* Every second query's scores overflow to -inf: its row is zeros without a gradient. The other queries have
 * scores of 0 and a dq of 0, except for the rounding errors of large numbers. */
static void overflow(gra_tensor *q, gra_tensor *k)
{
    const real large = sizeof(real) == sizeof(double) ? (real)1e200 : (real)1e25;
    for (size_t i = 0; i < q->size; i++)
        q->data[i] = i / DIM % 2 ? 0 : -large;
    for (size_t i = 0; i < k->size; i++)
        k->data[i] = large;
}

/* Only the last TIME keys count, and the first query sees none. */
static void hide(gra_tensor *mask, size_t time, size_t keys)
{
    for (size_t i = 0; i < mask->size; i++)
        if (i / keys % time == 0 || i % keys < keys - TIME)
            mask->data[i] = -(real)INFINITY;
}

TESTS(attention_is_that_of_other_ops, 13 * 8)           /* _i: sizes, causal, dropout, a mask */
{
    enum { LONG = 70 * 1000 };
    static const struct { int time, keys; bool overflows; } sizes[] = {
        { TIME, KEYS, false }, { 32, 32, false },  { 33, 33, false },  { 100, 70, false },
        { 150, 150, false },   { 130, 201, false }, { 200, 131, false }, { 1, 70, false },
        { 1, 38, true },       { 2, 39, true },    { 40, 77, true },   { 150, 187, true },
        { TIME, LONG, false },
    };
    static const char *const names[] = { "dq", "dk", "dv", "dmask" };
    static const double close = sizeof(real) == sizeof(double) ? 1e-13 : 1e-5;
    const int time = sizes[_i / 8].time, keys = sizes[_i / 8].keys, n = _i & 4 ? 4 : 3;
    const bool overflows = sizes[_i / 8].overflows;
    gra_begin(t, GRA_TRAIN, &rng);
    const gra_shape shapes[] = { GRA_SHAPE(BATCH, time, DIM), GRA_SHAPE(BATCH, keys, DIM),
                                 GRA_SHAPE(BATCH, keys, 2 * DIM), GRA_SHAPE(BATCH, HEADS, time, keys) };
    gra_tensor *in[4], *same[4], *weights, *c = random_input(GRA_SHAPE(BATCH, time, 2 * DIM));
    for (int i = 0; i < 4; i++)
        in[i] = random_input(shapes[i]);
    if (overflows)
        overflow(in[0], in[1]);
    if (keys == LONG)
        hide(in[3], TIME, LONG);
    for (int i = 0; i < 4; i++)
        same[i] = gra_input(t, in[i]->data, in[i]->shape);
    const gra_attention_options how = { .heads = HEADS, .causal = _i & 1, .dropout = _i & 2 ? 0.3 : 0,
                                        .mask = n == 4 ? in[3] : NULL };
    const gra_rng before = rng;
    gra_tensor *want = of_ops(same, &how, &weights);
    rng = before;
    gra_tensor *y = gra_attention(t, in[0], in[1], in[2], &how);
    gra_attention(t, c, c, c, &(gra_attention_options){ .heads = HEADS });  /* has weights, too */
    expect_close("y", y->data, doubles(want), y->size, close);
    const gra_tensor *w = gra_attention_weights(y);
    ck_assert(gra_same_shape(w->shape, weights->shape) && !w->requires_grad);
    ck_assert_ptr_eq(gra_attention_weights(gra_reshape(t, y, GRA_SHAPE(-1))), w);
    expect_close("weight", w->data, doubles(weights), w->size, close);
    gra_backward(t, gra_add(t, gra_sum(t, gra_mul(t, c, y)), gra_sum(t, gra_mul(t, c, want))));
    expect_error("no error");
    for (size_t row = 0; row < in[0]->size; row += overflows ? 2 * DIM : DIM)
        expect_close("dq", gra_grad(in[0]) + row, widened(gra_grad(same[0]) + row, DIM), DIM, close);
    for (int i = 1; i < n; i++)
        expect_close(names[i], gra_grad(in[i]), widened(gra_grad(same[i]), in[i]->size), in[i]->size, close);
}

TESTS(a_hidden_key_may_be_nan_or_inf, 2)
{
    enum { N = 3 };
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *q = random_input(GRA_SHAPE(1, N, DIM)), *k = random_input(GRA_SHAPE(1, N, DIM));
    /* then the scores of the first and the last query are infinite */
    q->data[DIM - 1] = q->data[q->size - 1] = 1;
    gra_tensor *want = gra_attention(t, q, k, q, &(gra_attention_options){ .heads = HEADS, .causal = true });
    k->data[k->size - 1] = _i ? (real)INFINITY : (real)NAN; /* the last key, which only the last query sees */
    gra_tensor *y = gra_attention(t, q, k, q, &(gra_attention_options){ .heads = HEADS, .causal = true });
    for (int i = 0; i < (N - 1) * DIM; i++)
        ck_assert_msg(y->data[i] == want->data[i], "value %d is %g, expected %g", i, (double)y->data[i],
                      (double)want->data[i]);
    ck_assert(isnan(y->data[y->size - 1]));
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
