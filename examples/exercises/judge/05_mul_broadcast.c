/* 05 mul_broadcast: the judge. */
#include "judge.h"

enum { MOST = 30 };

/* Where y (i, j) finds its number in an operand of this shape. */
static int place(gra_shape s, int i, int j)
{
    return (s.dim[0] == 1 ? 0 : i) * s.dim[1] + (s.dim[1] == 1 ? 0 : j);
}

/* One more term a b of a sum; JUDGE_ANY where one of them was read past the end of its n numbers. */
static double element(const double *x, int at, int n)
{
    return at < n ? x[at] : JUDGE_ANY;
}

static void add(double *sum, double a, double b)
{
    *sum = *sum == JUDGE_ANY || a == JUDGE_ANY || b == JUDGE_ANY ? JUDGE_ANY : *sum + a * b;
}

static gra_tensor *run(gra_tape *t, gra_tensor *const in[2], const double *const data[2], gra_shape shape)
{
    gra_tensor *y = mul_broadcast(t, in[0], in[1]);
    judge_tensor(t, "y", y, shape);
    judge_made_by(y, "my_mul");
    judge_unchanged("a->data", in[0]->data, data[0], in[0]->size);
    judge_unchanged("b->data", in[1]->data, data[1], in[1]->size);
    return y;
}

static void forward(const gra_tensor *y, const double *a, const double *b, gra_shape sa, gra_shape sb)
{
    enum { PLAIN_A, PLAIN_B, PLAIN, TURNED_A, TURNED_B, TURNED, AS_A, AS_B, ALL };
    double want[MOST], sum[MOST], quotient[MOST], first_a[MOST], first_b[MOST], mod_a[MOST], mod_b[MOST];
    double m[ALL][MOST] = { { 0 } };
    const int na = sa.dim[0] * sa.dim[1], nb = sb.dim[0] * sb.dim[1];
    const int rows = y->shape.dim[0], cols = y->shape.dim[1];
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const int at = i * cols + j;
            const double u = a[place(sa, i, j)], v = b[place(sb, i, j)];
            want[at] = u * v;
            sum[at] = u + v;
            quotient[at] = u / v;
            first_a[at] = a[0] * v;
            first_b[at] = u * b[0];
            mod_a[at] = a[at % na] * v;
            mod_b[at] = u * b[at % nb];
            add(&m[PLAIN_A][at], element(a, at, na), v);
            add(&m[PLAIN_B][at], u, element(b, at, nb));
            add(&m[PLAIN][at], element(a, at, na), element(b, at, nb));
            add(&m[TURNED_A][at], element(a, place(sa, j, i), na), v);
            add(&m[TURNED_B][at], u, element(b, place(sb, j, i), nb));
            add(&m[TURNED][at], element(a, place(sa, j, i), na), element(b, place(sb, j, i), nb));
            add(&m[AS_B][at], element(a, place(sb, i, j), na), v);
            add(&m[AS_A][at], u, element(b, place(sa, i, j), nb));
        }
    static const char plain[] = "an operand is read at [i * cols + j], as if it were not stretched: place() tells where",
                      turned[] = "i and j are exchanged: place(x, i, j) wants the row first",
                      other[] = "an operand is read at the place of the other: each has a place of its own";
    judge_numbers("y", y->shape, y->data, want, 1e-12, JUDGE_MISTAKES(
        { plain, m[PLAIN_A] }, { plain, m[PLAIN_B] }, { plain, m[PLAIN] },
        { turned, m[TURNED_A] }, { turned, m[TURNED_B] }, { turned, m[TURNED] }, { other, m[AS_A] }, { other, m[AS_B] },
        { "a + b in place of a b", sum },
        { "a / b in place of a b", quotient },
        { "a's first number is taken everywhere: place(y->in[0], i, j) tells which one is right", first_a },
        { "b's first number is taken everywhere: place(y->in[1], i, j) tells which one is right", first_b },
        { "a's numbers are taken in turn: place(y->in[0], i, j) tells which one is right", mod_a },
        { "b's numbers are taken in turn: place(y->in[1], i, j) tells which one is right", mod_b }));
}

