/* 26 tied_weights, solved.
 *
 * The path at the output: in logits[i][j], e[j][d] has the factor h_i[d], so de[j][d] += dlogits[i][j]
 * h_i[d].
 *
 * The path through h: h_i[d] has the factor e[j][d] in logits[i][j], so dh_i[d] is the sum over j of
 * dlogits[i][j] e[j][d]. The derivative of tanh is 1 - tanh^2, and tanh is what h holds. Row ids_i of e went
 * in, so its gradient goes there: added, since a token may occur twice.
 *
 * Both only add to de, so their order does not matter, nor that they meet in the same rows.
 */
#include "exercises.h"

void tied_backward(const double *e, const int *ids, const double *h, const double *dlogits, double *de,
                   int n, int vocab, int dim)
{
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
