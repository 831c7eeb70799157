/* 23 clipping: one bad batch must not undo an hour of training.
 *
 * Now and then a batch gives a gradient a hundred times as long as usual, and one step with it throws the
 * parameters far from where they were. Clipping makes this gradient shorter and keeps its direction. The
 * gradients of all parameters count as one long vector, whose norm is
 *
 *     norm = sqrt(sum of g^2 over all elements of the gradients of all parameters)
 *
 * If it is larger than max_norm, each element of each gradient is multiplied by max_norm / norm, so that the
 * norm becomes max_norm; otherwise nothing changes. (Pascanu, Mikolov, Bengio 2013;
 * torch.nn.utils.clip_grad_norm_. PyTorch divides by the norm plus 1e-6, and you may do so too.)
 *
 * There are `count` parameters; the gradient of parameter k is g[k], of size[k] numbers. Return the norm
 * before clipping, which is worth watching in training.
 */
/* 23 clipping, solved.
 *
 * Two passes: the norm is known only when the last element has been seen, and the factor must be the same for
 * all. If each parameter were clipped by its own norm, long gradients would be cut and short ones not, and
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
//| (void)g, (void)size, (void)count, (void)max_norm;                   /* TO DO */
//| return 0;
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
