/* 08 softmax: from scores to probabilities.
 *
 * A model computes a score for each token that may come next, and attention computes scores too. Softmax
 * turns n scores x into n weights y that are positive and sum to 1:
 *
 *     y_i = e^x_i / (e^x_0 + ... + e^x_(n-1))
 *
 * Scores of 1e4 do occur, and e^10000 overflows to infinity. Subtracting the same number from all scores does
 * not change y (why?): subtract one that keeps every e^x finite, and the sum at least 1.
 *
 * The gradient: given dy_i = dloss/dy_i, find dx. Every y_i depends on every x_j, since all share the sum;
 * with [i = j] for 1 if i is j, else 0, the slope of y_i with respect to x_j is y_i ([i = j] - y_j), so that
 *
 *     dx_j = sum over i of dy_i y_i ([i = j] - y_j)
 *
 * On paper this becomes one sum that all j share, and one more term for each j. Write both functions on plain
 * arrays of n numbers, not as an op: attention (exercises 15 and 18) does the same for each row of its
 * scores. Accumulate the gradient (dx[j] += ...): x may feed other functions as well.
 */
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
 * no part in that direction.
 */
#include "exercises.h"
//{
#include <math.h>
//}

void softmax(const double *x, double *y, int n)
{
//| (void)x, (void)y, (void)n;                          /* TO DO */
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
//| (void)y, (void)dy, (void)dx, (void)n;               /* TO DO */
    double dot = 0;
    for (int i = 0; i < n; i++)
        dot += dy[i] * y[i];
    for (int i = 0; i < n; i++)
        dx[i] += y[i] * (dy[i] - dot);
}
