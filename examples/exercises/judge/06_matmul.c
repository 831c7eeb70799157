/* 06 matmul: the judge. */
#include "judge.h"
#include <math.h>

enum { MOST = 160, I = 0, J = 1, P = 2, LETTERS = 3 };
static const char letter[] = "ijp", size_name[] = "mnk";

struct product {
    const double *a, *b, *dy, *held, *got;      /* held: what a gradient holds before the backward */
    int           size[LETTERS];                /* m, n, k: where i, j and p end */
    int           k;                            /* 0: the gradient of a, 1: that of b */
};

/* Where a number of x is: x[u * s + v], with the numbers of letters and of a size; or x[u]; or x[u * s]. */
enum { BOTH, ROW, BEGIN };
struct where {
    int u, v, s, only;
};

/* The place of x_uv in memory. */
static struct where place(const char *x, int u, int v, int s)
{
    char right[40];
    struct where at = { u, v, s, BOTH };
    snprintf(right, sizeof right, "%s_%c%c, which is %s[%c * %c + %c]", x, letter[u], letter[v], x, letter[u],
             size_name[s], letter[v]);
    if (slip_of("the indices of %s are exchanged: use %s", x, right))
        at.u = v, at.v = u;
    for (int k = 0; k < 9; k++)
        if ((k / 3 != u || k % 3 != v) && (k / 3 != v || k % 3 != u) &&
            slip_of("%s_%c%c is used instead of %s", x, letter[k / 3], letter[k % 3], right))
            at.u = k / 3, at.v = k % 3;
    for (int k = 0; k < LETTERS; k++)
        if (slip_of("%s[%c] is used instead of %s", x, letter[k], right))
            at.u = k, at.only = ROW;
    if (slip_of("%s[%c * %c] is used instead of %s", x, letter[u], size_name[s], right))
        at.only = BEGIN;
    for (int k = 0; k < LETTERS; k++)
        if (k != s && slip_of("rows of %s are taken as %c numbers: they have %c, so use %s", x, size_name[k],
                              size_name[s], right))
            at.s = k;
    for (int k = 0; k < LETTERS; k++)
        if (slip_of("the indices of %s are exchanged, and rows are taken as %c numbers: use %s", x,
                    size_name[k], right))
            at = (struct where){ v, u, k, BOTH };
    return at;
}

static int number(struct where at, const int *index, const int *size)
{
    return at.only == ROW ? index[at.u] : index[at.u] * size[at.s] + (at.only == BEGIN ? 0 : index[at.v]);
}

/* Where the loop over letter l begins and ends. late: one too late is not to be taken for another size. */
static void bounds(int l, const int *size, bool late, int *from, int *end)
{
    const char c = letter[l], s = size_name[l];
    *from = slip_of("the loop over %c begins at 1: it should begin at 0", c);
    *end = slip_of("the loop over %c ends one too early: %c < %c", c, c, s) ? size[l] - 1
         : late && l != I && slip_of("the loop over %c ends one too late: %c < %c", c, c, s) ? size[l] + 1
         : size[l];
    for (int k = 0; k < LETTERS; k++)
        if (k != l && slip_of("the loop over %c goes to %c: %c < %c", c, size_name[k], c, s))
            *end = size[k];
}

