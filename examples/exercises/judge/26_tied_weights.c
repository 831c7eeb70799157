/* 26 tied_weights: the judge. */
#include "answer.h"

CALLS(call, tied_backward(c->in[0], c->ids[1], c->in[3], c->in[2], c->out[0], c->size[0], c->size[1],
      c->size[2]))

#define DIRECT "sum(i, dlogits[i,j] * h[i,d])"
#define LAST "max(i, [ids[i] = j] * (i + 1))"           /* the last i of token j, plus 1, or 0 */
static const struct judge_answer answer = {
    .sizes = { "i n", "j vocab", "d dim" }, .telling = { 4, 5, 3 }, .call = call,
    .in = { "e[j,d] in -1.5..1.5", "int ids[i] in 0..vocab-1", "dlogits[i,j] in -1..1", "h[i,d] =" },
    .out = { "de[j,d] +=" }, .lines =
        "h[i,d] = tanh(e[ids[i],d])\n"
        "back[i,d] = sum(j, dlogits[i,j] * e[j,d]) * (1 - h[i,d]^2)  # the gradient through h\n"
        "de[j,d] = de0[j,d] + sum(i, dlogits[i,j] * h[i,d]) + sum(i, [ids[i] = j] * back[i,d])\n",
    .special = {
        { "the path through h ends in row i of e, but should end in row ids[i]",
          "de[j,d] = de0[j,d] + " DIRECT " + sum(i, [i = j] * back[i,d])" },
        { "the gradient through h is stored with =, which loses the rest: use +=",
          "de[j,d] = [" LAST " = 0] ? de0[j,d] + " DIRECT " : back[" LAST " - 1,d]" },
        { "the gradient through h is stored with =, which loses the rest: use +=",
          "de[j,d] = [" LAST " = 0] ? de0[j,d] + " DIRECT " : back[" LAST " - 1,d]"
          " + sum(i, [i >= " LAST "] * dlogits[i,j] * h[i,d])" },
        { "tanh was applied to h, which is a tanh already: use 1 - h^2",
          "back[i,d] = sum(j, dlogits[i,j] * e[j,d]) * (1 - tanh(h[i,d])^2)" },
        { "the gradient through h is added within the loop over j, where dh is incomplete: add it later",
          "back[i,d] = sum(j, (vocab - j) * dlogits[i,j] * e[j,d]) * (1 - h[i,d]^2)" } } };

void judge_exercise(void)
{
    static const double different[] = { 3, 0, 4 }, twice[] = { 1, 3, 1, 2 }, more[] = { 2, 0, 2, 1, 1, 2, 0 };
    CASES(&answer,
        CASE("three tokens, all different", { 3, 6, 2 }, .in = { [1] = different }),
        CASE("a token that comes twice", { 4, 5, 3 }, .in = { [1] = twice }),
        CASE("more tokens than the vocabulary has", { 7, 3, 4 }, .in = { [1] = more }),
        CASE("one token, one number", { 1, 2, 1 }, .in = { [1] = twice }));
}
