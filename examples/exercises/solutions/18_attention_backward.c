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
#include <math.h>
#include <stdlib.h>

void attention_backward(const double *q, const double *k, const double *v, const double *a, const double *dy,
                        double *dq, double *dk, double *dv, int n, int m, int d, int e)
{
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
