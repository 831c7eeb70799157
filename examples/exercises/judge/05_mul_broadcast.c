/* 05 mul_broadcast: the judge. */
#include "judge.h"

enum { MOST = 30 };

/* The place in an operand of this shape that y (i, j) uses. */
static int place(gra_shape s, int i, int j)
{
    return (s.dim[0] == 1 ? 0 : i) * s.dim[1] + (s.dim[1] == 1 ? 0 : j);
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

struct product {
    const double *a, *b;
    gra_shape     sa, sb, shape;
    const double *got;
};

/* The place that an answer's place() may give instead. A wrong stride shows in the first part, where nothing
 * is stretched. */
static int misplaced(gra_shape s, int i, int j)
{
    const int rows = s.dim[0], cols = s.dim[1], row = rows == 1 ? 0 : i, column = cols == 1 ? 0 : j;
    const bool whole = rows > 1 && cols > 1;
    return whole && slip("place: i is multiplied by the number of rows: row i begins at i * cols")
        ? row * rows + column
        : whole && slip("place: this is j * rows + i: numbers are stored row by row, at i * cols + j")
        ? column * rows + row
        : whole && slip("place: i is not multiplied: row i begins at i * cols") ? row + column
        : slip("place: the tests are exchanged: with one row i is 0, with one column j is")
        ? (cols == 1 ? 0 : i) * cols + (rows == 1 ? 0 : j)
        : slip("an operand of one column is not stretched: use place(), where with one column j is 0")
        ? row * cols + j
        : slip("an operand of one row is not stretched: use place(), where with one row i is 0")
        ? i * cols + column
        : whole && slip("place: this is j * cols + i: numbers are stored row by row, at i * cols + j")
        ? column * cols + row
        : place(s, i, j);
}

/* The number of an operand, x, that y (i, j) uses. */
static double operand(const char *name, const double *x, gra_shape own, gra_shape other, int i, int j, int at)
{
    const int n = own.dim[0] * own.dim[1];
    const int k = slip_of("%s is read at [i * cols + j], as if it were not stretched: use place()", name) ? at
        : slip_of("%s is read with i and j exchanged: in place(x, i, j) the row comes first", name)
        ? place(own, j, i)
        : slip_of("%s is read at the other operand's place: each has a place of its own", name)
        ? place(other, i, j)
        : slip_of("%s's first number is used everywhere: with one row j counts, with one column i", name)
        ? 0 : slip_of("%s is read at [j]: use place()", name) ? j
        : slip_of("%s is read at [i]: use place()", name) ? i
        : slip_of("%s's numbers are used in turn: use place()", name) ? at % n : misplaced(own, i, j);
    return k < n ? x[k] : JUDGE_ANY;
}

static void product(double *y, void *arg)
{
    const struct product *p = arg;
    for (int at = 0; at < p->shape.dim[0] * p->shape.dim[1]; at++) {
        const int i = at / p->shape.dim[1], j = at % p->shape.dim[1];
        const double a = operand("a", p->a, p->sa, p->sb, i, j, at);
        const double b = operand("b", p->b, p->sb, p->sa, i, j, at);
        y[at] = a == JUDGE_ANY || b == JUDGE_ANY ? JUDGE_ANY
              : slip("this is a a: it should be a b") ? a * a : slip("this is b b: it should be a b") ? b * b
              : slip("this is a + b: it should be a b") ? a + b
              : slip("this is a / b: it should be a b") ? a / b : a * b;
    }
}

/* Where the answer may add to the gradient of an operand. */
static int written(const char *name, gra_shape own, gra_shape other, gra_shape y, int i, int j)
{
    return slip_of("%s is written at [i * cols + j], as if it were not stretched: use place()", name)
        ? i * y.dim[1] + j
        : slip_of("%s is written at the other operand's place: each has a place of its own", name)
        ? place(other, i, j)
        : slip_of("%s is written at [i * rows + j]: use place()", name) ? i * y.dim[0] + j
        : place(own, i, j);
}

/* The gradients of a and b, each MOST numbers, so that what is written past their ends is there too. */
static void both_gradients(double *out, void *arg)
{
    const struct product *p = arg;
    memset(out, 0, 2 * MOST * sizeof *out);
    for (int at = 0; at < p->shape.dim[0] * p->shape.dim[1]; at++) {
        const int i = at / p->shape.dim[1], j = at % p->shape.dim[1];
        const int da = written("da", p->sa, p->sb, p->shape, i, j);
        const int db = written("db", p->sb, p->sa, p->shape, i, j);
        out[da] += p->b[at] * p->b[place(p->sb, i, j)];         /* dy is b's numbers */
        out[MOST + db] += p->b[at] * p->a[place(p->sa, i, j)];
    }
    if (slip(""))                               /* the last fits always: no two slips are tried */
        memcpy(out, p->got, 2 * MOST * sizeof *out);
}

/* The backward where there is memory past the ends of the gradients. */
static void in_memory(gra_shape sa, gra_shape sb)
{
    double *a = judge_draw(51, MOST, 0.5, 3), *b = judge_draw(52, MOST, -2, -0.25), want[2 * MOST];
    double *got = judge_draw(0, (size_t)2 * MOST, 0, 0);
    struct product p = { a, b, sa, sb, { 0 }, got };
    gra_broadcast(sa, sb, &p.shape);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { gra_input(t, a, sa), gra_input(t, b, sb) };
    gra_tensor y = *mul_broadcast(t, in[0], in[1]), own[2] = { *in[0], *in[1] };
    own[0].data = a, own[0].grad = got, own[1].data = b, own[1].grad = got + MOST;
    y.in = (gra_tensor *[]){ &own[0], &own[1] };
    y.grad = b;
    y.op->backward(&y);
    gra_close(t);
    both_gradients(want, &p);
    for (int i = 0; i < 2 * MOST; i++)
        if (!(got[i] - want[i] <= 1e-9 && want[i] - got[i] <= 1e-9)) {
            const char *fits = judge_slip(GRA_SHAPE(2 * MOST), got, 1e-10, both_gradients, &p);
            if (fits)
                judge_wrong("d%c[%d]: got %.6g, expected %.6g\nlikely: %s", "ab"[i / MOST], i % MOST, got[i],
                            want[i], fits);
            return;                                     /* gra_check says more */
        }
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *same)
{
    return mul_broadcast(t, in[0], in[same ? 0 : 1]);
}

/* Was y (i, j) written only where i and j are within this shape, which is smaller? */
static bool writes_only(const gra_tensor *y, gra_shape shape)
{
    for (int at = 0; at < (int)y->size; at++) {
        const bool within = at / y->shape.dim[1] < shape.dim[0] && at % y->shape.dim[1] < shape.dim[1];
        if (within == (y->data[at] == JUDGE_UNWRITTEN))
            return false;
    }
    return !gra_same_shape(y->shape, shape);
}

/* constant: 0 or 1, the operand without a gradient; -1: none. */
static void one(const char *part, gra_shape sa, gra_shape sb, int constant)
{
    const double *a = judge_draw(51, MOST, 0.5, 3), *b = judge_draw(52, MOST, -2, -0.25);
    struct product p = { a, b, sa, sb, { 0 }, NULL };
    gra_broadcast(sa, sb, &p.shape);
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { (constant == 0 ? gra_constant : gra_input)(t, a, sa),
                                (constant == 1 ? gra_constant : gra_input)(t, b, sb) };
    gra_tensor *y = run(t, in, (const double *const[]){ a, b }, p.shape);
    for (int k = 0; k < 2; k++)
        if (writes_only(y, in[k]->shape))
            judge_wrong("y %s is computed only in the rows and columns of %c %s: let the loops go over those "
                        "of y", GRA_SHAPE_OF(y), "ab"[k], GRA_SHAPE_OF(in[k]));
    judge_against("y", p.shape, y->data, 1e-12, product, &p);
    judge_backward(t, y, b, 2, in, 0);                  /* where a gradient is NULL this may crash */
    gra_close(t);
}

/* Does operand k get a gradient other than 0, if the other one is a constant or not? */
static bool gets(int k, gra_shape sa, gra_shape sb, bool other_is_constant)
{
    const double *a = judge_draw(51, MOST, 0.5, 3), *b = judge_draw(52, MOST, -2, -0.25);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *const in[2] = { (k == 1 && other_is_constant ? gra_constant : gra_input)(t, a, sa),
                                (k == 0 && other_is_constant ? gra_constant : gra_input)(t, b, sb) };
    judge_backward(t, mul_broadcast(t, in[0], in[1]), b, 2, in, 0);
    bool any = false;
    for (size_t i = 0; i < in[k]->size; i++)
        any |= in[k]->grad[i] != 0;
    gra_close(t);
    return any;
}

static void gradients(const char *part, gra_shape sa, gra_shape sb)
{
    double *a = judge_draw(51, MOST, 0.5, 3), *b = judge_draw(52, MOST, -2, -0.25);
    const gra_check_in in[] = { { .name = "a", .shape = sa, .data = a },
                                { .name = "b", .shape = sb, .data = b } };
    a[2] = 0;                                           /* reveals a gradient that is computed by division */
    judge_part("gradients of %s", part);
    for (int k = 0; k < 2; k++)
        if (!gets(k, sa, sb, false) && gets(k, sa, sb, true))
            judge_wrong("%c gets a gradient only where %c is a constant: is its line in an else? Each "
                        "operand that has a grad gets its own", "ab"[k], "ba"[k]);
    judge_gradients(GRA_GRAD, NULL, NULL, 2, in, f, NULL);
}

void judge_exercise(void)
{
    one("(2, 3) times (2, 3)", GRA_SHAPE(2, 3), GRA_SHAPE(2, 3), -1);
    one("(3, 4) times one row, (1, 4)", GRA_SHAPE(3, 4), GRA_SHAPE(1, 4), -1);
    one("(3, 4) times one column, (3, 1)", GRA_SHAPE(3, 4), GRA_SHAPE(3, 1), -1);
    one("one row times (5, 2)", GRA_SHAPE(1, 2), GRA_SHAPE(5, 2), -1);
    one("one number times (2, 3)", GRA_SHAPE(1, 1), GRA_SHAPE(2, 3), -1);
    one("(3, 1) times (1, 4): both are stretched", GRA_SHAPE(3, 1), GRA_SHAPE(1, 4), -1);
    one("one number times one number", GRA_SHAPE(1, 1), GRA_SHAPE(1, 1), -1);
    one("no crash where a is a constant, whose grad is NULL", GRA_SHAPE(2, 3), GRA_SHAPE(1, 3), 0);
    one("no crash where b is a constant, whose grad is NULL", GRA_SHAPE(2, 3), GRA_SHAPE(2, 1), 1);
    judge_part("places of the gradients");
    in_memory(GRA_SHAPE(3, 1), GRA_SHAPE(1, 4));
    gradients("(3, 4) times one row, (1, 4)", GRA_SHAPE(3, 4), GRA_SHAPE(1, 4));
    gradients("(2, 3) times (2, 3)", GRA_SHAPE(2, 3), GRA_SHAPE(2, 3));
    gradients("(3, 1) times (1, 4): both are stretched", GRA_SHAPE(3, 1), GRA_SHAPE(1, 4));
    gradients("one number times (3, 2)", GRA_SHAPE(1, 1), GRA_SHAPE(3, 2));
    judge_part("gradient where a and b are the same tensor");
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(2, 3) };
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &x, f, "same");
}
