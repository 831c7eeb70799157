/* 13 dropout: the judge. The answer decides which numbers are dropped (it may draw in any order), so the
 * judge checks what is true of any mask. */
#include "judge.h"

enum { ROWS = 40, COLS = 100, SIZE = ROWS * COLS };

struct trial {
    gra_tape     *t;
    gra_tensor   *in, *y;
    const double *dx;                   /* if dy is not NULL */
};

static struct trial run(gra_mode mode, gra_rng *rng, const double *x, const double *dy, double p)
{
    struct trial k = { .t = judge_tape(mode, rng) };
    k.in = gra_input(k.t, x, GRA_SHAPE(ROWS, COLS));
    k.y = dropout(k.t, k.in, p);
    judge_tensor(k.t, "y", k.y, GRA_SHAPE(ROWS, COLS));
    judge_unchanged("x->data", k.in->data, x, SIZE);
    if (dy)
        judge_backward(k.t, k.y, dy, 1, &k.in, 0);
    k.dx = dy ? gra_grad(k.in) : NULL;
    return k;
}

/* got must be `factor` times x where y is not 0, and else 0. If the factor is a different one, says why. */
static void scaled(const char *name, const double *got, const double *x, const double *y, double p,
                   double factor)
{
    const struct { double factor; const char *says; } known[] = {
        { 1, "the kept numbers are not scaled up: divide them by 1 - p" },
        { 1 - p, "the kept numbers are multiplied by 1 - p: divide them by it" },
        { 1 / p, "the kept numbers are divided by p, the probability of dropping: divide them by 1 - p" },
        { 1 / (1 - p), "" } };
    double want[SIZE], by = NAN;
    bool one = true, again = true, raw = true, everywhere = true;
    for (int i = 0; i < SIZE; i++) {
        want[i] = y[i] == 0 ? 0 : x[i] * factor;
        by = by != by && y[i] != 0 ? got[i] / x[i] : by;
        one = one && fabs(got[i] - (y[i] == 0 ? 0 : by * x[i])) < 1e-9;
        again = again && (got[i] == 0 || fabs(got[i] - x[i]) < 1e-9 || fabs(got[i] - x[i] / (1 - p)) < 1e-9);
        everywhere = everywhere && fabs(got[i] - x[i] * factor) < 1e-9;
        raw = raw && got[i] / x[i] >= 0 && got[i] / x[i] < 1;
    }
    for (size_t k = 0; k < sizeof known / sizeof *known && one && fabs(by - factor) > 1e-9; k++)
        if (fabs(by - known[k].factor) < 1e-9)
            judge_wrong("%s: got %.6g times the input, expected %.6g times\nlikely: %s", name, by, factor,
                        factor == 1 ? "numbers are scaled here too: scale only in GRA_TRAIN" : known[k].says);
    if (!one)
        judge_clue("%s", everywhere ? "likely: dy passes where x was dropped, but y does not depend on that x"
            : again && factor == 1 ? "likely: numbers are dropped here too: drop only in GRA_TRAIN"
            : again ? "likely: this is not forward's mask: save the mask, and draw nothing in backward"
            : raw ? "likely: the factor is the number that gra_rand draws: compare this number with p, and "
                    "save 0 or 1 / (1 - p)" : "");
    judge_numbers(name, GRA_SHAPE(ROWS, COLS), got, want, 1e-9);
}

/* Checks how many numbers were dropped, and that one was drawn for each element. */
static void mask(const double *y, double p)
{
    int zeros = 0, as_row_0 = 0, as_column_0 = 0, end = 0;
    for (int i = 0; i < SIZE; i++) {
        zeros += y[i] == 0, end = y[i] != 0 ? i + 1 : end;
        as_row_0 += (y[i] == 0) == (y[i % COLS] == 0);
        as_column_0 += (y[i] == 0) == (y[i / COLS * COLS] == 0);
    }
    const double part = (double)zeros / SIZE, near = 5 * sqrt(p * (1 - p) / SIZE);
    const bool all_alike = p > 0 && (as_row_0 == SIZE || as_column_0 == SIZE);
    if (fabs(part - p) > near || all_alike || (p > 0 && SIZE - end > 100))
        judge_wrong("p is %g, and %d of %d numbers were dropped\n%s", p, zeros, SIZE, p == 0
                    ? "is one u drawn for each x, the last one too, and is the condition u < p?" : all_alike
                    ? "likely: one number is drawn for a whole row or column: draw one for each element"
                    : fabs(part - (1 - p)) <= near
                    ? "likely: p is used as the probability of keeping a number, not of dropping it"
                    : "is one u drawn for each x, uniformly from [0, 1), and compared with p itself?");
}

