/* Large tensors, whose work is cut into chunks: for an op that treats parts of x separately, f(x) must be f
 * of each part, joined. A part is small enough to be computed in one piece, x is not. Each op runs once for
 * each instruction set; test_ops.c cuts small tensors into chunks. */
#include "core/random/mcg31.h"
#include "lib/isa.h"
#include "ops/rows.h"
#include "lib/suites.h"

#define REAL_STEP (sizeof(real) == 8 ? 0x1p-52 : 0x1p-23)    /* from 1 to the next real */

enum joined { JOINED, MEAN, SUM, LARGEST };

struct large_case {
    const char   *name;
    gra_check_in  in[2];
    int           d;                    /* the parts are slices of in[0] along d, */
    enum joined   how;                  /* and the results are joined like this, */
    int           along;                /* along this dimension */
    gra_tensor *(*f)(gra_tape *tape, gra_tensor *x, gra_tensor *w, int first);  /* where x begins along d */
};

static const int large_target[13] = { 5, 300, 0, 7, 7, 9000, 64, 1, 2, 3, 4, 5, 6 };

#define OF(...) .shape = { (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } }
#define LARGE(name, ...)                                                                                 \
    static gra_tensor *name(gra_tape *tape, gra_tensor *x, gra_tensor *w, int first)                     \
    {                                                                                                    \
        (void)w, (void)first;                                                                            \
        return __VA_ARGS__;                                                                              \
    }

LARGE(l_add, gra_add(tape, x, w))
LARGE(l_sub, gra_sub(tape, w, x))
LARGE(l_mul, gra_mul(tape, x, w))
LARGE(l_div, gra_div(tape, x, w))
LARGE(l_neg, gra_neg(tape, x))
LARGE(l_scale, gra_scale(tape, x, 3))
LARGE(l_pow, gra_pow(tape, x, 2.5))
LARGE(l_exp, gra_exp(tape, x))
LARGE(l_log, gra_log(tape, x))
LARGE(l_sqrt, gra_sqrt(tape, x))
LARGE(l_sin, gra_sin(tape, x))
LARGE(l_cos, gra_cos(tape, x))
LARGE(l_tanh, gra_tanh(tape, x))
LARGE(l_sigmoid, gra_sigmoid(tape, x))
LARGE(l_relu, gra_relu(tape, x))
LARGE(l_gelu, gra_gelu(tape, x))
LARGE(l_gelu_tanh, gra_gelu_tanh(tape, x))
LARGE(l_silu, gra_silu(tape, x))
LARGE(l_masked_fill, gra_masked_fill(tape, x, gra_relu(tape, w), 0.5))
LARGE(l_causal_mask, gra_softmax(tape, gra_causal_mask(tape, x), -1))
LARGE(l_matmul, gra_matmul(tape, x, w))
LARGE(l_matmul_nt, gra_matmul_nt(tape, x, w))
LARGE(l_linear, gra_linear(tape, x, w, NULL))
LARGE(l_sum, gra_sum(tape, x))
LARGE(l_mean, gra_mean(tape, x))
LARGE(l_max, gra_max(tape, x))
LARGE(l_sum_first, gra_sum_dim(tape, x, 0, true))
LARGE(l_sum_middle, gra_sum_dim(tape, x, 1, false))
LARGE(l_sum_last, gra_sum_dim(tape, x, -1, false))
LARGE(l_max_first, gra_max_dim(tape, x, 0, true))
LARGE(l_max_last, gra_max_dim(tape, x, -1, false))
LARGE(l_softmax_first, gra_softmax(tape, x, 0))
LARGE(l_softmax_last, gra_softmax(tape, x, -1))
LARGE(l_log_softmax_first, gra_log_softmax(tape, x, 0))
LARGE(l_log_softmax_last, gra_log_softmax(tape, x, -1))
LARGE(l_layer_norm, gra_layer_norm(tape, x, w, w, 1e-5))
LARGE(l_rms_norm, gra_rms_norm(tape, x, w, 1e-5))
LARGE(l_expand, gra_expand(tape, x, GRA_SHAPE(-1, 43, 7)))
LARGE(l_transpose, gra_transpose(tape, x, 0, 1))
LARGE(l_transpose_last, gra_transpose(tape, x, -2, -1))
LARGE(l_permute, gra_permute(tape, x, (const int[]){ 1, 3, 0, 2 }))
LARGE(l_concat, gra_concat(tape, 3, (gra_tensor *[]){ x, gra_neg(tape, x), x }, 1))
LARGE(l_slice, gra_slice(tape, x, 1, 3, -5))
LARGE(l_cross_entropy, gra_cross_entropy(tape, x, large_target + first))
LARGE(l_cross_entropy_rows, gra_cross_entropy_unreduced(tape, x, large_target + first))
LARGE(l_mse_loss, gra_mse_loss(tape, x, gra_neg(tape, x)))
LARGE(l_attention, gra_attention(tape, x, x, gra_neg(tape, x),
                                 &(gra_attention_options){ .heads = 3, .causal = true }))

