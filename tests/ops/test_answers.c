/* Single ops: known answers and extreme values. (Tests of every op: test_ops.c; what ops refuse:
 * test_refusals.c.) */
#include "lib/fault.h"
#include "lib/low_memory.h"
#include "lib/suites.h"
#include "lib/tensors.h"

#define REAL_STEP (sizeof(real) == 8 ? 0x1p-52 : 0x1p-23)    /* from 1 to the next real */

static void open_step(void)
{
    open_all();
    gra_keep_going(t, false);
    gra_begin(t, GRA_GRAD, &rng);
}

/* ---- known answers ---------------------------------------------------------------------------------- */

static const real inf = (real)INFINITY, nan_ = (real)NAN;

static void expect_values(const real *x, const real *want, size_t n)
{
    ck_assert_ptr_nonnull(x);
    for (size_t i = 0; i < n; i++)
        ck_assert_msg(x[i] == want[i] || (isnan(x[i]) && isnan(want[i])) ||
                      fabs((double)(x[i] - want[i])) <= 4 * REAL_STEP * fabs((double)want[i]),
                      "value %zu is %.9g, expected %.9g", i, (double)x[i], (double)want[i]);
}
#define EXPECT(x, ...)                                                                                   \
    expect_values(x, (const real[]){ __VA_ARGS__ }, sizeof((const real[]){ __VA_ARGS__ }) / sizeof(real))

static void expect_shape(const gra_tensor *x, gra_shape shape)
{
    ck_assert(gra_same_shape(x->shape, shape));
}

CASE(answers, open_step, close_all, "")

TEST(arithmetic)
{
    gra_tensor *a = MATRIX(2, 2, 1, 2, 3, 4), *b = VECTOR(-1, 2);
    EXPECT(gra_add(t, a, b)->data, 0, 4, 2, 6);
    EXPECT(gra_sub(t, a, b)->data, 2, 0, 4, 2);
    EXPECT(gra_mul(t, a, b)->data, -1, 4, -3, 8);
    EXPECT(gra_div(t, a, b)->data, -1, 1, -3, 2);
    EXPECT(gra_neg(t, b)->data, 1, -2);
    EXPECT(gra_scale(t, b, 3)->data, -3, 6);
    EXPECT(gra_pow(t, a, 3)->data, 1, 8, 27, 64);
    EXPECT(gra_div(t, b, VECTOR(0, 0))->data, -inf, inf);
}

TEST(tensors_of_a_step)
{
    gra_tensor *x = gra_scalar(t, 2.5), *zeros = gra_zeros(t, GRA_SHAPE(2));
    gra_tensor *ones = gra_ones(t, GRA_SHAPE(1, 2));
    EXPECT(x->data, (real)2.5);
    expect_shape(x, GRA_SCALAR);
    ck_assert(x->requires_grad && !zeros->requires_grad && !ones->requires_grad);
    EXPECT(zeros->data, 0, 0);
    EXPECT(ones->data, 1, 1);
    expect_shape(ones, GRA_SHAPE(1, 2));
    EXPECT(gra_arange(t, 4)->data, 0, 1, 2, 3);
    expect_shape(gra_arange(t, 0), GRA_SHAPE(0));
}

TEST(functions)
{
    static const double least[] = { 0, 0, 0, 0, 1, 1, 0, 0, 0 };    /* gelu's 1 + erf may cancel */
    static const double x[] = { -30, -4, -1.5, -0.25, 0.001, 0.75, 2, 6.5, 30 };
    real data[LENGTH(x)];
    for (int i = 0; i < LENGTH(x); i++)
        data[i] = (real)x[i];
    gra_tensor *in = gra_input(t, data, GRA_SHAPE(LENGTH(x))), *square = gra_mul(t, in, in);
    gra_tensor *y[] = { gra_exp(t, in), gra_tanh(t, in), gra_sigmoid(t, in), gra_relu(t, in), gra_gelu(t, in),
                        gra_gelu_tanh(t, in), gra_silu(t, in), gra_log(t, square), gra_sqrt(t, square) };
    for (int i = 0; i < LENGTH(x); i++) {
        double v = (double)data[i], u = 0.7978845608028654 * (v + 0.044715 * v * v * v);
        const double want[] = { exp(v), tanh(v), 1 / (1 + exp(-v)), fmax(v, 0),
                                v * erfc(-v * 0.7071067811865476) / 2, v / 2 * (1 + tanh(u)),
                                v / (1 + exp(-v)), log((double)square->data[i]), fabs(v) };
        for (int f = 0; f < LENGTH(y); f++) {
            double got = (double)y[f]->data[i], r = fmax(fabs(want[f]), least[f]);
            ck_assert_msg(fabs(got - want[f]) <= 4 * REAL_STEP * r, "%s(%g) = %.9g, expected %.9g",
                          y[f]->op->name, v, got, want[f]);
        }
    }
}

