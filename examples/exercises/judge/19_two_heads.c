/* 19 two_heads: the judge. */
#include "matrix.h"

struct sizes {
    int B, T, H, d;
};

/* Where number l of head h of token i stands in the rows (T, H d): all fields zero: right. */
struct layout {
    bool reshaped;                                      /* (H, T, d) without exchanging */
    bool interleaved;                                   /* head h has the columns h, h + H, ... */
    bool reversed;                                      /* the last head first */
};

static int place_of(int i, int h, int l, struct sizes s, struct layout o)
{
    h = o.reversed ? s.H - 1 - h : h;
    return o.reshaped ? (h * s.T + i) * s.d + l : i * s.H * s.d + (o.interleaved ? l * s.H + h : h * s.d + l);
}

/* Rows (B, T, H d) to heads (B, H, T, d), or back. */
static double *moved(const double *x, struct sizes s, struct layout o, bool back)
{
    const int size = s.T * s.H * s.d;
    double *y = mat_scaled(x, 1, s.B * size);
    for (int b = 0; b < s.B; b++)
        for (int h = 0; h < s.H; h++)
            for (int i = 0; i < s.T; i++)
                for (int l = 0; l < s.d; l++) {
                    const int rows = b * size + place_of(i, h, l, s, o), heads = b * size + (h * s.T + i) * s.d + l;
                    y[back ? rows : heads] = x[back ? heads : rows];
                }
    return y;
}

/* What multi_head may have computed; all fields zero: right. */
struct form {
    struct layout split, split_k, split_v, merge;
    bool after, twice, mix_twice, causal, residual;     /* divided after softmax; softmax twice; W_c twice; ... */
    double divisor;                                     /* in place of sqrt(d) */
    bool no_mix, mix_transposed;                        /* W_c left out; W_c for W_c^T */
    bool over_queries, over_heads, exchanged, no_softmax, key_value;
    bool own_keys;                                      /* queries as keys */
    bool one_head;                                      /* head 0's queries and keys for all */
};

/* Softmax over heads: of scores (H, T T) at each place. */
static double *share_of_heads(const double *scores, struct sizes s, int h)
{
    return mat_scaled(mat_softmax_columns(scores, s.H, s.T * s.T) + h * s.T * s.T, 1, s.T * s.T);
}

static double *attended(const double *q, const double *k, const double *v, const double *W, struct sizes s, struct form f)
{
    const int D = s.H * s.d, size = s.T * s.d, all = s.B * s.T * D;
    const double divisor = f.divisor != 0 ? f.divisor : sqrt(s.d);
    double *Q = moved(q, s, f.split, false), *K = moved(k, s, f.split.reshaped ? f.split : f.split_k, false);
    double *V = moved(v, s, f.split.reshaped ? f.split : f.split_v, false);
    K = f.own_keys ? Q : K;
    double *heads = mat_scaled(V, 1, all);
    for (int b = 0; b < s.B; b++) {
        double *scores = judge_room((size_t)(s.H * s.T * s.T));
        for (int h = 0; h < s.H; h++) {
            const int from = (b * s.H + (f.one_head ? 0 : h)) * size;
            memcpy(scores + h * s.T * s.T,
                   mat_scores((f.exchanged ? K : Q) + from, (f.exchanged ? Q : K) + from, s.T, s.T, s.d, 1 / divisor),
                   (size_t)(s.T * s.T) * sizeof(double));
        }
        for (int h = 0; h < s.H; h++) {
            const int at = (b * s.H + h) * size;
            const double *a = scores + h * s.T * s.T;
            double *seen = mat_scaled(a, f.after ? divisor : 1, s.T * s.T);
            for (int i = 0; i < s.T * s.T; i++)
                seen[i] = f.causal && i % s.T > i / s.T ? (double)-INFINITY : seen[i];
            a = seen;
            a = f.no_softmax ? a : f.over_heads ? share_of_heads(scores, s, h)
                : f.over_queries ? mat_softmax_columns(a, s.T, s.T) : mat_softmax_rows(a, s.T, s.T);
            a = mat_scaled(f.twice ? mat_softmax_rows(a, s.T, s.T) : a, f.after ? 1 / divisor : 1, s.T * s.T);
            memcpy(heads + at, mat_product(a, (f.key_value ? K : V) + at, s.T, s.T, s.d), (size_t)size * sizeof(double));
        }
    }
    double *merged = moved(heads, s, f.merge, true);
    if (f.no_mix)
        return merged;
    double *y = mat_product(merged, f.mix_transposed ? W : mat_transposed(W, D, D), s.B * s.T, D, D);
    if (f.mix_twice)
        y = mat_product(y, mat_transposed(W, D, D), s.B * s.T, D, D);
    return f.residual ? mat_sum(y, v, all) : y;
}

