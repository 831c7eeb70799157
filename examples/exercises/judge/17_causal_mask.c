/* 17 causal_mask: the judge. */
#include "matrix.h"

/* Weights of scores; all fields zero: right. */
struct form {
    int  shift;                             /* what is hidden begins at i + 1 + shift */
    bool nothing, past;                     /* nothing is hidden; the past is, not the future */
    bool score_0, over_queries;             /* the score becomes 0; softmax of columns */
    bool after;                             /* weights become 0 after the softmax, and */
    int  divide;                            /* ... are divided by 0: their sum, 1: nothing, 2: the sum of their
                                               column, 3: the sum of all, 4: T; 5: softmax again */
};

static bool hidden(int i, int j, struct form f)
{
    return !f.nothing && (f.past ? j < i : j > i + f.shift);
}

static double *weights(const double *s, int T, struct form f)
{
    double *x = mat_scaled(s, 1, T * T);
    for (int i = 0; i < T * T && !f.after; i++)
        if (hidden(i / T, i % T, f))
            x[i] = f.score_0 ? 0 : -INFINITY;
    double *a = f.over_queries ? mat_softmax_columns(x, T, T) : mat_softmax_rows(x, T, T);
    if (!f.after) {
        for (int i = 0; i < T && f.shift < 0; i++)      /* a row of -inf: gra_softmax gives zeros */
            if (!(a[i * T] == a[i * T]))
                for (int j = 0; j < T; j++)
                    a[i * T + j] = 0;
        return a;
    }
    double all = 0;
    for (int i = 0; i < T * T; i++)
        all += a[i] = hidden(i / T, i % T, f) ? 0 : a[i];
    if (f.divide == 5)
        return mat_softmax_rows(a, T, T);
    double *b = mat_scaled(a, f.divide == 3 ? 1 / all : f.divide == 4 ? 1.0 / T : 1, T * T);
    for (int i = 0; i < T * T && (f.divide == 0 || f.divide == 2); i++) {
        double sum = 0;
        for (int l = 0; l < T; l++)
            sum += f.divide == 0 ? a[i / T * T + l] : a[l * T + i % T];
        b[i] /= sum;
    }
    return b;
}

static double *attention(const double *q, const double *k, const double *v, int T, int d, int e, double divisor, struct form f)
{
    return mat_product(weights(mat_scores(q, k, T, T, d, 1 / divisor), T, f), v, T, T, e);
}

static void no_nan(const char *name, const double *got, int n)
{
    for (int i = 0; i < n; i++)
        if (!(got[i] == got[i]))
            judge_wrong("number %d of %s is NaN. The usual causes: a mask of 0 and 1 was multiplied by INFINITY, and "
                        "0 * INFINITY is no number; INFINITY was taken for -INFINITY; a row without any visible score was "
                        "divided by its sum, 0",
                        i, name);
}

#define FORM(...) weights(s, T, (struct form){ __VA_ARGS__ })
static void masked(const char *part, bool after, const double *s, int T, const double *printed)
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("%s: %s", after ? "masked_after" : "masked_before", part);
    gra_tensor *y = (after ? masked_after : masked_before)(t, gra_input(t, s, GRA_SHAPE(T, T)));
    const double *a = judge_tensor(t, "a", y, GRA_SHAPE(T, T));
    judge_without(y, "causal_mask");
    judge_without(y, "attention");
    no_nan("a", a, T * T);
    const double *want = printed ? printed : FORM(.shift = 0);
    bool future = false, past = false, sums = false;
    double *alone = mat_scaled(s, 0, T * T);
    for (int i = 0; i < T; i++) {
        double sum = 0;
        for (int j = 0; j < T; j++) {
            sum += a[i * T + j];
            future = future || (j > i && a[i * T + j] != 0);
            past = past || (j <= i && a[i * T + j] == 0);
        }
        alone[i * T + i] = 1;
        sums = sums || fabs(sum - 1) > 1e-9;
    }
    judge_numbers("a", GRA_SHAPE(T, T), a, want, printed ? 1e-4 : 1e-11, JUDGE_MISTAKES(
        { "nothing is masked: every token sees all", FORM(.nothing = true) },
        { "the past is masked, not the future: column j > row i is the future of i", FORM(.past = true) },
        { "the token itself is masked too: it may see itself", FORM(.shift = -1) },
        { "the token itself is masked too: it may see itself", FORM(.after = true, .shift = -1) },
        { "the next token is seen: only j <= i are allowed", FORM(.shift = 1) },
        { "a score of 0 is no mask, for e^0 is 1: a masked score is -INFINITY", FORM(.score_0 = true) },
        { "weights of the future became 0, but the others no longer sum to 1: divide each row by its sum",
          FORM(.after = true, .divide = 1) },
        { "divided by the sum of the column: a row holds the weights of a token", FORM(.after = true, .divide = 2) },
        { "divided by the sum of the whole matrix: each row is to sum to 1", FORM(.after = true, .divide = 3) },
        { "divided by T, not by the sum that each row has left", FORM(.after = true, .divide = 4) },
        { "softmax was taken once more: where the weight is 0, it gives e^0. Divide each row by its sum",
          FORM(.after = true, .divide = 5) },
        { "softmax of columns: the weights of a token are a row", FORM(.over_queries = true) },
        { "all that is seen has the same weight: the scores are lost", weights(mat_scaled(s, 0, T * T), T, (struct form){ 0 }) },
        { "softmax of columns: the weights of a token are a row", FORM(.over_queries = true, .after = true) },
        { "the softmax was over columns: the weights of a token are a row",
          FORM(.over_queries = true, .after = true, .divide = 1) },
        { "a token sees itself alone, and not its past", alone },
        { "weights of the future are not 0: has the mask the right place, and are its scores -INFINITY?",
          future ? a : want },
        { "weights of the past, or of the token itself, are 0", past ? a : want },
        { "there are rows that do not sum to 1", sums ? a : want }));
    gra_close(t);
}
#undef FORM

