/* 16 in_matrices: the judge. */
#include "matrix.h"

struct sizes {
    int N, D, d, e;
};
enum { W_Q, B_Q, W_K, B_K, W_V, B_V, X_ };
struct numbers {
    const double *of[7];                    /* W_q, b_q, W_k, ..., X, with a token in each column */
    struct sizes  size;
    bool          rows;                     /* tokens in rows are asked for */
};

/* W X + b, (height, N). `plain` is without b, W_T with W^T, b_row with b as a row, b_twice with b twice;
 * in `reshaped` the numbers of W X, in b_reshaped those of W X + b, are taken for (N, height). */
struct biases {
    bool plain, W_T, b_row, b_twice, reshaped, b_reshaped;
};
static double *affine(const struct numbers *a, int W, int b, int height, struct biases f)
{
    const int N = a->size.N;
    double *y = mat_product(f.W_T ? mat_transposed(a->of[W], height, height) : a->of[W], a->of[X_], height,
                            a->size.D, N);
    y = f.reshaped ? mat_transposed(y, N, height) : y;
    if (f.b_row)
        return mat_transposed(mat_columns_plus(mat_transposed(y, height, N), a->of[b], N, height), N, height);
    y = f.b_twice ? mat_columns_plus(y, a->of[b], height, N) : y;
    y = f.plain ? y : mat_columns_plus(y, a->of[b], height, N);
    return f.b_reshaped ? mat_transposed(y, N, height) : y;
}

/* e^s of each column over its sum, or (total) that of all, or (plain) over 1. Not its largest is subtracted,
 * but `top` times it, or for top = 1 the largest of all. */
static double *naive_softmax(const double *s, int N, double top, bool plain, bool total)
{
    double *a = judge_room((size_t)(N * N)), sums = 0, all = -INFINITY;
    for (int i = 0; i < N * N; i++)
        all = fmax(all, s[i]), sums += exp(s[i]);
    for (int i = 0; i < N; i++) {
        double sum = 0, most = -INFINITY;
        for (int j = 0; j < N; j++)
            most = fmax(most, s[j * N + i]);
        const double from = top == 1 ? all : top * most;
        for (int j = 0; j < N; j++)
            sum += exp(s[j * N + i] - from);
        for (int j = 0; j < N; j++)
            a[j * N + i] = exp(s[j * N + i] - from) / (plain ? 1 : total ? sums : sum);
    }
    return a;
}

