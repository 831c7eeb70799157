/* 22 adamw: the judge. */
#include "answer.h"

static void call(const struct judge_call *c)
{
    double *const *in = c->in;
    const struct adamw how = { .lr = in[2][0], .beta1 = in[3][0], .beta2 = in[4][0], .eps = in[5][0],
                               .weight_decay = in[6][0] };
    adamw_step(c->out[2], in[0], c->out[0], c->out[1], c->size[0], c->ids[1][0], &how);
}

static const struct judge_answer answer = {
    .sizes = { "i n" }, .telling = { 6 }, .call = call,
    .in = { "g[i]", "int t in 2..9", "lr in 0.1..0.3", "beta1 in 0.7..0.95", "beta2 in 0.8..0.98",
            "eps in 0.01..0.1", "weight_decay in 0.1..0.5" },
    .out = { "m[i] +=", "v[i] +=", "p[i] +=" }, .held = { NULL, "0.2..2" }, .lines =
        "m[i] = beta1 * m0[i] + (1 - beta1) * g[i]\n"
        "v[i] = beta2 * v0[i] + (1 - beta2) * g[i]^2\n\n"
        "mm[i] = m[i] / (1 - beta1^t)\n"
        "vv[i] = v[i] / (1 - beta2^t)\n"
        "u[i] = mm[i] / (sqrt(vv[i]) + eps)                  # the step\n"
        "p[i] = p0[i] - lr * (u[i] + weight_decay * p0[i])\n", .special = {
        { "the corrected average was stored: keep m and v uncorrected, and use mm and vv only in the step",
          "m[i] = (beta1 * m0[i] + (1 - beta1) * g[i]) / (1 - beta1^t)\n"
          "v[i] = (beta2 * v0[i] + (1 - beta2) * g[i]^2) / (1 - beta2^t)" },
        { "weight decay is in the fraction: do not divide it by sqrt(vv)",
          "p[i] = p0[i] - lr * (mm[i] + weight_decay * p0[i]) / (sqrt(vv[i]) + eps)" },
        { "weight decay is computed from the new p: compute it from the old p",
          "p[i] = (p0[i] - lr * u[i]) * (1 - lr * weight_decay)" },
        { "weight decay is added to g, but should not enter m or v",
          "m[i] = beta1 * m0[i] + (1 - beta1) * (g[i] + weight_decay * p0[i])\n"
          "v[i] = beta2 * v0[i] + (1 - beta2) * (g[i] + weight_decay * p0[i])^2" } } };

void judge_exercise(void)
{
    const double zero[8] = { 0 }, one = 1, small = 1e-3;
    CASES(&answer,
        CASE("no decay", { 8 }, .in = { [5] = &small, [6] = zero }, .apart = true, .tolerance = 1e-10),
        CASE("the first step: m and v are 0, no decay", { 8 }, .in = { [1] = &one, [5] = &small, [6] = zero },
             .held = { zero, zero }),
        CASE("weight decay", { 8 }, .in = { [5] = &small }, .tolerance = 1e-10),
        CASE("a large eps", { 3 }, .tolerance = 1e-10),
        CASE("no gradient: p only decays", { 1 }, .in = { zero, &one }, .held = { zero, zero }));
}
