/* fixture: see fixture.h. */
#include "fixture.h"
#include "suites.h"

gra_tape  *t;
gra_model *model;
gra_rng    rng;

void open_all(void)
{
    gra_manual_seed(&rng, 123);
    t = gra_open(1);
    ck_assert_ptr_nonnull(t);
    gra_keep_going(t, true);
    model = NULL;
    another_model();
}

void close_all(void)
{
    gra_model_close(model);
    gra_close(t);
}

void another_model(void)
{
    gra_model_close(model);
    model = gra_model_open(t, &rng);
    ck_assert_ptr_nonnull(model);
}

const char *or_none(const char *error) { return error ? error : "no error"; }

void expect_error(const char *expected)       { ck_assert_str_eq(or_none(gra_error(t)), expected); }
void expect_model_error(const char *expected) { ck_assert_str_eq(or_none(gra_model_error(model)), expected); }

static void expect_words(const char *error, const char *expected)
{
    ck_assert_msg(strstr(error, expected), "expected ...%s..., got %s", expected, error);
}

void expect_part(const char *expected)        { expect_words(or_none(gra_error(t)), expected); }
void expect_model_part(const char *expected)  { expect_words(or_none(gra_model_error(model)), expected); }
