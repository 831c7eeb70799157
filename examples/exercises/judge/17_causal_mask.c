/* 17 causal_mask: the judge. */
#include "answer.h"

static enum { BEFORE, AFTER, ATTENTION } now;           /* the function that is judged */

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *c)
{
    const int *size = ((struct judge_call *)c)->size, T = size[0], width = now == ATTENTION ? size[3] : T;
    gra_tensor *y = now == BEFORE ? masked_before(t, in[0]) : now == AFTER ? masked_after(t, in[0])
                  : causal_attention(t, in[0], in[1], in[2]);
    const double *a = judge_tensor(t, "a", y, GRA_SHAPE(T, width));
    int rows = 0, last = -1;                            /* with a NaN */
    for (int i = 0; i < T * width; i++)
        if (a[i] != a[i] && last != i / width)
            last = i / width, rows++;
    judge_without(y, "causal_mask");
    if (rows)
        judge_wrong("there is a NaN in row %d: %s", last,
            rows == 1 ? "the row was divided by its sum, 0. Let each token see itself"
            : last == T - 1 ? "was a mask of 0 and 1 multiplied by INFINITY? 0 * INFINITY is NaN: use "
                              "gra_masked_fill, and gra_softmax, which subtracts the largest score first"
            : "only the last row, which has no future, is right. Set scores of the future to -INFINITY, not "
              "INFINITY, before softmax, or weights of the future to 0 after it");
    if (now == BEFORE && T == 3 && a[1] > 0 && a[1] < 0.01)
        judge_wrong("a[0, 1]: got %.6g, expected 0\nlikely: the scores of the future are only small: set "
                    "them to -INFINITY, as e^x of no other x is 0", a[1]);
    return y;
}

#define MASKED \
    "masked[i,j] = [j <= i] ? s[i,j] : -1e300\n" \
    "p[i,j] = exp(masked[i,j] - max(j, masked[i,j]))     # e^score\n"
#define COLUMNS(a) { "softmax is applied to each column: apply it to each row, one for each token", \
    "p[i,j] = exp(masked[i,j] - max(i, masked[i,j]))\n" a "[i,j] = p[i,j] / sum(i, p[i,j])" }

static const struct judge_answer before = {
    .sizes = { "i T", "j T" }, .telling = { 5, 5 }, .f = f, .without = "attention",
    .in = { "s[i,j]" }, .out = { "a[i,j]" }, .lines = MASKED "a[i,j] = p[i,j] / sum(j, p[i,j])\n",
    .special = {
        COLUMNS("a"),
        { "the token itself is masked too: let it see itself",
          "masked[i,j] = [j < i] ? s[i,j] : -1e300\na[i,j] = [i = 0] ? 0 : p[i,j] / sum(j, p[i,j])" },
        { "the past and the token itself are masked: mask the future, where column j > row i",
          "masked[i,j] = [j > i] ? s[i,j] : -1e300\na[i,j] = [i = T - 1] ? 0 : p[i,j] / sum(j, p[i,j])" },
        { "the scores of the future are 0: set them to -INFINITY, as e^x of no other x is 0",
          "masked[i,j] = [j <= i] * s[i,j]" },
        { "masked scores are a finite number, which is above these scores: set masked scores to -INFINITY",
          "masked[i,j] = [j <= i] ? s[i,j] : -1000" } } };

static const struct judge_answer after = {
    .sizes = { "i T", "j T", "k T" }, .telling = { 5, 5, 5 }, .f = f, .without = "attention",
    .in = { "s[i,j]" }, .out = { "a[i,j]" }, .lines =
        "p[i,j] = exp(s[i,j] - max(j, s[i,j]))               # e^score\n"
        "soft[i,j] = p[i,j] / sum(j, p[i,j])                 # softmax\n"
        "left[i,j] = [j <= i] * soft[i,j]                    # the masked weight\n"
        "a[i,j] = left[i,j] / sum(k, left[i,k])\n", .special = {
        { "the weights of the future are 0, but the others no longer sum to 1: divide each row by its sum",
          "a[i,j] = left[i,j]" },
        { "softmax was applied again, which turns a weight of 0 into e^0: divide each row by its sum",
          "a[i,j] = exp(left[i,j]) / sum(k, exp(left[i,k]))" },
        { "softmax is applied to each column: apply it to each row, one for each token",
          "p[i,j] = exp(s[i,j] - max(i, s[i,j]))\nsoft[i,j] = p[i,j] / sum(i, p[i,j])" } } };

static const struct judge_answer attention = {
    .sizes = { "i T", "j T", "c d", "l e" }, .telling = { 5, 5, 7, 3 }, .f = f, .without = "attention",
    .in = { "q[i,c]", "k[j,c]", "v[j,l]" }, .out = { "y[i,l]" }, .lines =
        "s[i,j] = sum(c, q[i,c] * k[j,c]) / sqrt(d)          # the score\n" MASKED
        "a[i,j] = p[i,j] / sum(j, p[i,j])                    # the weight\n"
        "y[i,l] = sum(j, a[i,j] * v[j,l])\n", .special = {
        COLUMNS("a"),
        { "k q^T is used instead of q k^T", "s[i,j] = sum(c, k[i,c] * q[j,c]) / sqrt(d)" },
        { "the weights are transposed: row i of y should be the sum over j of a_ij v_j",
          "y[i,l] = sum(j, a[j,i] * v[j,l])" },
        { "all visible tokens have the same weight: are the scores 0? In C, 1 / d is 0 for an int d > 1",
          "s[i,j] = 0" } } };

void judge_exercise(void)
{
    static const double three[] = { 1.3, 2.1, 2.9, 0.6, -1.2, 1.7, 0.8, -0.3, -2.2 };
    static const double low[] = { -2e5, 3e4, 1, 1, 0.5, 4e4, -1e5, -1e5, -1e5 - 2 };
    CASES(&before,
        CASE("masked_before: three tokens", { 3, 3 }, .in = { three }),
        CASE("masked_before: five tokens", { 5, 5 }), CASE("masked_before: one token", { 1, 1 }),
        CASE("masked_before: scores of 4e4 and -2e5", { 3, 3 }, .in = { low },
            .says = "only scores this large go wrong: set masked scores to -INFINITY, and let gra_softmax "
             "subtract the largest score"));
    judge_end(&before);
    now = AFTER;
    CASES(&after,
        CASE("masked_after: three tokens", { 3, 3, 3 }, .in = { three }),
        CASE("masked_after: five tokens", { 5, 5, 5 }), CASE("masked_after: one token", { 1, 1, 1 }));
    judge_end(&after);
    now = ATTENTION;
    CASES(&attention,
        CASE("causal_attention: five tokens", { 5, 5, 7, 2 }),
        CASE("causal_attention: one token", { 1, 1, 2, 3 }),
        CASE("causal_attention: all sizes equal", { 4, 4, 4, 4 }));
    judge_end(&attention);
}