/* Y = V softmax(K^T Q / sqrt(d)), its columns being tokens; transposed where tokens are rows. */
static void head(double *out, void *arg)
{
    struct numbers numbers = *(const struct numbers *)arg, *a = &numbers;
    const int N = a->size.N, D = a->size.D, d = a->size.d, e = a->size.e;
    const bool square = N == D && D == d && d == e, rows = a->rows;
    struct biases all = { .plain = slip("the biases were left out") };
    const bool no_b_q = slip("b_q was left out"), no_b_v = slip("b_v was left out");
    const bool q_by_both = slip("the queries were made by W_k and b_k: each projection has its own");
    const bool q_b_k = slip("b_k was added to the queries: each projection has its own bias") || q_by_both;
    const bool v_b_k = slip("b_k was added to the values: each projection has its own bias") && d == e;
    const bool v_b_q = slip("b_q was added to the values: each projection has its own bias") && d == e;
    const bool q_b_v = slip("b_v was added to the queries: each projection has its own bias") && d == e;
    const bool k_by_q = slip("the keys were made by W_q: each projection has its own W");
    const bool q_by_k = slip("the queries were made by W_k: each projection has its own W") || q_by_both;
    const bool causal = slip("the keys after the query were masked: no mask is asked for here");
    const bool even = slip("all weights are equal: are the scores 0? In C, 1 / d is 0 for an int d > 1");
    const bool negative = slip("the sign of the scores is wrong");
    const bool with_v = slip("V was added to the result: that is not asked for here");
    const bool residual = slip("X was added to the result: that is not asked for here") && e == D;
    const bool raw = slip("the scores are X^T X: they should be those of queries and keys");
    const bool v_by_k = slip("the values were made by W_k: each projection has its own W") && d == e;
    all.reshaped = rows && slip("W X^T was reshaped: that keeps the numbers' order, so transpose it");
    all.b_reshaped = rows && slip("W X^T + b was reshaped: that keeps the numbers' order, so transpose it");
    const bool Y_reshaped = rows && slip("Y was reshaped: that keeps the numbers' order, so transpose it");
    if (rows && slip("X was reshaped: that keeps the numbers' order, so transpose it"))
        a->of[X_] = mat_transposed(a->of[X_], D, N);
    all.b_twice = slip("the biases were added twice");
    all.W_T = slip("W^T is used instead of W: with these sizes both fit") && square;
    all.b_row = slip("b was stretched the wrong way: b_i belongs to number i of each token") && square;
    const double by = slip("the scores were multiplied by sqrt(d): divide") ? 1 / sqrt(d)
        : slip("the scores were not divided by sqrt(d)") ? 1 : slip("divided by d: divide by its root") ? d
        : slip("divided by sqrt(D), the size of a token: d is the size of a query") ? sqrt(D)
        : slip("divided by sqrt(N), the number of tokens: d is the size of a query") ? sqrt(N)
        : slip("divided by sqrt(e), the size of a value: d is the size of a query") ? sqrt(e)
        : slip("divided by sqrt(d) rounded down, a whole number: keep the root in a double") ? floor(sqrt(d))
        : sqrt(d);
    const bool after = slip("the softmax was divided by sqrt(d): divide the scores before it");
    const bool over = slip(rows ? "softmax by columns: here a query is a row, whose weights sum to 1"
                                 : "softmax by rows: here a query is a column, whose weights sum to 1");
    const bool exchanged = slip(rows
        ? "queries and keys are exchanged: row i of Q K^T has the scores of query i"
        : "queries and keys are exchanged: column i of K^T Q has the scores of query i");
    const bool both = slip("the weights are transposed: query i uses the weights that others give to it");
    const bool twice = slip("softmax was applied twice"), none = slip("softmax is left out");
    const bool naive = slip("e^score of a large score is infinite: gra_softmax subtracts the largest first");
    const bool raw_top = slip("the largest score was taken before the division: all e^(...) become 0");
    const bool one_top = slip("the largest of all scores was subtracted: each query needs its own largest");
    const bool plain = slip("e^score is not divided by its sum over the keys: use gra_softmax");
    const bool total = slip("e^score is divided by the sum of all: divide by that over the keys of a query");
    const bool mix_q = slip("Q was mixed: mix V") && e == d;
    const bool mix_x = slip("X was mixed: mix V") && e == D, mix_k = slip("K was mixed: mix V") && e == d;
    struct biases of_q = all, of_v = all;
    of_q.plain = all.plain || no_b_q, of_v.plain = all.plain || no_b_v;
    const double *Q = affine(a, q_by_k ? W_K : W_Q, q_b_k ? B_K : q_b_v ? B_V : B_Q, d, of_q);
    const double *K = affine(a, k_by_q ? W_Q : W_K, B_K, d, all);
    const double *V = mix_x ? a->of[X_] : mix_k ? K : mix_q ? Q
                    : affine(a, v_by_k ? W_K : W_V, v_b_k ? B_K : v_b_q ? B_Q : B_V, e, of_v);
    const double *x = raw ? a->of[X_] : exchanged || both ? Q : K, *y = raw ? x : exchanged || both ? K : Q;
    double *A = mat_scaled(mat_product(mat_transposed(x, raw ? D : d, N), y, N, raw ? D : d, N), after ? 1
                           : 1 / by, N * N);
    for (int i = 0; i < N * N; i++)
        A[i] = causal && i / N > i % N ? (double)-INFINITY : even ? 0 : negative ? -A[i] : A[i];
    A = none ? A : naive || raw_top || one_top || plain || total
      ? naive_softmax(A, N, raw_top ? by : one_top, plain, total) : over || both ? mat_softmax_rows(A, N, N)
      : mat_softmax_columns(A, N, N);
    A = twice ? mat_softmax_columns(A, N, N) : A;
    double *Y = mat_product(V, mat_scaled(A, after ? 1 / by : 1, N * N), e, N, N);
    Y = residual || with_v ? mat_sum(Y, with_v ? V : a->of[X_], e * N) : Y;
    memcpy(out, rows && !Y_reshaped ? mat_transposed(Y, e, N) : Y, (size_t)(e * N) * sizeof *out);
}

