/* 17 causal_mask, solved.
 *
 * The column numbers 0 ... T - 1 as (T), the row numbers as (T, 1): compared, both stretch to (T, T), and
 * column > row is the future. A token sees itself, so the diagonal stays; then no row is empty, and none is
 * divided by 0.
 *
 * Why the same: softmax before the mask gives e^s_j / Z for each j, with Z the sum over all. Divided by the
 * sum of these over the past, Z cancels, and e^s_j / (sum over the past) is left. But if a score of the
 * future is some 750 above the past, e^s_j / Z of the past is too small for a double, and 0/0 is left: so the
 * mask comes first.
 */
#include "exercises.h"

static gra_tensor *future(gra_tape *t, int T)                                       /* (T, T): 1, else 0 */
{
    gra_tensor *column = gra_arange(t, T), *row = gra_reshape(t, gra_arange(t, T), GRA_SHAPE(T, 1));
    return gra_gt(t, column, row);
}

gra_tensor *masked_before(gra_tape *t, gra_tensor *s)
{
    return gra_softmax(t, gra_masked_fill(t, s, future(t, gra_dim(s, 0)), -INFINITY), 1);
}

gra_tensor *masked_after(gra_tape *t, gra_tensor *s)
{
    gra_tensor *left = gra_masked_fill(t, gra_softmax(t, s, 1), future(t, gra_dim(s, 0)), 0);
    return gra_div(t, left, gra_sum_dim(t, left, 1, true));
}

gra_tensor *causal_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v)
{
    gra_tensor *s = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(q, 1)));      /* (T, T) */
    return gra_matmul(t, masked_before(t, s), v);
}
