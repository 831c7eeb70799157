/* 36 sampling: the judge. */
#include "answer.h"

enum { MOST = 64 };

static void call_softmax(const struct judge_call *c)
{
    softmax_at(c->in[0], c->out[0], c->size[0], *c->in[1]);
}

static void call_top_k(const struct judge_call *c)   { keep_top_k(c->out[0], c->size[0], *c->ids[0]); }
static void call_top_p(const struct judge_call *c)   { keep_top_p(c->out[0], c->size[0], *c->in[0]); }

static void tokens(const struct judge_call *c, const struct sampling *how, const double *u)
{
    const int n = c->size[0];
    for (int k = 0; k < c->size[2]; k++) {
        const int token = how ? sample_token(c->in[0], n, how, u[k]) : draw_from(c->in[0], n, u[k]);
        if (token < 0 || token >= n)
            judge_wrong("for u = %g, got token %d, but the tokens are 0 to %d", u[k], token, n - 1);
        c->out[0][k] = token;
    }
}

static void call_draw(const struct judge_call *c)
{
    c->in[0][c->size[0]] = 1;           /* past the end: reading this draws a token that does not exist */
    tokens(c, NULL, c->in[1]);
}

static void call_sample(const struct judge_call *c)
{
    tokens(c, &(struct sampling){ .temperature = *c->in[1], .top_k = *c->ids[2], .top_p = *c->in[3] },
           c->in[4]);
}

#define SIZES .sizes = { "i n", "j n", "k draws" }, .telling = { 7, 7, 40 }
#define SOFTMAX(p) \
    "top = max(i, x[i])                              # the largest logit\n" \
    "best[i] = [x[i] = top] * [sum(j, [j < i] * [x[j] = top]) = 0]   # the one-hot of the largest\n" \
    "e[i] = [t = 0] ? best[i] : exp((x[i] - top) / t)\n" \
    p "[i] = e[i] / sum(i, e[i])\n"
#define RANK(p) \
    "rank[i] = sum(j, [" p "[j] > " p "[i]]) + sum(j, [j < i] * [" p "[j] = " p "[i]])\n"
#define TOP_K(p, q) \
    "k_kept[i] = [rank[i] < k] * " p "[i]\n" \
    q "[i] = k_kept[i] / sum(i, k_kept[i])\n"
#define TOP_P(p, q) \
    "before[i] = sum(j, [rank[j] < rank[i]] * " p "[j])  # the sum before p_i\n" \
    "p_kept[i] = [before[i] < top_p] * " p "[i]\n" \
    q "[i] = p_kept[i] / sum(i, p_kept[i])\n"
#define DRAW(p) \
    "upto[i] = sum(j, [j <= i] * " p "[j])               # the sum up to p_i\n" \
    "hit[k] = n - max(i, [u[k] < upto[i]] * (n - i))\n" \
    "token[k] = [hit[k] = n] ? max(i, [" p "[i] > 0] * i) : hit[k]\n"

static const struct judge_answer at_temperature = {
    SIZES, .call = call_softmax, .in = { "x[i]", "t in 0.3..0.8  # the temperature" }, .out = { "p[i]" },
    .lines = SOFTMAX("p"), .special = {
        { "at temperature 0, of equal logits the last was taken: take the first",
          "best[i] = [x[i] = top] * [sum(j, [j > i] * [x[j] = top]) = 0]" } } };

static const struct judge_answer top_k = {
    SIZES, .call = call_top_k, .in = { "int k in 3..5" }, .out = { "p[i] +=" }, .held = { "0.05..0.3" },
    .lines = RANK("p0") TOP_K("p0", "p"), .special = {
        { "the dropped tokens keep their probabilities: set these to 0",
          "p[i] = [rank[i] < k] ? p0[i] / sum(i, k_kept[i]) : p0[i]" },
        { "this takes the most likely token again and again: mark each one", "p[i] = [rank[i] = 0] / k" },
        { "this takes tokens in the order of their ids: begin with the most likely one", "rank[i] = i" },
        { "of equally likely tokens, the one with the largest id was kept: keep the smallest id",
          "rank[i] = sum(j, [p0[j] > p0[i]]) + sum(j, [j > i] * [p0[j] = p0[i]])" } } };

