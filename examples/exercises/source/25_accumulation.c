/* 25 accumulation: a large batch in small pieces.
 *
 * A large batch gives a steadier gradient than a small one, but its tape may not fit into memory. The
 * gradient of a sum is the sum of the gradients, and gra_backward adds to what the parameters' gradients
 * hold. So the batch can be cut into micro-batches. Each has its own forward and backward, and its tape is
 * forgotten before the next micro-batch begins. In the end the gradients must be those of *one* batch of all
 * n rows, whose loss is the mean over rows:
 *
 *     L = 1/n (l_0 + l_1 + ... + l_(n-1))
 *
 * You are given loss(t, from, to, arg): it computes a forward of rows `from` to `to - 1` on the tape t, and
 * returns their *mean* loss, a tensor of one value. Call it for at most `micro` rows at a time; if n is not a
 * multiple of micro, the last piece is smaller. Each micro-batch is a step of the tape: gra_begin(t,
 * GRA_GRAD, NULL).
 *
 * On entry m's gradients still hold the previous step's gradients, which must not count. Leave dL/dp in the
 * gradient of each parameter p of m, and return L. (gra_zero_grad, gra_scale, gra_backward and gra_item are
 * described in core/gradus.h.)
 */
/* 25 accumulation, solved.
 *
 * A micro-batch of k rows gives their mean, 1/k times the sum of their losses; in L that sum has the factor
 * 1/n. So its loss is scaled by k/n before the backward, and by the chain rule its gradients are, too.
 * Dividing by the number of micro-batches is the same only if all have the same size; otherwise the rows of a
 * small last piece would count for more.
 *
 * The gradients are zeroed once, before the first micro-batch, so the gradients of all micro-batches add up.
 * gra_begin is inside the loop: it forgets the tape of the previous micro-batch, so memory is needed for only
 * one.
 */
#include "exercises.h"

double accumulate(gra_tape *t, gra_model *m, int n, int micro, mean_loss *loss, void *arg)
{
//| (void)t, (void)m, (void)n, (void)micro, (void)loss, (void)arg;      /* TO DO */
//| return 0;
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
