/* 21 momentum, solved.
 *
 * v holds the sum of all gradients so far, that of k steps ago times momentum^k. If g stays the same, v tends
 * to g (1 + momentum + momentum^2 + ...) = g / (1 - momentum): with 0.9 the step is ten times as large as
 * without.
 *
 * v is written before p, since p moves by the new velocity: so the very first step, where the old v is 0, is
 * that of plain descent. lr stays out of v: when a schedule changes it, the new rate applies to all that v
 * has summed.
 */
#include "exercises.h"

void momentum_step(double *p, const double *g, double *v, int n, double lr, double momentum)
{
    for (int i = 0; i < n; i++) {
        v[i] = momentum * v[i] + g[i];
        p[i] -= lr * v[i];
    }
}
