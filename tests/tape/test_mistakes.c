/* Mistakes that the tape reports: an op whose declaration lacks something, a parameter of a closed model, a
 * parameter that changes between forward and backward, and training with dropout in GRA_GRAD. */
#include "lib/aborts.h"
#include "lib/fixture.h"
#include "lib/suites.h"

#include <sys/wait.h>

CASE(mistakes, open_all, close_all, "")

static void copy(gra_tensor *y) { memcpy(y->data, y->in[0]->data, y->size * sizeof(real)); }
static void pass(gra_tensor *y)
{
    for (size_t i = 0; i < y->size; i++)
        y->in[0]->grad[i] += y->grad[i];
}
static void save(gra_tensor *y)
{
    copy(y);
    y->saved[y->size - 1] = 3;
}

static const gra_op plain = { .name = "plain", .forward = copy, .backward = pass };
static const gra_op saves = { .name = "saves", .forward = save, .backward = pass };

static gra_tensor *input(void) { return gra_input(t, (real[]){ 1, 2 }, GRA_SHAPE(2)); }

/* MISTAKE(name, sentence, call): a test in which the call gets this sentence in each of two steps. */
#define MISTAKE(name, sentence, ...)                                                                     \
    TEST(name)                                                                                           \
    {                                                                                                    \
        for (int again = 0; again < 2; again++) {                                                        \
            gra_begin(t, GRA_GRAD, NULL);                                                                \
            __VA_ARGS__;                                                                                 \
            expect_error(sentence);                                                                      \
        }                                                                                                \
    }

MISTAKE(op_without_saved, "saves: got values written to y->saved, expected .saved in its gra_op: a function "
        "that returns how many values it saves", gra_run(gra_result_like(t, &saves, input())))
MISTAKE(op_without_args, "plain: got values written to y->args, expected .args in its gra_op: .args = "
        "sizeof(struct args) makes room for them",
        gra_tensor *y = gra_result_like(t, &plain, input());
        *(int *)y->args = 0;
        gra_run(y))
MISTAKE(op_without_either, "no error",
        gra_tensor *y = gra_run(gra_result_like(t, &plain, input()));
        ck_assert(!y->saved && !y->args))
MISTAKE(gra_run_is_forgotten, "sum: got a result of plain for input 0 that was never computed, expected one "
        "that gra_run returned: an op's public function must end with return gra_run(y)",
        gra_sum(t, gra_result_like(t, &plain, input())))

#ifdef GRADUS_DOUBLE
static gra_tensor *forgets_run(gra_tape *tape, gra_tensor **in, void *arg)
{
    (void)arg;
    return gra_result_like(tape, &plain, in[0]);
}

static gra_tensor *writes_frozen(gra_tape *tape, gra_tensor **in, void *arg)
{
    ((gra_tensor *)arg)->data[0] += 1;                  /* like running statistics */
    return gra_scale(tape, in[0], 2);
}

TEST(in_a_check)
{
    gra_check_report r;
    const gra_check_in x = { "x", GRA_SHAPE(2), 0, 0, NULL };
    gra_check_options o = { .nin = 1, .in = &x, .f = forgets_run, .model = model };
    ck_assert_int_eq(gra_check(t, &o, &r), -1);
    ck_assert_msg(strstr(r.text, "was never computed: an op's"), "%s", r.text);

    gra_tensor *p = gra_param(gra_root(model), "running", gra_init_ones(), GRA_SHAPE(2));
    gra_freeze(p, true);
    o.f = writes_frozen;
    o.arg = p;
    ck_assert_msg(gra_check(t, &o, &r) == 0, "%s", r.text);
    ck_assert(p->data[0] == 1 && p->data[1] == 1);
}
#endif

TEST(parameter_of_a_closed_model)
{
    gra_model *closed = gra_model_open(t, &rng);
    gra_tensor *w = gra_param(gra_root(closed), "w", gra_init_ones(), GRA_SHAPE(2));
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *loss = gra_sum(t, gra_mul(t, gra_add(t, w, input()), w));
    gra_model_close(closed);
    ck_assert_int_eq(gra_backward(t, loss), -1);
    expect_error("gra_backward: got the parameter w of a closed model, expected one of an open model: call "
                 "gra_model_close after the last use of its parameters");
    gra_begin(t, GRA_GRAD, NULL);
    gra_add(t, input(), w);
    expect_error("add: got the parameter w of a closed model, expected one of an open model: call "
                 "gra_model_close after the last use of its parameters");
}

TEST(optimiser_between_forward_and_backward)
{
    gra_tensor *w = gra_param(gra_root(model), "w", gra_init_ones(), GRA_SHAPE(2));
    gra_sgd opt;
    gra_sgd_init(&opt, model, NULL);
    opt.lr = 0.1;
    for (int late = 0; late < 2; late++) {
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *loss = gra_sum(t, gra_mul(t, gra_reshape(t, w, GRA_SHAPE(2, 1)), input()));
        if (late)
            gra_sgd_step(&opt);
        ck_assert_int_eq(gra_backward(t, loss), late ? -1 : 0);
        gra_sgd_step(&opt);
    }
    expect_error("gra_backward: got the parameter \"w\" (2), which an optimiser's step has changed since mul "
                 "read it, expected the values of the forward: call the step after gra_backward");
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *loss = gra_sum(t, gra_add(t, w, input()));      /* whose backward reads no values */
    gra_sgd_step(&opt);
    ck_assert_int_eq(gra_backward(t, loss), 0);
}

static void trains_in_grad_mode(void)
{
    gra_keep_going(t, false);
    gra_tensor *w = gra_param(gra_root(model), "w", gra_init_ones(), GRA_SHAPE(2));
    gra_sgd opt;
    gra_sgd_init(&opt, model, NULL);
    opt.lr = 0.1;
    for (int i = 0; i < 4; i++) {
        gra_begin(t, i == 0 ? GRA_TRAIN : GRA_GRAD, &rng);
        gra_backward(t, gra_sum(t, gra_dropout(t, w, i == 1 ? 0 : 0.5)));
        gra_sgd_step(&opt);
    }
}

TEST(dropout_in_grad_mode)
{
    char said[1000];
    ck_assert_int_eq(WEXITSTATUS(said_in_a_child(trains_in_grad_mode, said, sizeof said)), 0);
    ck_assert_str_eq(said, "gradus: gra_sgd_step: got gradients of GRA_GRAD, in which dropout does nothing, "
                     "expected GRA_TRAIN: pass it to gra_begin to train a model with dropout (this is said "
                     "only once)\n");
}
