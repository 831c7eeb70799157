/* 13 dropout: the judge. Which numbers are dropped is the answer's own affair (it may draw in any order), so this looks
 * at what is true of any mask. */
#include "judge.h"
#include <stdlib.h>

enum { ROWS = 40, COLS = 100, SIZE = ROWS * COLS };

struct trial {
    gra_tape   *t;
    gra_tensor *in, *y;
};

static struct trial run(gra_mode mode, gra_rng *rng, const double *x, double p)
{
    struct trial k = { .t = judge_tape(mode, rng) };
    k.in = gra_input(k.t, x, GRA_SHAPE(ROWS, COLS));
    k.y = dropout(k.t, k.in, p);
    judge_tensor(k.t, "y", k.y, GRA_SHAPE(ROWS, COLS));
    judge_unchanged("x->data", k.in->data, x, SIZE);
    return k;
}

/* All numbers that stayed are x times this factor: true, and nothing is said. */
static bool scaled_by(const double *x, const double *y, double factor)
{
    for (int i = 0; i < SIZE; i++)
        if (y[i] != 0 && !(fabs(y[i] - factor * x[i]) <= 1e-9 * fabs(factor * x[i])))
            return false;
    return true;
}

static void values(const double *x, const double *y, double p)
{
    for (int i = 0; i < SIZE; i++)
        if (y[i] == JUDGE_UNWRITTEN)
            judge_wrong("y[%d, %d] was never written", i / COLS, i % COLS);
    if (scaled_by(x, y, 1 / (1 - p)))
        return;
    const struct { double factor; const char *says; } wrong[] = {
        { 1, "not made larger: on average y is then (1 - p) x" },
        { 1 - p, "multiplied by 1 - p: they are to be divided by it" },
        { 1 / p, "divided by p: 1 - p is the part that stays" },
        { p, "multiplied by p: they are to be divided by 1 - p" },
        { 1 / (1 + p), "divided by 1 + p: they are to be divided by 1 - p" },
        { 1 + p, "multiplied by 1 + p: they are to be divided by 1 - p" },
        { 1 / (1 - p) / (1 - p), "divided by 1 - p twice" },
        { -1 / (1 - p), "multiplied by -1 / (1 - p): the sign is wrong" } };
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        if (scaled_by(x, y, wrong[k].factor))
            judge_wrong("p is %g, and the numbers that stayed are %.6g times x\nit fits: %s", p, wrong[k].factor,
                        wrong[k].says);
    for (int i = 0; i < SIZE; i++)
        if (y[i] != 0 && !(fabs(y[i] - x[i] / (1 - p)) <= 1e-9))
            judge_wrong("y[%d, %d] is %.6g and x there %.6g: with p = %g wanted is 0 or %.6g", i / COLS, i % COLS, y[i],
                        x[i], p, x[i] / (1 - p));
}

/* How many were dropped, and whether each number was drawn for. */
static void mask(const double *y, double p)
{
    int zeros = 0, as_row_0 = 0, as_column_0 = 0;
    for (int i = 0; i < SIZE; i++) {
        zeros += y[i] == 0;
        as_row_0 += (y[i] == 0) == (y[i % COLS] == 0);
        as_column_0 += (y[i] == 0) == (y[i / COLS * COLS] == 0);
    }
    const double part = (double)zeros / SIZE, near = 5 * sqrt(p * (1 - p) / SIZE);
    if (p > 0 && (zeros == 0 || zeros == SIZE))
        judge_wrong("p is %g, and of %d numbers %s was dropped\n%s", p, SIZE, zeros ? "each" : "none",
                    zeros ? "is one number drawn for all? Draw one for each, and drop where it is below p" :
                    "is one number drawn for all, or compared with the wrong thing? Draw one for each, and drop where it "
                    "is below p");
    if (p > 0 && as_row_0 == SIZE)
        judge_wrong("in each row the same columns are dropped: draw a number for each element, not for each column");
    if (p > 0 && as_column_0 == SIZE)
        judge_wrong("whole rows are dropped or stay: draw a number for each element, not for each row");
    if (fabs(part - p) > near && fabs(part - (1 - p)) <= near)
        judge_wrong("p is %g, and %.1f %% of the numbers were dropped\nit fits: p is taken for the probability of staying; it "
                    "is that of being dropped", p, 100 * part);
    if (fabs(part - p) > near && p > 0 && fabs(part - 0.5 * (1 + erf(p / sqrt(2)))) <= near)
        judge_wrong("p is %g, and %.1f %% of the numbers were dropped\nit fits: what is compared with p is drawn from the "
                    "normal distribution; wanted are numbers in [0, 1), all as likely", p, 100 * part);
    if (fabs(part - p) > near)
        judge_wrong("p is %g, and %.1f %% of %d numbers were dropped, wanted about %g %%", p, 100 * part, SIZE, 100 * p);
}

