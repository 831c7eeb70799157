/* The gradient check: right gradients pass, wrong ones are found, and the report says which and how many.
 * What explains a wrong one is tested in test_slips.c. */
#include "core/check/checking.h"
#include "lib/fixture.h"
#include "reports.h"
#include "lib/suites.h"
#include "wrong_op.h"

#include <stdlib.h>

#ifdef GRADUS_DOUBLE

static gra_check_report report;

#define says(phrase) report_says(&report, phrase)

static int check(gra_mode mode, gra_rng *g, gra_model *m, int nin, const gra_check_in *in, gra_check_fn *f,
                 void *arg)
{
    return gra_check(t, &(gra_check_options){ .rng = mode == GRA_TRAIN ? g : NULL, .model = m,
                     .nin = nin, .in = in, .f = f, .arg = arg }, &report);
}

/* ---- y = x^2, with mistakes --------------------------------------------------------------------- */

OP(right, square)     { right_of_square(y); }
OP(flipped, square)   { EACH dx[i] -= 2 * x[i] * dy[i]; }
OP(twice, square)     { EACH dx[i] += 4 * x[i] * dy[i]; }
OP(wrong_formula, square) { EACH dx[i] += 2 * x[i] * dy[i] * cos(x[i]); }
OP(not_a_number, square)  { EACH dx[i] += i >= 2 ? (real)NAN : 2 * x[i] * dy[i]; }
OP(element_5, square) { EACH dx[i] += (i == 5 ? -2 : 2) * x[i] * dy[i]; }
OP(element_7, square) { EACH dx[i] += (i == 7 ? -2 : 2) * x[i] * dy[i]; }

/* ---- what the report says --------------------------------------------------------------------- */

FORWARD(first, x[i])
OP2(haunted, first)
{
    EACH dx[i] += dy[i], dw[i] += dy[i];
}

CASE(check, open_all, close_all, "")

FUNCTION(detached, gra_detach(tape, in[0]))             /* no gradient at all reaches x */

TEST(zero_on_either_side)
{
    gra_check_in in[2] = { { .name = "x", .shape = { 1, { 5 } } },
                           { .name = "z", .shape = { 1, { 5 } } } };
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, in, detached, NULL), 1);
    ck_assert_msg(says("likely: all zero"), "%s", report.text);
    ck_assert(report.analytic == 0 && report.numeric != 0);
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 2, in, haunted, NULL), 1);
    ck_assert_str_eq(report.name, "z");
    ck_assert_msg(says("likely: it should be zero: the loss does not depend on z"), "%s", report.text);
}

/* ---- the worst element ----------------------------------------------------------------------- */

FUNCTION(sum_5, gra_sum(tape, element_5(tape, in, arg)))
FUNCTION(sum_7, gra_sum(tape, element_7(tape, in, arg)))

TEST(worst_element_and_its_gradients)
{
    real x[12];                         /* loss = c sum x^2: numeric gradients are as the values, 2 c x */
    double numeric[2];
    size_t places[2] = { 5, 7 };
    for (size_t i = 0; i < 12; i++)
        x[i] = (real)(1 + 0.1 * (double)(i * 5 % 12));
    for (int i = 0; i < 2; i++) {
        gra_check_in in = { .name = "w", .shape = { 2, { 3, 4 } }, .data = x };
        ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, i ? sum_7 : sum_5, NULL), 1);
        ck_assert_str_eq(report.name, "w");
        ck_assert_uint_eq(report.index, places[i]);
        ck_assert_double_eq_tol(report.analytic, -report.numeric, 1e-9);
        ck_assert_uint_eq(report.elements, 12);
        ck_assert_msg(says(i ? "w (3, 4), element 7 (row 1, column 3)"
                             : "w (3, 4), element 5 (row 1, column 1)"),
                      "%s", report.text);
        ck_assert_msg(says("wrong there: 1 of 12 elements"), "%s", report.text);
        numeric[i] = report.numeric;
        double largest = 0;             /* that of the tensor, which is the measure */
        for (size_t j = 0; j < 12; j++)
            largest = fmax(largest, x[j]);
        ck_assert_double_eq_tol(report.error, 2 * x[places[i]] / largest, 1e-7);
    }
    ck_assert_double_eq_tol(numeric[0] / numeric[1], x[5] / x[7], 1e-9);
}

