/* 11 gelu: the judge. */
#include "answer.h"

MAKES(f, gelu(t, in[0]))

static const struct judge_answer answer = {
    .sizes = { "i n" }, .telling = { 7 }, .f = f, .op = "my_gelu",
    .in = { "x[i]" }, .out = { "y[i]" }, .lines =
        "P[i] = (1 + erf(x[i] / sqrt(2))) / 2\n"
        "y[i] = x[i] * P[i]\n\n"
        "p[i] = exp(-x[i]^2 / 2) / sqrt(2 * pi)              # the density p\n"
        "dx[i] = dy[i] * (P[i] + x[i] * p[i])\n", .special = {
        { "this is GELU's tanh approximation: compute P with erf",
          "P[i] = (1 + tanh(sqrt(2 / pi) * (x[i] + 0.044715 * x[i]^3))) / 2" },
        { "this approximates P by sigmoid(1.702 x): compute P with erf", "P[i] = sigmoid(1.702 * x[i])" },
        { "this is SiLU, x sigmoid(x): compute P with erf", "P[i] = sigmoid(x[i])" },
        { "this is only the derivative of P: apply the product rule to x P(x)", "dx[i] = dy[i] * p[i]" } } };

void judge_exercise(void)
{
    static const double some[] = { 1.25, -0.9, 0.5, 2, -3, 0.1 }, far[] = { 0, -0.0, 30, -30, 1e4, -1e4 };
    CASES(&answer,
        CASE("some x", { 5 }, .in = { some }), CASE("twelve x", { 12 }, .low = -4, .high = 4),
        CASE("0, and far from it", { 6 }, .in = { far }),
        CASE("gradient of some x", { 6 }, .in = { some }, .gradients = true),
        CASE("gradient at 0, and far from it", { 6 }, .in = { far }, .gradients = true,
            .says = "nan where x is 0: y / x is 0/0 there, so compute P(x) again instead of using y / x"));
    judge_end(&answer);
    judge_part("x of two dimensions");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &(gra_check_in){ "x", .shape = GRA_SHAPE(3, 7) }, f, NULL);
}
