/* Gradients that the check must reject, and gradients that it must accept. The backward of each wrong op
 * below is right in the ordinary case: both inputs need a gradient, the gradient buffers hold numbers, and
 * the two inputs are two tensors. It is wrong only in the case that its name tells. The right functions are
 * hard to differentiate numerically: steep, huge, tiny, noisy, or undefined nearby. */
#include "reports.h"
#include "lib/fixture.h"
#include "lib/suites.h"
#include "wrong_op.h"

#ifdef GRADUS_DOUBLE

/* ---- y = x^2 and y = x w, with mistakes ------------------------------------------------------------ */

static size_t as_many(const gra_tensor *y) { return y->size; }

OP(right_square, square)     { right_of_square(y); }
OP2(right_product, product)  { right_of_product(y); }

/* An uninitialised gradient buffer: a backward that overwrites should fill it. */
OP(forgets_to_fill, square, .overwrites_grad = true) { right_of_square(y); }
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

OP2(no_dx_without_dw, product) { if (dw) right_of_product(y); }
OP2(no_dw_without_dx, product) { if (dx) right_of_product(y); }
OP2(overwrites_without_dw, product)
{
    if (dx && !dw)
        memset(dx, 0, y->size * sizeof *dx);
    right_of_product(y);
}
OP2(loses_one_of_two, product)          /* reads both gradients before it writes any */
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

OP(past_the_gradient, square)        { right_of_square(y); dx[y->size] += 1; }
OP(before_the_gradient, square)      { right_of_square(y); dx[-1] = 0; }
OP(little_past_the_gradient, square) { right_of_square(y); dx[y->size] += 1e-8; }
OP2(past_the_gradient_of_a_parameter, product) { right_of_product(y); if (dw) dw[y->size] += 1; }
OP(zeroes_its_input, square)         { right_of_square(y); memset(x, 0, y->size * sizeof *x); }
OP(scales_dy_in_place, square)       { EACH dx[i] += dy[i] *= 2 * x[i]; }
OP(reuses_its_result, square)        { EACH dx[i] += y->data[i] = 2 * x[i] * dy[i]; }
FORWARD(steps, x[i] - (i ? x[i - 1] : 0))
OP(reads_past_dy, steps)             { EACH dx[i] += dy[i] - dy[i + 1]; }
OP2(reads_past_w, product)
{
    EACH if (dx) dx[i] += w[i + 2] * dy[i];
    EACH if (dw) dw[i] += x[i] * dy[i];
}
OP(reads_before_x, square)           { EACH dx[i] += 2 * *(x + i - 3) * dy[i]; }

static real kept[12];
static void keeps(gra_tensor *y) { square(y); memcpy(kept, y->in[0]->data, y->size * sizeof(real)); }
static void saves(gra_tensor *y) { square(y); memcpy(y->saved, y->in[0]->data, y->size * sizeof(real)); }
OP(keeps_it_in_a_variable, keeps)    { EACH dx[i] += 2 * kept[i] * dy[i]; }
OP(reads_past_what_it_saved, saves, .saved = as_many) { EACH dx[i] += 2 * y->saved[i ^ 16] * dy[i]; }

static void rounds_x(gra_tensor *y)
{
    EACH y->in[0]->data[i] = (real)fabs((double)y->in[0]->data[i]);
    square(y);
}
static void copies_one_too_many(gra_tensor *y)         /* also reads past the end of x: the same number */
{
    for (size_t i = 0; i <= y->size; i++)
        y->data[i] = y->in[0]->data[i];
}
static void past_y(gra_tensor *y)     { square(y); y->data[y->size] = 0; }
static void past_saved(gra_tensor *y) { square(y); y->saved[y->size] = 0; }
static void past_x(gra_tensor *y)     { square(y); y->in[0]->data[y->size] += 1; }
static void changes_w(gra_tensor *y)  { product(y); y->in[1]->data[0] = 0; }
static void past_w(gra_tensor *y)     { product(y); y->in[1]->data[y->size] = 0; }
OP(forward_changes_x, rounds_x)       { right_of_square(y); }
OP(past_the_result, past_y)           { right_of_square(y); }
OP(copies_past_the_result, copies_one_too_many) { EACH dx[i] += dy[i]; }
OP(past_what_it_saves, past_saved, .saved = as_many) { right_of_square(y); }
OP(past_the_values, past_x)           { right_of_square(y); }
OP2(changes_a_parameter, changes_w)   { right_of_product(y); }
OP2(past_a_parameter, past_w)         { right_of_product(y); }