TEST(the_first_of_equals_is_the_worst)
{
    gra_check_in in = { .shape = { 1, { 5 } } };
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, not_a_number, NULL), 1);
    ck_assert_uint_eq(report.index, 2);
    ck_assert(isinf(report.error) && isnan(report.analytic) && isfinite(report.numeric));
    ck_assert_msg(says("wrong there: 3 of 5 elements"), "%s", report.text);
}

FUNCTION(small, gra_add(tape, gra_full(tape, 1, GRA_SCALAR), gra_scale(tape, twice(tape, in, arg), 1e-12)))

TEST(loss_is_a_floor)
{
    gra_check_in in = { .data = (real[]){ 1 } };
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, small, NULL), 1);
    ck_assert_double_eq_tol(report.error, 2e-12 / 1e-7, 1e-7);
}

/* ---- right gradients pass -------------------------------------------------------------------- */

static gra_tensor *overwrites(gra_tape *tape, gra_tensor **in, void *arg)
{
    (void)arg;
    in[0] = gra_reshape(tape, in[0], GRA_SHAPE(2, 6));
    in[1] = gra_mul(tape, in[0], gra_exp(tape, gra_reshape(tape, in[1], GRA_SHAPE(2, 6))));
    return gra_log_softmax(tape, in[1], 0);
}

TEST(f_may_replace_its_inputs)
{
    gra_check_in in[2] = { { .name = "a", .shape = { 2, { 3, 4 } } },
                           { .name = "b", .shape = { 2, { 3, 4 } } } };
    ck_assert_msg(check(GRA_GRAD, NULL, NULL, 2, in, overwrites, NULL) == 0, "%s", report.text);
    ck_assert_uint_eq(report.elements, 24);
    ck_assert(report.error <= 1e-7);
    ck_assert_msg(strncmp(report.text, "gradient check passed", 21) == 0, "%s", report.text);
    ck_assert_int_eq(gra_check(t, &(gra_check_options){ .nin = 2, .in = in, .f = overwrites }, NULL), 0);
}

/* ---- models, dropout ------------------------------------------------------------------------- */

typedef struct net {
    gra_model    *model;
    gra_tensor   *w, *b, *w2;
    gra_check_fn *square_of_b;          /* right or wrong */
} net;

static net net_open(void)
{
    net n = { .square_of_b = right };
    gra_manual_seed(&rng, 1);
    n.model = gra_model_open(t, &rng);
    gra_scope root = gra_root(n.model);
    n.w = gra_param(gra_enter(root, "first"), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(5, 3));
    n.b = gra_param(gra_enter(root, "first"), "bias", gra_init_normal(0, 0.5), GRA_SHAPE(5));
    n.w2 = gra_param(gra_enter(root, "second"), "weight", gra_init_normal(0, 0.5), GRA_SHAPE(2, 5));
    return n;
}

static gra_tensor *net_forward(gra_tape *tape, gra_tensor **in, void *arg)
{
    net *n = arg;
    gra_tensor *b = n->square_of_b(tape, &n->b, NULL);
    gra_tensor *h = gra_dropout(tape, gra_gelu(tape, gra_linear(tape, in[0], n->w, b)), 0.4);  /* (4, 5) */
    return gra_linear(tape, h, n->w2, NULL);                                                  /* (4, 2) */
}

static const gra_check_in net_in = { .name = "x", .shape = { 2, { 4, 3 } } };

TEST(a_model_with_dropout_passes)
{
    net n = net_open();
    gra_rng copy;
    gra_manual_seed(&rng, 123);
    copy = rng;
    real was[15];
    memcpy(was, n.w->data, sizeof was);
    ck_assert_msg(check(GRA_TRAIN, &rng, n.model, 1, &net_in, net_forward, &n) == 0, "%s", report.text);
    ck_assert_uint_eq(report.elements, 15 + 5 + 10 + 12);
    ck_assert_mem_eq(was, n.w->data, sizeof was);
    ck_assert_mem_eq(&rng, &copy, sizeof rng);                          /* as before the check */
    ck_assert_msg(check(GRA_GRAD, NULL, n.model, 1, &net_in, net_forward, &n) == 0, "%s", report.text);
    gra_model_close(n.model);
}

