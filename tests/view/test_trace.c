/* gra_trace_nan: names only the op that made the first NaN or infinity. */
#include "layers/gpt.h"
#include "lib/suites.h"
#include "lib/tensors.h"

static const real inf = (real)INFINITY, nan_ = (real)NAN;
#define LARGE (sizeof(real) == 4 ? 1e25 : 1e200)        /* finite, but its square is not */

static void open_traced(void)
{
    open_all();
    gra_trace_nan(t, true);
    gra_begin(t, GRA_GRAD, NULL);
}

static void expect_none(void) { expect_error("no error"); }

/* TRACED(name, sentence, call): a test in which the call gets this sentence, or no sentence. */
#define TRACED(name, sentence, ...) TEST(name) { __VA_ARGS__; expect_error(sentence); }

static void make_infinite(gra_tensor *y) { y->data[0] = inf; }

/* ---- forward ---- */

CASE(trace, open_traced, close_all, "")

TRACED(an_overflow, "exp: made inf at (1, 3) from finite inputs, there 1000 (forward)",
       gra_tensor *y = gra_exp(t, MATRIX(2, 4, 1, 2, 3, 4, 5, 6, 7, 1000));
       ck_assert_int_eq(gra_backward(t, gra_sum(t, y)), -1))
TRACED(the_first_of_several, "div: made -inf at (1) from finite inputs, there -1 and 0 (forward)",
       gra_exp(t, gra_div(t, VECTOR(1, -1, 0), VECTOR(1, 0, 0))))
TRACED(a_number, "log: made nan from finite inputs, there -1 (forward)", gra_log(t, gra_scalar(t, -1)))
TRACED(inputs_of_other_shapes, "div: made inf at (0) from finite inputs, up to 3 and 0 (forward)",
       gra_div(t, VECTOR(1, -3, 2), gra_full(t, 0, GRA_SCALAR)))
TRACED(an_infinity_beside_a_nan, "div: made inf at (1) from finite inputs and nan, there 1 and 0 (forward)",
       gra_div(t, VECTOR(nan_, 1), VECTOR(1, 0)))
TRACED(an_op_without_inputs, "noise: made inf at (0) from no inputs (forward)",
       static const gra_op op = { .name = "noise", .forward = make_infinite };
       gra_run(gra_result_n(t, &op, GRA_SHAPE(2), 0, NULL)))

TEST(nothing_is_said_unless_asked)
{
    gra_trace_nan(t, false);
    gra_tensor *x = VECTOR(0, 1000);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, gra_sqrt(t, x), gra_exp(t, x)))), 0);
    expect_none();
}

TEST(in_every_mode)
{
    static const gra_mode mode[] = { GRA_TRAIN, GRA_GRAD, GRA_EVAL };
    gra_tensor *w = gra_param(gra_enter(gra_root(model), "head"), "weight", gra_init_zeros(), GRA_SHAPE(1));
    for (int i = 0; i < 6; i++) {
        gra_begin(t, mode[i % 3], NULL);
        gra_freeze(w, i >= 3);
        gra_exp(t, gra_scale(t, gra_add(t, w, gra_full(t, 1, GRA_SHAPE(1))), 1000));
        expect_error("exp: made inf at (0) from finite inputs, there 1000, after head (forward)");
    }
}

/* ---- infinities on purpose ---- */

static gra_tensor *scores(void)         /* (3, 3) */
{
    return MATRIX(3, 3, 1, 2, 3, 10, 5, 6, 7, 8, 9);
}

static gra_tensor *filled(void)
{
    return gra_masked_fill(t, scores(), gra_constant(t, (const real[]){ 0, 1, 1 }, GRA_SHAPE(3)),
                           -(double)INFINITY);
}

static gra_tensor *added(void)
{
    return gra_add(t, scores(), gra_constant(t, (const real[]){ 0, -inf, -inf }, GRA_SHAPE(3)));
}

static gra_tensor *(*const masked[])(void) = { filled, added };