/* The gradient of the operand x, of shape sx, whose partner is o. */
static void gradient_of(const char *name, const double *got, const double *x, const double *o, gra_shape sx,
                        gra_shape so, gra_shape shape, const double *dy, double before)
{
    enum { STORED, LAST, LAST_ADDED, FIRST, OWN, NO_DY, DY_ALONE, MEAN, MINUS, NOTHING, BY_Y, TWICE,
           BOTH, DY_OWN, DY_ROWS, DY_TURNED, DY_COLS, QUOTIENT, BY_OWN, Y_FOR_DY, PARTNER, PLAIN, TO_PLAIN, TO_PARTNER, BOTH_WAYS, TO_TURNED,
           IN_TURN, BY_SIZE, ALL };
    double want[MOST], m[ALL][MOST];
    const int rows = shape.dim[0], cols = shape.dim[1], n = sx.dim[0] * sx.dim[1], uses = rows * cols / n;
    for (int i = 0; i < n; i++) {
        want[i] = before;
        for (int k = 0; k < ALL; k++)
            m[k][i] = k == STORED || k == LAST ? 0 : before;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < cols; j++) {
            const int at = place(sx, i, j);
            const double d = dy[i * cols + j], v = o[place(so, i, j)];
            want[at] += d * v;
            m[STORED][at] += d * v;
            m[LAST][at] = d * v;
            m[LAST_ADDED][at] = before + d * v;
            if (i * cols + j == 0 || (i ? at > place(sx, i - 1, cols - 1) : at > place(sx, 0, j - 1)))
                m[FIRST][at] = before + d * v;
            m[OWN][at] += d * x[at];
            m[NO_DY][at] += v;
            m[DY_ALONE][at] += d;
            m[MEAN][at] += d * v / uses;
            m[MINUS][at] -= d * v;
            m[BY_Y][at] += d * v * x[at];
            m[TWICE][at] += 2 * d * v;
            m[BOTH][at] += d * (v + x[at]);
            m[DY_OWN][at] += dy[at] * v;
            m[DY_ROWS][at] += dy[(i * rows + j) % (rows * cols)] * v;
            m[DY_TURNED][at] += dy[j * rows + i] * v;
            add(&m[DY_COLS][at], element(dy, j * cols + i, rows * cols), v);
            if (place(sx, j, i) < n)
                m[TO_TURNED][place(sx, j, i)] += d * v;
            m[BY_OWN][at] += d * (x[at] * v) / x[at];
            m[BY_SIZE][at] += d * v / (rows > 1 && sx.dim[0] > 1 ? rows : cols);
            add(&m[PLAIN][at], d, element(o, i * cols + j, so.dim[0] * so.dim[1]));
            if (i * cols + j < n)
                m[TO_PLAIN][i * cols + j] += d * v;
            if (place(so, i, j) < n) {
                m[TO_PARTNER][place(so, i, j)] += d * v;
                add(&m[BOTH_WAYS][place(so, i, j)], d, element(o, at, so.dim[0] * so.dim[1]));
            }
            m[QUOTIENT][at] += d / v;
            m[Y_FOR_DY][at] += v * x[at] * v;
            add(&m[PARTNER][at], d, element(o, at, so.dim[0] * so.dim[1]));
            m[IN_TURN][(i * cols + j) % n] += d * v;
        }
    judge_numbers(name, sx, got, want, 1e-11, JUDGE_MISTAKES(
        { "nothing was added: is that line reached when both gradients are wanted, and when only one is?", m[NOTHING] },
        { "overwritten by =, or set to 0 first: accumulate with +=, for the operand may feed other ops", m[STORED] },
        { "of all uses of a number only the last one counts: += in place of =", m[LAST] },
        { "of all uses of a number only one counts: its gradient is the sum over them", m[LAST_ADDED] },
        { "of all uses of a number only one counts: its gradient is the sum over them", m[FIRST] },
        { "multiplied by the operand itself: the slope of a b by a is b, that by b is a", m[OWN] },
        { "the slope alone: it is to be multiplied by dy", m[NO_DY] },
        { "dy alone: it is to be multiplied by the other operand", m[DY_ALONE] },
        { "the mean over all uses of a number: wanted is the sum", m[MEAN] },
        { "the sign", m[MINUS] },
        { "dy y: multiplied by both operands, where one is wanted", m[BY_Y] },
        { "multiplied by the sum of both operands: the slope of a b by a is b alone", m[BOTH] },
        { "dy is read at the operand's place: that of y_ij is dy[i * cols + j]", m[DY_OWN] },
        { "dy is read with the wrong row length: dy_ij is dy[i * cols + j]", m[DY_ROWS] },
        { "dy is taken for its transpose: dy_ij is dy[i * cols + j]", m[DY_TURNED] },
        { "dy is taken for its transpose: dy_ij is dy[i * cols + j]", m[DY_COLS] },
        { "divided by the other operand: multiply", m[QUOTIENT] },
        { "y divided by the operand is no good where that is 0: take the other operand itself", m[BY_OWN] },
        { "divided by a number of rows or columns: the gradient is a sum, not a mean", m[BY_SIZE] },
        { "the other operand is read at [i * cols + j], as if it were not stretched", m[PLAIN] },
        { "added at [i * cols + j], as if the operand were not stretched: place() tells where", m[TO_PLAIN] },
        { "added at the place of the other operand: each has a place of its own", m[TO_PARTNER] },
        { "the places of the two operands are exchanged", m[BOTH_WAYS] },
        { "i and j are exchanged where it is added: place(x, i, j) wants the row first", m[TO_TURNED] },
        { "y was taken where dy, its gradient, is wanted", m[Y_FOR_DY] },
        { "the other operand is read at this one's place: each has a place of its own", m[PARTNER] },
        { "added in turn, by the place of y: place() tells which number of the operand it is", m[IN_TURN] },
        { "everything is added twice", m[TWICE] }));
}

