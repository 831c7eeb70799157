/* 10 layer_norm: the judge. */
#include "answer.h"

MAKES(f, layer_norm(t, in[0], in[1], in[2]))

static const struct judge_answer answer = {
    .sizes = { "k rows", "i n" }, .telling = { 3, 5 }, .f = f, .op = "my_layer_norm",
    .in = { "x[k,i]", "w[i]", "b[i]" }, .out = { "y[k,i]" }, .lines =
        "eps = 1e-5\n"
        "mean[k] = mean(i, x[k,i])                           # the mean\n"
        "c[k,i] = x[k,i] - mean[k]                           # x - mean\n"
        "var[k] = mean(i, c[k,i]^2)                          # the variance\n"
        "r[k] = 1 / sqrt(var[k] + eps)\n"
        "z[k,i] = c[k,i] * r[k]\n"
        "y[k,i] = z[k,i] * w[i] + b[i]\n\n"
        "db[i] = sum(k, dy[k,i])\n"
        "dw[i] = sum(k, dy[k,i] * z[k,i])\n"
        "g[k,i] = dy[k,i] * w[i]\n"
        "mg[k] = mean(i, g[k,i])                             # the mean of g\n"
        "mgz[k] = mean(i, g[k,i] * z[k,i])                   # the mean of g z\n"
        "dx[k,i] = r[k] * (g[k,i] - mg[k] - z[k,i] * mgz[k])\n", .special = {
        { "eps is added to 1 / sqrt(var): add it inside, sqrt(var + eps)",
          "r[k] = 1 / sqrt(var[k]) + eps" },
        { "the mean is never subtracted: x / sqrt(mean of x^2 + eps) is a different norm, RMSNorm",
          "c[k,i] = x[k,i]" },
        { "this is as if x_i moved only z_i, but it moves the mean and r of the row too",
          "dx[k,i] = r[k] * g[k,i]" },
        { "dy is multiplied by w after the means are taken: take the means of dy w",
          "g[k,i] = dy[k,i]\ndx[k,i] = w[i] * r[k] * (g[k,i] - mg[k] - z[k,i] * mgz[k])" } } };

void judge_exercise(void)
{
    static const double x[] = { 3, 6.5, 9, -2 }, one[] = { 1, 1, 1, 1, 1 }, zero[5] = { 0 };
    static const double w[] = { 0.5, -2, 1.5, 3, 0.75 }, b[] = { 1, 0.25, -0.5, 2, -3 };
    static const double equal[] = { 2, 2, 2, 2, 2, -1 };
    static const double large[] = { 1e6 + 0.9, 1e6 - 1.1, 1e6 + 0.3, 1e6 - 0.7 };
    CASES(&answer,
        CASE("one row, w of 1 and b of 0", { 1, 4 }, .in = { x, one, zero }),
        CASE("five rows of two", { 5, 2 }, .in = { NULL, w, b }),
        CASE("a row of equal numbers", { 2, 3 }, .in = { equal, w, b }),
        CASE("tiny numbers", { 2, 3 }, .in = { NULL, w, b }, .low = -3e-3, .high = 3e-3),
        CASE("one number in a row", { 2, 1 }, .in = { NULL, w, b }),
        CASE("numbers near 1e6", { 1, 4 }, .in = { large, one, zero }, .tolerance = 1e-8,
             .says = "it is right for small x. Subtract the mean before you square: the difference of two "
             "numbers near 1e12 has lost its digits"),
        CASE("gradients, w of 1", { 3, 5 }, .in = { NULL, one, b }, .gradients = true),
        CASE("gradients", { 3, 5 }, .in = { NULL, w, b }, .low = 0, .high = 3, .gradients = true));
    judge_end(&answer);
}