static const struct judge_answer top_p = {
    SIZES, .call = call_top_p, .in = { "top_p in 0.4..0.9" }, .out = { "p[i] +=" }, .held = { "0.05..0.3" },
    .lines = RANK("p0") TOP_P("p0", "p"), .special = {
        { "top-p stops only when the sum is above top_p, but should stop when it reaches top_p",
          "p_kept[i] = [before[i] <= top_p] * p0[i]" },
        { "the token with which the sum reaches top_p is missing: keep it too",
          "p_kept[i] = [rank[i] = 0] ? p0[i] : [before[i] + p0[i] < top_p] * p0[i]" },
        { "each p is compared with top_p: compare the sum of the kept p",
          "p_kept[i] = [rank[i] = 0] ? p0[i] : [p0[i] >= top_p] * p0[i]" },
        { "top_p * n tokens are kept: keep as few as have a sum of at least top_p",
          "p_kept[i] = [rank[i] < max(1, floor(top_p * n))] * p0[i]" },
        { "this keeps a sum of 1 - top_p, not top_p", "p_kept[i] = [before[i] < 1 - top_p] * p0[i]" } } };

static const struct judge_answer draw = {
    SIZES, .call = call_draw, .in = { "p[i] in 0.05..0.3", "u[k] in 0..0.9" }, .out = { "token[k]" },
    .lines = DRAW("p"), .special = {
        { "u is compared with p_i: compare it with the sum up to p_i", "upto[i] = p[i]" },
        { "if the sum stays below u, token 0 is returned: return the last token whose p is not 0",
          "token[k] = [hit[k] = n] ? 0 : hit[k]" },
        { "if the sum stays below u, the last token is returned: return the last one whose p is not 0",
          "token[k] = [hit[k] = n] ? n - 1 : hit[k]" },
        { "1 - u is compared with the sums: compare u itself",
          "hit[k] = n - max(i, [1 - u[k] < upto[i]] * (n - i))" } } };

static const struct judge_answer sample = {
    SIZES, .call = call_sample, .out = { "token[k]" },
    .in = { "x[i]", "t in 1.5..2  # the temperature", "int k in 4..5", "top_p in 0.5..0.7", "u[k] in 0..1" },
    .lines = SOFTMAX("s") RANK("s") TOP_K("s", "q") TOP_P("q", "p") DRAW("p"), .special = {
        { "top-p was applied before top-k: apply it to the p that top-k returns",
          "before[i] = sum(j, [rank[j] < rank[i]] * s[j])" },
        { "top-k is missing", "q[i] = s[i]" }, { "top-p is missing", "p[i] = q[i]" },
        { "the temperature is missing", "e[i] = exp(x[i] - top)" },
        { "the most likely token was taken, whatever u is", "token[k] = max(i, best[i] * i)" } } };