/* Scores so low that a mask of some large negative number is none. */
static void low(void)
{
    enum { T = 3 };
    const double s[T * T] = { -2e5, 3e4, 1, -3e4, -3e4 - 1, 4e4, -1e5, -1e5, -1e5 - 2 };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("masked_before: scores of 4e4 and -2e5");
    const double *a = judge_tensor(t, "a", masked_before(t, gra_input(t, s, GRA_SHAPE(T, T))), GRA_SHAPE(T, T));
    no_nan("a", a, T * T);
    for (int i = 0; i < T; i++)
        for (int j = i + 1; j < T; j++)
            if (a[i * T + j] != 0)
                judge_wrong("a[%d, %d] is %g, but it is the future: with such scores it shows that it was not -INFINITY "
                            "to which the masked scores were set", i, j, a[i * T + j]);
    judge_numbers("a", GRA_SHAPE(T, T), a, weights(s, T, (struct form){ 0 }), 1e-11, NULL);
    gra_close(t);
}

static double *attend(const double *q, const double *k, const double *v, int T, int d, int e)
{
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *y = causal_attention(t, gra_input(t, q, GRA_SHAPE(T, d)), gra_input(t, k, GRA_SHAPE(T, d)),
                                     gra_input(t, v, GRA_SHAPE(T, e)));
    double *got = mat_scaled(judge_tensor(t, "y", y, GRA_SHAPE(T, e)), 1, T * e);
    judge_without(y, "causal_mask");
    judge_without(y, "attention");
    no_nan("y", got, T * e);
    gra_close(t);
    return got;
}

/* Another q, k and v of one token: the tokens before it must not notice, and it and those after it must. */
static void look(int T, int d, int e)
{
    double *q = judge_draw(30, (size_t)(T * d), -2, 2), *k = judge_draw(31, (size_t)(T * d), -2, 2);
    double *v = judge_draw(32, (size_t)(T * e), -2, 2), *before = attend(q, k, v, T, d, e);
    judge_part("causal_attention: a token changes, and the tokens before it do not notice");
    for (int changed = 0; changed < T; changed++) {
        double *k2 = mat_scaled(k, 1, T * d), *v2 = mat_scaled(v, 1, T * e);
        for (int l = 0; l < d; l++)
            k2[changed * d + l] += 0.7;
        for (int l = 0; l < e; l++)
            v2[changed * e + l] -= 1.3;
        double *now = attend(q, k2, v2, T, d, e);
        for (int i = 0; i < T; i++) {
            bool same = true;
            for (int l = 0; l < e; l++)
                same = same && fabs(now[i * e + l] - before[i * e + l]) < 1e-12;
            if (!same && i < changed)
                judge_wrong("k and v of token %d were changed, and row %d of y changed with them: token %d looks into "
                            "its future", changed, i, i);
            if (same && i >= changed)
                judge_wrong("k and v of token %d were changed, but row %d of y did not change: token %d does not see "
                            "%s", changed, i, i, i == changed ? "itself" : "its past");
        }
    }
}