#define FRESH_ALONE "only while the gradient is uninitialised"
#define CONSTANT_X  "only if x is a constant"
#define CONSTANT_W  "only if w is a constant"
#define ROW(f, ...) { f, #f, __VA_ARGS__ }

static const struct wrong {
    gra_check_fn *f;
    const char   *op;
    int           nin;                  /* w: the second input, or a parameter */
    const char   *name, *phrase;
} wrongs[] = {
    ROW(forgets_to_fill, 1, "x", FRESH_ALONE),
    ROW(other_where_it_stores, 1, "x", FRESH_ALONE),
    ROW(fills_all_but_one, 1, "x", FRESH_ALONE),
    ROW(no_dx_without_dw, 2, "x", CONSTANT_W),
    ROW(no_dx_without_dw, 0, "x", CONSTANT_W),
    ROW(no_dw_without_dx, 2, "w", CONSTANT_X " ... likely: w gets a gradient only where x has one"),
    ROW(no_dw_without_dx, 0, "w", CONSTANT_X),
    ROW(overwrites_without_dw, 2, "x", CONSTANT_W),
    ROW(loses_one_of_two, 2, "x", "one tensor passed as both x and w ... likely: only one of the two"),
    ROW(loses_w, 2, "x", "likely: only its gradient as x"),
    ROW(past_the_gradient, 1, "x", "backward of ... past the end of the gradient of x (3, 4)"),
    ROW(before_the_gradient, 1, "x", "backward of ... before the start of the gradient of x"),
    ROW(zeroes_its_input, 1, "x", "backward of zeroes_its_input changed its input x (3, 4)"),
    ROW(scales_dy_in_place, 1, "", "backward of scales_dy_in_place changed dy ... (3, 4)"),
    ROW(reuses_its_result, 1, "", "backward of reuses_its_result changed its result (3, 4)"),
    ROW(forward_changes_x, 1, "x", "forward of forward_changes_x changed its input x (3, 4)"),
    ROW(past_the_result, 1, "", "forward of past_the_result ... past the end of the values of its result"),
    ROW(copies_past_the_result, 1, "", "forward of ... past the end of the values of its result"),
    ROW(past_what_it_saves, 1, "", "forward of past_what_it_saves ... past the end of y->saved"),
    ROW(past_the_values, 1, "x", "forward of past_the_values ... past the end of the values of x (3, 4)"),
    ROW(changes_a_parameter, 0, "w", "forward of changes_a_parameter changed its input w (3, 4)"),
    ROW(past_a_parameter, 0, "w", "forward of past_a_parameter ... past the end of the values of w (3, 4)"),
    ROW(reads_past_dy, 1, "x", "past the end of the gradient of the result ... number 12 ... number 11"),
    ROW(reads_past_w, 2, "x", "likely: ... past the end of w (3, 4) ... number 12"),
    ROW(reads_past_w, 0, "x", "likely: ... past the end of w (3, 4) ... number 12"),
    ROW(reads_before_x, 1, "x", "likely: ... before the start of x (3, 4) ... number -3"),
    ROW(reads_past_what_it_saved, 1, "x", "past the end of what ... saved ... number 16 ... number 11"),
    ROW(keeps_it_in_a_variable, 1, "x", "only if f is used again before the backward"),
    ROW(past_the_gradient_of_a_parameter, 0, "w", "past the end of the gradient of w (3, 4)"),
};

static gra_tensor *with_w;              /* the second input of an OP2, or NULL */

