/* 11 gelu: a relu without the kink.
 *
 * GELU (Hendrycks & Gimpel 2016), the function between the two layers of GPT's feed-forward part, multiplies
 * x by the probability that a draw from the normal distribution N(0, 1) is below x:
 *
 *     y = x P(x)          P(x) = (1 + erf(x / sqrt(2))) / 2
 *
 * Large x pass unchanged, very negative ones become 0, and between the two it is smooth. erf is in <math.h>.
 * (GPT-2 used an approximation by tanh, which differs in the fourth digit; this is the exact one.)
 *
 * The derivative of P is the density of N(0, 1),
 *
 *     p(x) = e^(-x^2 / 2) / sqrt(2 pi)
 *
 * and y is a product of two functions of x. Write both functions of the op: forward fills y->data; backward
 * adds to each dx_i the gradient dy_i, which is in y->grad, times the derivative of y at x_i.
 */
/* 11 gelu, solved.
 *
 * The product rule: (x P)' = P + x P' = P + x p. For large x it tends to 1, for very negative x to 0, as for
 * relu; but left of x = -0.75 the function rises to the left, so its derivative is negative there: a unit
 * that is somewhat off still gets a gradient, where relu gives none.
 */
#include "exercises.h"

static const double pi = 3.14159265358979323846;

//{
static double below(double x)                           /* P(x) */
{
    return 0.5 * (1 + erf(x / sqrt(2)));
}

//}
static void forward(gra_tensor *y)
{
    const double *x = y->in[0]->data;
    for (size_t i = 0; i < y->size; i++)
//|     (void)x, (void)pi;                              /* TO DO: y->data[i] = ... */
        y->data[i] = x[i] * below(x[i]);
}

static void backward(gra_tensor *y)
{
    const double *x = y->in[0]->data, *dy = y->grad;
    double *dx = y->in[0]->grad;
//| for (size_t i = 0; i < y->size; i++)
//|     (void)x, (void)dy, (void)dx;                    /* TO DO */
    for (size_t i = 0; i < y->size; i++) {
        const double density = exp(-x[i] * x[i] / 2) / sqrt(2 * pi);
        dx[i] += dy[i] * (below(x[i]) + x[i] * density);
    }
}

/* Records the op: leave this as it is. */
gra_tensor *gelu(gra_tape *t, gra_tensor *x)
{
    static const gra_op op = { .name = "my_gelu", .forward = forward, .backward = backward };
    return gra_run(gra_result_like(t, &op, x));
}
