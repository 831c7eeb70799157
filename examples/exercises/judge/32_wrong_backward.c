/* 32 wrong_backward: the judge. */
#include "answer.h"
#include <math.h>

MAKES(f, standardize(t, in[0]))

static const struct judge_answer answer = {
    .sizes = { "k rows", "i n" }, .telling = { 3, 4 }, .f = f, .op = "standardize",
    .in = { "x[k,i]" }, .out = { "y[k,i]" }, .lines =
        "eps = 1e-5\n"
        "m[k] = mean(i, x[k,i])                              # the mean\n"
        "var[k] = mean(i, (x[k,i] - m[k])^2)                 # the variance\n"
        "r[k] = 1 / sqrt(var[k] + eps)                       # 1 / s\n"
        "y[k,i] = (x[k,i] - m[k]) * r[k]\n\n"
        "mean[k] = mean(i, dy[k,i])                          # the mean of dy\n"
        "dot[k] = mean(i, dy[k,i] * y[k,i])                  # the mean of dy y\n"
        "dx[k,i] = (dy[k,i] - mean[k] - y[k,i] * dot[k]) * r[k]\n", .special = {
        { "the mean of dy is subtracted outside the brackets: divide it by s too",
          "dx[k,i] = (dy[k,i] - y[k,i] * dot[k]) * r[k] - mean[k]" },
        { "only dy_i / n is subtracted: subtract the mean of all dy of the row",
          "dx[k,i] = (dy[k,i] - dy[k,i] / n - y[k,i] * dot[k]) * r[k]" } } };

static void checked(gra_shape shape)
{
    judge_gradients(GRA_GRAD, NULL, NULL, 1, &(gra_check_in){ .name = "x", .shape = shape }, f, NULL);
}

/* The missing term is what the exercise asks for: gra_check's report shows it, the judge does not name it. */
static void as_given(void)
{
    enum { ROWS = 3, N = 5 };
    const double *x = judge_draw(1, ROWS * N, -2, 3), *dy = judge_draw(2, ROWS * N, -1, 2);
    gra_tape *t = judge_tape(GRA_GRAD, NULL);
    gra_tensor *in = gra_input(t, x, GRA_SHAPE(ROWS, N)), *y = standardize(t, in);
    judge_backward(t, y, dy, 1, &in, 0);
    for (int k = 0; k < ROWS * N; k += N) {
        const double *v = y->data + k, r = (v[1] - v[0]) / (x[k + 1] - x[k]);
        double dot = 0;
        for (int i = 0; i < N; i++)
            dot += dy[k + i] * v[i] / N;
        for (int i = 0; i < N; i++)
            if (fabs((dy[k + i] - v[i] * dot) * r - in->grad[k + i]) > 1e-10)
                return;
    }
    checked(GRA_SHAPE(ROWS, N));
}

void judge_exercise(void)
{
    CASES(&answer,
        CASE("the given forward, three rows of five", { 3, 5 }, .tolerance = 1e-10),
        CASE("the given forward, rows that vary by little", { 2, 4 }, .low = 0.5, .high = 0.51,
             .tolerance = 1e-10));
    judge_part("the gradient check of three rows of five");
    as_given();
    CASES(&answer,
        CASE("gradients of three rows of five", { 3, 5 }, .gradients = true),
        CASE("gradients of rows that vary by little", { 2, 4 }, .low = 0.5, .high = 0.51, .gradients = true));
    judge_part("the gradient check of a batch");
    checked(GRA_SHAPE(2, 2, 3));
}