TEST(extremes)
{
    EXPECT(gra_exp(t, VECTOR(-inf, inf, nan_, 0, 10000))->data, 0, inf, nan_, 1, inf);
    EXPECT(gra_log(t, VECTOR(0, inf, nan_, 1, -1))->data, -inf, inf, nan_, 0, nan_);
    EXPECT(gra_sqrt(t, VECTOR(0, inf, nan_, 4, -1))->data, 0, inf, nan_, 2, nan_);
    EXPECT(gra_tanh(t, VECTOR(-inf, inf, nan_, 0))->data, -1, 1, nan_, 0);
    EXPECT(gra_sin(t, VECTOR(-inf, inf, nan_, 0))->data, nan_, nan_, nan_, 0);
    EXPECT(gra_cos(t, VECTOR(-inf, inf, nan_, 0))->data, nan_, nan_, nan_, 1);
    EXPECT(gra_sigmoid(t, VECTOR(-inf, inf, nan_, 0))->data, 0, 1, nan_, (real)0.5);
    EXPECT(gra_relu(t, VECTOR(-inf, inf, nan_, 0, -1))->data, 0, inf, nan_, 0, 0);
    EXPECT(gra_gelu(t, VECTOR(inf, nan_, 0, 100, -100))->data, inf, nan_, 0, 100, 0);
    EXPECT(gra_gelu_tanh(t, VECTOR(inf, nan_, 0, 100, -100))->data, inf, nan_, 0, 100, 0);
    EXPECT(gra_silu(t, VECTOR(inf, nan_, 0, 10000, -10000))->data, inf, nan_, 0, 10000, 0);
    EXPECT(gra_pow(t, VECTOR(0, 0, -8, -1), 0)->data, 1, 1, 1, 1);
    EXPECT(gra_pow(t, VECTOR(-8, 0, 16), 0.25)->data, nan_, 0, 2);
    EXPECT(gra_pow(t, VECTOR(0, 4), -0.5)->data, inf, (real)0.5);
}

/* Each x is a float, and the answers were computed with 400 digits of pi: subtracting multiples of a rounded
 * pi is not accurate enough. */
TEST(sines_of_large_angles)
{
    gra_tensor *x = VECTOR((real)0x1.921fb6p+1, 10000, (real)0x1p60, (real)0x1.fffffep+127, (real)0x1p-20,
                           (real)0x1.4p-147);
    EXPECT(gra_sin(t, x)->data, (real)-8.7422780003724745258e-08, (real)-0.30561438888825214136,
           (real)-0.83064921763725465058, (real)-0.52187652333365854055, (real)9.5367431640610543971e-07,
           (real)0x1.4p-147);
    EXPECT(gra_cos(t, x)->data, (real)-0.99999999999999617863, (real)-0.95215536825901485124,
           (real)-0.55679608227664170368, (real)0.85302103983030415805, (real)0.99999999999954525265, 1);
}

TEST(gradients_at_the_edge)             /* relu at 0; x^0 and x^2 at 0; sqrt at 0 */
{
    gra_tensor *x = VECTOR(0, -1, 1);
    gra_tensor *y = gra_add(t, gra_add(t, gra_relu(t, x), gra_pow(t, x, 0)), gra_pow(t, x, 2));
    gra_tensor *z = VECTOR(0);
    ck_assert_int_eq(gra_backward(t, gra_add(t, gra_sum(t, y), gra_sum(t, gra_sqrt(t, z)))), 0);
    EXPECT(gra_grad(x), 0, -2, 3);
    EXPECT(gra_grad(z), inf);
}

TEST(masks)
{
    gra_tensor *x = MATRIX(2, 3, 1, 2, 3, 4, 5, 6);
    EXPECT(gra_masked_fill(t, x, VECTOR(0, 1, 0), 9)->data, 1, 9, 3, 4, 9, 6);
    EXPECT(gra_masked_fill(t, x, MATRIX(2, 1, -1, 0), (double)-inf)->data, -inf, -inf, -inf, 4, 5, 6);
    EXPECT(gra_causal_mask(t, x)->data, 1, 2, -inf, 4, 5, 6);
    EXPECT(gra_causal_mask(t, gra_transpose(t, x, 0, 1))->data, -inf, -inf, 2, -inf, 3, 6);
    EXPECT(gra_causal_mask(t, MATRIX(2, 2, 1, 2, 3, 4))->data, 1, -inf, 3, 4);
}

TEST(comparisons)                       /* of a NaN only "not equal" holds */
{
    gra_tensor *x = VECTOR(1, 2, 3, nan_), *two = VECTOR(2);
    EXPECT(gra_lt(t, x, two)->data, 1, 0, 0, 0);
    EXPECT(gra_le(t, x, two)->data, 1, 1, 0, 0);
    EXPECT(gra_gt(t, x, two)->data, 0, 0, 1, 0);
    EXPECT(gra_ge(t, x, two)->data, 0, 1, 1, 0);
    EXPECT(gra_eq(t, x, two)->data, 0, 1, 0, 0);
    EXPECT(gra_ne(t, x, two)->data, 1, 0, 1, 1);
    ck_assert(!gra_lt(t, x, two)->requires_grad);
}

