/* 01 central_difference: the slope of a function, measured.
 *
 * How fast does f grow at x? Go a little to both sides and look:
 *
 *     f'(x) is nearly (f(x + h) - f(x - h)) / (2 h)
 *
 * This needs no rule of differentiation, so it can judge those who use one: whoever writes a gradient by
 * hand can compare it with this number. Every exercise after this one is checked so.
 *
 * How small should h be? Two errors add up. Taylor's series, cut off, leaves h^2/6 |f'''(x)|: better with a
 * smaller h. And the computer rounds f to about 16 digits, by e |f(x)| with e = DBL_EPSILON (of <float.h>);
 * that is divided by h, so it is worse with a smaller h:
 *
 *     error(h) = h^2/6 |f'''(x)| + e |f(x)| / h
 *
 * Write three functions:
 *   central_difference  the first formula above;
 *   best_step           the h > 0 for which error(h) is smallest, from f = f(x) and f3 = f'''(x), neither 0,
 *                       but maybe negative: set the derivative of error(h) by h to 0, on paper;
 *   numeric_gradient    of a function of n numbers: g[i] is the central difference of f when x[i] alone
 *                       moves and the others stay. You may change x on the way, but when you return it must
 *                       hold the same numbers as before, to the last bit.
 */
#include "exercises.h"
#include <float.h>
#include <math.h>

double central_difference(double (*f)(double x), double x, double h)
{
    (void)f, (void)x, (void)h;
    return 0;                                           /* TO DO */
}

double best_step(double f, double f3)
{
    (void)f, (void)f3;
    return 0;                                           /* TO DO */
}

void numeric_gradient(double (*f)(const double *x, int n), double *x, int n, double h, double *g)
{
    (void)f, (void)x, (void)n, (void)h, (void)g;        /* TO DO */
}
