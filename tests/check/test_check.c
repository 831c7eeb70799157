/* The gradient check: right gradients pass, wrong gradients are found, and the report says which and how
 * many. test_causes.c tests the explanations. */
#include "core/check/checking.h"
#include "reports.h"
#include "lib/fixture.h"
#include "lib/suites.h"
#include "wrong_op.h"

#include <stdlib.h>

#ifdef GRADUS_DOUBLE

/* y = x^2, with mistakes */
OP(flipped, square)       { EACH dx[i] -= 2 * x[i] * dy[i]; }
OP(right, square)         { right_of_square(y); }
OP(twice, square)         { EACH dx[i] += 4 * x[i] * dy[i]; }
OP(wrong_formula, square) { EACH dx[i] += 2 * x[i] * dy[i] * cos(x[i]); }
OP(not_a_number, square)  { EACH dx[i] += i >= 2 ? (real)NAN : 2 * x[i] * dy[i]; }
OP(element_5, square)     { EACH dx[i] += (i == 5 ? -2 : 2) * x[i] * dy[i]; }
OP(element_7, square)     { EACH dx[i] += (i == 7 ? -2 : 2) * x[i] * dy[i]; }

CASE(check, open_all, close_all, "")

/* ---- what the report says --------------------------------------------------------------------- */

FUNCTION(sum_5, gra_sum(tape, element_5(tape, in, arg)))
FUNCTION(sum_7, gra_sum(tape, element_7(tape, in, arg)))

TEST(worst_element_and_its_gradients)
{
    real x[12];                         /* loss = c sum x^2: numeric gradients are 2 c x */
    double numeric[2], largest = 0;
    for (size_t i = 0; i < 12; i++) {
        x[i] = (real)(1 + 0.1 * (double)(i * 5 % 12));
        largest = fmax(largest, x[i]);  /* the tensor's gradient, which is the measure */
    }
    const gra_check_in in = { .name = "w", .shape = { 2, { 3, 4 } }, .data = x };
    for (int i = 0; i < 2; i++) {
        const size_t place = i ? 7 : 5;
        expect(checked(i ? sum_7 : sum_5, NULL, 1, &in), 1,
               i ? "w (3, 4), element 7 (row 1, column 3) ... wrong there: 1 of 12 elements"
                 : "w (3, 4), element 5 (row 1, column 1) ... wrong there: 1 of 12 elements");
        ck_assert_str_eq(report.name, "w");
        ck_assert_uint_eq(report.index, place);
        ck_assert_double_eq_tol(report.analytic, -report.numeric, 1e-9);
        ck_assert_uint_eq(report.elements, 12);
        ck_assert_double_eq_tol(report.error, 2 * x[place] / largest, 1e-7);
        numeric[i] = report.numeric;
    }
    ck_assert_double_eq_tol(numeric[0] / numeric[1], x[5] / x[7], 1e-9);
}

TEST(the_first_of_equals_is_the_worst)
{
    const gra_check_in in = { .shape = { 1, { 5 } } };
    expect(checked(not_a_number, NULL, 1, &in), 1, "wrong there: 3 of 5 elements");
    ck_assert_uint_eq(report.index, 2);
    ck_assert(isinf(report.error) && isnan(report.analytic) && isfinite(report.numeric));
}

FUNCTION(small, gra_add(tape, gra_full(tape, 1, GRA_SCALAR), gra_scale(tape, twice(tape, in, arg), 1e-12)))

TEST(loss_is_a_floor)
{
    const gra_check_in in = { .data = (real[]){ 1 } };
    expect(checked(small, NULL, 1, &in), 1, "FAILED");
    ck_assert_double_eq_tol(report.error, 2e-12 / 1e-7, 1e-7);
}

/* ---- models, dropout ------------------------------------------------------------------------- */

static struct net {
    gra_tensor   *w, *b, *w2;
    gra_check_fn *square_of_b;          /* right or wrong */
} net;

static void open_net(void)
{
    gra_manual_seed(&rng, 1);
    another_model();
    gra_scope root = gra_root(model);
    net.w = gra_param(gra_enter(root, "first"), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(5, 3));
    net.b = gra_param(gra_enter(root, "first"), "bias", gra_init_normal(0, 0.5), GRA_SHAPE(5));
    net.w2 = gra_param(gra_enter(root, "second"), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(2, 5));
    net.square_of_b = right;
}

static gra_tensor *net_forward(gra_tape *tape, gra_tensor **in, void *arg)
{
    (void)arg;
    gra_tensor *b = net.square_of_b(tape, &net.b, NULL);
    gra_tensor *h = gra_dropout(tape, gra_gelu(tape, gra_linear(tape, in[0], net.w, b)), 0.4);  /* (4, 5) */
    return gra_linear(tape, h, net.w2, NULL);                                                  /* (4, 2) */
}

static int check_net(gra_rng *g, gra_check_fn *f)
{
    const gra_check_in x = { .name = "x", .shape = { 2, { 4, 3 } } };
    return gra_check(t, &(gra_check_options){ .rng = g, .model = model, .nin = 1, .in = &x, .f = f },
                     &report);
}

