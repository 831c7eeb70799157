/* 14 scores: how well a token's query matches another token's key.
 *
 * In attention every token asks for something, offers something, and has something to say. All three are
 * computed from the token's x, a vector of D numbers, by linear maps whose W and b are learned:
 *
 *     query q = W_q x + b_q        key k = W_k x + b_k        value v = W_v x + b_v
 *
 * W has d rows and D columns, row-major: W[i*D + j] is in row i and column j. b and the result have d
 * numbers. The score of token i's query with token j's key is their dot product, divided by sqrt(d):
 *
 *     s_ij = q_i . k_j / sqrt(d)                                  (Vaswani et al. 2017, section 3.2.1)
 *
 * Why divide? If the numbers in q and k were independent, with mean 0 and variance 1, q . k would have
 * variance d. Softmax, which follows, would turn such large scores into weights near 0 or 1, where it has
 * hardly any gradient. After the division by sqrt(d) the variance is 1, whatever d is.
 *
 * Write both functions. `project` computes a query from an x (or a key, or a value). `scores` takes n queries
 * and m keys, each a row of d numbers, and writes s, n rows of m. (Where the tokens of a text
 * attend to each other, m equals n; where a text attends to a different text, they may differ.)
 */
/* 14 scores, solved.
 *
 * Row i of W makes number i of q: q_i = b_i + sum over j of W_ij x_j, and the row begins at W + i*D, since
 * each row has D numbers. In scores row i of q meets row j of k, both of d numbers: each sum runs over the
 * dimension that the two have in common, which is gone in the result.
 */
#include "exercises.h"
//{
#include <math.h>
//}

void project(const double *W, const double *b, const double *x, double *q, int d, int D)
{
//| (void)W, (void)b, (void)x, (void)q, (void)d, (void)D;                               /* TO DO */
    for (int i = 0; i < d; i++) {
        q[i] = b[i];
        for (int j = 0; j < D; j++)
            q[i] += W[i * D + j] * x[j];
    }
}

void scores(const double *q, const double *k, double *s, int n, int m, int d)
{
//| (void)q, (void)k, (void)s, (void)n, (void)m, (void)d;                               /* TO DO */
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            double dot = 0;
            for (int l = 0; l < d; l++)
                dot += q[i * d + l] * k[j * d + l];
            s[i * m + j] = dot / sqrt(d);
        }
}
