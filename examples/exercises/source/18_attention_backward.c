/* 18 attention_backward: the gradients of queries, keys and values.
 *
 * One head has three steps, for n queries and m keys of d numbers, and m values of e numbers:
 *
 *     s = q k^T / sqrt(d)         (n, m)        s_ij = q_i . k_j / sqrt(d)
 *     a = softmax of each row     (n, m)
 *     y = a v                     (n, e)        y_i = sum over j of a_ij v_j
 *
 * Given dy = dloss/dy, find dq, dk and dv: go back through the three steps, each of which you know. Exercise
 * 06 has the gradients of a matrix product (for c = a b they are da = dc b^T and db = a^T dc; the shapes show
 * which factor must be transposed), and exercise 08 has the gradient of softmax, computed from its result.
 * First find on paper dv and da from dy, then ds from da, then dq and dk.
 *
 * The weights a are kept from the forward pass; do not compute them again. Where a mask hid a key its weight
 * is 0, which makes the gradient of its score 0 too: the backward needs no mask.
 *
 * Accumulate: dq, dk and dv already hold other gradients. All three may even be the same array, if q, k and v
 * are the same (attention without parameters, where x attends to x). So only add to these arrays, and do not
 * use them for anything else.
 */
/* 18 attention_backward, solved.
 *
 *     y = a v               da = dy v^T: da_ij = dy_i . v_j       dv = a^T dy: dv_j = sum over i of a_ij dy_i
 *     a = softmax(s)        ds_ij = a_ij (da_ij - dot_i),         dot_i = sum over j of a_ij da_ij
 *     s = q k^T / sqrt(d)   dq = ds k / sqrt(d),                  dk = ds^T q / sqrt(d)
 *
 * A row of a depends on only one query, so one row of da is enough at a time: it becomes ds in place. What a
 * query adds to all keys and values is added at once. (Today's tiled kernels are this loop, in blocks of
 * queries.)
 */
#include "exercises.h"
//{
#include <math.h>
#include <stdlib.h>
//}

void attention_backward(const double *q, const double *k, const double *v, const double *a, const double *dy,
                        double *dq, double *dk, double *dv, int n, int m, int d, int e)
{
//| (void)q, (void)k, (void)v, (void)a, (void)dy, (void)dq, (void)dk, (void)dv;         /* TO DO */
//| (void)n, (void)m, (void)d, (void)e;
    const double scale = 1 / sqrt(d);
    double *da = malloc((size_t)m * sizeof *da);
    if (!da)
        return;
    for (int i = 0; i < n; i++) {
        double dot = 0;
        for (int j = 0; j < m; j++) {
            da[j] = 0;
            for (int l = 0; l < e; l++) {
                da[j] += dy[i * e + l] * v[j * e + l];
                dv[j * e + l] += a[i * m + j] * dy[i * e + l];
            }
            dot += a[i * m + j] * da[j];
        }
        for (int j = 0; j < m; j++) {
            const double ds = a[i * m + j] * (da[j] - dot);
            for (int l = 0; l < d; l++) {
                dq[i * d + l] += scale * ds * k[j * d + l];
                dk[j * d + l] += scale * ds * q[i * d + l];
            }
        }
    }
    free(da);
}