TEST(bounds)
{
    EXPECT(gra_clamp(t, VECTOR(-5, -1, 0, 1, 5, nan_, inf), -1, 1)->data, -1, -1, 0, 1, 1, nan_, 1);
    EXPECT(gra_clamp(t, VECTOR(-5, 5), 0, (double)inf)->data, 0, 5);
    EXPECT(gra_abs(t, VECTOR(-2, 0, 2, -inf, nan_))->data, 2, 0, 2, inf, nan_);
    EXPECT(gra_min(t, VECTOR(3, -1, 2))->data, -1);
    EXPECT(gra_min(t, VECTOR(3, nan_, 2))->data, nan_);
    gra_tensor *x = VECTOR(2, 1, 1);                    /* the first of equal values gets the gradient */
    ck_assert_int_eq(gra_backward(t, gra_min(t, x)), 0);
    EXPECT(gra_grad(x), 0, 1, 0);
}

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

TEST(losses_of_extreme_logits)
{
    gra_tensor *x = VECTOR(10000, -10000, 10000);
    gra_tensor *loss = gra_binary_cross_entropy_with_logits(t, x, VECTOR(1, 0, 0));
    EXPECT(loss->data, (real)(10000.0 / 3));
    ck_assert_int_eq(gra_backward(t, loss), 0);
    EXPECT(gra_grad(x), 0, 0, (real)(1.0 / 3));
    EXPECT(gra_binary_cross_entropy(t, VECTOR(0, 1), VECTOR(1, 0))->data, 100);  /* no log below -100 */

    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *p = VECTOR(0, 1, 1), *q = VECTOR(0, 1, 0);
    ck_assert_int_eq(gra_backward(t, gra_scale(t, gra_binary_cross_entropy(t, p, q), 3)), 0);
    EXPECT(gra_grad(p), 0, 0, (real)1e12);              /* p (1 - p) counts as at least 1e-12 */
    EXPECT(gra_grad(q), 100, -100, -100);
}

TEST(variances)
{
    gra_tensor *x = VECTOR(1, 2, 3, 6);
    EXPECT(gra_var(t, x, 1)->data, (real)(14.0 / 3));
    EXPECT(gra_var(t, x, 0)->data, (real)3.5);
    EXPECT(gra_var(t, VECTOR(5), 1)->data, nan_);       /* of a sample of one: 0/0, as in PyTorch */
    EXPECT(gra_var_dim(t, MATRIX(2, 2, 1, 3, 4, 4), 1, 1, false)->data, 2, 0);
}

TEST(a_mask_gets_no_gradient)
{
    gra_tensor *x = VECTOR(1, 2, 3), *mask = VECTOR(0, 1, 0), *shift = VECTOR(0, 5, 0);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_masked_fill(t, x, gra_mul(t, mask, shift), 9))), 0);
    EXPECT(gra_grad(x), 1, 0, 1);
    EXPECT(gra_grad(mask), 0, 0, 0);
    gra_begin(t, GRA_GRAD, NULL);
    x = gra_full(t, 1, GRA_SHAPE(3));                    /* not even if nothing else would need one */
    mask = VECTOR(0, 1, 0);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_masked_fill(t, x, mask, 9))), 0);
    EXPECT(gra_grad(mask), 0, 0, 0);
}

TEST(reductions)
{
    gra_tensor *x = MATRIX(2, 3, 1, 5, 3, 4, 2, 6);
    EXPECT(gra_sum(t, x)->data, 21);
    EXPECT(gra_mean(t, x)->data, (real)3.5);
    EXPECT(gra_max(t, x)->data, 6);
    EXPECT(gra_sum_dim(t, x, 0, false)->data, 5, 7, 9);
    EXPECT(gra_sum_dim(t, x, -1, false)->data, 9, 12);
    EXPECT(gra_mean_dim(t, x, 1, false)->data, 3, 4);
    EXPECT(gra_max_dim(t, x, 0, false)->data, 4, 5, 6);
    EXPECT(gra_max_dim(t, x, 1, false)->data, 5, 6);
    expect_shape(gra_sum(t, x), GRA_SCALAR);
    expect_shape(gra_sum_dim(t, x, 0, false), GRA_SHAPE(3));
    expect_shape(gra_sum_dim(t, x, 0, true), GRA_SHAPE(1, 3));
    expect_shape(gra_mean_dim(t, x, 1, true), GRA_SHAPE(2, 1));
    expect_shape(gra_max_dim(t, x, -1, true), GRA_SHAPE(2, 1));
}

