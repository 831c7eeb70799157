/* Looking at a step: its nodes, the layers they belong to, and names. */
#include "../layers/layers.h"
#include "suites.h"
#include "tensors.h"

#include <wchar.h>

static void open_begun(void)
{
    open_all();
    gra_begin(t, GRA_GRAD, NULL);
}

/* ---- nodes by number ---- */

START_TEST(nodes_in_the_order_of_recording)
{
    ck_assert_int_eq(gra_node_count(t), 0);
    ck_assert_ptr_null(gra_node_at(t, 0));
    gra_tensor *a = gra_scalar(t, 2), *fixed = gra_full(t, 3, GRA_SCALAR), *none = gra_exp(t, fixed);
    gra_tensor *y[] = { gra_mul(t, a, none), gra_exp(t, a), gra_reshape(t, a, GRA_SHAPE(1)) };
    ck_assert_int_eq(gra_node_count(t), 3);
    for (int i = 0; i < 3; i++) {
        ck_assert_ptr_eq(gra_node_at(t, i), y[i]);
        ck_assert_int_eq(gra_node_number(y[i]), i);
    }
    ck_assert_ptr_null(gra_node_at(t, -1));
    ck_assert_ptr_null(gra_node_at(t, 3));
    ck_assert_int_eq(gra_node_number(a), -1);           /* leaves, */
    ck_assert_int_eq(gra_node_number(fixed), -1);
    ck_assert_int_eq(gra_node_number(NULL), -1);
    ck_assert_int_eq(gra_node_number(none), -1);        /* and what wants no gradient */
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_int_eq(gra_node_count(t), 0);
    ck_assert_int_eq(gra_node_number(y[1]), -1);
}
END_TEST

START_TEST(nothing_in_eval)
{
    gra_begin(t, GRA_EVAL, NULL);
    ck_assert_int_eq(gra_node_number(gra_exp(t, gra_scalar(t, 2))), -1);
    ck_assert_int_eq(gra_node_count(t), 0);
}
END_TEST

/* ---- layers ---- */

/* The path of the op between one that has the parameter p and one that has q; "" for NULL: there is none. */
static const struct { const char *p, *q, *path; } between[] = {
    { "norm.weight", "norm.weight", "norm" },
    { "att.W_value.weight", "att.out_proj.weight", "att" },
    { "att.W_value.weight", "attic.weight", "" },
    { "a.b.weight", "a.bc.weight", "a" },
    { "a.b.weight", "a.b.c.weight", "a.b" },
    { "a.b.c.weight", "a.b.weight", "a.b" },
    { "blocks.0.ff.2.weight", "blocks.1.norm.weight", "blocks.0" },
    { "blocks.10.ff.2.weight", "norm.weight", "blocks.10" },
    { "blocks.0.ff.0.weight", "blocks.0.ff.2.weight", "blocks.0.ff" },
    { "blocks.0.norm.weight", "blocks.0.ff.2.weight", "blocks.0" },
    { "0.weight", "1.weight", "" },
    { "w", "fc.weight", "" },
    { "fc.weight", NULL, "" },
    { NULL, "fc.weight", "" },
};

static gra_tensor *param(const char *name)
{
    gra_tensor *p = gra_param_find(model, name);
    return p ? p : gra_param(gra_root(model), name, gra_init_ones(), GRA_SHAPE(1));
}

START_TEST(the_layer_of_an_op_without_parameters)
{
    char path[GRA_PATH];
    const char *p = between[_i].p, *q = between[_i].q;
    gra_tensor *x = gra_scalar(t, 1), *y = gra_exp(t, p ? gra_mul(t, x, param(p)) : x);
    if (q)
        gra_mul(t, gra_exp(t, gra_mul(t, y, param(q))), param("what.comes.later"));     /* does not count */
    ck_assert_str_eq(gra_node_path(y, path), between[_i].path);
}
END_TEST

START_TEST(the_layer_of_a_parameter)
{
    char path[GRA_PATH] = "x";
    gra_tensor *p = param("ff.fc.weight"), *y = gra_add(t, gra_scalar(t, 1), p);
    ck_assert_str_eq(gra_node_path(p, path), "ff.fc");
    ck_assert_str_eq(gra_node_path(y, path), "ff.fc");
    ck_assert_str_eq(gra_node_path(gra_exp(t, y), path), "");           /* nothing comes after it */
    ck_assert_str_eq(gra_node_path(gra_scalar(t, 1), path), "");
    ck_assert_str_eq(gra_node_path(NULL, path), "");
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_str_eq(gra_node_path(y, path), "");
}
END_TEST

/* ---- names ---- */

START_TEST(a_name)
{
    gra_tensor *x = gra_scalar(t, 1), *p = param("fc.weight");
    ck_assert_ptr_null(x->name);
    ck_assert_ptr_eq(gra_name(x, "head %d", 3), x);
    ck_assert_str_eq(x->name, "head 3");
    ck_assert_str_eq(gra_name(x, "%s", "scores")->name, "scores");
    ck_assert_ptr_null(gra_name(NULL, "x"));
    ck_assert_str_eq(gra_name(p, "x")->name, "fc.weight");
    ck_assert_str_eq(gra_name(x, "%lc", (wint_t)0x10ffff)->name, "scores");     /* not a text in this locale */
}
END_TEST

START_TEST(a_name_is_no_parameter)      /* to the tracer, or where a layer is sought */
{
    char path[GRA_PATH];
    gra_trace_nan(t, true);
    gra_tensor *x = gra_name(gra_scalar(t, -1), "an.input"), *y = gra_name(gra_scale(t, x, 2), "a.b");
    ck_assert_str_eq(gra_node_path(gra_exp(t, y), path), "");
    gra_log(t, y);
    expect_error("log: made nan from finite inputs, there -2 (forward)");
    gra_begin(t, GRA_GRAD, NULL);
    x = gra_name(gra_scalar(t, (double)NAN), "scores");
    gra_exp(t, x);
    expect_error("exp: input 0 (scores) holds nan: no op made it, it came in so (forward)");
    gra_name(x, "%s", "late");                          /* after an error: nothing */
    ck_assert_str_eq(x->name, "scores");
}
END_TEST

START_TEST(a_stale_tensor_is_not_named)
{
    gra_tensor *x = gra_name(gra_scalar(t, 1), "x");
    gra_begin(t, GRA_GRAD, NULL);
    ck_assert_str_eq(gra_name(x, "y")->name, "x");
    expect_error("gra_name: input 0 was not made in this step: a tensor ends with its step, at the next gra_begin, and "
                 "belongs to its tape");
}
END_TEST

Suite *view_suite(void)
{
    Suite *s = suite_create("view");
    TCase *c = tcase_create("view");
    tcase_add_checked_fixture(c, open_begun, close_all);
    tcase_add_test(c, nodes_in_the_order_of_recording);
    tcase_add_test(c, nothing_in_eval);
    tcase_add_loop_test(c, the_layer_of_an_op_without_parameters, 0, LENGTH(between));
    tcase_add_test(c, the_layer_of_a_parameter);
    tcase_add_test(c, a_name);
    tcase_add_test(c, a_name_is_no_parameter);
    tcase_add_test(c, a_stale_tensor_is_not_named);
    suite_add_tcase(s, c);
    return s;
}
