/* 07 relu: the judge. */
#include "judge.h"

enum { N = 12 };
static const double kinked[N] = { -2, 3, -0.5, 0.25, 0, 1.75, -1e-12, 1e-12, -7, 0, 12, 1.5 };

static gra_tensor *run(gra_tape *t, gra_tensor *in, const double *data)
{
    gra_tensor *y = my_relu(t, in);
    judge_tensor(t, "y", y, in->shape);
    judge_made_by(y, "my_relu");
    judge_unchanged("x->data", in->data, data, in->size);
    return y;
}

struct numbers {
    const double *x;
    size_t        n;
};

static double relu(double x)
{
    const double y = x > 0 ? x : 0;
    return slip("negative numbers become positive: they should become 0") ? fabs(x)
         : slip("negative numbers pass and positive ones become 0: exchange the two") ? x - y
         : slip("this is 1 where x is positive: it should be x itself") ? x > 0
         : slip("this is x unchanged: negative numbers should become 0") ? x
         : slip("the sign is wrong: this is -max(x, 0)") ? -y
         : slip("this is a leaky ReLU: negative numbers should become 0") ? y + 0.01 * (x - y)
         : slip("numbers over 1 are cut to 1: positive ones should pass unchanged") ? fmin(y, 1)
         : slip("numbers over 6 are cut to 6: positive ones should pass unchanged") ? fmin(y, 6)
         : slip("this is max(x, 1): the bound is 0") ? fmax(x, 1)
         : slip("numbers from 0 to 1 do not pass: compare x with 0") ? (x > 1 ? x : 0)
         : slip("this is an ELU, e^x - 1 for negative numbers: they should become 0")
         ? (x > 0 ? x : exp(x) - 1)
         : slip("this is a softplus, log(1 + e^x): it should be max(x, 0)") ? log(1 + exp(x))
         : slip("this is a sigmoid: it should be max(x, 0)") ? 1 / (1 + exp(-x))
         : slip("the fraction is lost: was a number stored in an int?") ? (int)y : y;
}

static void rectified(double *y, void *arg)
{
    const struct numbers *in = arg;
    for (size_t i = 0; i < in->n; i++)
        y[i] = relu(in->x[i]);
}

/* What is wrong for these numbers in this shape: y, dx (if it is asked for), or neither? */
enum found { RIGHT, WRONG_Y, WRONG_DX };
static enum found wrong_as(const double *x, gra_shape shape, bool dx)
{
    enum found found = RIGHT;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, shape), *y = run(t, in, x);
    const double *dy = judge_draw(71, in->size, 1, 2);
    if (dx)
        judge_backward(t, y, dy, 1, &in, 0);
    for (size_t i = in->size; i-- > 0;)
        if (y->data[i] != (x[i] > 0 ? x[i] : 0))
            found = WRONG_Y;
        else if (dx && found == RIGHT && in->grad[i] != (x[i] > 0 ? dy[i] : 0))
            found = WRONG_DX;
    gra_close(t);
    return found;
}

/* What is right in one shape and wrong in another was counted by dimensions. */
static void in_each_shape(const double *x, int n, gra_shape shape, bool dx)
{
    char here[GRA_SHAPE_TEXT], there[GRA_SHAPE_TEXT];
    const gra_shape others[] = { GRA_SHAPE(n), GRA_SHAPE(1, n), GRA_SHAPE(n % 3 ? n : 3, n % 3 ? 1 : n / 3) };
    const enum found found = wrong_as(x, shape, dx);
    for (int k = 0; k < 3 && found != RIGHT; k++) {
        const enum found other = wrong_as(x, others[k], dx);
        if (other == RIGHT || other > found)
            judge_wrong("%s is wrong where x is %s, and right where the same numbers are %s:\nx may have any "
                        "shape, and y->size is the count of its numbers", found == WRONG_Y ? "y" : "dx",
                        gra_shape_text(shape, here), gra_shape_text(others[k], there));
    }
}

static void forward(const char *part, const double *in, gra_shape shape)
{
    judge_part("%s", part);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *a = gra_input(t, in, shape);
    in_each_shape(in, (int)a->size, shape, false);
    gra_tensor *y = run(t, a, in), again = *y, own = *a;
    judge_against("y", shape, y->data, 1e-15, rectified, &(struct numbers){ in, a->size });
    own.data = judge_draw(72, a->size + 1, 1, 2);       /* once more, where memory past y's end is watched */
    memcpy(own.data, in, a->size * sizeof *in);
    again.data = judge_room(a->size);
    again.in = (gra_tensor *[]){ &own };
    again.op->forward(&again);
    judge_guarded("y", again.data, a->size);
    gra_close(t);
}