/* constant: 0 or 1, the operand without a gradient; -1: none. */
static void one(const char *part, gra_shape sa, gra_shape sb, double before, int constant)
{
    gra_shape shape;
    gra_broadcast(sa, sb, &shape);
    const int size = shape.dim[0] * shape.dim[1];
    double *a = judge_draw(51, MOST, 0.5, 3);
    const double *b = judge_draw(52, MOST, -2, -0.25), *dy = judge_draw(53, (size_t)size, -1, 2);
    a[2] = 0;                                           /* a gradient made of y by division is found out */
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { constant == 0 ? gra_constant(t, a, sa) : gra_input(t, a, sa),
                                constant == 1 ? gra_constant(t, b, sb) : gra_input(t, b, sb) };
    gra_tensor *y = run(t, in, (const double *const[]){ a, b }, shape);
    forward(y, a, b, sa, sb);
    judge_backward(t, y, dy, 2, in, before);
    forward(y, a, b, sa, sb);
    if (constant != 0)
        gradient_of("da", in[0]->grad, a, b, sa, sb, shape, dy, before);
    if (constant != 1)
        gradient_of("db", in[1]->grad, b, a, sb, sa, shape, dy, before);
    gra_close(t);
}

static void same_tensor(void)
{
    const gra_shape shape = GRA_SHAPE(2, 3);
    const double *x = judge_draw(54, 6, -2, 2), *dy = judge_draw(55, 6, -1, 1);
    double want[6], half[6];
    judge_part("a and b are the same tensor");
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, shape);
    gra_tensor *y = run(t, (gra_tensor *const[]){ in, in }, (const double *const[]){ x, x }, shape);
    forward(y, x, x, shape, shape);
    judge_backward(t, y, dy, 1, &in, 0.5);
    for (int i = 0; i < 6; i++) {
        half[i] = 0.5 + x[i] * dy[i];
        want[i] = 0.5 + 2 * x[i] * dy[i];
    }
    judge_numbers("the gradient", shape, in->grad, want, 1e-12, JUDGE_MISTAKES(
        { "it came once: da and db are the same memory here, and both are to be added", half }));
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return mul_broadcast(t, in[0], in[1]);
}

void judge_exercise(void)
{
    one("(2, 3) times (2, 3)", GRA_SHAPE(2, 3), GRA_SHAPE(2, 3), 0, -1);
    one("(3, 4) times one row, (1, 4)", GRA_SHAPE(3, 4), GRA_SHAPE(1, 4), 0, -1);
    one("(3, 4) times one column, (3, 1)", GRA_SHAPE(3, 4), GRA_SHAPE(3, 1), 0, -1);
    one("one row times (5, 2)", GRA_SHAPE(1, 2), GRA_SHAPE(5, 2), 0, -1);
    one("one number times (2, 3)", GRA_SHAPE(1, 1), GRA_SHAPE(2, 3), 0, -1);
    one("(3, 1) times (1, 4): both are stretched", GRA_SHAPE(3, 1), GRA_SHAPE(1, 4), 0, -1);
    one("one number times one number", GRA_SHAPE(1, 1), GRA_SHAPE(1, 1), 0, -1);
    one("a and b feed another op, too", GRA_SHAPE(3, 1), GRA_SHAPE(3, 4), 1.5, -1);
    same_tensor();
    one("a is a constant, so that its grad is NULL", GRA_SHAPE(2, 3), GRA_SHAPE(1, 3), 0, 0);
    one("b is a constant, so that its grad is NULL", GRA_SHAPE(2, 3), GRA_SHAPE(2, 1), 0, 1);
    judge_part("the gradient check");
    judge_gradients(GRA_GRAD, NULL, NULL, 2, (gra_check_in[]){ { .name = "a", .shape = GRA_SHAPE(3, 4) },
        { .name = "b", .shape = GRA_SHAPE(1, 4) } }, f, NULL);
}