/* y = a b. */
static void product(double *y, void *arg)
{
    const struct product *q = arg;
    const int *size = q->size, ny = size[I] * size[J];
    const bool nothing = slip("no product was added to the sum");
    const bool last = slip("only the last term of the sum over p is there: sum = should be sum +=");
    const bool running = slip("the sum must begin at 0 for each number of the result");
    const bool by_row = slip("the sum begins at 0 once for each row: it must for each number of the result");
    const bool minus = slip("the sign is wrong");
    const bool no_a = slip("a is left out: multiply each term by it"),
        no_b = slip("b is left out: multiply each term by it");
    const bool added = slip("a and b are added: multiply them");
    const bool whole = slip("the sum has lost its fraction: is it an int?");
    const bool by_element = slip("a and b are multiplied element by element: y_ij is a sum over p");
    const int by = slip("divided by k, as for a mean: it should be the sum") ? size[P] : 1;
    int from[LETTERS], end[LETTERS], at[LETTERS];
    double sum = 0;
    for (int l = 0; l < LETTERS; l++)
        bounds(l, size, size[I] == size[J], &from[l], &end[l]);
    const struct where b_pj = place("b", P, J, J), a_ip = place("a", I, P, P), y_ij = place("y", I, J, J);
    memset(y, 0, (size_t)ny * sizeof *y);
    for (at[I] = from[I]; at[I] < end[I]; at[I]++) {
        double row_sum = 0;
        for (at[J] = from[J]; at[J] < end[J]; at[J]++)
            for (at[P] = from[P]; at[P] < end[P]; at[P]++) {
                const int of_b = number(b_pj, at, size), of_a = number(a_ip, at, size);
                const int to = number(y_ij, at, size);
                const double a = no_a ? 1 : q->a[of_a], b = no_b ? 1 : q->b[of_b];
                const double term = nothing ? 0 : (added ? a + b : a * b) * (minus ? -1 : 1) / by;
                sum += term;
                row_sum += term;
                if (whole && to < ny)
                    y[to] = trunc((at[P] ? y[to] : 0) + term);
                else if (to < ny)
                    y[to] = running ? sum : by_row ? row_sum : (last ? 0 : y[to]) + term;
            }
    }
    for (int l = 0; l < ny && by_element; l++)
        y[l] = q->a[l] * q->b[l];
}

/* The gradient of a or b, and what is written past its end. */
static void gradient(double *out, void *arg)
{
    const struct product *q = arg;
    const int *size = q->size, of_b = q->k, u = of_b ? P : I, v = of_b ? J : P, w = of_b ? I : J;
    const bool stored = slip("only the last term of the sum is there: = should be +=");
    const bool lost = slip("what the gradient held before is lost: = should be +=");
    const bool running = slip("the sum must begin at 0 for each number of the gradient");
    const bool by_row =
        slip("the sum begins at 0 once for each row: it must for each number of the gradient");
    const bool partial = slip("the sum so far is added at each step: add the sum once, when it is complete");
    int from[LETTERS], end[LETTERS], at[LETTERS], to = 0;
    double all = 0;
    for (int l = 0; l < LETTERS; l++)
        bounds(l, size, true, &from[l], &end[l]);
    const struct where dy_ij = place("dy", I, J, J);
    const struct where other = of_b ? place("a", I, P, P) : place("b", P, J, J);
    const struct where grad = of_b ? place("db", P, J, J) : place("da", I, P, P);
    memcpy(out, q->held, MOST * sizeof *out);
    for (at[u] = from[u]; at[u] < end[u]; at[u]++) {
        double row = 0;
        for (at[v] = from[v]; at[v] < end[v]; at[v]++) {
            double sum = 0;
            for (at[w] = from[w]; at[w] < end[w]; at[w]++) {
                const double term = q->dy[number(dy_ij, at, size)]
                                  * (of_b ? q->a : q->b)[number(other, at, size)];
                to = number(grad, at, size);
                sum += term, row += term, all += term;
                if (stored)
                    out[to] = term;
                else if (!lost && !running && !by_row)
                    out[to] += partial ? sum : term;
            }
            if (lost || running || by_row)
                out[to] = (lost ? 0 : out[to]) + (running ? all : by_row ? row : sum);
        }
    }
    if (slip(""))                               /* the last fits always: no two slips are tried */
        memcpy(out, q->got, MOST * sizeof *out);
}

