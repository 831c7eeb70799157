/* 21 momentum: a descent that remembers where it was going.
 *
 * Plain gradient descent, p -= lr g, zigzags in a narrow valley: the slope across it is steep and changes
 * sign with each step, the slope along it is gentle. Momentum adds up the gradients, older ones with less
 * weight: parts that point back and forth cancel, and parts that keep pointing the same way grow, up to
 * 1 / (1 - momentum) times.
 *
 * For each parameter p with gradient g there is a velocity v, which starts at 0. PyTorch's torch.optim.SGD
 * computes
 *
 *     v = momentum v + g
 *     p = p - lr v                      with the new v
 *
 * (Sutskever et al. 2013 multiply g by lr, and subtract v as it is: this is the same as long as lr is
 * constant.) Write one step of it. p, g and v have n numbers; the caller keeps v from one step to the next.
 */
/* 21 momentum, solved.
 *
 * v holds the sum of all gradients so far, in which the gradient of k steps ago is multiplied by momentum^k.
 * If g stays the same, v tends to g (1 + momentum + momentum^2 + ...) = g / (1 - momentum): with momentum 0.9
 * the step is ten times as large as without momentum.
 *
 * v is written before p, since p moves by the new velocity: so the very first step, where the old v is 0, is
 * a step of plain descent. lr stays out of v: when a schedule changes lr, the new rate applies to the whole
 * sum in v.
 */
#include "exercises.h"

void momentum_step(double *p, const double *g, double *v, int n, double lr, double momentum)
{
//| (void)p, (void)g, (void)v, (void)n, (void)lr, (void)momentum;       /* TO DO */
    for (int i = 0; i < n; i++) {
        v[i] = momentum * v[i] + g[i];
        p[i] -= lr * v[i];
    }
}
