/* 06 matmul: the judge. */
#include "judge.h"

enum { MOST = 36, I = 0, J = 1, P = 2, LETTERS = 3 };
static const char letter[] = "ijp", size_name[] = "mnk";

struct product {
    const double *a, *b;
    int           size[LETTERS];                /* m, n, k: where i, j and p end */
};

/* The place of x_uv in memory: x[u * s + v], where u and v number two letters, and s a size. */
static int place(char x, int u, int v, int s, const int *index, const int *size)
{
    char right[40];
    int row = u, column = v, length = s;
    snprintf(right, sizeof right, "%c_%c%c, which is %c[%c * %c + %c]", x, letter[u], letter[v], x, letter[u],
             size_name[s], letter[v]);
    if (slip_of("the indices of %c are exchanged: use %s", x, right))
        row = v, column = u;
    for (int k = 0; k < 9; k++)
        if (k / 3 != k % 3 && (k / 3 != u || k % 3 != v) && (k / 3 != v || k % 3 != u) &&
            slip_of("%c_%c%c is used instead of %s", x, letter[k / 3], letter[k % 3], right))
            row = k / 3, column = k % 3;
    for (int k = 0; k < LETTERS; k++)
        if (k != s && slip_of("rows of %c are read as %c numbers: they have %c, so use %s", x, size_name[k],
                              size_name[s], right))
            length = k;
    return index[row] * size[length] + index[column];
}

/* Where the loop over letter l begins and ends. */
static void bounds(int l, const int *size, int *from, int *end)
{
    const char c = letter[l], s = size_name[l];
    *from = slip_of("the loop over %c begins at 1: it should begin at 0", c);
    *end = slip_of("the loop over %c ends one too early: %c < %c", c, c, s) ? size[l] - 1
         : l != I && slip_of("the loop over %c ends one too late: %c < %c", c, c, s) ? size[l] + 1 : size[l];
    for (int k = 0; k < LETTERS; k++)
        if (k != l && slip_of("the loop over %c goes to %c: %c < %c", c, size_name[k], c, s))
            *end = size[k];
}

/* y = a b. What was read past the end of a or b is JUDGE_ANY, and so is every sum with it. */
static void product(double *y, void *arg)
{
    const struct product *q = arg;
    const int *size = q->size, na = size[I] * size[P], nb = size[P] * size[J], ny = size[I] * size[J];
    const bool nothing = slip("no product was added to the sum");
    const bool last = slip("only the last term of the sum over p is there: sum = should be sum +=");
    const bool running = slip("the sum must begin at 0 for each number of the result");
    const bool by_row = slip("the sum begins at 0 once for each row: it must for each number of the result");
    const bool minus = slip("the sign is wrong");
    const bool no_a = slip("a is left out: multiply each term by it"),
        no_b = slip("b is left out: multiply each term by it");
    const bool added = slip("a and b are added: multiply them");
    const int by = slip("divided by k, as for a mean: it should be the sum") ? size[P] : 1;
    int from[LETTERS], end[LETTERS], at[LETTERS];
    double sum = 0;
    for (int l = 0; l < LETTERS; l++)
        bounds(l, size, &from[l], &end[l]);
    memset(y, 0, (size_t)ny * sizeof *y);
    for (at[I] = from[I]; at[I] < end[I]; at[I]++) {
        double row_sum = 0;
        for (at[J] = from[J]; at[J] < end[J]; at[J]++)
            for (at[P] = from[P]; at[P] < end[P]; at[P]++) {
                const int of_b = place('b', P, J, J, at, size), of_a = place('a', I, P, P, at, size);
                const int to = place('y', I, J, J, at, size);
                const bool known = of_a < na && of_b < nb;
                const double a = no_a ? 1 : known ? q->a[of_a] : 0, b = no_b ? 1 : known ? q->b[of_b] : 0;
                const double term = nothing ? 0 : (added ? a + b : a * b) * (minus ? -1 : 1) / by;
                sum += term;
                row_sum += term;
                if (to < ny && y[to] != JUDGE_ANY)
                    y[to] = !known ? JUDGE_ANY : running ? sum : by_row ? row_sum : (last ? 0 : y[to]) + term;
            }
    }
}

static gra_tensor *run(gra_tape *t, gra_tensor *const in[2], const double *const data[2], int m, int n)
{
    gra_tensor *y = matmul(t, in[0], in[1]);
    judge_tensor(t, "y", y, GRA_SHAPE(m, n));
    judge_made_by(y, "my_matmul");
    judge_unchanged("a->data", in[0]->data, data[0], in[0]->size);
    judge_unchanged("b->data", in[1]->data, data[1], in[1]->size);
    return y;
}

/* constant: 0 or 1, the operand without a gradient; -1: none. */
static void sizes(const char *part, int m, int k, int n, int constant)
{
    const double *a = judge_draw(61, MOST, 0.5, 3), *b = judge_draw(62, MOST, -2, -0.25);
    judge_part("%s: a is (%d, %d), b is (%d, %d)", part, m, k, k, n);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { (constant == 0 ? gra_constant : gra_input)(t, a, GRA_SHAPE(m, k)),
                                (constant == 1 ? gra_constant : gra_input)(t, b, GRA_SHAPE(k, n)) };
    gra_tensor *y = run(t, in, (const double *const[]){ a, b }, m, n);
    judge_against("y", y->shape, y->data, 1e-11, product, &(struct product){ a, b, { m, n, k } });
    judge_backward(t, y, b, 2, in, 0);                  /* where a gradient is NULL this may crash */
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *same)
{
    return matmul(t, in[0], in[same ? 0 : 1]);
}

static void gradients(const char *part, int m, int k, int n, void *same)
{
    judge_part("%s: a is (%d, %d), b is (%d, %d)", part, m, k, k, n);
    const gra_check_in in[] = { { .name = "a", .shape = GRA_SHAPE(m, k) },
                                { .name = "b", .shape = GRA_SHAPE(k, n) } };
    judge_gradients(GRA_GRAD, NULL, NULL, same ? 1 : 2, in, f, same);
}

void judge_exercise(void)
{
    sizes("square matrices", 2, 2, 2, -1);
    sizes("rows and columns of different sizes", 2, 3, 4, -1);
    sizes("other sizes", 5, 4, 2, -1);
    sizes("a row times a column", 1, 3, 1, -1);
    sizes("a column times a row", 3, 1, 2, -1);
    sizes("a is a constant, so that its grad is NULL", 2, 4, 3, 0);
    sizes("b is a constant, so that its grad is NULL", 2, 4, 3, 1);
    gradients("gradients, rows and columns of different sizes", 5, 4, 2, NULL);
    gradients("gradients of other sizes", 2, 3, 4, NULL);
    gradients("gradients of a column times a row", 3, 1, 2, NULL);
    gradients("gradient where a and b are the same tensor", 2, 2, 2, "same");
}
