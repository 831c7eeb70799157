/* 15 one_head, solved.
 *
 * For each query the three lists are computed anew: scores, weights, mixture. No query depends on another, so
 * the loop over queries may run in any order, or all at once: exercise 16 does it with matrices. The memory
 * for m weights is allocated once, and freed at the end.
 */
#include "exercises.h"
#include <math.h>
#include <stdlib.h>

void attention_weights(const double *q, const double *k, double *a, int m, int d)
{
    double top = -INFINITY, sum = 0;
    for (int j = 0; j < m; j++) {
        double dot = 0;
        for (int l = 0; l < d; l++)
            dot += q[l] * k[j * d + l];
        a[j] = dot / sqrt(d);
        top = fmax(top, a[j]);
    }
    for (int j = 0; j < m; j++) {
        a[j] = exp(a[j] - top);
        sum += a[j];
    }
    for (int j = 0; j < m; j++)
        a[j] /= sum;
}

void weighted_sum(const double *a, const double *v, double *y, int m, int e)
{
    for (int l = 0; l < e; l++) {
        y[l] = 0;
        for (int j = 0; j < m; j++)
            y[l] += a[j] * v[j * e + l];
    }
}

void one_head(const double *q, const double *k, const double *v, double *y, int n, int m, int d, int e)
{
    double *a = malloc((size_t)m * sizeof *a);
    if (!a)
        return;
    for (int i = 0; i < n; i++) {
        attention_weights(q + i * d, k, a, m, d);
        weighted_sum(a, v, y + i * e, m, e);
    }
    free(a);
}
