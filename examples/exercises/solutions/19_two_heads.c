/* 19 two_heads, solved.
 *
 * A row of D numbers is H groups of D/H: a reshape shows it so, (B, T, H, D/H). The heads still come after
 * the time, so the two are exchanged, which moves numbers. Reshaping (B, T, D) to (B, H, T, D/H) at once
 * would give the right shape, but give head 0 all the numbers of the first T/H tokens. Merging takes the same
 * steps backwards.
 *
 * A query of a head has D/H numbers, so that is whose root divides: gra_dim(q, -1) after the split.
 */
#include "exercises.h"

gra_tensor *split_heads(gra_tape *t, gra_tensor *x, int heads)
{
    const int B = gra_dim(x, 0), T = gra_dim(x, 1), D = gra_dim(x, 2);
    gra_tensor *groups = gra_reshape(t, x, GRA_SHAPE(B, T, heads, D / heads));
    return gra_transpose(t, groups, 1, 2);                                              /* (B, H, T, D/H) */
}

gra_tensor *merge_heads(gra_tape *t, gra_tensor *x)
{
    const int B = gra_dim(x, 0), H = gra_dim(x, 1), T = gra_dim(x, 2), d = gra_dim(x, 3);
    gra_tensor *groups = gra_transpose(t, x, 1, 2);                                     /* (B, T, H, d) */
    return gra_reshape(t, groups, GRA_SHAPE(B, T, H * d));
}

gra_tensor *multi_head(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v, gra_tensor *W_c, int heads)
{
    q = split_heads(t, q, heads);                                                       /* (B, H, T, D/H) */
    k = split_heads(t, k, heads);
    v = split_heads(t, v, heads);
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(q, -1)));
    gra_tensor *mixed = gra_matmul(t, gra_softmax(t, scores, -1), v);                   /* (B, H, T, D/H) */
    return gra_linear(t, merge_heads(t, mixed), W_c, NULL);
}
