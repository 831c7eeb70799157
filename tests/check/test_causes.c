/* Wrong backwards of many kinds of ops, and the gradient check's report on each; and causes that it must not
 * name, although numbers fit by chance. An op is a text whose backward is right. Each row below an op has
 * lines that replace some of the op's lines, words that the report must then contain, and words that it must
 * not contain. A row has few words, so sentences can be reworded. Each row tests a path through core/explain,
 * or a number in it, that no other row tests. */
#include "reports.h"
#include "lib/suites.h"

#ifdef GRADUS_DOUBLE

/* elementwise ops of x, and of x and w: the derivatives are separate lines */
#define ELEMENTS(name, range, y, d)                                                                      \
    name, "k rows = 3, i n = 4", "x[k,i]" range, "y[k,i] = " y "\n" "d[k,i] = " d "\n"                    \
    "dx[k,i] = d[k,i] * dy[k,i]\n"
#define BOTH(name, range, y, d, c)                                                                       \
    name, "k rows = 3, i n = 4", "x[k,i]" range ", w[k,i]" range, "y[k,i] = " y "\n" "d[k,i] = " d "\n"   \
    "c[k,i] = " c "\n" "dx[k,i] = d[k,i] * dy[k,i]\n" "dw[k,i] = c[k,i] * dy[k,i]\n"
#define MEAN(name, range, y, d, c)                                                                       \
    name, "k rows = 3, i n = 4", "x[k,i]" range ", w[k,i]" range, "y = mean(k, mean(i, " y "))\n"         \
    "d[k,i] = " d "\n" "dx[k,i] = d[k,i] * dy / 12\n" "dw[k,i] = (" c ") * dy / 12\n"

#define NO_DY      "likely: dy is not used"
#define STORED     "likely: ... values are lost"
#define NOTHING    "likely: no gradient arrives"
#define EACH_DY    "a clue: each element gets its own dy"
#define EVERYWHERE "likely: ... off by the same number everywhere ... "

