/* 30 grouped_query: several query heads share keys and values.
 *
 * A model that generates text keeps the keys and values of all tokens so far. Grouped-query attention
 * (Ainslie et al. 2023; LLaMA 2 and 3) has fewer of them: the H query heads form G groups of H / G
 * neighbours, and each group shares one head of keys and values. With G = H it is multi-head attention, with
 * G = 1 multi-query attention.
 *
 * For x (batch, time, dim), with d = dim / H columns for each head:
 *
 *     q = query(x)        (batch, time, H d)          heads 0 ... H-1 are side by side, d columns each
 *     k, v = key(x), value(x)  (batch, time, G d)     as are heads 0 ... G-1
 *     head h:     softmax(mask(q_h k_g^T / sqrt(d))) v_g,   g = h / (H / G)    (0, 0, 1, 1 for H = 4, G = 2)
 *     y = out(the heads side by side)                 (batch, time, dim)
 *
 * mask is the causal mask: a position sees itself and those before it. No Linear has a bias. In the model the
 * four Linears are named "query", "key", "value" and "out", and are made in this order.
 *
 * Write a layer as a user of the library would: init makes the parameters in the scope, forward is written in
 * ops (gra_reshape, gra_permute, gra_matmul, gra_matmul_nt, gra_causal_mask, gra_softmax, ...). The library's
 * gra_attention could do it in a line; build it from these parts instead. Products of tensors broadcast over
 * the dimensions before the last two: keys (batch, G, 1, time, d) serve queries (batch, G, H / G, time, d).
 */
/* 30 grouped_query, solved.
 *
 * Neighbouring heads share keys and values, so the H query heads are G groups of H / G. After a reshape to
 * (batch, time, G, H/G, d) the group is a separate dimension, and keys and values, (batch, time, G, 1, d),
 * stretch over the heads of a group. With time moved before d, the last two dimensions are the matrices of a
 * head, and one product does all of them. No key is ever copied; in the backward the sum over the stretched
 * dimension adds up the gradients that the heads of a group have for their keys.
 *
 * key and value are (G d) wide, which is what a cache saves. The scale is the root of d, the length of the
 * vectors that are multiplied, not of dim.
 */
#include "exercises.h"
//{
#include <math.h>
//}

void grouped_query_init(struct grouped_query *l, gra_scope scope, int dim, int heads, int kv_heads)
{
//| (void)scope, (void)dim;                             /* TO DO: query, key, value, out */
    const int kv_dim = dim / heads * kv_heads;
//}
    l->heads = heads;
    l->kv_heads = kv_heads;
//{
    gra_linear_init(&l->query, gra_enter(scope, "query"), dim, dim, false);
    gra_linear_init(&l->key, gra_enter(scope, "key"), dim, kv_dim, false);
    gra_linear_init(&l->value, gra_enter(scope, "value"), dim, kv_dim, false);
    gra_linear_init(&l->out, gra_enter(scope, "out"), dim, dim, false);
}

/* (batch, time, groups * each * d) -> (batch, groups, each, time, d) */
static gra_tensor *split(gra_tape *t, gra_tensor *x, int groups, int each)
{
    const int d = gra_dim(x, -1) / (groups * each);
    x = gra_reshape(t, x, GRA_SHAPE(gra_dim(x, 0), gra_dim(x, 1), groups, each, d));
    return gra_permute(t, x, (int[]){ 0, 2, 3, 1, 4 });
//}
}

gra_tensor *grouped_query_forward(gra_tape *t, const struct grouped_query *l, gra_tensor *x)
{
//| (void)t, (void)l;
//| return x;                                           /* TO DO */
    const int group = l->heads / l->kv_heads;
    gra_tensor *q = split(t, gra_linear_forward(t, &l->query, x), l->kv_heads, group);
    gra_tensor *k = split(t, gra_linear_forward(t, &l->key, x), l->kv_heads, 1);
    gra_tensor *v = split(t, gra_linear_forward(t, &l->value, x), l->kv_heads, 1);
    const double scale = 1 / sqrt(gra_dim(q, -1));
    gra_tensor *scores = gra_causal_mask(t, gra_scale(t, gra_matmul_nt(t, q, k), scale)); /* (query, key) */
    gra_tensor *heads = gra_matmul(t, gra_softmax(t, scores, -1), v);
    gra_tensor *y = gra_permute(t, heads, (int[]){ 0, 3, 1, 2, 4 });
    return gra_linear_forward(t, &l->out, gra_reshape(t, y, GRA_SHAPE(gra_dim(x, 0), gra_dim(x, 1), -1)));
}
