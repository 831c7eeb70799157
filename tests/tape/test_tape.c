/* The tape: gradients, and errors. */
#include "core/tape/tape.h"
#include "lib/aborts.h"
#include "lib/fixture.h"
#include "lib/suites.h"

#include <stdlib.h>

static void open_tape(void) { open_all(); gra_begin(t, GRA_GRAD, NULL); }

static gra_tensor *number(double v)
{
    return gra_input(t, (real[]){ (real)v }, GRA_SCALAR);
}

static gra_tensor *param(gra_shape shape)               /* of ones */
{
    return gra_param(gra_root(model), "p", gra_init_ones(), shape);
}

/* ---- gradients ---- */

CASE(tape, open_tape, close_all, "")

TEST(a_long_chain_needs_no_stack)
{
    gra_tensor *x = number(1), *y = x;
    for (int i = 0; i < 100000; i++)
        y = gra_add(t, y, x);
    ck_assert_double_eq(gra_item(y), 100001);
    ck_assert_int_eq(gra_backward(t, y), 0);
    ck_assert_double_eq((double)gra_grad(x)[0], 100001);
}

TEST(retained_gradients)                /* a view's gradient lives as long as its base's */
{
    gra_tensor *x = gra_input(t, (real[]){ 1, 2, 3, 4 }, GRA_SHAPE(2, 2));
    gra_tensor *y = gra_mul(t, x, x), *view = gra_reshape(t, y, GRA_SHAPE(4));
    gra_tensor *sum = gra_scale(t, gra_sum(t, gra_mul(t, view, view)), 2);
    gra_retain_grad(view);
    gra_retain_grad(sum);
    gra_backward(t, gra_add(t, gra_scale(t, sum, 0.5), gra_sum(t, y)));
    ck_assert_double_eq((double)gra_grad(sum)[0], 0.5);
    for (int i = 0; i < 4; i++) {       /* x^4 + x^2 */
        double v = i + 1;
        ck_assert_double_eq((double)gra_grad(x)[i], 4 * v * v * v + 2 * v);
        ck_assert_double_eq((double)gra_grad(view)[i], 2 * v * v + 1);
    }
}

TEST(the_loss_may_be_a_parameter)               /* whose gradient adds up */
{
    gra_tensor *p = param(GRA_SCALAR);
    for (int step = 1; step <= 2; step++) {
        gra_begin(t, GRA_GRAD, NULL);
        ck_assert_int_eq(gra_backward(t, p), 0);
        ck_assert_double_eq((double)p->grad[0], step);
    }
    for (int step = 3; step <= 4; step++) {             /* and seen as another shape */
        gra_begin(t, GRA_GRAD, NULL);
        ck_assert_int_eq(gra_backward(t, gra_reshape(t, p, GRA_SHAPE(1))), 0);
        ck_assert_double_eq((double)p->grad[0], step);
    }
    gra_zero_grad(model);
    ck_assert_double_eq((double)p->grad[0], 0);
}

TEST(a_frozen_parameter_gets_nothing)
{
    gra_tensor *p = param(GRA_SCALAR);
    gra_freeze(p, true);
    gra_tensor *x = number(2);
    gra_backward(t, gra_mul(t, p, x));
    ck_assert_ptr_null(gra_grad(p));
    ck_assert_double_eq((double)gra_grad(x)[0], 1);
    gra_freeze(p, false);
    gra_begin(t, GRA_GRAD, NULL);
    gra_backward(t, gra_mul(t, p, number(2)));
    ck_assert_double_eq((double)gra_grad(p)[0], 2);
}

