/* 14 scores: the judge. */
#include "answer.h"

CALLS(projection, project(c->in[0], c->in[1], c->in[2], c->out[0], c->size[0], c->size[1]))
CALLS(dot_products, scores(c->in[0], c->in[1], c->out[0], c->size[0], c->size[1], c->size[2]))

static const struct judge_answer projected = {
    .sizes = { "i d", "j D" }, .telling = { 3, 5 }, .call = projection, .in = { "W[i,j]", "b[i]", "x[j]" },
    .out = { "q[i]" }, .lines = "q[i] = b[i] + sum(j, W[i,j] * x[j])\n" };

static const struct judge_answer scored = {
    .sizes = { "i n", "j m", "l d" }, .telling = { 3, 5, 4 }, .call = dot_products,
    .in = { "q[i,l]", "k[j,l]" }, .out = { "s[i,j]" }, .lines =
        "dot[i,j] = sum(l, q[i,l] * k[j,l])                  # the dot product\n"
        "s[i,j] = dot[i,j] / sqrt(d)\n", .special = {
        { "this is the softmax of the scores, which comes in the next exercise",
          "s[i,j] = exp(dot[i,j] / sqrt(d)) / sum(j, exp(dot[i,j] / sqrt(d)))" },
        { "this is the cosine of the angle: do not divide the dot product by the lengths",
          "s[i,j] = dot[i,j] / sqrt(sum(l, q[i,l]^2)) / sqrt(sum(l, k[j,l]^2))" },
        { "this is a distance: take the dot product", "dot[i,j] = sum(l, (q[i,l] - k[j,l])^2)" } } };

void judge_exercise(void)
{
    static const double W[] = { 200, -100, 300, 100, 500, 400, 700, -200 }, b[] = { 10, 30 };
    static const double x[] = { 3, -2, 4, 6 };
    CASES(&projected,
        CASE("W = (200 -100 300 100; 500 400 700 -200), b = (10, 30), x = (3, -2, 4, 6)", { 2, 4 },
             .in = { W, b, x }),
        CASE("one number from five", { 1, 5 }), CASE("three numbers from one", { 3, 1 }));
    CASES(&scored,
        CASE("three queries and seven keys, of eleven numbers", { 3, 7, 11 }),
        CASE("five queries and three keys", { 5, 3, 2 }), CASE("one query, one key", { 1, 1, 3 }),
        CASE("queries of one number", { 2, 3, 1 }), CASE("as many queries as keys", { 3, 3, 2 }));
}