static void train(double p)
{
    judge_part("training with p = %g", p);
    gra_rng rng;
    gra_manual_seed(&rng, 13);
    const double *x = judge_draw(131, SIZE, 0.5, 2);
    struct trial k = run(GRA_TRAIN, &rng, x, p);
    values(x, k.y->data, p);
    mask(k.y->data, p);
    judge_made_by(k.y, "my_dropout");
    gra_close(k.t);
}

static int same_mask(const double *a, const double *b)
{
    int same = 0;
    for (int i = 0; i < SIZE; i++)
        same += (a[i] == 0) == (b[i] == 0);
    return same == SIZE;
}

static void generator(void)
{
    judge_part("the generator");
    gra_rng rng, again, other;
    gra_manual_seed(&rng, 13);
    gra_manual_seed(&again, 13);
    gra_manual_seed(&other, 14);
    const double *x = judge_draw(132, SIZE, -2, -0.5);
    struct trial a = run(GRA_TRAIN, &rng, x, 0.5);
    gra_tensor *next = dropout(a.t, a.in, 0.5);
    judge_tensor(a.t, "y", next, GRA_SHAPE(ROWS, COLS));
    if (same_mask(a.y->data, next->data))
        judge_wrong("called twice, it drops the same numbers both times\ndraw from *gra_tape_rng(y->tape) itself, which then "
                    "moves on: not from a copy, and from none that begins with a seed each time");
    struct trial b = run(GRA_TRAIN, &again, x, 0.5), c = run(GRA_TRAIN, &other, x, 0.5);
    if (!same_mask(a.y->data, b.y->data))
        judge_wrong("with the same seed of the tape's generator other numbers are dropped\ndraw from gra_tape_rng(y->tape), "
                    "and from nothing else");
    if (same_mask(a.y->data, c.y->data))
        judge_wrong("with another seed of the tape's generator the same numbers are dropped\ndraw from "
                    "gra_tape_rng(y->tape)");
    gra_close(a.t), gra_close(b.t), gra_close(c.t);
}

static void not_training(const char *part, gra_mode mode, gra_rng *rng)
{
    judge_part("%s", part);
    const double *x = judge_draw(133, SIZE, -2, 2), *dy = judge_draw(134, SIZE, -2, 2);
    const gra_rng before = rng ? *rng : (gra_rng){ .at = 0 };
    struct trial k = run(mode, rng, x, 0.25);
    double *scaled = judge_room(SIZE), *large = judge_room(SIZE), *unset = judge_room(SIZE), *product = judge_room(SIZE);
    double *dy_large = judge_room(SIZE), *dy_scaled = judge_room(SIZE);
    int zeros = 0;
    for (int i = 0; i < SIZE; i++) {
        scaled[i] = x[i] * 0.75, large[i] = x[i] / 0.75, zeros += k.y->data[i] == 0;
        unset[i] = JUDGE_UNWRITTEN * dy[i], product[i] = x[i] * dy[i];
        dy_large[i] = dy[i] / 0.75, dy_scaled[i] = dy[i] * 0.75;
    }
    if (zeros)
        judge_wrong("%d numbers are 0: they are dropped in GRA_TRAIN alone, elsewhere y is x", zeros);
    judge_numbers("y", GRA_SHAPE(ROWS, COLS), k.y->data, x, 1e-12, JUDGE_MISTAKES(
        { "multiplied by 1 - p: what stayed in training was made larger already, so nothing is to be done here", scaled },
        { "divided by 1 - p: that is done in GRA_TRAIN alone", large }));
    if (rng && (rng->at != before.at || memcmp(rng->state, before.state, sizeof before.state)))
        judge_wrong("numbers were drawn from the generator: nothing is to be drawn where nothing is dropped");
    if (mode == GRA_GRAD) {
        judge_backward(k.t, k.y, dy, 1, &k.in, 0);
        judge_numbers("dx", GRA_SHAPE(ROWS, COLS), gra_grad(k.in), dy, 1e-12, JUDGE_MISTAKES(
            { "the factor that forward keeps in y->saved is not set there when the mode is not GRA_TRAIN", unset },
            { "multiplied by x, or by y: the derivative of y = x is 1", product },
            { "divided by 1 - p: y is x in this mode, so dx is dy", dy_large },
            { "multiplied by 1 - p: the factor is 1 in this mode, and 1 / (1 - p) in GRA_TRAIN", dy_scaled }));
    }
    gra_close(k.t);
}

