/* 07 relu: the judge. */
#include "judge.h"

enum { N = 12 };
static const double x[N] = { -2, 3, -0.5, 0.25, 0, 1.75, -1e-12, 1e-12, -7, 0, 12, -1.5 };

static gra_tensor *run(gra_tape *t, gra_tensor *in, const double *data)
{
    gra_tensor *y = my_relu(t, in);
    judge_tensor(t, "y", y, in->shape);
    judge_made_by(y, "my_relu");
    judge_unchanged("x->data", in->data, data, in->size);
    return y;
}

static void forward(const char *part, const double *in, gra_shape shape)
{
    enum { SIZE, MINUS, STEP, SAME, NEGATIVE, LEAKY, CAPPED, INTEGER, ALL };
    double want[N], m[ALL][N];
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *a = gra_input(t, in, shape);
    for (size_t i = 0; i < a->size; i++) {
        const double v = in[i];
        want[i] = v > 0 ? v : 0;
        m[SIZE][i] = fabs(v);
        m[MINUS][i] = v < 0 ? v : 0;
        m[STEP][i] = v > 0;
        m[SAME][i] = v;
        m[NEGATIVE][i] = -want[i];
        m[LEAKY][i] = v > 0 ? v : 0.01 * v;
        m[CAPPED][i] = fmin(want[i], 1);
        m[INTEGER][i] = (int)want[i];
    }
    judge_numbers("y", shape, run(t, a, in)->data, want, 1e-15, JUDGE_MISTAKES(
        { "negative numbers become positive: they are to become 0", m[SIZE] },
        { "negative numbers pass and positive ones become 0: it is the other way round", m[MINUS] },
        { "1 where x is positive: x itself is wanted there", m[STEP] },
        { "x as it is: negative numbers are to become 0", m[SAME] },
        { "the sign: -max(x, 0)", m[NEGATIVE] },
        { "a leaky ReLU: of negative numbers nothing is to pass", m[LEAKY] },
        { "numbers over 1 are cut down to 1: positive ones pass as they are", m[CAPPED] },
        { "the fraction is lost: a number went through an int", m[INTEGER] }));
    gra_close(t);
}

static void backward(const char *part, const double *dy, double before)
{
    enum { STORED, KINK, HALF, OPEN, BY_X, NO_DY, BY_DY, BOTH, OTHER, ONCE_X, STORED_ALL, MINUS, LEAKY, ZEROED,
           NOT_0, ALL };
    double want[N], m[ALL][N];
    judge_part("%s", part);
    for (int i = 0; i < N; i++) {
        const double d = dy[i];
        want[i] = before + (x[i] > 0 ? d : 0);
        m[STORED][i] = x[i] > 0 ? d : before;
        m[STORED_ALL][i] = x[i] > 0 ? d : 0;
        m[KINK][i] = before + (x[i] >= 0 ? d : 0);
        m[HALF][i] = before + (x[i] > 0 ? d : x[i] < 0 ? 0 : d / 2);
        m[OPEN][i] = before + d;
        m[BY_X][i] = before + (x[i] > 0 ? d * x[i] : 0);
        m[NO_DY][i] = before + (x[i] > 0);
        m[BY_DY][i] = before + (d > 0 ? d : 0);
        m[BOTH][i] = before + (x[i] > 0 && d > 0 ? d : 0);
        m[OTHER][i] = before + (x[i] < 0 ? d : 0);
        m[ONCE_X][i] = before + (x[i] > 0 ? x[i] : 0);
        m[LEAKY][i] = before + (x[i] > 0 ? d : 0.01 * d);
        m[NOT_0][i] = before + (x[i] != 0 ? d : 0);
        m[ZEROED][i] = x[i] > 0 ? before + d : 0;
        m[MINUS][i] = before + (x[i] > 0 ? d : x[i] < 0 ? -d : 0);
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(3, 4));
    gra_tensor *y = run(t, in, x);
    judge_backward(t, y, dy, 1, &in, before);
    judge_numbers("dx", GRA_SHAPE(3, 4), in->grad, want, 1e-12, JUDGE_MISTAKES(
        { "overwritten by =: accumulate with +=, for x may feed other ops", m[STORED] },
        { "overwritten by =: accumulate with +=, for x may feed other ops", m[STORED_ALL] },
        { "dy passes where x is 0: there the gradient is to be 0", m[KINK] },
        { "half of dy passes where x is 0: there the gradient is to be 0", m[HALF] },
        { "dy passes everywhere: where x is negative nothing may", m[OPEN] },
        { "multiplied by x: the slope of x by x is 1", m[BY_X] },
        { "the slope alone: it is to be multiplied by dy", m[NO_DY] },
        { "it was asked whether dy is positive: ask it of x", m[BY_DY] },
        { "negative dy are stopped too: ask of x alone", m[BOTH] },
        { "dy passes where x is negative: it is the other way round", m[OTHER] },
        { "x was added where dy is wanted", m[ONCE_X] },
        { "where x is not positive dx is set to 0: add nothing there, and leave what was added before",
          m[ZEROED] },
        { "dy passes where x is negative too", m[NOT_0] },
        { "a little of dy passes where x is not positive: nothing may", m[LEAKY] },
        { "this is the gradient of |x|", m[MINUS] }));
    for (int i = 0; i < N; i++)
        if (y->data[i] != (x[i] > 0 ? x[i] : 0))
            judge_wrong("backward changed y->data: it writes to gradients alone");
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return my_relu(t, in[0]);
}

static void checked(const char *part, double at, double h)
{
    judge_part("can_be_checked: %s", part);
    const bool want = fabs(at) >= h, got = can_be_checked(at, h);
    const double up = at + h > 0 ? at + h : 0, down = at - h > 0 ? at - h : 0;
    if (got != want)
        judge_wrong("can_be_checked(%g, %g) is %s, wanted %s:\nrelu(%g) is %g and relu(%g) is %g, so the "
                    "difference is %g, and the gradient at %g is %d", at, h, got ? "true" : "false",
                    want ? "true" : "false", at + h, up, at - h, down, (up - down) / (2 * h), at, at > 0);
}

void judge_exercise(void)
{
    const double *dy = judge_draw(71, N, -2, 2);
    forward("positive numbers", (double[]){ 0.5, 2, 3.25 }, GRA_SHAPE(3));
    forward("both signs, and 0", x, GRA_SHAPE(3, 4));
    forward("one negative number", (double[]){ -0.5 }, GRA_SHAPE(1));
    backward("gradient", dy, 0);
    backward("gradient, x feeds another op too", dy, 1.5);
    judge_part("the gradient check");
    const gra_check_in in = { .name = "x", .shape = GRA_SHAPE(3, 5) };
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &in, f, NULL);
    checked("far to the right of the kink", 2, 0.1);
    checked("far to the left of the kink", -2, 0.1);
    checked("at the kink", 0, 0.1);
    checked("x - h and x + h on both sides of it", 0.03, 0.1);
    checked("x - h and x + h on both sides of it", -0.03, 0.1);
    checked("x is h to the right of the kink", 0.25, 0.25);
    checked("x is h to the left of the kink", -0.25, 0.25);
    checked("between h and 2h", 0.3, 0.25);
    checked("between h and 2h", -0.45, 0.25);
    checked("a small h", 1e-5, 1e-6);
    checked("a large h", 1.75, 2);
    checked("a large h", -1.75, 2);
}
