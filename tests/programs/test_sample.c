/* Sampling: which tokens remain with --top-k, --top-p and --temperature, and how often each is drawn. */
#include "examples/lib/sample.h"
#include "lib/fixture.h"
#include "lib/suites.h"

enum { VOCAB = 6, DRAWS = 3000 };

static struct gra_gpt gpt;

/* A GPT whose logits are the logarithms of these weights, whatever its input: the final norm gives 1. */
static void open_gpt(const double weights[VOCAB])
{
    another_model();
    gra_gpt_init(&gpt, gra_root(model), &(gra_gpt_config){ VOCAB, 2, 1, 1, 1, .bias = true,
                                                           .init = GRA_INIT_ZEROS });
    gra_param_find(model, "final_norm.scale")->data[0] = 0;
    gra_param_find(model, "final_norm.shift")->data[0] = 1;
    for (int i = 0; i < VOCAB; i++)
        gpt.out_head.weight->data[i] = (gra_real)log(weights[i]);
}

static const double powers[VOCAB] = { 1, 16, 2, 8, 1, 4 }, equals[VOCAB] = { 1, 1, 1, 1, 1, 1 };

static const struct {
    const double *weights;
    double        temperature, top_p;
    long          top_k;
    double        expected[VOCAB];      /* the share of each token, up to a factor */
} cases[] = {
    { powers, 1,   1,      0, { 1, 16, 2, 8, 1, 4 } },
    { powers, 1,   0.999,  0, { 1, 16, 2, 8, 1, 4 } },
    { powers, 1,   0.96,   0, { 1, 16, 2, 8, 0, 4 } },          /* the first of two equal tokens */
    { powers, 1,   0.9,    0, { 0, 16, 2, 8, 0, 4 } },          /* 28 of 32 is too little */
    { powers, 1,   0.87,   0, { 0, 16, 0, 8, 0, 4 } },
    { powers, 1,   0.51,   0, { 0, 16, 0, 8, 0, 0 } },
    { powers, 1,   0.49,   0, { 0, 1, 0, 0, 0, 0 } },
    { powers, 1,   0,      0, { 0, 1, 0, 0, 0, 0 } },           /* one token always remains */
    { powers, 0,   1,      0, { 0, 1, 0, 0, 0, 0 } },
    { powers, 1,   1,      3, { 0, 16, 0, 8, 0, 4 } },
    { powers, 1,   1,      5, { 1, 16, 2, 8, 1, 4 } },          /* and the equals of the fifth token */
    { powers, 1,   0.55,   2, { 0, 16, 0, 0, 0, 0 } },          /* 16 of 24: the rest is gone before */
    { powers, 1,   0.7,    2, { 0, 16, 0, 8, 0, 0 } },
    { powers, 2,   0.49,   0, { 0, 4, 0, 2.8284, 0, 0 } },      /* the temperature comes first: 4 of 12.2 */
    { powers, 0.5, 0.74,   0, { 0, 1, 0, 0, 0, 0 } },           /* 256 of 342 */
    { equals, 1,   0.5,    0, { 1, 1, 1, 0, 0, 0 } },           /* exactly half */
    { equals, 1,   0.5001, 0, { 1, 1, 1, 1, 0, 0 } },
    { equals, 1,   0.5,    1, { 1, 1, 1, 0, 0, 0 } },           /* all are equals of the first */
};

CASE(sample, open_all, close_all, "")

TESTS(tokens_and_their_shares, LENGTH(cases))   /* _i: of cases */
{
    int ids[2], count[VOCAB] = { 0 };
    double sum = 0;
    open_gpt(cases[_i].weights);
    sampler s = { .tape = t, .gpt = &gpt, .context = 2, .temperature = cases[_i].temperature,
                  .top_k = cases[_i].top_k, .top_p = cases[_i].top_p, .ids = ids };
    gra_manual_seed(&s.rng, 1);
    sample_see(&s, (int[]){ 0 }, 1);
    for (int i = 0; i < DRAWS; i++) {
        const int id = sample_next(&s);
        ck_assert(id >= 0 && id < VOCAB);
        count[id]++;
    }
    for (int i = 0; i < VOCAB; i++)
        sum += cases[_i].expected[i];
    for (int i = 0; i < VOCAB; i++) {
        const double expected = cases[_i].expected[i] / sum, got = (double)count[i] / DRAWS;
        ck_assert_int_eq(count[i] > 0, expected > 0);
        ck_assert_msg(fabs(got - expected) < 0.03, "token %d: a share of %.3f, expected %.3f", i, got,
                      expected);
    }
}