TEST(max_takes_the_first_and_nan)
{
    gra_tensor *x = MATRIX(2, 3, 7, 7, 1, 2, 7, 7);
    gra_tensor *columns = gra_sum(t, gra_max_dim(t, x, 0, false));
    gra_tensor *rows = gra_sum(t, gra_max_dim(t, x, 1, false));
    ck_assert_int_eq(gra_backward(t, gra_add(t, gra_add(t, columns, rows), gra_max(t, x))), 0);
    EXPECT(gra_grad(x), 3, 1, 0, 0, 1, 1);
    EXPECT(gra_max(t, VECTOR(1, nan_, 3, nan_))->data, nan_);
    EXPECT(gra_max_dim(t, MATRIX(2, 2, nan_, 1, 3, nan_), 0, false)->data, nan_, nan_);
    EXPECT(gra_max(t, VECTOR(-inf, -inf))->data, -inf);
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

TEST(the_gradient_of_a_nan_maximum)
{
    gra_tensor *x = VECTOR(5, nan_, 9, nan_);
    ck_assert_int_eq(gra_backward(t, gra_max(t, x)), 0);
    EXPECT(gra_grad(x), 0, 1, 0, 0);
    gra_begin(t, GRA_GRAD, NULL);
    x = MATRIX(3, 2, 5, 1, nan_, 2, nan_, 3);           /* along columns, another loop */
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_max_dim(t, x, 0, false))), 0);
    EXPECT(gra_grad(x), 0, 0, 1, 0, 0, 1);
}

/* A million times a tenth: adding one float after another would give 100958. */
TEST(long_sums_keep_their_digits)
{
    const int n = 1000001;
    const double want = (double)(real)0.1 * n, tolerance = sizeof(real) < sizeof(double) ? 1e-6 : 1e-12;
    gra_tensor *x = gra_full(t, 0.1, GRA_SHAPE(n)), *column = gra_reshape(t, x, GRA_SHAPE(n, 1));
    gra_tensor *two = gra_full(t, 0.1, GRA_SHAPE(n, 2)), *zero = gra_full(t, 0, GRA_SHAPE(n));
    gra_tensor *y[] = { gra_sum(t, x), gra_sum_dim(t, x, 0, false), gra_sum_dim(t, column, 0, false),
                        gra_sum_dim(t, two, 0, false), gra_scale(t, gra_mean(t, x), n),
                        gra_scale(t, gra_mse_loss(t, x, zero), n * 10) };
    for (int i = 0; i < LENGTH(y); i++)
        ck_assert_msg(fabs((double)y[i]->data[0] - want) <= tolerance * want, "sum %d is %.9g, expected %.9g",
                      i, (double)y[i]->data[0], want);
}

/* ---- softmax, cross-entropy ---- */

TEST(softmax_of_large_logits)           /* along rows, and along columns of the transposed */
{
    gra_tensor *x = MATRIX(2, 3, 10000, 9999, -10000, -10000, -10000, -10000);
    const double e = exp(-1.0);
    const real a = (real)(1 / (1 + e)), b = (real)(e / (1 + e)), third = (real)(1.0 / 3);
    EXPECT(gra_softmax(t, x, -1)->data, a, b, 0, third, third, third);
    EXPECT(gra_softmax(t, gra_transpose(t, x, 0, 1), 0)->data, a, third, b, third, 0, third);
    const real la = (real)-log1p(e), l3 = (real)-log(3.0);
    EXPECT(gra_log_softmax(t, x, -1)->data, la, la - 1, la - 20000, l3, l3, l3);
    EXPECT(gra_log_softmax(t, gra_transpose(t, x, 0, 1), 0)->data, la, l3, la - 1, l3, la - 20000, l3);
}

TEST(softmax_of_masked_rows)
{
    gra_tensor *x = MATRIX(3, 3, -inf, -inf, -inf, -inf, 2, -inf, 1, nan_, 1);
    gra_tensor *y = gra_softmax(t, x, 1), *z = gra_softmax(t, gra_transpose(t, x, 0, 1), 0);
    EXPECT(y->data, 0, 0, 0, 0, 1, 0, nan_, nan_, nan_);
    EXPECT(z->data, 0, 0, nan_, 0, 1, nan_, 0, 0, nan_);
    gra_tensor *some = gra_slice(t, y, 0, 0, 2), *others = gra_slice(t, z, 1, 0, 2);
    gra_tensor *weights = gra_constant(t, (const real[]){ 1, 2, 3, 4, 5, 6 }, GRA_SHAPE(2, 3));
    gra_tensor *loss = gra_sum(t, gra_mul(t, some, weights));
    loss = gra_add(t, loss, gra_sum(t, gra_mul(t, others, gra_transpose(t, weights, 0, 1))));
    ck_assert_int_eq(gra_backward(t, loss), 0);
    for (int i = 0; i < 6; i++)
        ck_assert_double_eq((double)gra_grad(x)[i], 0);
}

TEST(cross_entropy_values)
{
    gra_tensor *x = MATRIX(3, 2, 0, 0, 10000, -10000, 1, 2);
    const double second = log(1 + exp(1.0));            /* of (1, 2), target 0: log(e + e^2) - 1 */
    EXPECT(gra_cross_entropy(t, x, (const int[]){ 1, 0, 0 })->data, (real)((log(2.0) + 0 + second) / 3));
    EXPECT(gra_cross_entropy(t, x, (const int[]){ 1, 1, 0 })->data, (real)((log(2.0) + 20000 + second) / 3));
    EXPECT(gra_cross_entropy(t, x, (const int[]){ -100, -100, 0 })->data, (real)second);
    EXPECT(gra_cross_entropy(t, MATRIX(1, 2, 1, nan_), (const int[]){ 0 })->data, nan_);
    gra_tensor *large = MATRIX(1, 3, 10000, 10000, 10000);
    gra_backward(t, gra_cross_entropy(t, large, (const int[]){ 1 }));
    EXPECT(gra_grad(large), (real)(1.0 / 3), (real)(1.0 / 3 - 1), (real)(1.0 / 3));
}

