/* What the gradient check must refuse, and what it must pass. The backward of each wrong op below is right in
 * the ordinary case, where both inputs want a gradient, the gradient buffers hold numbers, and the two inputs
 * are two tensors. It is wrong only in the case that its name tells. The right functions are hard to
 * differentiate by differences: steep, huge, tiny, noisy, or undefined close by. */
#include "lib/fixture.h"
#include "reports.h"
#include "lib/suites.h"
#include "wrong_op.h"

#ifdef GRADUS_DOUBLE

static gra_check_report report;

#define says(phrase) report_says(&report, phrase)

static int checked(gra_check_fn *f, void *arg, int nin, const gra_check_in *in)
{
    return gra_check(t, &(gra_check_options){ .nin = nin, .in = in, .f = f, .arg = arg }, &report);
}

static void expect(int status, int wanted, const char *phrase)
{
    ck_assert_msg(status == wanted, "%d, wanted %d: %s", status, wanted, report.text);
    ck_assert_msg(says(phrase), "\"%s\" is missing:\n%s", phrase, report.text);
}

/* ---- y = x^2 and y = x w, with mistakes ------------------------------------------------------------ */

static size_t as_many(const gra_tensor *y)
{
    return y->size;
}

OP(right_square, square) { right_of_square(y); }
OP2(right_product, product) { right_of_product(y); }

/* A gradient buffer that is uninitialised: a backward that stores should fill it. */
OP(forgets_to_fill, square, .overwrites_grad = true)
{
    right_of_square(y);
}

OP(other_where_it_stores, square, .overwrites_grad = true)
{
    EACH dx[i] = y->in[0]->fresh ? x[i] * dy[i] : dx[i] + 2 * x[i] * dy[i];
}

OP(fills_all_but_one, square, .overwrites_grad = true)
{
    if (y->in[0]->fresh)
        memset(dx + 1, 0, (y->size - 1) * sizeof *dx);
    right_of_square(y);
}

OP2(no_dx_without_dw, product)
{
    if (dw)
        right_of_product(y);
}

OP2(no_dw_without_dx, product)
{
    if (dx)
        right_of_product(y);
}

OP2(overwrites_without_dw, product)
{
    if (dx && !dw)
        memset(dx, 0, y->size * sizeof *dx);
    right_of_product(y);
}

OP2(loses_one_of_two, product)          /* reads both gradients before it writes either */
{
    EACH {
        real of_x = dx ? dx[i] : 0, of_w = dw ? dw[i] : 0;
        if (dx)
            dx[i] = of_x + w[i] * dy[i];
        if (dw)
            dw[i] = of_w + x[i] * dy[i];
    }
}

FORWARD(once_and_twice, x[i] + 2 * w[i])
OP2(loses_w, once_and_twice)
{
    EACH if (dx) dx[i] += dy[i];
    EACH if (dw && dw != dx) dw[i] += 2 * dy[i];
}

OP(past_the_gradient, square)
{
    right_of_square(y);
    dx[y->size] += 1;
}

OP(before_the_gradient, square)
{
    right_of_square(y);
    dx[-1] = 0;
}

OP(little_past_the_gradient, square)
{
    right_of_square(y);
    dx[y->size] += 1e-8;
}

OP2(past_the_gradient_of_a_parameter, product)
{
    right_of_product(y);
    if (dw)
        dw[y->size] += 1;
}

OP(zeroes_its_input, square)
{
    right_of_square(y);
    memset(x, 0, y->size * sizeof *x);
}

OP(scales_dy_in_place, square)
{
    EACH dx[i] += dy[i] *= 2 * x[i];
}

OP(reuses_its_result, square)
{
    EACH dx[i] += y->data[i] = 2 * x[i] * dy[i];
}

FORWARD(steps, x[i] - (i ? x[i - 1] : 0))
OP(reads_past_dy, steps)
{
    EACH dx[i] += dy[i] - dy[i + 1];    /* behind the last there is none */
}

OP2(reads_past_w, product)
{
    EACH if (dx) dx[i] += w[i + 2] * dy[i];
    EACH if (dw) dw[i] += x[i] * dy[i];
}

OP(reads_before_x, square)
{
    EACH dx[i] += 2 * *(x + i - 3) * dy[i];
}

static real kept[12];
static void keeps(gra_tensor *y)
{
    square(y);
    memcpy(kept, y->in[0]->data, y->size * sizeof(real));
}
OP(keeps_it_in_a_variable, keeps)
{
    EACH dx[i] += 2 * kept[i] * dy[i];
}

static void saves(gra_tensor *y)
{
    square(y);
    memcpy(y->saved, y->in[0]->data, y->size * sizeof(real));
}
OP(reads_past_what_it_saved, saves, .saved = as_many)
{
    EACH dx[i] += 2 * y->saved[i ^ 16] * dy[i];
}

