/* plain_attention: attention in plain loops: for each query of each head
 *
 *     P_j = e^(s q.k_j + mask_j) / sum,   y = sum_j D_j v_j,   D_j = factor_j P_j,   s = 1 / sqrt(d)
 *
 *     dD_j = dy.v_j,   dP_j = factor_j dD_j,   dS_j = P_j (dP_j - sum_i dP_i P_i),
 *     dv_j += D_j dy,   dmask_j += dS_j,   dq += s dS_j k_j,   dk_j += s dS_j q.
 *
 * A row that sees no key, or whose scores are all -inf, is zeros. */
#include "plain_attention.h"
#include <math.h>
#include <stddef.h>

static int visible(const struct plain_attention *a, int i)     /* how many keys query i sees */
{
    const int n = a->causal ? i + a->keys - a->time + 1 : a->keys;
    return n < 0 ? 0 : n;
}

static size_t at(const struct plain_attention *a, int b, int h, int rows, int row, int width)
{
    return ((size_t)(b * rows + row) * (size_t)a->heads + (size_t)h) * (size_t)width;
}

static double dot(const double *x, const double *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += x[i] * y[i];
    return sum;
}

void plain_attention_forward(const struct plain_attention *a, double *P, double *y)
{
    for (int b = 0; b < a->batch; b++)
        for (int h = 0; h < a->heads; h++)
            for (int i = 0; i < a->time; i++) {
                const size_t row = (size_t)((b * a->heads + h) * a->time + i) * (size_t)a->keys;
                const double *q = a->q + at(a, b, h, a->time, i, a->d);
                double *p = P + row, *to = y + at(a, b, h, a->time, i, a->d_v), sum = 0,
                       most = -(double)INFINITY;
                for (int j = 0; j < a->keys; j++) {
                    const double score = dot(q, a->k + at(a, b, h, a->keys, j, a->d), a->d) / sqrt(a->d);
                    p[j] = j < visible(a, i) ? score + (a->mask ? a->mask[row + (size_t)j] : 0)
                        : -(double)INFINITY;
                    most = fmax(most, p[j]);
                }
                for (int j = 0; j < a->keys; j++)
                    sum += p[j] = most == -(double)INFINITY ? 0 : exp(p[j] - most);
                for (int j = 0; j < a->keys; j++)
                    p[j] /= sum == 0 ? 1 : sum;
                for (int e = 0; e < a->d_v; e++) {
                    to[e] = 0;
                    for (int j = 0; j < a->keys; j++)
                        to[e] += (a->factor ? a->factor[row + (size_t)j] : 1) * p[j] *
                                 a->v[at(a, b, h, a->keys, j, a->d_v) + (size_t)e];
                }
            }
}

void plain_attention_backward(const struct plain_attention *a, const double *P, const double *dy, double *dq,
                              double *dk, double *dv, double *dmask)
{
    const double s = 1 / sqrt(a->d);
    for (int b = 0; b < a->batch; b++)
        for (int h = 0; h < a->heads; h++)
            for (int i = 0; i < a->time; i++) {
                const size_t row = (size_t)((b * a->heads + h) * a->time + i) * (size_t)a->keys;
                const size_t at_q = at(a, b, h, a->time, i, a->d);
                const double *p = P + row, *dyi = dy + at(a, b, h, a->time, i, a->d_v);
                double mean = 0;                        /* sum_j dP_j P_j */
                for (int j = 0; j < a->keys; j++)
                    mean += p[j] * (a->factor ? a->factor[row + (size_t)j] : 1) *
                            dot(dyi, a->v + at(a, b, h, a->keys, j, a->d_v), a->d_v);
                for (int j = 0; j < a->keys; j++) {
                    const size_t at_k = at(a, b, h, a->keys, j, a->d), at_v = at(a, b, h, a->keys, j, a->d_v);
                    const double factor = a->factor ? a->factor[row + (size_t)j] : 1;
                    const double dS = p[j] * (factor * dot(dyi, a->v + at_v, a->d_v) - mean);
                    for (int e = 0; e < a->d_v; e++)
                        dv[at_v + (size_t)e] += factor * p[j] * dyi[e];
                    for (int e = 0; e < a->d; e++) {
                        dq[at_q + (size_t)e] += s * dS * a->k[at_k + (size_t)e];
                        dk[at_k + (size_t)e] += s * dS * a->q[at_q + (size_t)e];
                    }
                    if (dmask)
                        dmask[row + (size_t)j] += dS;
                }
            }
}
