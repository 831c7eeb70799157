/* 06: an exercise. The op below has a wrong backward: one term is missing. Find it.
 *
 *     make && build/examples/06_find_the_bug
 *
 * `standardize` gives each row of n values the mean 0 and the variance 1, as LayerNorm does before
 * its weight and bias. Over a row:
 *
 *     y_i = (x_i - m) / s,   m = mean of x,   s = sqrt(mean of (x_i - m)^2 + eps)
 *
 * Its forward is right. What to do:
 *
 *   1. Run it and read the report: which tensor, which element, its analytic gradient (of
 *      backward) and its numeric one (of differences of the loss). Does the sign agree? Is one a
 *      multiple of the other? Do the elements of a row have something in common?
 *   2. On paper: x_i reaches the loss by three paths, since y_i needs x_i itself, and every y_j
 *      of the row needs m and s, which need x_i. Each path gives a term. Show that
 *      ds/dx_i = y_i / n, and find dm/dx_i.
 *   3. In the code: which path does the backward not take? Mend it (one line, perhaps two), and
 *      run again until it says solved. One way is in solutions/06_find_the_bug.c.
 *   4. When it works, break it in other ways (a sign, a factor, `=` instead of `+=`) and see
 *      what the report says. Here x feeds one op alone, so `=` would do no harm: how can the check
 *      see it all the same? core/check/check.c tells, at its top.
 */
#include "../core/op.h"
#include <tgmath.h>

static const real eps = (real)1e-5;

/* Backward needs 1/s of each row, so forward saves it. */
static size_t saved(const gra_tensor *y)
{
    return y->size / (size_t)gra_dim(y, -1);
}

static void forward(gra_tensor *y)
{
    const size_t n = (size_t)gra_dim(y, -1), rows = y->size / n;
    for (size_t r = 0; r < rows; r++) {
        const real *x = y->in[0]->data + r * n;
        real mean = 0, variance = 0;
        for (size_t i = 0; i < n; i++)
            mean += x[i] / (real)n;
        for (size_t i = 0; i < n; i++)
            variance += (x[i] - mean) * (x[i] - mean) / (real)n;
        y->saved[r] = 1 / sqrt(variance + eps);
        for (size_t i = 0; i < n; i++)
            y->data[r * n + i] = (x[i] - mean) * y->saved[r];
    }
}

static void backward(gra_tensor *y)
{
    const size_t n = (size_t)gra_dim(y, -1), rows = y->size / n;
    for (size_t r = 0; r < rows; r++) {
        const real *v = y->data + r * n, *dy = y->grad + r * n;
        real *dx = y->in[0]->grad + r * n;
        real dot = 0;                                                       /* mean of dy y */
        for (size_t i = 0; i < n; i++)
            dot += dy[i] * v[i] / (real)n;
        for (size_t i = 0; i < n; i++)
            dx[i] += (dy[i] - v[i] * dot) * y->saved[r];
    }
}

static gra_tensor *standardize(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "standardize", .saved = saved, .forward = forward,
                               .backward = backward };
    if (GRA_REFUSES(t, "standardize", x))
        return gra_empty(t);
    if (gra_dim(x, -1) < 1)
        return gra_fail(t, "standardize: x is %s, but rows of values are wanted", GRA_SHAPE_OF(x));
    return gra_run(gra_result_like(t, &op, x));
}

/* ---- the check: nothing to mend from here on ------------------------------------------------- */

static gra_tensor *checked(gra_tape *t, gra_tensor **in, void *arg)
{
    (void)arg;
    return standardize(t, in[0]);
}

int main(void)
{
    const gra_check_in x = { .name = "x", .shape = GRA_SHAPE(3, 5) };
    gra_check_report report;
    gra_tape *t = gra_open(1);
    int wrong = gra_check(t, GRA_GRAD, NULL, NULL, 1, &x, checked, NULL, 1e-6, &report);
    gra_close(t);
    printf("%s\n\n", report.text);
    puts(wrong ? "not solved yet: mend backward()" : "solved: every gradient is right");
    return wrong ? 1 : 0;
}