static void rounds_x(gra_tensor *y)
{
    EACH y->in[0]->data[i] = (real)fabs((double)y->in[0]->data[i]);
    square(y);
}
static void past_y(gra_tensor *y)     { square(y); y->data[y->size] = 0; }
static void past_saved(gra_tensor *y) { square(y); y->saved[y->size] = 0; }
static void past_x(gra_tensor *y)     { square(y); y->in[0]->data[y->size] += 1; }
static void changes_w(gra_tensor *y)  { product(y); y->in[1]->data[0] = 0; }
static void past_w(gra_tensor *y)     { product(y); y->in[1]->data[y->size] = 0; }
OP(forward_changes_x, rounds_x) { right_of_square(y); }
OP(past_the_result, past_y) { right_of_square(y); }

static void copies_one_too_many(gra_tensor *y)         /* reads past the end of x, too: the same number */
{
    for (size_t i = 0; i <= y->size; i++)
        y->data[i] = y->in[0]->data[i];
}
OP(copies_past_the_result, copies_one_too_many)
{
    EACH dx[i] += dy[i];
}

OP(past_what_it_saves, past_saved, .saved = as_many) { right_of_square(y); }
OP(past_the_values, past_x) { right_of_square(y); }
OP2(changes_a_parameter, changes_w) { right_of_product(y); }
OP2(past_a_parameter, past_w) { right_of_product(y); }

#define FRESH_ALONE "this happens only while the gradient is uninitialised (in[i]->fresh)"
#define CONSTANT_X  "this happens only where x is a constant, whose gradient is NULL"
#define CONSTANT_W  "this happens only where w is a constant, whose gradient is NULL"

static const struct wrong {
    gra_check_fn *f;
    int           nin;                  /* w: the second input, or a parameter */
    const char   *name, *phrase;
} wrongs[] = {
    { forgets_to_fill, 1, "x", FRESH_ALONE },
    { other_where_it_stores, 1, "x", FRESH_ALONE },
    { fills_all_but_one, 1, "x", FRESH_ALONE },
    { no_dx_without_dw, 2, "x", CONSTANT_W },
    { no_dx_without_dw, 0, "x", CONSTANT_W },
    { no_dw_without_dx, 2, "w", CONSTANT_X },
    { no_dw_without_dx, 2, "w", "likely: w gets a gradient only where x has one too: test each" },
    { no_dw_without_dx, 0, "w", CONSTANT_X },
    { overwrites_without_dw, 2, "x", CONSTANT_W },
    { loses_one_of_two, 2, "x", "one tensor handed over as both x and w" },
    { loses_one_of_two, 2, "x", "likely: only one of the two is there: the other is overwritten" },
    { loses_w, 2, "x", "likely: only what it gets as x is there: what it gets as w is" },
    { past_the_gradient, 1, "x",
      "the backward of past_the_gradient wrote past the end of the gradient of x (3, 4)" },
    { before_the_gradient, 1, "x",
      "the backward of before_the_gradient wrote before the start of the gradient of x" },
    { zeroes_its_input, 1, "x", "the backward of zeroes_its_input changed its input x (3, 4)" },
    { scales_dy_in_place, 1, "",
      "the backward of scales_dy_in_place changed dy, the gradient of its result (3, 4)" },
    { reuses_its_result, 1, "", "the backward of reuses_its_result changed its result (3, 4)" },
    { forward_changes_x, 1, "x", "the forward of forward_changes_x changed its input x (3, 4)" },
    { past_the_result, 1, "",
      "the forward of past_the_result wrote past the end of the values of its result" },
    { copies_past_the_result, 1, "",
      "the forward of copies_past_the_result wrote past the end of the values of its result" },
    { past_what_it_saves, 1, "", "the forward of past_what_it_saves wrote past the end of y->saved" },
    { past_the_values, 1, "x",
      "the forward of past_the_values wrote past the end of the values of x (3, 4)" },
    { changes_a_parameter, 0, "w", "the forward of changes_a_parameter changed its input w (3, 4)" },
    { past_a_parameter, 0, "w",
      "the forward of past_a_parameter wrote past the end of the values of w (3, 4)" },
    { reads_past_dy, 1, "x", "likely: memory past the end of the gradient of the result of reads_past_dy "
      "(3, 4) is read: number 12, where number 11 is the last" },
    { reads_past_w, 2, "x", "likely: memory past the end of w (3, 4) is read: number 12, where" },
    { reads_past_w, 0, "x", "likely: memory past the end of w (3, 4) is read: number 12, where" },
    { reads_before_x, 1, "x", "likely: memory before the start of x (3, 4) is read: number -3, where" },
    { reads_past_what_it_saved, 1, "x", "likely: memory past the end of what the forward of "
      "reads_past_what_it_saved saved is read: number 16, where number 11 is the last" },
    { keeps_it_in_a_variable, 1, "x", "this happens only where f is used again before the backward" },
    { past_the_gradient_of_a_parameter, 0, "w", "wrote past the end of the gradient of w (3, 4)" },
};

typedef struct wrapped {
    gra_check_fn *f;
    gra_tensor   *w;
} wrapped;

static gra_tensor *wrap(gra_tape *tape, gra_tensor **in, void *arg)
{
    const wrapped *a = arg;
    return a->f(tape, in, a->w);
}

