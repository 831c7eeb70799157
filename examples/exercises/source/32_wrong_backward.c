/* 32 wrong_backward: find the missing term.
 *
 * The op below has a wrong backward. `standardize` gives each row of n values the mean 0 and the variance 1,
 * as LayerNorm does before its weight and bias. Over a row:
 *
 *     y_i = (x_i - m) / s,   m = mean of x,   s = sqrt(mean of (x_i - m)^2 + eps)
 *
 * The forward is right. What to do:
 *
 *   1. Let the judge run it as it is, and read the gradient check's report: which tensor, which element, its
 *      analytic gradient (computed by backward) and its numeric one (differences of the loss, as in exercise
 *      01). Do the signs agree? Is one a multiple of the other? Do the elements of a row have something in
 *      common?
 *   2. On paper: x_i reaches the loss by three paths, since y_i depends on x_i itself, and every y_j of the
 *      row depends on m and s, which depend on x_i. Each path gives a term. Show that ds/dx_i = y_i / n, and
 *      find dm/dx_i.
 *   3. In the code: which path is missing in backward? Fix it, in one line or a few.
 *   4. When it works, break it in other ways (a sign, a factor, `=` instead of `+=`), and see what the report
 *      says. Here x feeds only one op, so `=` would do no harm: how does the check detect it all the same?
 *      The first comment in core/check/check.c explains.
 */
/* 32 wrong_backward, solved: the mean's term is missing.
 *
 * For one row of n values, y_i = (x_i - m) / s. When x_i changes a little, each y_j changes by
 *
 *     dy_j/dx_i = [i = j] / s  -  (dm/dx_i) / s  -  y_j (ds/dx_i) / s
 *     dm/dx_i = 1 / n,   ds/dx_i = y_i / n
 *
 * and the loss changes by the sum over j of dy_j times that, with dy_j for dloss/dy_j:
 *
 *     dx_i = (dy_i  -  mean of dy  -  y_i mean of (dy y)) / s
 *
 * The exercise omitted the mean of dy: hence the report's "term with the sum (or mean) over dimension 1 of
 * dy". Without it the formula is RMSNorm's, which subtracts no mean: an easy mistake to make.
 */
#include "exercises.h"

static const double eps = 1e-5;

/* Backward needs 1/s of each row, so forward saves it. */
static size_t saved(const gra_tensor *y)
{
    return y->size / (size_t)gra_dim(y, -1);
}

static void forward(gra_tensor *y)
{
    const size_t n = (size_t)gra_dim(y, -1), rows = y->size / n;
    for (size_t r = 0; r < rows; r++) {
        const double *x = y->in[0]->data + r * n;
        double mean = 0, variance = 0;
        for (size_t i = 0; i < n; i++)
            mean += x[i] / n;
        for (size_t i = 0; i < n; i++)
            variance += (x[i] - mean) * (x[i] - mean) / n;
        y->saved[r] = 1 / sqrt(variance + eps);
        for (size_t i = 0; i < n; i++)
            y->data[r * n + i] = (x[i] - mean) * y->saved[r];
    }
}

static void backward(gra_tensor *y)
{
    const size_t n = (size_t)gra_dim(y, -1), rows = y->size / n;
    for (size_t r = 0; r < rows; r++) {
        const double *v = y->data + r * n, *dy = y->grad + r * n;
        double *dx = y->in[0]->grad + r * n;
//|     double dot = 0;                                                       /* mean of dy y */
//|     for (size_t i = 0; i < n; i++)
//|         dot += dy[i] * v[i] / n;
//|     for (size_t i = 0; i < n; i++)
//|         dx[i] += (dy[i] - v[i] * dot) * y->saved[r];
//| }
        double dot = 0, mean = 0;                                             /* means of dy y and of dy */
        for (size_t i = 0; i < n; i++) {
            dot += dy[i] * v[i] / n;
            mean += dy[i] / n;
        }
        for (size_t i = 0; i < n; i++)
            dx[i] += (dy[i] - mean - v[i] * dot) * y->saved[r];
    }
}

gra_tensor *standardize(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "standardize", .saved = saved, .forward = forward,
                               .backward = backward };
    if (GRA_BAD_INPUTS(t, "standardize", x))
        return gra_empty(t);
    if (gra_dim(x, -1) < 1)
        return gra_fail(t, "standardize: got x %s, expected rows of one value or more", GRA_SHAPE_OF(x));
    return gra_run(gra_result_like(t, &op, x));
}
