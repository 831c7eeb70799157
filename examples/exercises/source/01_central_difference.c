/* 01 central_difference: the slope of a function, measured.
 *
 * How fast does f grow at x? Take a small step to each side and compare:
 *
 *     f'(x) is nearly (f(x + h) - f(x - h)) / (2 h)
 *
 * This needs no rule of differentiation, so it can check a gradient that was derived by rules. Many
 * gradients in later exercises are checked this way.
 *
 * Write three functions; the last needs pencil and paper:
 *   central_difference  the formula above;
 *   numeric_gradient    for a function of n numbers: g[i] is the central difference of f when only x[i]
 *                       moves. You may change x on the way, but afterwards it must hold the same numbers as
 *                       before, to the last bit;
 *   best_step           how small should h be? Two errors add up. The first is the remainder of the Taylor
 *                       series, h^2/6 |f'''(x)|: it shrinks with h. The second is rounding: the computer
 *                       keeps about 16 digits of f, an error of e |f(x)| with e = DBL_EPSILON (in <float.h>),
 *                       which is divided by h and so grows as h shrinks:
 *
 *                           error(h) = h^2/6 |f'''(x)| + e |f(x)| / h
 *
 *                       Return the h > 0 for which error(h) is smallest, given f = f(x) and f3 = f'''(x),
 *                       which are not 0 but may be negative. Set the derivative of error(h) to 0: the
 *                       derivative of h^2/6 is h/3, and that of 1/h is -1/h^2.
 */
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
//| (void)f, (void)x, (void)h;
//| return 0;                                           /* TO DO */
    return (f(x + h) - f(x - h)) / (2 * h);
}

void numeric_gradient(double (*f)(const double *x, int n), double *x, int n, double h, double *g)
{
//| (void)f, (void)x, (void)n, (void)h, (void)g;        /* TO DO */
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
//| (void)f, (void)f3;
//| return 0;                                           /* TO DO */
    return cbrt(3 * DBL_EPSILON * fabs(f) / fabs(f3));
}
