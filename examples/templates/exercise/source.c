/* NUMBER NAME: the square of each number.
 *
 * NAME: this text is still the template's: write it. Its first line is the title, under which the exercise is
 * listed. Then come what to write and why, and the formula:
 *
 *     y_i = x_i^2
 *
 * The gradient: given dy_i = dloss/dy_i, find dx_i = dloss/dx_i. Accumulate it (dx[i] += ...): x may feed
 * other functions as well.
 */
/* NUMBER NAME, solved.
 *
 * NAME: the reasoning is still the template's: write it. x_i is a factor of y_i twice, so y_i grows with it
 * by 2 x_i, and by the chain rule dx_i = dy_i 2 x_i.
 */
#include "exercises.h"

void NAME(const double *x, double *y, int n)
{
//| (void)x, (void)y, (void)n;                          /* TO DO */
    for (int i = 0; i < n; i++)
        y[i] = x[i] * x[i];
}

void NAME_backward(const double *x, const double *dy, double *dx, int n)
{
//| (void)x, (void)dy, (void)dx, (void)n;               /* TO DO */
    for (int i = 0; i < n; i++)
        dx[i] += dy[i] * 2 * x[i];
}