/* If the largest logit is 1e4, the third class contributes nothing to either gradient. */
TEST(gradients_of_large_logits)
{
    const double e = exp(-1.0), a = 1 / (1 + e), b = e / (1 + e);
    for (int along = 0; along < 2; along++) {           /* a row, and a column */
        const gra_shape shape = along ? GRA_SHAPE(3, 1) : GRA_SHAPE(1, 3);
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *x = gra_input(t, (const real[]){ 10000, 9999, -10000 }, shape);
        gra_tensor *z = gra_input(t, (const real[]){ 10000, 9999, -10000 }, shape);
        gra_tensor *w = gra_constant(t, (const real[]){ 1, 2, 3 }, shape);
        gra_tensor *y = gra_mul(t, w, gra_softmax(t, x, 1 - along));
        gra_tensor *l = gra_mul(t, w, gra_log_softmax(t, z, 1 - along));
        ck_assert_int_eq(gra_backward(t, gra_add(t, gra_sum(t, y), gra_sum(t, l))), 0);
        const double dx = a * b;                        /* y (w - sum y w): a (1 - a - 2 b) = -a b */
        EXPECT(gra_grad(x), (real)-dx, (real)dx, 0);
        EXPECT(gra_grad(z), (real)(1 - 6 * a), (real)(2 - 6 * b), 3);
    }
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = MATRIX(1, 3, 10000, 9999, -10000), *loss = gra_cross_entropy(t, x, (const int[]){ 2 });
    EXPECT(loss->data, (real)(20000 + log1p(e)));
    ck_assert_int_eq(gra_backward(t, loss), 0);
    EXPECT(gra_grad(x), (real)a, (real)b, -1);
}

TEST(log_softmax_of_masked_rows)
{
    gra_tensor *x = MATRIX(3, 3, -inf, -inf, -inf, -inf, 2, -inf, inf, 0, 0);
    EXPECT(gra_log_softmax(t, x, 1)->data, -inf, -inf, -inf, -inf, 0, -inf, nan_, nan_, nan_);
    EXPECT(gra_log_softmax(t, gra_transpose(t, x, 0, 1), 0)->data, -inf, -inf, nan_, -inf, 0, nan_, -inf,
           -inf, nan_);
    EXPECT(gra_softmax(t, x, 1)->data, 0, 0, 0, 0, 1, 0, nan_, nan_, nan_);
    gra_tensor *some = gra_masked_fill(t, gra_log_softmax(t, gra_slice(t, x, 0, 0, 2), 1),
                                       gra_constant(t, (const real[]){ 1, 1, 1, 1, 0, 1 }, GRA_SHAPE(2, 3)),
                                       0);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, some)), 0);
    EXPECT(gra_grad(x), 0, 0, 0, 0, 0, 0, 0, 0, 0);
}

TEST(cross_entropy_of_masked_rows)
{
    gra_tensor *x = MATRIX(3, 3, -inf, -inf, -inf, 0, -inf, 0, -inf, 1e4, -inf);
    gra_tensor *loss = gra_cross_entropy(t, x, (const int[]){ 2, 0, 1 });
    EXPECT(loss->data, (real)(log(2.0) / 3));           /* 0, log 2, 0 */
    ck_assert_int_eq(gra_backward(t, loss), 0);
    const real sixth = (real)(1.0 / 6);
    EXPECT(gra_grad(x), 0, 0, 0, -sixth, 0, sixth, 0, 0, 0);

    gra_begin(t, GRA_GRAD, NULL);
    x = MATRIX(2, 2, -inf, -inf, -inf, -inf);
    loss = gra_cross_entropy(t, x, (const int[]){ 1, 0 });
    EXPECT(loss->data, 0);
    ck_assert_int_eq(gra_backward(t, loss), 0);
    EXPECT(gra_grad(x), 0, 0, 0, 0);

    gra_begin(t, GRA_GRAD, NULL);
    x = MATRIX(1, 2, 5, -inf);
    loss = gra_cross_entropy(t, x, (const int[]){ 1 });
    EXPECT(loss->data, inf);                            /* -log 0 */
    ck_assert_int_eq(gra_backward(t, loss), 0);
    EXPECT(gra_grad(x), 1, -1);
    EXPECT(gra_cross_entropy(t, MATRIX(1, 2, inf, 0), (const int[]){ 0 })->data, nan_);
}

