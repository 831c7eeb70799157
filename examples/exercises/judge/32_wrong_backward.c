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

static void gradients(const char *part, gra_shape shape, const double *data)
{
    const gra_check_in x = { .name = "x", .shape = shape, .data = data };
    judge_part("%s", part);
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &x, f, NULL);
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
