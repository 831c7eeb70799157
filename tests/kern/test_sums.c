/* Long sums: with 100,000 terms and more, float agrees with double. No gradient check detects a float sum
 * that drifts, because gradients are checked in double and on small tensors.
 *
 * Each op has one or more rows, whose inputs have N values. The double suite writes sums and gradients to a
 * file; the float suite compares, first with equal terms, whose rounding errors add up, then with random
 * terms. All values of small tensors are compared, and some values of large tensors. */
#include "lib/reference.h"
#include "ops/ops_table.h"
#include "lib/suites.h"

#include <stdlib.h>

enum { N = -1, INPUTS = 4, FEW = 64 };  /* N in a shape: the number of terms */

struct sum_case {
    const char *name, *op;
    int         period;                 /* with equal terms: the values repeat after this many */
    double      low, high;              /* bounds of random values */
    gra_shape   in[INPUTS];             /* unused inputs are scalars */
    gra_tensor *(*f)(gra_tape *t, gra_tensor **in, int n);
};

/* ---- the table: a line registers itself before main begins ---- */

enum { BEFORE = __COUNTER__ };          /* each row takes the next number */
extern struct sum_case sum_cases[];

/* A row: its name, its op, its period, the bounds, y as an expression of t, n and x, w, b, m (or in[0] ...),
 * and the shapes of these inputs. */
