/* 06 matmul: the judge. All three products, y and both gradients, are compared alike: with the right one, and
 * with those of matrices that are seen with wrong strides, or of other matrices. */
#include "judge.h"

enum { MOST = 36, MISTAKES = 28 };
static double one[MOST];                /* a matrix of ones: a factor that is left out */

/* A matrix as an answer may see it: element (i, j) is p[i * row + j * col], 0 where that lies outside. */
struct seen {
    const double *p;
    int           size, row, col;
};

static double at(struct seen x, int i, int j)
{
    const int k = i * x.row + j * x.col;
    return k < x.size ? x.p[k] : 0;
}

/* What an answer computes: before + sign times the terms p >= from of the product a b, its elements times those
 * of `times` if that is not NULL. */
struct wrong {
    const char *says;
    struct seen a, b;
    double      before, sign;
    int         from;
    const double *times;
};

enum { RUNNING = -1, SHORT = -2 };      /* for `from`: sums that are not begun anew; the last term is missing */

static void product(double *c, const struct wrong *w, int m, int n, int k)
{
    double sum = 0;
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            sum = w->from == RUNNING ? sum : 0;
            for (int p = w->from > 0 ? w->from : 0; p < k - (w->from == SHORT); p++)
                sum += w->sign * at(w->a, i, p) * at(w->b, p, j);
            c[i * n + j] = w->before + sum * (w->times ? w->times[i * n + j] : 1);
        }
}

/* got, (m, n), must be right->before + a b, with the a (m, k) and the b (k, n) of `right`. */
static void compare(const char *name, const double *got, int m, int n, int k, const struct wrong *right,
                    const struct wrong *wrong)
{
    static double want[MOST], c[MISTAKES][MOST];
    struct judge_mistake known[MISTAKES + 1] = { { NULL, NULL } };
    product(want, right, m, n, k);
    for (int i = 0; wrong[i].says; i++) {
        product(c[i], &wrong[i], m, n, k);
        known[i] = (struct judge_mistake){ wrong[i].says, c[i] };
    }
    judge_numbers(name, GRA_SHAPE(m, n), got, want, 1e-11, known);
}

/* The element (i, j) of what stands at x is x[i * row + j * col]. */
#define SEEN(x, row, col) (struct seen){ x, s_##x, row, col }

static void forward(const double *y, int m, int n, int k, const double *a, const double *b)
{
    const int s_a = m * k, s_b = k * n;
    const struct seen A = SEEN(a, k, 1), B = SEEN(b, n, 1);
    static const char
        last[] = "of the sum over p only the last term is there: sum += in place of =",
        a_turned[] = "a is taken for its transpose: a_ip is a[i * k + p]",
        b_turned[] = "b is taken for its transpose: b_pj is b[p * n + j]",
        a_rows[] = "the rows of a have k numbers: a_ip is a[i * k + p]",
        b_rows[] = "the rows of b have n numbers: b_pj is b[p * n + j]";
    compare("y", y, m, n, k, &(struct wrong){ "", A, B, 0, 1, 0, NULL }, (const struct wrong[]){
        { last, A, B, 0, 1, k - 1, NULL },
        { "the sum over p begins at 1, not at 0", A, B, 0, 1, 1, NULL },
        { "the sum over p ends one too early", A, B, 0, 1, SHORT, NULL },
        { "the sum is to begin at 0 for each y_ij", A, B, 0, 1, RUNNING, NULL },
        { a_turned, SEEN(a, 1, m), B, 0, 1, 0, NULL },
        { a_turned, SEEN(a, 1, k), B, 0, 1, 0, NULL },
        { b_turned, A, SEEN(b, 1, k), 0, 1, 0, NULL },
        { b_turned, A, SEEN(b, 1, n), 0, 1, 0, NULL },
        { a_rows, SEEN(a, m, 1), B, 0, 1, 0, NULL },
        { a_rows, SEEN(a, n, 1), B, 0, 1, 0, NULL },
        { b_rows, A, SEEN(b, k, 1), 0, 1, 0, NULL },
        { b_rows, A, SEEN(b, m, 1), 0, 1, 0, NULL },
        { "b a in place of a b", B, A, 0, 1, 0, NULL },
        { NULL, A, B, 0, 0, 0, NULL } });
}