#define POSITIVE .low = 0.5, .high = 3
#define ROWS(f)  { #f, { { OF(403, 301) } }, 0, JOINED, 0, f }

static const struct large_case large_cases[] = {
    ROWS(l_neg), ROWS(l_scale), ROWS(l_exp), ROWS(l_sin), ROWS(l_cos), ROWS(l_tanh), ROWS(l_sigmoid),
    ROWS(l_relu), ROWS(l_gelu), ROWS(l_gelu_tanh), ROWS(l_silu), ROWS(l_softmax_last),
    ROWS(l_log_softmax_last), ROWS(l_concat), ROWS(l_slice),
    { "pow",            { { OF(403, 301), POSITIVE } }, 0, JOINED, 0, l_pow },
    { "log",            { { OF(403, 301), POSITIVE } }, 0, JOINED, 0, l_log },
    { "sqrt",           { { OF(403, 301), POSITIVE } }, 0, JOINED, 0, l_sqrt },
    { "add, a vector",  { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_add },
    { "add, a column",  { { OF(301, 403) }, { OF(301, 1) } }, 1, JOINED, 1, l_add },
    { "sub, a vector",  { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_sub },
    { "mul, columns",   { { OF(403, 1, 7) }, { OF(43, 1) } }, 0, JOINED, 0, l_mul },
    { "div, a number",  { { OF(403, 301) }, { POSITIVE } }, 0, JOINED, 0, l_div },
    { "masked_fill",    { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_masked_fill },
    { "causal_mask",    { { OF(403, 17, 18) } }, 0, JOINED, 0, l_causal_mask },
    { "matmul",         { { OF(403, 301) }, { OF(301, 17) } }, 0, JOINED, 0, l_matmul },
    { "matmul, batch",  { { OF(26, 61, 101) }, { OF(101, 17) } }, 0, JOINED, 0, l_matmul },
    { "matmul_nt",      { { OF(403, 301) }, { OF(17, 301) } }, 0, JOINED, 0, l_matmul_nt },
    { "linear",         { { OF(403, 301) }, { OF(17, 301) } }, 0, JOINED, 0, l_linear },
    { "sum",            { { OF(403, 301), POSITIVE } }, 0, SUM, 0, l_sum },
    { "mean",           { { OF(403, 301), POSITIVE } }, 0, MEAN, 0, l_mean },
    { "max",            { { OF(403, 301) } }, 0, LARGEST, 0, l_max },
    { "sum_dim 0",      { { OF(301, 403) } }, 1, JOINED, 1, l_sum_first },
    { "sum_dim 1",      { { OF(403, 17, 19) } }, 0, JOINED, 0, l_sum_middle },
    { "sum_dim -1",     { { OF(403, 301) } }, 0, JOINED, 0, l_sum_last },
    { "max_dim 0",      { { OF(301, 403) } }, 1, JOINED, 1, l_max_first },
    { "max_dim -1",     { { OF(403, 301) } }, 0, JOINED, 0, l_max_last },
    { "softmax 0",      { { OF(301, 403) } }, 1, JOINED, 1, l_softmax_first },
    { "log_softmax 0",  { { OF(301, 403) } }, 1, JOINED, 1, l_log_softmax_first },
    { "layer_norm",     { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_layer_norm },
    { "rms_norm",       { { OF(403, 301) }, { OF(301) } }, 0, JOINED, 0, l_rms_norm },
    { "expand",         { { OF(403, 1, 7) } }, 0, JOINED, 0, l_expand },
    { "transpose",      { { OF(403, 301) } }, 0, JOINED, 1, l_transpose },
    { "transpose last", { { OF(26, 61, 101) } }, 0, JOINED, 0, l_transpose_last },
    { "permute",        { { OF(26, 61, 5, 21) } }, 0, JOINED, 2, l_permute },
    { "cross_entropy",  { { OF(13, 9001) } }, 0, MEAN, 0, l_cross_entropy },
    { "cross_entropy_unreduced", { { OF(13, 9001) } }, 0, JOINED, 0, l_cross_entropy_rows },
    { "mse_loss",       { { OF(403, 301) } }, 0, MEAN, 0, l_mse_loss },
    { "attention",      { { OF(26, 61, 63) } }, 0, JOINED, 0, l_attention },
};

enum { PARTS = 13 };                    /* which divides the sizes above */

static gra_tensor *in_parts(gra_tape *t, const struct large_case *c, gra_tensor *x, gra_tensor *w)
{
    gra_tensor *part[PARTS];
    int n = x->shape.dim[c->d] / PARTS;
    for (int i = 0; i < PARTS; i++) {
        part[i] = c->f(t, gra_slice(t, x, c->d, i * n, (i + 1) * n), w, i * n);
        if (c->how != JOINED)
            part[i] = gra_reshape(t, part[i], GRA_SHAPE(1));
    }
    gra_tensor *all = gra_concat(t, PARTS, part, c->along);
    switch (c->how) {
    case MEAN:    return gra_mean(t, all);
    case SUM:     return gra_sum(t, all);
    case LARGEST: return gra_max(t, all);
    case JOINED:  break;
    }
    return all;
}

static outcome run_large(gra_tape *t, const struct large_case *c, bool parts)
{
    gra_rng own;
    gra_manual_seed(&own, 3);
    gra_begin(t, GRA_GRAD, NULL);
    gra_tensor *x = draw_input(t, &own, &c->in[0], true), *w = draw_input(t, &own, &c->in[1], true);
    gra_tensor *y = parts ? in_parts(t, c, x, w) : gra_reshape(t, c->f(t, x, w, 0), GRA_SHAPE(-1));
    real *dy = gra_alloc(t, y->size * sizeof(real));
    gra_uniform(&own, dy, y->size, 0.5, 1.5);
    gra_tensor *flat = gra_reshape(t, y, GRA_SHAPE(-1));
    ck_assert_int_eq(gra_backward(t, gra_sum(t, gra_mul(t, flat, gra_constant(t, dy, flat->shape)))), 0);
    return outcome_of(y, 2, (gra_tensor *[]){ x, w });
}

/* w's gradient sums up to 121,303 floats in one order or in another. */
static const double large_tolerance[3] = { 4 * REAL_STEP, 8 * REAL_STEP, 256 * REAL_STEP };

TESTS(large_tensors_are_their_parts, ISAS * LENGTH(large_cases))
{
    const struct large_case *c = &large_cases[_i % LENGTH(large_cases)];
    static const char *const value[] = { "y", "x's gradient", "w's gradient" };
    char where[160];
    gra_tape *t = open_with(isa[_i / LENGTH(large_cases)], 1);
    if (!t)
        return;
    outcome parts = run_large(t, c, true), whole = run_large(t, c, false);
    gra_close(t);
    t = open_with(isa[_i / LENGTH(large_cases)], 3);
    outcome threads = run_large(t, c, false);
    gra_close(t);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(parts.size[i], whole.size[i]);
        double r = 0;
        for (size_t j = 0; j < whole.size[i]; j++) {    /* not fmax: gcc 12 for aarch64 breaks down over it */
            double v = fabs((double)whole.values[i][j]);
            r = v > r ? v : r;
        }
        for (size_t j = 0; j < whole.size[i]; j++) {
            double a = (double)whole.values[i][j], b = (double)parts.values[i][j];
            if (!(fabs(a - b) <= large_tolerance[i] * r))   /* an assertion for each would be slow */
                ck_abort_msg("%s: %s[%zu] is %.9g, of the parts %.9g: %.2g", c->name, value[i], j, a, b,
                             fabs(a - b) / r);
        }
    }
    ck_assert_msg(!outcomes_differ(&whole, &threads, where), "%s: on three threads, %s", c->name, where);
    ck_assert(whole.size[0] > 0);
    outcome_free(&parts);
    outcome_free(&whole);
    outcome_free(&threads);
}

/* The dropout of a slice is not a slice of the dropout: the step's i-th random number drops element i. */
TESTS(dropout_is_the_stream_number_by_number, ISAS)
{
    const size_t n = 100003;
    const double p = 0.3;
    gra_rng own, rng;
    gra_manual_seed(&own, 123);
    uint32_t x = mcg31_start(&own);
    gra_tape *t = open_with(isa[_i], 3);
    if (!t)
        return;
    gra_manual_seed(&rng, 123);
    gra_begin(t, GRA_TRAIN, &rng);
    gra_tensor *in = gra_input(t, gra_full(t, 2, GRA_SHAPE((int)n))->data, GRA_SHAPE((int)n));
    gra_tensor *y = gra_dropout(t, in, p);
    gra_backward(t, gra_sum(t, y));
    size_t kept = 0;
    for (size_t i = 0; i < n; i++, x = mcg31_next(x)) {
        bool keep = (double)x / 2147483647 < 1 - p;
        real factor = keep ? 1 / (real)(1 - p) : 0;
        if (y->data[i] != 2 * factor || in->grad[i] != factor)
            ck_abort_msg("element %zu: %g, gradient %g", i, (double)y->data[i], (double)in->grad[i]);
        kept += keep;
    }
    ck_assert_double_eq_tol((double)kept / (double)n, 1 - p, 0.01);
    ck_assert_uint_eq(gra_random(&rng), gra_random(&own));         /* one number was drawn, no more */
    gra_close(t);
}
