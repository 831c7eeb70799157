/* 05 mul_broadcast: the judge. An operand of one row or column has a size of 1, so that min(i, 0) is 0. */
#include "answer.h"

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return mul_broadcast(t, in[0], in[1]);
}

static gra_tensor *square(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return mul_broadcast(t, in[0], in[0]);
}

#define AT_A "min(i, ra - 1),min(j, ca - 1)"
#define AT_B "min(i, rb - 1),min(j, cb - 1)"
static const struct judge_answer answer = {
    .sizes = { "i rows", "j cols", "r ra", "c ca", "s rb", "t cb" }, .telling = { 3, 4, 3, 1, 1, 4 }, .f = f,
    .op = "my_mul", .in = { "a[r,c]", "b[s,t]" }, .out = { "y[i,j]" }, .lines =
        "A[i,j] = a[" AT_A "]                                # a\n"
        "B[i,j] = b[" AT_B "]                                # b\n"
        "y[i,j] = A[i,j] * B[i,j]\n"
        "\n"
        "da[r,c] = sum(i, sum(j, [min(i, ra - 1) = r] * [min(j, ca - 1) = c] * dy[i,j] * B[i,j]))\n"
        "db[s,t] = sum(i, sum(j, [min(i, rb - 1) = s] * [min(j, cb - 1) = t] * dy[i,j] * A[i,j]))\n",
    .special = {
        { "a is read at [i * cols + j], as if it were not stretched: use place()", "A[i,j] = a[0,i * cols + j]" },
        { "b is read at [i * cols + j], as if it were not stretched: use place()", "B[i,j] = b[0,i * cols + j]" },
        { "a is read with i and j exchanged: in place(x, i, j) the row comes first",
          "A[i,j] = a[min(j, ra - 1),min(i, ca - 1)]" },
        { "b is read with i and j exchanged: in place(x, i, j) the row comes first",
          "B[i,j] = b[min(j, rb - 1),min(i, cb - 1)]" },
        { "a is read at b's place: each operand has a place of its own", "A[i,j] = a[0,min(i, rb - 1) * cb + min(j, cb - 1)]" },
        { "b is read at a's place: each operand has a place of its own", "B[i,j] = b[0,min(i, ra - 1) * ca + min(j, ca - 1)]" },
        { "place: i is multiplied by the number of rows: row i begins at i * cols",
          "A[i,j] = a[0,min(i, ra - 1) * ra + min(j, ca - 1)]\nB[i,j] = b[0,min(i, rb - 1) * rb + min(j, cb - 1)]" },
        { "only the last use of a number is in its gradient: = overwrote the others, use +=",
          "da[r,c] = dy[r + rows - ra,c + cols - ca] * B[r + rows - ra,c + cols - ca]\n"
          "db[s,t] = dy[s + rows - rb,t + cols - cb] * A[s + rows - rb,t + cols - cb]" },
        { "da is written at [i * cols + j], as if a were not stretched: use place()",
          "da[r,c] = sum(i, sum(j, [i * cols + j = r * ca + c] * dy[i,j] * B[i,j]))" },
        { "db is written at [i * cols + j], as if b were not stretched: use place()",
          "db[s,t] = sum(i, sum(j, [i * cols + j = s * cb + t] * dy[i,j] * A[i,j]))" },
        { "da is written at b's place: each operand has a place of its own",
          "da[r,c] = sum(i, sum(j, [min(i, rb - 1) * cb + min(j, cb - 1) = r * ca + c] * dy[i,j] * B[i,j]))" },
        { "db is written at a's place: each operand has a place of its own",
          "db[s,t] = sum(i, sum(j, [min(i, ra - 1) * ca + min(j, ca - 1) = s * cb + t] * dy[i,j] * A[i,j]))" },
        { "it stays 0: is its line missing, or in an else? Each operand that has a grad gets its own",
          "da[r,c] = 0\ndb[s,t] = 0" } } };

void judge_exercise(void)
{
    judge_cases(&answer, (const struct judge_case[]){
        CASE("(2, 3) times (2, 3)", { 2, 3, 2, 3, 2, 3 }),
        CASE("(3, 4) times one row, (1, 4)", { 3, 4, 3, 4, 1, 4 }),
        CASE("(3, 4) times one column, (3, 1)", { 3, 4, 3, 4, 3, 1 }),
        CASE("one row times (5, 2)", { 5, 2, 1, 2, 5, 2 }),
        CASE("one number times (2, 3)", { 2, 3, 1, 1, 2, 3 }),
        CASE("(3, 1) times (1, 4): both are stretched", { 3, 4, 3, 1, 1, 4 }),
        CASE("one number times one number", { 1, 1, 1, 1, 1, 1 }),
        CASE("gradients of (3, 4) times one row, (1, 4)", { 3, 4, 3, 4, 1, 4 }, .gradients = true),
        CASE("gradients of (2, 3) times (2, 3)", { 2, 3, 2, 3, 2, 3 }, .gradients = true),
        CASE("gradients of (3, 1) times (1, 4): both are stretched", { 3, 4, 3, 1, 1, 4 }, .gradients = true),
        CASE("gradients of one number times (3, 2)", { 3, 2, 1, 1, 3, 2 }, .gradients = true), { NULL } });
    judge_end(&answer);
    judge_part("gradient where a and b are the same tensor");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &(gra_check_in){ .name = "x", .shape = GRA_SHAPE(2, 3) }, square, NULL);
}