static gra_tensor *wrap(gra_tape *tape, gra_tensor **in, void *f)
{
    return (*(gra_check_fn **)f)(tape, in, with_w);
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
    with_w = nin == 0 ? w : NULL;
    for (int i = 0; i < times; i++)
        status = gra_check(t, &(gra_check_options){ .model = nin == 0 ? model : NULL,
                           .nin = nin == 0 ? 1 : nin, .in = in, .f = wrap, .arg = &f }, &report);
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

static const struct {
    const char *y, *d;
    double      low, high, data[4];     /* low = high: the data */
    const char *doubt;                  /* words about elements that may be wrong unnoticed */
    bool        rough;                  /* only errors of 1/2 are noticed; otherwise of 1e-5 */
} numbers[] = {
    { "log(x[i])", "1 / x[i]", 1e-8, 2e-8 },
    { "log(x[i])", "1 / x[i]", 1e-300, 2e-300 },
    { "log(x[i])", "1 / x[i]", 0, 0, { 1e-15, 1, 1e-8, 3 }, "could be anything" },
    { "log(x[i])", "1 / x[i]", 0, 0, { 1e-6, 1, 2, 3 }, "could be anything" },
    { "tanh(1e8 * x[i])", "1e8 * (1 - y[i]^2)", 1e-8, 2e-8 },
    { "sin(x[i])", "cos(x[i])", 1e8, 2e8 },
    { "sin(1000 * x[i])", "1000 * cos(1000 * x[i])", -2, 2 },
    { "x[i]^2", "2 * x[i]", 1e8, 2e8 },
    { "x[i]^2", "2 * x[i]", 0, 0, { 1e8, 2, 3e-9, 4 }, "could be anything" },
    { "1 / x[i]", "-1 / x[i]^2", 1e-8, 2e-8 },
    { "1 / x[i]", "-1 / x[i]^2", 1e-3, 2e-3 },
    { "exp(-500 * x[i]^2)", "-1000 * x[i] * y[i]", -0.2, 0.2, { 0 }, "could be anything" },
    { "x[i] + 1e10", "1", -2, 2, { 0 }, NULL, true },
    { "(x[i] + 1e10) - 1e10", "1", -2, 2, { 0 }, "rough there", true },
    { "float(sin(float(x[i])))", "cos(x[i])", -2, 2, { 0 }, "rough there", true },
    { "1e-200 * x[i]^2", "2e-200 * x[i]", -2, 2 },
    { "log(abs(x[i] - 0.5))", "1 / (x[i] - 0.5)", 0, 0, { 0.5001, 0.49, 0.500001, 2 }, "could be anything" },
    { "abs(x[i] - 0.30001) + abs(x[i])", "2 * [x[i] > 0.30001] + 2 * [x[i] > 0] - 2", 0, 0,
      { 0.3, 0.30002, -1e-3, 1 } },
    { "acos(x[i])", "-1 / sqrt(1 - x[i]^2)", 0, 0, { 0.9999999, 0.999, -0.99999, 0.5 } },
    { "exp(x[i])", "exp(x[i])", 707.2, 707.4 },         /* whose sum is infinite */
    { "exp(x[i])", "exp(x[i])", -601, -600 },
};

static int check_number(int i, double factor)
{
    char in[80], lines[200];
    const bool drawn = numbers[i].low < numbers[i].high;
    snprintf(in, sizeof in, drawn ? "x[i] in %.17g..%.17g" : "x[i]", numbers[i].low, numbers[i].high);
    snprintf(lines, sizeof lines, "y[i] = %s\nd[i] = %s\ndx[i] = dy[i] * d[i] * (%.17g)", numbers[i].y,
             numbers[i].d, factor);
    return formula_check(&(struct formula_op){ .sizes = drawn ? "i n = 17" : "i n = 4", .in = in,
                         .lines = lines, .data = drawn ? NULL : numbers[i].data }, NULL);
}

TESTS(right_derivatives_pass, LENGTH(numbers))
{
    const char *doubt = numbers[_i].doubt;
    ck_assert_msg(check_number(_i, 1) == 0, "%s: %s", numbers[_i].y, report.text);
    for (int j = 0; j < 2; j++) {
        const char *word = j ? "could be anything" : "rough there";
        ck_assert_msg(says(word) == (doubt && !strcmp(doubt, word)), "%s: %s", numbers[_i].y, report.text);
    }
}

TESTS(wrong_derivatives_are_refused, LENGTH(numbers))
{
    const double factors[] = { 2, 0.5, 0, -1, 1e8, 1.01, 1.00001 };
    for (int j = 0; j < (numbers[_i].rough ? 5 : 7); j++)
        ck_assert_msg(check_number(_i, factors[j]) == 1, "%s times %g: %s", numbers[_i].y, factors[j],
                      report.text);
}

/* ---- right functions of several inputs -----------------------------------------------------------------
 * Functions of ordinary numbers are in the table of all ops. */

#define GRAPHS(G)       /* a name, how many inputs, where each lies (0, 0: anywhere), the graph */       \
    G(log_of_difference, 2, 3, 4, 0, 2, gra_log(tape, gra_sub(tape, in[0], in[1])))                      \
    G(distance, 2, 3, 4, 0, 2, gra_sqrt(tape, gra_pow(tape, gra_sub(tape, in[0], in[1]), 2)))            \
    G(difference, 2, 0, 0, 0, 0, gra_sub(tape, in[0], in[1]))                                            \
    G(quotient, 2, -2, 2, 1e-6, 2e-6, gra_div(tape, in[0], in[1]))                                       \
    G(scores_of_large_logits, 2, -5, 5, -5, 5, gra_softmax(tape, gra_matmul_nt(tape, in[0], in[1]), -1)) \
    G(log_of_scores, 2, -100, 100, -100, 100, gra_log_softmax(tape, gra_mul(tape, in[0], in[1]), -1))    \
    G(far_from_0, 1, 1e8, 1e8 + 10, 0, 0, gra_layer_norm(tape, in[0], NULL, NULL, 1e-5))                 \
    G(very_small, 1, 1e-8, 2e-8, 0, 0, gra_layer_norm(tape, in[0], NULL, NULL, 1e-5))                    \
    G(reductions_of_large_values, 2, -1e8, 1e8, -1, 1, gra_add(tape, gra_mean_dim(tape, in[0], 0, true), \
        gra_sum_dim(tape, gra_mul(tape, in[0], in[1]), 1, true)))                                        \
    G(replaces_its_inputs, 2, 0, 0, 0, 0, (in[0] = gra_reshape(tape, in[0], GRA_SHAPE(2, 6)),            \
        in[1] = gra_mul(tape, in[0], gra_exp(tape, gra_reshape(tape, in[1], GRA_SHAPE(2, 6)))),          \
        gra_log_softmax(tape, in[1], 0)))                                                                \
    G(two_tensors_alone, 2, 0, 0, 0, 0, in[0] == in[1] ? gra_fail(tape, "two tensors are wanted")        \
        : gra_mul(tape, in[0], in[1]))                                                                   \
    G(nans_traced, 1, 1e-9, 1, 0, 0, (gra_trace_nan(tape, true), gra_log(tape, in[0])))                  \
    G(roots_of_sums, 2, 1e-9, 2e-9, 1e-9, 2e-9, gra_sqrt(tape, gra_add(tape, in[0], in[1])))             \
    G(itself, 1, 0, 0, 0, 0, tape ? in[0] : NULL)

#define GRAPH(name, nin, a, a_end, b, b_end, ...) FUNCTION(name, __VA_ARGS__)
#define GRAPH_ROW(name, nin, a, a_end, b, b_end, ...) { #name, name, nin, { a, b }, { a_end, b_end } },
GRAPHS(GRAPH)

static const struct {
    const char   *name;
    gra_check_fn *f;
    int           nin;
    double        low[2], high[2];
} graphs[] = { GRAPHS(GRAPH_ROW) };

/* The tape aborts at an error, so no trial may cause one. */
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

/* Random graphs, whose last op is right or off by a thousandth. */
typedef struct drawn {
    uint64_t seed;
    double   factor;
} drawn;

static double slope;                    /* of almost */
FORWARD(same, x[i])
OP(almost, same) { EACH dx[i] += slope * dy[i]; }

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
    gra_tensor *y = gra_concat(tape, 3, in, 0);         /* to use each input */
    y = gra_concat(tape, 2, ((gra_tensor *[]){ y, x[14] }), 0);
    slope = d->factor;
    return almost(tape, &y, NULL);
}

