/* 16 in_matrices, solved.
 *
 * In columns it is as in the text. In rows, transpose each equation: (W X)^T = X^T W^T, so the query of a row
 * is x W^T; (K^T Q)^T = Q^T K, which is Q K^T of what is now stored; and (V A)^T = A^T V^T, the weights
 * first. The weights of a query, a column before, are a row now, so softmax runs over dimension 1. The bias
 * becomes a row too: as (d, 1) it would be stretched along the tokens' numbers (or refused, where the sizes
 * differ).
 *
 * b_k adds q_i . b_k to all scores of query i, which does not change their softmax: Y is the same without it.
 */
#include "exercises.h"

static gra_tensor *affine(gra_tape *t, gra_tensor *W, gra_tensor *b, gra_tensor *X)
{
    return gra_add(t, gra_matmul(t, W, X), b);
}

gra_tensor *in_columns(gra_tape *t, const struct head_parameters *p, gra_tensor *X)
{
    gra_tensor *Q = affine(t, p->W_q, p->b_q, X);                                       /* (d, N) */
    gra_tensor *K = affine(t, p->W_k, p->b_k, X);                                       /* (d, N) */
    gra_tensor *V = affine(t, p->W_v, p->b_v, X);                                       /* (e, N) */
    gra_tensor *scores = gra_scale(t, gra_matmul_tn(t, K, Q), 1 / sqrt(gra_dim(Q, 0))); /* (key, query) */
    return gra_matmul(t, V, gra_softmax(t, scores, 0));
}

static gra_tensor *affine_rows(gra_tape *t, gra_tensor *W, gra_tensor *b, gra_tensor *X)
{
    return gra_add(t, gra_matmul_nt(t, X, W), gra_reshape(t, b, GRA_SHAPE(1, gra_dim(W, 0))));
}

gra_tensor *in_rows(gra_tape *t, const struct head_parameters *p, gra_tensor *X)
{
    gra_tensor *q = affine_rows(t, p->W_q, p->b_q, X);                                  /* (N, d) */
    gra_tensor *k = affine_rows(t, p->W_k, p->b_k, X);                                  /* (N, d) */
    gra_tensor *v = affine_rows(t, p->W_v, p->b_v, X);                                  /* (N, e) */
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(q, 1))); /* (query, key) */
    return gra_matmul(t, gra_softmax(t, scores, 1), v);
}
