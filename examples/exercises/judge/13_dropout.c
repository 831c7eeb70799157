/* 13 dropout: the judge. Which numbers are dropped is up to the answer (it may draw in any order), so
 * this looks at what is true of any mask. */
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

struct given {
    const double *x, *y, *dy;
    double        p;
};

/* x / (1 - p) where the answer's y is not 0. */
static void kept(double *out, void *arg)
{
    const struct given *g = arg;
    const double p = g->p;
    int number = 0;
    for (int i = 0; i < SIZE; i++)
        number += g->y[i] != 0;
    const double factor = slip("the numbers kept are not scaled up: on average y is then (1 - p) x") ? 1
        : slip("the numbers kept are multiplied by 1 - p: divide by it") ? 1 - p
        : slip(fabs((double)number / SIZE - p) <= 5 * sqrt(p * (1 - p) / SIZE)
               ? "p is used as the probability of keeping a number, and divides it: p is that of dropping it"
               : "the numbers kept are divided by p: the part that is kept is 1 - p") ? 1 / p
        : slip("the numbers kept are divided by sqrt(1 - p): divide by 1 - p") ? 1 / sqrt(1 - p)
        : slip("the numbers kept are multiplied by 2: divide by 1 - p, which is 0.5 only if p is") ? 2
        : slip("the numbers kept are multiplied by p: divide by 1 - p") ? p
        : slip("the numbers kept are divided by 1 + p: divide by 1 - p") ? 1 / (1 + p)
        : slip("the numbers kept are multiplied by 1 + p: divide by 1 - p") ? 1 + p
        : slip("the numbers kept are divided by 1 - p twice") ? 1 / (1 - p) / (1 - p)
        : slip("the numbers kept are multiplied by size / how many they are, which differs from draw to "
               "draw: divide by 1 - p") ? (double)SIZE / number
        : slip("the numbers kept have the wrong sign") ? -1 / (1 - p) : 1 / (1 - p);
    for (int i = 0; i < SIZE; i++)
        out[i] = g->y[i] == 0 ? 0 : g->x[i] * factor;
}

/* How many were dropped, and whether one was drawn for each number. */
static void mask(const double *y, double p)
{
    int zeros = 0, as_row_0 = 0, as_column_0 = 0, at = SIZE, end = 0;
    for (int i = 0; i < SIZE; i++) {
        zeros += y[i] == 0, at = y[i] == 0 && at == SIZE ? i : at, end = y[i] != 0 ? i + 1 : end;
        as_row_0 += (y[i] == 0) == (y[i % COLS] == 0);
        as_column_0 += (y[i] == 0) == (y[i / COLS * COLS] == 0);
    }
    const double part = (double)zeros / SIZE, near = 5 * sqrt(p * (1 - p) / SIZE);
    if (p == 0 && zeros)
        judge_wrong("p is 0, so nothing is dropped, but %d of %d numbers of y are 0, the first is "
                    "y[%d, %d]\n%s", zeros, SIZE, at / COLS, at % COLS, zeros == 1 && at == SIZE - 1
                    ? "is a number drawn for the last x, too?"
                    : "u from [0, 1) is never below 0: is one drawn for each x, and is the condition u < p?");
    if (p > 0 && (zeros == 0 || zeros == SIZE))
        judge_wrong("p is %g, and %s of %d numbers were dropped\n%s", p, zeros ? "all" : "none", SIZE,
                    zeros ? "is one number drawn for all? Draw one for each, and drop where it is below p" :
                    "is one number drawn for all, or compared with the wrong thing? Draw one for each, and "
                    "drop where it is below p");
    if (SIZE - end > 100)
        judge_wrong("all numbers from y[%d, %d] on are 0\ndraw y->size numbers, one for each", end / COLS,
                    end % COLS);
    if (p > 0 && as_row_0 == SIZE)
        judge_wrong("the same columns are dropped in each row: draw a number for each element, not for each "
                    "column");
    if (p > 0 && as_column_0 == SIZE)
        judge_wrong("whole rows are dropped or kept: draw a number for each element, not for each row");
    if (fabs(part - p) > near && fabs(part - (1 - p)) <= near)
        judge_wrong("p is %g, and %.1f %% of the numbers were dropped\nlikely: p is used as the probability "
                    "of keeping a number; it is that of dropping it", p, 100 * part);
    if (fabs(part - p) > near && p > 0 && fabs(part - 0.5 * (1 + erf(p / sqrt(2)))) <= near)
        judge_wrong("p is %g, and %.1f %% of the numbers were dropped\nlikely: what is compared with p is "
                    "drawn from the normal distribution: draw it uniformly from [0, 1)", p, 100 * part);
    if (fabs(part - p) > near)
        judge_wrong("p is %g, and %.1f %% of %d numbers were dropped, expected about %g %%\nis u, drawn "
                    "for this number alone, compared with p itself?", p, 100 * part, SIZE, 100 * p);
}