TEST(a_model_with_dropout_passes)
{
    open_net();
    const gra_rng copy = rng;
    real was[15];
    memcpy(was, net.w->data, sizeof was);
    expect(check_net(&rng, net_forward), 0, "passed");
    ck_assert_uint_eq(report.elements, 15 + 5 + 10 + 12);
    ck_assert_mem_eq(was, net.w->data, sizeof was);
    ck_assert_mem_eq(&rng, &copy, sizeof rng);                          /* as before the check */
    expect(check_net(NULL, net_forward), 0, "passed");
    const gra_check_in in = { .name = "x", .shape = { 2, { 4, 3 } } };  /* without a report */
    ck_assert_int_eq(gra_check(t, &(gra_check_options){ .nin = 1, .in = &in, .f = net_forward }, NULL), 0);
}

TEST(dropout_is_on)
{
    open_net();                         /* otherwise another mask would give the same numbers */
    double numeric[2];
    net.square_of_b = flipped;
    for (uint64_t seed = 0; seed < 2; seed++) {
        gra_manual_seed(&rng, seed);
        expect(check_net(&rng, net_forward), 1, "likely: the sign is flipped");
        ck_assert_str_eq(report.name, "first.bias");
        numeric[seed] = report.numeric;
    }
    ck_assert(numeric[0] != numeric[1]);
}

TEST(frozen_parameters_are_skipped)
{
    open_net();
    real was[5];
    net.square_of_b = wrong_formula;
    memcpy(was, net.b->data, sizeof was);
    expect(check_net(NULL, net_forward), 1, "FAILED");
    ck_assert_str_eq(report.name, "first.bias");
    ck_assert_mem_eq(was, net.b->data, sizeof was);                     /* after a failure too */
    gra_freeze(net.b, true);
    expect(check_net(NULL, net_forward), 0, "passed");
    ck_assert_uint_eq(report.elements, 15 + 10 + 12);
}

FUNCTION(freezes_b, (gra_freeze(net.b, true), gra_sum(tape, in[0])))

TEST(frozen_during_the_check)           /* which lends the parameter a gradient, then restores its own */
{
    open_net();
    const gra_real *own = net.b->grad;
    check_net(NULL, freezes_b);
    ck_assert(net.b->grad == own && net.b->grad_store == own && net.b->requires_grad);
}

