/* 07 relu: the judge. */
#include "judge.h"

enum { N = 12 };
static const double x[N] = { -2, 3, -0.5, 0.25, 0, 1.75, -1e-12, 1e-12, -7, 0, 12, 1.5 };

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
    enum { SIZE, MINUS, STEP, SAME, NEGATIVE, LEAKY, CAPPED, AT_SIX, FLOOR, OVER_ONE, ELU, SOFTPLUS, SIGMOID,
           INTEGER, ALL };
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
        m[AT_SIX][i] = fmin(want[i], 6);
        m[FLOOR][i] = fmax(v, 1);
        m[OVER_ONE][i] = v > 1 ? v : 0;
        m[ELU][i] = v > 0 ? v : exp(v) - 1;
        m[SOFTPLUS][i] = log(1 + exp(v));
        m[SIGMOID][i] = 1 / (1 + exp(-v));
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
        { "numbers over 6 are cut down to 6: positive ones pass as they are", m[AT_SIX] },
        { "max(x, 1): the bound is 0", m[FLOOR] },
        { "numbers from 0 to 1 do not pass: compare x with 0, not with 1", m[OVER_ONE] },
        { "an ELU, e^x - 1 for negative numbers: they are to become 0", m[ELU] },
        { "a softplus, log(1 + e^x): max(x, 0) is wanted", m[SOFTPLUS] },
        { "a sigmoid: max(x, 0) is wanted", m[SIGMOID] },
        { "the fraction is lost: a number went through an int", m[INTEGER] }));
    gra_close(t);
}

static void backward(const char *part, const double *dy, double before)
{
    enum { STORED, KINK, HALF, OPEN, BY_X, NO_DY, BY_DY, BOTH, OTHER, ONCE_X, STORED_ALL, MINUS, LEAKY, ZEROED,
           NOT_0, TO_FIRST, MIRROR, OVER_ONE, ROW_0, ALL };
    double want[N], m[ALL][N], sum = 0;
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
        m[MIRROR][i] = before + (x[i] > 0 ? d : -d);
        m[OVER_ONE][i] = before + (x[i] > 1 ? d : 0);
        m[ROW_0][i] = before + (x[i] > 0 && i < 4 ? d : 0);
        m[TO_FIRST][i] = before;
        sum += x[i] > 0 ? d : 0;
    }
    m[TO_FIRST][0] += sum;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(3, 4));
    gra_tensor *y = run(t, in, x);
    judge_backward(t, y, dy, 1, &in, before);
    judge_numbers("dx", GRA_SHAPE(3, 4), in->grad, want, 1e-12, JUDGE_MISTAKES(
        { "overwritten by =: accumulate with +=, for x may feed other ops", m[STORED] },
        { "overwritten, by = or by setting dx to 0 first: accumulate with +=, for x may feed other ops", m[STORED_ALL] },
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
        { "this is the gradient of |x|", m[MINUS] },
        { "where x is not positive -dy is added: nothing may be", m[MIRROR] },
        { "x from 0 to 1 gets nothing: compare x with 0, not with 1", m[OVER_ONE] },
        { "only the first row gets its gradient: x has y->size numbers, in all of its dimensions", m[ROW_0] },
        { "all is added to dx[0]: dx[i] belongs to dy[i]", m[TO_FIRST] }));
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

/* The cases of can_be_checked, and what other conditions say to each of them. */
static const struct { const char *part; double x, h; } cases[] = {
    { "far to the right of the kink", 2, 0.1 }, { "far to the left of the kink", -2, 0.1 }, { "at the kink", 0, 0.1 },
    { "x - h and x + h on both sides of it", 0.03, 0.1 }, { "x - h and x + h on both sides of it", -0.03, 0.1 },
    { "x is h to the right of the kink", 0.25, 0.25 }, { "x is h to the left of the kink", -0.25, 0.25 },
    { "between h and 2h", 0.3, 0.25 }, { "between h and 2h", -0.45, 0.25 }, { "a small h", 1e-5, 1e-6 },
    { "a large h", 1.75, 2 }, { "a large h", -1.75, 2 } };
enum { CASES = sizeof cases / sizeof *cases };

static bool oversight(int which, double at, double h, const char **says)
{
    const double size = fabs(at);
#define SLIP(text, condition) (*says = (text), (condition))
    switch (which) {
    case 0: return SLIP("x = h and x = -h are left out: there, too, no point lies beyond the kink", size > h);
    case 1: return SLIP("all x to the left of the kink are left out: there relu is a line too", at >= h);
    case 2: return SLIP("all x to the left of the kink are left out, and x = h", at > h);
    case 3: return SLIP("all x to the right of the kink are left out: there relu is a line too", at <= -h);
    case 4: return SLIP("only x = 0 is left out: near it the points lie on both sides of the kink as well", at != 0);
    case 5: return SLIP("it is always true: not so where x - h and x + h lie on both sides of the kink", true);
    case 6: return SLIP("it is always false: true where x - h and x + h lie on one side of the kink", false);
    case 7: return SLIP("it is the other way round", size < h);
    case 8: return SLIP("it is the other way round", size <= h);
    case 9: return SLIP("2h is too much: h is the distance to each of the points", size >= 2 * h);
    case 10: return SLIP("2h is too much: h is the distance to each of the points", size > 2 * h);
    case 11: return SLIP("h/2 is not enough: h is the distance to each of the points", size >= h / 2);
    case 12: return SLIP("x alone is asked: h counts, and x may be negative", at > 0);
    case 13: return SLIP("x alone is asked: h counts, and x may be negative", at >= 0);
    case 14: return SLIP("at 0 the difference is 1/2, whatever h, but the gradient there is 0", at == 0 || size >= h);
    default: *says = NULL; return false;
    }
}

static void can_be_checked_cases(void)
{
    const char *says = "", *fits = NULL;
    bool got[CASES];
    for (int i = 0; i < CASES; i++) {
        judge_part("can_be_checked: %s", cases[i].part);
        got[i] = can_be_checked(cases[i].x, cases[i].h);
    }
    for (int k = 0; says && !fits; k++) {
        bool same = true;
        for (int i = 0; i < CASES; i++)
            same = oversight(k, cases[i].x, cases[i].h, &says) == got[i] && same;
        fits = same ? says : NULL;
    }
    for (int i = 0; i < CASES; i++) {
        const double at = cases[i].x, h = cases[i].h, up = at + h > 0 ? at + h : 0, down = at - h > 0 ? at - h : 0;
        if (got[i] != (fabs(at) >= h))
            judge_wrong("can_be_checked(%g, %g) is %s, wanted %s:\nrelu(%g) is %g and relu(%g) is %g, so the "
                        "difference is %g, and the gradient at %g is %d%s%s", at, h, got[i] ? "true" : "false",
                        got[i] ? "false" : "true", at + h, up, at - h, down, (up - down) / (2 * h), at, at > 0,
                        fits ? "\nit fits: " : "", fits ? fits : "");
    }
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
    can_be_checked_cases();
}
