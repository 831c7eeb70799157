/* Models: names, initialisers, iteration. */
#include "core/model/model.h"
#include "lib/aborts.h"
#include "lib/alone.h"
#include "lib/fault.h"
#include "lib/fixture.h"
#include "lib/low_memory.h"
#include "lib/suites.h"

#include <errno.h>
#include <unistd.h>

static gra_tensor *param(const char *name, gra_shape shape)     /* of ones */
{
    return gra_param(gra_root(model), name, gra_init_ones(), shape);
}

CASE(model, open_all, close_all, "")

TEST(names_come_from_scopes)
{
    gra_scope block = gra_enter(gra_enter(gra_root(model), "trf_blocks.%d", 7), "att");
    gra_tensor *w = gra_param(block, "weight", gra_init_ones(), GRA_SHAPE(2, 3));
    gra_tensor *b = gra_param(gra_root(model), "bias", gra_init_zeros(), GRA_SHAPE(3));
    ck_assert_str_eq(w->name, "trf_blocks.7.att.weight");
    ck_assert_str_eq(b->name, "bias");
    ck_assert_int_eq(gra_param_count(model), 2);
    ck_assert_int_eq((int)gra_param_values(model), 9);
    ck_assert_ptr_eq(gra_param_at(model, 0), w);
    ck_assert_ptr_eq(gra_param_at(model, 1), b);
    ck_assert_ptr_null(gra_param_at(model, 2));
    ck_assert_ptr_null(gra_param_at(model, -1));
    ck_assert_ptr_eq(gra_param_find(model, "trf_blocks.7.att.weight"), w);
    ck_assert_ptr_null(gra_param_find(model, "weight"));
    ck_assert_ptr_null(gra_param_find(model, NULL));
    gra_model *empty = model_alone(NULL);
    ck_assert_ptr_null(gra_param_find(empty, "weight"));
    gra_model_close(empty);
    ck_assert_int_eq((int)w->size, 6);
    ck_assert(w->requires_grad && w->grad && w->shape.ndim == 2 && w->shape.dim[1] == 3);
}

static void make_a_bad_shape(void)
{
    gra_keep_going(t, false);
    param("w", GRA_SHAPE(-1));
}

TEST(an_error_aborts_by_default)
{
    expect_abort(make_a_bad_shape,
            "gra_param: w: got the shape (-1), expected positive sizes that fit in memory");
}

TEST(the_first_error_stays)
{
    gra_tensor *w = param("w", GRA_SHAPE(2));
    gra_tensor *v = gra_state(model, "sgd.momentum", w);
    gra_model_fail(model, "the first");
    ck_assert_int_eq(gra_load(model, GRADUS_BUILD "/none"), -1);
    ck_assert_ptr_null(gra_state(model, "sgd.momentum", w));
    ck_assert_ptr_null(param("u", GRA_SHAPE(2)));
    expect_model_part("the first");
    ck_assert(v && gra_owned_count(model) == 2);
}

TEST(names_of_many_parameters)    /* each is found, and keeps its place */
{
    enum { LAYERS = 300 };
    for (int i = 0; i < LAYERS; i++) {
        gra_scope s = gra_enter(gra_root(model), "blocks.%d", i);
        gra_tensor *w = gra_param(s, "weight", gra_init_ones(), GRA_SHAPE(1));
        gra_tensor *b = gra_param(s, "bias", gra_init_zeros(), GRA_SHAPE(1));
        ck_assert(w && gra_state(model, "sgd.momentum_buffer", w));
        ck_assert(b && gra_state(model, "sgd.momentum_buffer", b));
    }
    ck_assert_int_eq(gra_param_count(model), 2 * LAYERS);
    for (int i = 0; i < 2 * LAYERS; i++) {
        gra_tensor *p = gra_param_at(model, i);
        ck_assert_ptr_eq(gra_param_find(model, p->name), p);
        ck_assert_str_eq(gra_state(model, "sgd.momentum_buffer", p)->name + strlen("sgd.momentum_buffer."),
                         p->name);
    }
    ck_assert_ptr_null(gra_param_find(model, "blocks.300.weight"));
    ck_assert_ptr_null(gra_param_find(model, ""));
    ck_assert_ptr_null(param("blocks.7.bias", GRA_SHAPE(2)));
    expect_model_part("got the name blocks.7.bias a second time");
}

