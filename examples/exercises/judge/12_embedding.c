/* 12 embedding: the judge. */
#include "answer.h"

CALLS(forward, embedding(c->in[0], c->ids[1], c->out[0], c->size[0], c->size[1]))
CALLS(backward, embedding_backward(c->ids[0], c->in[1], c->out[0], c->size[0], c->size[1]))

#define SIZES .sizes = { "i n", "j dim", "k words" }, .telling = { 4, 3, 6 }
static const struct judge_answer look_up = {
    SIZES, .call = forward, .in = { "w[k,j]", "int ids[i] in 0..words-1" }, .out = { "y[i,j]" },
    .lines = "y[i,j] = w[ids[i],j]\n" };

static const struct judge_answer gradient = {
    SIZES, .call = backward, .in = { "int ids[i] in 0..words-1", "dy[i,j]" }, .out = { "dw[k,j] +=" },
    .lines = "dw[k,j] = dw0[k,j] + sum(i, [ids[i] = k] * dy[i,j])\n", .special = {
        { "the row of an id that comes twice holds only the gradient of its last place: add with +=",
          "dw[k,j] = [sum(i, [ids[i] = k]) = 0] ? dw0[k,j]"
          " : sum(i, [max(i, [ids[i] = k] * (i + 1)) = i + 1] * dy[i,j])" },
        { "row i of dy is added to row i of dw: add it to row ids[i]",
          "dw[k,j] = dw0[k,j] + sum(i, [i = k] * dy[i,j])" },
        { "the old numbers in the rows of the ids are lost: add to them with +=",
          "dw[k,j] = [sum(i, [ids[i] = k]) = 0] ? dw0[k,j] : sum(i, [ids[i] = k] * dy[i,j])" },
        { "the gradient of a repeated id is divided by how often it occurs: it should be the sum",
          "dw[k,j] = dw0[k,j] + sum(i, [ids[i] = k] * dy[i,j]) / max(1, sum(i, [ids[i] = k]))" },
        { "row ids[i] of dy is added to row i of dw: add row i of dy to row ids[i] of dw",
          "dw[k,j] = dw0[k,j] + sum(i, [i = k] * dy[ids[i],j])" } } };

void judge_exercise(void)
{
    static const double few[] = { 1, 4, 2, 3 }, again[] = { 4, 0, 0, 4, 2, 5, 4 }, last[] = { 5 };
    static const double twice[] = { 2, 0, 2 }, zero[48];
    CASES(&look_up,
        CASE("four ids, a table of seven rows", { 4, 6, 7 }, .in = { NULL, few }),
        CASE("rows of one number", { 7, 1, 6 }, .in = { NULL, again }),
        CASE("one id, the last", { 1, 5, 6 }, .in = { NULL, last }), CASE("no ids", { 0, 2, 3 }));
    CASES(&gradient,
        CASE("gradient of four ids", { 4, 6, 7 }, .in = { few }, .held = { zero }),
        CASE("gradient of an id that comes twice", { 3, 5, 4 }, .in = { twice }, .held = { zero }),
        CASE("dw holds the gradient of another use", { 7, 4, 6 }, .in = { again }),
        CASE("rows of one number, one id", { 1, 1, 6 }, .in = { last }),
        CASE("gradient of no ids", { 0, 2, 3 }));
}
