/* 16 in_matrices: one head for all tokens at once, as products of matrices.
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
 * same, W_q still (d, D); only the order of the products changes, and what is transposed. Before you write
 * them, find out from the shapes alone which product fits where.
 *
 * Write both functions with the ops of core/gradus.h, among them
 *     gra_matmul(t, a, b)   a b        gra_matmul_tn  a^T b         gra_matmul_nt  a b^T
 *     gra_add (stretches a dimension of size 1)      gra_scale       gra_softmax(t, x, d), over dimension d
 *     gra_transpose(t, x, 0, 1)      gra_reshape      gra_dim(x, d), the size of dimension d
 * but not gra_attention, which does all of it. The ops have their own backward: there is none to write.
 */
#include "exercises.h"

gra_tensor *in_columns(gra_tape *t, const struct head_parameters *p, gra_tensor *X)
{
    (void)p;                                                                            /* TO DO */
    return gra_zeros(t, X->shape);
}

gra_tensor *in_rows(gra_tape *t, const struct head_parameters *p, gra_tensor *X)
{
    (void)p;                                                                            /* TO DO */
    return gra_zeros(t, X->shape);
}
