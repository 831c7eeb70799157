/* 17 causal_mask: the judge. */
#include "matrix.h"

struct attention {
    const double *s, *q, *k, *v;        /* scores (T, T), or what they are made of: (T, d), (T, d), (T, e) */
    int           T, d, e;
    double        fill;                 /* what the answer seems to put in place of s[0, 1]; 0: unknown */
};

static void mask(double *a, int T, double with, int begin, int past)
{
    for (int i = 0; i < T * T; i++)
        if (past ? i % T < i / T + past - 1 : i % T >= i / T + begin)
            a[i] = with;
}

static double row_sum(const double *a, int n, int step)
{
    double sum = 0;
    for (int j = 0; j < n; j++)
        sum += a[j * step];
    return sum;
}

/* The weights: softmax of rows, with the future masked. */
static void weights(double *out, void *arg)
{
    const struct attention *h = arg;
    const int T = h->T;
    const int past = slip("the past is masked: mask the future, where column j > row i") ? 1
        : slip("the past and the token itself are masked: mask the future, where column j > row i") ? 2 : 0;
    const int begin = slip("nothing is masked: every token sees all others") ? T
        : slip("the token itself is masked too: it may see itself") ? 0
        : slip("the next token is seen: only j <= i are allowed") ? 2 : 1;
    const bool score_0 = slip("a score of 0 is not a mask, as e^0 is 1: set masked scores to -INFINITY");
    const bool finite = isfinite(h->fill) && h->fill != 0
        && slip_of("the scores of the future were set to %.6g: set them to -INFINITY", h->fill);
    const double shift = h->fill - (h->T > 1 ? h->s[1] : 0);
    const bool added = isfinite(shift) && h->fill != 0
        && slip_of("%.6g was added to the scores of the future: set them to -INFINITY", shift);
    const bool none = slip("softmax is missing");
    const bool late =
        slip("weights of the future became 0, but the others no longer sum to 1: divide each row by its sum");
    const bool by_column = slip("divided by the sum of the column: a row holds the weights of a token");
    const bool by_other = slip("number j of a row is divided by the sum of row j: sum with keepdim");
    const bool by_all = slip("divided by the sum of the whole matrix: each row must sum to 1");
    const bool by_T = slip("divided by T: divide by each row's remaining sum");
    const bool by_mean = slip("divided by the mean of the row: divide by its sum");
    const bool by_most = slip("divided by the largest of the row: divide by its sum");
    const bool times = slip("multiplied by the sum of the row: divide by it");
    const bool unsoft = slip("softmax is missing: the scores themselves are divided by their sum");
    const bool again =
        slip("softmax was applied again: it makes e^0 of a weight of 0. Divide each row by its sum");
    const bool columns = slip("softmax runs over columns: the weights of a token are a row");
    const bool columns_first =
        slip("softmax runs over columns, before the mask: the weights of a token are a row");
    const bool even =
        slip("all visible tokens have the same weight: are the scores 0? In C, 1 / d is 0 for an int d > 1");
    const bool alone = slip("a token sees only itself, and not its past");
    const bool after = late || by_column || by_other || by_all || by_T || again || columns_first || by_mean
        || by_most || times || unsoft;
    double *s = mat_scaled(h->s, even ? 0 : 1, T * T);
    if (!after)
        mask(s, T, score_0 ? 0 : finite ? h->fill : (double)-INFINITY, begin, past);
    for (int i = 0; i < T * T && added; i++)
        s[i] = i % T > i / T ? h->s[i] + shift : s[i];
    double *a = none || unsoft ? mat_scaled(s, 1, T * T) : columns || columns_first
              ? mat_softmax_columns(s, T, T) : mat_softmax_rows(s, T, T);
    if (after)
        mask(a, T, 0, begin, past);
    const double *masked = mat_scaled(a, 1, T * T), all = row_sum(a, T * T, 1);
    for (int i = 0; i < T * T; i++) {
        const double row = row_sum(masked + i / T * T, T, 1);
        double most = 0;
        for (int j = 0; j < T; j++)
            most = fmax(most, masked[i / T * T + j]);
        a[i] = alone ? i / T == i % T : a[i] != a[i]
             ? 0            /* a row of -INFINITY: gra_softmax gives zeros */
             : columns_first || unsoft ? a[i] / row : by_mean ? T * a[i] / row : by_most ? a[i] / most
             : times ? a[i] * row : by_column ? a[i] / row_sum(masked + i % T, T, T) : by_all
             ? a[i] / all
             : by_other ? a[i] / row_sum(masked + i % T * T, T, 1)
             : by_T ? a[i] / T : a[i];
    }
    memcpy(out, again ? mat_softmax_rows(a, T, T) : a, (size_t)(T * T) * sizeof *out);
}

