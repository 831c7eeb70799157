/* 08 softmax, solved.
 *
 * e^(x_i - m) / sum_j e^(x_j - m): a factor of e^m cancels in the fraction, so y is the same for any m. With
 * the largest x as m every exponent is 0 or less, so nothing overflows, and the largest itself adds e^0 = 1
 * to the sum, so that nothing is divided by 0.
 *
 * For the gradient, split the sum of the text into the two terms of the bracket:
 *
 *     dx_j = dy_j y_j - y_j sum over i of dy_i y_i = y_j (dy_j - dot),    dot = sum over i of dy_i y_i
 *
 * Subtracting dot makes the sum of dx 0: adding the same number to all x changes nothing, so the gradient has
 * no such part.
 */
#include "exercises.h"
#include <math.h>

void softmax(const double *x, double *y, int n)
{
    double top = x[0], sum = 0;
    for (int i = 1; i < n; i++)
        top = fmax(top, x[i]);
    for (int i = 0; i < n; i++) {
        y[i] = exp(x[i] - top);
        sum += y[i];
    }
    for (int i = 0; i < n; i++)
        y[i] /= sum;
}

void softmax_backward(const double *y, const double *dy, double *dx, int n)
{
    double dot = 0;
    for (int i = 0; i < n; i++)
        dot += dy[i] * y[i];
    for (int i = 0; i < n; i++)
        dx[i] += y[i] * (dy[i] - dot);
}
