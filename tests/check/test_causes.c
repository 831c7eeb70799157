/* Wrong backwards of many kinds of ops, and the cause that the gradient check names for each; and causes that
 * it must not name, though numbers fit by chance. */
#include "formula_op.h"
#include "lib/fixture.h"
#include "lib/suites.h"

#ifdef GRADUS_DOUBLE

/* of x alone, and of x and w, each element: the derivatives are lines of their own */
#define ELEMENTS(name, range, y, d)                                                                      \
    name, "k rows = 3, i n = 4", "x[k,i]" range, "y[k,i] = " y "\n" "d[k,i] = " d "\n"                    \
    "dx[k,i] = d[k,i] * dy[k,i]\n"
#define BOTH(name, range, y, d, c)                                                                       \
    name, "k rows = 3, i n = 4", "x[k,i]" range ", w[k,i]" range, "y[k,i] = " y "\n" "d[k,i] = " d "\n"   \
    "c[k,i] = " c "\n" "dx[k,i] = d[k,i] * dy[k,i]\n" "dw[k,i] = c[k,i] * dy[k,i]\n"
#define MEAN(name, range, y, d, c)                                                                       \
    name, "k rows = 3, i n = 4", "x[k,i]" range ", w[k,i]" range, "y = mean(k, mean(i, " y "))\n"         \
    "d[k,i] = " d "\n" "dx[k,i] = d[k,i] * dy / 12\n" "dw[k,i] = (" c ") * dy / 12\n"

#define EACH_DY    "a clue: each element gets its own dy"
#define EVERYWHERE "likely: ... off by the same number everywhere ... "
#define EACH_ROW   "likely ... its own for each row"
#define ROOTS(says, of_n)                                                                                \
    { "c[k] = 1 / sqrt(v[k])", says }, { "c[k] = 1 / (sqrt(v[k]) + eps)", says },                        \
    { "c[k] = 1 / sqrt(v[k] * n / (n - 1) + eps)", of_n }