TESTS(graphs_at_random, 100)
{
    static const char *const names[] = { "a", "b", "c" };
    gra_check_in in[3];
    for (int i = 0; i < 3; i++)
        in[i] = (gra_check_in){ .name = names[i], .shape = { 2, { 3, 3 } } };
    drawn d = { (uint64_t)_i, 1 };
    ck_assert_msg(checked(draw, &d, 3, in) == 0, "%s", report.text);
    d.factor = 1.001;
    ck_assert_msg(checked(draw, &d, 3, in) == 1, "%s", report.text);
}

/* ---- costs ------------------------------------------------------------------------------------------- */

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

/* ---- wording ----------------------------------------------------------------------------------------- */

FUNCTION(changes_an_intermediate, zeroes_its_input(tape, (gra_tensor *[]){ gra_tanh(tape, in[0]) }, NULL))
FUNCTION(changes_a_constant,
         forward_changes_x(tape, (gra_tensor *[]){ gra_full(tape, -1, in[0]->shape) }, NULL))
FUNCTION(first_alone, gra_exp(tape, in[0]))
FUNCTION(detached, gra_detach(tape, in[0]))             /* no gradient reaches x */
FUNCTION(empty, gra_slice(tape, in[0], 0, 0, 0))
FUNCTION(saturated, gra_softmax(tape, gra_scale(tape, in[0], 1e6), -1))
FUNCTION(nearly_saturated, gra_softmax(tape, in[0], -1))
FUNCTION(begins_at_zero, gra_matmul(tape, gra_exp(tape, in[0]), in[1]))
FUNCTION(of_constants, in ? gra_full(tape, 1, GRA_SHAPE(2)) : NULL)
FUNCTION(joined, gra_concat(tape, 2, in, 0))
FUNCTION(root, gra_sqrt(tape, in[0]))
FUNCTION(cross_entropy_of_two, gra_binary_cross_entropy(tape, in[0], in[1]))
FUNCTION(backward_fails, (gra_trace_nan(tape, true), gra_sqrt(tape, gra_mul(tape, in[0], in[0]))))  /* at 0 */
FUNCTION(fails_as_constant,
  in[1]->requires_grad ? gra_mul(tape, in[0], in[1]) : gra_fail(tape, "fails: b is a constant"))

