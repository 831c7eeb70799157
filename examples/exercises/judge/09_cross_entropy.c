/* 09 cross_entropy: the judge. */
#include "answer.h"

MAKES(f, cross_entropy(t, in[0], c->ids[1]))

static const struct judge_answer answer = {
    .sizes = { "r rows", "j n" }, .telling = { 3, 5 }, .f = f, .op = "my_cross_entropy",
    .in = { "x[r,j]", "int target[r] in 0..n-1" }, .out = { "y" }, .lines =
        "m[r] = max(j, x[r,j])                               # the row's largest\n"
        "total[r] = sum(j, exp(x[r,j] - m[r]))               # the sum\n"
        "loss[r] = m[r] + log(total[r]) - x[r,target[r]]     # the loss of a row\n"
        "y = mean(r, loss[r])\n\n"
        "p[r,j] = exp(x[r,j] - m[r]) / total[r]\n"
        "dx[r,j] = dy * (p[r,j] - [j = target[r]]) / rows\n", .special = {
        { "this is p of the target: take -log p", "loss[r] = exp(x[r,target[r]] - m[r]) / total[r]" },
        { "this is the base-2 logarithm: take the natural one, log in C",
          "loss[r] = (m[r] + log(total[r]) - x[r,target[r]]) / log(2)" },
        { "only the target's score gets a gradient, but the other scores change the sum too",
          "dx[r,j] = dy * [j = target[r]] * (p[r,j] - 1) / rows" },
        { "the target's -1 is not divided by rows: divide both terms",
          "dx[r,j] = dy * (p[r,j] / rows - [j = target[r]])" },
        { "this is dloss/dp, which is -1/p at the target: go on through the softmax to dloss/dx",
          "dx[r,j] = -dy * [j = target[r]] / p[r,j] / rows" } } };

void judge_exercise(void)
{
    static const double x[] = { 1, 2, -0.5, 0.25 }, one[] = { 3, -8 }, large[] = { 1e4, 1e4 - 1, 0 };
    static const double low[] = { -1e4, -1e4 - 1 }, end[] = { -1e4, 0, 1e4, -1e4, 1e4, 0 };
    static const double far[] = { 0, 1e4, 50 }, beside[] = { 1e4, 9990, 0, 1, 0.5, -1 };
    static const double negative[] = { 1, 0.5, -1, -1e4, -9990, -1e4 }, t00[] = { 0, 0 }, t1[] = { 1, 1 };
    static const double both[] = { 1e4, 9999, 0, -9998, -1e4, 3 }, t12[] = { 1, 2 }, t13[] = { 1, 3 };
    static const double t2[] = { 2 }, t21[] = { 2, 1 }, t310[] = { 3, 1, 0 };
    CASES(&answer,
        CASE("one row", { 1, 4 }, .in = { x, t2 }),
        CASE("two rows of five classes", { 2, 5 }, .in = { NULL, t13 }),
        CASE("one class", { 2, 1 }, .in = { one, t00 }),
        CASE("scores of 1e4", { 1, 3 }, .in = { large, t1 },
             .says = "e^x of a large score is infinite: subtract the row's largest score from each score "
             "before exp"),
        CASE("scores of -1e4", { 1, 2 }, .in = { low, t00 },
             .says = "every e^x is 0 here: take the largest score out of the sum, even if it is negative"),
        CASE("scores of 1e4, the largest at the end", { 2, 3 }, .in = { end, t21 },
             .says = "take a row's largest score out of its sum, wherever it is"),
        CASE("a target whose probability is e^-1e4", { 1, 3 }, .in = { far, t00 },
             .says = "this p rounds to 0: subtract two logarithms instead, log(sum of e^x_j) - x_target"),
        CASE("a row of large scores beside one of small", { 2, 3 }, .in = { beside, t12 },
             .says = "take each row's own largest score out of that row's sum"),
        CASE("a row of small scores beside one of very negative ones", { 2, 3 }, .in = { negative, t12 },
             .says = "take each row's own largest score out of that row's sum: start with its first score"),
        CASE("gradient", { 3, 5 }, .in = { NULL, t310 }, .gradients = true),
        CASE("gradient at scores of 1e4", { 2, 3 }, .in = { both, t1 }, .gradients = true,
             .says = "e^x of a large score is infinite, and a sum of e^x may be 0: subtract each row's own "
             "largest score first, in the backward too"));
    judge_end(&answer);
}