/* A key bias adds the same number to all scores of a query, which changes no Y: only the graph shows it. */
static void uses_b_k(const gra_tensor *y, const gra_tensor *b_k)
{
    for (const gra_tensor *made = y; made; made = made->prev)
        for (int i = 0; i < made->nin; i++)
            if (made->in[i] == b_k)
                return;
    judge_wrong("Y is right, but b_k was never used. It adds the same number to all scores of a query, which "
                "does not change softmax; but the formula has it: K = W_k X + b_k");
}

typedef gra_tensor *head_fn(gra_tape *t, const struct head_parameters *p, gra_tensor *X);

static struct head_parameters inputs(gra_tape *t, const struct numbers *a)
{
    const struct sizes *s = &a->size;
    return (struct head_parameters){
        gra_input(t, a->of[W_Q], GRA_SHAPE(s->d, s->D)), gra_input(t, a->of[B_Q], GRA_SHAPE(s->d, 1)),
        gra_input(t, a->of[W_K], GRA_SHAPE(s->d, s->D)), gra_input(t, a->of[B_K], GRA_SHAPE(s->d, 1)),
        gra_input(t, a->of[W_V], GRA_SHAPE(s->e, s->D)), gra_input(t, a->of[B_V], GRA_SHAPE(s->e, 1)) };
}

/* The answer's Y for tokens in columns or rows. */
static const gra_tensor *answer(gra_tape *t, head_fn *f, const struct numbers *a, gra_tensor **b_k)
{
    const struct head_parameters p = inputs(t, a);
    const int N = a->size.N, D = a->size.D;
    *b_k = p.b_k;
    return f(t, &p, gra_input(t, a->rows ? mat_transposed(a->of[X_], D, N) : a->of[X_],
                              a->rows ? GRA_SHAPE(N, D) : GRA_SHAPE(D, N)));
}

/* If all scores are 0, Y is the mean of V: this tells whether the mistake is in the scores or after them. */
static bool mean_is_right(head_fn *f, const struct numbers *a)
{
    const struct sizes *s = &a->size;
    struct numbers zero = *a;
    gra_tensor *b_k;
    for (int i = W_Q; i <= B_K; i++)
        zero.of[i] = mat_scaled(a->of[i], 0, i == W_Q || i == W_K ? s->d * s->D : s->d);
    double *want = judge_room((size_t)(s->e * s->N));
    head(want, &zero);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    const gra_tensor *y = answer(t, f, &zero, &b_k);
    if (gra_error(t) || !y || y->size != (size_t)(s->e * s->N))
        return false;
    bool right = true;
    for (int i = 0; i < s->e * s->N; i++)
        right = right && fabs(y->data[i] - want[i]) < 1e-9;
    gra_close(t);
    return right;
}

