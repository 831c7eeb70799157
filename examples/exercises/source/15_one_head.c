/* 15 one_head: each query gets its own mixture of the values.
 *
 * The scores of a query become weights by softmax, and the weights mix the values (Vaswani et al. 2017):
 *
 *     a_j = e^s_j / (e^s_0 + ... + e^s_(m-1)),   s_j = q . k_j / sqrt(d)     the weights: they sum to 1
 *     y   = a_0 v_0 + ... + a_(m-1) v_(m-1)                           the mixture: a vector, like each v_j
 *
 * So attention is a soft look-up: if one weight were 1 and the others 0, y would be the value of that key.
 *
 * Write it in three steps. Compute the softmax as in exercise 08: scores of 1e4 occur here too.
 *   attention_weights  from one query q (d numbers) and m keys (rows of d numbers), the m weights a;
 *   weighted_sum       from m weights and m values (rows of e numbers), the e numbers of y;
 *   one_head           for n queries, m keys and m values: row i of y (n rows of e) belongs to query i.
 */
/* 15 one_head, solved.
 *
 * For each query the three lists are computed anew: scores, weights, mixture. Queries do not depend on each
 * other, so the loop over queries may run in any order, or all at once: exercise 16 does it with matrices.
 * The memory for m weights is allocated once, and freed at the end.
 */
#include "exercises.h"
//{
#include <math.h>
#include <stdlib.h>
//}

void attention_weights(const double *q, const double *k, double *a, int m, int d)
{
//| (void)q, (void)k, (void)a, (void)m, (void)d;                                        /* TO DO */
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
//| (void)a, (void)v, (void)y, (void)m, (void)e;                                        /* TO DO */
    for (int l = 0; l < e; l++) {
        y[l] = 0;
        for (int j = 0; j < m; j++)
            y[l] += a[j] * v[j * e + l];
    }
}

void one_head(const double *q, const double *k, const double *v, double *y, int n, int m, int d, int e)
{
//| (void)q, (void)k, (void)v, (void)y, (void)n, (void)m, (void)d, (void)e;             /* TO DO */
    double *a = malloc((size_t)m * sizeof *a);
    if (!a)
        return;
    for (int i = 0; i < n; i++) {
        attention_weights(q + i * d, k, a, m, d);
        weighted_sum(a, v, y + i * e, m, e);
    }
    free(a);
}
