/* 16 in_matrices: the judge. */
#include "matrix.h"

struct sizes {
    int N, D, d, e;
};
enum { W_Q, B_Q, W_K, B_K, W_V, B_V, X_ };
struct numbers {
    const double *of[7];                                    /* W_q, b_q, W_k, ..., X, with a token in each column */
};

/* What was computed; all fields zero: what is wanted. */
struct form {
    bool no_bias, no_b_q, no_b_v;                           /* biases left out: all, or one */
    bool swapped_b, v_b_k;                                  /* b_k for b_q; b_k for b_v */
    bool q_by_k, k_by_q, v_by_k;                            /* queries by W_k; keys by W_q; values by W_k */
    bool causal, residual, raw;                             /* a mask; X added; scores of X, not of Q and K */
    bool W_T, b_row, b_twice;                               /* W^T for W; b as a row; added twice (all: if it fits) */
    bool exchanged, over_queries, both;                     /* q and k; softmax along the other dimension; both */
    bool no_softmax, naive, after, twice;                   /* naive: without the largest; after: divided afterwards */
    bool mix_x, mix_k;                                      /* X or K in place of V */
    double divisor;                                         /* in place of sqrt(d) */
};

static double *affine(const struct numbers *a, const struct sizes *s, int W, int b, int d, bool bias, struct form f)
{
    double *y = mat_product(f.W_T ? mat_transposed(a->of[W], d, d) : a->of[W], a->of[X_], d, s->D, s->N);
    if (f.b_row)
        return mat_transposed(mat_columns_plus(mat_transposed(y, d, d), a->of[b], d, d), d, d);
    y = f.b_twice ? mat_columns_plus(y, a->of[b], d, s->N) : y;
    return bias ? mat_columns_plus(y, a->of[b], d, s->N) : y;
}

static double *head(const struct numbers *a, const struct sizes *s, struct form f)
{
    const int N = s->N;
    const double divisor = f.divisor != 0 ? f.divisor : sqrt(s->d);
    double *Q = affine(a, s, f.q_by_k ? W_K : W_Q, f.swapped_b ? B_K : B_Q, s->d, !f.no_bias && !f.no_b_q, f);
    double *K = affine(a, s, f.k_by_q ? W_Q : W_K, B_K, s->d, !f.no_bias, f);
    double *V = f.mix_x ? mat_scaled(a->of[X_], 1, s->D * N) : f.mix_k ? K
                : affine(a, s, f.v_by_k ? W_K : W_V, f.v_b_k ? B_K : B_V, s->e, !f.no_bias && !f.no_b_v, f);
    if (f.exchanged || f.both) {
        double *other = Q;
        Q = K;
        K = other;
    }
    double *A = mat_scaled(mat_product(mat_transposed(K, s->d, N), Q, N, s->d, N), f.after ? 1 : 1 / divisor, N * N);
    if (f.raw)
        A = mat_scaled(mat_product(mat_transposed(a->of[X_], s->D, N), a->of[X_], N, s->D, N), 1 / divisor, N * N);
    for (int i = 0; i < N * N && f.causal; i++)
        A[i] = i / N > i % N ? (double)-INFINITY : A[i];
    if (f.naive)
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int j = 0; j < N; j++)
                sum += exp(A[j * N + i]);
            for (int j = 0; j < N; j++)
                A[j * N + i] = exp(A[j * N + i]) / sum;
        }
    else if (!f.no_softmax)
        A = f.over_queries || f.both ? mat_softmax_rows(A, N, N) : mat_softmax_columns(A, N, N);
    if (f.twice)
        A = mat_softmax_columns(A, N, N);
    if (f.residual)
        return mat_sum(mat_product(V, A, s->e, N, N), a->of[X_], s->e * N);
    return mat_product(V, mat_scaled(A, f.after ? 1 / divisor : 1, N * N), f.mix_x ? s->D : s->e, N, N);
}

/* A key bias adds the same to all scores of a query, so Y is the same without it, and no number tells. */
static void uses_b_k(const gra_tensor *y, const gra_tensor *b_k)
{
    for (const gra_tensor *made = y; made; made = made->prev)
        for (int i = 0; i < made->nin; i++)
            if (made->in[i] == b_k)
                return;
    judge_wrong("Y is right, but b_k was used nowhere. It adds the same to all scores of a query, which softmax does "
                "not\nsee; still the formula has it: K = W_k X + b_k");
}

typedef gra_tensor *head_fn(gra_tape *t, const struct head_parameters *p, gra_tensor *X);

static struct head_parameters inputs(gra_tape *t, const struct numbers *a, const struct sizes *s)
{
    return (struct head_parameters){
        gra_input(t, a->of[W_Q], GRA_SHAPE(s->d, s->D)), gra_input(t, a->of[B_Q], GRA_SHAPE(s->d, 1)),
        gra_input(t, a->of[W_K], GRA_SHAPE(s->d, s->D)), gra_input(t, a->of[B_K], GRA_SHAPE(s->d, 1)),
        gra_input(t, a->of[W_V], GRA_SHAPE(s->e, s->D)), gra_input(t, a->of[B_V], GRA_SHAPE(s->e, 1)) };
}