TEST(dropout_is_on)
{
    net n = net_open();                 /* else the numbers of another mask would be the same */
    double numeric[2];
    n.square_of_b = flipped;
    for (uint64_t seed = 0; seed < 2; seed++) {
        gra_manual_seed(&rng, seed);
        ck_assert_int_eq(check(GRA_TRAIN, &rng, n.model, 1, &net_in, net_forward, &n), 1);
        ck_assert_str_eq(report.name, "first.bias");
        ck_assert_msg(says("likely: the sign is flipped"), "%s", report.text);
        numeric[seed] = report.numeric;
    }
    ck_assert(numeric[0] != numeric[1]);
    gra_model_close(n.model);
}

TEST(frozen_parameters_are_skipped)
{
    net n = net_open();
    real was[5];
    n.square_of_b = wrong_formula;
    memcpy(was, n.b->data, sizeof was);
    ck_assert_int_eq(check(GRA_GRAD, NULL, n.model, 1, &net_in, net_forward, &n), 1);
    ck_assert_str_eq(report.name, "first.bias");
    ck_assert_mem_eq(was, n.b->data, sizeof was);                       /* after a failure too */
    gra_freeze(n.b, true);
    ck_assert_msg(check(GRA_GRAD, NULL, n.model, 1, &net_in, net_forward, &n) == 0, "%s", report.text);
    ck_assert_uint_eq(report.elements, 15 + 10 + 12);
    gra_model_close(n.model);
}

static gra_tensor *freezes_b(gra_tape *tape, gra_tensor **in, void *arg)
{
    gra_freeze(((net *)arg)->b, true);
    return gra_sum(tape, in[0]);
}

TEST(frozen_during_the_check)           /* which lends the parameter a gradient, and restores its own */
{
    net n = net_open();
    const gra_real *own = n.b->grad;
    check(GRA_GRAD, NULL, n.model, 1, &net_in, freezes_b, &n);
    ck_assert(n.b->grad == own && n.b->grad_store == own && n.b->requires_grad);
    gra_model_close(n.model);
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct seen {
    real   x[1001];
    size_t n;
} seen;

static gra_tensor *look(gra_tape *tape, gra_tensor **in, void *arg)
{
    seen *s = arg;
    if (s->n == 0) {                    /* the first evaluation: no value is moved yet */
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
        { 17, -0.0005, 0.0005, -0.0005, 0.0005, 5e-6 },        /* nothing of it is far enough from 0 */
    };
    for (int c = 0; c < LENGTH(cases); c++) {
        seen s = { .n = 0 };
        gra_check_in in = { .shape = { 1, { cases[c].n } }, .low = cases[c].low, .high = cases[c].high };
        ck_assert_msg(check(GRA_GRAD, NULL, NULL, 1, &in, look, &s) == 0, "%s", report.text);
        bool sorted = true;
        for (size_t i = 0; i + 1 < s.n; i++)
            sorted &= s.x[i] < s.x[i + 1];
        ck_assert(!sorted || s.n == 1);
        qsort(s.x, s.n, sizeof *s.x, by_value);
        double sum = 0, range = cases[c].really_high - cases[c].really_low;
        for (size_t i = 0; i < s.n; i++)
            sum += s.x[i];
        ck_assert_msg(fabs(sum) >= 0.049 * range * (double)s.n, "case %d: a mean of %g", c,
                      sum / (double)s.n);
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
    gra_check_in in[2] = { { .shape = { 2, { 17, 17 } } }, { .shape = { 2, { 17, 17 } } } };
    ck_assert_msg(check(GRA_GRAD, NULL, NULL, 2, in, kinked, NULL) == 0, "%s", report.text);
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

TESTS(any_call_may_fail, 3)             /* _i: how. Until more calls than there are would have to fail */
{
    static const char *const what[] = { "matmul", "f returned NULL", "shape" };
    const gra_check_in in[2] = { { .name = "a", .shape = { 2, { 2, 3 } } },
                                 { .name = "b", .shape = { 2, { 1, 3 } } } };
    late l = { .bad = 1, .how = _i };
    for (;; l.bad++) {
        l.calls = 0;
        const int result = check(GRA_GRAD, NULL, NULL, 2, in, some_call_fails, &l);
        if (l.calls < l.bad)
            break;
        const bool moved = l.bad > 7;                   /* there f need not be defined: the check goes on */
        ck_assert_msg(says(what[_i]) || (_i == 2 && l.bad == 1) || (moved && result == 1), "call %d: %s",
                      l.bad, report.text);
        ck_assert_msg(result == -1 || moved || (_i == 2 && l.bad == 1), "call %d: %s", l.bad, report.text);
        ck_assert(report.error > 1e-6);
    }
    ck_assert_int_gt(l.bad, 20);
}

FUNCTION(backward_fails, (gra_trace_nan(tape, true), gra_sqrt(tape, gra_mul(tape, in[0], in[0]))))  /* at 0 */

enum { MANY = 16 };

static gra_tensor *of_many(gra_tape *tape, gra_tensor **in, void *arg)  /* *arg: the function of the first */
{
    gra_tensor *y = (*(gra_check_fn **)arg)(tape, in, NULL);
    for (int i = 1; i < MANY; i++)
        y = gra_add(tape, y, in[i]);
    return y;
}

TEST(more_tensors_than_an_explanation_tries)
{
    gra_check_in in[MANY];
    gra_check_fn *of_first = twice;
    for (int i = 0; i < MANY; i++)
        in[i] = (gra_check_in){ .name = "x", .shape = { 2, { 4, 4 } } };
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, MANY, in, of_many, &of_first), 1);
    ck_assert_msg(says("likely: a constant factor of 2"), "%s", report.text);
    of_first = wrong_formula;
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, MANY, in, of_many, &of_first), 1);
    ck_assert_msg(says("a clue"), "%s", report.text);
}