static int run(gra_check_fn *f, int nin, int times)
{
    const gra_check_in in[] = { { .name = "x", .shape = { 2, { 3, 4 } } },
                                { .name = "w", .shape = { 2, { 3, 4 } } } };
    another_model();
    gra_tensor *w = gra_param(gra_root(model), "w", gra_init_normal(0, 1), GRA_SHAPE(3, 4));
    real was[12];
    memcpy(was, w->data, sizeof was);
    const real *data = w->data, *grad = w->grad;
    int status = 0;
    for (int i = 0; i < times; i++) {
        wrapped a = { f, nin == 0 ? w : NULL };
        status = gra_check(t, &(gra_check_options){ .model = nin == 0 ? model : NULL,
                           .nin = nin == 0 ? 1 : nin, .in = in, .f = wrap, .arg = &a }, &report);
    }
    ck_assert_mem_eq(was, w->data, sizeof was);
    ck_assert(data == w->data && grad == w->grad && w->requires_grad);
    return status;
}

CASE(verdicts, open_all, close_all, "")

TESTS(wrong_ops_are_refused, LENGTH(wrongs))
{
    const struct wrong *w = &wrongs[_i];
    expect(run(w->f, w->nin, 1), 1, w->phrase);
    ck_assert_msg(strcmp(report.name, w->name) == 0, "\"%s\": %s", report.name, report.text);
    ck_assert(report.error > 1e-6);
}

TEST(right_ops_pass)
{
    expect(run(right_square, 1, 2), 0, "passed");
    expect(run(right_product, 2, 1), 0, "passed");
    expect(run(right_product, 0, 1), 0, "passed");
}

/* ---- functions of a number, and their derivatives, right or wrong ------------------------------------ */

typedef struct formula {
    double (*f)(double), (*df)(double);
    double factor;                      /* 1: right */
} formula;

static void each(gra_tensor *y)
{
    const formula *f = y->args;
    EACH y->data[i] = (real)f->f((double)y->in[0]->data[i]);
}

static void each_backward(gra_tensor *y)
{
    const formula *f = y->args;
    EACH y->in[0]->grad[i] += (real)(f->factor * f->df((double)y->in[0]->data[i])) * y->grad[i];
}

static gra_tensor *of_numbers(gra_tape *tape, gra_tensor **in, void *arg)
{
    static const gra_op op = { .name = "of_numbers", .forward = each, .backward = each_backward,
                               .args = sizeof(formula) };
    gra_tensor *y = gra_result_like(tape, &op, in[0]);
    memcpy(y->args, arg, sizeof(formula));
    return gra_run(y);
}

static double inverse(double x)         { return 1 / x; }
static double inverse_slope(double x)   { return -1 / (x * x); }
static double sqrt_slope(double x)      { return 0.5 / sqrt(x); }
static double twice(double x)           { return 2 * x; }
static double squared(double x)         { return x * x; }
static double one(double x)             { return 0 * x + 1; }
static double steep_tanh(double x)      { return tanh(1e8 * x); }
static double steep_tanh_slope(double x){ return 1e8 / pow(cosh(1e8 * x), 2); }
static double fast_sin(double x)        { return sin(1e3 * x); }
static double fast_sin_slope(double x)  { return 1e3 * cos(1e3 * x); }
static double narrow(double x)          { return exp(-500 * x * x); }
static double narrow_slope(double x)    { return -1000 * x * exp(-500 * x * x); }
static double lifted(double x)          { return x + 1e10; }
static volatile double ten_to_10 = 1e10;                /* so that no compiler cancels it */
static double cancelled(double x)       { return (x + ten_to_10) - ten_to_10; }
static double in_float(double x)        { return (double)sinf((float)x); }
static double minute(double x)          { return 1e-200 * x * x; }
static double minute_slope(double x)    { return 2e-200 * x; }
static double log_of_distance(double x) { return log(fabs(x - 0.5)); }
static double of_distance(double x)     { return 1 / (x - 0.5); }
static double kinked(double x)          { return fabs(x - 0.30001) + fabs(x); }
static double kinked_slope(double x)    { return (x > 0.30001 ? 1 : -1) + (x > 0 ? 1 : -1); }
static double on_an_edge(double x)      { return acos(x); }
static double on_an_edge_slope(double x){ return -1 / sqrt(1 - x * x); }
static double giant(double x)           { return exp(x); }

