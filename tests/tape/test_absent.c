/* Missing objects: a NULL tape or model, a closed model, a scope of zeros. There is no place for the error,
 * so the program prints it and aborts. (For layers see test_layers.c and test_layer_errors.c.) */
#include "core/tape/tape.h"
#include "lib/aborts.h"
#include "lib/fault.h"
#include "lib/fixture.h"
#include "ops/rows.h"
#include "lib/suites.h"

#define NO_TAPE  ": got NULL for the tape, expected an open one: gra_open returns NULL when there is "   \
                 "no memory"
#define NO_MODEL ": got NULL for the model, expected an open one: gra_model_open returns NULL when "     \
                 "there is no memory, or its tape is NULL"
#define NO_SCOPE ": got a scope without a model, expected one of gra_root(model), or of gra_enter: "     \
                 "begin with gra_root"
#define CLOSED   ": got a model that is closed, expected an open one: call gra_model_close after the "   \
                 "last use of the model"

/* ---- no tape ---- */

static const struct op_case *op;
static gra_tensor           *in[ROW_INPUTS];

static void op_without_a_tape(void) { op->f(NULL, in, NULL); }

CASE(absent, open_all, close_all, "")

TEST(ops_without_a_tape)
{
    gra_begin(t, GRA_GRAD, NULL);
    for (op = op_cases; op < op_cases + op_cases_count; op++) {
        note_row(op, ", without a tape");
        for (int i = 0; i < op->nin; i++)
            in[i] = draw_input(t, &rng, &op->in[i], true);
        expect_abort_ending(op_without_a_tape, NO_TAPE);
    }
}

/* In the lists below, ROW(function, arguments) is a call whose error names the same function. */
typedef struct absence {
    void      (*call)(void);
    const char *function;               /* the function its error names */
} absence;

#define CALL(function, ...)    static void call_##function(void) { function(__VA_ARGS__); }
#define ABSENCE(function, ...) { call_##function, #function },

#define WITHOUT_A_TAPE(ROW)                                                                              \
    ROW(gra_begin, NULL, GRA_GRAD, NULL)                                                                 \
    ROW(gra_backward, NULL, NULL)                                                                        \
    ROW(gra_threads, NULL)                                                                               \
    ROW(gra_isa_name, NULL)                                                                              \
    ROW(gra_keep_going, NULL, true)                                                                      \
    ROW(gra_error, NULL)                                                                                 \
    ROW(gra_trace_nan, NULL, true)                                                                       \
    ROW(gra_keep_grads, NULL, true)                                                                      \
    ROW(gra_keep_attention, NULL, true)                                                                  \
    ROW(gra_input, NULL, (real[]){ 1 }, GRA_SCALAR)                                                      \
    ROW(gra_constant, NULL, (real[]){ 1 }, GRA_SCALAR)                                                   \
    ROW(gra_borrow, NULL, (real[]){ 1 }, GRA_SCALAR)                                                     \
    ROW(gra_full, NULL, 1, GRA_SCALAR)                                                                   \
    ROW(gra_zeros, NULL, GRA_SCALAR)                                                                     \
    ROW(gra_ones, NULL, GRA_SCALAR)                                                                      \
    ROW(gra_arange, NULL, 2)                                                                             \
    ROW(gra_node_count, NULL)                                                                            \
    ROW(gra_node_at, NULL, 0)                                                                            \
    ROW(gra_print_tape, NULL)                                                                            \
    ROW(gra_fprint_tape, stderr, NULL)                                                                   \
    ROW(gra_write_dot, NULL, GRADUS_BUILD "/none.dot")                                                   \
    ROW(gra_load_npy, NULL, GRADUS_BUILD "/none.npy")                                                    \
    ROW(gra_load_npy_ints, NULL, GRADUS_BUILD "/none.npy", NULL)                                         \
    ROW(gra_empty, NULL)                                                                                 \
    ROW(gra_alloc, NULL, 1)                                                                              \
    ROW(gra_tape_rng, NULL)                                                                              \
    ROW(gra_tape_mode, NULL)