/* The kink itself is compared here, as gra_check skips it. */
static void at_kink(void)
{
    judge_part("gradient where x is 0");
    const double dy[N] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12 };
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, kinked, GRA_SHAPE(3, 4));
    judge_backward(t, run(t, in, kinked), dy, 1, &in, 0);
    for (int i = 0; i < N; i++)
        if (kinked[i] == 0 && in->grad[i] != 0)
            judge_wrong("dx: got %g, expected 0 where x is 0 and dy is %g\ndy passes where x is 0%s: the "
                        "gradient should be 0 there", in->grad[i], dy[i], in->grad[i] == dy[i] / 2
                            ? ", half of it" : "");
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return my_relu(t, in[0]);
}

/* The cases of can_be_checked. */
static const struct { const char *part; double x, h; } cases[] = {
    { "far to the right of the kink", 2, 0.1 }, { "far to the left of the kink", -2, 0.1 },
        { "at the kink", 0, 0.1 },
    { "x - h and x + h on either side of it", 0.03, 0.1 },
        { "x - h and x + h on either side, x negative", -0.03, 0.1 },
    { "x is h to the right of the kink", 0.25, 0.25 }, { "x is h to the left of the kink", -0.25, 0.25 },
    { "between h and 2h", 0.3, 0.25 }, { "between -2h and -h", -0.45, 0.25 }, { "a small h", 1e-5, 1e-6 },
    { "a large h", 1.75, 2 }, { "a large h, x negative", -1.75, 2 } };
enum { CASES = sizeof cases / sizeof *cases };

static bool far_enough(double x, double h)
{
    const double size = fabs(x);
    return slip("it is false where x is h or -h: both points are on one side of the kink there") ? size > h
         : slip("all x to the left of the kink are left out: relu is a line there too") ? x >= h
         : slip("all x to the left of the kink are left out, and x = h") ? x > h
         : slip("all x to the right of the kink are left out: relu is a line there too") ? x <= -h
         : slip("only x = 0 is left out: near it, too, the points are on both sides") ? x != 0
         : slip("it is always true: false where x - h and x + h are on both sides of the kink") ? true
         : slip("it is always false: true where x - h and x + h are on one side of the kink") ? false
         : slip("it is the other way round") ? size < h
         : slip("it is the other way round, except where x is h or -h") ? size <= h
         : slip("x must be 2h from the kink here: h is enough") ? size >= 2 * h
         : slip("x must be more than 2h from the kink here: h is enough") ? size > 2 * h
         : slip("x may be h/2 from the kink here: h is needed") ? size >= h / 2
         : slip("it is true for all x > 0: h matters too, and x may be negative") ? x > 0
         : slip("it is true for all x >= 0: h matters too, and x may be negative") ? x >= 0
         : slip("it is true at 0: there the difference is 1/2 for every h, but the gradient 0")
         ? x == 0 || size >= h : size >= h;
}

static void all_cases(double *out, void *arg)
{
    (void)arg;
    for (int i = 0; i < CASES; i++)
        out[i] = far_enough(cases[i].x, cases[i].h);
}

static void can_be_checked_cases(void)
{
    bool got[CASES];
    double numbers[CASES];
    judge_part("can_be_checked: it returns");
    for (int i = 0; i < CASES; i++)
        numbers[i] = got[i] = can_be_checked(cases[i].x, cases[i].h);
    const char *fits = judge_slip(GRA_SHAPE(CASES), numbers, 0, all_cases, NULL);
    for (int i = 0; i < CASES; i++) {
        const double at = cases[i].x, h = cases[i].h, up = at + h > 0 ? at + h : 0, down = at - h > 0 ? at - h
                        : 0;
        judge_part("can_be_checked: %s", cases[i].part);
        if (got[i] != (fabs(at) >= h))
            judge_wrong("can_be_checked(%g, %g): got %s, expected %s\nrelu(%g) is %g and relu(%g) is %g, so "
                        "the difference over 2h is %g, and the gradient at %g is %d%s%s", at, h,
                        got[i] ? "true" : "false", got[i] ? "false" : "true", at + h, up, at - h, down,
                        (up - down) / (2 * h), at, at > 0, fits ? "\nlikely: " : "", fits ? fits : "");
    }
}

void judge_exercise(void)
{
    forward("positive numbers", (double[]){ 0.5, 2, 3.25 }, GRA_SHAPE(3));
    forward("both signs, and 0", kinked, GRA_SHAPE(3, 4));
    forward("one negative number", (double[]){ -0.5 }, GRA_SHAPE(1));
    judge_part("the gradient check");
    const gra_check_in in = { .name = "x", .shape = GRA_SHAPE(3, 5) };
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &in, f, NULL);
    at_kink();
    judge_part("x of one dimension, and of three");
    in_each_shape(kinked, N, GRA_SHAPE(N), true);
    in_each_shape(kinked, N, GRA_SHAPE(2, 3, 2), true);
    can_be_checked_cases();
}