/* Where all scores are 0 Y is the mean of V: tells whether what is wrong comes before it or after. */
static bool mean_is_right(head_fn *f, bool rows, const struct numbers *a, const struct sizes *s)
{
    struct numbers zero = *a;
    for (int i = W_Q; i <= B_K; i++)
        zero.of[i] = mat_scaled(a->of[i], 0, i == W_Q || i == W_K ? s->d * s->D : s->d);
    const double *want = head(&zero, s, (struct form){ 0 }), *x = a->of[X_];
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const struct head_parameters p = inputs(t, &zero, s);
    gra_tensor *y = f(t, &p, gra_input(t, rows ? mat_transposed(x, s->D, s->N) : x,
                                       rows ? GRA_SHAPE(s->N, s->D) : GRA_SHAPE(s->D, s->N)));
    if (gra_error(t) || !y || y->size != (size_t)(s->e * s->N))
        return false;
    bool right = true;
    for (int i = 0; i < s->e * s->N; i++)
        right = right && fabs(y->data[i] - (rows ? mat_transposed(want, s->e, s->N) : want)[i]) < 1e-9;
    gra_close(t);
    return right;
}

static void judge_head(const char *part, head_fn *f, bool rows, const struct numbers *a, struct sizes s,
                       const double *printed)
{
    const int N = s.N;
    const struct sizes at = s;
    const bool square = N == s.D && s.D == s.d && s.d == s.e;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("%s: %s", rows ? "rows" : "columns", part);
    const double *x = rows ? mat_transposed(a->of[X_], s.D, N) : a->of[X_];
    const struct head_parameters p = inputs(t, a, &at);
    gra_tensor *y = f(t, &p, gra_input(t, x, rows ? GRA_SHAPE(N, s.D) : GRA_SHAPE(s.D, N)));
    const gra_shape shape = rows ? GRA_SHAPE(N, s.e) : GRA_SHAPE(s.e, N);
    const double *got = judge_tensor(t, "Y", y, shape);
    judge_without(y, "attention");
#define FORM(...) (rows ? mat_transposed(head(a, &at, (struct form){ __VA_ARGS__ }), s.e, N)             \
                        : head(a, &at, (struct form){ __VA_ARGS__ }))
    const double *want = FORM(.no_bias = false);
    judge_numbers("Y", shape, got, printed ? printed : want, printed ? 2e-5 : 1e-10, JUDGE_MISTAKES(
        { "the biases were left out", FORM(.no_bias = true) },
        { "b_q was left out", FORM(.no_b_q = true) },
        { "b_v was left out", FORM(.no_b_v = true) },
        { "b_k was added to the queries: each projection has its own bias", FORM(.swapped_b = true) },
        { "b_k was added to the values: each projection has its own bias", s.d == s.e ? FORM(.v_b_k = true) : want },
        { "the keys were made by W_q: each projection has its own W", FORM(.k_by_q = true) },
        { "the queries were made by W_k: each projection has its own W", FORM(.q_by_k = true) },
        { "the queries were made by W_k and b_k: each projection has its own", FORM(.q_by_k = true, .swapped_b = true) },
        { "the keys after the query were hidden: no mask is asked for here", FORM(.causal = true) },
        { "all weights are alike: Y is the mean of V", FORM(.divisor = INFINITY) },
        { "X was added to the result: that is not asked for here", s.e == s.D ? FORM(.residual = true) : want },
        { "the scores are X^T X, not those of queries and keys", FORM(.raw = true) },
        { "the values were made by W_k: each projection has its own W", s.d == s.e ? FORM(.v_by_k = true) : want },
        { "the biases were added twice", FORM(.b_twice = true) },
        { "W^T was taken for W: with these sizes both fit", square ? FORM(.W_T = true) : want },
        { "b was stretched the wrong way: b_i belongs to number i of each token", square ? FORM(.b_row = true) : want },
        { "the scores were multiplied by sqrt(d): divide", FORM(.divisor = 1 / sqrt(s.d)) },
        { "the scores were not divided by sqrt(d)", FORM(.divisor = 1) },
        { "divided by d, not by its root", FORM(.divisor = s.d) },
        { "divided by sqrt(D), the size of a token: d, the size of a query, is meant", FORM(.divisor = sqrt(s.D)) },
        { "divided by sqrt(N), by how many tokens there are: d, the size of a query, is meant", FORM(.divisor = sqrt(N)) },
        { "divided by sqrt(e), the size of a value: d, the size of a query, is meant", FORM(.divisor = sqrt(s.e)) },
        { "the softmax was divided by sqrt(d), not the scores before it", FORM(.after = true) },
        { rows ? "softmax by columns: here a query is a row, whose weights sum to 1"
               : "softmax by rows: here a query is a column, whose weights sum to 1", FORM(.over_queries = true) },
        { rows ? "K Q^T was taken for Q K^T: row i is to hold the scores of query i"
               : "Q^T K was taken for K^T Q: column i is to hold the scores of query i", FORM(.exchanged = true) },
        { "the weights are transposed: what is mixed for query i are the weights that others give to i",
          FORM(.both = true) },
        { "softmax was taken twice", FORM(.twice = true) },
        { "without softmax", FORM(.no_softmax = true) },
        { "e^score of a large score is infinite: gra_softmax subtracts the largest first", FORM(.naive = true) },
        { "X was mixed, not V", s.e == s.D ? FORM(.mix_x = true) : want },
        { "K was mixed, not V", s.e == s.d ? FORM(.mix_k = true) : want },
        { mean_is_right(f, rows, a, &at)
              ? "with W_q, b_q, W_k and b_k all 0 it is right: what is wrong are the scores, or their softmax"
              : "with W_q, b_q, W_k and b_k all 0, so that Y is the mean of V, it is wrong too: look at V, and at what\n"
                "it is multiplied by", got }));