FUNCTION(root, gra_sqrt(tape, in[0]))

TEST(what_the_tape_does_stays)          /* gra_trace_nan and gra_keep_going are as before the check */
{
    const gra_check_in in = { .shape = { 1, { 3 } }, .low = 1, .high = 2 };
    gra_trace_nan(t, true);
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, root, NULL), 0);
    gra_begin(t, GRA_GRAD, NULL);
    gra_sqrt(t, gra_scalar(t, -1));
    ck_assert_ptr_nonnull(strstr(or_none(gra_error(t)), "sqrt: made nan"));
}

TEST(a_backward_that_fails)
{
    real x[2] = { 0, 1 };
    const gra_check_in in = { .shape = { 1, { 2 } }, .data = x };
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, backward_fails, NULL), -1);
    ck_assert_msg(says("(backward)"), "%s", report.text);
}

FUNCTION(itself, in[0])

TEST(bounds_the_wrong_way_round)
{
    static const double low[] = { 3, 0 }, high[] = { 1, -1 };
    for (int i = 0; i < 2; i++) {
        const gra_check_in in = { .shape = { 1, { 2 } }, .low = low[i], .high = high[i] };
        ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, itself, NULL), -1);
        ck_assert_msg(says("an input's low is not below its high"), "%s", report.text);
    }
}

FUNCTION(counts, gra_scale(tape, in[0], ++*(int *)arg))

TEST(what_cannot_be_checked)
{
    gra_check_in in = { .shape = { 2, { 2, 3 } } };
    int calls = 0;
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, counts, &calls), -1);
    ck_assert_msg(says("not a function of its inputs") && report.error > 1e-6, "%s", report.text);
    in.shape.dim[1] = -3;
    ck_assert_int_eq(check(GRA_GRAD, NULL, NULL, 1, &in, itself, NULL), -1);
    ck_assert_msg(says("shape"), "%s", report.text);
}

TEST(a_model_with_an_error_is_refused)
{
    net n = net_open();
    gra_keep_going(t, true);
    gra_param(gra_root(n.model), "bad", gra_init_zeros(), GRA_SHAPE(-1));
    ck_assert_int_eq(check(GRA_GRAD, NULL, n.model, 1, &net_in, net_forward, &n), -1);
    ck_assert_msg(says(gra_model_error(n.model)), "%s", report.text);
    gra_model_close(n.model);
}

/* A word that finds no room in a report is left out, with all behind it, and the text ends. */
TEST(a_text_longer_than_its_room)
{
    gra_check_line line = { .at = 0 };
    for (int i = 0; i < 300; i++)
        gra_check_put(&line, "%s", i % 3 ? "word " : "");
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
