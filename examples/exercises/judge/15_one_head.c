/* 15 one_head: the judge. */
#include "answer.h"

CALLS(weigh, attention_weights(c->in[0], c->in[1], c->out[0], c->size[0], c->size[1]))
CALLS(mix, weighted_sum(c->in[0], c->in[1], c->out[0], c->size[0], c->size[1]))
CALLS(whole, one_head(c->in[0], c->in[1], c->in[2], c->out[0], c->size[0], c->size[1], c->size[2],
      c->size[3]))

static const struct judge_answer weights = {
    .sizes = { "j m", "l d" }, .telling = { 5, 3 }, .call = weigh,
    .in = { "q[l]", "k[j,l]" }, .out = { "a[j]" }, .lines =
        "dot[j] = sum(l, q[l] * k[j,l])                      # the dot product\n"
        "s[j] = dot[j] / sqrt(d)                             # the score\n"
        "top = max(j, s[j])                                  # the largest\n"
        "e[j] = exp(s[j] - top)\n"
        "total = sum(j, e[j])                                # the sum\n"
        "a[j] = e[j] / total\n", .special = {
        { "these are the scores: their softmax is missing", "a[j] = s[j]" },
        { "the largest score is subtracted only in the numerator: subtract it in the sum too",
          "total = sum(j, exp(s[j]))" },
        { "the weights are divided by the root of d: divide the scores by it",
          "a[j] = exp(dot[j]) / sum(j, exp(dot[j])) / sqrt(d)" } } };

static const struct judge_answer mixture = {
    .sizes = { "j m", "l e" }, .telling = { 5, 3 }, .call = mix,
    .in = { "a[j] in 0.1..0.9", "v[j,l]" }, .out = { "y[l]" }, .lines = "y[l] = sum(j, a[j] * v[j,l])\n" };

static const struct judge_answer head = {
    .sizes = { "i n", "j m", "l d", "o e" }, .telling = { 3, 5, 4, 6 }, .call = whole,
    .in = { "q[i,l]", "k[j,l]", "v[j,o]" }, .out = { "y[i,o]" }, .lines =
        "s[i,j] = sum(l, q[i,l] * k[j,l]) / sqrt(d)          # the score\n"
        "top[i] = max(j, s[i,j])                             # the largest\n"
        "e[i,j] = exp(s[i,j] - top[i])\n"
        "total[i] = sum(j, e[i,j])                           # the sum\n"
        "a[i,j] = e[i,j] / total[i]\n"
        "y[i,o] = sum(j, a[i,j] * v[j,o])\n", .special = {
        { "softmax runs over the queries of a key, but should run over the keys of a query",
          "top[i] = 0\na[i,j] = e[i,j] / sum(i, e[i,j])" } } };

void judge_exercise(void)
{
    static const double a[] = { 0.15, 0.35, 0.4, 0.1 }, v[] = { 3, 10, -2, 60, 7, 20, 4, -50 }, one[] = { 1 };
#define LARGE .says = "e^x of a large score is infinite, and of a very negative one 0: subtract the " \
    "largest of the scores first, wherever it is (begin the search with the first score, not with 0)"
    CASES(&weights,
        CASE("weights of five keys", { 5, 3 }), CASE("the weight of one key is 1", { 1, 2 }),
        CASE("weights of scores of 1e4", { 4, 2 }, .low = 90, .high = 140, .tolerance = 1e-10, LARGE),
        CASE("weights of scores of 1e4 and -1e4", { 3, 2 }, .low = -140, .high = 140,
             .tolerance = 1e-10, LARGE));
    CASES(&mixture,
        CASE("four values of two numbers, weights 0.15, 0.35, 0.4, 0.1", { 4, 2 }, .in = { a, v }),
        CASE("two values of four numbers", { 2, 4 }), CASE("one value", { 1, 3 }, .in = { one }));
    CASES(&head,
        CASE("the whole: three queries, three keys, numbers in pairs", { 3, 3, 2, 2 }),
        CASE("four queries, two keys", { 4, 2, 3, 1 }), CASE("one query, one key", { 1, 1, 2, 3 }),
        CASE("large scores", { 4, 6, 2, 1 }, .low = 90, .high = 140, .tolerance = 1e-9, LARGE));
}