static void split(const char *part, struct sizes s)
{
    const int D = s.H * s.d;
    const double *x = judge_draw(1, (size_t)(s.B * s.T * D), -2, 2);
    const gra_shape shape = GRA_SHAPE(s.B, s.H, s.T, s.d);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("split_heads: %s", part);
    const double *got = judge_tensor(t, "the result", split_heads(t, gra_input(t, x, GRA_SHAPE(s.B, s.T, D)), s.H), shape);
    judge_numbers("the result", shape, got, moved(x, s, (struct layout){ 0 }, false), 0, JUDGE_MISTAKES(
        { "the numbers stand as in x: a reshape alone gives head 0 the first tokens, not the first columns", x },
        { "head h got every H-th column: its columns are neighbours, h D/H to (h + 1) D/H - 1",
          moved(x, s, (struct layout){ .interleaved = true }, false) },
        { "the heads are in the wrong order", moved(x, s, (struct layout){ .reversed = true }, false) }));
    gra_close(t);
}

static void merge(const char *part, struct sizes s)
{
    const int D = s.H * s.d;
    const double *x = judge_draw(2, (size_t)(s.B * s.T * D), -2, 2);
    const gra_shape shape = GRA_SHAPE(s.B, s.T, D);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("merge_heads: %s", part);
    const double *got = judge_tensor(t, "the result", merge_heads(t, gra_input(t, x, GRA_SHAPE(s.B, s.H, s.T, s.d))), shape);
    judge_numbers("the result", shape, got, moved(x, s, (struct layout){ 0 }, true), 0, JUDGE_MISTAKES(
        { "the numbers stand as in x: a reshape alone puts tokens of one head side by side, not heads of one token", x },
        { "the heads' columns alternate: those of head 0 come first, then those of head 1",
          moved(x, s, (struct layout){ .interleaved = true }, true) },
        { "the heads are joined in the wrong order: head 0 comes first",
          moved(x, s, (struct layout){ .reversed = true }, true) }));
    gra_close(t);
}

#define FORM(...) attended(q, k, v, W, s, (struct form){ __VA_ARGS__ })
static void whole(const char *part, const double *q, const double *k, const double *v, const double *W, struct sizes s,
                  const double *printed)
{
    const int D = s.H * s.d;
    const gra_shape shape = GRA_SHAPE(s.B, s.T, D);
    const struct layout reshaped = { .reshaped = true }, reversed = { .reversed = true };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("multi_head: %s", part);
    gra_tensor *y = multi_head(t, gra_input(t, q, shape), gra_input(t, k, shape), gra_input(t, v, shape),
                               gra_input(t, W, GRA_SHAPE(D, D)), s.H);
    const double *got = judge_tensor(t, "y", y, shape);
    judge_without(y, "attention");
    judge_numbers("y", shape, got, printed ? printed : FORM(.divisor = 0), printed ? 4e-5 : 1e-10, JUDGE_MISTAKES(
        { "W_c was left out", FORM(.no_mix = true) },
        { "multiplied by W_c, not by its transpose", FORM(.mix_transposed = true) },
        { "the scores were not divided by sqrt(D/H)", FORM(.divisor = 1) },
        { "multiplied by sqrt(D/H): divide", FORM(.divisor = 1 / sqrt(s.d)) },
        { "the heads were added to their own mixture: y is [head_0 | head_1 | ...] W_c^T alone",
          mat_sum(FORM(.no_mix = true), FORM(.divisor = 0), s.B * s.T * D) },
        { "divided by sqrt(D): a query of a head has D/H numbers", FORM(.divisor = sqrt(D)) },
        { "divided by D/H, not by its root", FORM(.divisor = s.d) },
        { "divided by sqrt(H), how many heads there are: it is D/H whose root is meant", FORM(.divisor = sqrt(s.H)) },
        { "divided by sqrt(T): a query of a head has D/H numbers", FORM(.divisor = sqrt(s.T)) },
        { "softmax runs over the queries: the weights of a query sum to 1", FORM(.over_queries = true) },
        { "softmax runs over the heads: the weights of a query in one head sum to 1", FORM(.over_heads = true) },
        { "queries were taken for keys", FORM(.own_keys = true) },
        { "all weights are alike", FORM(.divisor = INFINITY) },
        { "queries and keys are exchanged", FORM(.exchanged = true) },
        { "the softmax was divided by sqrt(D/H), not the scores before it", FORM(.after = true) },
        { "softmax was taken twice", FORM(.twice = true) },
        { "the keys after the query were hidden: no mask is asked for here", FORM(.causal = true) },
        { "v was added to the result: that is not asked for here", FORM(.residual = true) },
        { "W_c was used twice", FORM(.mix_twice = true) },
        { "there were two heads, but `heads` says how many there are",
          D % 2 == 0 ? attended(q, k, v, W, (struct sizes){ s.B, s.T, 2, D / 2 }, (struct form){ .divisor = 0 })
                     : FORM(.divisor = 0) },
        { "softmax is missing", FORM(.no_softmax = true) },
        { "keys were mixed, not values", FORM(.key_value = true) },
        { "all heads have the weights of head 0", FORM(.one_head = true) },
        { "one head for all D numbers: q, k and v are to be split first",
          attended(q, k, v, W, (struct sizes){ s.B, s.T, 1, D }, (struct form){ .divisor = 0 }) },
        { "one head for all D numbers: q, k and v are to be split first",
          attended(q, k, v, W, (struct sizes){ s.B, s.T, 1, D }, (struct form){ .divisor = sqrt(s.d) }) },
        { "q, k and v were split by a reshape alone", FORM(.split = reshaped) },
        { "k was split by a reshape alone", FORM(.split_k = reshaped) },
        { "v was split by a reshape alone", FORM(.split_v = reshaped) },
        { "heads were split and joined by a reshape alone", FORM(.split = reshaped, .merge = reshaped) },
        { "heads were joined by a reshape alone", FORM(.merge = reshaped) },
        { "the heads are joined in the wrong order: head 0 comes first", FORM(.merge = reversed) },
        { "split_heads and merge_heads are right by themselves: look at the scores, their softmax, what is\n"
          "mixed, and W_c", got }));
    gra_close(t);
}
#undef FORM

