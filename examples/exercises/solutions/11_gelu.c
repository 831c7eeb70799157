/* 11 gelu, solved.
 *
 * The product rule: (x P)' = P + x P' = P + x p. For large x it tends to 1, for very negative x to 0, as for
 * relu; but left of x = -0.75 the function rises to the left, so its derivative is negative there: a unit
 * that is somewhat off still gets a gradient, where relu gives none.
 */
#include "exercises.h"

static const double pi = 3.14159265358979323846;

static double below(double x)                           /* P(x) */
{
    return 0.5 * (1 + erf(x / sqrt(2)));
}

static void forward(gra_tensor *y)
{
    const double *x = y->in[0]->data;
    for (size_t i = 0; i < y->size; i++)
        y->data[i] = x[i] * below(x[i]);
}

static void backward(gra_tensor *y)
{
    const double *x = y->in[0]->data, *dy = y->grad;
    double *dx = y->in[0]->grad;
    for (size_t i = 0; i < y->size; i++) {
        const double density = exp(-x[i] * x[i] / 2) / sqrt(2 * pi);
        dx[i] += dy[i] * (below(x[i]) + x[i] * density);
    }
}

gra_tensor *gelu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "my_gelu", .forward = forward, .backward = backward };
    return gra_run(gra_result_like(t, &op, x));
}
