/* 25 accumulation: a large batch in small pieces.
 *
 * A step with a large batch has a steadier gradient, but the tape of a large batch may not fit into memory.
 * The gradient of a sum is the sum of the gradients, and gra_backward adds to what the parameters'
 * gradients hold: so the batch can be cut into micro-batches, each with a forward and a backward of its
 * own, whose tape is forgotten before the next begins. In the end the gradients must be those of *one*
 * batch of all n rows, whose loss is the mean over rows:
 *
 *     L = 1/n (l_0 + l_1 + ... + l_(n-1))
 *
 * You are handed loss(t, from, to, arg): it computes a forward of rows from, ..., to - 1 on the tape t, and
 * returns the loss of these rows, a tensor of one value: their *mean*. Call it for at most `micro` rows at
 * a time; where n is no multiple of micro, the last piece is smaller. Each micro-batch is a step of the
 * tape: gra_begin(t, GRA_GRAD, NULL).
 *
 * What m's gradients hold at first is of the step before, and must not count. Leave dL/dp in the gradient
 * of each parameter of m, and return L. (gra_zero_grad, gra_scale, gra_backward and gra_item are described
 * in core/gradus.h.)
 */
#include "exercises.h"

double accumulate(gra_tape *t, gra_model *m, int n, int micro, mean_loss *loss, void *arg)
{
    (void)t, (void)m, (void)n, (void)micro, (void)loss, (void)arg;      /* TO DO */
    return 0;
}