static const char nothing[] = "nothing was added", sign[] = "the sign", no_dy[] = "dy is left out",
    overwritten[] = "overwritten by =: accumulate with +=, for the operand may feed other ops",
    last_use[] = "of all uses of a number only the last one counts: += in place of =",
    dy_alone[] = "dy alone: it is to be multiplied by the other matrix",
    own[] = "multiplied by the matrix itself: the gradient of a needs b, that of b needs a",
    y_taken[] = "y was taken where dy, its gradient, is wanted",
    dy_turned[] = "dy is taken for its transpose: dy_ij is dy[i * n + j]",
    dy_rows[] = "the rows of dy have n numbers: dy_ij is dy[i * n + j]";

static void gradient_a(const double *da, int m, int n, int k, const double *a, const double *b, const double *dy,
                       const double *y, double v)
{
    const int s_a = m * k, s_b = k * n, s_dy = m * n, s_y = m * n;
    const struct seen DY = SEEN(dy, n, 1), BT = SEEN(b, 1, n), ONE = { one, MOST, 0, 0 };
    static const char turned[] = "the indices of b are exchanged: a_ip meets b_pj, which is b[p * n + j] "
                                 "(da = dy b^T)", order[] = "the factors are exchanged: da = dy b^T";
    compare("da", da, m, k, n, &(struct wrong){ "", DY, BT, v, 1, 0, NULL }, (const struct wrong[]){
        { nothing, DY, BT, v, 0, 0, NULL },
        { overwritten, DY, BT, 0, 1, 0, NULL },
        { last_use, DY, BT, 0, 1, n - 1, NULL },
        { last_use, DY, BT, v, 1, n - 1, NULL },
        { sign, DY, BT, v, -1, 0, NULL },
        { no_dy, ONE, BT, v, 1, 0, NULL },
        { dy_alone, DY, ONE, v, 1, 0, NULL },
        { y_taken, SEEN(y, n, 1), BT, v, 1, 0, NULL },
        { turned, DY, SEEN(b, n, 1), v, 1, 0, NULL },
        { turned, DY, SEEN(b, k, 1), v, 1, 0, NULL },
        { turned, DY, SEEN(b, 1, k), v, 1, 0, NULL },
        { own, DY, SEEN(a, 1, k), v, 1, 0, NULL },
        { own, DY, SEEN(a, k, 1), v, 1, 0, NULL },
        { own, DY, ONE, v, 1, 0, a },
        { dy_turned, SEEN(dy, 1, m), BT, v, 1, 0, NULL },
        { dy_turned, SEEN(dy, 1, n), BT, v, 1, 0, NULL },
        { dy_rows, SEEN(dy, m, 1), BT, v, 1, 0, NULL },
        { dy_rows, SEEN(dy, k, 1), BT, v, 1, 0, NULL },
        { order, BT, DY, v, 1, 0, NULL },
        { "the sum over j ends too early", DY, BT, v, 1, SHORT, NULL },
        { "the mean over j: wanted is the sum", DY, BT, v, 1. / n, 0, NULL },
        { "the mean over p: wanted is the sum over j", DY, BT, v, 1. / k, 0, NULL },
        { NULL, DY, BT, 0, 0, 0, NULL } });
}

