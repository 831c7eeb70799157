/* 21 momentum: the judge. */
#include "answer.h"

CALLS(call, momentum_step(c->out[1], c->in[0], c->out[0], c->size[0], c->in[1][0], c->in[2][0]))

static const struct judge_answer answer = {
    .sizes = { "i n" }, .telling = { 6 }, .call = call,
    .in = { "g[i]", "lr in 0.1..0.4", "momentum in 0.5..0.95" }, .out = { "v[i] +=", "p[i] +=" }, .lines =
        "v[i] = momentum * v0[i] + g[i]\n\n"
        "p[i] = p0[i] - lr * v[i]\n", .special = {
        { "g is multiplied by 1 - momentum, as in an average, but v should be a sum",
          "v[i] = momentum * v0[i] + (1 - momentum) * g[i]" },
        { "v contains -lr, as in p = p + v, but v should be a sum of gradients alone",
          "v[i] = momentum * v0[i] - lr * g[i]" },
        { "this is Nesterov's step, with g + momentum v: subtract lr v alone",
          "p[i] = p0[i] - lr * (g[i] + momentum * v[i])" } } };

void judge_exercise(void)
{
    const double zero[8] = { 0 }, none = 0;
    CASES(&answer,
        CASE("a step, with an old v", { 8 }, .apart = true),
        CASE("the first step, where v is 0", { 8 }, .held = { zero }), CASE("one number", { 1 }),
        CASE("momentum 0: plain descent", { 3 }, .in = { NULL, NULL, &none }),
        CASE("gradient 0: p keeps moving", { 3 }, .in = { zero }));
}