static void train(double p)
{
    judge_part("training with p = %g", p);
    gra_rng rng;
    gra_manual_seed(&rng, 13);
    const double *x = judge_draw(131, SIZE, 0.5, 2);
    struct trial k = run(GRA_TRAIN, &rng, x, p);
    bool same = true, raw = true;
    for (int i = 0; i < SIZE; i++)
        same &= k.y->data[i] == x[i], raw &= k.y->data[i] >= 0 && k.y->data[i] < x[i];
    if (same && p > 0)
        judge_wrong("y is x: nothing is dropped, as if the mode were not GRA_TRAIN\n"
                    "gra_tape_mode(y->tape) is GRA_TRAIN here");
    if (raw)
        judge_clue("x is multiplied by numbers between 0 and 1, like those that gra_rand draws: compare them "
                   "with p");
    judge_against("y", GRA_SHAPE(ROWS, COLS), k.y->data, 1e-9, kept,
                  &(struct given){ .x = x, .y = k.y->data, .p = p });
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
        judge_wrong("called twice, it drops the same numbers both times\ndraw from *gra_tape_rng(y->tape) "
                    "itself, which then advances: not from a copy, nor from a generator that is seeded anew");
    struct trial b = run(GRA_TRAIN, &again, x, 0.5), c = run(GRA_TRAIN, &other, x, 0.5);
    if (!same_mask(a.y->data, b.y->data))
        judge_wrong("with the same seed of the tape's generator, other numbers are dropped\ndraw from "
                    "gra_tape_rng(y->tape), and from nothing else");
    if (same_mask(a.y->data, c.y->data))
        judge_wrong("with another seed of the tape's generator, the same numbers are dropped\ndraw from "
                    "gra_tape_rng(y->tape)");
    gra_close(a.t), gra_close(b.t), gra_close(c.t);
}

/* Clues: what a backward that draws makes of dy. */
static void drawn_again(const double *dx, const double *dy, double p)
{
    bool mask = true, raw = true;
    for (int i = 0; i < SIZE; i++) {
        mask &= dx[i] == 0 || fabs(dx[i] - dy[i]) < 1e-9 || fabs(dx[i] - dy[i] / (1 - p)) < 1e-9;
        raw &= dx[i] / dy[i] >= 0 && dx[i] / dy[i] < 1;
    }
    if (mask)
        judge_clue("this is another mask than forward's: save that one in y->saved, and draw nothing in "
                   "backward");
    if (raw)
        judge_clue("dy is multiplied by numbers between 0 and 1, like those that gra_rand draws: multiply it "
                   "by the factor of x, which forward saves in y->saved, and draw nothing in backward");
}

/* In GRA_GRAD and GRA_EVAL y is x, and dx is dy. */
static void unchanged(double *y, void *arg)
{
    const double *x = arg;
    const double factor = slip("multiplied by 1 - p: training has already scaled up what was kept, so do "
                               "nothing here") ? 0.75
                        : slip("divided by 1 - p: do that only in GRA_TRAIN") ? 1 / 0.75 : 1;
    for (int i = 0; i < SIZE; i++)
        y[i] = factor * x[i];
}

static void unchanged_gradient(double *dx, void *arg)
{
    const struct given *g = arg;
    const bool unset =
        slip("the factor that forward saves in y->saved is not set there when the mode is not GRA_TRAIN");
    const bool times_x = slip("multiplied by x, or by y: the derivative of y = x is 1");
    const double factor = unset ? JUDGE_UNWRITTEN
                        : slip("divided by 1 - p: y is x in this mode, so dx is dy") ? 1 / 0.75
                        : slip("multiplied by 1 - p: the factor is 1 in this mode, and 1 / (1 - p) in "
                               "GRA_TRAIN") ? 0.75
                        : slip("no gradient passes: y is x in this mode, so dx is dy; if backward reads a "
                               "mask, it must be set in this mode, too") ? 0 : 1;
    const bool no_dy = slip("dy is missing: it is multiplied by the factor");
    const bool dy_0 = slip("all x get y->grad[0]: x[i] gets y->grad[i]");
    for (int i = 0; i < SIZE; i++)
        dx[i] = (no_dy ? 1 : g->dy[dy_0 ? 0 : i]) * factor * (times_x ? g->x[i] : 1);
}