TEST(attention_with_large_scores)               /* 10000, 9999 and -10000 */
{
    const double e = exp(-1.0), a = 1 / (1 + e), b = e / (1 + e);
    gra_tensor *q = gra_input(t, (const real[]){ 1 }, GRA_SHAPE(1, 1, 1));
    gra_tensor *k = gra_input(t, (const real[]){ 10000, 9999, -10000 }, GRA_SHAPE(1, 3, 1));
    gra_tensor *v = gra_input(t, (const real[]){ 1, 2, 3 }, GRA_SHAPE(1, 3, 1));
    gra_tensor *y = gra_attention(t, q, k, v, HOW(.heads = 1));
    EXPECT(y->data, (real)(a + 2 * b));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, y)), 0);
    EXPECT(gra_grad(v), (real)a, (real)b, 0);
    EXPECT(gra_grad(k), (real)(-a * b), (real)(a * b), 0);
    ck_assert_double_le(fabs((double)gra_grad(q)[0] + a * b), 10000 * REAL_STEP);  /* of terms of 1e4 a b */
}

TEST(attention_rows_that_see_no_key)            /* the first three of four queries precede the only key */
{
    gra_tensor *q = gra_input(t, (const real[]){ 1, 2, 3, 4 }, GRA_SHAPE(1, 4, 1));
    gra_tensor *k = gra_input(t, (const real[]){ 5 }, GRA_SHAPE(1, 1, 1));
    gra_tensor *v = gra_input(t, (const real[]){ 7 }, GRA_SHAPE(1, 1, 1));
    gra_tensor *y = gra_attention(t, q, k, v, HOW(.heads = 1, .causal = true));
    EXPECT(y->data, 0, 0, 0, 7);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, y, y))), 0);
    EXPECT(gra_grad(v), 14);
    EXPECT(gra_grad(q), 0, 0, 0, 0);
    EXPECT(gra_grad(k), 0);
}

/* q k overflows to -inf in every second row, which becomes zeros without a gradient. In the others all scores
 * are 0, so y is the mean of the visible values. One query, and strips of several; also with dropout. */
TESTS(attention_rows_of_minus_infinity, 16)
{
    static const int times[] = { 1, 2, 40, 150 };
    const real large = sizeof(real) == sizeof(double) ? (real)1e200 : (real)1e25;
    const int time = times[_i / 4], keys = 37 + time;
    const bool causal = _i & 1;
    const double p = _i & 2 ? 0.5 : 0;
    real q[150], k[190], v[190];
    gra_manual_seed(&rng, 1);
    for (int i = 0; i < time; i++)
        q[i] = i % 2 ? 0 : -large;
    for (int j = 0; j < keys; j++) {
        k[j] = large;
        v[j] = (real)j;
    }
    gra_keep_attention(t, true);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *x[3] = { gra_input(t, q, GRA_SHAPE(1, time, 1)), gra_input(t, k, GRA_SHAPE(1, keys, 1)),
                         gra_input(t, v, GRA_SHAPE(1, keys, 1)) };
    gra_tensor *y = gra_attention(t, x[0], x[1], x[2], HOW(.heads = 1, .causal = causal, .dropout = p));
    const real *w = gra_attention_weights(y)->data;
    ck_assert_int_eq(gra_backward(t, gra_sum(t, y)), 0);
    for (int i = 0; i < time; i++) {
        const int sees = causal ? keys - time + 1 + i : keys;
        if (i % 2 == 0)
            ck_assert_msg(y->data[i] == 0 && gra_grad(x[0])[i] == 0, "row %d: %g, gradient %g", i,
                          (double)y->data[i], (double)gra_grad(x[0])[i]);
        else if (p == 0)
            ck_assert_double_eq_tol((double)y->data[i], (sees - 1) / 2.0, 1e-4);
        for (int j = 0; j < keys; j++)
            ck_assert_double_eq_tol((double)w[i * keys + j], i % 2 && j < sees ? 1.0 / sees : 0, 1e-6);
    }
    double dv = 0;
    for (int j = 0; j < keys; j++) {
        ck_assert(gra_grad(x[1])[j] == 0);
        dv += (double)gra_grad(x[2])[j];
    }
    if (p == 0)
        ck_assert_double_eq_tol(dv, time / 2, 1e-4);    /* the weights of a row that sees a key sum to 1 */
    ck_assert(time > 1 || dv == 0);
}

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

TEST(cross_entropy_of_no_row_is_nan)
{
    gra_tensor *x = MATRIX(2, 2, 1, 2, 3, 4);
    gra_tensor *loss = gra_cross_entropy(t, x, (const int[]){ GRA_IGNORE_INDEX, GRA_IGNORE_INDEX });
    ck_assert(isnan(gra_item(loss)));
    ck_assert_int_eq(gra_backward(t, loss), 0);
    EXPECT(gra_grad(x), 0, 0, 0, 0);
}

