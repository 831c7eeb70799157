/* The notebooks' own layers: gradients that test_golden.c does not compare with PyTorch's. Their values are
 * the notebooks' numbers. */
#include "examples/notebooks/lib/book.h"
#include "lib/fixture.h"
#include "lib/suites.h"

CASE(book, open_all, close_all, "")

#ifdef GRADUS_DOUBLE
enum { BATCH = 3, TIME = 5, IN = 6, OUT = 4, HEADS = 2 };
static const gra_attention_config head = { .d_in = IN, .d_out = OUT, .context_length = TIME + 1,
                                           .dropout = 0.3 };

static gra_tensor *v1(gra_tape *tape, gra_tensor **in, void *l)
{
    return self_attention_v1_forward(tape, l, in[0]);
}
static gra_tensor *self(gra_tape *tape, gra_tensor **in, void *l)
{
    return self_attention_forward(tape, l, in[0]);
}
static gra_tensor *pos_heads(gra_tape *tape, gra_tensor **in, void *l)
{
    return positional_multi_head_attention_forward(tape, l, in[0]);
}

static void check(const char *name, gra_check_fn *forward, void *layer)
{
    gra_check_report report;
    expect_model_error("no error");
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(BATCH, TIME, IN) };
    ck_assert_msg(gra_check(t, &(gra_check_options){ .rng = &rng, .model = model, .nin = 1, .in = &x,
                            .f = forward, .arg = layer }, &report) == 0, "%s:\n%s",
                  name, report.text);
    another_model();                    /* for the next layer: the check looks at all parameters of a model */
}

TEST(gradients)
{
    union {
        struct self_attention_v1               v1;
        struct self_attention                  self;
        struct positional_multi_head_attention pos_heads;
    } l;
    self_attention_v1_init(&l.v1, gra_root(model), IN, OUT);
    check("bare matrices", v1, &l);
    self_attention_init(&l.self, gra_root(model), IN, OUT);
    check("self-attention", self, &l);
    positional_multi_head_attention_init(&l.pos_heads, gra_root(model), HEADS, &head);
    check("positional multi-head attention", pos_heads, &l);
}
#endif

TEST(init_that_failed)                  /* of a head: forward is an error of the tape, with a sentence */
{
    struct wrapper w;
    gra_attention_config none = { .d_in = 3, .d_out = 2 };
    wrapper_init(&w, gra_root(model), 2, &none);
    expect_model_error("causal_attention: got context_length 0, expected 1 or more");
    gra_begin(t, GRA_EVAL, NULL);
    wrapper_forward(t, &w, gra_full(t, 1, GRA_SHAPE(1, 2, 3)));
    expect_error("causal_attention: the layer was not made: call its init first (if that failed, "
                 "gra_model_error reports why)");
}
