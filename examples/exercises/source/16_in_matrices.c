/* 16 in_matrices: one head for all tokens at once, as matrix products.
 *
 * The loop of exercise 15 does the same for each query, so a matrix product can do it for all. Let each token
 * be a column of X (D, N): N tokens, each of D numbers. Understanding Deep Learning (Prince 2023, section
 * 12.1) then writes
 *
 *     Q = W_q X + b_q        K = W_k X + b_k        V = W_v X + b_v        one column for each token
 *     Y = V softmax(K^T Q / sqrt(d))                                       softmax of each column
 *
 * W_q and W_k are (d, D), W_v is (e, D); each b is one column, (d, 1) or (e, 1), and is added to every
 * column. Element (j, i) of K^T Q is k_j . q_i, so column i holds the scores of query i, and column i of Y is
 * a mixture of the columns of V.
 *
 * PyTorch, and all other exercises here, have tokens in rows: X (N, D), Y (N, e). The parameters are the
 * same, W_q still (d, D); only the order of the matrix products changes, and which factor is transposed.
 * Before you write them, find out from the shapes alone which product fits where.
 *
 * Write both functions with the ops of core/gradus.h, among them
 *     gra_matmul(t, a, b)   a b        gra_matmul_tn  a^T b         gra_matmul_nt  a b^T
 *     gra_add (stretches a dimension of size 1)      gra_scale       gra_softmax(t, x, d), over dimension d
 *     gra_transpose(t, x, 0, 1)      gra_reshape      gra_dim(x, d), the size of dimension d
 * but not gra_attention, which does all of it. The ops have their own backward: there is none to write.
 */
/* 16 in_matrices, solved.
 *
 * In columns the code follows the text. In rows, transpose each equation: (W X)^T = X^T W^T, so the query of
 * a row is x W^T; (K^T Q)^T = Q^T K, which is Q K^T of the matrices in rows; and (V A)^T = A^T V^T, the
 * weights first. The weights of a query were a column and are now a row, so softmax runs over dimension 1.
 * The bias becomes a row too: as (d, 1) it would be stretched along the tokens' numbers (or refused, where
 * the sizes differ).
 *
 * b_k adds q_i . b_k to all scores of query i, which does not change their softmax: Y is the same without it.
 */
#include "exercises.h"

//{
static gra_tensor *affine(gra_tape *t, gra_tensor *W, gra_tensor *b, gra_tensor *X)
{
    return gra_add(t, gra_matmul(t, W, X), b);
}

//}
gra_tensor *in_columns(gra_tape *t, const struct head_parameters *p, gra_tensor *X)
{
//| (void)p;                                                                            /* TO DO */
//| return gra_zeros(t, X->shape);
    gra_tensor *Q = affine(t, p->W_q, p->b_q, X);                                       /* (d, N) */
    gra_tensor *K = affine(t, p->W_k, p->b_k, X);                                       /* (d, N) */
    gra_tensor *V = affine(t, p->W_v, p->b_v, X);                                       /* (e, N) */
    gra_tensor *scores = gra_scale(t, gra_matmul_tn(t, K, Q), 1 / sqrt(gra_dim(Q, 0))); /* (key, query) */
    return gra_matmul(t, V, gra_softmax(t, scores, 0));
}

//{
static gra_tensor *affine_rows(gra_tape *t, gra_tensor *W, gra_tensor *b, gra_tensor *X)
{
    return gra_add(t, gra_matmul_nt(t, X, W), gra_reshape(t, b, GRA_SHAPE(1, gra_dim(W, 0))));
}

//}
gra_tensor *in_rows(gra_tape *t, const struct head_parameters *p, gra_tensor *X)
{
//| (void)p;                                                                            /* TO DO */
//| return gra_zeros(t, X->shape);
    gra_tensor *q = affine_rows(t, p->W_q, p->b_q, X);                                  /* (N, d) */
    gra_tensor *k = affine_rows(t, p->W_k, p->b_k, X);                                  /* (N, d) */
    gra_tensor *v = affine_rows(t, p->W_v, p->b_v, X);                                  /* (N, e) */
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(q, 1))); /* (query, key) */
    return gra_matmul(t, gra_softmax(t, scores, 1), v);
}
