/* Wrong backwards of what transformers are made of, and what the gradient check says of each. An op is a text
 * whose backward is right; each row below it has lines that stand in the place of some of these, and words
 * that the report must then contain. The words of a row are few, so that sentences can be reworded. */
#include "formula_op.h"
#include "reports.h"
#include "lib/suites.h"

#ifdef GRADUS_DOUBLE

#define NO_DY    "likely: dy does not enter"
#define STORED   "likely: ... before is lost"
#define BESIDE   "likely: beside the diagonal ... "
#define ON       "likely: only on the diagonal ... "
#define NOTHING  "likely: nothing arrives"
#define EACH_DY  "a clue: each element gets its own dy"

static const struct formula_op ops[] = {
    { "square", "k rows = 3, i n = 4", "x[k,i]",
      "y[k,i] = x[k,i]^2\n" "g[k,i] = 2 * x[k,i] * dy[k,i]\n" "dx[k,i] = g[k,i]\n",
      { { "dx[k,i] = -g[k,i]", "likely: ... sign is flipped" },
        { "dx[k,i] = 2 * g[k,i]", "likely: ... factor of 2: counted twice" },
        { "dx[k,i] = g[k,i] / 2", "likely: ... factor of 0.5: a forgotten 2" },
        { "dx[k,i] = -2 * g[k,i]", "likely: ... sign is flipped ... factor of 2" },
        { "dx[k,i] = 1.001 * g[k,i]", "likely: ... factor of 1.001" },
        { "dx[k,i] = g[k,i] / 3", "likely: ... a forgotten 3 ... size of dimension 0 of x" },
        { "dx[k,i] = 0", "likely: all zero" },
        { "dx[k,i] = [k != 1] * g[k,i]", NOTHING " in row 1" },
        { "dx[k,i] = [k = 2] * g[k,i]", NOTHING " except in row 2" },
        { "dx[k,i] = [i != 3] * g[k,i]", NOTHING " in column 3" },
        { "dx[k,i] = (1 - [i = k + 1] * [k < 2]) * g[k,i]", NOTHING " in elements 1, 6" },
        { "dx[k,i] = 2 * x[k,i]", NO_DY },
        { "dx[k,i] = g[k,i] + 0.25", "likely: a term without dy" },
        { "dx[k,i] = g[k,i] * dy[k,i]", "likely: the sign of dy is lost" },
        { "dx[k,i] = g[k,i] + g[k,i]^2", "likely: not linear in dy" },
        { "dx[k,i] = [dy[k,i] > 0] * g[k,i]", "likely: not linear in dy" },
        { "dx[k,i] = [x[k,i] > 0] ? -g[k,i] : g[k,i]", "likely: where x > 0: the sign is flipped" },
        { "dx[k,i] = [k = 1] ? 5 * g[k,i] : g[k,i]", "likely: in row 1 ... factor of 5" },
        { "dx[k,i] = g[k,i] * (1 + k)", "likely: ... its own for each row ... 1, 2, 3" },
        { "dx[k,i] = g[k,i] * (1 + 1e-4 * sin(x[k,i]))", "a clue: nearly right: off by 9.6e-05" },
        { "dx[k,i] = g[k,i] * (2 + cos(x[k,i]))", EACH_DY },
        { "dx[k,i] = g[k,i + 1 - 4 * [i = 3]]", "likely: ... wrong places ... x (0, 3) belongs to x (0, 0)" },
        { "dx[k,i] = g[0,4 * (4 * k + i) - 11 * floor((4 * k + i) / 3)]", "likely: ... wrong places" },
        { "dx[k,i] = g[k,i] / x[k,i]", "likely: a factor is missing: x" },
        { "dx[k,i] = g[k,i] * (1 - x[k,i])", "likely: the wrong factor ... x (1 - x)" },
        { "dx[k,i] = g[k,i] * 5 / 7", "likely: ... 0.714286 ... 5/7" },
        { "dx[k,i] = g[k,i] / 11", "likely: ... a forgotten 11" },
        { "dx[k,i] = g[k,i] / 12", "likely: ... a forgotten 12 ... size of all of x" },
        { "dx[k,i] = 123.4 * g[k,i]", "likely: ... factor of 123.4" },
        { "dx[k,i] = g[k,i] + dx0[k,i]", "likely: ... depends on what was in the gradient before" },
        { "dx[k,i] = [4 * k + i >= 2] ? 1 / 0 : g[k,i]", "likely: a division by zero" } } },

    { "linear", "r rows = 3, o out = 5, i n = 4, p outs = 5", "x[r,i], w[o,i], b[o]",
      "y[r,o] = b[o] + sum(i, x[r,i] * w[o,i])\n" "dx[r,i] = sum(o, dy[r,o] * w[o,i])\n"
      "g[o,i] = sum(r, dy[r,o] * x[r,i])\n" "dw[o,i] = g[o,i]\n" "db[o] = sum(r, dy[r,o])\n",
      { { "dw[o,i] = sum(r, x[r,i])", NO_DY },
        { "db[o] = rows", NO_DY },
        { "dx[r,i] = sum(o, dy[r,o] * w[0,i * out + o])", "a clue: each dy is used" },
        { "dw[o,i] = g[0,4 * (4 * o + i) - 19 * floor((4 * o + i) / 5)]", "likely: ... wrong places" },
        { "db[o] = sum(r, dy[r,o]) / rows", "likely: ... forgotten 3 ... size of dimension 0 of y" },
        { "db[o] = dy[2,o] - db0[o]", "likely: ... except from row 2 ... overwrites" },
        { "dx[r,i] = sum(o, dy[r,o])", "likely: a factor is missing: w (0, 2)" },
        { "dw[o,i] = w[o,i] * sum(r, dy[r,o])", "likely: the wrong factor ... w (0, 3) ... x (0, 3)" },
        { "dx[r,i] = -sum(o, dy[r,o] * w[o,i])", "likely: ... sign is flipped" },
        { "db[o] = n * sum(r, dy[r,o])", "likely: ... factor of 4 ... size of dimension 1 of x" },
        { "dx[r,i] = sum(o, dy[0,o] * w[o,i])", "likely: ... the wrong dy: x (1, 0) takes dy (0, 0)" },
        { "dw[o,i] = dy[0,o] * x[0,i]", NOTHING " except from row 0 of dy ... +=" },
        { "dx[r,i] = sum(o, [o < 4] * dy[r,o] * w[o,i])", NOTHING " from column 4 of dy" },
        { "db[o] = [o < rows] * sum(p, dy[o,p])", "likely: ... wrong places ... b (0) belongs to b (1)" },
        { "dw[o,i] = sum(r, dy[0,o * rows + r] * x[r,i])", "likely:" },
        { "dx[r,i] = sum(o, dy[r - 1 + 3 * [r = 0],o] * w[o,i])", "likely: ... wrong places" },
        { "dx[r,i] = sum(o, dy[r,o] * w[o,i] * 5 * cos(x[r,i] * w[o,i]))\n"
          "db[o] = sum(r, dy[r,o]) / 2", "likely, for b: ... 0.5: a forgotten 2" } } },

    { "softmax", "k rows = 3, i n = 4, j m = 4", "x[k,i]",
      "e[k] = sum(i, exp(x[k,i]))\n" "y[k,i] = exp(x[k,i]) / e[k]\n"
      "s[k] = sum(i, dy[k,i] * y[k,i])\n" "run[k] = s[k] + [k > 0] * run[k - 1]\n"
      "dx[k,i] = y[k,i] * (dy[k,i] - s[k])\n",
      { { "dx[k,i] = y[k,i] * dy[k,i]", BESIDE "all zero" },
        { "dx[k,i] = y[k,i] * (1 - y[k,i]) * dy[k,i]", NOTHING " beside the diagonal" },
        { "dx[k,i] = dy[k,i] - s[k]", "likely: a factor is missing: y (" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - sum(j, dy[k,j]))", BESIDE "a factor is missing: y (" },
        { "dx[k,i] = x[k,i] * (dy[k,i] - sum(j, dy[k,j] * x[k,j]))", "a clue: each dy is used" },
        { "dx[k,i] = y[k,i] * (dy[k,i] + s[k])", BESIDE "sign is flipped" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - run[k])", "likely: ... row of x comes after ... does not depend" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - dy[0,i] * y[0,i] - dy[1,i] * y[1,i] - dy[2,i] * y[2,i])",
          "a clue: ... does not depend" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - s[k] / n)", BESIDE "0.25: a forgotten 4" },
        { "dx[k,i] = exp(x[k,i]) * (dy[k,i] - s[k])", "likely: ... wrong factor" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - s[k] + dy[k,i] * y[k,i])", ON },
        { "dx[k,i] = y[k,i]^2 * (dy[k,i] - s[k])", "likely: a factor too many: y (" },
        { "dx[k,i] = y[k,i] * (dy[k,i] - [k > 0] * s[k - 1])", "a clue: ... does not depend" },
        { "dx[k,i] = y[k,i] * (1 - y[k,i])", NO_DY },
        { "dx[k,i] = y[k,i] * (dy[k,i] - s[k]) - dx0[k,i]", STORED },
        { "dx[k,i] = dy[k,i] - y[k,i] * s[k]", "likely: ... 1 - v ... a 1 where v" },
        { "dx[k,i] = log(y[k,i]) * (dy[k,i] - s[k])", "likely: the wrong factor ... log(y (" } } },

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
        { "dx[k,i] = r[k] * g[k,i]", "likely: beside the diagonal ... all zero" },
        { "dx[k,i] = g[k,i] - mg[k] - z[k,i] * mgz[k]", "likely: ... its own for each row" },
        { "dx[k,i] = r[k] * (dy[k,i] - md[k] - z[k,i] * mdz[k])", "likely: a factor is missing: w" },
        { "dx[k,i] = r[k] * (g[k,i] - md[k] - z[k,i] * mdz[k])", BESIDE "a factor is missing: w" },
        { "dx[k,i] = r[k] * (g[k,i] - (mg[k] + z[k,i] * mgz[k]) * n / (n - 1))",
          "likely: beside the diagonal ... 4/3 ... n - 1" },
        { "dw[i] = sum(k, dy[k,i] * x[k,i])", "likely: the wrong factor ... x (2, 0) ... -1.365" },
        { "dw[i] = sum(k, dy[k,i] * y[k,i])", "likely: the wrong factor ... y (2, 0)" },
        { "dx[k,i] = r[k] * (g[k,i] - n * mg[k] - z[k,i] * n * mgz[k])", "likely: beside the diagonal" },
        { "dx[k,i] = r[k] * (g[k,i] - mg[k] - z[k,i] * mgz[k]) / sqrt(1 - eps * r[k]^2)",
          "a clue: nearly right" },
        { "dw[i] = sum(k, z[k,i])", NO_DY },
        { "db[i] = dy[2,i]", "likely: ... nothing arrives except from row" } } },

    { "attention",
          "h heads = 2, t time = 3, s keys = 3, u others = 3, e n = 4", "q[h,t,e], k[h,s,e], v[h,s,e]",
      "a[h,t,s] = exp(sum(e, q[h,t,e] * k[h,s,e]) / 2)\n"
      "p[h,t,s] = [s <= t] * a[h,t,s] / sum(u, [u <= t] * a[h,t,u])\n"
      "y[h,t,e] = sum(s, p[h,t,s] * v[h,s,e])\n" "c[h,t,s] = sum(e, dy[h,t,e] * v[h,s,e])\n"
      "d[h,t,s] = p[h,t,s] * (c[h,t,s] - sum(u, p[h,t,u] * c[h,t,u]))\n"
      "gq[h,t,e] = sum(s, d[h,t,s] * k[h,s,e])\n" "dq[h,t,e] = gq[h,t,e] / 2\n"
      "dk[h,s,e] = sum(t, d[h,t,s] * q[h,t,e]) / 2\n" "dv[h,s,e] = sum(t, p[h,t,s] * dy[h,t,e])\n",
      { { "dq[h,t,e] = gq[h,t,e]", "likely: ... factor of 2: counted twice" },
        { "dq[h,t,e] = gq[h,t,e] / sqrt(2)", "likely: ... 1.41421: sqrt(2)" },
        { "dv[h,s,e] = sum(t, p[h,s,t] * dy[h,t,e])", "likely: ... exchanged ... transpose" },
        { "dv[h,s,e] = sum(t, a[h,t,s] / sum(u, a[h,t,u]) * dy[h,t,e])", "a clue: ... v comes after" },
        { "dv[h,s,e] = sum(t, [s <= t] * dy[h,t,e])", "likely: ... multiplied by 1 everywhere" },
        { "dv[h,s,e] = sum(t, [s != t] * p[h,t,s] * dy[h,t,e])", NOTHING " on the diagonal" },
        { "dk[h,s,e] = sum(t, d[h,t,s] * k[h,t,e]) / 2", "likely: the wrong factor ... has k ... where q" },
        { "dv[h,s,e] = sum(t, p[1 - h,t,s] * dy[1 - h,t,e])", "likely: ... wrong places ... v (1, 0, 0)" },
        { "dq[h,t,e] = sum(s, p[h,t,s] * c[h,t,s] * k[h,s,e]) / 2\n"
          "dk[h,s,e] = sum(t, p[h,t,s] * c[h,t,s] * q[h,t,e]) / 2", "likely: ... a term with the sum" },
        { "dq[h,t,e] = gq[h,t,e] / sqrt(8)", "likely: ... 0.707107: sqrt(1/2)" },
        { "dq[h,t,e] = sum(s, d[h,s,t] * k[h,s,e]) / 2", "a clue: ... does not depend" },
        { "dv[h,s,e] = sum(t, p[h,t,s])", NO_DY },
        { "dk[h,s,e] = sum(t, p[h,t,s] * (1 - p[h,t,s]) * c[h,t,s] * q[h,t,e]) / 2",
          "a clue: each dy is used" },
        { "dq[h,t,e] = sum(s, d[h,t,s] * q[h,s,e]) / 2", "a clue: each dy is used" },
        { "dk[h,s,e] = sum(t, d[h,s,t] * q[h,t,e]) / 2", "a clue: nothing arrives" } } },

    { "embedding", "t time = 6, s later = 6, v words = 5, e n = 3", "w[v,e]",
      "y[t,e] = w[ids[t],e]\n" "last[t] = [sum(s, [s > t] * [ids[s] = ids[t]]) = 0]\n"
      "g[v,e] = sum(t, [ids[t] = v] * dy[t,e])\n" "dw[v,e] = g[v,e]\n",
      { { "dw[v,e] = sum(t, [ids[t] = v] * last[t] * dy[t,e])", "likely: ... nothing arrives from rows" },
        { "dw[v,e] = sum(t, [ids[t] = v] * last[t] * (dy[t,e] - dw0[v,e]))", STORED },
        { "dw[v,e] = [v > 0] * g[v - 1,e]", "likely: ... wrong places ... w (2, 0) belongs to w (1, 0)" },
        { "dw[v,e] = [v = 3] ? g[v,e] / 3 : g[v,e]", "likely: in row 3 of w ... a forgotten 3" },
        { "dw[v,e] = dy[v,e] + [v = 0] * dy[5,e]", "likely: ... wrong places" },
        { "dw[v,e] = [v != 0] * g[v,e]", NOTHING " in row 0 of w" },
        { "dw[v,e] = sum(t, [ids[t] = v] * [t < 3] * dy[t,e])", "likely: ... from rows 3, 4, 5 of dy" },
        { "dw[v,e] = sum(t, [ids[t] = v])", NO_DY },
        { "dw[v,e] = g[v,e] * w[v,e]", "likely: ... a factor too many" },
        { "dw[v,e] = g[v,0] + g[v,1] + g[v,2]", "column of w is not the column of dy ... does not depend" } },
      NULL, "ids[t]", (const double[]){ 1, 3, 1, 0, 3, 3 } },

    { "dropout", "k rows = 4, i n = 5", "x[k,i]",
      "y[k,i] = mask[k,i] * x[k,i] / 0.7\n" "dx[k,i] = mask[k,i] * dy[k,i] / 0.7\n",
      { { "dx[k,i] = dy[k,i] / 0.7", "likely: ... 5 of 20 elements ... does not depend ... right elsewhere" },
        { "dx[k,i] = dy[k,i]", "likely: ... 5 of 20 elements ... elsewhere" },
        { "dx[k,i] = (1 - mask[k,i]) * dy[k,i] / 0.7", "likely: ... wrong way round" },
        { "dx[k,i] = mask[k,i] * dy[k,i] / 0.3", "likely: ... 2.33333" },
        { "dx[k,i] = mask[0,5 * k + i + 3 - 20 * [5 * k + i > 16]] * dy[k,i] / 0.7", "likely:" },
        { "dx[k,i] = [x[k,i] > 0] * mask[k,i] * dy[k,i] / 0.7", NOTHING " where x < 0" },
        { "dx[k,i] = mask[k,i] / 0.7", NO_DY } },
      NULL, "mask[k,i]",
      (const double[]){ 1, 0, 1, 1, 1,  0, 1, 1, 0, 1,  1, 1, 1, 0, 1,  1, 0, 1, 1, 1 } },

    { "loss of three rows", "k rows = 4, i n = 5", "x[k,i]",
      "q[k,i] = exp(x[k,i]) / e[k]\n" "e[k] = sum(i, exp(x[k,i]))\n"
      "y = -sum(k, [target[k] >= 0] * log(q[k,target[k]])) / 3\n" "hot[k,i] = [i = target[k]]\n"
      "g[k] = [target[k] >= 0] * dy\n" "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) / 3\n",
      { { "dx[k,i] = [target[k] >= 0] * (q[k,i] - hot[k,i]) / 3", NO_DY },
        { "dx[k,i] = g[k] * (q[k,i] - hot[k,i])", "likely: ... factor of 3" },
        { "dx[k,i] = g[k] * q[k,i] / 3", "likely: in elements 1, 5, 18 ... +0.333333" },
        { "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) / 4", "likely: ... 0.75: 3/4" },
        { "dx[k,i] = g[k] * (hot[k,i] - q[k,i]) / 3", "likely: ... sign is flipped" },
        { "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) / n", "likely: ... 0.6: 3/5 ... dimension 1 of x" },
        { "dx[k,i] = -g[k] * hot[k,i] / q[k,i] / 3", "a clue: nothing arrives except in elements 1, 5, 18" },
        { "dx[k,i] = g[k] * hot[k,i] * (q[k,i] - 1) / 3", NOTHING " except in elements 1, 5, 18" },
        { "dx[k,i] = g[k] * (exp(x[k,i]) - hot[k,i]) / 3", "likely: ... a wrong term ... softmax" },
        { "dx[k,i] = g[k] * dy * (q[k,i] - hot[k,i]) / 3", "likely: the sign of dy is lost" },
        { "dx[k,i] = (g[k] * q[k,i] - hot[k,i]) / 3", "likely: a term without dy" },
        { "dx[k,i] = g[k] * (q[k,i] - hot[k,i]) * (1 + k) / 3", "likely: ... its own for each row" },
        { "dx[k,i] = g[k] * ((q[k,i] - hot[k,i]) / 3 + 0.1 * x[k,i])", "likely: a term too many" },
        { "dx[k,i] = abs(g[k]) * (q[k,i] - hot[k,i]) / 3", "likely: the sign of dy is lost" } },
      NULL, "target[k]", (const double[]){ 1, 0, -100, 3 } },

    { "gelu", "k rows = 3, i n = 5", "x[k,i]",
      "a = 0.7978845608028654\n" "b = 0.044715\n" "t[k,i] = tanh(a * (x[k,i] + b * x[k,i]^3))\n"
      "y[k,i] = x[k,i] * (1 + t[k,i]) / 2\n" "f[k,i] = (1 + t[k,i]) / 2\n"
      "h[k,i] = x[k,i] * (1 - t[k,i]^2) / 2\n" "u[k,i] = a * (1 + 3 * b * x[k,i]^2)\n"
      "d[k,i] = f[k,i] + h[k,i] * u[k,i]\n" "dx[k,i] = d[k,i] * dy[k,i]\n",
      { { "d[k,i] = f[k,i]", EACH_DY },
        { "d[k,i] = y[k,i]", "likely: the wrong factor ... by y " },
        { "d[k,i] = (1 + erf(x[k,i] / sqrt(2))) / 2 + x[k,i] * exp(-x[k,i]^2 / 2) / sqrt(2 * pi)",
          "a clue: nearly right" },
        { "d[k,i] = -f[k,i] - h[k,i] * u[k,i]", "likely: ... sign is flipped" },
        { "dx[k,i] = d[k,i]", NO_DY },
        { "d[k,i] = 1", "likely: ... multiplied by 1 everywhere" },
        { "d[k,i] = h[k,i] * u[k,i]", "likely: ... a term is missing" },
        { "d[k,i] = f[k,i] + h[k,i]", EACH_DY },
        { "u[k,i] = a * (1 + b * x[k,i]^2)", EACH_DY },
        { "u[k,i] = 1 + 3 * b * x[k,i]^2", EACH_DY },
        { "d[k,i] = f[k,i] + h[k,i] * u[k,i] / (1 + t[k,i])", EACH_DY },
        { "d[k,i] = f[k,i] + h[k,i] * u[k,i] / x[k,i]", EACH_DY },
        { "d[k,i] = f[k,i] * 2 + h[k,i] * u[k,i]", "likely: ... a term too many" },
        { "d[k,i] = f[k,i] + h[k,i] * u[k,i] * sqrt(2 * pi)", EACH_DY },
        { "d[k,i] = f[k,i] - h[k,i] * u[k,i]", EACH_DY },
        { "d[k,i] = f[k,i] + h[k,i] * u[k,i] * exp(-x[k,i]^2 / 2)", EACH_DY },
        { "d[k,i] = f[k,i] + h[k,i] * u[k,i] * exp(-x[k,i]^2 / 2) * 2", EACH_DY },
        { "u[k,i] = a * (1 - 3 * b * x[k,i]^2)", EACH_DY },
        { "d[k,i] = f[k,i] * (1 - f[k,i])", EACH_DY },
        { "d[k,i] = f[k,i] + h[k,i] * u[k,i] * x[k,i]", EACH_DY } } },

    { "tanh", "k rows = 3, i n = 5", "x[k,i]",
      "y[k,i] = tanh(x[k,i])\n" "d[k,i] = 1 - y[k,i]^2\n" "dx[k,i] = d[k,i] * dy[k,i]\n",
      { { "d[k,i] = 1 - y[k,i]", "likely: ... has 1 - y where 1 - " },
        { "d[k,i] = 1 - x[k,i]^2", "likely: ... has 1 - x^2 where 1 - " },
        { "d[k,i] = 1 + y[k,i]^2", "likely: ... has 1 + y^2 where 1 - " },
        { "d[k,i] = y[k,i]", "likely: ... has y where 1 - " },
        { "d[k,i] = 1 - tanh(y[k,i])^2", "likely: ... tanh(y) where 1 - " },
        { "d[k,i] = -y[k,i]", "likely: " },
        { "d[k,i] = 2 / (exp(x[k,i]^2) + exp(-x[k,i]^2))", EACH_DY } },
      (const double[]){ 0, 0.1, -0.3, 0.4, 1.7, 0.6, -0.7, -1.8, 1.9, -1, 1.1, -1.2, 1.3, -1.4, -1.5 } },

    { "two layers", "r rows = 3, i n = 4, c m = 4, o out = 4", "x[r,i], u[i,c], v[c,o]",
      "h[r,c] = tanh(sum(i, x[r,i] * u[i,c]))\n" "y[r,o] = sum(c, h[r,c] * v[c,o])\n"
      "d[r,c] = sum(o, dy[r,o] * v[c,o]) * (1 - h[r,c]^2)\n" "dx[r,i] = sum(c, d[r,c] * u[i,c])\n"
      "du[i,c] = sum(r, d[r,c] * x[r,i])\n" "dv[c,o] = sum(r, h[r,c] * dy[r,o])\n",
      { { "dx[r,i] = sum(c, d[r,c] * u[c,i])", "a clue: each dy is used" },
        { "dx[r,i] = sum(c, d[r,c] * v[i,c])", "a clue: each dy is used" },
        { "dx[r,i] = d[r,i]", "a clue: each dy is used" },
        { "du[i,c] = sum(r, d[r,c] * y[r,i])", "likely: the wrong factor ... y (2, 0) where x (2, 0)" },
        { "dx[r,i] = sum(c, d[r,c] * v[c,i])", "a clue: each dy is used" },
        { "dx[r,i] = sum(c, sum(o, dy[r,o] * v[o,c]) * (1 - h[r,c]^2) * u[i,c])",
          "a clue: each dy is used" } } },

    { "cumulative sum", "k rows = 3, i n = 5, j m = 5", "x[k,i]",
      "y[k,i] = sum(j, [j <= i] * x[k,j])\n" "dx[k,i] = sum(j, [j >= i] * dy[k,j])\n",
      { { "dx[k,i] = sum(j, dy[k,j])", "likely: ... column of x comes after ... does not depend" },
        { "dx[k,i] = sum(j, [j <= i] * dy[k,j])", "likely: ... transpose" },
        { "dx[k,i] = sum(j, [j > i] * dy[k,j])", NOTHING " on the diagonal" } } },

    { "tied", "k rows = 3, i n = 4", "x[k,i], w[i]",
      "dot[k] = sum(i, x[k,i] * w[i])\n" "y[k,i] = dot[k] * w[i]\n"
      "d[k] = sum(i, dy[k,i] * w[i])\n" "dx[k,i] = d[k] * w[i]\n"
      "dw[i] = sum(k, d[k] * x[k,i] + dy[k,i] * dot[k])\n",
      { { "dw[i] = sum(k, dy[k,i] * dot[k])", "likely: ... a term is missing" },
        { "dw[i] = sum(k, d[k] * x[k,i] + dy[k,i] * dot[k]) / 2", "likely:" } } },
};

CASE(slips, open_all, close_all, "")

TESTS(each_slip_is_explained, LENGTH(ops)) /* _i: the op */
{
    formula_rows(&ops[_i]);
}

/* One number is another one times some factor: so a factor without a name explains nothing. */
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
