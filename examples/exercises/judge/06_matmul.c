/* 06 matmul: the judge. */
#include "answer.h"

MAKES(f, matmul(t, in[0], in[1]))
MAKES(square, matmul(t, in[0], in[0]))

static const struct judge_answer answer = {
    .sizes = { "i m", "p k", "j n" }, .telling = { 3, 5, 4 }, .f = f, .op = "my_matmul",
    .in = { "a[i,p]", "b[p,j]" }, .out = { "y[i,j]" }, .lines =
        "y[i,j] = sum(p, a[i,p] * b[p,j])\n\n"
        "da[i,p] = sum(j, dy[i,j] * b[p,j])\n"
        "db[p,j] = sum(i, a[i,p] * dy[i,j])\n" };

void judge_exercise(void)
{
    CASES(&answer,
        CASE("square matrices: a is (2, 2), b is (2, 2)", { 2, 2, 2 }),
        CASE("rows and columns of different sizes: a is (2, 7), b is (7, 4)", { 2, 7, 4 }),
        CASE("a row times a column: a is (1, 3), b is (3, 1)", { 1, 3, 1 }),
        CASE("a column times a row: a is (3, 1), b is (1, 2)", { 3, 1, 2 }),
        CASE("gradients, rows and columns of different sizes: a is (2, 4), b is (4, 7)", { 2, 4, 7 },
             .gradients = true),
        CASE("gradients of a column times a row: a is (3, 1), b is (1, 2)", { 3, 1, 2 }, .gradients = true));
    judge_end(&answer);
    judge_part("gradient where a and b are the same tensor");
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &(gra_check_in){ "a", .shape = GRA_SHAPE(2, 2) }, square, NULL);
}
