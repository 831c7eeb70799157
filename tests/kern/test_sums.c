/* Long sums: with 100,000 terms and more, float agrees with double. No gradient check detects a float sum
 * that drifts, because gradients are checked in double and on small tensors.
 *
 * Each op has one or more rows, whose inputs have N values. The double suite writes sums and gradients to a
 * file; the float suite compares, once with equal terms, whose rounding errors add up, and once with random
 * ones. All values of small tensors are compared, and some of large ones. */
#include "lib/folder.h"
#include "ops/ops_table.h"
#include "lib/suites.h"

#include <stdlib.h>

enum { N = -1, INPUTS = 4, FEW = 64 };  /* N in a shape: the number of terms */

struct sum_case {
    const char *name, *op;
    int         period;                 /* with equal terms: the values repeat after this many */
    gra_shape   in[INPUTS];             /* unused ones have no dimensions and are numbers */
    double      low, high;              /* bounds of random values; both 0: -2 and 2 */
    gra_tensor *(*f)(gra_tape *t, gra_tensor **in, int n);
};

/* ---- the ops ---- */

#define F(name, y)                                                                                       \
    static gra_tensor *name(gra_tape *t, gra_tensor **in, int n)                                         \
    {                                                                                                    \
        (void)n;                                                                                         \
        return y;                                                                                        \
    }
#define UNARY(op) F(sum_##op, gra_##op(t, in[0]))
#define BINARY(op) F(sum_##op, gra_##op(t, in[0], in[1]))
#define LEFT(op) F(sum_##op##_left, gra_##op(t, in[1], in[0]))

BINARY(add) BINARY(sub) BINARY(mul) BINARY(div) BINARY(matmul) BINARY(matmul_nt) BINARY(matmul_tn)
LEFT(add) LEFT(sub) LEFT(mul) LEFT(div) LEFT(matmul)
UNARY(abs) UNARY(exp) UNARY(gelu) UNARY(gelu_tanh) UNARY(log) UNARY(max) UNARY(min) UNARY(mean) UNARY(neg)
UNARY(relu) UNARY(sigmoid) UNARY(silu) UNARY(sqrt) UNARY(sum) UNARY(tanh) UNARY(sin) UNARY(cos)
F(sum_add_scalar, gra_add_scalar(t, in[0], 3))
F(sum_scale, gra_scale(t, in[0], 3))
F(sum_pow, gra_pow(t, in[0], 2.5))
F(sum_clamp, gra_clamp(t, in[0], -1, 1))
F(sum_dropout, gra_dropout(t, in[0], 0.3))
F(sum_where, gra_where(t, gra_lt(t, in[0], gra_scalar(t, 1.2)), in[1], in[2]))
F(sum_masked_fill, gra_masked_fill(t, in[0], gra_relu(t, in[1]), 0.5))
F(sum_causal_mask, gra_softmax(t, gra_causal_mask(t, in[0]), -1))
F(sum_sum_first, gra_sum_dim(t, in[0], 0, false))
F(sum_sum_last, gra_sum_dim(t, in[0], -1, false))
F(sum_var, gra_var(t, in[0], 1))
F(sum_var_first, gra_var_dim(t, in[0], 0, 0, false))
F(sum_softmax, gra_softmax(t, in[0], -1))
F(sum_log_softmax, gra_log_softmax(t, in[0], -1))
F(sum_layer_norm, gra_layer_norm(t, in[0], in[1], in[2], 1e-5))
F(sum_rms_norm, gra_rms_norm(t, in[0], in[1], 1e-6))
F(sum_linear, gra_linear(t, in[0], in[1], in[2]))
F(sum_reshape, gra_reshape(t, in[0], GRA_SHAPE(n / 4, 4)))
F(sum_squeeze, gra_squeeze(t, in[0], 0))
F(sum_unsqueeze, gra_unsqueeze(t, in[0], -1))
F(sum_expand, gra_expand(t, in[0], GRA_SHAPE(n)))
F(sum_expand_row, gra_expand(t, in[0], GRA_SHAPE(n, 8)))
F(sum_expand_column, gra_expand(t, in[0], GRA_SHAPE(3, n)))
F(sum_transpose, gra_transpose(t, in[0], 0, 1))
F(sum_concat, gra_concat(t, 2, in, 0))
F(sum_slice, gra_slice(t, in[0], 0, 3, -5))
F(sum_mse_loss, gra_mse_loss(t, in[0], in[1]))
F(sum_bce, gra_binary_cross_entropy(t, in[0], in[1]))
F(sum_bce_logits, gra_binary_cross_entropy_with_logits(t, in[0], in[1]))
F(sum_bce_unreduced, gra_binary_cross_entropy_unreduced(t, in[0], in[1]))
F(sum_bce_logits_unreduced, gra_binary_cross_entropy_with_logits_unreduced(t, in[0], in[1]))
F(sum_attention, gra_attention(t, in[0], in[1], in[2], &(gra_attention_options){ .heads = 1 }))
F(sum_masked, gra_attention(t, in[0], in[1], in[2], &(gra_attention_options){ .heads = 1, .mask = in[3] }))

