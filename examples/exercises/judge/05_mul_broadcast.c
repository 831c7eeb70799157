/* 05 mul_broadcast: the judge. An operand of one row or column has a size of 1, so that min(i, 0) is 0. */
#include "answer.h"

MAKES(f, mul_broadcast(t, in[0], in[1]))
MAKES(square, mul_broadcast(t, in[0], in[0]))

#define AT_A "min(i, ra - 1),min(j, ca - 1)"
#define AT_B "min(i, rb - 1),min(j, cb - 1)"
#define PLACE(x) "min(i, r" x " - 1) * c" x " + min(j, c" x " - 1)"
static const struct judge_answer answer = {
    .sizes = { "i rows", "j cols", "r ra", "c ca", "s rb", "t cb" }, .telling = { 3, 4, 3, 1, 1, 4 }, .f = f,
    .op = "my_mul", .in = { "a[r,c]", "b[s,t]" }, .out = { "y[i,j]" }, .lines =
        "a_ij[i,j] = a[" AT_A "]                             # a\n"
        "b_ij[i,j] = b[" AT_B "]                             # b\n"
        "y[i,j] = a_ij[i,j] * b_ij[i,j]\n\n"
        "sa[r,c] = sum(i, sum(j, [min(i, ra - 1) = r] * [min(j, ca - 1) = c] * dy[i,j] * b_ij[i,j]))"
        "  # the sum over a's uses\n"
        "sb[s,t] = sum(i, sum(j, [min(i, rb - 1) = s] * [min(j, cb - 1) = t] * dy[i,j] * a_ij[i,j]))"
        "  # the sum over b's uses\n"
        "da[r,c] = sa[r,c]\n"
        "db[s,t] = sb[s,t]\n", .special = {
        { "a is read at [i * cols + j], as if it were not stretched: use place()",
          "a_ij[i,j] = a[0,i * cols + j]" },
        { "b is read at [i * cols + j], as if it were not stretched: use place()",
          "b_ij[i,j] = b[0,i * cols + j]" },
        { "place() returns j * rows + i, but numbers are stored row by row, at i * cols + j",
          "a_ij[i,j] = a[0,min(j, ca - 1) * ra + min(i, ra - 1)]\n"
          "b_ij[i,j] = b[0,min(j, cb - 1) * rb + min(i, rb - 1)]" },
        { "place() has its tests exchanged: with one row i should be 0, with one column j should be 0",
          "a_ij[i,j] = a[0,[ca > 1] * i * ca + [ra > 1] * j]\n"
          "b_ij[i,j] = b[0,[cb > 1] * i * cb + [rb > 1] * j]" },
        { "only the last use of a number is in its gradient: = overwrote the others, so use +=",
          "da[r,c] = dy[r + rows - ra,c + cols - ca] * b_ij[r + rows - ra,c + cols - ca]\n"
          "db[s,t] = dy[s + rows - rb,t + cols - cb] * a_ij[s + rows - rb,t + cols - cb]" },
        { "this is written at [i * cols + j], as if the operand were not stretched: use place()",
          "da[r,c] = sum(i, sum(j, [i * cols + j = r * ca + c] * dy[i,j] * b_ij[i,j]))\n"
          "db[s,t] = sum(i, sum(j, [i * cols + j = s * cb + t] * dy[i,j] * a_ij[i,j]))" },
        { "this is written at the other operand's place: use the place of this operand",
          "da[r,c] = sum(i, sum(j, [" PLACE("b") " = r * ca + c] * dy[i,j] * b_ij[i,j]))\n"
          "db[s,t] = sum(i, sum(j, [" PLACE("a") " = s * cb + t] * dy[i,j] * a_ij[i,j]))" } } };

void judge_exercise(void)
{
    CASES(&answer,
        CASE("(2, 3) times (2, 3)", { 2, 3, 2, 3, 2, 3 }),
        CASE("(3, 4) times one row, (1, 4)", { 3, 4, 3, 4, 1, 4 }),
        CASE("(3, 4) times one column, (3, 1)", { 3, 4, 3, 4, 3, 1 }),
        CASE("one number times (2, 3)", { 2, 3, 1, 1, 2, 3 }),
        CASE("(3, 1) times (1, 4): both are stretched", { 3, 4, 3, 1, 1, 4 }),
        CASE("one number times one number", { 1, 1, 1, 1, 1, 1 }),
        CASE("gradients of (3, 4) times one row, (1, 4)", { 3, 4, 3, 4, 1, 4 }, .gradients = true),
        CASE("gradients of (3, 1) times (1, 4): both are stretched", { 3, 4, 3, 1, 1, 4 }, .gradients = true),
        CASE("gradients of one number times (3, 2)", { 3, 2, 1, 1, 3, 2 }, .gradients = true));
    judge_end(&answer);
    judge_part("gradient where a and b are the same tensor");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &(gra_check_in){ "x", .shape = GRA_SHAPE(2, 3) }, square, NULL);
}