#define ROW(...) ROW_(__COUNTER__, __VA_ARGS__)
#define ROW_(...) ROW__(__VA_ARGS__)
#define ROW__(id, name_, op_, period_, low_, high_, y, ...)                                              \
    static gra_tensor *sum_##id(gra_tape *t, gra_tensor **in, int n)                                     \
    {                                                                                                    \
        gra_tensor *x = in[0], *w = in[1], *b = in[2], *m = in[3];                                       \
        (void)n, (void)x, (void)w, (void)b, (void)m;                                                     \
        return y;                                                                                        \
    }                                                                                                    \
    __attribute__((constructor)) static void add_##id(void)                                              \
    {                                                                                                    \
        sum_cases[id - BEFORE - 1] = (struct sum_case){ name_, op_, period_, low_, high_, { __VA_ARGS__ },  \
                                                        sum_##id };                                      \
    }
#define OF(...) { (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } }
#define NUMBER { 0, { 0 } }

#define EACH(op) CALL(op, gra_##op(t, x))
#define CALL(op, y) ROW(#op, #op, 1, -2, 2, y, OF(N))
#define POSITIVE(op, y) ROW(#op, #op, 1, 0.5, 3, y, OF(N))              /* 0.5 to 3 */
/* one operand is stretched: a number, a row, a column, a plane */
#define STRETCHED(op)                                                                                    \
    ROW(#op " by a number", #op, 1, 0.5, 3, gra_##op(t, x, w), OF(N), NUMBER)                            \
    ROW(#op " of a number", #op, 1, 0.5, 3, gra_##op(t, w, x), OF(N), NUMBER)                            \
    ROW(#op " by a row", #op, 1, 0.5, 3, gra_##op(t, x, w), OF(N, 8), OF(8))                             \
    ROW(#op " by a column", #op, 1, 0.5, 3, gra_##op(t, x, w), OF(3, N), OF(3, 1))                       \
    ROW(#op " by a plane", #op, 1, 0.5, 3, gra_##op(t, x, w), OF(2, N, 3), OF(2, 1, 3))

static int *ids(gra_tape *t, int n, int below)          /* from 0 to below - 1, in an irregular order */
{
    int *id = gra_alloc(t, (size_t)n * sizeof *id);
    for (int i = 0; i < n; i++)
        id[i] = (int)((uint32_t)i * 2654435761u >> 16) % below;
    return id;
}

#define CLASSES  ids(t, gra_dim(x, 0), gra_dim(x, 1))
#define ATTENDED gra_attention(t, x, w, b, &(gra_attention_options){ .heads = 1 })

STRETCHED(add) STRETCHED(sub) STRETCHED(mul) STRETCHED(div)
EACH(abs) EACH(exp) EACH(gelu) EACH(gelu_tanh) EACH(max) EACH(min) EACH(neg) EACH(relu) EACH(sigmoid)
EACH(silu) EACH(tanh) EACH(sin) EACH(cos) EACH(sum)
CALL(add_scalar, gra_add_scalar(t, x, 3))
CALL(scale, gra_scale(t, x, 3))
CALL(clamp, gra_clamp(t, x, -1, 1))
CALL(dropout, gra_dropout(t, x, 0.3))
CALL(slice, gra_slice(t, x, 0, 3, -5))
POSITIVE(log, gra_log(t, x)) POSITIVE(sqrt, gra_sqrt(t, x)) POSITIVE(pow, gra_pow(t, x, 2.5))
ROW("where", "where", 1, 0.5, 1.5, gra_where(t, gra_lt(t, x, gra_scalar(t, 1.2)), w, b),
    OF(N), NUMBER, NUMBER)
ROW("where of a row", "where", 1, 0.5, 1.5, gra_where(t, gra_lt(t, x, gra_scalar(t, 1.2)), w, b),
    OF(N, 3), OF(3), OF(1))
ROW("masked_fill", "masked_fill", 1, -2, 2, gra_masked_fill(t, x, gra_relu(t, w), 0.5), OF(N), OF(N))
ROW("causal_mask", "causal_mask", 8, -2, 2, gra_softmax(t, gra_causal_mask(t, x), -1), OF(2, N))
ROW("sum_dim of columns", "sum", 1, -2, 2, gra_sum_dim(t, x, 0, false), OF(N, 3))
ROW("sum_dim of rows", "sum", 1, -2, 2, gra_sum_dim(t, x, -1, false), OF(3, N))
ROW("mean", "sum", 1, -2, 2, gra_mean(t, x), OF(N))
ROW("var", "var", 8, -2, 2, gra_var(t, x, 1), OF(N))
ROW("var_dim of columns", "var", 24, -2, 2, gra_var_dim(t, x, 0, 0, false), OF(N, 3))
ROW("softmax", "softmax", 8, -2, 2, gra_softmax(t, x, -1), OF(N))
ROW("log_softmax", "log_softmax", 8, -2, 2, gra_log_softmax(t, x, -1), OF(N))
ROW("cross_entropy of rows", "cross_entropy", 1, -2, 2, gra_cross_entropy(t, x, CLASSES), OF(N, 3))
ROW("cross_entropy of one row", "cross_entropy", 1, -2, 2, gra_cross_entropy(t, x, CLASSES), OF(1, N))
ROW("cross_entropy_unreduced of rows", "cross_entropy_unreduced", 1, -2, 2,
    gra_cross_entropy_unreduced(t, x, CLASSES), OF(N, 3))
ROW("cross_entropy_unreduced of one row", "cross_entropy_unreduced", 1, -2, 2,
    gra_cross_entropy_unreduced(t, x, CLASSES), OF(1, N))
ROW("mse_loss", "mse_loss", 8, -2, 2, gra_mse_loss(t, x, w), OF(N), OF(N))
ROW("binary_cross_entropy", "binary_cross_entropy", 1, 0.05, 0.95, gra_binary_cross_entropy(t, x, w),
    OF(N), OF(N))
ROW("binary_cross_entropy_with_logits", "binary_cross_entropy_with_logits", 1, 0.05, 0.95,
    gra_binary_cross_entropy_with_logits(t, x, w), OF(N), OF(N))
ROW("binary_cross_entropy_unreduced", "binary_cross_entropy_unreduced", 8, 0.05, 0.95,
    gra_binary_cross_entropy_unreduced(t, x, w), OF(N), OF(N))
ROW("binary_cross_entropy_with_logits_unreduced", "binary_cross_entropy_with_logits_unreduced", 8, 0.05, 0.95,
    gra_binary_cross_entropy_with_logits_unreduced(t, x, w), OF(N), OF(N))
ROW("layer_norm of rows", "layer_norm", 4, -2, 2, gra_layer_norm(t, x, w, b, 1e-5), OF(N, 4), OF(4), OF(4))
ROW("layer_norm of rows of equal values", "layer_norm", 1, 100, 100.3, gra_layer_norm(t, x, w, b, 1e-5),
    OF(N, 64), OF(64), OF(64))
ROW("layer_norm of one row", "layer_norm", 8, -2, 2, gra_layer_norm(t, x, w, b, 1e-5), OF(1, N), OF(N), OF(N))
ROW("rms_norm of rows", "rms_norm", 4, -2, 2, gra_rms_norm(t, x, w, 1e-6), OF(N, 4), OF(4))
ROW("rms_norm of one row", "rms_norm", 8, -2, 2, gra_rms_norm(t, x, w, 1e-6), OF(1, N), OF(N))
ROW("linear of rows", "linear", 1, -2, 2, gra_linear(t, x, w, b), OF(N, 4), OF(5, 4), OF(5))
ROW("linear of long rows", "linear", 1, -2, 2, gra_linear(t, x, w, b), OF(3, N), OF(2, N), OF(2))
ROW("linear of one long row", "linear", 1, -2, 2, gra_linear(t, x, w, b), OF(1, N), OF(2, N), OF(2))
ROW("matmul of long rows", "matmul", 1, -2, 2, gra_matmul(t, x, w), OF(3, N), OF(N, 2))
ROW("matmul of rows by one", "matmul", 1, -2, 2, gra_matmul(t, x, w), OF(N, 2, 2), OF(2, 3))
ROW("matmul of one by a batch", "matmul", 1, -2, 2, gra_matmul(t, w, x), OF(N, 2, 2), OF(3, 2))
ROW("matmul_nt of long rows", "matmul", 1, -2, 2, gra_matmul_nt(t, x, w), OF(3, N), OF(2, N))
ROW("matmul_tn of a batch by one", "matmul", 1, -2, 2, gra_matmul_tn(t, x, w), OF(N, 2, 2), OF(2, 3))
ROW("embedding", "embedding", 1, -2, 2, gra_embedding(t, x, ids(t, n, 3), GRA_SHAPE(n)), OF(3, 4))
ROW("attention: a mask for all", "attention", 4, -0.5, 0.5,
    gra_attention(t, x, w, b, &(gra_attention_options){ .heads = 1, .mask = m }),
    OF(N, 2, 2), OF(N, 2, 2), OF(N, 2, 2), OF(2, 2))
ROW("attention: many keys", "attention", 4, -0.5, 0.5, ATTENDED,
    OF(1, 2, 2), OF(1, N, 2), OF(1, N, 2))
ROW("attention: many keys, all positive", "attention", 8, 0, 1, ATTENDED,
    OF(1, 2, 2), OF(1, N, 2), OF(1, N, 2))
ROW("attention: one query", "attention", 4, -0.5, 0.5, ATTENDED,
    OF(1, 1, 2), OF(1, N, 2), OF(1, N, 2))
ROW("attention: many queries", "attention", 4, -0.5, 0.5, ATTENDED,
    OF(1, N, 2), OF(1, 2, 2), OF(1, 2, 2))
ROW("reshape", "reshape", 1, -2, 2, gra_reshape(t, x, GRA_SHAPE(n / 4, 4)), OF(N))
ROW("squeeze", "squeeze", 1, -2, 2, gra_squeeze(t, x, 0), OF(1, N))
ROW("unsqueeze", "unsqueeze", 1, -2, 2, gra_unsqueeze(t, x, -1), OF(N))
ROW("expand of a number", "expand", 1, -2, 2, gra_expand(t, x, GRA_SHAPE(n)), NUMBER)
ROW("expand of a row", "expand", 1, -2, 2, gra_expand(t, x, GRA_SHAPE(n, 8)), OF(8))
ROW("expand of a column", "expand", 1, -2, 2, gra_expand(t, x, GRA_SHAPE(3, n)), OF(3, 1))
ROW("transpose", "permute", 1, -2, 2, gra_transpose(t, x, 0, 1), OF(2, N))
ROW("concat", "concat", 1, -2, 2, gra_concat(t, 2, in, 0), OF(N), OF(N))

enum { ROWS = __COUNTER__ - BEFORE - 1 };
struct sum_case sum_cases[ROWS];

/* ---- a row, run once ---- */

static real value(const struct sum_case *c, bool equal, double drawn, size_t i)
{
    const double at = equal ? 0.3 + 0.4 * (double)(i % (size_t)c->period) / c->period : drawn;
    return (real)(float)(c->low + (c->high - c->low) * at);
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

/* ---- float against double ---- */

/* SUMS_TERMS=10000000 in the environment sets the number of terms of both kinds; set it for both suites. */
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
        for (int i = 0; i < ROWS; i++)
            found |= strcmp(sum_cases[i].op, op_cases[row].op) == 0;
        ck_assert_msg(found,
                      "core/ops: float was not compared with double on large tensors of the op \"%s\": "
                      "tests/kern/test_sums.c needs a row for it", op_cases[row].op);
    }
}

/* How far a row is from the written values, relative to a tensor's largest value (or, if all values are
 * rounding errors, to one value's share of the loss). All values are compared, or FEW of them. */
static double off_of(reference *f, const struct sum_case *c, int n, bool equal)
{
    const struct sum_run r = run_case(t, c, n, equal);
    const double loss = fabs(reference_number(f, r.loss));
    double worst = 0;
    for (int i = 0; i < 1 + INPUTS; i++) {
        const size_t size = r.tensor[i]->size, step = size <= FEW ? 1 : size / FEW;
        if (r.values[i])
            worst = fmax(worst, reference_off(f, r.values[i], size < FEW ? size : FEW, step,
                                              size > FEW ? loss / (double)size : 0));
    }
    return worst;
}

/* Writes in double, and compares in float. */
TEST(long_sums_agree_with_float64)
{
    static const double tolerance = 1e-6;
    char wrong[4000] = "", title[128];
    reference f = reference_open("sums.txt", sizeof(real) == sizeof(double));
    for (int k = 0; k < LENGTH(rounds); k++)
        for (int row = 0; f.same && row < ROWS; row++) {
            const char *name = sum_cases[row].name, *kind = rounds[k].equal ? "equal" : "drawn";
            snprintf(title, sizeof title, "%s, with %d %s terms", name, terms_of(k), kind);
            reference_title(&f, title);
            const double off = off_of(&f, &sum_cases[row], terms_of(k), rounds[k].equal);
            if (!(off <= tolerance) && strlen(wrong) < sizeof wrong - 200)
                snprintf(wrong + strlen(wrong), 200, "\n%s: %.2g of the largest value", title, off);
        }
    reference_close(&f, "long sums against long sums");
    ck_assert_msg(!*wrong, "float differs from double:%s", wrong);
}
