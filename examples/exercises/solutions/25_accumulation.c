/* 25 accumulation, solved.
 *
 * A micro-batch of k rows gives their mean, 1/k times the sum of their losses; in L that sum has the factor
 * 1/n. So its loss is scaled by k/n before the backward, and by the chain rule its gradients are, too.
 * Dividing by the number of micro-batches is the same only if all have the same size; otherwise the rows of a
 * small last piece would count for more.
 *
 * The gradients are zeroed once, before the first micro-batch, so that those of all micro-batches add up.
 * gra_begin is inside the loop: it forgets the tape of the previous micro-batch, so memory is needed for only
 * one.
 */
#include "exercises.h"

double accumulate(gra_tape *t, gra_model *m, int n, int micro, mean_loss *loss, void *arg)
{
    double all = 0;
    gra_zero_grad(m);
    for (int from = 0; from < n; from += micro) {
        const int to = from + micro < n ? from + micro : n;
        gra_begin(t, GRA_GRAD, NULL);
        gra_tensor *part = gra_scale(t, loss(t, from, to, arg), (double)(to - from) / n);
        gra_backward(t, part);
        all += gra_item(part);
    }
    return all;
}
