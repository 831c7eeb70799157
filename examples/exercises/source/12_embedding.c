/* 12 embedding: a row for each token.
 *
 * A token is a number, its id; a model computes with vectors. The table w has a row of dim numbers for each
 * id of the vocabulary, and the embedding of n ids is n of these rows, in the order of the ids:
 *
 *     y[i][j] = w[ids[i]][j]              0 <= i < n,  0 <= j < dim
 *
 * w and y are row-major, like all matrices here: w[k][j] is w[k * dim + j].
 *
 * Nothing is computed, and yet there is a gradient: a small change of w[k][j] changes y[i][j] by the same
 * amount for every i whose id is k. There may be no i with this id, or one, or several: the word "the" may
 * occur ten times in a text, and each time it adds to the gradient of its row. Given dy, of y's shape, add
 * the gradient of w to dw, of w's shape: dw may already hold the gradient of another use of w (as in a model
 * whose output layer is the same table).
 */
/* 12 embedding, solved.
 *
 * Forward gathers rows, so backward scatters them: the row dy[i] goes to where y[i] came from, dw[ids[i]]. It
 * is added, not stored: an id that occurs twice feeds two rows of y, and a value used twice gets both
 * gradients. Rows of ids that do not occur are not touched: their gradient is 0.
 *
 * (The same as a matrix product: y = E w, where row i of E is 1 at ids[i] and 0 elsewhere; then dw = E^T dy.
 * For a vocabulary of 50000 that is 50000 times the work.)
 */
#include "exercises.h"

void embedding(const double *w, const int *ids, double *y, int n, int dim)
{
//| (void)w, (void)ids, (void)y, (void)n, (void)dim;                        /* TO DO */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < dim; j++)
            y[i * dim + j] = w[ids[i] * dim + j];
}

void embedding_backward(const int *ids, const double *dy, double *dw, int n, int dim)
{
//| (void)ids, (void)dy, (void)dw, (void)n, (void)dim;                      /* TO DO */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < dim; j++)
            dw[ids[i] * dim + j] += dy[i * dim + j];
}
