/* 18 attention_backward: the judge. */
#include "answer.h"

CALLS(call, attention_backward(c->in[0], c->in[1], c->in[2], c->in[4], c->in[3], c->out[2], c->out[1],
      c->out[0], c->size[0], c->size[1], c->size[2], c->size[3]))

static const struct judge_answer answer = {
    .sizes = { "i n", "j m", "c d", "l e" }, .telling = { 3, 5, 4, 6 }, .call = call,
    .in = { "q[i,c]", "k[j,c]", "v[j,l]", "dy[i,l]", "a[i,j] =" },
    .out = { "dv[j,l] +=", "dk[j,c] +=", "dq[i,c] +=" }, .lines =
        "s[i,j] = sum(c, q[i,c] * k[j,c]) / sqrt(d)\n"
        "a[i,j] = exp(s[i,j]) / sum(j, exp(s[i,j]))\n\n"
        "da[i,j] = sum(l, dy[i,l] * v[j,l])\n"
        "dot[i] = sum(j, a[i,j] * da[i,j])                   # the sum of a da\n"
        "ds[i,j] = a[i,j] * (da[i,j] - dot[i])\n"
        "dq[i,c] = dq0[i,c] + sum(j, ds[i,j] * k[j,c]) / sqrt(d)\n"
        "dk[j,c] = dk0[j,c] + sum(i, ds[i,j] * q[i,c]) / sqrt(d)\n"
        "dv[j,l] = dv0[j,l] + sum(i, a[i,j] * dy[i,l])\n", .special = {
        { "the softmax was left out: the step from da to ds is missing", "ds[i,j] = da[i,j]" },
        { "this uses ds_ij = a_ij (1 - a_ij) da_ij: the other weights of the row move with s_ij too",
          "ds[i,j] = a[i,j] * (1 - a[i,j]) * da[i,j]" } } };

void judge_exercise(void)
{
    CASES(&answer,
        CASE("five queries, six keys", { 5, 6, 7, 8 }, .apart = true),
        CASE("five queries, two keys", { 5, 2, 4, 3 }, .apart = true),
        CASE("as many queries as keys", { 3, 3, 2, 2 }),
        CASE("one query, one key, one number", { 1, 1, 1, 1 }));
}
