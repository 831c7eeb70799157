/* 26 tied_weights: one matrix at both ends.
 *
 * A language model has a matrix e of vocab rows that turns a token's id into a vector: row e[id]. At its
 * other end it compares what it has computed with a vector for each token, to score what comes next. Both
 * matrices have the same shape and similar contents, so many models (GPT-2 too) use one for both (Press &
 * Wolf 2017). A model that consists only of these two ends, with a tanh between them, computes for n tokens
 *
 *     h_i = tanh(e[ids_i])                                n rows of dim numbers
 *     logits[i][j] = sum over d of h_i[d] e[j][d]         n rows of vocab numbers
 *
 * e reaches the loss by two paths: through h, and directly. The chain rule adds the gradients of both. Given
 * dlogits, which is dloss/dlogits, write the backward: add dloss/de to de. h is given as the forward computed
 * it. All matrices are row-major: e[j][d] is e[j * dim + d]. A token may occur twice among the ids, and de
 * already holds gradients of other uses of e.
 */
#include "exercises.h"

void tied_backward(const double *e, const int *ids, const double *h, const double *dlogits, double *de,
                   int n, int vocab, int dim)
{
    (void)e, (void)ids, (void)h, (void)dlogits, (void)de, (void)n, (void)vocab, (void)dim;      /* TO DO */
}