TEST(cross_entropy_of_each_row)
{
    gra_tensor *x = MATRIX(5, 2, 0, 0, 10000, -10000, 1, 2, -inf, -inf, nan_, 0);
    gra_tensor *y = gra_cross_entropy_unreduced(t, x, (const int[]){ 1, 1, 0, 1, GRA_IGNORE_INDEX });
    const double e = exp(1.0), second = log(1 + e);     /* of (1, 2), target 0: log(e + e^2) - 1 */
    EXPECT(y->data, (real)log(2.0), 20000, (real)second, 0, 0);
    expect_shape(y, GRA_SHAPE(5));
    gra_tensor *dy = gra_constant(t, (const real[]){ 2, 3, 4, 5, 6 }, GRA_SHAPE(5));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, y, dy))), 0);
    const real part = (real)(4 * e / (1 + e));
    EXPECT(gra_grad(x), 1, -1, 3, -3, -part, part, 0, 0, 0, 0);

    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *none = gra_zeros(t, GRA_SHAPE(2, 0, 3)), *column = gra_zeros(t, GRA_SHAPE(2, 1, 3));
    expect_shape(gra_cross_entropy_unreduced(t, none, NULL), GRA_SHAPE(2, 0));
    expect_shape(gra_cross_entropy_unreduced(t, column, (const int[]){ 0, 2 }), GRA_SHAPE(2, 1));
    expect_shape(gra_cross_entropy_unreduced(t, VECTOR(0, 0), (const int[]){ 0 }), GRA_SCALAR);
}

/* The loss is the mean of the rows' losses; its gradient is the same bit for bit if N is a power of 2. */
TEST(cross_entropy_is_the_mean_of_its_rows)
{
    static const int target[] = { 2, GRA_IGNORE_INDEX, 0, 1, 3 };
    real data[20];
    gra_randn(&rng, data, LENGTH(data));
    gra_tensor *x = gra_input(t, data, GRA_SHAPE(5, 4)), *z = gra_input(t, data, GRA_SHAPE(5, 4));
    gra_tensor *y = gra_cross_entropy(t, x, target);
    gra_tensor *mean = gra_scale(t, gra_sum(t, gra_cross_entropy_unreduced(t, z, target)), 0.25);
    EXPECT(y->data, mean->data[0]);
    ck_assert_int_eq(gra_backward(t, gra_add(t, y, mean)), 0);
    for (int i = 0; i < LENGTH(data); i++)
        ck_assert_double_eq((double)gra_grad(x)[i], (double)gra_grad(z)[i]);
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
    const real sixth = (real)(1.0 / 6);
    EXPECT(gra_grad(x), -sixth, sixth, sixth, -sixth, sixth, -sixth);
}

/* ---- normalisation ---- */

/* Compared with double, for a mean far larger than the deviations. */
TEST(norms_of_a_row_far_from_zero)
{
    enum { N = 300 };
    real x[N];
    double mean = 0, var = 0, square = 0;
    for (int i = 0; i < N; i++)
        mean += (double)(x[i] = (real)(1000 + i % 7));     /* whole numbers: exact */
    mean /= N;
    for (int i = 0; i < N; i++) {
        var += ((double)x[i] - mean) * ((double)x[i] - mean) / N;
        square += (double)x[i] * (double)x[i] / N;
    }
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(N)), *y = gra_layer_norm(t, in, NULL, NULL, 1e-5);
    gra_tensor *z = gra_rms_norm(t, in, NULL, 1e-5);
    for (int i = 0; i < N; i++) {
        double want = ((double)x[i] - mean) / sqrt(var + 1e-5);
        ck_assert_double_eq_tol((double)y->data[i], want, 1000 * REAL_STEP);   /* the mean is a float */
        ck_assert_double_eq_tol((double)z->data[i], (double)x[i] / sqrt(square + 1e-5), 8 * REAL_STEP);
    }
}

TEST(norm_of_equal_values_is_the_bias)
{
    gra_tensor *x = MATRIX(1, 3, 4, 4, 4), *w = VECTOR(1, 2, 3), *b = VECTOR(7, 8, 9);
    EXPECT(gra_layer_norm(t, x, w, b, 1e-5)->data, 7, 8, 9);
    EXPECT(gra_rms_norm(t, x, w, 0)->data, 1, 2, 3);
}

/* ---- shape ---- */

TEST(a_view_shares_values)
{
    gra_tensor *x = MATRIX(2, 3, 1, 2, 3, 4, 5, 6), *y = gra_reshape(t, x, GRA_SHAPE(3, -1));
    ck_assert_ptr_eq(y->data, x->data);
    expect_shape(y, GRA_SHAPE(3, 2));
    expect_shape(gra_reshape(t, x, GRA_SHAPE(-1)), GRA_SHAPE(6));
    expect_shape(gra_reshape(t, x, GRA_SHAPE(6, -1, 1)), GRA_SHAPE(6, 1, 1));
    expect_shape(gra_reshape(t, gra_slice(t, x, 0, 0, 0), GRA_SHAPE(3, 0)), GRA_SHAPE(3, 0));
    expect_shape(gra_reshape(t, gra_slice(t, x, 0, 0, 0), GRA_SHAPE(3, -1)), GRA_SHAPE(3, 0));
}