WITHOUT_A_TAPE(CALL)
static void scalar(void)         { gra_scalar(NULL, 1); }
static void argmax(void)         { gra_argmax(NULL, NULL, 0); }
static void result(void)         { gra_result_n(NULL, &(gra_op){ .name = "own" }, GRA_SCALAR, 0, NULL); }
static const absence without_a_tape[] = {
    WITHOUT_A_TAPE(ABSENCE) { scalar, "gra_scalar" }, { argmax, "argmax" }, { result, "own" },
};

static void tape_fail(void)      { gra_fail(NULL, "own: got %d, expected 2", 1); }
static void model_fail(void)     { gra_model_fail(NULL, "own: got %d, expected 2", 1); }

/* ---- no model, or one that is closed ---- */

static gra_model *absent;               /* the argument of these calls */
static gra_sgd    sgd;
static gra_adamw  adamw;
static gra_muon   muon;
static gra_tensor *p;

#define WITHOUT_A_MODEL(ROW)                                                                             \
    ROW(gra_root, absent)                                                                                \
    ROW(gra_param_count, absent)                                                                         \
    ROW(gra_param_values, absent)                                                                        \
    ROW(gra_param_at, absent, 0)                                                                         \
    ROW(gra_param_find, absent, "w")                                                                     \
    ROW(gra_zero_grad, absent)                                                                           \
    ROW(gra_model_error, absent)                                                                         \
    ROW(gra_clip_grad_norm, absent, 1)                                                                   \
    ROW(gra_sgd_init, &sgd, absent, NULL)                                                                \
    ROW(gra_adamw_init, &adamw, absent, NULL)                                                            \
    ROW(gra_muon_init, &muon, absent, NULL)                                                              \
    ROW(gra_save, absent, GRADUS_BUILD "/none", NULL, 0)                                                 \
    ROW(gra_save_all, absent, GRADUS_BUILD "/none", NULL, 0)                                             \
    ROW(gra_load, absent, GRADUS_BUILD "/none")                                                          \
    ROW(gra_load_all, absent, GRADUS_BUILD "/none")                                                      \
    ROW(gra_model_alloc, absent, 1)                                                                      \
    ROW(gra_state, absent, "own.v", p)
WITHOUT_A_MODEL(CALL)
static const absence without_a_model[] = { WITHOUT_A_MODEL(ABSENCE) };

#define OF_A_SCOPE(ROW)                                                                                  \
    ROW(gra_param, (gra_scope){ .model = absent }, "u", gra_init_ones(), GRA_SHAPE(2))                   \
    ROW(gra_enter, (gra_scope){ .model = absent }, "u")                                                  \
    ROW(gra_alias, (gra_scope){ .model = absent }, "u", p)
OF_A_SCOPE(CALL)
static const absence of_a_scope_of_zeros[] = { OF_A_SCOPE(ABSENCE) };

/* Only for a closed model: NULL is allowed, or belongs to an optimiser. */
#define OF_A_CLOSED_MODEL(ROW)                                                                           \
    ROW(gra_model_close, absent)                                                                         \
    ROW(gra_freeze, p, true)                                                                             \
    ROW(gra_bfloat16, p)                                                                                 \
    ROW(gra_sgd_step, &sgd)                                                                              \
    ROW(gra_adamw_step, &adamw)                                                                          \
    ROW(gra_muon_step, &muon)
OF_A_CLOSED_MODEL(CALL)
static const absence of_a_closed_model[] = { OF_A_CLOSED_MODEL(ABSENCE) OF_A_SCOPE(ABSENCE) };

static void expect_absence(const absence *a, const char *what)
{
    char sentence[300];
    snprintf(sentence, sizeof sentence, "%s%s", a->function, what);
    expect_abort(a->call, sentence);
}

TESTS(calls_without_a_tape, LENGTH(without_a_tape))     { expect_absence(&without_a_tape[_i], NO_TAPE); }
TESTS(calls_without_a_model, LENGTH(without_a_model))   { expect_absence(&without_a_model[_i], NO_MODEL); }
TESTS(scopes_of_zeros, LENGTH(of_a_scope_of_zeros))   { expect_absence(&of_a_scope_of_zeros[_i], NO_SCOPE); }