void judge_exercise(void)
{
    static const double x[] = { 1, 2.5, -0.5, 2, 0.25, 2.25 }, large[] = { 1e4, 1e4 - 2, 0 };
    static const double small[] = { -1e4 - 2, -1e4, -2e4 }, first[] = { 2, 0.5, 1 }, last[] = { 1, -1, 0, 3 };
    static const double equal[] = { 1, 3, 2, 3, -1 }, p[] = { 0.375, 0.0625, 0.25, 0, 0.125, 0, 0.1875 };
    static const double q[] = { 0.125, 0.375, 0.25, 0, 0.0625, 0, 0.1875 }, full[] = { 0.25, 0.125, 0.5,
        0.125 };
    static const double ties[] = { 0.125, 0.25, 0.125, 0.25, 0.125, 0.125 }, short_of_1[] = { 0.25, 0.375,
        0.25, 0 };
    static const double draws[] = { 0, 0.25, 0.125, 0, 0.5, 0.125 }, close[] = { 0.1, 0.3, 0.05, 0.35, 0.2 };
    double u[2][MOST], near[8], sum = 0;
    for (int k = 0; k < MOST; k++)
        u[0][k] = k / 64., u[1][k] = (k + 0.5) / 64;
    for (int i = 0; i < 4; i++)
        sum += close[i], near[2 * i] = sum - 1e-11, near[2 * i + 1] = sum + 1e-11;
#define LARGE "e^x is infinite, or every e^x is 0: subtract the largest logit first (begin the search " \
    "for it at -INFINITY, or with the first logit)"
#define ZERO "at temperature 0 the largest logit, the first of equals, should get probability 1: do not " \
    "divide by 0, as this temperature is a case of its own"
#define AT(name, n, logits, t, says_) CASE(name, { n, n }, .in = { logits, (double[]){ t } }, .says = says_)
    judge_cases(&at_temperature, (const struct judge_case[]){
        AT("softmax at temperature 1", 6, x, 1, NULL), AT("softmax at temperature 0.5", 6, x, 0.5, NULL),
        AT("softmax at temperature 3", 6, x, 3, NULL), AT("softmax of a single logit", 1, x, 2, NULL),
        AT("logits of 1e4", 3, large, 2, LARGE), AT("logits of -1e4", 3, small, 2, LARGE),
        AT("temperature 0", 6, x, 0, ZERO), AT("temperature 0, equal logits", 5, equal, 0, ZERO),
        AT("temperature 0, the first is the largest", 3, first, 0, ZERO),
        AT("temperature 0, the last is the largest", 4, last, 0, ZERO),
        AT("temperature 0, a single logit", 1, x, 0, ZERO), { 0 } });
#define KEEP(name, size, number, held_) \
    CASE(name, { size, size }, .in = { (double[]){ number } }, .held = { held_ })
    judge_cases(&top_k, (const struct judge_case[]){
        KEEP("top-k, k = 3", 7, 3, p), KEEP("top-k, k = 2", 7, 2, p), KEEP("top-k, k = 1", 7, 1, p),
        KEEP("top-k: equally likely tokens", 6, 4, ties), KEEP("top-k, k = n", 4, 4, full),
        KEEP("top-k, k = 60", 7, 60, p), { 0 } });
    judge_cases(&top_p, (const struct judge_case[]){
        KEEP("top_p = 0.15", 7, 0.15, q), KEEP("top_p = 0.95", 7, 0.95, q), KEEP("top_p = 0.74", 7, 0.74, q),
        KEEP("top-p that is reached exactly", 7, 0.625, q), KEEP("top-p: equally likely tokens", 6, 0.7,
                                                                 ties),
        KEEP("top_p = 1", 4, 1, full), KEEP("top_p = 1, some p are 0", 7, 1, q), { 0 } });
    judge_cases(&draw, (const struct judge_case[]){
        CASE("draws", { 6, 6, 64 }, .in = { draws, u[0] }),
        CASE("a draw for which rounding has left the sum too small", { 4, 4, 64 }, .in = { short_of_1,
            u[0] }),
        CASE("draws very near to a sum", { 5, 5, 8 }, .in = { close, near },
             .says = "u is 1e-11 below or above a sum: add up and compare doubles, without an eps"),
                 { 0 } });
#define SAMPLE(name, n, logits, t, k, p, says_) CASE(name, { n, n, 64 }, \
    .in = { logits, (double[]){ t }, (double[]){ k }, (double[]){ p }, u[1] }, .says = says_)
    judge_cases(&sample, (const struct judge_case[]){
        SAMPLE("sample_token at temperature 1, with all tokens", 6, x, 1, 60, 1, NULL),
        SAMPLE("sample_token at temperature 2, with all tokens", 6, x, 2, 60, 1, NULL),
        SAMPLE("sample_token with top-k", 6, x, 1, 3, 1, NULL),
        SAMPLE("sample_token: the order of its steps", 6, x, 2, 4, 0.58, NULL),
        SAMPLE("sample_token for 64 tokens", MOST, NULL, 0.5, 9, 0.9, NULL),
        SAMPLE("sample_token at temperature 0", 6, x, 0, 60, 1, "every u should draw the most likely token"),
        SAMPLE("sample_token of a single token", 1, x, 1, 3, 0.5, NULL), { 0 } });
}
