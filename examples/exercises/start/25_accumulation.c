/* 25 accumulation: a large batch in small pieces.
 *
 * A large batch gives a steadier gradient than a small one, but its tape may not fit into memory. The
 * gradient of a sum is the sum of the gradients, and gra_backward adds to what the parameters' gradients
 * hold. So the batch can be cut into micro-batches, each with its own forward and backward, whose tape is
 * forgotten before the next begins. In the end the gradients must be those of *one* batch of all n rows,
 * whose loss is the mean over rows:
 *
 *     L = 1/n (l_0 + l_1 + ... + l_(n-1))
 *
 * You are given loss(t, from, to, arg): it computes a forward of rows `from` to `to - 1` on the tape t, and
 * returns their *mean* loss, a tensor of one value. Call it for at most `micro` rows at a time; if n is not a
 * multiple of micro, the last piece is smaller. Each micro-batch is a step of the tape: gra_begin(t,
 * GRA_GRAD, NULL).
 *
 * On entry m's gradients still hold those of the previous step, which must not count. Leave dL/dp in the
 * gradient of each parameter p of m, and return L. (gra_zero_grad, gra_scale, gra_backward and gra_item are
 * described in core/gradus.h.)
 */
#include "exercises.h"

double accumulate(gra_tape *t, gra_model *m, int n, int micro, mean_loss *loss, void *arg)
{
    (void)t, (void)m, (void)n, (void)micro, (void)loss, (void)arg;      /* TO DO */
    return 0;
}
