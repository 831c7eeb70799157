/* 16 in_matrices: the judge. */
#include "answer.h"

static bool by_rows, uses_b_k;                          /* in_rows is judged; b_k is an input of some op */

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    const int *n = ((const struct judge_call *)arg)->size;
    const struct head_parameters p = { in[1], gra_reshape(t, in[2], GRA_SHAPE(n[3], 1)), in[3],
        gra_reshape(t, in[4], GRA_SHAPE(n[3], 1)), in[5], gra_reshape(t, in[6], GRA_SHAPE(n[4], 1)) };
    gra_tensor *y = by_rows ? in_rows(t, &p, in[0]) : in_columns(t, &p, in[0]);
    if (by_rows && gra_error(t) && !strncmp(gra_error(t), "add", 3) && strstr(gra_error(t), ", 1)"))
        judge_wrong("gradus refused: %s\nb_q, b_k and b_v are columns: where tokens are rows, each must be a "
                    "row, (1, d) or (1, e), to be added to every token", gra_error(t));
    for (const gra_tensor *made = y; made; made = made->prev)
        for (int i = 0; i < made->nin; i++)
            uses_b_k |= made->in[i] == p.b_k;
    return y;
}

#define ANSWER(X, Y) .sizes = { "i N", "j N", "h D", "c d", "l e" }, .telling = { 5, 5, 3, 6, 2 }, \
    .f = f, .without = "attention", .out = { "Y[" Y "]" }, \
    .in = { "X[" X "]", "W_q[c,h]", "b_q[c]", "W_k[c,h]", "b_k[c]", "W_v[l,h]", "b_v[l]" }
#define FORMULA(X_i, X_j, Y) \
    "W_qX[c,i] = sum(h, W_q[c,h] * " X_i ")\nQ[c,i] = W_qX[c,i] + b_q[c]\n" \
    "W_kX[c,j] = sum(h, W_k[c,h] * " X_j ")\nK[c,j] = W_kX[c,j] + b_k[c]\n" \
    "W_vX[l,j] = sum(h, W_v[l,h] * " X_j ")\nV[l,j] = W_vX[l,j] + b_v[l]\n" \
    "s[j,i] = sum(c, K[c,j] * Q[c,i]) / sqrt(d)          # the score\n" \
    "p[j,i] = exp(s[j,i] - max(j, s[j,i]))               # e^score\n" \
    "a[j,i] = p[j,i] / sum(j, p[j,i])                    # the weight\n" \
    Y " = sum(j, V[l,j] * a[j,i])\n"
#define SPECIALS(Y, softmax, exchanged) \
    { "the weights are transposed: query i uses the weights that other queries give to it", \
      Y " = sum(j, V[l,j] * a[i,j])" }, \
    { softmax, "p[j,i] = exp(s[j,i] - max(i, s[j,i]))\na[j,i] = p[j,i] / sum(i, p[j,i])" }, \
    { exchanged, "s[j,i] = sum(c, K[c,i] * Q[c,j]) / sqrt(d)" }, \
    { "all weights are equal: are the scores 0? In C, 1 / d is 0 for an int d > 1", "s[j,i] = 0" }

static const struct judge_answer columns = { ANSWER("h,i", "l,i"),
    .lines = FORMULA("X[h,i]", "X[h,j]", "Y[l,i]"), .special = {
        SPECIALS("Y[l,i]", "softmax is applied to each row: apply it to each column, one for each query",
            "queries and keys are exchanged: column i of K^T Q should have the scores of query i") } };

#define ORDER " was reshaped, which keeps the order of its numbers: transpose it"
static const struct judge_answer rows = { ANSWER("i,h", "i,l"),
    .lines = FORMULA("X[i,h]", "X[j,h]", "Y[i,l]"), .special = {
        SPECIALS("Y[i,l]", "softmax is applied to each column: apply it to each row, one for each query",
            "queries and keys are exchanged: row i of Q K^T should have the scores of query i"),
        { "X" ORDER,
          "W_qX[c,i] = sum(h, W_q[c,h] * X[0,h * N + i])\nW_kX[c,j] = sum(h, W_k[c,h] * X[0,h * N + j])\n"
          "W_vX[l,j] = sum(h, W_v[l,h] * X[0,h * N + j])" },
        { "W X^T" ORDER,
          "Q[c,i] = W_qX[0,i * d + c] + b_q[c]\nK[c,j] = W_kX[0,j * d + c] + b_k[c]\n"
          "V[l,j] = W_vX[0,j * e + l] + b_v[l]" } } };

static void judge_head(const struct judge_answer *a, const struct judge_case *cases)
{
    by_rows = a == &rows;
    uses_b_k = false;
    judge_cases(a, cases);
    if (!uses_b_k)
        judge_wrong("Y is right, but b_k was never used. It adds the same number to all scores of a query, "
                    "which does not change softmax; but the formula has it: K = W_k X + b_k");
    judge_end(a);
}

/* With numbers up to `most` there is a score near 570: all exponentials are finite below 709. */
#define HEAD(name, most) judge_head(&name, (const struct judge_case[]){ \
    CASE(#name ": N = 5, D = 3, d = 7, e = 2", { 5, 5, 3, 7, 2 }), \
    CASE(#name ": all sizes 3, where a transpose fits everywhere", { 3, 3, 3, 3, 3 }), \
    CASE(#name ": one token", { 1, 1, 2, 3, 1 }), \
    CASE(#name ": scores up to 600", { 5, 5, 3, 7, 2 }, .low = -most, .high = most), \
    CASE(#name ": large scores", { 5, 5, 3, 7, 2 }, .low = -40, .high = 40, .tolerance = 1e-9), \
    { .part = NULL } })

void judge_exercise(void)
{
    HEAD(columns, 5.4);
    HEAD(rows, 4.8);
}
