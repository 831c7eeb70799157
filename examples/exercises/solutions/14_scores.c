/* 14 scores, solved.
 *
 * Row i of W makes number i of q: q_i = b_i + sum over j of W_ij x_j, and the row begins at W + i*D, since
 * each row has D numbers. In scores row i of q meets row j of k, both of d numbers: each sum runs over the
 * dimension that the two have in common, which is gone in the result.
 */
#include "exercises.h"
#include <math.h>

void project(const double *W, const double *b, const double *x, double *q, int d, int D)
{
    for (int i = 0; i < d; i++) {
        q[i] = b[i];
        for (int j = 0; j < D; j++)
            q[i] += W[i * D + j] * x[j];
    }
}

void scores(const double *q, const double *k, double *s, int n, int m, int d)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double dot = 0;
            for (int l = 0; l < d; l++)
                dot += q[i * d + l] * k[j * d + l];
            s[i * m + j] = dot / sqrt(d);
        }
}