static gra_tensor *writes_itself(gra_tape *tape, gra_tensor **in, void *arg) /* no op is to blame */
{
    (void)arg;
    gra_tensor *y = gra_tanh(tape, in[0]);
    y->data[y->size] = 1;
    return y;
}

FORWARD(adds_to_y, y->data[i] + x[i])
OP(reads_what_is_not_filled, adds_to_y) { right_of_square(y); }
FORWARD(first, x[i])
OP2(haunted, first) { EACH dx[i] += dy[i], dw[i] += dy[i]; }
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
#define BELOW     "an input's low is not below its high"
#define NOT_THERE "f is not defined on both sides of "

static const struct verdict {
    gra_check_fn *f;
    int           nin;
    gra_check_in  in[2];
    int           status;
    const char   *phrase, *unsaid;      /* words of the report, and words that it lacks; NULL: "passed" */
} verdicts[] = {
    { first_alone, 2, { X34, IN("z", 2, 4, 5) }, 2, "every gradient is 0, in: z" },
    { detached, 1, { X34 }, 1, "likely: all zero" },
    { haunted, 2, { X34, IN("z", 2, 3, 4) }, 1, "FAILED: z ... likely: the gradient should be zero ... z" },
    { saturated, 1, { X34 }, 2, "every gradient is 0, in: x" },
    { nearly_saturated, 1, { DATA("x", 0, 60, -800, -810, -820, -830, -840, -850, -860, -870) }, 0,
      "anything: 2 of 10 elements of x (below 1e-16 ... 8 others are exactly 0)", "the largest gradient" },
    { nearly_saturated, 1, { DATA("x", 8, 16, -8, -850, 16.5) }, 0,
      "1 of 5 elements of x ... e-07 ... the largest gradient; 1 other is exactly 0)", "of the loss" },
    { begins_at_zero, 2, { X34, { .name = "z", .shape = { 2, { 4, 5 } }, .data = (real[20]){ 0 } } }, 2,
      "every gradient is 0, in: x" },
    { of_constants, 1, { X34 }, 2, "every gradient is 0, in: x" },
    { empty, 1, { X34 }, 2, "nothing was tested ... empty: (0, 4)" },
    { of_constants, 0, { X34 }, 2, "nothing to compare" },
    { joined, 2, { X34, IN("none", 2, 0, 4) }, 0, "passed", "nothing was tested" },
    { root, 1, { IN("x", 1, 4) }, -1, " is nan: ... .low and .high" },
    { first_alone, 1, { DATA("x", (real)-INFINITY, 1) }, 1, NOT_THERE "x[0] = -inf ... .low" },
    { cross_entropy_of_two, 2, { DATA("p", 0, 0.5, 0.3), DATA("w", 0.2, 0.6, 0.3) }, 1, NOT_THERE "p[0]" },
    { reads_what_is_not_filled, 1, { X34 }, -1, "forward reads memory that it did not fill" },
    { reads_past_x, 1, { X34 }, -1, "memory past the end of x (3, 4) is read: number 12" },
    { changes_an_intermediate, 1, { X34 }, 1, "zeroes_its_input changed its input from tanh (3, 4)" },
    { changes_a_constant, 1, { X34 }, 1, "changed its input from a constant (3, 4)" },
    { little_past_the_gradient, 1, { IN("x", 1, 4) }, 1, "past the end of the gradient of x (4)" },
    { writes_itself, 1, { IN("x", 1, 4) }, 1, "memory that no running op used: f itself" },
    { sine_at_a_loss, 1, { IN("x", 2, 20, 20) }, 1, "x: too large to be explained in full" },
    { sine_at_a_loss, 2, { IN("x", 2, 4, 4), IN("none", 2, 4, 0) }, 1, "FAILED", "too large" },
    { itself, 1, { { .shape = { 1, { 2 } }, .low = 3, .high = 1 } }, -1, BELOW },
    { itself, 1, { { .shape = { 1, { 2 } }, .low = 0, .high = -1 } }, -1, BELOW },
    { itself, 1, { IN("x", 2, 2, -3) }, -1, "shape" },
    { backward_fails, 1, { DATA("x", 0, 1) }, -1, "(backward)" },
    { fails_as_constant, 2, { IN("a", 1, 3), IN("b", 1, 3) }, -1, "fails: b is a constant" },
};