static void gradient_b(const double *db, int m, int n, int k, const double *a, const double *b, const double *dy,
                       const double *y, double v)
{
    const int s_a = m * k, s_b = k * n, s_dy = m * n, s_y = m * n;
    const struct seen DY = SEEN(dy, n, 1), AT = SEEN(a, 1, k), ONE = { one, MOST, 0, 0 };
    static const char turned[] = "the indices of a are exchanged: b_pj meets a_ip, which is a[i * k + p] "
                                 "(db = a^T dy)", order[] = "the factors are exchanged: db = a^T dy";
    compare("db", db, k, n, m, &(struct wrong){ "", AT, DY, v, 1, 0, NULL }, (const struct wrong[]){
        { nothing, AT, DY, v, 0, 0, NULL },
        { overwritten, AT, DY, 0, 1, 0, NULL },
        { last_use, AT, DY, 0, 1, m - 1, NULL },
        { last_use, AT, DY, v, 1, m - 1, NULL },
        { sign, AT, DY, v, -1, 0, NULL },
        { no_dy, AT, ONE, v, 1, 0, NULL },
        { dy_alone, ONE, DY, v, 1, 0, NULL },
        { y_taken, AT, SEEN(y, n, 1), v, 1, 0, NULL },
        { turned, SEEN(a, k, 1), DY, v, 1, 0, NULL },
        { turned, SEEN(a, m, 1), DY, v, 1, 0, NULL },
        { turned, SEEN(a, 1, m), DY, v, 1, 0, NULL },
        { own, SEEN(b, 1, n), DY, v, 1, 0, NULL },
        { own, SEEN(b, n, 1), DY, v, 1, 0, NULL },
        { own, ONE, DY, v, 1, 0, b },
        { dy_turned, AT, SEEN(dy, 1, m), v, 1, 0, NULL },
        { dy_turned, AT, SEEN(dy, 1, n), v, 1, 0, NULL },
        { dy_rows, AT, SEEN(dy, m, 1), v, 1, 0, NULL },
        { dy_rows, AT, SEEN(dy, k, 1), v, 1, 0, NULL },
        { order, DY, AT, v, 1, 0, NULL },
        { "the sum over i ends too early", AT, DY, v, 1, SHORT, NULL },
        { "the mean over i: wanted is the sum", AT, DY, v, 1. / m, 0, NULL },
        { NULL, AT, DY, 0, 0, 0, NULL } });
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

/* constant: 0 or 1, the operand without a gradient; -1: none; -2: the product alone. */
static void sizes(const char *part, int m, int k, int n, double before, int constant)
{
    const double *a = judge_draw(61, MOST, 0.5, 3), *b = judge_draw(62, MOST, -2, -0.25),
                 *dy = judge_draw(63, MOST, -1, 2);
    judge_part("%s: a is (%d, %d), b is (%d, %d)", part, m, k, k, n);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { (constant == 0 ? gra_constant : gra_input)(t, a, GRA_SHAPE(m, k)),
                                (constant == 1 ? gra_constant : gra_input)(t, b, GRA_SHAPE(k, n)) };
    gra_tensor *y = run(t, in, (const double *const[]){ a, b }, m, n);
    forward(y->data, m, n, k, a, b);
    if (constant != -2) {
        judge_backward(t, y, dy, 2, in, before);
        forward(y->data, m, n, k, a, b);
        if (constant != 0)
            gradient_a(in[0]->grad, m, n, k, a, b, dy, y->data, before);
        if (constant != 1)
            gradient_b(in[1]->grad, m, n, k, a, b, dy, y->data, before);
    }
    gra_close(t);
}

static void same_tensor(void)
{
    const double *x = judge_draw(64, 4, -2, 2), dy[4] = { 1, -0.5, 0.25, 2 };
    double want[4];
    judge_part("a and b are the same tensor, (2, 2)");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(2, 2));
    gra_tensor *y = run(t, (gra_tensor *const[]){ in, in }, (const double *const[]){ x, x }, 2, 2);
    judge_backward(t, y, dy, 1, &in, 0);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            want[i * 2 + j] = dy[i * 2] * x[j * 2] + dy[i * 2 + 1] * x[j * 2 + 1] +
                              x[i] * dy[j] + x[2 + i] * dy[2 + j];
    judge_numbers("the gradient, da + db", GRA_SHAPE(2, 2), in->grad, want, 1e-12, NULL);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return matmul(t, in[0], in[1]);
}

void judge_exercise(void)
{
    for (int i = 0; i < MOST; i++)
        one[i] = 1;
    sizes("the product of square matrices", 2, 2, 2, 0, -2);
    sizes("the product, rows and columns of different sizes", 2, 3, 4, 0, -2);
    sizes("gradients", 2, 2, 2, 0, -1);
    sizes("gradients, rows and columns of different sizes", 2, 3, 4, 0, -1);
    sizes("other sizes", 5, 4, 2, 0, -1);
    sizes("a row times a column", 1, 3, 1, 0, -1);
    sizes("a column times a row", 3, 1, 2, 0, -1);
    sizes("a and b feed another op, too", 3, 2, 4, 1.5, -1);
    same_tensor();
    sizes("a is a constant, so that its grad is NULL", 2, 4, 3, 0, 0);
    sizes("b is a constant, so that its grad is NULL", 2, 4, 3, 0, 1);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 2, (gra_check_in[]){ { .name = "a", .shape = GRA_SHAPE(2, 3) },
        { .name = "b", .shape = GRA_SHAPE(3, 4) } }, f, NULL);
}
