/* 32 wrong_backward: the judge. */
#include "judge.h"

enum { MOST = 24 };
static const double eps = 1e-5;

static void forward(const char *part, const double *x, int rows, int n)
{
    double want[MOST];
    judge_part("%s", part);
    for (int r = 0; r < rows; r++) {
        double mean = 0, var = 0;
        for (int i = 0; i < n; i++)
            mean += x[r * n + i] / n;
        for (int i = 0; i < n; i++)
            var += (x[r * n + i] - mean) * (x[r * n + i] - mean) / n;
        for (int i = 0; i < n; i++)
            want[r * n + i] = (x[r * n + i] - mean) / sqrt(var + eps);
    }
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(rows, n)), *y = standardize(t, in);
    const double *got = judge_tensor(t, "y", y, GRA_SHAPE(rows, n));
    judge_made_by(y, "standardize");
    for (int i = 0; i < rows * n; i++)
        if (!(fabs(got[i] - want[i]) <= 1e-10))
            judge_wrong("y[%d, %d] is %.6g, wanted %.6g: the forward was right as it stood, leave it", i / n,
                        i % n, got[i], want[i]);
    judge_unchanged("x->data", in->data, x, in->size);
    gra_close(t);
}

static gra_tensor *f(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return standardize(t, in[0]);
}

/* Three terms make dx: of dy, of its mean, and of the mean of dy y. Says how often the last two came, if that is all
 * that is wrong and the exercise did not begin so; or which slip it is. */
static void say_terms(char *text, size_t room, int rows, int n, const double *x)
{
    enum { MEAN_UNSCALED, MEAN_BY_Y, ALL_ROWS, ROW_0, RUNNING, OF_X, LAST_OUT, SCALED_TWICE, NOT_SCALED, ALL };
    static const char *const says[ALL] = {
        "the mean of dy is subtracted outside the brackets: it is to be divided by s too",
        "the mean of dy came in times y: the slope of m by x_i has no y in it",
        "the mean of dy is taken over all rows: each row has one of its own",
        "each row takes the mean of dy of row 0: each has one of its own",
        "the mean of dy is subtracted before it is complete: it needs a loop of its own, before",
        "the mean of x is subtracted, where that of dy is wanted",
        "the last dy of a row is missing in the mean", "the mean of dy is divided by s twice", "the result is not divided by s" };
    const double *dy = judge_draw(324, MOST, -1, 2);
    double first[MOST], mean_term[MOST], dot_term[MOST], rest[MOST], m[ALL][MOST], all = 0, a, b;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(rows, n)), *y = standardize(t, in);
    judge_backward(t, y, dy, 1, &in, 0);
    for (int i = 0; i < rows * n; i++)
        all += dy[i] / (rows * n);
    for (int r = 0; r < rows; r++) {
        const double *v = y->data + r * n, *d = dy + r * n, s = (x[r * n + 1] - x[r * n]) / (v[1] - v[0]);
        double mean = 0, dot = 0, run = 0, mean_0 = 0, mean_x = 0;
        for (int i = 0; i < n; i++)
            mean += d[i] / n, dot += d[i] * v[i] / n, mean_0 += dy[i] / n, mean_x += x[r * n + i] / n;
        for (int i = 0, at = r * n; i < n; i++, at++) {
            run += d[i] / n;
            first[at] = d[i] / s;
            mean_term[at] = mean / s;
            dot_term[at] = v[i] * dot / s;
            rest[at] = first[at] - in->grad[at];
            const double without = (d[i] - v[i] * dot) / s;
            const double mean_of[ALL] = { mean * s, mean * v[i], all, mean_0, run, mean_x, mean - d[n - 1] / n, mean / s, 0 };
            for (int k = 0; k < ALL; k++)
                m[k][at] = without - mean_of[k] / s;
            m[NOT_SCALED][at] = (without - mean / s) * s;
        }
    }
    text[0] = 0;
    for (int k = 0; k < ALL && !text[0]; k++) {
        bool same = true;
        for (int i = 0; i < rows * n; i++)
            same = same && fabs(m[k][i] - in->grad[i]) <= 1e-9;
        if (same)
            snprintf(text, room, "\nit fits: %s", says[k]);
    }
    if (!text[0] && judge_combination(rest, mean_term, dot_term, (size_t)(rows * n), &a, &b) &&
        (fabs(a) > 1e-6 || fabs(b - 1) > 1e-6))
        snprintf(text, room, "\nin rows of %d the mean of dy is subtracted %.4g times, and y times the mean of dy y %.4g "
                 "times:\nonce each is right%s", n, a, b, fabs(fabs(a) - n) < 1e-6 || fabs(fabs(b) - n) < 1e-6 ?
                 " (a sum, not a mean?)" : a < 0 || b < 0 ? " (the sign?)" : "");
    gra_close(t);
}

static void gradients(const char *part, gra_shape shape, const double *data)
{
    const gra_check_in x = { .name = "x", .shape = shape, .data = data };
    judge_part("%s", part);
    gra_check_report report;
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    if (gra_check(t, &(gra_check_options){ .nin = 1, .in = &x, .f = f }, &report)) {
        char terms[300];
        say_terms(terms, sizeof terms, 3, 5, judge_draw(321, 15, -2, 3));
        judge_wrong("%s%s", report.text, terms);
    }
    gra_close(t);
}

void judge_exercise(void)
{
    forward("forward, three rows of five", judge_draw(321, 15, -2, 3), 3, 5);
    forward("forward, rows that vary by little", judge_draw(322, 8, 0.5, 0.51), 2, 4);
    gradients("the gradient check of three rows of five", GRA_SHAPE(3, 5), NULL);
    gradients("the gradient check of two rows of seven", GRA_SHAPE(2, 7), NULL);
    gradients("the gradient check of four rows of two", GRA_SHAPE(4, 2), NULL);
    gradients("the gradient check of a batch", GRA_SHAPE(2, 2, 3), NULL);
    const double *little = judge_draw(323, 8, 0.5, 0.51);
    gradients("the gradient check of rows that vary by little", GRA_SHAPE(2, 4), little);
}