static const struct {
    const char *name;
    double    (*f)(double), (*df)(double);
    double      low, high, data[4];     /* low = high: the data */
    const char *doubt;           /* said of elements that may be wrong unseen: some are "below", or "rough" */
    double      seen;                   /* the smallest relative mistake that must be seen */
} numbers[] = {
    { "log near 1e-8", log, inverse, 1e-8, 2e-8, { 0 }, NULL, 1e-5 },
    { "sqrt near 1e-8", sqrt, sqrt_slope, 1e-8, 2e-8, { 0 }, NULL, 1e-5 },
    { "log near 1e-300", log, inverse, 1e-300, 2e-300, { 0 }, NULL, 1e-5 },
    { "log of 1e-15 beside 1", log, inverse, 0, 0, { 1e-15, 1, 1e-8, 3 }, "below", 1e-5 },
    { "log of 1e-6 beside 1", log, inverse, 0, 0, { 1e-6, 1, 2, 3 }, "below", 1e-5 },
    { "tanh(1e8 x) near 1e-8", steep_tanh, steep_tanh_slope, 1e-8, 2e-8, { 0 }, NULL, 1e-5 },
    { "sin near 1e8", sin, cos, 1e8, 2e8, { 0 }, NULL, 1e-5 },
    { "sin near 1e5", sin, cos, 1e5, 1e5 + 3, { 0 }, NULL, 1e-5 },
    { "sin(1000 x)", fast_sin, fast_sin_slope, -2, 2, { 0 }, NULL, 1e-5 },
    { "x^2 near 1e8", squared, twice, 1e8, 2e8, { 0 }, NULL, 1e-5 },
    { "x^2 near 1e-8", squared, twice, 1e-8, 2e-8, { 0 }, NULL, 1e-5 },
    { "x^2 over seventeen decades", squared, twice, 0, 0, { 1e8, 2, 3e-9, 4 }, "below", 1e-5 },
    { "1/x near 1e-8", inverse, inverse_slope, 1e-8, 2e-8, { 0 }, NULL, 1e-5 },
    { "1/x near 0.001", inverse, inverse_slope, 1e-3, 2e-3, { 0 }, NULL, 1e-5 },
    { "1/x near 1e8", inverse, inverse_slope, 1e8, 2e8, { 0 }, NULL, 1e-5 },
    { "e^(-500 x^2)", narrow, narrow_slope, -0.2, 0.2, { 0 }, "below", 1e-5 },
    { "x + 1e10", lifted, one, -2, 2, { 0 }, NULL, 0.5 },
    { "(x + 1e10) - 1e10", cancelled, one, -2, 2, { 0 }, "rough", 0.5 },
    { "sin in float", in_float, cos, -2, 2, { 0 }, "rough", 0.5 },
    { "1e-200 x^2", minute, minute_slope, -2, 2, { 0 }, NULL, 1e-5 },
    { "log |x - 0.5|, near its pole", log_of_distance, of_distance, 0, 0, { 0.5001, 0.49, 0.500001, 2 },
      "below", 1e-5 },
    { "|x - 0.30001| + |x|, near its kink", kinked, kinked_slope, 0, 0, { 0.3, 0.30002, -1e-3, 1 }, NULL,
      1e-5 },
    { "acos near 1", on_an_edge, on_an_edge_slope, 0, 0, { 0.9999999, 0.999, -0.99999, 0.5 }, NULL, 1e-5 },
    { "e^x at 600", giant, exp, 600, 601, { 0 }, NULL, 1e-5 },
    { "e^x at 707, of which the sum is infinite", giant, exp, 707.2, 707.4, { 0 }, NULL, 1e-5 },
    { "e^x at -600", giant, exp, -601, -600, { 0 }, NULL, 1e-5 },
};

static int check_number(size_t i, double factor)
{
    formula f = { numbers[i].f, numbers[i].df, factor };
    real data[4];
    gra_check_in in = { .name = "x", .shape = { 1, { 17 } }, .low = numbers[i].low, .high = numbers[i].high };
    for (int j = 0; j < 4; j++)
        data[j] = (real)numbers[i].data[j];
    if (in.low >= in.high)
        in = (gra_check_in){ .name = "x", .shape = { 1, { 4 } }, .data = data };
    return checked(of_numbers, &f, 1, &in);
}

TESTS(right_derivatives_pass, LENGTH(numbers))
{
    ck_assert_msg(check_number((size_t)_i, 1) == 0, "%s: %s", numbers[_i].name, report.text);
    const char *doubt = numbers[_i].doubt;
    ck_assert_msg(says("could be anything") == (doubt && strcmp(doubt, "below") == 0), "%s: %s",
                  numbers[_i].name, report.text);
    ck_assert_msg(says("rough there") == (doubt && strcmp(doubt, "rough") == 0), "%s: %s", numbers[_i].name,
                  report.text);
}

TESTS(wrong_derivatives_are_refused, LENGTH(numbers))
{
    const double factors[] = { 1.00001, 1.01, 2, 0.5, 0, -1, 1e8 };
    for (int j = 0; j < LENGTH(factors); j++)
        if (fabs(factors[j] - 1) > 0.99 * numbers[_i].seen)
            ck_assert_msg(check_number((size_t)_i, factors[j]) == 1, "%s times %g: %s", numbers[_i].name,
                          factors[j], report.text);
}

/* ---- right functions of several inputs ------------------------------------------------------------- */

FUNCTION(log_of_difference, gra_log(tape, gra_sub(tape, in[0], in[1])))    /* -inf of one tensor and itself */
FUNCTION(distance, gra_sqrt(tape, gra_pow(tape, gra_sub(tape, in[0], in[1]), 2))) /* there 0 times infinity */
FUNCTION(difference, gra_sub(tape, in[0], in[1]))
FUNCTION(quotient, gra_div(tape, in[0], in[1]))
FUNCTION(larger, gra_max_dim(tape, gra_concat(tape, 2, in, 1), 1, false))
FUNCTION(squared_error, gra_mse_loss(tape, in[0], in[1]))
FUNCTION(scores, gra_softmax(tape, gra_matmul_nt(tape, in[0], in[1]), -1))
FUNCTION(standardized, gra_layer_norm(tape, in[0], NULL, NULL, 1e-5))
FUNCTION(log_scores, gra_log_softmax(tape, gra_mul(tape, in[0], in[1]), -1))
FUNCTION(views, gra_concat(tape, 2, ((gra_tensor *[]){ gra_reshape(tape, in[0], GRA_SHAPE(2, 6)),
                                                       gra_reshape(tape, gra_tanh(tape, in[1]),
                                                                   GRA_SHAPE(2, 6)) }), 0))