static void gradient(const char *part, double p, double before)
{
    judge_part("%s", part);
    enum { WHOLE, SCALED, UNSCALED, TWICE, TIMES_X, TIMES_Y, OTHER_WAY, STORED, NO_DY, ALL };
    gra_rng rng;
    gra_manual_seed(&rng, 15);
    const double *x = judge_draw(135, SIZE, 0.5, 2), *dy = judge_draw(136, SIZE, 1, 2);
    struct trial k = run(GRA_TRAIN, &rng, x, p);
    double *want = judge_room(SIZE), *m[ALL];
    for (int j = 0; j < ALL; j++)
        m[j] = judge_room(SIZE);
    for (int i = 0; i < SIZE; i++) {
        const double y = k.y->data[i], stayed = y != 0, d = dy[i] * stayed / (1 - p);
        want[i] = before + d;
        m[WHOLE][i] = before + dy[i];
        m[SCALED][i] = before + dy[i] / (1 - p);
        m[UNSCALED][i] = before + dy[i] * stayed;
        m[TWICE][i] = before + d / (1 - p);
        m[TIMES_X][i] = before + d * x[i];
        m[TIMES_Y][i] = before + dy[i] * y * y / x[i];
        m[OTHER_WAY][i] = before + dy[i] * (stayed == 0) / (1 - p);
        m[STORED][i] = d;
        m[NO_DY][i] = before + stayed / (1 - p);
    }
    judge_backward(k.t, k.y, dy, 1, &k.in, before);
    const double *dx = gra_grad(k.in);
    bool another = true;                                /* each is 0 or as if it had stayed: of another mask */
    for (int i = 0; i < SIZE; i++) {
        const double d = dx[i] - before;
        another &= fabs(d) < 1e-9 || fabs(d - dy[i]) < 1e-9 || fabs(d - dy[i] / (1 - p)) < 1e-9;
    }
    judge_numbers("dx", GRA_SHAPE(ROWS, COLS), dx, want, 1e-11, JUDGE_MISTAKES(
        { "dx is overwritten: accumulate with +=, for x may feed other functions", m[STORED] },
        { "dy goes through everywhere: where x was dropped, y does not depend on it", m[WHOLE] },
        { "dy goes through everywhere, divided by 1 - p: where x was dropped, y does not depend on it", m[SCALED] },
        { "the gradient of those that stayed is not divided by 1 - p, as y was", m[UNSCALED] },
        { "divided by 1 - p twice", m[TWICE] },
        { "multiplied by x, or by y: y is x times a factor, and the derivative is that factor", m[TIMES_X] },
        { "multiplied by x and the square of the factor: the derivative is the factor", m[TIMES_Y] },
        { "the gradient goes to those that were dropped: the mask is the wrong way round", m[OTHER_WAY] },
        { "dy is not a factor", m[NO_DY] },
        { "another mask than forward's: keep that one in y->saved, and draw nothing in backward",
          another ? dx : want }));
    gra_close(k.t);
}

/* Every second x is 0. */
static void zeros(void)
{
    judge_part("gradient where x is 0");
    const double p = 0.25;
    gra_rng rng;
    gra_manual_seed(&rng, 16);
    double *x = judge_draw(137, SIZE, 0.5, 2), *dy = judge_draw(138, SIZE, 1, 2);
    for (int i = 0; i < SIZE; i += 2)
        x[i] = 0;
    struct trial k = run(GRA_TRAIN, &rng, x, p);
    judge_backward(k.t, k.y, dy, 1, &k.in, 0);
    const double *dx = gra_grad(k.in);
    int none = 0;
    for (int i = 0; i < SIZE; i++)
        if (dx[i] == 0)
            none += i % 2 == 0;
        else if (!(fabs(dx[i] - dy[i] / (1 - p)) < 1e-9))
            judge_wrong("dx[%d, %d] is %.6g where x is %.6g: wanted is 0, or dy / (1 - p) = %.6g\nit fits: the factor is got "
                        "from y and x; keep it in forward", i / COLS, i % COLS, dx[i], x[i], dy[i] / (1 - p));
    const double part = (double)none / (SIZE / 2);
    if (fabs(part - p) > 5 * sqrt(p * (1 - p) / (SIZE / 2)))
        judge_wrong("where x is 0, %.0f %% of dx are 0: wanted are about %g %%, as elsewhere\nit fits: what was dropped is told "
                    "by y = 0. A y may be 0 because its x is: keep the mask itself", 100 * part, 100 * p);
    gra_close(k.t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return dropout(t, in[0], 0.3);
}

void judge_exercise(void)
{
    gra_rng rng;
    gra_manual_seed(&rng, 17);
    train(0.25);
    train(0.8);
    train(0);
    generator();
    not_training("GRA_GRAD: nothing is dropped", GRA_GRAD, &rng);
    not_training("GRA_EVAL: nothing is dropped, and there is no generator", GRA_EVAL, NULL);
    gradient("gradient", 0.25, 0);
    gradient("gradient of x used twice", 0.6, 2);
    zeros();
    judge_part("the gradient check");
    judge_gradients(GRA_TRAIN, &rng, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(4, 5) } }, f, NULL);
}