TESTS(what_the_report_says, LENGTH(verdicts)) /* _i: of verdicts */
{
    const struct verdict *v = &verdicts[_i];
    const char *unsaid = v->unsaid ? v->unsaid : "passed";
    gra_keep_going(t, v->status == -1);                 /* a refusal by f does not abort */
    expect(checked(v->f, NULL, v->nin, v->in), v->status, v->phrase);
    ck_assert_msg(!says(unsaid), "\"%s\" is said:\n%s", unsaid, report.text);
    ck_assert(v->f != fails_as_constant || isinf(report.error));
}

TEST(where_a_number_has_no_derivative)
{
    static const struct formula_op arc = { .sizes = "i n = 2", .in = "x[i]", .lines =
        "y[i] = acos(x[i])\n"
        "dx[i] = dy[i]\n" };
    struct formula_op op = arc;
    op.data = (const double[]){ 1, 2 };
    expect(formula_check(&op, NULL), -1, "is nan");
    op.data = (const double[]){ 1, 0.5 };
    expect(formula_check(&op, NULL), 1, NOT_THERE "x[0] = 1");
    ck_assert(!says("nobody filled"));
    op = (struct formula_op){ .sizes = "i n = 4", .in = "x[i]", .data = (const double[]){ 1, -2, 3, -0.5 },
                              .lines = "y = sum(i, abs(x[i]))\ndx[i] = cos(x[i]) * dy\n" };
    expect(formula_check(&op, NULL), 1, "a clue: the factor of dy is wrong");
    ck_assert(!says("sums to 0"));
}

OP(flipped, square) { EACH dx[i] -= 2 * x[i] * dy[i]; }
static gra_check_fn *wrong_one;         /* of every_square */

/* There is room for the hints after the facts, however many tensors there are. */
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
    const gra_check_options all = { .model = model, .nin = 1, .in = &x, .f = every_square, .arg = model };
    wrong_one = sine_at_a_loss;
    expect(gra_check(t, &all, &report), 1, "a clue: ");
    wrong_one = flipped;
    expect(gra_check(t, &all, &report), 1, "wrong too: ... (error 2) and 25 more ... right: x, "
           "... and 27 more ... likely: the sign is flipped");
}