FUNCTION(reductions, gra_add(tape, gra_mean_dim(tape, in[0], 0, true),
                             gra_sum_dim(tape, gra_mul(tape, in[0], in[1]), 1, true)))
FUNCTION(turned, gra_permute(tape, gra_slice(tape, gra_reshape(tape, in[0], GRA_SHAPE(2, 3, 2)), 1, 1, 3),
                             (int[]){ 2, 0, 1 }))
FUNCTION(dropped, gra_mul(tape, gra_dropout(tape, in[0], 0.5), gra_dropout(tape, in[1], 0.1)))
FUNCTION(heads, gra_attention(tape, gra_reshape(tape, in[0], GRA_SHAPE(1, 3, 4)),
                              gra_reshape(tape, in[1], GRA_SHAPE(1, 3, 4)),
                              gra_reshape(tape, in[0], GRA_SHAPE(1, 3, 4)),
                              &(gra_attention_options){ .heads = 2, .causal = true }))
FUNCTION(sum_of_numbers, gra_sum(tape, of_numbers(tape, in, arg)))
FUNCTION(of_both, in[0] == in[1] ? gra_fail(tape, "of_both: two tensors are wanted")
         : gra_mul(tape, in[0], in[1]))
FUNCTION(near_zero_traced, (gra_trace_nan(tape, true), gra_log(tape, in[0])))
FUNCTION(roots_of_sums, gra_sqrt(tape, gra_add(tape, in[0], in[1])))
FUNCTION(itself, tape ? in[0] : NULL)
FUNCTION(all_of_it, gra_sum(tape, gra_gelu(tape, in[0])))

static const struct {
    const char   *name;
    gra_check_fn *f;
    int           nin;
    double        low[2], high[2];
} graphs[] = {
    { "log(a - b)", log_of_difference, 2, { 3, 0 }, { 4, 2 } },
    { "|a - b| as a root", distance, 2, { 3, 0 }, { 4, 2 } },
    { "a - b", difference, 2, { 0 }, { 0 } },
    { "a / b", quotient, 2, { -2, 1e-6 }, { 2, 2e-6 } },
    { "the larger", larger, 2, { 0 }, { 0 } },
    { "squared error", squared_error, 2, { 0 }, { 0 } },
    { "scores", scores, 2, { 0 }, { 0 } },
    { "scores of large logits", scores, 2, { -5, -5 }, { 5, 5 } },
    { "log of scores of 1e4", log_scores, 2, { -100, -100 }, { 100, 100 } },
    { "standardized, far from 0", standardized, 1, { 1e8 }, { 1e8 + 10 } },
    { "standardized, very small", standardized, 1, { 1e-8 }, { 2e-8 } },
    { "views", views, 2, { 0 }, { 0 } },
    { "reductions", reductions, 2, { 0 }, { 0 } },
    { "reductions of large values", reductions, 2, { -1e8, -1 }, { 1e8, 1 } },
    { "a part, permuted", turned, 1, { 0 }, { 0 } },
    { "dropout", dropped, 2, { 0 }, { 0 } },
    { "attention", heads, 2, { 0 }, { 0 } },
    { "two tensors alone", of_both, 2, { 0 }, { 0 } },
    { "log, its NaNs traced", near_zero_traced, 1, { 1e-9 }, { 1 } },
    { "roots of sums", roots_of_sums, 2, { 1e-9, 1e-9 }, { 2e-9, 2e-9 } },
    { "x itself", itself, 1, { 0 }, { 0 } },
    { "one number of many", all_of_it, 1, { 0 }, { 0 } },
};

/* The tape aborts at an error: whatever is tried on the way, none may come. */
TESTS(right_graphs_pass, LENGTH(graphs))
{
    gra_check_in in[2] = { { .name = "a", .shape = { 2, { 3, 4 } } },
                           { .name = "b", .shape = { 2, { 3, 4 } } } };
    for (int i = 0; i < graphs[_i].nin; i++) {
        in[i].low = graphs[_i].low[i];
        in[i].high = graphs[_i].high[i];
    }
    gra_keep_going(t, false);
    ck_assert_msg(gra_check(t, &(gra_check_options){ .rng = &rng, .nin = graphs[_i].nin, .in = in,
                            .f = graphs[_i].f }, &report) == 0,
                  "%s: %s", graphs[_i].name, report.text);
}

/* Graphs drawn at random, with a last op that is right, or a thousandth off. */
typedef struct drawn {
    uint64_t seed;
    formula  last;
} drawn;

static double same(double x) { return x; }