TEST(a_parameter_frozen_after_the_forward)
{
    gra_tensor *p = param(GRA_SHAPE(2));
    gra_tensor *scalar = gra_param(gra_root(model), "s", gra_init_ones(), GRA_SCALAR);
    gra_tensor *x = gra_input(t, (real[]){ 1, 2 }, GRA_SHAPE(2));
    gra_tensor *view = gra_reshape(t, p, GRA_SHAPE(2, 1));
    gra_tensor *y = gra_add(t, gra_sum(t, gra_relu(t, p)), gra_sum(t, gra_mul(t, view, x)));
    gra_freeze(p, true);
    ck_assert_int_eq(gra_backward(t, y), 0);
    ck_assert_ptr_null(p->grad);
    ck_assert_double_eq((double)gra_grad(x)[1], 2);
    gra_freeze(p, false);
    ck_assert_double_eq((double)p->grad[0], 0);
    gra_begin(t, GRA_GRAD, NULL);
    gra_freeze(p, false);
    gra_tensor *loss = gra_reshape(t, gra_sum(t, p), GRA_SHAPE(1));
    gra_freeze(p, true);
    ck_assert_int_eq(gra_backward(t, loss), 0);
    gra_freeze(p, false);
    gra_begin(t, GRA_GRAD, NULL);
    view = gra_reshape(t, scalar, GRA_SCALAR);          /* the loss itself has no gradient to begin with */
    gra_freeze(scalar, true);
    ck_assert_int_eq(gra_backward(t, view), 0);
    ck_assert_ptr_null(scalar->grad);
    gra_freeze(scalar, false);
    ck_assert_double_eq((double)scalar->grad[0], 0);
}

/* ---- errors ---- */

static void multiply_wrongly(void)
{
    gra_keep_going(t, false);
    gra_matmul(t, gra_full(t, 1, GRA_SHAPE(6, 3)), gra_full(t, 1, GRA_SHAPE(2, 3)));
}

TEST(errors_abort_by_default)
{
    expect_abort(multiply_wrongly, "matmul: got a (6, 3) and b (2, 3): the inner sizes 3 and 2 differ");
}

/* Headers of many sizes: of 1, 3 and 7 inputs, with and without arguments. */
static gra_tensor *of_many_sizes(int n)
{
    gra_tensor *x = gra_full(t, 1, GRA_SHAPE(1, 2, 4)), *y = x;
    for (int i = 0; i < n; i++)
        switch (i % 4) {
        case 0: y = gra_attention(t, y, x, x, &(gra_attention_options){ .heads = 2, .causal = true }); break;
        case 1: y = gra_scale(t, y, 1); break;
        case 2: y = gra_slice(t, gra_concat(t, 7, (gra_tensor *[]){ y, x, x, x, x, x, x }, 1), 1, 0,
                              2); break;
        case 3: y = gra_full(t, i, GRA_SHAPE(1, 2, 4)); break;
        }
    return y;
}

/* A tensor of the previous step is refused, whatever tensors the next steps make; an older tensor is refused
 * while less than 128 KiB of headers have been made since. Here the oldest tensor is 40 steps old. */
TEST(tensors_of_steps_of_other_sizes)
{
    gra_tensor *old[40];
    for (int round = 0; round < 30; round++) {
        old[0] = gra_full(t, 1, GRA_SHAPE(2, 3));
        for (int i = 1; i < 40; i++)
            old[i] = gra_scale(t, old[i - 1], 2);
        for (int i = 0; i < 40; i++) {
            gra_begin(t, i % 2 ? GRA_EVAL : GRA_GRAD, NULL);
            of_many_sizes(i % 11);
            gra_neg(t, old[(7 * i + 39) % 40]);
            expect_part("neg: got a tensor of another step or tape for input 0");
        }
        gra_begin(t, GRA_GRAD, NULL);
    }
}

TEST(tensors_of_a_step_of_thousands)
{
    enum { MANY = 4000 };
    static gra_tensor *old[MANY];
    for (int step = 0; step < 12; step++) {
        for (int i = 0; i < MANY; i++)
            old[i] = gra_full(t, 1, GRA_SCALAR);
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *y = of_many_sizes(step % 3 ? 6000 : 3);
        for (int i = 0; i < MANY; i++)
            ck_assert(old[i] != y && (!y->prev || old[i] != y->prev) && old[i]->step + 1 == y->step);
        gra_neg(t, old[step * 333 % MANY]);
        expect_part("neg: got a tensor of another step or tape for input 0");
        gra_begin(t, GRA_GRAD, NULL);
    }
}

