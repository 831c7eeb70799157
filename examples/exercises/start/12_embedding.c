/* 12 embedding: a row for each token.
 *
 * A token is a number, its id; a model computes with vectors. The table w has a row of dim numbers for each
 * id of the vocabulary, and the embedding of n ids is n of these rows, in the order of the ids:
 *
 *     y[i][j] = w[ids[i]][j]              0 <= i < n,  0 <= j < dim
 *
 * Both are row-major, like all matrices here: w[k][j] is w[k * dim + j].
 *
 * Nothing is computed, and yet there is a gradient: a small change of w[k][j] changes y[i][j] by the same
 * amount for every i whose id is k. There may be no such i, one, or several: the word "the" may occur ten
 * times in a text, and each time it adds to the gradient of its row. Given dy, of y's shape, add the gradient
 * of w to dw, of w's shape: dw may already hold the gradient of another use of w (as in a model whose output
 * layer is the same table).
 */
#include "exercises.h"

void embedding(const double *w, const int *ids, double *y, int n, int dim)
{
    (void)w, (void)ids, (void)y, (void)n, (void)dim;                        /* TO DO */
}

void embedding_backward(const int *ids, const double *dy, double *dw, int n, int dim)
{
    (void)ids, (void)dy, (void)dw, (void)n, (void)dim;                      /* TO DO */
}