TEST(an_alias)
{
    gra_tensor *w = param("w", GRA_SHAPE(2, 3));
    gra_alias(gra_enter(gra_root(model), "head"), "weight", w);
    ck_assert_ptr_null(gra_model_error(model));
    ck_assert_int_eq(gra_param_count(model), 1);            /* an alias is not a parameter */
    ck_assert_ptr_null(gra_param_find(model, "head.weight"));
    ck_assert_int_eq(gra_alias_count(model), 1);
    const gra_tensor *a = gra_alias_at(model, 0);
    ck_assert_str_eq(a->name, "head.weight");
    ck_assert(a->data == w->data && a->base == w && gra_same_shape(a->shape, w->shape) && a->size == 6);
    gra_scope head = gra_enter(gra_root(model), "head");
    ck_assert_ptr_null(gra_param(head, "weight", gra_init_ones(), GRA_SHAPE(2)));
    expect_model_part("gra_param: got the name head.weight a second time");
}

TEST(an_alias_without_memory)                   /* each allocation fails in turn */
{
    bool well = !fault_wrapped();
    gra_model *r;
    for (size_t lines = 0; !well && (r = low_memory_model(NULL, lines, 0)); lines++) {
        gra_alias(gra_root(r), "head", gra_param_find(r, "first"));
        fault_disarm();
        well = !gra_model_error(r);
        ck_assert_msg(well || strncmp(gra_model_error(r), "out of memory: ", 15) == 0, "%s",
                      gra_model_error(r));
        ck_assert_int_eq(gra_alias_count(r), 1 + well);
        gra_model_close(r);
    }
    ck_assert(well);
}

TEST(random_values_without_a_generator)
{
    static gra_rng unseeded;
    gra_rng *none[] = { NULL, &unseeded };
    for (int i = 0; i < 2; i++) {
        gra_model *own = model_alone(none[i]);
        ck_assert_ptr_nonnull(gra_param(gra_root(own), "b", gra_init_zeros(), GRA_SHAPE(2)));
        ck_assert_ptr_null(gra_param(gra_root(own), "w", gra_init_linear(2), GRA_SHAPE(2, 2)));
        ck_assert_str_eq(gra_model_error(own), i == 0 ?
            "gra_param: w: got no generator for its random values, expected a seeded one: pass it to "
            "gra_model_open" :
            "gra_param: w: got a generator that was never seeded for its random values, expected a seeded "
            "one: call gra_manual_seed first");
        gra_model_close(own);
    }
}

TEST(a_failed_file_leaves_the_model_usable)
{
    param("w", GRA_SHAPE(2));
    ck_assert_int_eq(gra_save(model, "/nowhere/at/all", NULL, 0), -1);
    expect_model_part("/nowhere/at/all: ");
    ck_assert_ptr_nonnull(param("b", GRA_SHAPE(2)));
    ck_assert_int_eq(gra_save(model, GRADUS_BUILD "/model_suite.safetensors", NULL, 0), 0);
    ck_assert_ptr_null(gra_model_error(model));
}

TEST(an_unusable_model_has_no_file)             /* and keeps its first error, unless it came from a file */
{
    param("w", GRA_SHAPE(2));
    ck_assert_int_eq(gra_save(model, GRADUS_BUILD "/model_suite.safetensors", NULL, 0), 0);
    ck_assert_int_eq(gra_load(model, "/nowhere/at/all"), -1);
    gra_model_fail(model, "the first");
    ck_assert_int_eq(gra_load(model, GRADUS_BUILD "/model_suite.safetensors"), -1);
    unlink(GRADUS_BUILD "/model_suite.safetensors");
    ck_assert_int_eq(gra_save(model, GRADUS_BUILD "/model_suite.safetensors", NULL, 0), -1);
    ck_assert_int_eq(access(GRADUS_BUILD "/model_suite.safetensors", F_OK), -1);
    ck_assert_str_eq(gra_model_error(model), "the first");
}

TEST(initialisers)                      /* the draws of the generator with these numbers, bit for bit */
{
    enum { OUT = 12, IN = 8, N = OUT * IN };
    const double xavier = sqrt(6.0 / (OUT + IN)), linear = 1 / sqrt(IN);
    static const gra_shape matrix = { 2, { OUT, IN } }, vector = { 1, { N } };
    const struct {
        gra_init  init;
        gra_shape shape;
        double    low, high, std;       /* std 0: uniform from low to high; otherwise normal with mean low */
    } row[] = {
        { gra_init_zeros(),        matrix, 0, 0, 0 },
        { gra_init_ones(),         matrix, 1, 1, 0 },
        { gra_init_uniform(-1, 3), matrix, -1, 3, 0 },
        { gra_init_normal(2, 3),   matrix, 2, 0, 3 },
        { gra_init_xavier(),       matrix, -xavier, xavier, 0 },
        { gra_init_linear(IN),     vector, -linear, linear, 0 },
        { gra_init_uniform(2, 2),  vector, 2, 2, 0 },
        { gra_init_kaiming(),      matrix, 0, 0, sqrt(2.0 / IN) },
        { gra_init_linear(IN),     matrix, -linear, linear, 0 },
    };
    for (int i = 0; i < LENGTH(row); i++) {
        gra_rng same = rng;
        real want[N];
        gra_tensor *p = gra_param(gra_enter(gra_root(model), "%d", i), "w", row[i].init, row[i].shape);
        if (row[i].std > 0)
            gra_normal(&same, want, N, row[i].low, row[i].std);
        else
            gra_uniform(&same, want, N, row[i].low, row[i].high);
        for (int j = 0; j < N; j++)
            ck_assert_msg(p->data[j] == want[j], "initialiser %d: value %d is %.9g, expected %.9g", i, j,
                          (double)p->data[j], (double)want[j]);
    }
}