/* The answer's gradient of a or b where there is memory past the ends. */
static void in_memory(int k, int m, int inner, int n)
{
    double *room[2] = { judge_draw(65, MOST, -1, 1), judge_draw(66, MOST, -1, 1) }, held[MOST], want[MOST];
    double *a = judge_draw(61, MOST, 0.5, 3), *b = judge_draw(62, MOST, -2, -0.25);
    struct product q = { a, b, judge_draw(63, MOST, 0.5, 2), held, room[k], { m, n, inner }, k };
    const int size = k ? inner * n : m * inner;
    memcpy(held, room[k], sizeof held);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { gra_input(t, a, GRA_SHAPE(m, inner)), gra_input(t, b, GRA_SHAPE(inner, n)) };
    gra_tensor y = *matmul(t, in[0], in[1]), own[2] = { *in[0], *in[1] };
    own[0].data = a, own[0].grad = room[0], own[1].data = b, own[1].grad = room[1];
    y.in = (gra_tensor *[]){ &own[0], &own[1] };
    y.grad = judge_draw(63, MOST, 0.5, 2);
    y.op->backward(&y);
    gra_close(t);
    gradient(want, &q);
    for (int i = 0; i < MOST; i++)
        if (fabs(room[k][i] - want[i]) > 1e-9) {
            const char *fits = judge_slip(GRA_SHAPE(MOST), room[k], 1e-10, gradient, &q);
            if (!fits)
                return;                                 /* gra_check says more */
            if (i >= size)
                judge_wrong("d%c has %d numbers, but number %d was written, past its end\nlikely: %s",
                            "ab"[k], size, i, fits);
            judge_wrong("d%c[%d, %d]: got %.6g, expected %.6g\nlikely: %s", "ab"[k], i / (k ? n : inner),
                        i % (k ? n : inner), room[k][i], want[i], fits);
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
/* Numbers of an operand, and after the first n very large ones, so that reading past the end shows. */
static double *past_end(uint64_t seed, int n, double low, double high)
{
    double *x = judge_draw(seed, MOST, low, high);
    for (int i = n; i < MOST; i++)
        x[i] *= 1e12;
    return x;
}

static void sizes(const char *part, int m, int k, int n, int constant)
{
    const double *a = judge_draw(61, MOST, 0.5, 3), *b = judge_draw(62, MOST, -2, -0.25);
    judge_part("%s: a is (%d, %d), b is (%d, %d)", part, m, k, k, n);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { (constant == 0 ? gra_constant : gra_input)(t, a, GRA_SHAPE(m, k)),
                                (constant == 1 ? gra_constant : gra_input)(t, b, GRA_SHAPE(k, n)) };
    gra_tensor *y = run(t, in, (const double *const[]){ a, b }, m, n);
    gra_tensor again = *y, own[2] = { *in[0], *in[1] };
    own[0].data = past_end(61, m * k, 0.5, 3), own[1].data = past_end(62, k * n, -2, -0.25);
    again.in = (gra_tensor *[]){ &own[0], &own[1] };
    again.data = judge_room(MOST);
    again.op->forward(&again);
    a = own[0].data, b = own[1].data;
    judge_against("y", y->shape, again.data, 1e-11, product, &(struct product){ .a = a, .b = b,
                                                                             .size = { m, n, k } });
    judge_numbers("y", y->shape, y->data, again.data, 1e-11);
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
    for (int i = 0; i < 2 && !same; i++)
        in_memory(i, m, k, n);
    judge_gradients(GRA_GRAD, NULL, NULL, same ? 1 : 2, in, f, same);
}

void judge_exercise(void)
{
    sizes("square matrices", 2, 2, 2, -1);
    sizes("rows and columns of different sizes", 2, 7, 4, -1);
    sizes("other sizes", 6, 4, 2, -1);
    sizes("a row times a column", 1, 3, 1, -1);
    sizes("a column times a row", 3, 1, 2, -1);
    sizes("no crash where a is a constant, whose grad is NULL", 2, 4, 3, 0);
    sizes("no crash where b is a constant, whose grad is NULL", 2, 4, 3, 1);
    gradients("gradients, rows and columns of different sizes", 2, 4, 7, NULL);
    gradients("gradients of other sizes", 6, 4, 2, NULL);
    gradients("gradients of a column times a row", 3, 1, 2, NULL);
    gradients("gradient where a and b are the same tensor", 2, 2, 2, "same");
}