/* The step's memory grows in its middle, so the next step joins the pieces. The memory of the old tensors'
 * values then belongs to the system again, but their headers can still be read. */
TEST(a_tensor_of_a_large_step)
{
    enum { MANY = 1 << 15 };
    gra_tensor *old[300];
    for (int i = 0; i < 300; i++)
        old[i] = i % 100 ? gra_scale(t, old[i - 1], 1) : gra_full(t, 1, GRA_SHAPE(i ? MANY : 1));
    for (int step = 0; step < 4; step++)
        for (int i = 0; i < 300; i += 23) {
            gra_begin(t, GRA_GRAD, NULL);
            gra_exp(t, old[i]);
            expect_part("exp: got a tensor of another step or tape for input 0");
        }
}

static void count(gra_tensor *y, size_t from, size_t to)
{
    y->data[0] += (real)(to - from);
}
GRA_KERNEL(count_all, count, y, 5, 0)
static void count_forward(gra_tensor *y)
{
    y->data[0] = 0;
    count_all(y);
}

TEST(units_that_cost_nothing)           /* all results are computed nevertheless */
{
    static const gra_op op = { .name = "count", .forward = count_forward };
    ck_assert_double_eq(gra_item(gra_run(gra_result_like(t, &op, number(1)))), 5);
}

TEST(a_second_backward_is_refused)
{
    gra_tensor *x = number(3), *y = gra_mul(t, x, x);
    ck_assert_int_eq(gra_backward(t, y), 0);
    ck_assert_int_eq(gra_backward(t, y), -1);
    expect_part("got a second call in this step");
    ck_assert_double_eq((double)x->grad[0], 6);
}

TEST(an_op_before_the_first_step)
{
    gra_tape *fresh = gra_open(1);
    gra_keep_going(fresh, true);
    gra_full(fresh, 1, GRA_SCALAR);
    ck_assert_ptr_nonnull(gra_error(fresh));
    ck_assert_ptr_nonnull(strstr(gra_error(fresh), "no step has begun: call gra_begin first"));
    gra_close(fresh);
}

TEST(the_library_is_of_the_headers_version)
{
    ck_assert_int_eq(gra_version(), GRADUS_VERSION);
}

TEST(an_instruction_set_that_is_not_there)
{
    static const char *const wish[] = { "avx3", "AVX2", "a word that is longer than any name", "", "base" };
    for (int i = 0; i < 5; i++) {
        setenv("GRADUS_ISA", wish[i], 1);
        gra_tape *asked = gra_open(1);
        unsetenv("GRADUS_ISA");
        gra_tape *best = gra_open(1);
        gra_keep_going(asked, true);
        ck_assert(i == 4 || strcmp(gra_isa_name(asked), gra_isa_name(best)) == 0);
        for (int step = 0; step < 2; step++) {
            gra_begin(asked, GRA_GRAD, NULL);
            ck_assert_int_eq(gra_error(asked) != NULL, i < 3);
            ck_assert(i >= 3 || strstr(gra_error(asked), i == 0 ? "got GRADUS_ISA=avx3, expected base"
                                                                : "expected"));
            gra_tensor *two = gra_input(asked, (real[]){ 2 }, GRA_SCALAR);
            ck_assert_int_eq(gra_backward(asked, two), i < 3 ? -1 : 0);
        }
        gra_close(asked);
        gra_close(best);
    }
}

/* ---- what is refused ---- */

static gra_tensor *ones(gra_shape shape) { return gra_full(t, 1, shape); }

static gra_tensor *stale;               /* of the step before the call, as are these: */
static gra_tensor *stale_number;        /* an input of one value, with its gradient, */
static gra_tensor *stale_attention;     /* and a result of gra_attention */
static gra_tensor *product;             /* x x, on which gra_backward was called */

static void backward(gra_tensor *x)
{
    product = gra_mul(t, x, x);
    gra_backward(t, gra_mul(t, product, product));
}

static void nothing(void *watcher, void *piece, size_t bytes) { (void)watcher, (void)piece, (void)bytes; }

/* REFUSED(name, sentence, call): a test in a step with the tensors above. The sentence is part of the
 * error. */
