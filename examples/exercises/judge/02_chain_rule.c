/* 02 chain_rule: the judge. */
#include "answer.h"
#include <string.h>

enum { MEMBERS = 11 };

static void call(const struct judge_call *c)
{
    const double none = JUDGE_UNWRITTEN;
    struct neuron n = { none, none, none, none, none, none, none, none, none, none, none };
    neuron(c->in[0][0], c->in[1][0], c->in[2][0], c->in[3][0], &n);
    const double got[MEMBERS] = { n.z, n.y, n.e, n.loss, n.de, n.dy, n.dt, n.dz, n.dw, n.db, n.dx };
    for (int i = 0; i < MEMBERS; i++)
        c->out[i][0] = got[i];
}

static const struct judge_answer answer = {
    .call = call, .in = { "w in -1.5..1.5", "b in -1..1", "x in -1.5..1.5", "t in -1..1" },
    .out = { "z", "y", "e", "loss", "de", "dy", "dt", "dz", "dw", "db", "dx" }, .lines =
        "z = w * x + b\n"
        "y = tanh(z)\n"
        "e = y - t\n"
        "loss = e^2\n\n"
        "de = 2 * e\n"
        "dy = de\n"
        "dt = -de\n\n"
        "dz = dy * (1 - y^2)\n\n"
        "dw = dz * x\n"
        "db = dz\n"
        "dx = dz * w\n", .special = {
        { "this is 2e times e: the slope of e^2 is 2e alone", "de = 2 * e * e" },
        { "the slope of tanh is computed as 1 - tanh(y)^2: use 1 - y^2, as y is tanh(z) already",
          "dz = dy * (1 - tanh(y)^2)" },
        { "this is only the slope: multiply it by the gradient of the left side",
          "dz = 1 - y^2\ndw = x\ndx = w" } } };

void judge_exercise(void)
{
    const double w[] = { 0.6, -0.75 }, b[] = { 0.35, 0.45 }, x[] = { 1.7, 0.3 }, t[] = { -0.9, 1.4 };
    CASES(&answer,
        CASE("w = 0.6, b = 0.35, x = 1.7, t = -0.9", { 0 }, .in = { w, b, x, t }),
        CASE("w = -0.75, b = 0.45, x = 0.3, t = 1.4", { 0 }, .in = { w + 1, b + 1, x + 1, t + 1 }),
        CASE("random numbers", { 0 }), CASE("other random numbers", { 0 }));
}