/* The weights of q k^T / sqrt(d), times v. */
static void attended(double *y, void *arg)
{
    struct attention h = *(struct attention *)arg;
    const int T = h.T, d = h.d, e = h.e;
    const double by = slip("the scores were not divided by sqrt(d)") ? 1
                    : slip("divided by d: divide by its root") ? d
        : slip("multiplied by sqrt(d): divide") ? 1 / sqrt(d)
        : slip("divided by sqrt(d) rounded down, a whole number: keep the root in a double") ? floor(sqrt(d))
        : slip("divided by sqrt(T): d is the length of a query") ? sqrt(T)
        : slip("divided by sqrt(e): d is the length of a query") ? sqrt(e) : sqrt(d);
    const bool after = slip("the result was divided by sqrt(d): divide the scores, before the softmax");
    const bool exchanged = slip("k q^T is used instead of q k^T");
    const bool turned = slip("the weights are transposed: row i of y is the sum over j of a_ij v_j");
    const bool twice = slip("softmax was applied again, to weights: e^0 is 1, also in the future");
    const double sign = slip("the sign of the scores is wrong") ? -1 : 1;
    const double *x = slip("k is used instead of q: the scores are q k^T") ? h.k : h.q;
    const double *z = slip("q is used instead of k: the scores are q k^T") ? h.q : h.k;
    const bool with_v = slip("v was added to the result: that is not asked for here");
    const double *v = slip("q was mixed: mix v") && d == e ? h.q
                    : slip("k was mixed: mix v") && d == e ? h.k : h.v;
    double *a = judge_room((size_t)(T * T));
    h.s = exchanged ? mat_scores(h.k, h.q, T, T, d, 1 / by)
        : mat_scores(x, z, T, T, d, after ? 1 : sign / by);
    weights(a, &h);
    a = twice ? mat_softmax_rows(a, T, T) : turned ? mat_transposed(a, T, T) : a;
    double *mixed = mat_product(a, v, T, T, e);
    mixed = with_v ? mat_sum(mixed, v, T * e) : mixed;
    memcpy(y, mat_scaled(mixed, after ? 1 / by : 1, T * e), (size_t)(T * e) * sizeof *y);
}

/* Which rows are NaN tells why: (T, width). */
static void no_nan(const char *name, const double *got, int T, int width, const char *otherwise)
{
    int first = T, last = -1, rows = 0, number = 0;
    for (int i = T - 1; i >= 0; i--)
        for (int j = width - 1; j >= 0; j--)
            if (!(got[i * width + j] == got[i * width + j]))
                rows += first != i, first = i, last = i > last ? i : last, number = i * width + j;
    if (rows && otherwise)
        judge_wrong("number %d of %s is NaN. %s", number, name, otherwise);
    if (rows == 1)
        judge_wrong("number %d of %s is NaN: row %d was divided by its sum, 0. It needs a visible score: a "
                    "token sees itself", number, name, first);
    if (rows && last == T - 1)
        judge_wrong("number %d of %s is NaN: was a mask of 0 and 1 multiplied by INFINITY? 0 * INFINITY is "
                    "NaN: use gra_masked_fill", number, name);
    if (rows)
        judge_wrong("number %d of %s is NaN, but the last row, which has no future, is not: before softmax "
                    "the future must be -INFINITY, not INFINITY, and after it 0", number, name);
}

static void masked(const char *part, bool after, const double *s, int T, const double *printed)
{
    struct attention h = { .s = s, .T = T };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("%s: %s", after ? "masked_after" : "masked_before", part);
    gra_tensor *in = gra_input(t, s, GRA_SHAPE(T, T)), *y = (after ? masked_after : masked_before)(t, in);
    const double *a = judge_tensor(t, "a", y, GRA_SHAPE(T, T));
    judge_without(y, "causal_mask");
    judge_without(y, "attention");
    no_nan("a", a, T, T, NULL);
    judge_unchanged("s", in->data, s, (size_t)(T * T));
    h.fill = after || T < 2 ? 0 : s[0] + log(a[1] / a[0]);
    bool future = false, past = false, sums = false;
    for (int i = 0; i < T * T; i++) {
        future = future || (i % T > i / T && a[i] != 0);
        past = past || (i % T <= i / T && a[i] == 0);
        sums = sums || fabs(row_sum(a + i / T * T, T, 1) - 1) > 1e-9;
    }
    if (future)
        judge_clue("weights of the future are not 0: is the mask in the right place, and are its scores "
                   "-INFINITY?");
    if (past)
        judge_clue("weights of the past, or of the token itself, are 0");
    if (sums)
        judge_clue("there are rows that do not sum to 1");
    judge_against("a", GRA_SHAPE(T, T), a, 1e-11, weights, &h);
    if (printed)
        judge_numbers("a", GRA_SHAPE(T, T), a, printed, 1e-4);
    gra_close(t);
}

/* Scores so low that a large negative number is not a mask. */
static void low(void)
{
    enum { T = 3 };
    const double s[T * T] = { -2e5, 3e4, 1, -3e4, -3e4 - 1, 4e4, -1e5, -1e5, -1e5 - 2 };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    judge_part("masked_before: scores of 4e4 and -2e5");
    const double *a = judge_tensor(t, "a", masked_before(t, gra_input(t, s, GRA_SHAPE(T, T))),
                                   GRA_SHAPE(T, T));
    no_nan("a", a, T, T, "Smaller scores were right: e^40000 is infinite, and e^-200000 is 0, so a sum of "
           "them is no use. gra_softmax subtracts the largest; mask the scores before it");
    for (int i = 0; i < T; i++)
        for (int j = i + 1; j < T; j++)
            if (a[i * T + j] != 0)
                judge_wrong("a[%d, %d] is %g, but it is the future: such scores show that masked scores were "
                            "not set to -INFINITY", i, j, a[i * T + j]);
    judge_against("a", GRA_SHAPE(T, T), a, 1e-11, weights, &(struct attention){ .s = s, .T = T });
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
    no_nan("y", got, T, e, "masked_before and masked_after have none: what is different here?");
    gra_close(t);
    return got;
}