#define REFUSED(name, sentence, ...)                                                                     \
    static void name(void) { __VA_ARGS__; }                                                              \
    TEST(refused_##name) { refuse(name, sentence); }

static void refuse(void (*call)(void), const char *sentence)    /* the next step knows nothing of it */
{
    gra_keep_attention(t, true);
    stale = ones(GRA_SHAPE(2, 5));
    stale_number = number(5);
    gra_tensor *x = gra_reshape(t, stale, GRA_SHAPE(1, 2, 5));
    stale_attention = gra_attention(t, x, x, x, &(gra_attention_options){ .heads = 1 });
    gra_backward(t, stale_number);
    ck_assert_double_eq(gra_item(stale_number), 5);
    gra_begin(t, GRA_GRAD, NULL);
    gra_full(t, 7, GRA_SHAPE(1000));                    /* where the values of that step were */
    call();
    expect_part(sentence);
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_ptr_null(gra_error(t));
    ck_assert_double_eq(gra_item(number(2)), 2);
}

static void no_backward(gra_tensor *y) { ck_assert_int_eq(gra_backward(t, y), -1); }

#define ANOTHER ": got a tensor of another step or tape for input "
#define STALE   ": got a tensor of an earlier step, expected one of this step: call "
#define FIT     "expected sizes of 0 or more that fit in memory"
#define ROW_OF_3 ones(GRA_SHAPE(3))

REFUSED(input_null, "add: got NULL for input 1", gra_add(t, number(1), NULL))
REFUSED(data_null, "gra_input: got NULL for the data, expected the 3 values of (3)",
        gra_input(t, NULL, GRA_SHAPE(3)))
REFUSED(constant_null, "gra_constant: got NULL for the data, expected the 2 values of (2)",
        gra_constant(t, NULL, GRA_SHAPE(2)))
REFUSED(stale_bias, "linear" ANOTHER "2", gra_linear(t, ones(GRA_SHAPE(1, 3)), ones(GRA_SHAPE(4, 3)), stale))
REFUSED(stale_gain, "layer_norm" ANOTHER "1", gra_layer_norm(t, ROW_OF_3, stale, NULL, 1e-5))
REFUSED(stale_shift, "layer_norm" ANOTHER "2", gra_layer_norm(t, ROW_OF_3, NULL, stale, 1e-5))
REFUSED(stale_scale, "rms_norm" ANOTHER "1", gra_rms_norm(t, ROW_OF_3, stale, 1e-6))
REFUSED(stale_of_an_own_op, "twice" ANOTHER "0",
        static const gra_op op = { .name = "twice" };
        gra_run(gra_result(t, &op, GRA_SCALAR, stale)))
REFUSED(another_tape, "tanh" ANOTHER "0",
        gra_tape *other = gra_open(1);
        gra_begin(other, GRA_GRAD, NULL);
        gra_tanh(t, gra_input(other, (real[]){ 1 }, GRA_SCALAR));
        gra_close(other))
REFUSED(overflow, FIT, ones(GRA_SHAPE(1 << 30, 1 << 30, 1 << 30)))
REFUSED(negative, "gra_ones: got the shape (2, -1), " FIT, gra_ones(t, GRA_SHAPE(2, -1)))
REFUSED(nine_dimensions, "gra_zeros: got 9 dimensions, expected at most 8",
        gra_zeros(t, (gra_shape){ .ndim = 9 }))
REFUSED(fewer_than_none, "gra_full: got the shape (), " FIT, ones((gra_shape){ .ndim = -1 }))
REFUSED(too_large, ADDRESSES_OF_32_BITS ? "fit in memory" : "out of memory",
        ck_assert_uint_eq(ones(GRA_SHAPE(1 << 30, 1 << 15))->size, 0))
REFUSED(too_large_to_watch, "out of memory",            /* with the room around it, the size would overflow */
        static const gra_watch watch = { .on_alloc = nothing };
        gra_tape_watch(t, GRA_WATCH_CHECK, &watch, NULL);
        ck_assert_ptr_null(gra_alloc(t, SIZE_MAX));
        gra_tape_watch(t, GRA_WATCH_CHECK, NULL, NULL))
REFUSED(item_of_many, "(2, 3)", ck_assert(isnan(gra_item(ones(GRA_SHAPE(2, 3))))))
REFUSED(unseeded, "dropout: got a generator that was never seeded, expected a seeded one: call "
        "gra_manual_seed(&rng, 123) first",
        static gra_rng none;
        gra_begin(t, GRA_TRAIN, &none);
        gra_dropout(t, number(1), 0.5))
REFUSED(many_arguments, "greedy: got 193 bytes of args, expected at most 192 (GRA_MAX_ARGS)",
        static const gra_op op = { .name = "greedy", .args = GRA_MAX_ARGS + 1 };
        gra_run(gra_result_like(t, &op, number(1))))
REFUSED(stale_item, "gra_item" STALE "gra_item before the next gra_begin",
        ck_assert(isnan(gra_item(stale_number))))
REFUSED(stale_grad, "gra_grad" STALE "gra_grad before the next gra_begin",
        ck_assert_ptr_null(gra_grad(stale_number)))
REFUSED(stale_print, "gra_print" STALE, gra_print(stale_number))
REFUSED(stale_weights, "gra_attention_weights" STALE,
        ck_assert(gra_attention_weights(stale_attention) == gra_empty(t)))
REFUSED(stale_retain, "gra_retain_grad" STALE,
        gra_retain_grad(stale_number);
        ck_assert(!stale_number->retain_grad))
REFUSED(grad_too_early, "before gra_backward, expected a call after it",
        ck_assert_ptr_null(gra_grad(number(3))))
REFUSED(grad_of_unused, "expected one on which the loss depends",
        gra_tensor *x = number(2);
        backward(number(1));
        ck_assert_ptr_null(gra_grad(x)))
REFUSED(grad_of_recycled, "gra_retain_grad", backward(number(1)); ck_assert_ptr_null(gra_grad(product)))
REFUSED(grad_of_constant, "which needs no gradient",
        gra_tensor *c = ROW_OF_3;
        gra_backward(t, gra_sum(t, gra_mul(t, c, number(2))));
        ck_assert_ptr_null(gra_grad(c)))
REFUSED(loss_of_many, "got the loss (2), expected one value",
        no_backward(gra_input(t, (real[]){ 1, 2 }, GRA_SHAPE(2))))
REFUSED(loss_of_constants, "depends on no parameter", no_backward(gra_sum(t, ones(GRA_SHAPE(2)))))
REFUSED(loss_in_eval, "got a step of GRA_EVAL",
        gra_begin(t, GRA_EVAL, NULL);
        gra_tensor *y = gra_mul(t, number(2), number(3));
        ck_assert(gra_item(y) == 6 && !y->requires_grad);
        no_backward(y))

TEST(a_parameter_is_of_every_step)
{
    gra_tensor *p = gra_param(gra_root(model), "one", gra_init_ones(), GRA_SHAPE(1));
    gra_backward(t, gra_reshape(t, p, GRA_SCALAR));
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert(gra_item(p) == 1 && gra_grad(p)[0] == 1);
    gra_retain_grad(p);
    gra_print(p);
    expect_error("no error");
}

/* After an error, the empty tensor that an op returned may still be read, and its gra_item is NaN. */
TEST(the_empty_tensor_is_of_every_step)
{
    gra_tensor *y = gra_add(t, number(1), NULL);
    ck_assert(isnan(gra_item(y)) && !gra_grad(y));
    gra_print(y);
    gra_begin(t, GRA_GRAD, NULL);
    gra_print(y);
    expect_error("no error");
    ck_assert(isnan(gra_item(y)));
    expect_error("gra_item: got x () with 0 values, expected one value");
}

TEST(nothing_is_no_error_without_a_tape)
{
    ck_assert_ptr_null(gra_grad(NULL));
    ck_assert(isnan(gra_item(NULL)));
    gra_retain_grad(NULL);
    gra_freeze(NULL, true);
    gra_print(NULL);
    ck_assert(isnan(gra_item(param(GRA_SHAPE(2)))));
}
