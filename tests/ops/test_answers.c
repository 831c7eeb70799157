/* Single ops: tests longer than a line of ops_table.c, which has the known answers and the refusals. */
#include "core/random/mcg31.h"
#include "lib/fault.h"
#include "lib/isa.h"
#include "lib/low_memory.h"
#include "lib/suites.h"
#include "lib/tensors.h"
#include "rows.h"

static void open_step(void)
{
    open_all();
    gra_keep_going(t, false);
    gra_begin(t, GRA_GRAD, &rng);
}

/* ---- known answers ---------------------------------------------------------------------------------- */

static const real nan_ = (real)NAN;

#define EXPECT(x, ...)                                                                                   \
    expect_values(__FILE__, __LINE__, "value", x, (const double[]){ __VA_ARGS__ },                       \
                  LENGTH(((const double[]){ __VA_ARGS__ })))

static void expect_shape(const gra_tensor *x, gra_shape shape)
{
    ck_assert(gra_same_shape(x->shape, shape));
}

CASE(answers, open_step, close_all, "")

TEST(indices_of_the_maximum)
{
    gra_tensor *x = MATRIX(2, 3, 1, 5, 5, 7, -1, nan_);
    const int *row = gra_argmax(t, x, -1), *column = gra_argmax(t, x, 0);
    ck_assert_int_eq(row[0], 1);                        /* the first of equal values */
    ck_assert_int_eq(row[1], 2);                        /* a NaN counts as the maximum */
    ck_assert_int_eq(column[0], 1);
    ck_assert_int_eq(column[1], 0);
    ck_assert_int_eq(column[2], 1);
}

TEST(no_gradient_of_what_is_no_function)         /* a comparison; zeros and ones */
{
    ck_assert(gra_scalar(t, 2.5)->requires_grad && !gra_lt(t, VECTOR(1), VECTOR(2))->requires_grad);
    ck_assert(!gra_zeros(t, GRA_SHAPE(2))->requires_grad && !gra_ones(t, GRA_SHAPE(2))->requires_grad);
}

TEST(indices_without_memory)                    /* each allocation fails in turn */
{
    const int *at = NULL;
    gra_keep_going(t, true);
    for (size_t left = 0, all = lines_left(t); left < all && !at; left++) {
        low_memory_begin(t, GRA_GRAD, NULL, all - left);
        at = gra_argmax(t, VECTOR(1, 2), 0);
        fault_disarm();
        ck_assert_int_eq(at == NULL, gra_error(t) != NULL);
    }
    ck_assert(at || !fault_wrapped());
}

TEST(a_mask_gets_no_gradient)
{
    gra_tensor *x = VECTOR(1, 2, 3), *mask = VECTOR(0, 1, 0), *shift = VECTOR(0, 5, 0);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_masked_fill(t, x, gra_mul(t, mask, shift), 9))), 0);
    EXPECT(gra_grad(x), 1, 0, 1);
    EXPECT(gra_grad(mask), 0, 0, 0);
    gra_begin(t, GRA_GRAD, NULL);
    x = gra_full(t, 1, GRA_SHAPE(3));                    /* not even if no other input needs one */
    mask = VECTOR(0, 1, 0);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_masked_fill(t, x, mask, 9))), 0);
    EXPECT(gra_grad(mask), 0, 0, 0);
}

TEST(a_nan_is_the_maximum_wherever_it_is)
{
    real x[40] = { 0 };
    for (int i = 0; i < LENGTH(x); i++) {
        x[i] = nan_;
        gra_tensor *row = gra_input(t, x, GRA_SHAPE(LENGTH(x)));
        ck_assert(isnan(gra_item(gra_max(t, row))));
        ck_assert_int_eq(*gra_argmax(t, row, 0), i);
        x[i] = 1;
    }
}

/* ---- attention, cross-entropy ---- */