TEST(a_model_with_an_error_is_refused)
{
    open_net();
    gra_keep_going(t, true);
    gra_param(gra_root(model), "bad", gra_init_zeros(), GRA_SHAPE(-1));
    expect(check_net(NULL, net_forward), -1, gra_model_error(model));
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct seen {
    real   x[1001];
    size_t n;
} seen;

static gra_tensor *look(gra_tape *tape, gra_tensor **in, void *arg)
{
    seen *s = arg;
    if (s->n == 0) {                    /* the first evaluation, with unchanged values */
        s->n = in[0]->size;
        memcpy(s->x, in[0]->data, s->n * sizeof(real));
    }
    return gra_sum(tape, in[0]);
}

static int by_value(const void *a, const void *b)
{
    real x = *(const real *)a, y = *(const real *)b;
    return (x > y) - (x < y);
}

TEST(inputs_are_spread)
{
    static const struct {
        int    n;
        double low, high, really_low, really_high, apart;
    } cases[] = {
        { 1001, 0, 0, -2, 2, 4e-4 },
        { 1000, -2, 2, -2, 2, 4e-4 },
        { 1, -1, 1, -1, 1, 0 },
        { 17, 0, 1, 1e-3, 1, 5e-3 },
        { 17, -1, 0, -1, -1e-3, 5e-3 },
        { 300, 0.5, 2, 0.5, 2, 5e-4 },
        { 17, 0.0005, 3, 1e-3, 3, 0.015 },
        { 3, 0, 0, -2, 2, 0.1 }, { 4, 0, 0, -2, 2, 0.1 }, { 8, 0, 0, -2, 2, 0.05 },
        { 17, -0.0005, 0.0005, -0.0005, 0.0005, 5e-6 },        /* no part of it is far enough from 0 */
    };
    for (int c = 0; c < LENGTH(cases); c++) {
        seen s = { .n = 0 };
        const gra_check_in x = { .shape = { 1, { cases[c].n } }, .low = cases[c].low, .high = cases[c].high };
        expect(checked(look, &s, 1, &x), 0, "passed");
        bool sorted = true;
        double sum = 0;
        for (size_t i = 0; i < s.n; i++) {
            sorted &= i == 0 || s.x[i - 1] < s.x[i];
            sum += s.x[i];
        }
        ck_assert(!sorted || s.n < 9);
        ck_assert_msg(fabs(sum) >= 0.049 * (cases[c].really_high - cases[c].really_low) * (double)s.n,
                      "case %d: a mean of %g", c, sum / (double)s.n);
        qsort(s.x, s.n, sizeof *s.x, by_value);
        for (size_t i = 0; i < s.n; i++) {
            ck_assert(fabs(s.x[i]) >= 1e-3 || cases[c].really_high < 1e-3);
            ck_assert(i == 0 || s.x[i] - s.x[i - 1] >= cases[c].apart);
            ck_assert(s.x[i] >= cases[c].really_low && s.x[i] <= cases[c].really_high);
        }
    }
}

FUNCTION(kinked, gra_relu(tape, gra_sub(tape, in[0], in[1])))

TEST(inputs_alike_do_not_meet)
{
    const gra_check_in in[2] = { { .shape = { 2, { 17, 17 } } }, { .shape = { 2, { 17, 17 } } } };
    expect(checked(kinked, NULL, 2, in), 0, "passed");
}

/* ---- what cannot be checked ------------------------------------------------------------------ */

typedef struct late {                   /* fails at one of its calls */
    int calls, bad, how;
} late;

static gra_tensor *some_call_fails(gra_tape *tape, gra_tensor **in, void *arg)
{
    late *l = arg;
    /* half of in[1]'s gradient */
    gra_tensor *y = gra_mul(tape, gra_mul(tape, in[0], in[1]), gra_detach(tape, in[1]));
    if (++l->calls != l->bad)
        return y;
    return l->how == 0 ? gra_matmul(tape, in[0], in[0]) : l->how == 1 ? NULL : gra_sum(tape, y);
}

TESTS(any_call_may_fail, 3)             /* _i: how. Ends when more calls than exist would have to fail */
{
    static const char *const what[] = { "matmul", "f returned NULL", "shape" };
    const gra_check_in in[2] = { { .name = "a", .shape = { 2, { 2, 3 } } },
                                 { .name = "b", .shape = { 2, { 1, 3 } } } };
    late l = { .bad = 1, .how = _i };
    for (;; l.bad++) {
        l.calls = 0;
        const int result = checked(some_call_fails, &l, 2, in);
        if (l.calls < l.bad)
            break;
        const bool moved = l.bad > 7;                   /* f need not be defined there: the check goes on */
        ck_assert_msg(says(what[_i]) || (_i == 2 && l.bad == 1) || (moved && result == 1), "call %d: %s",
                      l.bad, report.text);
        ck_assert_msg(result == -1 || moved || (_i == 2 && l.bad == 1), "call %d: %s", l.bad, report.text);
        ck_assert(report.error > 1e-6);
    }
    ck_assert_int_gt(l.bad, 20);
}

FUNCTION(root, gra_sqrt(tape, in[0]))

TEST(what_the_tape_does_stays)          /* gra_trace_nan and gra_keep_going have their old settings */
{
    const gra_check_in in = { .shape = { 1, { 3 } }, .low = 1, .high = 2 };
    gra_trace_nan(t, true);
    expect(checked(root, NULL, 1, &in), 0, "passed");
    gra_begin(t, GRA_GRAD, NULL);
    gra_sqrt(t, gra_scalar(t, -1));
    expect_part("sqrt: made nan");
}

FUNCTION(calls_counted, (++*(int *)arg, gra_scale(tape, in[0], 2)))

TEST(how_often_f_is_called)             /* gradus.h: 2 calls for each element, 9 in all, 2 for each tensor */
{
    int calls = 0;
    const gra_check_in in = { .shape = { 2, { 2, 3 } } };
    expect(checked(calls_counted, &calls, 1, &in), 0, "passed");
    ck_assert_int_eq(calls, 2 * 6 + 9 + 2);
}

FUNCTION(counts, gra_scale(tape, in[0], ++*(int *)arg))

TEST(f_counts_its_calls)
{
    int calls = 0;
    const gra_check_in in = { .shape = { 2, { 2, 3 } } };
    expect(checked(counts, &calls, 1, &in), -1, "not a function of its inputs");
    ck_assert(report.error > 1e-6);
}

/* If a report has no room for a word, the text ends before it. */
TEST(a_text_longer_than_its_room)
{
    gra_line line = { .at = 0 };
    for (int i = 0; i < 300; i++)
        gra_line_put(&line, "%s", i % 3 ? "word " : "");
    ck_assert_uint_eq(line.at, sizeof line.s - 1);
    ck_assert_uint_eq(strlen(line.s), line.at);
    for (int first = 1; first < 90; first++) {
        struct { gra_check_report report; char behind; } r = { .behind = 'x' };
        gra_check_say(&r.report, "%s", "");
        gra_check_say(&r.report, "%.*s", first, line.s);
        for (int i = 0; i < 20; i++)
            gra_check_say(&r.report, "%s", i % 2 ? "a" : line.s);
        const size_t end = strlen(r.report.text);
        ck_assert_uint_ge(end, sizeof r.report.text - 16);
        ck_assert_uint_lt(end, sizeof r.report.text);
        ck_assert(r.report.text[end - 1] != '\n' && r.report.text[end - 1] != ' ');
        ck_assert_int_eq(r.behind, 'x');
    }
}

#endif
