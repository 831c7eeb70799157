/* 14 scores: how well the question of a token fits what another offers.
 *
 * In attention every token asks something, offers something, and has something to say. All three are made of
 * its x, a vector of D numbers, by linear maps whose W and b are learned:
 *
 *     query q = W_q x + b_q        key k = W_k x + b_k        value v = W_v x + b_v
 *
 * W has d rows and D columns, row-major: W[i*D + j] stands in row i and column j. b and the result have d
 * numbers. How well the query of token i fits the key of token j is a dot product, divided by sqrt(d):
 *
 *     s_ij = q_i . k_j / sqrt(d)                                                (Vaswani et al. 2017, section 3.2.1)
 *
 * Why divide? Were the numbers in q and k independent, of mean 0 and variance 1, then q . k would have the
 * variance d. The softmax that comes next would make nearly all or nothing of such large scores, and a
 * softmax that is nearly 1 or 0 has hardly a gradient. Divided by sqrt(d) the variance is 1, whatever d is.
 *
 * Write both. `project` makes one query of one x (and just so a key or a value). `scores` takes n queries and
 * m keys, each a row of d numbers, and writes s, n rows of m. (Where tokens attend to each other m is n; it
 * is not where one text attends to another, nor in the judge.)
 */
#include "exercises.h"

void project(const double *W, const double *b, const double *x, double *q, int d, int D)
{
    (void)W, (void)b, (void)x, (void)q, (void)d, (void)D;                               /* TO DO */
}

void scores(const double *q, const double *k, double *s, int n, int m, int d)
{
    (void)q, (void)k, (void)s, (void)n, (void)m, (void)d;                               /* TO DO */
}
