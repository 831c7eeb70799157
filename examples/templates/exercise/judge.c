/* NUMBER NAME: the judge.       NAME: the formulas are still the template's: write yours, and their cases */
#include "answer.h"

CALLS(forward, NAME(c->in[0], c->out[0], c->size[0]))
CALLS(backward, NAME_backward(c->in[0], c->in[1], c->out[0], c->size[0]))

static const struct judge_answer values = {
    .sizes = { "i n" }, .telling = { 5 }, .call = forward, .in = { "x[i]" }, .out = { "y[i]" },
    .lines = "y[i] = x[i]^2\n", .special = {
        { "this is the length of x: compute the square of each number",
          "y[i] = sqrt(sum(i, x[i]^2))" } } };

static const struct judge_answer gradient = {
    .sizes = { "i n" }, .telling = { 5 }, .call = backward, .in = { "x[i]", "dy[i]" }, .out = { "dx[i] +=" },
    .lines = "dx[i] = dx0[i] + dy[i] * 2 * x[i]\n" };

void judge_exercise(void)
{
    static const double three[] = { 2, -3, 0.5 }, one[] = { 3 }, zero[5];
    CASES(&values,
        CASE("three numbers", { 3 }, .in = { three }), CASE("one number", { 1 }, .in = { one }),
        CASE("nine numbers", { 9 }));
    CASES(&gradient,
        CASE("gradient", { 5 }, .held = { zero }), CASE("gradient of x used twice", { 4 }));
}
