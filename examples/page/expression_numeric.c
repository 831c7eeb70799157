/* expression_numeric: central differences n(h) = (loss(x + h) - loss(x - h)) / 2h, with h, 4h, 16h ...
 *
 * n(h) is off by a term in h^2, which two steps together eliminate (Richardson's extrapolation), and by the
 * rounding of the loss, some 1e-16 |loss| / h. The step chosen is the one whose result differs least from the
 * previous step's result: a large one for x^2, a small one for log(x) at 1e-8. A large step must agree with
 * smaller ones as far as these are exact. */
#include "expression_numeric.h"
#include <float.h>
#include <math.h>

static double loss_at(expression_loss *loss, void *arg, gra_real *x, double value)
{
    const gra_real was = *x;
    *x = (gra_real)value;
    const double y = loss(arg);
    *x = was;
    return y;
}

/* A kink is where the slopes to the left and to the right differ by as much after h is reduced to h / 64;
 * where the loss is smooth, their difference is then 64 times smaller. */
static void find_kink(expression_numeric *n, expression_loss *loss, void *arg, gra_real *x, double scale)
{
    const double y = loss(arg);
    double jump[2];
    for (int i = 0; i < 2; i++) {
        const double h = scale * (i ? 1e-4 / 64 : 1e-4);
        n->left = (y - loss_at(loss, arg, x, (double)*x - h)) / h;
        n->right = (loss_at(loss, arg, x, (double)*x + h) - y) / h;
        jump[i] = fabs(n->right - n->left);
    }
    n->kink = jump[1] > jump[0] / 2 && jump[1] < 2 * jump[0] &&
              jump[1] > 1e-6 * (fabs(n->left) + fabs(n->right)) + 1e-9 * fabs(y);
}

expression_numeric expression_differentiate(expression_loss *loss, void *arg, gra_real *x)
{
    const double v = (double)*x, size = fabs(v), scale = size > 0 ? fmax(1e-9, fmin(size, 1)) : 1;
    expression_numeric n = { .value = (double)NAN, .unsure = (double)INFINITY };
    double slope = (double)NAN, better = (double)NAN;
    for (double h = 1e-6 * scale; h < fmax(size, 1) / 8; h *= 4) {
        const double up = v + h, down = v - h, y = loss_at(loss, arg, x, up), z = loss_at(loss, arg, x, down);
        const double before = slope, better_before = better;
        slope = (y - z) / (up - down);
        better = (16 * before - slope) / 15;
        const double doubt = 10 * (fabs(better - better_before) + DBL_EPSILON * (fabs(y) + fabs(z)) / h);
        if (doubt < n.unsure && !(fabs(better - n.value) > n.unsure)) {         /* doubt may be NaN */
            n.value = better;
            n.unsure = doubt;
        }
    }
    find_kink(&n, loss, arg, x, scale);
    return n;
}
