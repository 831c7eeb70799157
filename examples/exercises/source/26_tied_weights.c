/* 26 tied_weights: one matrix at both ends.
 *
 * A language model has a matrix e of vocab rows that turns a token's id into a vector: row e[id]. At the
 * other end the model compares its result with a vector for each token, to score the next token. The two
 * matrices have the same shape and similar contents, so many models (GPT-2 too) use one matrix at both ends
 * (Press & Wolf 2017). A model that consists only of these two ends, with a tanh between them, computes for n
 * tokens
 *
 *     h_i = tanh(e[ids_i])                                n rows of dim numbers
 *     logits[i][j] = sum over d of h_i[d] e[j][d]         n rows of vocab numbers
 *
 * e reaches the loss by two paths: through h, and directly. The chain rule adds the gradients of both. Given
 * dlogits, which is dloss/dlogits, write the backward: add dloss/de to de. h is given as the forward computed
 * it. All matrices are row-major: e[j][d] is e[j * dim + d]. A token may occur twice among the ids, and de
 * already holds gradients of other uses of e.
 */
/* 26 tied_weights, solved.
 *
 * The path at the output: in logits[i][j], e[j][d] has the factor h_i[d], so de[j][d] += dlogits[i][j]
 * h_i[d].
 *
 * The path through h: h_i[d] has the factor e[j][d] in logits[i][j], so dh_i[d] is the sum over j of
 * dlogits[i][j] e[j][d]. The derivative of tanh is 1 - tanh^2, and tanh is what h holds. Row ids_i of e went
 * in, so its gradient goes there: added, since a token may occur twice.
 *
 * Both paths only add to de, so their order does not matter, and they may meet in the same rows.
 */
#include "exercises.h"

void tied_backward(const double *e, const int *ids, const double *h, const double *dlogits, double *de,
                   int n, int vocab, int dim)
{
//| (void)e, (void)ids, (void)h, (void)dlogits, (void)de, (void)n, (void)vocab, (void)dim;      /* TO DO */
    for (int i = 0; i < n; i++)
        for (int d = 0; d < dim; d++) {
            const double y = h[i * dim + d];
            double dh = 0;
            for (int j = 0; j < vocab; j++) {
                de[j * dim + d] += dlogits[i * vocab + j] * y;
                dh += dlogits[i * vocab + j] * e[j * dim + d];
            }
            de[ids[i] * dim + d] += dh * (1 - y * y);
        }
}
