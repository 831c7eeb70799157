/* 08 softmax: the judge. */
#include "answer.h"

CALLS(forward, softmax(c->in[0], c->out[0], c->size[0]))
CALLS(backward, softmax_backward(c->in[0], c->in[1], c->out[0], c->size[0]))

static const struct judge_answer answer = {
    .sizes = { "i n" }, .telling = { 7 }, .call = forward, .in = { "x[i]" }, .out = { "y[i]" }, .lines =
        "top = max(i, x[i])                                  # the largest\n"
        "e[i] = exp(x[i] - top)\n"
        "total = sum(i, e[i])                                # the sum\n"
        "y[i] = e[i] / total\n", .special = {
        { "this uses e^-x instead of e^x: the largest score should have the largest weight",
          "e[i] = exp(top - x[i])" },
        { "the largest score is subtracted only in the numerator: subtract it in the sum too",
          "total = sum(i, exp(x[i]))" },
        { "the largest score is subtracted only in the sum: subtract it in the numerator too",
          "y[i] = exp(x[i]) / total" },
        { "each e^x is divided by the sum of the others: divide it by the sum of all",
          "y[i] = e[i] / (total - e[i])" },
        { "x is divided by the sum of x: e^x is missing", "y[i] = x[i] / sum(i, x[i])" },
        { "this is the sigmoid of each score: divide e^x by the sum over all scores",
          "y[i] = sigmoid(x[i])" } } };

static const struct judge_answer gradient = {
    .sizes = { "i n" }, .telling = { 7 }, .call = backward,
    .in = { "y[i] in 0.1..0.9", "dy[i]" }, .out = { "dx[i] +=" }, .lines =
        "dot = sum(i, dy[i] * y[i])                          # the shared sum\n"
        "dx[i] = dx0[i] + y[i] * (dy[i] - dot)\n", .special = {
        { "this uses only dy_i/dx_i = y_i (1 - y_i): x_i moves the other y's too",
          "dx[i] = dx0[i] + y[i] * (1 - y[i]) * dy[i]" },
        { "the shared sum leaves out i = j, or dy_i/dx_i is taken to be y_i, but it is y_i (1 - y_i)",
          "dx[i] = dx0[i] + y[i] * (dy[i] - (dot - dy[i] * y[i]))" },
        { "for i other than j the sign is wrong: the bracket is 0 - y_j there",
          "dx[i] = dx0[i] + y[i] * (dy[i] - (2 * dy[i] * y[i] - dot))" } } };

void judge_exercise(void)
{
    static const double three[] = { 1, 2, 3.5 }, equal[] = { -1.5, 0.25, -1.5, -4, 0.25 }, one[] = { 7 };
    static const double y5[] = { 0.1, 0.25, 0.05, 0.4, 0.2 }, dy5[] = { 0.3, -1.1, 2, 0.7, -0.4 };
    static const double dy4[] = { 0, 0, 0, 1, 0 }, zero[5], y3[] = { 0.5, 0.2, 0.3 }, dy3[] = { -2, 1, 0.5 };
    static const double large[] = { 1e4, 1e4 - 1, 0 };
    static const double end[] = { -1e4, 0, 3, 1e4 }, low[] = { -1e4 - 1, -1e4 }, y1[] = { 1 }, dy1[] = { 3 };
#define LARGE .says = "e^x of a large number is infinite, and of a very negative one 0: subtract the " \
    "largest of all scores first, wherever it is (begin the search with x[0], not with 0). This does not " \
    "change y; do not clip or scale the scores"
    CASES(&answer,
        CASE("three scores", { 3 }, .in = { three }),
        CASE("negative scores and equal ones", { 5 }, .in = { equal }),
        CASE("nine scores", { 9 }, .low = -3, .high = 3), CASE("one score", { 1 }, .in = { one }),
        CASE("scores of 1e4", { 3 }, .in = { large }, LARGE),
        CASE("scores of 1e4, the largest at the end", { 4 }, .in = { end }, LARGE),
        CASE("scores of -1e4", { 2 }, .in = { low }, LARGE));
    CASES(&gradient,
        CASE("gradient for all y", { 5 }, .in = { y5, dy5 }, .held = { zero }),
        CASE("gradient for one y", { 5 }, .in = { y5, dy4 }, .held = { zero }),
        CASE("gradient of x used twice", { 3 }, .in = { y3, dy3 }),
        CASE("gradient of one score", { 1 }, .in = { y1, dy1 }));
}