static gra_tensor *draw(gra_tape *tape, gra_tensor **in, void *arg)
{
    const drawn *d = arg;
    gra_tensor *x[15] = { in[0], in[1], in[2] };
    gra_rng g;
    gra_manual_seed(&g, d->seed);
    for (int n = 3; n < 15; n++) {
        gra_tensor *a = x[gra_randint(&g, (uint64_t)n)], *b = x[gra_randint(&g, (uint64_t)n)];
        switch (gra_randint(&g, 12)) {
        case 0:  x[n] = gra_add(tape, a, b); break;
        case 1:  x[n] = gra_sub(tape, a, b); break;
        case 2:  x[n] = gra_mul(tape, a, gra_tanh(tape, b)); break;
        case 3:  x[n] = gra_exp(tape, gra_tanh(tape, a)); break;
        case 4:  x[n] = gra_gelu(tape, a); break;
        case 5:  x[n] = gra_softmax(tape, a, -1); break;
        case 6:  x[n] = gra_layer_norm(tape, a, NULL, NULL, 0.1); break;
        case 7:  x[n] = gra_reshape(tape, a, GRA_SHAPE(3, 3)); break;
        case 8:  x[n] = gra_matmul(tape, a, gra_sigmoid(tape, b)); break;
        case 9:  x[n] = gra_div(tape, a, gra_exp(tape, gra_tanh(tape, b))); break;
        case 10: x[n] = gra_linear(tape, gra_tanh(tape, a), b, NULL); break;
        default: x[n] = gra_permute(tape, a, (int[]){ 1, 0 }); break;
        }
    }
    gra_tensor *y = gra_concat(tape, 3, in, 0);         /* so that each input is used */
    y = gra_concat(tape, 2, ((gra_tensor *[]){ y, x[14] }), 0);
    return of_numbers(tape, &y, (void *)(uintptr_t)&d->last);
}

TESTS(graphs_at_random, 100)
{
    static const char *const names[] = { "a", "b", "c" };
    gra_check_in in[3];
    for (int i = 0; i < 3; i++)
        in[i] = (gra_check_in){ .name = names[i], .shape = { 2, { 3, 3 } } };
    drawn d = { (uint64_t)_i, { same, one, 1 } };
    ck_assert_msg(checked(draw, &d, 3, in) == 0, "%s", report.text);
    d.last.factor = 1.001;
    ck_assert_msg(checked(draw, &d, 3, in) == 1, "%s", report.text);
}

/* ---- the mean of an input --------------------------------------------------------------------------- */

static double mean_of(const gra_tensor *x)
{
    double sum = 0;
    for (size_t i = 0; i < x->size; i++)
        sum += x->data[i];
    return sum / (double)x->size;
}

static double squares_of(const gra_tensor *x, double mean)  /* the mean of (x - mean)^2 */
{
    double sum = 0;
    for (size_t i = 0; i < x->size; i++)
        sum += (x->data[i] - mean) * (x->data[i] - mean);
    return sum / (double)x->size;
}

static void variance(gra_tensor *y)
{
    y->data[0] = squares_of(y->in[0], mean_of(y->in[0]));
}

OP_SCALAR(variance_about_zero, variance)
{
    const size_t n = y->in[0]->size;
    for (size_t i = 0; i < n; i++)
        dx[i] += 2 * x[i] * dy[0] / (double)n;
}

static void norm(gra_tensor *y)
{
    const gra_tensor *x = y->in[0];
    const double mean = mean_of(x), sd = sqrt(squares_of(x, mean) + 1e-5);
    EACH y->data[i] = (x->data[i] - mean) / sd;
}

OP(norm_about_zero, norm)               /* 0 instead of the mean */
{
    const double n = (double)y->size, sd = sqrt(squares_of(y->in[0], 0) + 1e-5);
    double sum = 0, dot = 0;
    EACH {
        sum += dy[i];
        dot += dy[i] * x[i] / sd;
    }
    EACH dx[i] += (dy[i] - sum / n - x[i] / sd * dot / n) / sd;
}

FUNCTION(relu_of_sum, gra_relu(tape, gra_sum(tape, in[0])))
FUNCTION(abs_of_mean, gra_abs(tape, gra_mean(tape, in[0])))

TEST(values_with_a_mean)
{
    static const gra_shape shapes[] = { { 1, { 3 } }, { 1, { 4 } }, { 1, { 6 } }, { 1, { 8 } },
                                        { 1, { 12 } }, { 1, { 16 } },
                                        { 1, { 100 } }, { 2, { 1, 8 } } };
    static const struct { gra_check_fn *f; int wanted; } cases[] = {
        { variance_about_zero, 1 }, { norm_about_zero, 1 }, { relu_of_sum, 0 }, { abs_of_mean, 0 },
    };
    for (int i = 0; i < LENGTH(shapes); i++)
        for (int f = 0; f < LENGTH(cases); f++) {
            const gra_check_in x = { .name = "x", .shape = shapes[i] };
            ck_assert_msg(checked(cases[f].f, NULL, 1, &x) == cases[f].wanted,
                          "case %d: %s", f, report.text);
        }
}

/* ---- what it costs ----------------------------------------------------------------------------------- */

typedef struct counted {
    gra_check_fn *f;
    int           calls;
} counted;