/* If q, k and v of one token change, y of the tokens before it must not change, and y of the others must. */
static void look(int T, int d, int e)
{
    double *q = judge_draw(30, (size_t)(T * d), -2, 2), *k = judge_draw(31, (size_t)(T * d), -2, 2);
    struct attention h = { NULL, q, k, NULL, T, d, e, 0 };
    judge_part("causal_attention: a token changes, and those before it do not");
    double *v = judge_draw(32, (size_t)(T * e), -2, 2), *before = attend(q, k, v, T, d, e);
    h.v = v;
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
            if (same == (i < changed))
                continue;
            const char *why = judge_slip(GRA_SHAPE(T, e), before, 1e-11, attended, &h);
            const char *fits = why ? "\nlikely: " : "";
            why = why ? why : "";
            if (!same)
                judge_wrong("k and v of token %d were changed, and row %d of y changed with them: token %d "
                            "looks into its future%s%s", changed, i, i, fits, why);
            judge_wrong("k and v of token %d were changed, but row %d of y did not change: token %d does not "
                        "see %s%s%s", changed, i, i, i == changed ? "itself" : "its past", fits, why);
        }
    }
}

static void whole(const char *part, int T, int d, int e)
{
    const double *q = judge_draw(20, (size_t)(T * d), -2, 2), *k = judge_draw(21, (size_t)(T * d), -2, 2);
    const double *v = judge_draw(22, (size_t)(T * e), -2, 2);
    judge_part("causal_attention: %s", part);
    judge_clue("masked_before and masked_after are right, and no token sees its future: look at the scores, "
               "and at what is mixed");
    judge_against("y", GRA_SHAPE(T, e), attend(q, k, v, T, d, e), 1e-11, attended,
                  &(struct attention){ NULL, q, k, v, T, d, e, 0 });
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
    /* Scores of six tokens by q and k of a notebook on Raschka's chapter 3 (torch.manual_seed(789)), and the
     * weights that PyTorch 1.13 has for them; its scores are not yet divided by sqrt(2). The future is
     * anything here. */
    enum { T = 6 };
    double s[T * T] = { 0.2899, 5, 7, -1, 2, 3, 0.4656, 0.1723, 1, 6, -2, 9, 0.4594, 0.1703, 0.1731, 8, 8, 8,
                        0.2642, 0.1024, 0.1036, 0.0186, 4, 4, 0.2183, 0.0874, 0.0882, 0.0177, 0.0786, 3,
                        0.3408, 0.1270, 0.1290, 0.0198, 0.1290, 0.0078 };
    const double printed[T * T] = { 1, 0, 0, 0, 0, 0, 0.5517, 0.4483, 0, 0, 0, 0, 0.3800, 0.3097, 0.3103, 0,
                                    0, 0,
                                    0.2758, 0.2460, 0.2462, 0.2319, 0, 0, 0.2175, 0.1983, 0.1984, 0.1888,
                                        0.1971, 0,
                                    0.1935, 0.1663, 0.1666, 0.1542, 0.1666, 0.1529 };
    for (int i = 0; i < T * T; i++)
        s[i] /= sqrt(2);
    const gra_check_in in[] = { { .name = "s", .shape = GRA_SHAPE(3, 3) } };
    const gra_check_in qkv[] = { { .name = "q", .shape = GRA_SHAPE(3, 2) },
                                 { .name = "k", .shape = GRA_SHAPE(3, 2) },
                                 { .name = "v", .shape = GRA_SHAPE(3, 1) } };
    for (int after = 0; after < 2; after++) {
        masked("three tokens", after, (double[]){ 1.3, 2.1, 2.9, 0.6, -1.2, 1.7, 0.8, -0.3, -2.2 }, 3, NULL);
        masked("five tokens", after, judge_draw(1, 25, -3, 3), 5, NULL);
        masked("one token", after, (double[]){ -3 }, 1, NULL);
        masked("six tokens, with PyTorch's numbers", after, s, T, printed);
        if (!after)
            low();
        judge_part("%s: the gradient comes by itself", after ? "masked_after" : "masked_before");
        judge_gradients(GRA_GRAD, NULL, NULL, 1, in, checked, after ? &after : NULL);
    }
    look(5, 3, 2);
    whole("five tokens", 5, 7, 2);
    whole("one token", 1, 2, 3);
    whole("all sizes equal", 4, 4, 4);
    judge_part("causal_attention: the gradients come by themselves");
    judge_gradients(GRA_GRAD, NULL, NULL, 3, qkv, checked_attention, NULL);
}