static int *ids(gra_tape *t, int n, int below)          /* from 0 to below - 1, in no simple order */
{
    int *id = gra_alloc(t, (size_t)n * sizeof *id);
    for (int i = 0; i < n; i++)
        id[i] = (int)((uint32_t)i * 2654435761u >> 16) % below;
    return id;
}

F(sum_embedding, gra_embedding(t, in[0], ids(t, n, 3), GRA_SHAPE(n)))
F(sum_cross_entropy, gra_cross_entropy(t, in[0], ids(t, gra_dim(in[0], 0), gra_dim(in[0], 1))))
F(sum_cross_entropy_rows, gra_cross_entropy_unreduced(t, in[0], ids(t, gra_dim(in[0], 0), gra_dim(in[0], 1))))

/* ---- the table ---- */

#define OF(...) { (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } }
#define NUMBER { 0, { 0 } }
#define EACH(op) { #op, #op, 1, { OF(N) }, 0, 0, sum_##op }             /* x from -2 to 2 */
#define POSITIVE(op, f) { #op, #op, 1, { OF(N) }, 0.5, 3, f }          /* 0.5 to 3 */
/* one operand is stretched: a number, a row, a column, a plane */
#define STRETCHED(op)                                                                                    \
    { #op " by a number", #op, 1, { OF(N), NUMBER }, 0.5, 3, sum_##op },                              \
    { #op " of a number", #op, 1, { OF(N), NUMBER }, 0.5, 3, sum_##op##_left },                       \
    { #op " by a row", #op, 1, { OF(N, 8), OF(8) }, 0.5, 3, sum_##op },                               \
    { #op " by a column", #op, 1, { OF(3, N), OF(3, 1) }, 0.5, 3, sum_##op },                         \
    { #op " by a plane", #op, 1, { OF(2, N, 3), OF(2, 1, 3) }, 0.5, 3, sum_##op }

static const struct sum_case cases[] = {
    STRETCHED(add), STRETCHED(sub), STRETCHED(mul), STRETCHED(div),
    EACH(abs), EACH(exp), EACH(gelu), EACH(gelu_tanh), POSITIVE(log, sum_log), EACH(max), EACH(min),
    EACH(neg), EACH(relu), EACH(sigmoid), EACH(silu), POSITIVE(sqrt, sum_sqrt), EACH(tanh), EACH(sin),
    EACH(cos), EACH(add_scalar), EACH(scale), POSITIVE(pow, sum_pow), EACH(clamp), EACH(dropout),
    { "where", "where", 1, { OF(N), NUMBER, NUMBER }, 0.5, 1.5, sum_where },
    { "where of a row", "where", 1, { OF(N, 3), OF(3), OF(1) }, 0.5, 1.5, sum_where },
    { "masked_fill", "masked_fill", 1, { OF(N), OF(N) }, 0, 0, sum_masked_fill },
    { "causal_mask", "causal_mask", 8, { OF(2, N) }, 0, 0, sum_causal_mask },
    EACH(sum),
    { "sum_dim of columns", "sum", 1, { OF(N, 3) }, 0, 0, sum_sum_first },
    { "sum_dim of rows", "sum", 1, { OF(3, N) }, 0, 0, sum_sum_last },
    { "mean", "sum", 1, { OF(N) }, 0, 0, sum_mean },
    { "var", "var", 8, { OF(N) }, 0, 0, sum_var },
    { "var_dim of columns", "var", 24, { OF(N, 3) }, 0, 0, sum_var_first },
    { "softmax", "softmax", 8, { OF(N) }, 0, 0, sum_softmax },
    { "log_softmax", "log_softmax", 8, { OF(N) }, 0, 0, sum_log_softmax },
    { "cross_entropy of rows", "cross_entropy", 1, { OF(N, 3) }, 0, 0, sum_cross_entropy },
    { "cross_entropy of one row", "cross_entropy", 1, { OF(1, N) }, 0, 0, sum_cross_entropy },
    { "cross_entropy_unreduced of rows", "cross_entropy_unreduced", 1, { OF(N, 3) }, 0, 0,
      sum_cross_entropy_rows },
    { "cross_entropy_unreduced of one row", "cross_entropy_unreduced", 1, { OF(1, N) }, 0, 0,
      sum_cross_entropy_rows },
    { "mse_loss", "mse_loss", 8, { OF(N), OF(N) }, 0, 0, sum_mse_loss },
    { "binary_cross_entropy", "binary_cross_entropy", 1, { OF(N), OF(N) }, 0.05, 0.95, sum_bce },
    { "binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", 1, { OF(N), OF(N) }, 0.05, 0.95,
      sum_bce_logits },
    { "binary_cross_entropy_unreduced", "binary_cross_entropy_unreduced", 8, { OF(N), OF(N) }, 0.05, 0.95,
      sum_bce_unreduced },
    { "binary_cross_entropy_with_logits_unreduced", "binary_cross_entropy_with_logits_unreduced", 8,
      { OF(N), OF(N) }, 0.05, 0.95, sum_bce_logits_unreduced },
    { "layer_norm of rows", "layer_norm", 4, { OF(N, 4), OF(4), OF(4) }, 0, 0, sum_layer_norm },
    { "layer_norm of rows of equal values", "layer_norm", 1, { OF(N, 64), OF(64), OF(64) }, 100, 100.3,
      sum_layer_norm },
    { "layer_norm of one row", "layer_norm", 8, { OF(1, N), OF(N), OF(N) }, 0, 0, sum_layer_norm },
    { "rms_norm of rows", "rms_norm", 4, { OF(N, 4), OF(4) }, 0, 0, sum_rms_norm },
    { "rms_norm of one row", "rms_norm", 8, { OF(1, N), OF(N) }, 0, 0, sum_rms_norm },
    { "linear of rows", "linear", 1, { OF(N, 4), OF(5, 4), OF(5) }, 0, 0, sum_linear },
    { "linear of long rows", "linear", 1, { OF(3, N), OF(2, N), OF(2) }, 0, 0, sum_linear },
    { "linear of one long row", "linear", 1, { OF(1, N), OF(2, N), OF(2) }, 0, 0, sum_linear },
    { "matmul of long rows", "matmul", 1, { OF(3, N), OF(N, 2) }, 0, 0, sum_matmul },
    { "matmul of rows by one", "matmul", 1, { OF(N, 2, 2), OF(2, 3) }, 0, 0, sum_matmul },
    { "matmul of one by a batch", "matmul", 1, { OF(N, 2, 2), OF(3, 2) }, 0, 0, sum_matmul_left },
    { "matmul_nt of long rows", "matmul", 1, { OF(3, N), OF(2, N) }, 0, 0, sum_matmul_nt },
    { "matmul_tn of a batch by one", "matmul", 1, { OF(N, 2, 2), OF(2, 3) }, 0, 0, sum_matmul_tn },
    { "embedding", "embedding", 1, { OF(3, 4) }, 0, 0, sum_embedding },
    { "attention: a mask for all", "attention", 4, { OF(N, 2, 2), OF(N, 2, 2), OF(N, 2, 2), OF(2, 2) }, -0.5,
      0.5, sum_masked },
    { "attention: many keys", "attention", 4, { OF(1, 2, 2), OF(1, N, 2), OF(1, N, 2) }, -0.5, 0.5,
      sum_attention },
    { "attention: one query", "attention", 4, { OF(1, 1, 2), OF(1, N, 2), OF(1, N, 2) }, -0.5, 0.5,
      sum_attention },
    { "attention: many queries", "attention", 4, { OF(1, N, 2), OF(1, 2, 2), OF(1, 2, 2) }, -0.5, 0.5,
      sum_attention },
    { "reshape", "reshape", 1, { OF(N) }, 0, 0, sum_reshape },
    { "squeeze", "squeeze", 1, { OF(1, N) }, 0, 0, sum_squeeze },
    { "unsqueeze", "unsqueeze", 1, { OF(N) }, 0, 0, sum_unsqueeze },
    { "expand of a number", "expand", 1, { NUMBER }, 0, 0, sum_expand },
    { "expand of a row", "expand", 1, { OF(8) }, 0, 0, sum_expand_row },
    { "expand of a column", "expand", 1, { OF(3, 1) }, 0, 0, sum_expand_column },
    { "transpose", "permute", 1, { OF(2, N) }, 0, 0, sum_transpose },
    { "concat", "concat", 1, { OF(N), OF(N) }, 0, 0, sum_concat },
    EACH(slice),
};

/* ---- a row, run once ---- */

static real value(const struct sum_case *c, bool equal, double drawn, size_t i)
{
    const double low = c->low < c->high ? c->low : -2, high = c->low < c->high ? c->high : 2;
    const double at = equal ? 0.3 + 0.4 * (double)(i % (size_t)c->period) / c->period : drawn;
    return (real)(float)(low + (high - low) * at);
}

static gra_tensor *make_input(gra_tape *t, const struct sum_case *c, gra_shape shape, int n, bool equal,
                              gra_rng *g)
{
    size_t size;
    for (int d = 0; d < shape.ndim; d++)
        if (shape.dim[d] == N)
            shape.dim[d] = n;
    ck_assert(gra_shape_size(shape, &size));
    gra_tensor *x = gra_zeros(t, shape);
    gra_rand(g, x->data, size);
    for (size_t i = 0; i < size; i++)
        x->data[i] = value(c, equal, (double)x->data[i], i);
    return gra_input(t, x->data, shape);
}

struct sum_run {
    gra_tensor *tensor[1 + INPUTS];     /* y, and the inputs */
    const real *values[1 + INPUTS];     /* y's, and the inputs' gradients */
    double      loss;
};

static struct sum_run run_case(gra_tape *t, const struct sum_case *c, int n, bool equal)
{
    gra_rng g;
    struct sum_run r = { .loss = 0 };
    gra_manual_seed(&g, 1);
    gra_begin(t, GRA_TRAIN, &g);
    for (int i = 0; i < INPUTS; i++)
        r.tensor[1 + i] = make_input(t, c, c->in[i], n, equal, &g);
    gra_tensor *y = r.tensor[0] = c->f(t, r.tensor + 1, n), *weights = gra_zeros(t, y->shape);
    gra_rand(&g, weights->data, y->size);
    for (size_t i = 0; i < y->size; i++)                /* from 0.5 to 1.5 */
        weights->data[i] = equal ? (real)1.1F : (real)(float)(0.5 + (double)weights->data[i]);
    gra_tensor *loss = gra_sum(t, gra_mul(t, y, weights));
    ck_assert_msg(gra_backward(t, loss) == 0, "%s: %s", c->name, gra_error(t));
    r.loss = gra_item(loss);
    r.values[0] = y->data;
    for (int i = 0; i < INPUTS; i++)
        r.values[1 + i] = r.tensor[1 + i]->grad;
    return r;
}

/* Which values are compared: all if there are at most FEW, otherwise FEW of them. */
static size_t compared(size_t size)             { return size < FEW ? size : FEW; }
static size_t place(size_t size, size_t i)      { return size <= FEW ? i : i * (size / FEW); }

/* ---- float against double ---- */

/* SUMS_TERMS=10000000 in the environment sets the number of terms, of both kinds; set it for both suites. */
static const struct round {
    int  terms;
    bool equal;
} rounds[] = { { 100 * 1000, false }, { 1000 * 1000, true } };

static int terms_of(int k)
{
    const char *asked = getenv("SUMS_TERMS");
    return asked ? atoi(asked) : rounds[k].terms;
}

static gra_tape *t;
static void open_tape(void)  { t = gra_open(2); }
static void close_tape(void) { gra_close(t); }

CASE(sums, open_tape, close_tape, "long accuracy")

TEST(every_op_has_a_long_sum)
{
    for (int row = 0; row < op_cases_count; row++) {
        bool found = false;
        for (int i = 0; i < LENGTH(cases); i++)
            found |= strcmp(cases[i].op, op_cases[row].op) == 0;
        ck_assert_msg(found,
                      "core/ops: float was not compared with double on large tensors of the op \"%s\": "
                      "tests/kern/test_sums.c needs a row for it", op_cases[row].op);
    }
}

#define REFERENCE reference_path("sums.txt")

#ifdef GRADUS_DOUBLE
TEST(write_long_sums)
{
    FILE *f = fopen(REFERENCE, "w");
    ck_assert_msg(f, "%s cannot be written", REFERENCE);
    for (int k = 0; k < LENGTH(rounds); k++)
        for (int row = 0; row < LENGTH(cases); row++) {
            const struct sum_run r = run_case(t, &cases[row], terms_of(k), rounds[k].equal);
            fprintf(f, "%s: %d\n%.17g", cases[row].name, terms_of(k), r.loss);
            for (int i = 0; i < 1 + INPUTS; i++)
                for (size_t j = 0; r.values[i] && j < compared(r.tensor[i]->size); j++)
                    fprintf(f, " %.17g", (double)r.values[i][place(r.tensor[i]->size, j)]);
            fprintf(f, "\n");
        }
    ck_assert_int_eq(fclose(f), 0);
}
#else
/* How far float is from double, relative to a tensor's largest value (or to one value's share of the loss,
 * where all are rounding errors). Negative: the file belongs to another table. */
static double worst_of(FILE *f, const struct sum_case *c, int n, bool equal)
{
    char title[128], found[128] = "";
    double loss, worst = 0, want[FEW];
    snprintf(title, sizeof title, "%s: %d", c->name, n);
    if (fscanf(f, " %127[^\n] %lf", found, &loss) != 2 || strcmp(found, title) != 0)
        return -1;
    const struct sum_run r = run_case(t, c, n, equal);
    for (int i = 0; i < 1 + INPUTS; i++) {
        const size_t size = r.tensor[i]->size, few = r.values[i] ? compared(size) : 0;
        double largest = size > FEW ? fabs(loss) / (double)size : 0;
        for (size_t j = 0; j < few; j++) {
            if (fscanf(f, "%lf", &want[j]) != 1)
                return -1;
            largest = fmax(largest, fabs(want[j]));
        }
        for (size_t j = 0; j < few; j++) {
            const double off = fabs((double)r.values[i][place(size, j)] - want[j]);
            worst = isnan(off) ? (double)INFINITY : fmax(worst, largest > 0 ? off / largest : off);
        }
    }
    return worst;
}

TEST(long_sums_agree_with_float64)
{
    static const double tolerance = 1e-6;
    char wrong[4000] = "";
    FILE *f = fopen(REFERENCE, "r");
    bool same = f != NULL;
    for (int k = 0; same && k < LENGTH(rounds); k++)
        for (int row = 0; same && row < LENGTH(cases); row++) {
            const int n = terms_of(k);
            const double worst = worst_of(f, &cases[row], n, rounds[k].equal);
            same = worst >= 0;
            if (!(worst <= tolerance) && strlen(wrong) < sizeof wrong - 200)
                snprintf(wrong + strlen(wrong), 200, "\n%s: %.2g of the largest value, with %d %s terms",
                         cases[row].name, worst, n, rounds[k].equal ? "equal" : "drawn");
        }
    if (f)
        fclose(f);
    ck_assert_msg(!*wrong, "float differs from double:%s", wrong);
    if (!same)
        fprintf(stderr, "left out: long sums in float against double. %s is missing or of another table; "
                "build/f64/test writes it\n", REFERENCE);
}
#endif