TESTS(a_mask_and_what_passes_it_on, 2)
{
    gra_tensor *m = masked[_i]();
    gra_tensor *column = gra_slice(t, gra_scale(t, gra_transpose(t, m, 0, 1), 2), 0, 0, 1);
    gra_tensor *y = gra_add(t, gra_sum(t, gra_softmax(t, m, -1)),
                            gra_sum(t, gra_exp(t, gra_scale(t, m, 0.1))));
    y = gra_add(t, y, gra_sum(t, gra_max_dim(t, m, 1, false)));
    y = gra_add(t, y, gra_sum(t, column));
    gra_sum(t, gra_matmul(t, m, gra_full(t, 1, GRA_SHAPE(3, 2))));       /* passed on, but not used */
    gra_concat(t, 2, (gra_tensor *[]){ m, gra_log_softmax(t, m, -1) }, 0);
    ck_assert_int_eq(gra_backward(t, y), 0);
    expect_none();
    ck_assert(isfinite(gra_item(y)));
}

TRACED(a_causal_mask_by_hand, "no error",               /* attention as in notebooks */
       gra_tensor *x = scores();
       gra_tensor *p = gra_softmax(t, gra_scale(t, gra_causal_mask(t, gra_matmul_nt(t, x, x)), 0.01), -1);
       ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, gra_matmul(t, p, x), x))), 0))

/* The same for both masks m. -inf in the result is not reported if an input holds -inf too: trace.c cannot
 * distinguish the two by their values. */
#define MASKED(name, sentence, ...)                                                                      \
    TESTS(name, 2) { gra_tensor *m = masked[_i](); __VA_ARGS__; expect_part(sentence); }
MASKED(another_infinity, "exp: made inf at (1, 0) from finite inputs and -inf, there 800 (forward)",
       gra_exp(t, gra_scale(t, m, 80)))
MASKED(an_infinity_whose_sign_is_turned,
       "scale: made inf at (0, 1) from finite inputs and -inf, there -inf (forward)",
       gra_scale(t, gra_scale(t, m, -LARGE), LARGE))
MASKED(infinities_of_a_masks_kind,
       "sub: made nan at (0, 0) from finite inputs and -inf, there -inf and -inf (forward)",
       m = gra_scale(t, gra_scale(t, gra_sub(t, m, gra_full(t, 100, GRA_SCALAR)), LARGE), LARGE);
       expect_none();                   /* -98 large^2 is -inf, like the mask */
       ck_assert(m->data[0] == -inf && m->data[1] == -inf);
       gra_sub(t, m, m))
MASKED(a_nan_of_a_mask, "mul: made nan at (0, 1) from finite inputs and -inf, there -inf and 0 (forward)",
       gra_mul(t, m, gra_full(t, 0, GRA_SHAPE(3, 3))))
MASKED(a_norm_of_a_mask, "layer_norm: made nan at (0, 0) from finite inputs",
       gra_layer_norm(t, m, NULL, NULL, 1e-5))

static void add_noise(gra_tensor *y)
{
    real noise;
    gra_rand(gra_tape_rng(y->tape), &noise, 1);
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = y->in[0]->data[i] + noise;
}

TEST(nothing_is_computed_twice)                 /* a random op draws once, traced or not */
{
    static const gra_op op = { .name = "noise", .forward = add_noise };
    real noise;
    gra_rng before = rng;
    gra_rand(&before, &noise, 1);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *y = gra_run(gra_result_like(t, &op,
                                            gra_constant(t, (const real[]){ -inf, 2 }, GRA_SHAPE(2))));
    expect_none();
    ck_assert(y->data[0] == -inf && y->data[1] == 2 + noise);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&before));
}

TEST(a_frozen_parameter_may_be_a_mask)
{
    gra_tensor *p = gra_param(gra_root(model), "mask", gra_init_zeros(), GRA_SHAPE(3));
    p->data[1] = -inf;
    gra_freeze(p, true);                /* it has no gradient to look at */
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_softmax(t, gra_add(t, scores(), p), 1))), 0);
    expect_none();
    gra_begin(t, GRA_GRAD, NULL);
    gra_freeze(p, false);
    gra_softmax(t, gra_add(t, scores(), p), 1);
    ck_assert_ptr_nonnull(gra_error(t));
}

TRACED(a_loss_that_is_a_masks_infinity, "gra_backward: the loss is -inf, which no op made: it comes from an "
       "input, or from the infinities of a mask (forward)", gra_backward(t, gra_sum(t, filled())))