static void not_training(const char *part, gra_mode mode, gra_rng *rng)
{
    judge_part("%s", part);
    double *x = judge_draw(133, SIZE, -2, 2), *dy = judge_draw(134, SIZE, -2, 2);
    const gra_rng before = rng ? *rng : (gra_rng){ .at = 0 };
    struct trial k = run(mode, rng, x, 0.25);
    int zeros = 0;
    for (int i = 0; i < SIZE; i++)
        zeros += k.y->data[i] == 0;
    if (zeros)
        judge_wrong("%d numbers are 0: they are dropped only in GRA_TRAIN, otherwise y is x", zeros);
    judge_against("y", GRA_SHAPE(ROWS, COLS), k.y->data, 1e-12, unchanged, x);
    if (rng && (rng->at != before.at || memcmp(rng->state, before.state, sizeof before.state)))
        judge_wrong("numbers were drawn from the generator: draw nothing where nothing is dropped");
    if (mode == GRA_GRAD) {
        judge_backward(k.t, k.y, dy, 1, &k.in, 0);
        drawn_again(gra_grad(k.in), dy, 0.25);
        judge_against("dx", GRA_SHAPE(ROWS, COLS), gra_grad(k.in), 1e-12, unchanged_gradient,
                      &(struct given){ .x = x, .dy = dy });
    }
    gra_close(k.t);
}

/* dy / (1 - p) where y is not 0. */
static void masked_gradient(double *dx, void *arg)
{
    const struct given *g = arg;
    const bool whole = slip("dy passes everywhere: where x was dropped, y does not depend on it");
    const bool scaled =
        slip("dy passes everywhere, divided by 1 - p: where x was dropped, y does not depend on it");
    const bool other = slip("the gradient goes to the numbers dropped: the mask is the wrong way round");
    const bool times_x =
        slip("multiplied by x, or by y: y is x times a factor, and the derivative is that factor");
    const bool times_y = slip("multiplied by x and the square of the factor: the derivative is the factor");
    const double factor = whole || slip("the gradient of the numbers kept is not divided by 1 - p, as y was")
                        ? 1
                        : slip("divided by 1 - p twice") ? 1 / (1 - g->p) / (1 - g->p) : 1 / (1 - g->p);
    for (int i = 0; i < SIZE; i++) {
        const bool passes = whole || scaled || (g->y[i] == 0) == other;
        dx[i] = passes ? g->dy[i] * factor * (times_x || times_y ? g->x[i] : 1) * (times_y ? factor : 1) : 0;
    }
}

static void gradient(const char *part, double p)
{
    judge_part("%s", part);
    gra_rng rng;
    gra_manual_seed(&rng, 15);
    const double *x = judge_draw(135, SIZE, 0.5, 2), *dy = judge_draw(136, SIZE, 1, 2);
    struct trial k = run(GRA_TRAIN, &rng, x, p);
    judge_backward(k.t, k.y, dy, 1, &k.in, 0);
    drawn_again(gra_grad(k.in), dy, p);
    judge_against("dx", GRA_SHAPE(ROWS, COLS), gra_grad(k.in), 1e-11, masked_gradient,
                  &(struct given){ x, k.y->data, dy, p });
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
            judge_wrong("dx[%d, %d] is %.6g where x is %.6g: expected 0 or dy / (1 - p) = %.6g\nlikely: "
                        "the factor is computed from y and x; save it in forward", i / COLS, i % COLS,
                        dx[i], x[i], dy[i] / (1 - p));
    const double part = (double)none / (SIZE / 2);
    if (fabs(part - p) > 5 * sqrt(p * (1 - p) / (SIZE / 2)))
        judge_wrong("where x is 0, %.0f %% of dx are 0: expected about %g %%, as elsewhere\nlikely: a "
                    "number counts as dropped if y is 0. But y may be 0 because x is: save the mask itself",
                    100 * part, 100 * p);
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
    gradient("gradient", 0.25);
    zeros();
    judge_part("the gradient check");
    judge_gradients(GRA_TRAIN, &rng, NULL, 1, (gra_check_in[]){ { .name = "x", .shape = GRA_SHAPE(4, 5) } },
                    f, NULL);
}