TEST(attention_hides_no_nan)            /* scores of -inf and nan, of -inf and inf: the row is nan */
{
    const real large = sizeof(real) == sizeof(double) ? (real)1e200 : (real)1e25;
    for (int time = 1; time <= 2; time++)
        for (int i = 0; i < 2; i++) {
            gra_tensor *q = gra_full(t, (double)-large, GRA_SHAPE(1, time, 1));
            gra_tensor *k = gra_input(t, (const real[]){ large, i ? -large : (real)NAN }, GRA_SHAPE(1, 2, 1));
            gra_tensor *y = gra_attention(t, q, k, k, HOW(.heads = 1));
            ck_assert(isnan(y->data[0]) && isnan(y->data[time - 1]));
        }
}

TEST(what_the_caller_lends_is_copied)
{
    int ids[] = { 1, 0, 1 }, target[] = { 0, 1, 1 };
    gra_tensor *w = MATRIX(2, 2, 1, 2, 3, 4);
    gra_tensor *y = gra_embedding(t, w, ids, GRA_SHAPE(3));
    EXPECT(y->data, 3, 4, 1, 2, 3, 4);
    gra_tensor *x = MATRIX(3, 2, 0, 0, 0, 0, 0, 0), *loss = gra_cross_entropy(t, x, target);
    memset(ids, 0, sizeof ids);
    memset(target, 0, sizeof target);
    ck_assert_int_eq(gra_backward(t, gra_add(t, gra_sum(t, y), loss)), 0);
    EXPECT(gra_grad(w), 1, 1, 2, 2);
    const double sixth = 1.0 / 6;
    EXPECT(gra_grad(x), -sixth, sixth, sixth, -sixth, sixth, -sixth);
}

/* ---- shape ---- */

TEST(a_view_shares_values)
{
    gra_tensor *x = MATRIX(1, 3, 1, 2, 3), *y = gra_squeeze(t, x, 0), *column = gra_unsqueeze(t, y, -1);
    ck_assert(y->data == x->data && column->data == x->data);
    ck_assert_ptr_eq(gra_reshape(t, x, GRA_SHAPE(3, -1))->data, x->data);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, column, column))), 0);
    EXPECT(gra_grad(x), 2, 4, 6);
    ck_assert_ptr_eq(gra_grad(column), gra_grad(x));
}

/* ---- dropout ---- */

TEST(dropout_drops_only_in_training)
{
    gra_tensor *x = VECTOR(1, 2, 3);
    ck_assert_ptr_eq(gra_dropout(t, x, 0.5), x);                    /* GRA_GRAD */
    gra_begin(t, GRA_EVAL, &rng);
    x = VECTOR(1, 2, 3);
    ck_assert_ptr_eq(gra_dropout(t, x, 0.5), x);
    gra_begin(t, GRA_TRAIN, &rng);
    x = VECTOR(1, 2, 3);
    ck_assert_ptr_eq(gra_dropout(t, x, 0), x);
    EXPECT(gra_dropout(t, x, 1)->data, 0, 0, 0);
    ck_assert_uint_eq(gra_random(&rng), 2991312382u);               /* no number has been drawn yet */
}

TEST(dropout_is_pytorchs)               /* torch.manual_seed(123); dropout(ones(6, 6), 0.5) of an MKL build */
{
    static const char *const kept = "111111" "010000" "001010" "110001" "100001" "010000";
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *y = gra_dropout(t, gra_full(t, 1, GRA_SHAPE(6, 6)), 0.5);
    for (size_t i = 0; i < y->size; i++)
        ck_assert_double_eq((double)y->data[i], kept[i] == '1' ? 2 : 0);
}

