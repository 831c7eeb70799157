/* 22 adamw, solved.
 *
 * After the first step m = (1 - beta1) g and 1 - beta1^1 = 1 - beta1, so mm = g, and likewise vv = g^2: the
 * first step is lr g / |g|, that is, lr in the direction of the sign, whatever the size of g. That is why
 * Adam's lr says how far p moves, not how steep the loss is. After t steps with the same g, m = (1 - beta1^t)
 * g: corrected, it is g again.
 *
 * If the decay were added to g (L2), it would be divided by sqrt(vv) too: parameters with large gradients
 * would hardly decay. Kept separate, all decay at the same rate. Both moves are computed from the old p,
 * before it changes.
 */
#include "exercises.h"
#include <math.h>

void adamw_step(double *p, const double *g, double *m, double *v, int n, int t, const struct adamw *how)
{
    const double unbias1 = 1 - pow(how->beta1, t), unbias2 = 1 - pow(how->beta2, t);
    for (int i = 0; i < n; i++) {
        m[i] = how->beta1 * m[i] + (1 - how->beta1) * g[i];
        v[i] = how->beta2 * v[i] + (1 - how->beta2) * g[i] * g[i];
        const double mm = m[i] / unbias1, vv = v[i] / unbias2;
        p[i] -= how->lr * (mm / (sqrt(vv) + how->eps) + how->weight_decay * p[i]);
    }
}