TEST(squeeze_and_unsqueeze)
{
    gra_tensor *x = MATRIX(1, 3, 1, 2, 3), *y = gra_squeeze(t, x, 0), *column = gra_unsqueeze(t, y, -1);
    ck_assert(y->data == x->data && column->data == x->data);
    expect_shape(y, GRA_SHAPE(3));
    expect_shape(column, GRA_SHAPE(3, 1));
    expect_shape(gra_squeeze(t, x, -2), GRA_SHAPE(3));
    expect_shape(gra_squeeze(t, column, -1), GRA_SHAPE(3));
    expect_shape(gra_squeeze(t, x, 1), GRA_SHAPE(1, 3));            /* size 3 stays, as in PyTorch */
    expect_shape(gra_squeeze(t, gra_slice(t, x, 1, 0, 1), 0), GRA_SHAPE(1));
    expect_shape(gra_squeeze(t, gra_slice(t, x, 0, 0, 0), 0), GRA_SHAPE(0, 3));
    expect_shape(gra_unsqueeze(t, x, 0), GRA_SHAPE(1, 1, 3));
    expect_shape(gra_unsqueeze(t, gra_transpose(t, x, 0, 1), 1), GRA_SHAPE(3, 1, 1));
    expect_shape(gra_unsqueeze(t, MATRIX(2, 3, 1, 2, 3, 4, 5, 6), -2), GRA_SHAPE(2, 1, 3));
    expect_shape(gra_unsqueeze(t, MATRIX(2, 3, 1, 2, 3, 4, 5, 6), -3), GRA_SHAPE(1, 2, 3));
    expect_shape(gra_unsqueeze(t, gra_slice(t, y, 0, 0, 0), 1), GRA_SHAPE(0, 1));
    expect_shape(gra_unsqueeze(t, gra_scalar(t, 2), -1), GRA_SHAPE(1));
    expect_shape(gra_unsqueeze(t, gra_zeros(t, GRA_SHAPE(2, 1, 1, 1, 1, 1, 3)), -1),
                 GRA_SHAPE(2, 1, 1, 1, 1, 1, 3, 1));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, column, column))), 0);
    EXPECT(gra_grad(x), 2, 4, 6);
    ck_assert_ptr_eq(gra_grad(column), gra_grad(x));
}

TEST(values_repeat)
{
    gra_tensor *row = MATRIX(1, 3, 1, 2, 3), *column = MATRIX(2, 1, 4, 5);
    gra_tensor *y = gra_expand(t, row, GRA_SHAPE(2, 3));
    EXPECT(y->data, 1, 2, 3, 1, 2, 3);
    expect_shape(y, GRA_SHAPE(2, 3));
    EXPECT(gra_expand(t, column, GRA_SHAPE(-1, 3))->data, 4, 4, 4, 5, 5, 5);
    y = gra_expand(t, column, GRA_SHAPE(2, -1, 2));
    EXPECT(y->data, 4, 4, 5, 5, 4, 4, 5, 5);
    expect_shape(y, GRA_SHAPE(2, 2, 2));
    EXPECT(gra_expand(t, gra_scalar(t, 7), GRA_SHAPE(3))->data, 7, 7, 7);
    expect_shape(gra_expand(t, gra_scalar(t, 7), GRA_SCALAR), GRA_SCALAR);
    expect_shape(gra_expand(t, row, GRA_SHAPE(0, 3)), GRA_SHAPE(0, 3));
    expect_shape(gra_expand(t, gra_slice(t, row, 0, 0, 0), GRA_SHAPE(2, -1, 3)), GRA_SHAPE(2, 0, 3));
    expect_shape(gra_expand(t, row, GRA_SHAPE(1, 1, 1, 1, 1, 2, -1, -1)), GRA_SHAPE(1, 1, 1, 1, 1, 2, 1, 3));
}

TEST(values_move)
{
    gra_tensor *x = MATRIX(2, 3, 1, 2, 3, 4, 5, 6);
    EXPECT(gra_transpose(t, x, 0, 1)->data, 1, 4, 2, 5, 3, 6);
    gra_tensor *row = MATRIX(1, 3, 7, 8, 9), *column = MATRIX(2, 1, 7, 8);
    EXPECT(gra_concat(t, 2, (gra_tensor *[]){ x, row }, 0)->data, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    EXPECT(gra_concat(t, 2, (gra_tensor *[]){ x, column }, -1)->data, 1, 2, 3, 7, 4, 5, 6, 8);
    EXPECT(gra_slice(t, x, 1, 1, 3)->data, 2, 3, 5, 6);
    EXPECT(gra_slice(t, x, -2, -1, 2)->data, 4, 5, 6);
    gra_tensor *y = gra_permute(t, gra_reshape(t, x, GRA_SHAPE(1, 2, 3)), (const int[]){ 2, 0, 1 });
    EXPECT(y->data, 1, 4, 2, 5, 3, 6);
    expect_shape(y, GRA_SHAPE(3, 1, 2));
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
    gra_tensor *square = gra_constant(t, NULL, GRA_SHAPE(0, 0));    /* no row needs the maximum of none */
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