TEST(companions_belong_to_a_parameter)
{
    gra_tensor *p = param("w", GRA_SHAPE(2, 3));
    gra_tensor *v = gra_state(model, "adamw.exp_avg", p), *u = gra_state(model, "adamw.exp_avg_sq", p);
    ck_assert_str_eq(v->name, "adamw.exp_avg.w");
    ck_assert_ptr_ne(u, v);
    ck_assert_ptr_eq(gra_state(model, "adamw.exp_avg", p), v);
    ck_assert(v->size == 6 && v->data[5] == 0 && !v->requires_grad);
    ck_assert_int_eq(gra_param_count(model), 1);
    ck_assert_int_eq(gra_owned_count(model), 3);
    ck_assert(gra_owned_at(model, 0) == p && gra_owned_at(model, 1) == v && gra_owned_at(model, 2) == u);
    ck_assert(!gra_owned_at(model, 3) && !gra_owned_at(model, -1));
    ck_assert(!gra_model_error(model));
}

/* ---- frozen parameters ---- */

TEST(a_frozen_gradient_takes_no_memory)         /* and is 0 when the parameter is no longer frozen */
{
    gra_tensor *p = param("w", GRA_SHAPE(3, 5));
    const long held = fault_held();
    ck_assert_uint_eq((uintptr_t)p->grad % 64, 0);
    for (int i = 0; i < 2; i++) {               /* the second time changes nothing */
        p->grad[14] = 3;
        gra_freeze(p, false);
        ck_assert(p->grad[14] == 3 && p->requires_grad);
    }
    for (int i = 0; i < 2; i++) {
        gra_freeze(p, true);
        ck_assert(!p->grad && !p->requires_grad);
        if (fault_wrapped())
            ck_assert_int_eq(fault_held(), held - 1);
    }
    gra_freeze(p, false);
    ck_assert_int_eq(fault_held(), held);
    for (size_t i = 0; i < p->size; i++)
        ck_assert(p->grad[i] == 0);
}

TEST(no_memory_for_a_gradient)                  /* the parameter stays frozen */
{
    gra_tensor *p = param("w", GRA_SHAPE(3, 5));
    gra_freeze(p, true);
    fault_arm(FAULT_ALLOC, 1, ENOMEM, true);
    gra_freeze(p, false);
    fault_disarm();
    if (!fault_wrapped())
        return;
    ck_assert(!p->grad && !p->requires_grad);
    expect_model_part("out of memory: the gradient of w needs ");
}

/* ---- what is refused ---- */

/* REFUSED(name, sentence, call): the model already has a parameter w, and the call makes nothing. The
 * sentence is part of the error. REFUSED_AFTER: the call first makes n tensors. */