static gra_tensor *count_calls(gra_tape *tape, gra_tensor **in, void *arg)
{
    counted *c = arg;
    c->calls++;
    return c->f(tape, in, NULL);
}

TEST(two_evaluations_an_element)
{
    const gra_check_in in[] = { { .name = "a", .shape = { 2, { 17, 18 } } },
                                { .name = "b", .shape = { 2, { 17, 18 } } } };
    counted c = { difference, 0 };
    ck_assert_int_eq(checked(count_calls, &c, 2, in), 0);
    ck_assert_int_eq(c.calls, 2 * 2 * 17 * 18 + 4 + 3 + 2 * 2 + 2 + 2);
}

/* ---- how it is said --------------------------------------------------------------------------------- */

FUNCTION(changes_an_intermediate, zeroes_its_input(tape, (gra_tensor *[]){ gra_tanh(tape, in[0]) }, NULL))
FUNCTION(changes_a_constant,
         forward_changes_x(tape, (gra_tensor *[]){ gra_full(tape, -1, in[0]->shape) }, NULL))
FUNCTION(first_alone, gra_exp(tape, in[0]))
FUNCTION(empty, gra_slice(tape, in[0], 0, 0, 0))
FUNCTION(saturated, gra_softmax(tape, gra_scale(tape, in[0], 1e6), -1))
FUNCTION(nearly_saturated, gra_softmax(tape, in[0], -1))
FUNCTION(begins_at_zero, gra_matmul(tape, gra_exp(tape, in[0]), in[1]))
FUNCTION(of_constants, in ? gra_full(tape, 1, GRA_SHAPE(2)) : NULL)
FUNCTION(joined, gra_concat(tape, 2, in, 0))
FUNCTION(root, gra_sqrt(tape, in[0]))
FUNCTION(cross_entropy_of_two, gra_binary_cross_entropy(tape, in[0], in[1]))
FUNCTION(fails_as_constant,
  in[1]->requires_grad ? gra_mul(tape, in[0], in[1]) : gra_fail(tape, "fails: b is a constant"))

static gra_tensor *writes_itself(gra_tape *tape, gra_tensor **in, void *arg) /* no op is to be blamed */
{
    (void)arg;
    gra_tensor *y = gra_tanh(tape, in[0]);
    y->data[y->size] = 1;
    return y;
}

FORWARD(adds_to_y, y->data[i] + x[i])
OP(reads_what_is_not_filled, adds_to_y) { right_of_square(y); }
FORWARD(reads_on, x[i] * x[i + 1])
OP(reads_past_x, reads_on) { right_of_square(y); }

FORWARD(sine, sin(x[i]))
OP(sine_at_a_loss, sine)
{
    EACH dx[i] += dy[i] * (x[i] + 0.3 * sin(7 * x[i]) + (i % 7 == 3) + 0.01 * (double)(i % 5));
}

#define IN(name_, n, ...)  { .name = name_, .shape = { n, { __VA_ARGS__ } } }
#define DATA(name_, ...)                                                                                 \
    { .name = name_, .shape = { 1, { LENGTH(((real[]){ __VA_ARGS__ })) } }, .data = (real[]){ __VA_ARGS__ } }
#define X34                IN("x", 2, 3, 4)
#define ALL_ZERO           "nothing was tested, as every gradient is 0, in: "
#define BOTH_SIDES         ", however near: move it, or give .low and .high"
static formula arc_cosine = { acos, one, 1 }, absolute = { fabs, cos, 1 };

