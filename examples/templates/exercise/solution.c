/* NUMBER NAME, solved.
 *
 * NAME: the reasoning is still the template's: write it. x_i is a factor of y_i twice, so y_i grows with it
 * by 2 x_i, and by the chain rule dx_i = dy_i 2 x_i.
 */
#include "exercises.h"

void NAME(const double *x, double *y, int n)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}

void NAME_backward(const double *x, const double *dy, double *dx, int n)
{
    for (int i = 0; i < n; i++)
        dx[i] += dy[i] * 2 * x[i];
}
