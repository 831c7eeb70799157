/* 21 momentum: a descent that remembers where it was going.
 *
 * Plain gradient descent, p -= lr g, zigzags in a narrow valley: the slope across it is steep and changes
 * its sign with each step, the slope along it is gentle. Momentum adds up the gradients, each older one
 * counting less: what points hither and thither cancels, what points the same way again and again grows, up
 * to 1 / (1 - momentum) times.
 *
 * For each parameter p with its gradient g there is a velocity v, which begins as 0. PyTorch's
 * torch.optim.SGD does
 *
 *     v = momentum v + g
 *     p = p - lr v                      with the new v
 *
 * (Sutskever et al. 2013 multiply g by lr, and subtract v as it is: the same as long as lr stays the same.)
 * Write one step of it. p, g and v have n numbers; v is kept by the caller between the steps, so what you
 * leave in it is what you find in the next.
 */
#include "exercises.h"

void momentum_step(double *p, const double *g, double *v, int n, double lr, double momentum)
{
    (void)p, (void)g, (void)v, (void)n, (void)lr, (void)momentum;       /* TO DO */
}