static const struct formula_op ops[] = {
    { "square", "k rows = 3, i n = 4", "x[k,i]",
      "y[k,i] = x[k,i]^2\n" "g[k,i] = 2 * x[k,i] * dy[k,i]\n" "dx[k,i] = g[k,i]\n",
      { { "dx[k,i] = 2 * g[k,i]", "likely: ... factor of 2: counted twice" },
        { "dx[k,i] = g[k,i] / 3", "likely: ... a forgotten 3 ... size of dimension 0 of x" },
        { "dx[k,i] = [i != 3] * g[k,i]", NOTHING " in column 3" },
        { "dx[k,i] = g[k,i] + 0.25", "likely: a term without dy" },
        { "dx[k,i] = g[k,i] + g[k,i]^2", "likely: not linear in dy" },
        { "dx[k,i] = [dy[k,i] > 0] * g[k,i]", "likely: not linear in dy" },
        { "dx[k,i] = [k = 1] ? 5 * g[k,i] : g[k,i]", "likely: in row 1 ... factor of 5" },
        { "dx[k,i] = g[k,i] * (1 + k)", "likely: ... separate factor for each row ... 1, 2, 3" },
        { "dx[k,i] = g[k,i] * (1 + 1e-4 * sin(x[k,i]))", "a clue: nearly right: off by 9.6e-05" },
        { "dx[k,i] = g[k,i + 1 - 4 * [i = 3]]", "likely: ... wrong places ... x (0, 3) belongs to x (0, 0)" },
        { "dx[k,i] = g[k,i] / 12", "likely: ... a forgotten 12 ... size of all of x" },
        { "dx[k,i] = 123.4 * g[k,i]", "likely: ... factor of 123.4" },
        { "dx[k,i] = g[k,i] + dx0[k,i]", "likely: ... depends on the gradient's previous values" },
        { "dx[k,i] = [4 * k + i >= 2] ? 1 / 0 : g[k,i]", "likely: a division by zero" } } },

    { "linear", "r rows = 3, o out = 5, i n = 4", "x[r,i], w[o,i], b[o]",
      "y[r,o] = b[o] + sum(i, x[r,i] * w[o,i])\n" "dx[r,i] = sum(o, dy[r,o] * w[o,i])\n"
      "g[o,i] = sum(r, dy[r,o] * x[r,i])\n" "dw[o,i] = g[o,i]\n" "db[o] = sum(r, dy[r,o])\n",
      { { "dw[o,i] = sum(r, x[r,i])", NO_DY },
        { "dw[o,i] = g[0,4 * (4 * o + i) - 19 * floor((4 * o + i) / 5)]", "likely: ... wrong places" },
        { "db[o] = sum(r, dy[r,o]) / rows", "likely: ... forgotten 3 ... size of dimension 0 of y" },
        { "db[o] = dy[2,o] - db0[o]", "likely: ... except from row 2 ... overwrites" },
        { "db[o] = n * sum(r, dy[r,o])", "likely: ... factor of 4 ... size of dimension 1 of x" },
        { "dx[r,i] = sum(o, dy[0,o] * w[o,i])", "likely: ... the wrong dy: x (1, 0) takes dy (0, 0)" },
        { "dw[o,i] = dy[0,o] * x[0,i]", NOTHING " except from row 0 of dy ... +=" },
        { "dx[r,i] = sum(o, [o < 4] * dy[r,o] * w[o,i])", NOTHING " from column 4 of dy" },
        { "dx[r,i] = sum(o, dy[r,o] * w[o,i] * 5 * cos(x[r,i] * w[o,i]))\n"
          "db[o] = sum(r, dy[r,o]) / 2", "likely, for b: ... 0.5: a forgotten 2" } } },

    { "softmax", "k rows = 3, i n = 4, j m = 4", "x[k,i]",
      "e[k] = sum(i, exp(x[k,i]))\n" "y[k,i] = exp(x[k,i]) / e[k]\n"
      "s[k] = sum(i, dy[k,i] * y[k,i])\n" "dx[k,i] = y[k,i] * (dy[k,i] - s[k])\n",
      { { "dx[k,i] = y[k,i] * dy[k,i]", "likely: beside the diagonal ... all zero" },
        { "dx[k,i] = y[k,i] * (1 - y[k,i]) * dy[k,i]", NOTHING " beside the diagonal" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - [k > 0] * s[k - 1])", "a clue: ... does not depend" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - s[k]) - dx0[k,i]", STORED },
        { "dx[k,i] = dy[k,i] - y[k,i] * s[k]", "likely: ... 1 - v ... a 1 where v" } } },

    { "layer norm", "k rows = 3, i n = 4", "x[k,i], w[i], b[i]",
      "eps = 1e-5\n" "mean[k] = mean(i, x[k,i])\n"
      "r[k] = 1 / sqrt(mean(i, (x[k,i] - mean[k])^2) + eps)\n"
      "z[k,i] = (x[k,i] - mean[k]) * r[k]\n" "y[k,i] = z[k,i] * w[i] + b[i]\n"
      "g[k,i] = dy[k,i] * w[i]\n" "mg[k] = mean(i, g[k,i])\n" "mgz[k] = mean(i, g[k,i] * z[k,i])\n"
      "md[k] = mean(i, dy[k,i])\n" "mdz[k] = mean(i, dy[k,i] * z[k,i])\n"
      "dx[k,i] = r[k] * (g[k,i] - mg[k] - z[k,i] * mgz[k])\n" "dw[i] = sum(k, dy[k,i] * z[k,i])\n"
      "db[i] = sum(k, dy[k,i])\n",
      { { "dx[k,i] = r[k] * (g[k,i] - z[k,i] * mgz[k])", "likely: ... a term with the sum" },
        { "dx[k,i] = r[k] * (g[k,i] - mg[k])", "likely: ... a term with this factor" },
        { "dx[k,i] = r[k] * (g[k,i] - (mg[k] + z[k,i] * mgz[k]) * n / (n - 1))",
          "likely: beside the diagonal ... 4/3 ... n - 1" },
        { "dw[i] = sum(k, dy[k,i] * x[k,i])", "likely: the wrong factor ... x (2, 0) ... -1.365" } } },

    { "attention", "h heads = 2, t time = 3, s keys = 3, u others = 3, e n = 4",
      "q[h,t,e], k[h,s,e], v[h,s,e]",
      "a[h,t,s] = exp(sum(e, q[h,t,e] * k[h,s,e]) / 2)\n"
      "p[h,t,s] = [s <= t] * a[h,t,s] / sum(u, [u <= t] * a[h,t,u])\n"
      "y[h,t,e] = sum(s, p[h,t,s] * v[h,s,e])\n" "c[h,t,s] = sum(e, dy[h,t,e] * v[h,s,e])\n"
      "d[h,t,s] = p[h,t,s] * (c[h,t,s] - sum(u, p[h,t,u] * c[h,t,u]))\n"
      "gq[h,t,e] = sum(s, d[h,t,s] * k[h,s,e])\n" "dq[h,t,e] = gq[h,t,e] / 2\n"
      "dk[h,s,e] = sum(t, d[h,t,s] * q[h,t,e]) / 2\n" "dv[h,s,e] = sum(t, p[h,t,s] * dy[h,t,e])\n",
      { { "dq[h,t,e] = gq[h,t,e] / sqrt(2)", "likely: ... 1.41421: sqrt(2)" },
        { "dv[h,s,e] = sum(t, p[h,s,t] * dy[h,t,e])", "likely: ... exchanged ... transpose" },
        { "dv[h,s,e] = sum(t, a[h,t,s] / sum(u, a[h,t,u]) * dy[h,t,e])", "a clue: ... v comes after" },
        { "dv[h,s,e] = sum(t, [s <= t] * dy[h,t,e])", "likely: ... multiplied by 1 everywhere" },
        { "dv[h,s,e] = sum(t, [s != t] * p[h,t,s] * dy[h,t,e])", NOTHING " on the diagonal" },
        { "dq[h,t,e] = gq[h,t,e] / sqrt(8)", "likely: ... 0.707107: 1/sqrt(2)" },
        { "dk[h,s,e] = sum(t, d[h,s,t] * q[h,t,e]) / 2", "a clue: no gradient arrives" } } },

    { "embedding", "t time = 6, s later = 6, v words = 5, e n = 3", "w[v,e]",
      "y[t,e] = w[ids[t],e]\n" "last[t] = [sum(s, [s > t] * [ids[s] = ids[t]]) = 0]\n"
      "g[v,e] = sum(t, [ids[t] = v] * dy[t,e])\n" "dw[v,e] = g[v,e]\n",
      { { "dw[v,e] = g[v,0] + g[v,1] + g[v,2]", "column of w is not the column of dy ... does not depend" } },
      NULL, "ids[t]", (const double[]){ 1, 3, 1, 0, 3, 3 } },

    { "dropout", "k rows = 4, i n = 5", "x[k,i]",
      "y[k,i] = mask[k,i] * x[k,i] / 0.7\n" "dx[k,i] = mask[k,i] * dy[k,i] / 0.7\n",
      { { "dx[k,i] = (1 - mask[k,i]) * dy[k,i] / 0.7", "likely: ... wrong way round" },
        { "dx[k,i] = mask[0,5 * k + i + 3 - 20 * [5 * k + i > 16]] * dy[k,i] / 0.7", "likely:" } },
      NULL, "mask[k,i]",
      (const double[]){ 1, 0, 1, 1, 1,  0, 1, 1, 0, 1,  1, 1, 1, 0, 1,  1, 0, 1, 1, 1 } },

    { "loss of three rows", "k rows = 4, i n = 5", "x[k,i]",
      "q[k,i] = exp(x[k,i]) / e[k]\n" "e[k] = sum(i, exp(x[k,i]))\n"
      "y = -sum(k, [target[k] >= 0] * log(q[k,target[k]])) / 3\n" "hot[k,i] = [i = target[k]]\n"
      "g[k] = [target[k] >= 0] * dy\n" "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) / 3\n",
      { { "dx[k,i] = g[k] * q[k,i] / 3", "likely: in elements 1, 5, 18 ... +0.333333" },
        { "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) / n", "likely: ... 0.6: 3/5 ... dimension 1 of x" },
        { "dx[k,i] = -g[k] * hot[k,i] / q[k,i] / 3",
          "a clue: no gradient arrives except in elements 1, 5, 18" },
        { "dx[k,i] = g[k] * (exp(x[k,i]) - hot[k,i]) / 3", "likely: ... a wrong term ... softmax" },
        { "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) * (1 + k) / 3", "likely: ... separate factor for each row" },
        { "dx[k,i] = abs(g[k]) * (q[k,i] - hot[k,i]) / 3", "likely: the sign of dy is lost" } },
      NULL, "target[k]", (const double[]){ 1, 0, -100, 3 } },

    { "gelu", "k rows = 3, i n = 5", "x[k,i]",
      "a = 0.7978845608028654\n" "b = 0.044715\n" "t[k,i] = tanh(a * (x[k,i] + b * x[k,i]^3))\n"
      "y[k,i] = x[k,i] * (1 + t[k,i]) / 2\n" "f[k,i] = (1 + t[k,i]) / 2\n"
      "h[k,i] = x[k,i] * (1 - t[k,i]^2) / 2\n" "u[k,i] = a * (1 + 3 * b * x[k,i]^2)\n"
      "d[k,i] = f[k,i] + h[k,i] * u[k,i]\n" "dx[k,i] = d[k,i] * dy[k,i]\n",
      { { "d[k,i] = f[k,i] * (1 - f[k,i])", EACH_DY } } },

    { "tanh", "k rows = 3, i n = 5", "x[k,i]",
      "y[k,i] = tanh(x[k,i])\n" "d[k,i] = 1 - y[k,i]^2\n" "dx[k,i] = d[k,i] * dy[k,i]\n",
      { { "d[k,i] = 1 + y[k,i]^2", "likely: ... has 1 + y^2 where 1 - " } },
      (const double[]){ 0, 0.1, -0.3, 0.4, 1.7, 0.6, -0.7, -1.8, 1.9, -1, 1.1, -1.2, 1.3, -1.4, -1.5 } },

    { "two layers", "r rows = 3, i n = 4, c m = 4, o out = 4", "x[r,i], u[i,c], v[c,o]",
      "h[r,c] = tanh(sum(i, x[r,i] * u[i,c]))\n" "y[r,o] = sum(c, h[r,c] * v[c,o])\n"
      "d[r,c] = sum(o, dy[r,o] * v[c,o]) * (1 - h[r,c]^2)\n" "dx[r,i] = sum(c, d[r,c] * u[i,c])\n"
      "du[i,c] = sum(r, d[r,c] * x[r,i])\n" "dv[c,o] = sum(r, h[r,c] * dy[r,o])\n",
      { { "du[i,c] = sum(r, d[r,c] * y[r,i])", "likely: the wrong factor ... y (2, 0) where x (2, 0)" } } },

    { "tied", "k rows = 3, i n = 4", "x[k,i], w[i]",
      "dot[k] = sum(i, x[k,i] * w[i])\n" "y[k,i] = dot[k] * w[i]\n"
      "d[k] = sum(i, dy[k,i] * w[i])\n" "dx[k,i] = d[k] * w[i]\n"
      "dw[i] = sum(k, d[k] * x[k,i] + dy[k,i] * dot[k])\n",
      { { "dw[i] = sum(k, dy[k,i] * dot[k])", "likely: ... a term is missing" } } },

    { ELEMENTS("cube", "", "x[k,i]^3", "3 * x[k,i]^2"),
      { { "d[k,i] = 2 * x[k,i]^2", "factor of 0.666667: 2/3", "size of" } } },
    { ELEMENTS("log2", " in 0.3..3", "log2(x[k,i])", "1 / (x[k,i] * log(2))"),
      { { "d[k,i] = log(2) / x[k,i]", "0.480453: log(2)^2" } } },
    { ELEMENTS("leaky relu", "", "max(x[k,i], x[k,i] / 10)", "[x[k,i] > 0] ? 1 : 0.1"),
      { { "d[k,i] = [x[k,i] > 0] ? 0.1 : 1", "likely: ... exchanged" } } },
    { ELEMENTS("faint", "", "[x[k,i] < -1] ? 1e-6 * x[k,i] : x[k,i]", "[x[k,i] < -1] ? 1e-6 : 1"),
      { { "d[k,i] = [x[k,i] < -1] ? 1e-8 : exp(cos(x[k,i]))", EACH_DY, "no gradient arrives" } } },
    { ELEMENTS("softsign", "", "x[k,i] / (1 + abs(x[k,i]))", "1 / (1 + abs(x[k,i]))^2"),
      { { "d[k,i] = 1 / (1 + abs(x[k,i]))", "likely: ... wrong factor", "a clue" } } },
    { ELEMENTS("sinc", " in 0.5..3", "sin(x[k,i]) / x[k,i]", "(cos(x[k,i]) - y[k,i]) / x[k,i]"),
      { { "d[k,i] = (cos(x[k,i]) - sin(x[k,i])) / x[k,i]", EACH_DY, "likely" } } },
    { ELEMENTS("elu", "", "[x[k,i] > 0] ? x[k,i] : exp(x[k,i]) - 1", "[x[k,i] > 0] ? 1 : exp(x[k,i])"),
      { { "d[k,i] = [x[k,i] > 0] ? 1 : x[k,i]", "a clue: wrong where x < 0" } } },
    { BOTH("divide", " in 0.4..3", "x[k,i] / w[k,i]", "1 / w[k,i]", "-x[k,i] / w[k,i]^2"),
      { { "c[k,i] = -x[k,i] / w[k,i]", "a factor too many: w (0, 0)" } } },
    { BOTH("angle", " in 0.4..3", "atan2(x[k,i], w[k,i])", "w[k,i] / (x[k,i]^2 + w[k,i]^2)",
           "-x[k,i] / (x[k,i]^2 + w[k,i]^2)"),
      { { "d[k,i] = -x[k,i] / (x[k,i]^2 + w[k,i]^2)\n"
          "c[k,i] = w[k,i] / (x[k,i]^2 + w[k,i]^2)", "w (0, 0) where x (0, 0) ... sign is flipped" } } },
    { MEAN("divergence", " in 0.1..1", "x[k,i] * (log(x[k,i]) - log(w[k,i]))",
           "log(x[k,i]) - log(w[k,i]) + 1", "-x[k,i] / w[k,i]"),
      { { "d[k,i] = log(x[k,i]) - log(w[k,i])", EVERYWHERE "-0.0833333" },
        { "d[k,i] = log(x[k,i]) + 1", "x (2, 3) has 0.0833333 times log(w (2, 3)) too much" } } },
    { MEAN("squared error", "", "(x[k,i] - w[k,i])^2", "2 * (x[k,i] - w[k,i])", "2 * (w[k,i] - x[k,i])"),
      { { "d[k,i] = 2", "likely: ... a factor is missing", "0 everywhere" } } },
    { MEAN("loss of chances", " in 0.1..0.9", "-w[k,i] * log(x[k,i]) - (1 - w[k,i]) * log(1 - x[k,i])",
           "(x[k,i] - w[k,i]) / (x[k,i] * (1 - x[k,i]))", "log(1 - x[k,i]) - log(x[k,i])"),
      { { "d[k,i] = x[k,i] - w[k,i]", "a factor too many: v (1 - v), v = x (2, 0)" } } },

    { "cross-entropy", "k rows = 4, i n = 5", "x[k,i]",
      "p[k,i] = exp(x[k,i]) / e[k]\n" "e[k] = sum(i, exp(x[k,i]))\n"
      "y = -mean(k, log(p[k,target[k]]))\n" "hot[k,i] = [i = target[k]]\n"
      "d[k,i] = p[k,i] - hot[k,i]\n" "dx[k,i] = d[k,i] * dy / rows\n",
      { { "d[k,i] = log(p[k,i]) - hot[k,i]", "likely: ... a wrong term ... softmax" },
        { "d[k,i] = p[k,i] - [i = target[k] + 1 - 5 * [target[k] = 4]]", "likely: ... exchanged" } },
      NULL, "target[k]", (const double[]){ 1, 0, 4, 3 } },

    { "rms norm", "k rows = 3, i n = 4", "x[k,i], w[i] in 0.5..2",
      "eps = 0.1\n" "v[k] = mean(i, x[k,i]^2)\n" "y[k,i] = x[k,i] / sqrt(v[k] + eps) * w[i]\n"
      "c[k] = 1 / sqrt(v[k] + eps)\n" "g[k,i] = dy[k,i] * w[i]\n"
      "p[k] = mean(i, g[k,i] * x[k,i]) * c[k]\n"
      "dx[k,i] = c[k] * (g[k,i] - x[k,i] * c[k] * p[k])\n"
      "dw[i] = sum(k, dy[k,i] * x[k,i] * c[k])\n",
      { { "dx[k,i] = c[k] * (dy[k,i] - x[k,i] * c[k] * p[k])", "only on the diagonal ... 1 - v for v = w (0)",
          "look at the term" } } },

    { "batch norm", "i n = 5, k columns = 3", "x[i,k]",
      "eps = 1e-5\n" "z[i,k] = x[i,k] - m[k]\n" "m[k] = mean(i, x[i,k])\n"
      "v[k] = mean(i, z[i,k]^2)\n" "y[i,k] = z[i,k] / sqrt(v[k] + eps)\n"
      "c[k] = 1 / sqrt(v[k] + eps)\n" "a[k] = mean(i, dy[i,k])\n"
      "p[k] = mean(i, dy[i,k] * z[i,k]) * c[k]\n"
      "dx[i,k] = c[k] * (dy[i,k] - a[k] - z[i,k] * c[k] * p[k])\n",
      { { "dx[i,k] = c[k] * (dy[i,k] - z[i,k] * c[k] * p[k])", "likely: ... mean", "sums to 0" } } },

    { "deviation", "k rows = 3, i n = 5", "x[k,i]",
      "z[k,i] = x[k,i] - m[k]\n" "m[k] = mean(i, x[k,i])\n"
      "y[k] = sqrt(sum(i, z[k,i]^2) / (n - 1))\n" "d[k,i] = z[k,i] / y[k] / (n - 1)\n"
      "dx[k,i] = d[k,i] * dy[k]\n",
      { { "d[k,i] = x[k,i] / y[k] / (n - 1)", "has x (0, 3) where x less its mean", "one number" } } },

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
      { { "dx[k,i] = dy[segment[k],i]", "likely: ... separate factor for each row", "off by" } },
      NULL, "segment[k]", (const double[]){ 0, 1, 0, 2, 2, 2 } },

    { "centre", "k rows = 4, i n = 3, j r = 4, c m = 3", "x[k,i]",
      "y[k,i] = x[k,i] - mean(j, x[j,i])\n" "dx[k,i] = dy[k,i] - mean(j, dy[j,i])\n",
      { { "dx[k,i] = dy[k,i] - mean(c, dy[k,c])", "a clue: ... does not depend" } } },

    { "log of sum of exp", "k rows = 3, i n = 4", "x[k,i]",
      "y[k] = log(sum(i, exp(x[k,i])))\n" "dx[k,i] = dy[k] * exp(x[k,i] - y[k])\n",
      { { "dx[k,i] = dy[k] * exp(x[k,i] - max(i, x[k,i]))", "likely: ... separate factor for each row" } } },

    { "distance", "k rows = 3, i n = 4", "x[k,i], w[k,i]",
      "z[k,i] = x[k,i] - w[k,i]\n" "y = sum(k, sum(i, log(exp(z[k,i]) + exp(-z[k,i]))))\n"
      "dx[k,i] = dy * tanh(z[k,i])\n" "dw[k,i] = -dy * tanh(z[k,i])\n",
      { { "dx[k,i] = dy * (exp(z[k,i]) - exp(-z[k,i])) / 2",
          "a clue: the factor of dy is wrong", "likely" } } },

    { "gain", "k rows = 3, i n = 4", "x[k,i], w[i]",
      "s[k] = sum(i, x[k,i]^2)\n" "y[k,i] = x[k,i] / sqrt(s[k]) * (1 + w[i])\n"
      "g[k,i] = dy[k,i] * (1 + w[i])\n" "dot[k] = sum(i, g[k,i] * x[k,i]) / s[k]\n"
      "dx[k,i] = (g[k,i] - x[k,i] * dot[k]) / sqrt(s[k])\n"
      "dw[i] = sum(k, dy[k,i] * x[k,i] / sqrt(s[k]))\n",
      { { "g[k,i] = dy[k,i] * w[i]", "has w (2) where 1 + w (2)", "separate factor for" },
        { "dw[i] = sum(k, dy[k,i] * x[k,i])",
          "likely: a separate factor for each row of dy" } } },

    { "scaled", "k rows = 3, i n = 4", "x[k,i], w[i]",
      "y[k,i] = x[k,i] * w[i]\n" "dx[k,i] = dy[k,i] * w[i]\n" "dw[i] = sum(k, dy[k,i] * x[k,i])\n",
      { { "dw[i] = sum(k, dy[k,i] * x[0,i])", "a clue: right from row 0 of dy" },
        { "dx[k,i] = dy[k,i] * w[k]", "a clue: right in elements 0, 5, 10 of x" } } },

    { "by a number", "k rows = 3, i n = 4, o one = 1", "x[k,i], w[o] in 2..3",
      "y[k,i] = x[k,i] * w[0]\n" "dx[k,i] = dy[k,i] * w[0]\n"
      "dw[o] = sum(k, sum(i, dy[k,i] * x[k,i]))\n",
      { { "dw[o] = sum(k, sum(i, dy[k,i] * x[k,i] * w[0]))", ": the value of w", "size of" } } },

    { "filter", "p places = 9, j taps = 3, o out = 7", "x[p], w[j]",
      "y[o] = sum(j, x[o + j] * w[j])\n"
      "dx[p] = sum(o, [o <= p] * [p <= o + 2] * dy[o] * w[p - o])\n"
      "dw[j] = sum(o, dy[o] * x[o + j])\n",
      { { "dx[p] = [p < 7] * dy[p] * sum(j, w[j])",
          "gives to x (1); the gradient is wrong elsewhere too", "sign is flipped" },
        { "dw[j] = sum(o, dy[o] * x[o])", "a clue: right in element 0 of w" } } },

    { "channels", "b n = 2, c channels = 3, i m = 4", "x[b,c,i], w[c]",
      "y[b,c,i] = sin(x[b,c,i]) * w[c]\n" "dx[b,c,i] = dy[b,c,i] * cos(x[b,c,i]) * w[c]\n"
      "dw[c] = sum(b, sum(i, dy[b,c,i] * sin(x[b,c,i])))\n",
      { { "dx[b,c,i] = dy[b,c,i] * cos(x[b,c,i])", "likely: ... a factor is missing", "1/std" } } },
};

CASE(causes, open_all, close_all, "")

TESTS(each_cause_is_named, LENGTH(ops)) /* _i: the op */
{
    formula_rows(&ops[_i]);
}

/* Any number is any other number times some factor, so a factor without a name explains nothing. */
TEST(one_number_proves_little)
{
    static const struct formula_op one = { .sizes = "i n = 1", .in = "x[i]", .lines =
        "y[i] = x[i]^2\n"
        "dx[i] = 2 * x[i] * dy[i]\n" };
    expect(formula_check(&one, "dx[i] = 4 * x[i] * dy[i]"), 1, "likely: ... factor of 2: counted twice");
    expect(formula_check(&one, "dx[i] = 2.002 * x[i] * dy[i]"), 1, "FAILED");
    ck_assert_msg(!says("likely"), "%s", report.text);
}

#endif