/* ---- kinks ---- */

/* Where the slopes of both sides differ, the library's backwards do not count as wrong: pixels, one-hot rows,
 * padding, equal values. */
FUNCTION(relu, gra_relu(tape, in[0]))
FUNCTION(relu_twice, gra_relu(tape, gra_scale(tape, gra_relu(tape, in[0]), 3)))
FUNCTION(abs_of_relu, gra_abs(tape, gra_relu(tape, in[0])))
FUNCTION(clamped, gra_clamp(tape, in[0], 0, 1))
FUNCTION(most, gra_max_dim(tape, in[0], -1, false))
FUNCTION(least, gra_min_dim(tape, in[0], 0, true))
FUNCTION(most_of_all, gra_max(tape, in[0]))
FUNCTION(most_of_relu, gra_max_dim(tape, gra_relu(tape, in[0]), -1, false))
FUNCTION(one_layer, gra_relu(tape, gra_linear(tape, in[0], in[1], in[2])))
FUNCTION(identity, gra_sub(tape, gra_relu(tape, in[0]), gra_relu(tape, gra_neg(tape, in[0]))))
FUNCTION(identity_of_layer, identity(tape, (gra_tensor *[]){ gra_linear(tape, in[0], in[1], in[2]) }, NULL))
FUNCTION(two_layers, gra_linear(tape, one_layer(tape, in, NULL), in[3], NULL))

OP(relu_doubled, square) { EACH dx[i] += 4 * x[i] * dy[i]; }
FUNCTION(wrong_behind_identity, identity(tape, (gra_tensor *[]){ relu_doubled(tape, in, NULL) }, NULL))
FUNCTION(wrong_behind_relu, gra_relu(tape, relu_doubled(tape, in, NULL)))
FORWARD(of_relu, x[i] > 0 ? x[i] : 0)
OP(wrong_at_the_kink, of_relu) { EACH dx[i] += (x[i] > 0 ? 1 : x[i] < 0 ? 0 : 1.5) * dy[i]; }
OP(wrong_beside_it, of_relu)   { EACH dx[i] += x[i] > 0 ? 2 * dy[i] : 0; }

TEST(kinks)
{
    static const real data[][6] = { { 0, 1, -1, 0, 2, -2 }, { 3, 3, 1, 2, 5, 5 }, { 0, 0, 0, 1, 0, 1 },
                                    { 0, 1, 0, 0, 0, 0 }, { 0, 0, 0, 0.5, -2, 1 } }, zeros[4] = { 0 };
    gra_check_fn *const right[] = { relu, relu_twice, abs_of_relu, clamped, most, least, most_of_all,
                                    most_of_relu, identity, one_layer, identity_of_layer, two_layers };
    for (int i = 0; i < 5; i++) {
        const gra_check_in in[4] = { { .name = "x", .shape = GRA_SHAPE(2, 3), .data = data[i] },
                                     { .name = "w", .shape = GRA_SHAPE(4, 3) },
                                     { .name = "b", .shape = GRA_SHAPE(4), .data = zeros },
                                     { .name = "v", .shape = GRA_SHAPE(2, 4) } };
        for (int j = 0; j < LENGTH(right); j++) {
            const int status = checked(right[j], NULL, j < 9 ? 1 : j < 11 ? 3 : 4, in);
            const bool untested = status == 2 && (says("nothing was tested") || says("f has a kink at"));
            ck_assert_msg(status == 0 || untested, "data %d, function %d: %s", i, j, report.text);
        }
        if (i != 3)
            expect(checked(wrong_behind_relu, NULL, 1, in), 1, "a constant factor");
        expect(checked(wrong_beside_it, NULL, 1, in), 1, "analytic");
        expect(checked(wrong_behind_identity, NULL, 1, in), 1, "analytic");
    }
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3), .data = data[0] };
    expect(checked(wrong_at_the_kink, NULL, 1, &x), 2, "f has a kink at x[0] = 0 (2 of 6 elements)");
    expect(checked(identity, NULL, 1, &x), 2, "an op in f has a kink at x[0] = 0 (2 of 6 elements), or its");
}

#endif
