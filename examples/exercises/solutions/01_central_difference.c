/* 01 central_difference, solved.
 *
 * f(x + h) = f + h f' + h^2/2 f'' + h^3/6 f''' + ..., and with -h the even terms are the same: the difference
 * is 2h f' + h^3/3 f''' + ..., so that only h^2/6 f''' is left after the division. A one-sided
 * (f(x + h) - f(x)) / h keeps h/2 f'', which for h = 1e-5 is some hundred thousand times as large.
 *
 * In numeric_gradient x[i] is saved: (x + h) - 2h + h is not always x, since each sum is rounded.
 *
 * The best step: d(error)/dh = h/3 |f'''| - e |f| / h^2 = 0, so h^3 = 3 e |f| / |f'''|. For values around 1
 * that is about 1e-5, and the error there is some 1e-10: ten of sixteen digits can be trusted. A check that
 * asks for more would reject correct gradients.
 */
#include "exercises.h"
#include <float.h>
#include <math.h>

double central_difference(double (*f)(double x), double x, double h)
{
    return (f(x + h) - f(x - h)) / (2 * h);
}

void numeric_gradient(double (*f)(const double *x, int n), double *x, int n, double h, double *g)
{
    for (int i = 0; i < n; i++) {
        const double before = x[i];
        x[i] = before + h;
        const double above = f(x, n);
        x[i] = before - h;
        const double below = f(x, n);
        x[i] = before;
        g[i] = (above - below) / (2 * h);
    }
}

double best_step(double f, double f3)
{
    return cbrt(3 * DBL_EPSILON * fabs(f) / fabs(f3));
}
