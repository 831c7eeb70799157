/* 22 adamw: a learning rate for each parameter.
 *
 * Gradients of different parameters differ by orders of magnitude, and one lr must serve them all. Adam
 * divides each gradient by its usual size. Adam keeps two running averages for each parameter: m, of the
 * gradient, and v, of its square. Both are 0 before the first step. In step t = 1, 2, ... (Kingma & Ba 2015):
 *
 *     m = beta1 m + (1 - beta1) g
 *     v = beta2 v + (1 - beta2) g^2
 *     p = p - lr mm / (sqrt(vv) + eps),        mm = m / (1 - beta1^t),   vv = v / (1 - beta2^t)
 *
 * mm and vv correct a bias: averages that start at 0 are too small at first. (What is mm after the first
 * step?) m and v themselves are kept uncorrected. eps prevents 0/0.
 *
 * The W (Loshchilov & Hutter 2019) is for weight decay: each step also subtracts lr weight_decay times the
 * *old* p. This decay is separate from the gradient: it does not enter m or v, so it is not divided by
 * anything.
 *
 * Write one step. p, g, m and v have n numbers; t is the number of this step, 1 for the first.
 */
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
//| (void)p, (void)g, (void)m, (void)v, (void)n, (void)t, (void)how;    /* TO DO: how->lr, how->beta1, ... */
    const double unbias1 = 1 - pow(how->beta1, t), unbias2 = 1 - pow(how->beta2, t);
    for (int i = 0; i < n; i++) {
        m[i] = how->beta1 * m[i] + (1 - how->beta1) * g[i];
        v[i] = how->beta2 * v[i] + (1 - how->beta2) * g[i] * g[i];
        const double mm = m[i] / unbias1, vv = v[i] / unbias2;
        p[i] -= how->lr * (mm / (sqrt(vv) + how->eps) + how->weight_decay * p[i]);
    }
}