/* The step's i-th random number drops element i, even if threads share a large tensor. */
TESTS(dropout_is_the_stream_number_by_number, ISAS)
{
    const size_t n = 100003;
    const double p = 0.3;
    gra_rng own = rng;
    uint32_t x = mcg31_start(&own);
    gra_close(t);
    t = open_with(isa[_i], 3);
    if (!t)
        return;
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *in = gra_input(t, gra_full(t, 2, GRA_SHAPE((int)n))->data, GRA_SHAPE((int)n));
    gra_tensor *y = gra_dropout(t, in, p);
    gra_backward(t, gra_sum(t, y));
    size_t kept = 0;
    for (size_t i = 0; i < n; i++, x = mcg31_next(x)) {
        bool keep = (double)x / 2147483647 < 1 - p;
        real factor = keep ? 1 / (real)(1 - p) : 0;
        if (y->data[i] != 2 * factor || in->grad[i] != factor)
            ck_abort_msg("element %zu: %g, gradient %g", i, (double)y->data[i], (double)in->grad[i]);
        kept += keep;
    }
    ck_assert_double_eq_tol((double)kept / (double)n, 1 - p, 0.01);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));         /* one number was drawn, no more */
}

/* ---- sizes of zero: results without values, or sums without terms ---- */

TEST(no_values)
{
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x = gra_constant(t, NULL, GRA_SHAPE(3, 0)), *y = gra_constant(t, NULL, GRA_SHAPE(0, 3));
    gra_tensor *w = VECTOR(1, 2, 3), *none = gra_constant(t, NULL, GRA_SHAPE(0));
    gra_tensor *of[] = { x, y };
    for (int i = 0; i < 2; i++) {
        gra_tensor *e = of[i], *all[] = {
            gra_add(t, e, e), gra_mul(t, e, e), gra_neg(t, e), gra_scale(t, e, 2), gra_pow(t, e, 2),
            gra_exp(t, e), gra_log(t, e), gra_gelu(t, e), gra_dropout(t, e, 0.5), gra_masked_fill(t, e, e, 1),
            gra_causal_mask(t, e), gra_softmax(t, e, 0), gra_softmax(t, e, 1), gra_log_softmax(t, e, 0),
            gra_log_softmax(t, e, 1), gra_rms_norm(t, e, NULL, 1e-5), gra_layer_norm(t, e, NULL, NULL, 1e-5),
            gra_concat(t, 2, (gra_tensor *[]){ e, e }, 1 - i),
        };
        for (int k = 0; k < LENGTH(all); k++)
            ck_assert_msg(all[k]->size == 0 && gra_same_shape(all[k]->shape, e->shape), "result %d", k);
        EXPECT(gra_sum(t, e)->data, 0);
        EXPECT(gra_sum_dim(t, e, 1 - i, false)->data, 0, 0, 0);
        ck_assert(isnan(gra_item(gra_mean(t, e))));
        ck_assert(isnan(gra_item(gra_mse_loss(t, e, e))));
        expect_shape(gra_transpose(t, e, 0, 1), GRA_SHAPE(of[1 - i]->shape.dim[0], of[1 - i]->shape.dim[1]));
    }
    ck_assert(isnan(gra_item(gra_cross_entropy(t, y, NULL))));
    ck_assert(isnan(gra_item(gra_cross_entropy(t, x, NULL))));
    expect_shape(gra_layer_norm(t, y, w, w, 1e-5), GRA_SHAPE(0, 3));
    expect_shape(gra_layer_norm(t, x, none, none, 1e-5), GRA_SHAPE(3, 0));
    expect_shape(gra_max_dim(t, y, 1, false), GRA_SHAPE(0));
    gra_tensor *square = gra_constant(t, NULL, GRA_SHAPE(0, 0));    /* no row needs a maximum of no values */
    expect_shape(gra_max_dim(t, square, 1, false), GRA_SHAPE(0));
    expect_shape(gra_min_dim(t, square, 0, true), GRA_SHAPE(1, 0));
    expect_shape(gra_embedding(t, MATRIX(1, 3, 1, 2, 3), NULL, GRA_SHAPE(0)), GRA_SHAPE(0, 3));
    expect_shape(gra_embedding(t, x, (const int[]){ 2, 0 }, GRA_SHAPE(2)), GRA_SHAPE(2, 0));
    expect_shape(gra_slice(t, w, 0, 2, 2), GRA_SHAPE(0));
    EXPECT(gra_concat(t, 2, (gra_tensor *[]){ none, w }, 0)->data, 1, 2, 3);
    EXPECT(gra_matmul(t, x, y)->data, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    expect_shape(gra_matmul(t, y, gra_transpose(t, y, 0, 1)), GRA_SHAPE(0, 0));
    expect_shape(gra_linear(t, y, MATRIX(2, 3, 1, 2, 3, 4, 5, 6), VECTOR(1, 2)), GRA_SHAPE(0, 2));
    expect_shape(gra_linear(t, MATRIX(2, 3, 1, 2, 3, 4, 5, 6), y, NULL), GRA_SHAPE(2, 0));
    EXPECT(gra_linear(t, x, gra_constant(t, NULL, GRA_SHAPE(2, 0)), VECTOR(1, 2))->data, 1, 2, 1, 2, 1, 2);
    gra_tensor *keys = gra_reshape(t, none, GRA_SHAPE(1, 0, 2));
    gra_tensor *query = gra_reshape(t, VECTOR(1, 2), GRA_SHAPE(1, 1, 2));
    EXPECT(gra_attention(t, query, keys, keys, HOW(.heads = 1))->data, 0, 0);
    expect_shape(gra_attention(t, keys, query, query, HOW(.heads = 1, .causal = true)), GRA_SHAPE(1, 0, 2));
    ck_assert_ptr_null(gra_error(t));
}

/* The sweep also passes through results without values. */
TEST(no_values_backwards)
{
    gra_tensor *x = MATRIX(3, 2, 1, 2, 3, 4, 5, 6), *w = VECTOR(1, 2);
    gra_tensor *e = gra_slice(t, x, 0, 1, 1), *c = gra_slice(t, x, 1, 0, 0);        /* (0, 2), (3, 0) */
    gra_tensor *y[] = {
        gra_layer_norm(t, gra_mul(t, e, w), w, w, 1e-5), gra_rms_norm(t, e, w, 1e-5), gra_softmax(t, e, 0),
        gra_log_softmax(t, e, 1), gra_transpose(t, c, 0, 1), gra_concat(t, 2, (gra_tensor *[]){ e, e }, 0),
        gra_causal_mask(t, c), gra_masked_fill(t, e, e, 1), gra_sum_dim(t, c, 0, true),
        gra_sum_dim(t, e, 1, false), gra_reshape(t, e, GRA_SHAPE(2, 0)), gra_max_dim(t, e, 1, false),
        gra_linear(t, e, MATRIX(1, 2, 1, 2), NULL), gra_embedding(t, x, NULL, GRA_SHAPE(0)),
        gra_matmul(t, c, e), gra_linear(t, e, x, VECTOR(1, 2, 3)), gra_min_dim(t, e, 1, false), gra_abs(t, e),
        gra_var_dim(t, e, 1, 1, true), gra_where(t, e, e, w), gra_clamp(t, e, 0, 1), gra_add_scalar(t, e, 1),
        gra_stack(t, 2, (gra_tensor *[]){ e, e }, 0), gra_expand(t, e, GRA_SHAPE(3, -1, 2)),
        gra_expand(t, gra_slice(t, x, 0, 1, 2), GRA_SHAPE(0, 2)),
        gra_attention(t, gra_reshape(t, e, GRA_SHAPE(1, 0, 2)), gra_reshape(t, x, GRA_SHAPE(1, 3, 2)),
                      gra_reshape(t, x, GRA_SHAPE(1, 3, 2)), HOW(.heads = 1)),
        gra_attention(t, gra_reshape(t, x, GRA_SHAPE(1, 3, 2)), gra_reshape(t, e, GRA_SHAPE(1, 0, 2)),
                      gra_reshape(t, e, GRA_SHAPE(1, 0, 2)), HOW(.heads = 1)),
    };
    gra_tensor *loss = gra_scale(t, gra_sum(t, x), 2);
    for (int i = 0; i < LENGTH(y); i++)
        loss = gra_add(t, loss, gra_sum(t, y[i]));
    ck_assert_int_eq(gra_backward(t, loss), 0);
    EXPECT(gra_grad(x), 2, 2, 2, 2, 2, 2);
    EXPECT(gra_grad(w), 0, 0);
}