/* Six tokens X of torch.randn(8, 6) after torch.manual_seed(3); two heads' W_q, W_k, W_v (4, 8), b_q, b_k, b_v (4, 1), one
 * head after the other, and W_c (8, 8) after torch.manual_seed(0); what PyTorch 1.13 prints, with tokens in columns. */
static void pytorch(void)
{
    enum { D = 8, T = 6, H = 2, d = 4 };
    static const double printed[D * T] = {
        7.501, 15.386, 12.121, 23.458, 5.546, -7.499, 4.221, 4.875, -2.205, 4.050, -4.525, 5.155,
        1.891, 3.035, 3.399, 2.733, 2.958, -0.824, 2.621, 2.177, -4.974, -0.925, -1.928, 3.726,
        -0.130, -0.250, 3.700, 0.948, 9.384, 0.697, 2.524, 1.555, -0.789, 2.667, -0.459, 4.428,
        0.056, -1.688, -1.537, -1.700, 0.391, 4.648, -1.352, -4.136, -8.878, -1.003, -12.857, -4.945 };
    double X[D * T], W[H][3][d * D], b[H][3][d], W_c[D * D], *columns[3], *rows[3];
    gra_rng rng;
    gra_manual_seed(&rng, 3);
    gra_randn(&rng, X, D * T);
    gra_manual_seed(&rng, 0);
    for (int i = 0; i < 3; i++)
        columns[i] = judge_room(D * T);
    for (int h = 0; h < H; h++) {
        for (int i = 0; i < 3; i++)
            gra_randn(&rng, W[h][i], d * D);
        for (int i = 0; i < 3; i++) {
            gra_randn(&rng, b[h][i], d);
            memcpy(columns[i] + h * d * T, mat_columns_plus(mat_product(W[h][i], X, d, D, T), b[h][i], d, T),
                   d * T * sizeof(double));
        }
    }
    gra_randn(&rng, W_c, D * D);
    for (int i = 0; i < 3; i++)
        rows[i] = mat_transposed(columns[i], D, T);
    whole("two heads of six tokens, with PyTorch's numbers", rows[0], rows[1], rows[2], W_c, (struct sizes){ 1, T, H, d },
          mat_transposed(printed, D, T));
}

static void drawn(const char *part, struct sizes s)
{
    const int D = s.H * s.d, n = s.B * s.T * D;
    whole(part, judge_draw(3, (size_t)n, -2, 2), judge_draw(4, (size_t)n, -2, 2), judge_draw(5, (size_t)n, -2, 2),
          judge_draw(6, (size_t)(D * D), -2, 2), s, NULL);
}

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return multi_head(t, in[0], in[1], in[2], in[3], 2);
}

void judge_exercise(void)
{
    const gra_shape shape = GRA_SHAPE(1, 3, 4);
    const gra_check_in in[] = { { .name = "q", .shape = shape }, { .name = "k", .shape = shape },
                                { .name = "v", .shape = shape }, { .name = "W_c", .shape = GRA_SHAPE(4, 4) } };
    split("one text of four tokens, two heads of three numbers", (struct sizes){ 1, 4, 2, 3 });
    split("two texts, three heads of five numbers", (struct sizes){ 2, 4, 3, 5 });
    split("one token", (struct sizes){ 3, 1, 2, 2 });
    split("heads of one number", (struct sizes){ 2, 3, 4, 1 });
    merge("one text of four tokens, two heads of three numbers", (struct sizes){ 1, 4, 2, 3 });
    merge("two texts, three heads of five numbers", (struct sizes){ 2, 4, 3, 5 });
    merge("one token", (struct sizes){ 3, 1, 2, 2 });
    drawn("two heads of three numbers", (struct sizes){ 2, 5, 2, 3 });
    drawn("three heads of two numbers", (struct sizes){ 3, 4, 3, 2 });
    drawn("one head", (struct sizes){ 1, 3, 1, 4 });
    drawn("one token", (struct sizes){ 2, 1, 2, 3 });
    pytorch();
    judge_part("multi_head: the gradients come by themselves");
    judge_gradients(GRA_GRAD, NULL, NULL, 4, in, checked, NULL);
}
