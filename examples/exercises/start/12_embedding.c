/* 12 embedding: a row for each token.
 *
 * A token is a number, its id; a model computes with vectors. The table w has a row of dim numbers for each
 * id of the vocabulary, and the embedding of n ids is n of these rows, in the order of the ids:
 *
 *     y[i][j] = w[ids[i]][j]              0 <= i < n,  0 <= j < dim
 *
 * Both are row-major, as all matrices here: w[k][j] is w[k * dim + j].
 *
 * Nothing is computed, and yet there is a gradient: a small change of w[k][j] changes y[i][j] by as much
 * for every i whose id is k. There may be none such i, or one, or several: the word "the" comes up ten
 * times in a sentence, and each time it says how its row should change. Given dy, of y's shape, add what it
 * says to dw, of w's shape: dw may hold the gradient of another use of w already (a model whose output
 * layer is the same table has one).
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