static const struct verdict {
    gra_check_fn *f;
    void         *arg;
    int           nin;
    gra_check_in  in[2];
    int           status;
    const char   *phrase, *unsaid;      /* what the report says, and what it does not */
} verdicts[] = {
    { first_alone, NULL, 2, { X34, IN("z", 2, 4, 5) }, 2, ALL_ZERO "z", "passed" },
    { saturated, NULL, 1, { X34 }, 2, ALL_ZERO "x", "passed" },
    { nearly_saturated, NULL, 1, { DATA("x", 0, 60, -800, -810, -820, -830, -840, -850, -860, -870) }, 0,
      "too small to be judged, so that they could be anything: 2 of 10 elements of x (below 1e-16, the "
      "tolerance times what rounding leaves of the loss; 8 others are exactly 0)", "the largest gradient" },
    { nearly_saturated, NULL, 1, { DATA("x", 8, 16, -8, -850, 16.5) }, 0, "1 of 5 elements of x (below ",
      "what rounding leaves of the loss" },
    { nearly_saturated, NULL, 1, { DATA("x", 8, 16, -8, -850, 16.5) }, 0,
      "e-07, the tolerance times the largest gradient; 1 other is exactly 0)", "others" },
    { begins_at_zero, NULL, 2, { X34, { .name = "z", .shape = { 2, { 4, 5 } }, .data = (real[20]){ 0 } } },
      2, ALL_ZERO "x", "passed" },
    { of_constants, NULL, 1, { X34 }, 2, ALL_ZERO "x", "passed" },
    { empty, NULL, 1, { X34 }, 2, "nothing was tested: what f returned is empty: (0, 4)", "passed" },
    { of_constants, NULL, 0, { X34 }, 2, "nothing to compare", "passed" },
    { joined, NULL, 2, { X34, IN("none", 2, 0, 4) }, 0, "passed", "nothing was tested" },
    { root, NULL, 1, { IN("x", 1, 4) }, -1,
      " is nan: no derivative can be taken. If f is not defined everywhere, "
      ".low and .high say where inputs lie", "passed" },
    { of_numbers, &arc_cosine, 1, { DATA("x", 1, 2) }, -1, "is nan", "passed" },
    { of_numbers, &arc_cosine, 1, { DATA("x", 1, 0.5) }, 1,
      "f is not defined on both sides of x[0] = 1" BOTH_SIDES,
      "nobody filled" },
    { first_alone, NULL, 1, { DATA("x", (real)-INFINITY, 1) }, 1,
      "f is not defined on both sides of x[0] = -inf" BOTH_SIDES, "passed" },
    { sum_of_numbers, &absolute, 1, { DATA("x", 1, -2, 3, -0.5) }, 1,
      "a clue: what dy is multiplied by is wrong", "sums to 0" },
    { cross_entropy_of_two, NULL, 2, { DATA("p", 0, 0.5, 0.3), DATA("target", 0.2, 0.6, 0.3) }, 1,
      "f is not defined on both sides of p[0] = 0" BOTH_SIDES, "passed" },
    { reads_what_is_not_filled, NULL, 1, { X34 }, -1, "its forward reads memory that it did not fill",
      "passed" },
    { reads_past_x, NULL, 1, { X34 }, -1,
      "does not stay within its tensors: memory past the end of x (3, 4) is read: number 12, where",
      "passed" },
    { changes_an_intermediate, NULL, 1, { X34 }, 1, "zeroes_its_input changed its input from tanh (3, 4)",
      "passed" },
    { changes_a_constant, NULL, 1, { X34 }, 1, "changed its input from a constant (3, 4)", "passed" },
    { little_past_the_gradient, NULL, 1, { IN("x", 1, 4) }, 1,
      "wrote past the end of the gradient of x (4)", "passed" },
    { writes_itself, NULL, 1, { IN("x", 1, 4) }, 1,
      "wrote past an end of memory that no op had in hand: f itself, or", "passed" },
    { sine_at_a_loss, NULL, 1, { IN("x", 2, 20, 20) }, 1,
      "x: too large to be explained in full: try smaller shapes",
      "passed" },
    { sine_at_a_loss, NULL, 2, { IN("x", 2, 4, 4), IN("none", 2, 4, 0) }, 1, "FAILED", "too large" },
    { fails_as_constant, NULL, 2, { IN("a", 1, 3), IN("b", 1, 3) }, -1, "fails: b is a constant", "passed" },
};

TESTS(what_the_report_says, LENGTH(verdicts)) /* _i: of verdicts */
{
    const struct verdict *v = &verdicts[_i];
    gra_keep_going(t, v->status == -1);                 /* what f refuses on the way does not abort */
    expect(checked(v->f, v->arg, v->nin, v->in), v->status, v->phrase);
    ck_assert_msg(!says(v->unsaid), "\"%s\" is said:\n%s", v->unsaid, report.text);
    ck_assert(v->f != fails_as_constant || isinf(report.error));
}

OP(flipped, square)
{
    EACH dx[i] -= 2 * x[i] * dy[i];
}
static gra_check_fn *wrong_one;         /* of every_square */

/* The hints have room behind the facts, however many tensors there are. */
static gra_tensor *every_square(gra_tape *tape, gra_tensor **in, void *arg)
{
    gra_model *m = arg;
    gra_tensor *y = gra_sum(tape, in[0]);
    for (int i = 0; i < gra_param_count(m); i++) {
        gra_tensor *p = gra_param_at(m, i);
        y = gra_add(tape, y, gra_sum(tape, i % 2 ? wrong_one(tape, &p, NULL) : gra_mul(tape, p, p)));
    }
    return y;
}

TEST(sixty_parameters)
{
    for (int i = 0; i < 60; i++) {
        char name[80];
        snprintf(name, sizeof name, "a_layer_with_a_rather_long_name_so_that_all_fill_a_page_%02d", i);
        gra_param(gra_root(model), name, gra_init_normal(0, 1), GRA_SHAPE(2, 2));
    }
    const gra_check_in x = { .name = "x", .shape = { 1, { 3 } } };
    wrong_one = sine_at_a_loss;
    ck_assert_int_eq(gra_check(t, &(gra_check_options){ .model = model, .nin = 1, .in = &x,
                               .f = every_square, .arg = model }, &report), 1);
    ck_assert_msg(says("a clue: "), "%s", report.text);
    wrong_one = flipped;
    ck_assert_int_eq(gra_check(t, &(gra_check_options){ .model = model, .nin = 1, .in = &x,
                               .f = every_square, .arg = model }, &report), 1);
    ck_assert_msg(says("wrong too: ") && says(" (error 2) and 25 more "), "%s", report.text);
    ck_assert_msg(says("right: x, ") && says(" and 27 more "), "%s", report.text);
    ck_assert_msg(says("likely: the sign is flipped"), "%s", report.text);
}

#endif
