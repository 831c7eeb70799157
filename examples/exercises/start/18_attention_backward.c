/* 18 attention_backward: the gradients of queries, keys and values.
 *
 * One head has three steps, for n queries and m keys of d numbers, and m values of e numbers:
 *
 *     s = q k^T / sqrt(d)         (n, m)        s_ij = q_i . k_j / sqrt(d)
 *     a = softmax of each row     (n, m)
 *     y = a v                     (n, e)        y_i = sum over j of a_ij v_j
 *
 * Given dy = dloss/dy, find dq, dk and dv: go back through the three steps, each of which you know. Exercise
 * 06 has the gradients of a product (for c = a b they are da = dc b^T and db = a^T dc; the shapes show what
 * must be transposed), exercise 08 that of softmax from its result. First on paper: dv and da from dy, then
 * ds from da, then dq and dk.
 *
 * The weights a are kept from the forward pass; do not compute them again. Where a mask hid a key its weight
 * is 0, which makes the gradient of its score 0 too: the backward needs no mask.
 *
 * Accumulate: dq, dk and dv already hold other gradients. They may even be the same array, if q, k and v are
 * (attention without parameters, where x attends to x): so only add to them, and do not use them for anything
 * else.
 */
#include "exercises.h"

void attention_backward(const double *q, const double *k, const double *v, const double *a, const double *dy,
                        double *dq, double *dk, double *dv, int n, int m, int d, int e)
{
    (void)q, (void)k, (void)v, (void)a, (void)dy, (void)dq, (void)dk, (void)dv;         /* TO DO */
    (void)n, (void)m, (void)d, (void)e;
}
