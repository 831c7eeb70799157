/* 22 adamw: a learning rate for each parameter.
 *
 * Gradients of different parameters differ by orders of magnitude, and one lr must serve them all. Adam
 * divides each gradient by its usual size. It keeps two running averages for each parameter, both 0 before
 * the first step: m of the gradient, and v of its square. In step t = 1, 2, ... (Kingma & Ba 2015):
 *
 *     m = beta1 m + (1 - beta1) g
 *     v = beta2 v + (1 - beta2) g^2
 *     p = p - lr mm / (sqrt(vv) + eps),        mm = m / (1 - beta1^t),   vv = v / (1 - beta2^t)
 *
 * mm and vv correct a bias: averages that start at 0 are too small at first. (What is mm after the first
 * step?) m and v themselves are kept uncorrected. eps prevents 0/0.
 *
 * The W (Loshchilov & Hutter 2019) is for weight decay: each step also subtracts lr weight_decay times the
 * *old* p. This is separate from the gradient: it does not enter m or v, so it is not divided by anything.
 *
 * Write one step. p, g, m and v have n numbers; t is the number of this step, 1 for the first.
 */
#include "exercises.h"
#include <math.h>

void adamw_step(double *p, const double *g, double *m, double *v, int n, int t, const struct adamw *how)
{
    (void)p, (void)g, (void)m, (void)v, (void)n, (void)t, (void)how;    /* TO DO: how->lr, how->beta1, ... */
}
