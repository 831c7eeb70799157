/* 19 two_heads: several heads, each with its share of the numbers.
 *
 * One head has one softmax for a token, so it can attend to only one kind of thing. With H heads, each head
 * works by itself on D/H of the D numbers of q, k and v; the results are put side by side and mixed by a last
 * matrix (Vaswani et al. 2017):
 *
 *     head_h = softmax(q_h k_h^T / sqrt(D/H)) v_h                              (T, D/H), h = 0 ... H - 1
 *     y      = [head_0 | head_1 | ...] W_c^T                                   (T, D)
 *
 * Head 0 has the first D/H columns of q, k and v, head 1 the next, and so on. To compute all heads in one
 * matrix product, put the heads in a dimension before the last two, on which matrix products work:
 *
 *     split_heads   (B, T, D) -> (B, H, T, D/H)        batch B, time T
 *     merge_heads   (B, H, T, D/H) -> (B, T, D)        its inverse
 *
 * In memory x[b][t] is a row of D numbers: D/H of head 0, D/H of head 1, ... gra_reshape gives the same
 * numbers, in the same order, a new shape; gra_transpose(t, x, d0, d1) moves numbers. Which of the two do you
 * need, and in which order?
 *
 * Write both functions, and multi_head with them, of q, k, v (B, T, D) and W_c (D, D), from ops of
 * core/gradus.h. There is no mask. gra_attention can do all of this, so it is not allowed here.
 */
/* 19 two_heads, solved.
 *
 * A row of D numbers is H groups of D/H: a reshape to (B, T, H, D/H) makes this visible. The heads still come
 * after the time, so the two are exchanged, which moves numbers. Reshaping (B, T, D) to (B, H, T, D/H) at
 * once would give the right shape, but give head 0 all the numbers of the first T/H tokens. Merging takes the
 * same steps backwards.
 *
 * A query of a head has D/H numbers, so the scores are divided by the root of D/H: gra_dim(q, -1) after the
 * split.
 */
#include "exercises.h"

gra_tensor *split_heads(gra_tape *t, gra_tensor *x, int heads)
{
//| (void)heads;                                                                        /* TO DO */
//| return gra_zeros(t, x->shape);
    const int B = gra_dim(x, 0), T = gra_dim(x, 1), D = gra_dim(x, 2);
    gra_tensor *groups = gra_reshape(t, x, GRA_SHAPE(B, T, heads, D / heads));
    return gra_transpose(t, groups, 1, 2);                                              /* (B, H, T, D/H) */
}

gra_tensor *merge_heads(gra_tape *t, gra_tensor *x)
{
//| return gra_zeros(t, x->shape);                                                      /* TO DO */
    const int B = gra_dim(x, 0), H = gra_dim(x, 1), T = gra_dim(x, 2), d = gra_dim(x, 3);
    gra_tensor *groups = gra_transpose(t, x, 1, 2);                                     /* (B, T, H, d) */
    return gra_reshape(t, groups, GRA_SHAPE(B, T, H * d));
}

gra_tensor *multi_head(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, gra_tensor *W_c, int heads)
{
//| (void)k, (void)v, (void)W_c, (void)heads;                                           /* TO DO */
//| return gra_zeros(t, q->shape);
    q = split_heads(t, q, heads);                                                       /* (B, H, T, D/H) */
    k = split_heads(t, k, heads);
    v = split_heads(t, v, heads);
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(q, -1)));
    gra_tensor *mixed = gra_matmul(t, gra_softmax(t, scores, -1), v);                   /* (B, H, T, D/H) */
    return gra_linear(t, merge_heads(t, mixed), W_c, NULL);
}