static const struct formula_op ops[] = {
    { ELEMENTS("x + x^2", "", "x[k,i] + x[k,i]^2", "1 + 2 * x[k,i]"),
      { { "d[k,i] = 2 * x[k,i]", EVERYWHERE "-1", "tanh" },
        { "d[k,i] = 2 + 2 * x[k,i]", EVERYWHERE "+1" },
        { "d[k,i] = 1 + x[k,i] + x[k,i] / (2 + 2 * x[k,i])", "", "tanh" } } },
    { ELEMENTS("x + x^3", "", "x[k,i] + x[k,i]^3", "1 + 3 * x[k,i]^2"),
      { { "d[k,i] = 3 * x[k,i]^2", EVERYWHERE "-1", "1 - y'" } } },
    { ELEMENTS("arc tangent", "", "atan(x[k,i])", "1 / (1 + x[k,i]^2)"),
      { { "d[k,i] = 1 / (1 - x[k,i]^2)", "1/(1 - x^2) where 1/(1 + x^2)", "1 x^2" },
        { "d[k,i] = 1 + x[k,i]^2", "1 + x^2 where 1/(1 + x^2)", "a clue" } } },
    { ELEMENTS("cube", "", "x[k,i]^3", "3 * x[k,i]^2"),
      { { "d[k,i] = 2 * x[k,i]^2", "factor of 0.666667: 2/3", "size of" },
        { "d[k,i] = x[k,i]^2", "a forgotten 3 ... size of dimension 0", "3 is the size" },
        { "d[k,i] = 3 * x[k,i]^2 / 2", "likely: ... 0.5: a forgotten 2", "size of" } } },
    { ELEMENTS("ratio", "", "x[k,i] / (1 + x[k,i]^2)", "(1 - x[k,i]^2) / (1 + x[k,i]^2)^2"),
      { { "d[k,i] = 1 / (1 + x[k,i]^2)", "likely: ... 1 + x^2 where 1 - x^2", "tanh" },
        { "d[k,i] = (1 - x[k,i]^2) / (1 + x[k,i]^2)", "likely: a factor too many: 1 + x^2", "tanh" } } },
    { ELEMENTS("silu", "", "x[k,i] * sigmoid(x[k,i])",
               "sigmoid(x[k,i]) * (1 + x[k,i] * (1 - sigmoid(x[k,i])))"),
      { { "d[k,i] = 1 + x[k,i] * (1 - sigmoid(x[k,i]))", "a factor is missing: sigmoid(x)", "has" } } },
    { ELEMENTS("log2", " in 0.3..3", "log2(x[k,i])", "1 / (x[k,i] * log(2))"),
      { { "d[k,i] = log(2) / x[k,i]", "0.480453: log(2)^2" } } },
    { ELEMENTS("leaky relu", "", "max(x[k,i], x[k,i] / 10)", "[x[k,i] > 0] ? 1 : 0.1"),
      { { "d[k,i] = [x[k,i] > 0] ? 0.1 : 1", "likely: ... exchanged" } } },
    { ELEMENTS("erf", "", "erf(x[k,i])", "2 / sqrt(pi) * exp(-x[k,i]^2)"),
      { { "d[k,i] = exp(-x[k,i]^2)", "0.886227: sqrt(pi)/2" } } },
    { ELEMENTS("exp of square", " in 0 - 1..1", "exp(x[k,i]^2)", "2 * x[k,i] * y[k,i]"),
      { { "d[k,i] = 2 * x[k,i]", "likely: a factor is missing: y" },
        { "d[k,i] = 2 * x[k,i] * y[k,i] / (1 + 3 * x[k,i]^2) * (1 + 2 * x[k,i]^2)", EACH_DY, "1 x^2" } } },
    { ELEMENTS("faint", "", "[x[k,i] < -1] ? 1e-6 * x[k,i] : x[k,i]", "[x[k,i] < -1] ? 1e-6 : 1"),
      { { "d[k,i] = [x[k,i] < -1] ? 1e-8 : exp(cos(x[k,i]))", EACH_DY,
          "nothing arrives" } } },
    { ELEMENTS("softplus", "", "log(1 + exp(3 * x[k,i])) / 3", "sigmoid(3 * x[k,i])"),
      { { "d[k,i] = sigmoid(x[k,i])", "likely: ... wrong factor", "y'" } } },
    { ELEMENTS("softsign", "", "x[k,i] / (1 + abs(x[k,i]))", "1 / (1 + abs(x[k,i]))^2"),
      { { "d[k,i] = 1 / (1 + abs(x[k,i]))", "likely: ... wrong factor", "a clue" } } },
    { ELEMENTS("mish", "", "x[k,i] * t[k,i]\nt[k,i] = tanh(log(1 + exp(x[k,i])))",
               "t[k,i] + x[k,i] * (1 - t[k,i]^2) * sigmoid(x[k,i])"),
      { { "d[k,i] = t[k,i] + x[k,i] * (1 - t[k,i]^2)", EACH_DY } } },
    { ELEMENTS("hardswish", " in 0 - 5..5", "[x[k,i] > 3] ? x[k,i] : h[k,i] * x[k,i] * (x[k,i] + 3) / 6\n"
               "h[k,i] = [x[k,i] >= -3]", "[x[k,i] > 3] ? 1 : h[k,i] * (2 * x[k,i] + 3) / 6"),
      { { "d[k,i] = h[k,i] * (2 * x[k,i] + 3) / 6", EACH_DY, "the first is" } } },
    { ELEMENTS("sinc", " in 0.5..3", "sin(x[k,i]) / x[k,i]", "(cos(x[k,i]) - y[k,i]) / x[k,i]"),
      { { "d[k,i] = (cos(x[k,i]) - sin(x[k,i])) / x[k,i]", EACH_DY, "likely" } } },
    { ELEMENTS("elu", "", "[x[k,i] > 0] ? x[k,i] : exp(x[k,i]) - 1", "[x[k,i] > 0] ? 1 : exp(x[k,i])"),
      { { "d[k,i] = [x[k,i] > 0] ? 1 : x[k,i]", "a clue: wrong where x < 0" } } },
    { ELEMENTS("focal", " in 0.1..0.9", "-(1 - x[k,i])^2 * log(x[k,i])",
               "2 * (1 - x[k,i]) * log(x[k,i]) - (1 - x[k,i])^2 / x[k,i]"),
      { { "d[k,i] = -(1 - x[k,i])^2 / x[k,i]", "likely: ... a term too many", "each element" } } },

    { BOTH("divide", " in 0.4..3", "x[k,i] / w[k,i]", "1 / w[k,i]", "-x[k,i] / w[k,i]^2"),
      { { "c[k,i] = -x[k,i] / w[k,i]", "a factor too many: w (0, 0)" },
        { "d[k,i] = w[k,i]", "likely: ... wrong factor", "w_i w_j" } } },
    { BOTH("x w + x", "", "x[k,i] * w[k,i] + x[k,i]", "w[k,i] + 1", "x[k,i]"),
      { { "d[k,i] = w[k,i]", EVERYWHERE "-1", "something else" },
        { "d[k,i] = x[k,i] + 1", "likely: ... wrong factor" } } },
    { BOTH("power", " in 0.4..3", "x[k,i]^w[k,i]", "w[k,i] * x[k,i]^(w[k,i] - 1)", "y[k,i] * log(x[k,i])"),
      { { "d[k,i] = x[k,i]^(w[k,i] - 1)", "a factor is missing: w (0, 0)", "product rule" } } },
    { BOTH("angle", " in 0.4..3", "atan2(x[k,i], w[k,i])", "w[k,i] / (x[k,i]^2 + w[k,i]^2)",
           "-x[k,i] / (x[k,i]^2 + w[k,i]^2)"),
      { { "d[k,i] = -x[k,i] / (x[k,i]^2 + w[k,i]^2)\n"
          "c[k,i] = w[k,i] / (x[k,i]^2 + w[k,i]^2)", "w (0, 0) where x (0, 0) ... sign is flipped" } } },
    { BOTH("gate", "", "x[k,i] * s[k,i]\ns[k,i] = sigmoid(w[k,i])", "s[k,i]",
           "x[k,i] * s[k,i] * (1 - s[k,i])"),
      { { "c[k,i] = x[k,i] * s[k,i]", "missing: 1 - sigmoid(w (0, 0))", "e to the power" } } },

    { MEAN("divergence", " in 0.1..1", "x[k,i] * (log(x[k,i]) - log(w[k,i]))",
           "log(x[k,i]) - log(w[k,i]) + 1", "-x[k,i] / w[k,i]"),
      { { "d[k,i] = log(x[k,i]) - log(w[k,i])", EVERYWHERE "-0.0833333" },
        { "d[k,i] = log(x[k,i]) + 1", "x (2, 3) has 0.0833333 times log(w (2, 3)) too much" } } },
    { MEAN("squared error", "", "(x[k,i] - w[k,i])^2", "2 * (x[k,i] - w[k,i])", "2 * (w[k,i] - x[k,i])"),
      { { "d[k,i] = 2", "likely: ... a factor is missing", "0 everywhere" },
        { "d[k,i] = 2 * (x[k,i] - w[k,i])^2", "likely: ... x - w" },
        { "d[k,i] = x[k,i] - w[k,i]", "0.5: a forgotten 2", "sqrt(4)" } } },
    { MEAN("loss of logits", " in 0.1..0.9", "log(1 + exp(x[k,i])) - w[k,i] * x[k,i]",
           "sigmoid(x[k,i]) - w[k,i]", "-x[k,i]"),
      { { "d[k,i] = x[k,i] - w[k,i]", "likely: ... wrong term" },
        { "d[k,i] = sigmoid(x[k,i]) - 1", "likely: ... a term is missing" },
        { "d[k,i] = (sigmoid(x[k,i]) - w[k,i]) * sigmoid(x[k,i]) * (1 - sigmoid(x[k,i]))",
          "a factor too many: s (1 - s), s = sigmoid(x (" } } },
    { MEAN("loss of chances", " in 0.1..0.9", "-w[k,i] * log(x[k,i]) - (1 - w[k,i]) * log(1 - x[k,i])",
           "(x[k,i] - w[k,i]) / (x[k,i] * (1 - x[k,i]))", "log(1 - x[k,i]) - log(x[k,i])"),
      { { "d[k,i] = x[k,i] - w[k,i]", "a factor too many: v (1 - v), v = x (2, 0)" },
        { "d[k,i] = -w[k,i] / x[k,i]", "likely: ... a term is missing" },
        { "d[k,i] = -w[k,i] / x[k,i] - (1 - w[k,i]) / (1 - x[k,i])", "likely: ... a term is missing" } } },

    { "cross-entropy", "k rows = 4, i n = 5", "x[k,i]",
      "p[k,i] = exp(x[k,i]) / e[k]\n" "e[k] = sum(i, exp(x[k,i]))\n"
      "y = -mean(k, log(p[k,target[k]]))\n" "hot[k,i] = [i = target[k]]\n"
      "d[k,i] = p[k,i] - hot[k,i]\n" "dx[k,i] = d[k,i] * dy / rows\n",
      { { "d[k,i] = log(p[k,i]) - hot[k,i]", "likely: ... a wrong term ... softmax" },
        { "d[k,i] = x[k,i] - hot[k,i]", "likely: ... a wrong term ... softmax" },
        { "d[k,i] = p[k,i] - [i = target[k] + 1 - 5 * [target[k] = 4]]", "likely: ... exchanged" },
        { "d[k,i] = p[k,i]", "in elements 1, 5, 14, 18 ... +0.25" },
        { "d[k,i] = (p[k,i] - hot[k,i]) * p[k,i]",
          "a factor too many: the softmax of x (", "look at the term" } },
      NULL, "target[k]", (const double[]){ 1, 0, 4, 3 } },

    /* c is 1/sqrt(v + eps) in the backward */
    { "rms norm", "k rows = 3, i n = 4", "x[k,i], w[i] in 0.5..2",
      "eps = 0.1\n" "v[k] = mean(i, x[k,i]^2)\n" "y[k,i] = x[k,i] / sqrt(v[k] + eps) * w[i]\n"
      "c[k] = 1 / sqrt(v[k] + eps)\n" "g[k,i] = dy[k,i] * w[i]\n"
      "p[k] = mean(i, g[k,i] * x[k,i]) * c[k]\n"
      "dx[k,i] = c[k] * (g[k,i] - x[k,i] * c[k] * p[k])\n"
      "dw[i] = sum(k, dy[k,i] * x[k,i] * c[k])\n",
      { ROOTS(EACH_ROW, EACH_ROW),
        { "c[k] = 1 / (v[k] + eps)", EACH_ROW },
        { "c[k] = sqrt(v[k] + eps)", EACH_ROW },
        { "c[k] = 1", EACH_ROW },
        { "dx[k,i] = c[k] * (dy[k,i] - x[k,i] * c[k] * p[k])", "only on the diagonal ... 1 - v for v = w (0)",
          "look at the term" },
        { "dx[k,i] = c[k] * g[k,i]", "likely: beside the diagonal ... all zero", "the mean" } } },
    { "layer norm", "k rows = 3, i n = 4", "x[k,i], w[i] in 0.5..2",
      "eps = 0.1\n" "z[k,i] = x[k,i] - m[k]\n" "m[k] = mean(i, x[k,i])\n"
      "v[k] = mean(i, z[k,i]^2)\n" "y[k,i] = z[k,i] / sqrt(v[k] + eps) * w[i]\n"
      "c[k] = 1 / sqrt(v[k] + eps)\n" "g[k,i] = dy[k,i] * w[i]\n" "a[k] = mean(i, g[k,i])\n"
      "p[k] = mean(i, g[k,i] * z[k,i]) * c[k]\n"
      "dx[k,i] = c[k] * (g[k,i] - a[k] - z[k,i] * c[k] * p[k])\n"
      "dw[i] = sum(k, dy[k,i] * z[k,i] * c[k])\n",
      { ROOTS(EACH_ROW, EACH_ROW),
        { "c[k] = 1 / (v[k] + eps)", EACH_ROW },
        { "c[k] = sqrt(v[k] + eps)", EACH_ROW },
        { "c[k] = 1", EACH_ROW },
        { "c[k] = 1 / sqrt(n * v[k] + eps)", EACH_ROW },
        { "dx[k,i] = c[k] * (dy[k,i] - a[k] - z[k,i] * c[k] * p[k])",
          "only on the diagonal ... 1 - v for v = w (0)",
          "look at the term" },
        { "dx[k,i] = c[k] * (g[k,i] - z[k,i] * c[k] * p[k])", "likely: ... a term with the sum" },
        { "dx[k,i] = c[k] * (g[k,i] - a[k])", "likely: ... a term with the sum" },
        { "dx[k,i] = c[k] * g[k,i]", "likely: beside the diagonal ... all zero" },
        { "dx[k,i] = c[k] * (g[k,i] + a[k] - z[k,i] * c[k] * p[k])", "likely: ... a term with the sum" },
        { "dx[k,i] = c[k] * (g[k,i] - a[k] - n * z[k,i] * c[k] * p[k])", "likely:" } } },
    { "batch norm", "i n = 5, k columns = 3", "x[i,k]",
      "eps = 1e-5\n" "z[i,k] = x[i,k] - m[k]\n" "m[k] = mean(i, x[i,k])\n"
      "v[k] = mean(i, z[i,k]^2)\n" "y[i,k] = z[i,k] / sqrt(v[k] + eps)\n"
      "c[k] = 1 / sqrt(v[k] + eps)\n" "a[k] = mean(i, dy[i,k])\n"
      "p[k] = mean(i, dy[i,k] * z[i,k]) * c[k]\n"
      "dx[i,k] = c[k] * (dy[i,k] - a[k] - z[i,k] * c[k] * p[k])\n",
      { ROOTS("a clue: nearly right", "a clue: each dy is used"),
        { "dx[i,k] = c[k] * (dy[i,k] - z[i,k] * c[k] * p[k])", "likely: ... mean", "sums to 0" },
        { "dx[i,k] = c[k] * (dy[i,k] - a[k])", "likely: ... a term with this factor", "each dy is used" } } },
    { "deviation", "k rows = 3, i n = 5", "x[k,i]",
      "z[k,i] = x[k,i] - m[k]\n" "m[k] = mean(i, x[k,i])\n"
      "y[k] = sqrt(sum(i, z[k,i]^2) / (n - 1))\n" "d[k,i] = z[k,i] / y[k] / (n - 1)\n"
      "dx[k,i] = d[k,i] * dy[k]\n",
      { { "d[k,i] = z[k,i] / y[k] / n", "0.8: 4/5 ... n - 1 for n" },
        { "d[k,i] = x[k,i] / y[k] / (n - 1)", "has x (0, 3) where x less its mean", "one number" },
        { "d[k,i] = z[k,i] * y[k] / (n - 1)", "a factor too many: y (0)^2" },
        { "d[k,i] = y[k] / z[k,i] * (n - 1)", "a clue: each dy is used" },
        { "d[k,i] = 2 * z[k,i] / (n - 1)", "a factor too many: y (0) ... factor of 2", "its own for" } } },
    { "cosine", "k rows = 3, i n = 4", "x[k,i], w[k,i]",
      "a[k] = sum(i, x[k,i]^2)\n" "b[k] = sum(i, w[k,i]^2)\n"
      "y[k] = sum(i, x[k,i] * w[k,i]) / sqrt(a[k] * b[k])\n"
      "dx[k,i] = dy[k] * (w[k,i] / sqrt(a[k] * b[k]) - y[k] * x[k,i] / a[k])\n"
      "dw[k,i] = dy[k] * (x[k,i] / sqrt(a[k] * b[k]) - y[k] * w[k,i] / b[k])\n",
      { { "dx[k,i] = dy[k] * w[k,i] / sqrt(a[k] * b[k])", "likely: ... a term with this factor" } } },
    { "means of segments", "k rows = 6, i n = 3, s segments = 3", "x[k,i]",
      "members[s] = sum(k, [segment[k] = s])\n"
      "y[s,i] = sum(k, [segment[k] = s] * x[k,i]) / members[s]\n"
      "dx[k,i] = dy[segment[k],i] / members[segment[k]]\n",
      { { "dx[k,i] = dy[segment[k],i]", "likely: ... its own for each row", "off by" } },
      NULL, "segment[k]", (const double[]){ 0, 1, 0, 2, 2, 2 } },
    { "centre", "k rows = 4, i n = 3, j r = 4, c m = 3", "x[k,i]",
      "y[k,i] = x[k,i] - mean(j, x[j,i])\n" "dx[k,i] = dy[k,i] - mean(j, dy[j,i])\n",
      { { "dx[k,i] = dy[k,i] - mean(c, dy[k,c])", "a clue: ... does not depend" } } },
    { "log of sum of exp", "k rows = 3, i n = 4", "x[k,i]",
      "y[k] = log(sum(i, exp(x[k,i])))\n" "dx[k,i] = dy[k] * exp(x[k,i] - y[k])\n",
      { { "dx[k,i] = dy[k] * exp(x[k,i] - max(i, x[k,i]))", "likely: ... its own for each row" } } },
    { "decay", "k rows = 3, i n = 4", "x[k,i], w[k,i]",
      "y[k,i] = x[k,i] + [i > 0] * w[k,i] * y[k,i - 1]\n"
      "g[k,i] = dy[k,i] + [i < n - 1] * w[k,i + 1] * g[k,i + 1]\n" "dx[k,i] = g[k,i]\n"
      "dw[k,i] = [i > 0] * g[k,i] * y[k,i - 1]\n",
      { { "dw[k,i] = g[k,i] * y[k,i]", "a clue: ... does not depend" } } },
    { "distance", "k rows = 3, i n = 4", "x[k,i], w[k,i]",
      "z[k,i] = x[k,i] - w[k,i]\n" "y = sum(k, sum(i, log(exp(z[k,i]) + exp(-z[k,i]))))\n"
      "dx[k,i] = dy * tanh(z[k,i])\n" "dw[k,i] = -dy * tanh(z[k,i])\n",
      { { "dx[k,i] = dy * (exp(z[k,i]) - exp(-z[k,i])) / 2",
          "a clue: what dy is multiplied by is wrong", "likely" } } },
    { "covariance", "k rows = 1, i n = 6", "x[k,i], w[k,i]",
      "y = sum(k, sum(i, (x[k,i] - mean(i, x[k,i])) * (w[k,i] - mean(i, w[k,i])))) / (n - 1)\n"
      "dx[k,i] = dy * (w[k,i] - mean(i, w[k,i])) / (n - 1)\n"
      "dw[k,i] = dy * (x[k,i] - mean(i, x[k,i])) / (n - 1)\n",
      { { "dx[k,i] = dy * w[k,i] / (n - 1)", EVERYWHERE, "a clue" } } },
    { "quadratic", "k rows = 3, i n = 4, j m = 4", "x[k,i], w[i,j]",
      "y[k] = sum(i, sum(j, x[k,i] * w[i,j] * x[k,j]))\n"
      "dx[k,i] = dy[k] * sum(j, (w[i,j] + w[j,i]) * x[k,j])\n"
      "dw[i,j] = sum(k, dy[k] * x[k,i] * x[k,j])\n",
      { { "dx[k,i] = dy[k] * sum(j, 2 * w[i,j] * x[k,j])", "a clue: each dy is used" },
        { "dx[k,i] = dy[k] * sum(j, w[i,j] * x[k,j])", "a clue: each dy is used" } } },
    { "gain", "k rows = 3, i n = 4", "x[k,i], w[i]",
      "s[k] = sum(i, x[k,i]^2)\n" "y[k,i] = x[k,i] / sqrt(s[k]) * (1 + w[i])\n"
      "g[k,i] = dy[k,i] * (1 + w[i])\n" "dot[k] = sum(i, g[k,i] * x[k,i]) / s[k]\n"
      "dx[k,i] = (g[k,i] - x[k,i] * dot[k]) / sqrt(s[k])\n"
      "dw[i] = sum(k, dy[k,i] * x[k,i] / sqrt(s[k]))\n",
      { { "g[k,i] = dy[k,i] * w[i]", "has w (2) where 1 + w (2)", "its own for" },
        { "dx[k,i] = g[k,i] / sqrt(s[k]) - x[k,i] * dot[k]",
          "likely: beside the diagonal ... its own for each row" },
        { "dw[i] = sum(k, dy[k,i] * x[k,i])",
          "likely: a factor of its own for each row of dy" } } },

    { "log softmax", "k rows = 3, i n = 4", "x[k,i]",
      "e[k] = sum(i, exp(x[k,i]))\n" "y[k,i] = x[k,i] - log(e[k])\n" "p[k,i] = exp(x[k,i]) / e[k]\n"
      "s[k] = sum(i, dy[k,i])\n" "dx[k,i] = dy[k,i] - p[k,i] * s[k]\n",
      { { "dx[k,i] = dy[k,i] - y[k,i] * s[k]", "has y (1, 1) where the softmax of x (1, 1)" },
        { "dx[k,i] = p[k,i] * (dy[k,i] - sum(i, dy[k,i] * p[k,i]))",
          "a factor too many: the softmax of x (" },
        { "dx[k,i] = dy[k,i] - s[k]", "a factor is missing: the softmax of x (1, 1)" } } },
    { "scaled", "k rows = 3, i n = 4", "x[k,i], w[i]",
      "y[k,i] = x[k,i] * w[i]\n" "dx[k,i] = dy[k,i] * w[i]\n" "dw[i] = sum(k, dy[k,i] * x[k,i])\n",
      { { "dw[i] = sum(k, dy[k,i] * x[0,i])", "a clue: right from row 0 of dy" },
        { "dx[k,i] = dy[k,i] * w[k]", "a clue: right in elements 0, 5, 10 of x" },
        { "dx[k,i] = dy[k,i] * w[i]^3", "w (0)^2", "w_i" } } },
    { "by a number", "k rows = 3, i n = 4, o one = 1", "x[k,i], w[o] in 2..3",
      "y[k,i] = x[k,i] * w[0]\n" "dx[k,i] = dy[k,i] * w[0]\n"
      "dw[o] = sum(k, sum(i, dy[k,i] * x[k,i]))\n",
      { { "dw[o] = sum(k, sum(i, dy[k,i] * x[k,i] * w[0]))", ": the value of w", "size of" } } },
    { "joined", "k rows = 3, i n = 4, j m = 2, c columns = 6", "x[k,i], w[k,j]",
      "y[k,c] = [c < 4] ? x[k,c] : w[k,c - 4]\n" "dx[k,i] = dy[k,i]\n" "dw[k,j] = dy[k,j + 4]\n",
      { { "dw[k,j] = dy[k,j]", "likely: " } } },
    { "filter", "p places = 9, j taps = 3, o out = 7", "x[p], w[j]",
      "y[o] = sum(j, x[o + j] * w[j])\n"
      "dx[p] = sum(o, [o <= p] * [p <= o + 2] * dy[o] * w[p - o])\n"
      "dw[j] = sum(o, dy[o] * x[o + j])\n",
      { { "dx[p] = [p < 7] * dy[p] * sum(j, w[j])",
          "gives to x (1); it is wrong elsewhere, too", "sign is flipped" },
        { "dw[j] = sum(o, dy[o] * x[o])", "a clue: right in element 0 of w" },
        { "dx[p] = sum(o, [o <= p] * [p <= o + 2] * dy[o] * w[2 - p + o])", "wrong places" } } },
    { "scores", "k rows = 3, i n = 4", "x[k,i] in 0 - 1..1, w[i]",
      "t[k,i] = tanh(2 * x[k,i])\n" "y[k] = sum(i, w[i] * t[k,i])\n" "d[k,i] = 1 - t[k,i]^2\n"
      "dx[k,i] = dy[k] * 2 * w[i] * d[k,i]\n" "dw[i] = sum(k, dy[k] * t[k,i])\n",
      { { "d[k,i] = 1 - t[k,i]", "a clue: each dy is used" } } },
    { "pool", "p places = 9, o out = 4, j taps = 3", "x[p]",
      "y[o] = sum(j, (j + 1) * x[2 * o + j])\n"
      "dx[p] = sum(o, sum(j, [p = 2 * o + j] * (j + 1) * dy[o]))\n",
      { { "dx[p] = sum(o, sum(j, [p = o + j] * (j + 1) * dy[o]))", "wrong places" } } },
    { "channels", "b n = 2, c channels = 3, i m = 4", "x[b,c,i], w[c]",
      "y[b,c,i] = sin(x[b,c,i]) * w[c]\n" "dx[b,c,i] = dy[b,c,i] * cos(x[b,c,i]) * w[c]\n"
      "dw[c] = sum(b, sum(i, dy[b,c,i] * sin(x[b,c,i])))\n",
      { { "dx[b,c,i] = dy[b,c,i] * cos(x[b,c,i])", "likely: ... a factor is missing", "1/std" },
        { "dx[b,c,i] = dy[b,c,i] * cos(x[b,c,i]) * w[c]^2", "likely: ... a factor too many", "1/std" } } },
};

CASE(causes, open_all, close_all, "")

TESTS(each_cause_is_named, LENGTH(ops)) /* _i: the op */
{
    formula_rows(&ops[_i]);
}

#endif
