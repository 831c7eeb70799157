/* 15 one_head: each token hears the values of all, each as loud as the token asked for it.
 *
 * The scores of a query become weights by softmax, and the weights mix the values (Vaswani et al. 2017):
 *
 *     a_j = e^s_j / (e^s_0 + ... + e^s_(m-1)),   s_j = q . k_j / sqrt(d)         one weight for each key; they sum to 1
 *     y   = a_0 v_0 + ... + a_(m-1) v_(m-1)                                       the mixture: a vector, like each v_j
 *
 * So attention is a soft look-up: were one weight 1 and the others 0, y would be that one's value.
 *
 * Write it in three steps; softmax is your own of exercise 08, which survives scores of 1e4.
 *   attention_weights: of one query q (d numbers) and m keys (rows of d), the m weights a.
 *   weighted_sum:      of m weights and m values (rows of e numbers), the e numbers of y.
 *   one_head:          n queries, m keys, m values: row i of y (n rows of e) belongs to query i. A loop over queries.
 */
#include "exercises.h"

void attention_weights(const double *q, const double *k, double *a, int m, int d)
{
    (void)q, (void)k, (void)a, (void)m, (void)d;                                        /* TO DO */
}

void weighted_sum(const double *a, const double *v, double *y, int m, int e)
{
    (void)a, (void)v, (void)y, (void)m, (void)e;                                        /* TO DO */
}

void one_head(const double *q, const double *k, const double *v, double *y, int n, int m, int d, int e)
{
    (void)q, (void)k, (void)v, (void)y, (void)n, (void)m, (void)d, (void)e;             /* TO DO */
}