#define REFUSED(name, sentence, ...) REFUSED_AFTER(0, name, sentence, __VA_ARGS__)
#define REFUSED_AFTER(n, name, sentence, ...)                                                            \
    TEST(refused_##name)                                                                                 \
    {                                                                                                    \
        param("w", GRA_SHAPE(2, 3));                                                                     \
        __VA_ARGS__;                                                                                     \
        expect_model_part(sentence);                                                                     \
        ck_assert_int_eq(gra_owned_count(model), 1 + n);                                                 \
    }

static void begin(gra_init init, gra_shape shape) { gra_param(gra_root(model), "u", init, shape); }
static void no_alias(gra_tensor *of)
{
    gra_alias(gra_root(model), "head", of);
    ck_assert_int_eq(gra_alias_count(model), 0);
}
static gra_tensor *first(void) { return (gra_tensor *)gra_param_find(model, "w"); }

#define FINITE ", expected finite numbers"
#define TWICE  " a second time, expected a new one"
#define NO_PARAMETER "gra_alias: head: got a tensor that is no parameter of this model, expected one that is"
REFUSED(an_alias_of_nothing, NO_PARAMETER, no_alias(NULL))
REFUSED(an_alias_of_no_parameter, NO_PARAMETER, static gra_tensor nameless; no_alias(&nameless))
REFUSED(an_alias_of_another_models, NO_PARAMETER,
        gra_model *other = model_alone(NULL);
        no_alias(gra_param(gra_root(other), "w", gra_init_ones(), GRA_SHAPE(2)));
        gra_model_close(other))
REFUSED(no_initialiser, "gra_param: u: got an empty initialiser, expected one such as gra_init_zeros()",
        begin((gra_init){ 0 }, GRA_SHAPE(2)))
REFUSED(xavier_of_a_vector, "gra_param: u: got gra_init_xavier for the shape (3), expected two dimensions or "
        "more: it needs the numbers of inputs and outputs", begin(gra_init_xavier(), GRA_SHAPE(3)))
REFUSED(kaiming_of_a_scalar, "gra_param: u: got gra_init_kaiming for the shape (), expected two dimensions",
        begin(gra_init_kaiming(), GRA_SCALAR))
REFUSED(high_below_low, "gra_param: u: got gra_init_uniform(2, 1)" FINITE ", the lower one first",
        begin(gra_init_uniform(2, 1), GRA_SHAPE(3)))
REFUSED(uniform_of_nan, "gra_param: u: got gra_init_uniform(0, nan)" FINITE,
        begin(gra_init_uniform(0, (double)NAN), GRA_SHAPE(3)))
REFUSED(uniform_without_end, "gra_param: u: got gra_init_uniform(-3e+38, 3e+38)" FINITE,
        begin(gra_init_uniform(-3e38, 3e38), GRA_SHAPE(3)))
REFUSED(negative_deviation, "gra_param: u: got gra_init_normal(0, -1)" FINITE
        ", the standard deviation 0 or more",
        begin(gra_init_normal(0, -1), GRA_SHAPE(3)))
REFUSED(deviation_of_nan, "gra_param: u: got gra_init_normal(0, nan)" FINITE,
        begin(gra_init_normal(0, (double)NAN), GRA_SHAPE(3)))
REFUSED(linear_of_nothing, "gra_param: u: got gra_init_linear(0), expected 1 or more in_features",
        begin(gra_init_linear(0), GRA_SHAPE(3)))
REFUSED(linear_of_less, "gra_param: u: got gra_init_linear(-4), expected 1 or more in_features",
        begin(gra_init_linear(-4), GRA_SHAPE(3)))
REFUSED(no_name, "gra_param: got NULL for the name, expected one such as \"weight\"",
        param(NULL, GRA_SHAPE(3)))
REFUSED(an_empty_name, "gra_param: got \"\" for the name, expected one such as \"weight\"",
        param("", GRA_SHAPE(3)))
REFUSED(no_further_name, "gra_alias: got NULL for the name, expected one such as \"weight\"",
        gra_alias(gra_root(model), NULL, first()))
REFUSED(no_name_of_a_scope, "gra_enter: got NULL for the name, expected one such as \"att\"",
        const char *volatile none = NULL; gra_enter(gra_root(model), none, 1))
REFUSED(a_name_not_of_ascii, "gra_enter: got the name ",        /* in an ASCII locale */
        gra_param(gra_enter(gra_root(model), "%ls", L"\x263a"), "u", gra_init_ones(), GRA_SHAPE(2)))
REFUSED(a_name_twice, "got the name w" TWICE, param("w", GRA_SHAPE(2, 3)))
REFUSED(a_further_name_twice, "gra_alias: got the name w" TWICE, gra_alias(gra_root(model), "w", first()))
REFUSED(a_size_of_zero, "u: got the shape (2, 0), expected positive sizes", param("u", GRA_SHAPE(2, 0)))
REFUSED(nine_dimensions, "gra_param: u: got 9 dimensions, expected at most 8",
        param("u", (gra_shape){ .ndim = 9 }))
REFUSED(more_memory_than_there_is, ADDRESSES_OF_32_BITS ? "fit in memory" : "out of memory",
        param("u", GRA_SHAPE(1 << 30, 1 << 15)))
REFUSED(a_name_too_long, "..., expected at most ",
        gra_scope s = gra_root(model);
        for (int i = 0; i < 40; i++)
            s = gra_enter(s, "level%d", i))
REFUSED_AFTER(1, a_parameter_named_as_a_companion, "gra_param: got the name sgd.momentum.w" TWICE ": give "
              "each layer a scope of its own, gra_enter(scope, \"fc2\")",
              gra_state(model, "sgd.momentum", first()); param("sgd.momentum.w", GRA_SHAPE(1)))
REFUSED_AFTER(1, a_companion_named_as_a_parameter, "gra_state: got the name sgd.momentum.w, expected another",
              param("sgd.momentum.w", GRA_SHAPE(1));
              ck_assert_ptr_null(gra_state(model, "sgd.momentum", first())))
REFUSED(a_companion_named_as_an_alias, "gra_state: got the name sgd.momentum.w, expected another",
        gra_alias(gra_root(model), "sgd.momentum.w", first());
        ck_assert_ptr_null(gra_state(model, "sgd.momentum", first())))
