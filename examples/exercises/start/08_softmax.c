/* 08 softmax: from scores to probabilities.
 *
 * A model ends in scores, one for each token that may come next, and attention makes scores too. Softmax turns n
 * scores x into n weights y that are positive and sum to 1:
 *
 *     y_i = e^x_i / (e^x_0 + ... + e^x_(n-1))
 *
 * Scores of 1e4 do come up, and e^10000 is infinite. The same number may be subtracted from all scores without a
 * change of y (why?); subtract one that makes every e^x finite, and the sum at least 1.
 *
 * Its gradient: given dy_i = dloss/dy_i, find dx. Every y_i depends on every x_j, since all share the sum:
 *
 *     dy_i/dx_j = y_i ([i = j] - y_j)         so that         dx_j = sum over i of dy_i y_i ([i = j] - y_j)
 *
 * which on paper becomes one sum that all j share, and one term each. Write both functions; x, y, dy and dx have n
 * numbers. Accumulate the gradient (dx[j] += ...): x may feed other functions as well.
 */
#include "exercises.h"

void softmax(const double *x, double *y, int n)
{
    (void)x, (void)y, (void)n;                          /* TO DO */
}

void softmax_backward(const double *y, const double *dy, double *dx, int n)
{
    (void)y, (void)dy, (void)dx, (void)n;               /* TO DO */
}
