/* 23 clipping, solved.
 *
 * Two passes: the norm is known only when the last element has been seen, and the factor must be the same for
 * all. If each parameter were clipped by its own norm, the long ones would be cut and the short ones not, and
 * the step would not go in the direction that lowers the loss. Clipping element by element changes the
 * direction even more.
 *
 * A factor above 1 would make short gradients longer: near the minimum, where gradients shrink, the steps
 * must shrink too. And a norm of 0 is not larger than max_norm, so nothing is ever divided by 0.
 */
#include "exercises.h"
#include <math.h>

double clip_norm(double *const *g, const int *size, int count, double max_norm)
{
    double sum = 0;
    for (int k = 0; k < count; k++)
        for (int i = 0; i < size[k]; i++)
            sum += g[k][i] * g[k][i];
    const double norm = sqrt(sum);
    if (norm > max_norm)
        for (int k = 0; k < count; k++)
            for (int i = 0; i < size[k]; i++)
                g[k][i] *= max_norm / norm;
    return norm;
}