static void whole(const char *part, int T, int d, int e)
{
    const double *q = judge_draw(20, (size_t)(T * d), -2, 2), *k = judge_draw(21, (size_t)(T * d), -2, 2);
    const double *v = judge_draw(22, (size_t)(T * e), -2, 2), root = sqrt(d);
    const struct form f = { 0 };
    judge_part("causal_attention: %s", part);
    double *y = attend(q, k, v, T, d, e), *want = attention(q, k, v, T, d, e, root, f);
    judge_numbers("y", GRA_SHAPE(T, e), y, want, 1e-11, JUDGE_MISTAKES(
        { "the scores were not divided by sqrt(d)", attention(q, k, v, T, d, e, 1, f) },
        { "divided by d, not by its root", attention(q, k, v, T, d, e, d, f) },
        { "multiplied by sqrt(d): divide", attention(q, k, v, T, d, e, 1 / root, f) },
        { "divided by sqrt(T): d, the length of a query, is meant", attention(q, k, v, T, d, e, sqrt(T), f) },
        { "divided by sqrt(e): d, the length of a query, is meant", attention(q, k, v, T, d, e, sqrt(e), f) },
        { "divided by sqrt(d) twice", attention(q, k, v, T, d, e, d, f) },
        { "k q^T was taken for q k^T", attention(k, q, v, T, d, e, root, f) },
        { "the weights that are left do not sum to 1",
          attention(q, k, v, T, d, e, root, (struct form){ .after = true, .divide = 1 }) },
        { "all that is seen has the same weight", attention(q, k, v, T, d, e, INFINITY, f) },
        { "k was mixed, not v", d == e ? attention(q, k, k, T, d, e, root, f) : want },
        { "masked_before and masked_after are right, and nothing looks ahead: look at the scores, and at what is mixed",
          y }));
}

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *arg)
{
    return arg ? masked_after(t, in[0]) : masked_before(t, in[0]);
}

static gra_tensor *checked_attention(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return causal_attention(t, in[0], in[1], in[2]);
}

void judge_exercise(void)
{
    /* Scores of six tokens by q and k of a notebook on Raschka's chapter 3 (torch.manual_seed(789)), and the weights that
     * PyTorch 1.13 has for them; its scores are not yet divided by sqrt(2). The future is anything here. */
    enum { T = 6 };
    double s[T * T] = { 0.2899, 5, 7, -1, 2, 3, 0.4656, 0.1723, 1, 6, -2, 9, 0.4594, 0.1703, 0.1731, 8, 8, 8,
                        0.2642, 0.1024, 0.1036, 0.0186, 4, 4, 0.2183, 0.0874, 0.0882, 0.0177, 0.0786, 3,
                        0.3408, 0.1270, 0.1290, 0.0198, 0.1290, 0.0078 };
    const double printed[T * T] = { 1, 0, 0, 0, 0, 0, 0.5517, 0.4483, 0, 0, 0, 0, 0.3800, 0.3097, 0.3103, 0, 0, 0,
                                    0.2758, 0.2460, 0.2462, 0.2319, 0, 0, 0.2175, 0.1983, 0.1984, 0.1888, 0.1971, 0,
                                    0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529 };
    for (int i = 0; i < T * T; i++)
        s[i] /= sqrt(2);
    const gra_check_in in[] = { { .name = "s", .shape = GRA_SHAPE(3, 3) } };
    const gra_check_in qkv[] = { { .name = "q", .shape = GRA_SHAPE(3, 2) }, { .name = "k", .shape = GRA_SHAPE(3, 2) },
                                 { .name = "v", .shape = GRA_SHAPE(3, 1) } };
    for (int after = 0; after < 2; after++) {
        masked("three tokens", after, (double[]){ 1, 2, 3, 0.5, -1, 2, 1, 0, -2 }, 3, NULL);
        masked("five tokens", after, judge_draw(1, 25, -3, 3), 5, NULL);
        masked("one token", after, (double[]){ -3 }, 1, NULL);
        masked("six tokens, with PyTorch's numbers", after, s, T, printed);
        if (!after)
            low();
        judge_part("%s: the gradient comes by itself", after ? "masked_after" : "masked_before");
        judge_gradients(GRA_GRAD, NULL, NULL, 1, in, checked, after ? &after : NULL);
    }
    look(5, 3, 2);
    whole("five tokens", 5, 3, 2);
    whole("one token", 1, 2, 3);
    whole("sizes alike", 4, 4, 4);
    judge_part("causal_attention: the gradients come by themselves");
    judge_gradients(GRA_GRAD, NULL, NULL, 3, qkv, checked_attention, NULL);
}
