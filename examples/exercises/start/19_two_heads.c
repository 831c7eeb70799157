/* 19 two_heads: several heads, each with its share of the numbers.
 *
 * One head has one softmax for a token, so it can attend to only one kind of thing. With H heads each works
 * by itself on D/H of the D numbers of q, k and v; the results are put side by side and mixed by a last
 * matrix (Vaswani et al. 2017):
 *
 *     head_h = softmax(q_h k_h^T / sqrt(D/H)) v_h                              (T, D/H), h = 0 ... H - 1
 *     y      = [head_0 | head_1 | ...] W_c^T                                   (T, D)
 *
 * Head 0 has the first D/H columns of q, k and v, head 1 the next, and so on. To compute all heads in one
 * product, make the heads a dimension before those of the matrices, since products work on the last two:
 *
 *     split_heads   (B, T, D) -> (B, H, T, D/H)        batch B, time T
 *     merge_heads   (B, H, T, D/H) -> (B, T, D)        its inverse
 *
 * In memory x[b][t] is a row of D numbers: D/H of head 0, D/H of head 1, ... gra_reshape gives the same
 * numbers, in the same order, another shape; gra_transpose(t, x, d0, d1) moves numbers. Which of them do you
 * need, and in which order?
 *
 * Write both functions, and multi_head with them, of q, k, v (B, T, D) and W_c (D, D), from ops of
 * core/gradus.h. There is no mask. gra_attention can do all of this, so it is not allowed here.
 */
#include "exercises.h"

gra_tensor *split_heads(gra_tape *t, gra_tensor *x, int heads)
{
    (void)heads;                                                                        /* TO DO */
    return gra_zeros(t, x->shape);
}

gra_tensor *merge_heads(gra_tape *t, gra_tensor *x)
{
    return gra_zeros(t, x->shape);                                                      /* TO DO */
}

gra_tensor *multi_head(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, gra_tensor *W_c, int heads)
{
    (void)k, (void)v, (void)W_c, (void)heads;                                           /* TO DO */
    return gra_zeros(t, q->shape);
}