static void judge_head(const char *part, head_fn *f, struct numbers a, const double *printed)
{
    const gra_shape shape = a.rows ? GRA_SHAPE(a.size.N, a.size.e) : GRA_SHAPE(a.size.e, a.size.N);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *b_k;
    judge_part("%s: %s", a.rows ? "rows" : "columns", part);
    const gra_tensor *y = answer(t, f, &a, &b_k);
    const char *column = gra_error(t) ? strstr(gra_error(t), ", 1)") : NULL;
    if (a.rows && column && strncmp(gra_error(t), "add", 3) == 0)
        judge_wrong("gradus refused: %s\nb_q, b_k and b_v are columns: where tokens are rows, each must be "
                    "a row, (1, d) or (1, e), to be added to every token", gra_error(t));
    const int width = shape.dim[0], height = shape.dim[1];
    if (!gra_error(t) && y && width != height && gra_same_shape(y->shape, GRA_SHAPE(height, width)))
        judge_wrong("Y: got the shape (%d, %d), expected (%d, %d): here a token is a %s\n"
                    "transpose the result", height, width, width, height, a.rows ? "row" : "column");
    const double *got = judge_tensor(t, "Y", y, shape);
    judge_without(y, "attention");
    if (mean_is_right(f, &a))
        judge_clue("with W_q, b_q, W_k and b_k all 0 it is right, so look at the scores, or at their "
                   "softmax");
    judge_clue("with W_q, b_q, W_k and b_k all 0, so that Y is the mean of V, it is wrong too: look at V, "
               "and at what it is multiplied by");
    judge_against("Y", shape, got, 1e-10, head, &a);
    if (printed)
        judge_numbers("Y", shape, got, printed, 2e-5);
    uses_b_k(y, b_k);
    gra_close(t);
}

static struct numbers drawn(struct sizes s, double largest)
{
    const int size[7] = { s.d * s.D, s.d, s.d * s.D, s.d, s.e * s.D, s.e, s.D * s.N };
    struct numbers a = { .size = s };
    for (int i = 0; i < 7; i++)
        a.of[i] = judge_draw(10 + (uint64_t)i, (size_t)size[i], -largest, largest);
    return a;
}

/* With scores between -600 and 600, and one of 600: their exponentials are finite. */
static struct numbers high(struct sizes s)
{
    struct numbers a = drawn(s, 2);
    const double *Q = affine(&a, W_Q, B_Q, s.d, (struct biases){ .plain = false });
    const double *K = affine(&a, W_K, B_K, s.d, (struct biases){ .plain = false });
    const double *scores = mat_product(mat_transposed(Q, s.d, s.N), K, s.N, s.d, s.N);
    double most = 0;
    for (int i = 0; i < s.N * s.N; i++)
        most = fabs(scores[i]) / sqrt(s.d) > fabs(most) ? scores[i] / sqrt(s.d) : most;
    a.of[W_Q] = mat_scaled(a.of[W_Q], 600 / most, s.d * s.D);
    a.of[B_Q] = mat_scaled(a.of[B_Q], 600 / most, s.d);
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
    return (struct numbers){ { W[0], b[0], W[1], b[1], W[2], b[2], mat_transposed(x, N, D) }, { N, D, D, D },
                             false };
}

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *rows)
{
    gra_tensor *b_k = gra_constant(t, (double[]){ 0.3, -0.4 }, GRA_SHAPE(2, 1));     /* its gradient is 0 */
    const struct head_parameters p = { in[1], in[2], in[3], b_k, in[4], in[5] };
    return rows ? in_rows(t, &p, in[0]) : in_columns(t, &p, in[0]);
}

void judge_exercise(void)
{
    const struct sizes differ = { 5, 3, 7, 2 }, equal = { 3, 3, 3, 3 }, one = { 1, 2, 3, 1 };
    struct numbers a = drawn(differ, 2), b = drawn(equal, 2), c = drawn(one, 2), large = drawn(differ, 40);
    struct numbers p = pytorch(), up_to_600 = high(differ);
    const double printed[] = { 0.2117, 0.6486, 0.6463, 1.0697, 0.9883, 0.8405, -3.3355, -2.4109, -1.6421,
                               -4.9260, -3.0185, -0.0805 };
    for (int rows = 0; rows < 2; rows++) {
        head_fn *f = rows ? in_rows : in_columns;
        a.rows = b.rows = c.rows = large.rows = up_to_600.rows = p.rows = rows;
        judge_head("N = 5, D = 3, d = 7, e = 2", f, a, NULL);
        judge_head("all sizes 3, where a transpose fits everywhere", f, b, NULL);
        judge_head("one token", f, c, NULL);
        judge_head("scores up to 600", f, up_to_600, NULL);
        judge_head("large scores", f, large, NULL);
        judge_head("the tokens of exercise 14, with PyTorch's numbers", f, p,
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