#undef FORM
    uses_b_k(y, p.b_k);
    gra_close(t);
}

static struct numbers drawn(struct sizes s, double largest)
{
    const int size[7] = { s.d * s.D, s.d, s.d * s.D, s.d, s.e * s.D, s.e, s.D * s.N };
    struct numbers a;
    for (int i = 0; i < 7; i++)
        a.of[i] = judge_draw(10 + (uint64_t)i, (size_t)size[i], -largest, largest);
    return a;
}

/* The numbers that PyTorch 1.13 prints for the three tokens of exercise 14: torch.randn(4, 1) each after
 * torch.manual_seed(3), and W_q, W_k, W_v (4, 4), b_q, b_k, b_v (4, 1) after torch.manual_seed(0). */
static struct numbers pytorch(void)
{
    enum { D = 4, N = 3 };
    double *x = judge_room(N * D), *W[3], *b[3];
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    for (int i = 0; i < N; i++)
        gra_randn(&rng, x + i * D, D);
    gra_manual_seed(&rng, 0);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, W[i] = judge_room(D * D), D * D);
    for (int i = 0; i < 3; i++)
        gra_randn(&rng, b[i] = judge_room(D), D);
    return (struct numbers){ { W[0], b[0], W[1], b[1], W[2], b[2], mat_transposed(x, N, D) } };
}

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *rows)
{
    gra_tensor *b_k = gra_constant(t, (double[]){ 0.3, -0.4 }, GRA_SHAPE(2, 1));     /* its gradient is 0 */
    const struct head_parameters p = { in[1], in[2], in[3], b_k, in[4], in[5] };
    return rows ? in_rows(t, &p, in[0]) : in_columns(t, &p, in[0]);
}

void judge_exercise(void)
{
    const struct sizes differ = { 5, 3, 2, 4 }, equal = { 3, 3, 3, 3 }, one = { 1, 2, 3, 1 }, torch = { 3, 4, 4, 4 };
    const struct numbers a = drawn(differ, 2), b = drawn(equal, 2), c = drawn(one, 2), large = drawn(differ, 40);
    const struct numbers p = pytorch();
    const double printed[] = { 0.2117, 0.6486, 0.6463, 1.0697, 0.9883, 0.8405, -3.3355, -2.4109, -1.6421,
                               -4.9260, -3.0185, -0.0805 };
    for (int rows = 0; rows < 2; rows++) {
        head_fn *f = rows ? in_rows : in_columns;
        judge_head("N = 5, D = 3, d = 2, e = 4", f, rows, &a, differ, NULL);
        judge_head("all sizes 3, where a transpose fits everywhere", f, rows, &b, equal, NULL);
        judge_head("one token", f, rows, &c, one, NULL);
        judge_head("large scores", f, rows, &large, differ, NULL);
        judge_head("the tokens of exercise 14, with PyTorch's numbers", f, rows, &p, torch,
                   rows ? mat_transposed(printed, 4, 3) : printed);
        judge_part("%s: the gradients come by themselves", rows ? "rows" : "columns");
        const gra_check_in in[] = {
            { .name = "X", .shape = rows ? GRA_SHAPE(3, 2) : GRA_SHAPE(2, 3) },
            { .name = "W_q", .shape = GRA_SHAPE(2, 2) }, { .name = "b_q", .shape = GRA_SHAPE(2, 1) },
            { .name = "W_k", .shape = GRA_SHAPE(2, 2) }, { .name = "W_v", .shape = GRA_SHAPE(1, 2) },
            { .name = "b_v", .shape = GRA_SHAPE(1, 1) } };
        judge_gradients(GRA_GRAD, NULL, NULL, 6, in, checked, rows ? &rows : NULL);
    }
}
