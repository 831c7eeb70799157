/* 19 two_heads: the judge. In the formulas D is two dimensions, H heads of d numbers each. */
#include "answer.h"

static gra_tensor *f_split(gra_tape *t, gra_tensor **in, void *c)
{
    const int *n = ((struct judge_call *)c)->size;
    return split_heads(t, gra_reshape(t, in[0], GRA_SHAPE(n[0], n[1], n[2] * n[3])), n[2]);
}

static gra_tensor *f_merge(gra_tape *t, gra_tensor **in, void *c)
{
    const int *n = ((struct judge_call *)c)->size;
    gra_tensor *y = merge_heads(t, in[0]);
    judge_tensor(t, "y", y, GRA_SHAPE(n[0], n[1], n[2] * n[3]));
    return gra_reshape(t, y, GRA_SHAPE(n[0], n[1], n[2], n[3]));
}

static gra_tensor *f_multi(gra_tape *t, gra_tensor **in, void *c)
{
    const int *n = ((struct judge_call *)c)->size, B = n[0], T = n[1], H = n[3], D = n[5];
    const gra_shape x = GRA_SHAPE(B, T, D);
    return multi_head(t, gra_reshape(t, in[0], x), gra_reshape(t, in[1], x), gra_reshape(t, in[2], x),
                      gra_reshape(t, in[3], GRA_SHAPE(D, D)), H);
}

#define HEADS .sizes = { "b B", "t T", "h H", "c d" }, .telling = { 2, 4, 3, 5 }
static const struct judge_answer split = { HEADS, .f = f_split,
    .in = { "x[b,t,h,c]" }, .out = { "y[b,h,t,c]" }, .lines = "y[b,h,t,c] = x[b,t,h,c]\n", .special = {
        { "the numbers are in x's order: a reshape alone gives head 0 the first tokens",
          "y[b,h,t,c] = x[b,0,0,(h * T + t) * d + c]" },
        { "head h got every H-th column, but head 0 should get the first D/H columns, head 1 the next D/H",
          "y[b,h,t,c] = x[b,t,0,c * H + h]" } } };

static const struct judge_answer merge = { HEADS, .f = f_merge,
    .in = { "x[b,h,t,c]" }, .out = { "y[b,t,h,c]" }, .lines = "y[b,t,h,c] = x[b,h,t,c]\n", .special = {
        { "the numbers are in x's order: a reshape puts tokens of one head side by side, not heads of one "
          "token (gra_transpose them first)", "y[b,t,h,c] = x[b,0,0,(t * H + h) * d + c]" } } };

static const struct judge_answer multi = {
    .sizes = { "b B", "i T", "j T", "h H", "c d", "e D" }, .telling = { 2, 5, 5, 3, 7, 21 }, .f = f_multi,
    .in = { "q[b,i,h,c]", "k[b,j,h,c]", "v[b,j,h,c]", "W_c[e,h,c]" },
    .without = "attention", .out = { "y[b,i,e]" }, .lines =
        "s[b,h,i,j] = sum(c, q[b,i,h,c] * k[b,j,h,c]) / sqrt(d)  # the score\n"
        "p[b,h,i,j] = exp(s[b,h,i,j])                        # e^score\n"
        "a[b,h,i,j] = p[b,h,i,j] / sum(j, p[b,h,i,j])        # the weight\n"
        "head[b,i,h,c] = sum(j, a[b,h,i,j] * v[b,j,h,c])     # a head\n"
        "y[b,i,e] = sum(h, sum(c, head[b,i,h,c] * W_c[e,h,c]))\n", .special = {
        { "the heads are multiplied by W_c: multiply them by W_c^T",
          "y[b,i,e] = sum(h, sum(c, head[b,i,h,c] * W_c[h * d + c,0,e]))" },
        { "softmax runs over the heads: the weights of a query in one head should sum to 1",
          "a[b,h,i,j] = p[b,h,i,j] / sum(h, p[b,h,i,j])" },
        { "softmax runs over the queries: the weights of a query should sum to 1",
          "a[b,h,i,j] = p[b,h,i,j] / sum(i, p[b,h,i,j])" },
        { "all weights are equal: are the scores 0? In C, 1 / d is 0 for an int d > 1", "s[b,h,i,j] = 0" },
        { "one head attends with all D numbers: split q, k and v into heads first",
          "s[b,h,i,j] = sum(e, q[b,i,0,e] * k[b,j,0,e]) / sqrt(D)" },
        { "the heads were joined by a reshape alone: use merge_heads",
          "y[b,i,e] = sum(h, sum(c, head[b,i * H + h - T * floor((i * H + h) / T),floor((i * H + h) / T),c] "
          "* W_c[e,h,c]))" } } };

void judge_exercise(void)
{
    CASES(&split,
        CASE("split_heads: two texts, three heads of five numbers", { 2, 4, 3, 5 }),
        CASE("split_heads: one token", { 3, 1, 2, 2 }),
        CASE("split_heads: heads of one number", { 2, 3, 4, 1 }));
    CASES(&merge,
        CASE("merge_heads: two texts, three heads of five numbers", { 2, 4, 3, 5 }),
        CASE("merge_heads: one token", { 3, 1, 2, 2 }));
    CASES(&multi,
        CASE("multi_head: three heads of eight numbers", { 2, 5, 5, 3, 8, 24 }),
        CASE("multi_head: two heads of three numbers", { 3, 4, 4, 2, 3, 6 }),
        CASE("multi_head: one head", { 1, 3, 3, 1, 4, 4 }),
        CASE("multi_head: one token", { 2, 1, 1, 2, 3, 6 }));
    judge_end(&multi);
}