TRACED(a_loss_where_a_mask_made_p_0,
       "cross_entropy: made inf from finite inputs and -inf, up to 10 (forward)",
       gra_cross_entropy(t, filled(), (const int[]){ 0, 1, 0 }))

/* ---- values that came in ---- */

#define CAME_IN ", which no op made: it was already nan on input (forward)"
TRACED(a_nan_that_is_hidden, "no error",                /* as for missing data */
       gra_tensor *x = gra_masked_fill(t, MATRIX(2, 2, 1, 2, nan_, 4), MATRIX(2, 2, 0, 0, 1, 0), 0);
       ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, x, x))), 0))
TRACED(a_nan_that_came_in, "mul: input 1 contains nan at (1, 0)" CAME_IN,
       gra_mul(t, gra_full(t, 2, GRA_SCALAR), MATRIX(2, 2, 1, 2, nan_, 4)))
TRACED(nans_of_both_inputs, "mul: input 0 contains nan at (1)" CAME_IN,
       gra_mul(t, VECTOR(1, nan_), VECTOR(nan_, 1)))
TRACED(a_view_of_a_nan, "no error", gra_reshape(t, VECTOR(inf, nan_), GRA_SHAPE(2, 1)))

/* A sentence that does not fit its buffer is cut off at the end. */
TEST(long_names)
{
    char name[105];
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    gra_tensor *p = gra_param(gra_root(model), name, gra_init_ones(), GRA_SHAPE(1));
    p->data[0] = (real)LARGE;
    gra_mul(t, p, p);
    ck_assert_ptr_nonnull(gra_error(t));
    ck_assert_ptr_nonnull(strstr(gra_error(t), name));  /* it has no layer, so the whole name is shown */
    static char long_name[700];
    memset(long_name, 'o', sizeof long_name - 1);
    static const gra_op op = { .name = long_name, .forward = make_infinite };
    gra_begin(t, GRA_GRAD, NULL);
    gra_run(gra_result_like(t, &op, VECTOR(1)));
    ck_assert_uint_le(strlen(gra_error(t)), 599);
    ck_assert_ptr_nonnull(strstr(gra_error(t), "ooooo"));
}

TEST(many_inputs)                       /* their values are cut off at the end too */
{
    enum { MANY = 40 };
    static const gra_op op = { .name = "many", .forward = make_infinite };
    gra_tensor *in[MANY];
    for (int i = 0; i < MANY; i++)
        in[i] = gra_scalar(t, -1.25e-20);
    gra_run(gra_result_n(t, &op, GRA_SCALAR, MANY, in));
    const char *first = "many: made inf from finite inputs, there -1.25e-20 and -1.25e-20 and ";
    ck_assert_msg(strncmp(gra_error(t), first, strlen(first)) == 0, "%s", gra_error(t));
    ck_assert_uint_le(strlen(gra_error(t)), 300);
}

#define NO_OP_MADE_IT ", which no op made: it comes from the last update, or from a file"
TEST(a_spoilt_parameter)
{
    struct gra_linear l;
    gra_linear_init(&l, gra_enter(gra_root(model), "fc"), 3, 2, true);
    for (int i = 0; i < 2; i++) {
        gra_tensor *p = i ? l.bias : l.weight;
        p->data[1] = i ? nan_ : inf;
        gra_begin(t, GRA_GRAD, NULL);
        gra_linear_forward(t, &l, gra_full(t, 0, GRA_SHAPE(4, 3)));
        expect_error(i ? "linear: the parameter fc.bias contains nan at (1)" NO_OP_MADE_IT
                       : "linear: the parameter fc.weight contains inf at (0, 1)" NO_OP_MADE_IT);
        p->data[1] = 1;
    }
}

TEST(a_gradient_spoilt_before)
{
    gra_tensor *p = gra_param(gra_enter(gra_root(model), "fc"), "weight", gra_init_ones(), GRA_SHAPE(2));
    p->grad[1] = nan_;
    gra_backward(t, gra_sum(t, gra_mul(t, p, p)));
    expect_error("gra_backward: the gradient of fc.weight contains nan at (1) before the backward: "
                 "gra_zero_grad(model) clears it");
    gra_zero_grad(model);
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, p, p))), 0);
    expect_none();
}

/* ---- backward ---- */