TEST(a_failure_without_a_tape)
{
    expect_abort(tape_fail, "own: got 1, expected 2");
    expect_abort(model_fail, "own: got 1, expected 2");
}

#ifdef GRADUS_DOUBLE
static gra_tensor *square(gra_tape *tape, gra_tensor **x, void *arg)
{
    (void)arg;
    return gra_mul(tape, x[0], x[0]);
}
static int check_with(gra_tape *tape, gra_model *m, const gra_check_in *x, gra_check_fn *f,
                      gra_check_report *r)
{
    return gra_check(tape, &(gra_check_options){ .model = m, .nin = 1, .in = x, .f = f }, r);
}
static const gra_check_in number = { .name = "x" };
static void check(void)                   { check_with(NULL, NULL, &number, square, NULL); }
static void check_of_a_closed_model(void) { check_with(t, absent, &number, square, NULL); }

TEST(a_check_of_nothing)
{
    gra_check_report r;
    absent = gra_model_open(t, NULL);
    gra_model_close(absent);
    expect_absence(&(absence){ check, "gra_check" }, NO_TAPE);
    expect_absence(&(absence){ check_of_a_closed_model, "gra_check" }, CLOSED);
    ck_assert_int_eq(check_with(t, NULL, &number, NULL, &r), -1);
    ck_assert_msg(strstr(r.text, "got NULL for f, expected the function"), "%s", r.text);
    ck_assert_int_eq(gra_check(t, NULL, &r), -1);
    ck_assert_msg(strstr(r.text, "got NULL for f, expected the function"), "%s", r.text);
    ck_assert_int_eq(check_with(t, NULL, NULL, square, &r), -1);
    ck_assert_msg(strstr(r.text, "got NULL for the inputs, expected as many as nin"), "%s", r.text);
}
#endif

/* ---- closing ---- */

static void close_what_optimisers_hold(void)
{
    absent = gra_model_open(t, &rng);
    p = gra_param(gra_root(absent), "w", gra_init_ones(), GRA_SHAPE(2, 2));
    gra_sgd_init(&sgd, absent, NULL);
    gra_adamw_init(&adamw, absent, NULL);
    gra_muon_init(&muon, absent, NULL);
    sgd.lr = adamw.lr = muon.lr = 1;
    gra_model_close(absent);
}

TESTS(calls_with_a_closed_model, LENGTH(without_a_model) + LENGTH(of_a_closed_model))
{
    const int n = LENGTH(without_a_model);
    close_what_optimisers_hold();
    expect_absence(_i < n ? &without_a_model[_i] : &of_a_closed_model[_i - n], CLOSED);
}

/* A closed model is recognised as long as its struct is kept: while its tape or another model of the tape is
 * open, and fewer than 64 models have been closed since. */
TEST(a_closed_model_among_others)
{
    enum { KEPT = 64 };
    const long none = fault_held();
    gra_tape *own = gra_open(1);
    gra_model *last = gra_model_open(own, NULL);
    const long held = fault_held();
    absent = gra_model_open(own, NULL);
    gra_model_close(absent);
    ck_assert(!fault_wrapped() || fault_held() == held + 1);
    gra_close(own);
    expect_absence(&(absence){ call_gra_clip_grad_norm, "gra_clip_grad_norm" }, CLOSED);
    gra_model_close(last);
    ck_assert_int_eq((int)(fault_held() - none), 0);

    const long with_tape = fault_held();                /* and the model that open_all opened on it */
    for (int i = 1; i <= 3 * KEPT; i++) {
        gra_model *m = gra_model_open(t, NULL);
        gra_model_close(m);
        absent = i == 2 * KEPT + 1 ? m : absent;
        ck_assert(!fault_wrapped() || fault_held() == with_tape + (i < KEPT ? i : KEPT));
    }
    expect_absence(&(absence){ call_gra_clip_grad_norm, "gra_clip_grad_norm" }, CLOSED);
}
