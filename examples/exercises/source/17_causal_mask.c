/* 17 causal_mask: no token may look into its future.
 *
 * A model that learns to predict the next token must not see it. So the query of token i uses only the keys
 * of tokens 0 to i: its weights for all later tokens are 0, and the remaining ones still sum to 1. There are
 * two ways.
 *
 *   masked_before  sets the scores of the future to -infinity, then applies softmax: e^-infinity is 0, so
 *                  the sum is only over the token and the past. This is the usual way.
 *   masked_after   applies softmax to all scores, sets the weights of the future to 0, and divides each row
 *                  by what is left of its sum. Why is that the same? (And when does it become 0/0?)
 *
 * Both take scores s (T, T), already divided by sqrt(d), where row i belongs to query i, and return weights
 * (T, T). With one of them write causal_attention: softmax(q k^T / sqrt(d), with the mask) v, of q and k (T,
 * d) and v (T, e) -> (T, e).
 *
 * Make the mask yourself (without gra_causal_mask and gra_attention) from ops of core/gradus.h such as
 *     gra_arange(t, n)                     0, 1, ... n - 1, of shape (n)
 *     gra_gt(t, a, b), gra_le(t, a, b)     1 where a > b (a <= b), else 0; (n) and (n, 1) stretch to (n, n)
 *     gra_masked_fill(t, x, mask, value)   value where the mask is not 0, else x
 *     gra_softmax(t, x, d), gra_sum_dim(t, x, d, true), gra_div, gra_mul, gra_matmul, gra_matmul_nt,
 *     gra_reshape
 */
/* 17 causal_mask, solved.
 *
 * The column numbers 0 ... T - 1 as (T), the row numbers as (T, 1): compared, both stretch to (T, T), and
 * column > row is the future. A token sees itself, so the diagonal stays; then no row is empty, and none is
 * divided by 0.
 *
 * Why the same: softmax before the mask gives e^s_j / Z for each j, with Z the sum over all. When these are
 * divided by their sum over the past, Z cancels, and e^s_j / (sum over the past) is left. But if a score of
 * the future exceeds those of the past by some 750, e^s_j / Z becomes 0 for the past, which leaves 0/0. So
 * the mask comes first.
 */
#include "exercises.h"

//{
static gra_tensor *future(gra_tape *t, int T)                                       /* (T, T): 1, else 0 */
{
    gra_tensor *column = gra_arange(t, T), *row = gra_reshape(t, gra_arange(t, T), GRA_SHAPE(T, 1));
    return gra_gt(t, column, row);
}

//}
gra_tensor *masked_before(gra_tape *t, gra_tensor *s)
{
//| return gra_zeros(t, s->shape);                                                      /* TO DO */
    return gra_softmax(t, gra_masked_fill(t, s, future(t, gra_dim(s, 0)), -INFINITY), 1);
}

gra_tensor *masked_after(gra_tape *t, gra_tensor *s)
{
//| return gra_zeros(t, s->shape);                                                      /* TO DO */
    gra_tensor *left = gra_masked_fill(t, gra_softmax(t, s, 1), future(t, gra_dim(s, 0)), 0);
    return gra_div(t, left, gra_sum_dim(t, left, 1, true));
}

gra_tensor *causal_attention(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v)
{
//| (void)q, (void)k;                                                                   /* TO DO */
//| return gra_zeros(t, v->shape);
    gra_tensor *s = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(q, 1)));      /* (T, T) */
    return gra_matmul(t, masked_before(t, s), v);
}