TRACED(a_gradient_without_end, "sqrt: made inf at (1, 0) in the gradient of input 0 (from scale) from finite "
       "ones (backward)",
       gra_tensor *x = MATRIX(2, 2, 1, 4, 0, 9);
       ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_sqrt(t, gra_scale(t, x, 2)))), -1))
TRACED(a_gradient_of_a_masks_infinity, "mul: made nan at (1) in the gradient of input 0 (gate.weight) from "
       "finite ones, in gate (backward)",
       gra_tensor *w = gra_param(gra_enter(gra_root(model), "gate"), "weight", gra_init_ones(), GRA_SHAPE(3));
       ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_exp(t, gra_mul(t, w, filled())))), -1))

/* ---- where in the model ---- */

static void set(const char *name, double by, double value)      /* p = by p + value */
{
    gra_tensor *p = gra_param_find(model, name);
    ck_assert_ptr_nonnull(p);
    for (size_t i = 0; i < p->size; i++)
        p->data[i] = (real)by * p->data[i] + (real)value;
}

/* A step of a GPT in which each of these two parameters p is set to by p + value: its sentence begins and
 * ends like this. The square of LARGE overflows, and so does the sum of two HALFs. */
#define HALF (sizeof(real) == 4 ? 3e38 : 1.7e308)
static const struct {
    const char *first, *second;
    double      by, value;
    const char *begins, *ends;
} spoilt[] = {
    { "tok_emb.weight", "pos_emb.weight", 1, 0, "no error", "no error" },
    { "trf_blocks.1.ff.layers.0.bias", "trf_blocks.1.ff.layers.2.weight", 0, LARGE,
      "linear: made inf at (0, 0, 0) from finite inputs, ", "in trf_blocks.1.ff.layers.2 (forward)" },
    { "trf_blocks.2.att.W_query.weight", "trf_blocks.2.att.W_key.weight", LARGE, 0,
      "attention: made nan at (0, ", "after trf_blocks.2.att.W_value (forward)" },
    { "tok_emb.weight", "pos_emb.weight", 0, HALF,
      "add: made inf at (0, 0, 0) from finite inputs, ", "after pos_emb (forward)" },
};

TESTS(a_model_overflows, LENGTH(spoilt))
{
    static struct gra_gpt gpt;
    gra_gpt_init(&gpt, gra_root(model),
                 &(gra_gpt_config){ .vocab_size = 7, .context_length = 5, .emb_dim = 6, .n_heads = 2,
                                    .n_layers = 3, .drop_rate = 0.1, .bias = true });
    set(spoilt[_i].first, spoilt[_i].by, spoilt[_i].value);
    set(spoilt[_i].second, spoilt[_i].by, spoilt[_i].value);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *logits = gra_gpt_forward(t, &gpt, (const int[]){ 1, 2, 3, 4, 5, 6, 0, 1, 2, 3 }, 2, 5);
    gra_tensor *loss = gra_cross_entropy(t, logits, (const int[]){ 2, 3, 4, 5, 6, 0, 1, 2, 3, 4 });
    gra_zero_grad(model);
    ck_assert_int_eq(gra_backward(t, loss), _i ? -1 : 0);
    const char *e = or_none(gra_error(t)), *begins = spoilt[_i].begins, *ends = spoilt[_i].ends;
    ck_assert_msg(strncmp(e, begins, strlen(begins)) == 0 && strlen(e) >= strlen(ends) &&
                  strcmp(e + strlen(e) - strlen(ends), ends) == 0, "expected %s...%s, got %s", begins, ends,
                  e);
}

TEST(a_norm_overflows)                  /* the variance overflows, and 1 / sqrt(var) would be 0 */
{
    const real l = (real)LARGE;
    char want[96];
    for (int rms = 0; rms < 2; rms++) {
        snprintf(want, sizeof want, "%s_norm: made nan at (0, 0) from finite inputs, up to %g (forward)",
                 rms ? "rms" : "layer", (double)(4 * l));
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *x = MATRIX(1, 4, l, 2 * l, 3 * l, 4 * l);
        rms ? gra_rms_norm(t, x, NULL, 1e-6) : gra_layer_norm(t, x, NULL, NULL, 1e-5);
        expect_error(want);
    }
}