/* zeros: half of x are 0, and so is y there; but dx is 0 only where x was dropped. */
static void judged(const char *part, gra_mode mode, double p, bool gradient, bool zeros)
{
    double *x = judge_draw(131, SIZE, -2, 2), *dy = judge_draw(136, SIZE, -2, 2), kept[SIZE];
    const double factor = mode == GRA_TRAIN ? 1 / (1 - p) : 1;
    gra_rng rng;
    int none = 0;
    gra_manual_seed(&rng, 13);
    const gra_rng before = rng;
    judge_part("%s", part);
    for (int i = 0; i < SIZE && zeros; i += 2)
        x[i] = 0;
    const struct trial k = run(mode, mode == GRA_EVAL ? NULL : &rng, x, gradient ? dy : NULL, p);
    const double *y = k.y->data;
    if (mode == GRA_TRAIN && p > 0 && !memcmp(y, x, SIZE * sizeof *x))
        judge_wrong("y is x\nlikely: nothing is dropped, as if gra_tape_mode(y->tape) were not GRA_TRAIN");
    scaled("y", y, x, mode == GRA_TRAIN ? y : x, p, factor);
    if (mode == GRA_TRAIN && !zeros)
        mask(y, p);
    judge_made_by(k.y, "my_dropout");
    for (int i = 0; i < SIZE && gradient; i++) {
        kept[i] = mode != GRA_TRAIN ? 1 : x[i] == 0 ? k.dx[i] : y[i];
        none += x[i] == 0 && k.dx[i] == 0;
    }
    if (gradient)
        scaled("dx", k.dx, dy, kept, p, factor);
    if (mode != GRA_TRAIN && (rng.at != before.at || memcmp(rng.state, before.state, sizeof before.state)))
        judge_wrong("numbers were drawn from the generator: draw only in GRA_TRAIN");
    const double share = (double)none / (SIZE / 2);
    if (zeros && fabs(share - p) > 5 * sqrt(p * (1 - p) / (SIZE / 2)))
        judge_wrong("where x is 0, %.0f %% of dx are 0: expected about %g %%\nlikely: a number counts "
                    "as dropped if y is 0, but y is 0 where x is 0 too: save the mask", 100 * share, 100 * p);
}

static void generator(void)
{
    const double *x = judge_draw(132, SIZE, -2, -0.5);
    gra_rng rng;
    struct trial of[3];
    judge_part("the generator");
    for (int k = 2; k >= 0; k--) {
        gra_manual_seed(&rng, k < 2 ? 13 : 14);
        of[k] = run(GRA_TRAIN, &rng, x, NULL, 0.5);
    }
    const gra_tensor *next = dropout(of[0].t, of[0].in, 0.5);
    if (!memcmp(of[0].y->data, judge_tensor(of[0].t, "y", next, GRA_SHAPE(ROWS, COLS)), SIZE * sizeof *x))
        judge_wrong("called twice, it drops the same numbers both times\ndraw from *gra_tape_rng(y->tape) "
                    "itself, which advances, not from a copy, nor from a generator that is seeded anew");
    for (int k = 1; k < 3; k++)
        if (!memcmp(of[0].y->data, of[k].y->data, SIZE * sizeof *x) != (k == 1))
            judge_wrong("with %s seed of the tape's generator, %s numbers are dropped\ndraw from "
                        "gra_tape_rng(y->tape), and from nothing else", k == 1 ? "the same" : "a different",
                        k == 1 ? "different" : "the same");
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
    judged("training with p = 0.25", GRA_TRAIN, 0.25, false, false);
    judged("training with p = 0.8", GRA_TRAIN, 0.8, false, false);
    judged("training with p = 0", GRA_TRAIN, 0, false, false);
    generator();
    judged("GRA_GRAD: nothing is dropped", GRA_GRAD, 0.25, true, false);
    judged("GRA_EVAL: nothing is dropped, and there is no generator", GRA_EVAL, 0.25, false, false);
    judged("gradient", GRA_TRAIN, 0.25, true, false);
    judged("gradient where x is 0", GRA_TRAIN, 0.25, true, true);
    judge_part("the gradient check");
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(4, 5) };
    judge_gradients(GRA_TRAIN, &rng, NULL, 1, &x, f, NULL);
}
