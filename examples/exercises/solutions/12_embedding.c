/* 12 embedding, solved.
 *
 * Forward gathers rows, so backward scatters them: the row dy[i] goes to where y[i] came from, dw[ids[i]]. It
 * is added, not stored, since an id that occurs twice feeds two rows of y, and a value used twice gets both
 * gradients. Rows of ids that do not occur are not touched: their gradient is 0.
 *
 * (The same as a product: y = E w, where row i of E is 1 at ids[i] and 0 elsewhere; then dw = E^T dy. For a
 * vocabulary of 50000 that is 50000 times the work.)
 */
#include "exercises.h"

void embedding(const double *w, const int *ids, double *y, int n, int dim)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < dim; j++)
            y[i * dim + j] = w[ids[i] * dim + j];
}

void embedding_backward(const int *ids, const double *dy, double *dw, int n, int dim)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < dim; j++)
            dw[ids[i] * dim + j] += dy[i * dim + j];
}
