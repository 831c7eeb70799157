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
 * four are named "query", "key", "value" and "out", and are made in this order.
 *
 * Write a layer as a user of the library would: init makes the parameters in the scope, forward is written in
 * ops (gra_reshape, gra_permute, gra_matmul, gra_matmul_nt, gra_causal_mask, gra_softmax, ...). The library's
 * gra_attention could do it in a line; build it from these parts instead. Products of tensors broadcast over
 * the dimensions before the last two: keys (batch, G, 1, time, d) serve queries (batch, G, H / G, time, d).
 */
#include "exercises.h"

void grouped_query_init(struct grouped_query *l, gra_scope scope, int dim, int heads, int kv_heads)
{
    (void)scope, (void)dim;                             /* TO DO: query, key, value, out */
    l->heads = heads;
    l->kv_heads = kv_heads;
}

gra_tensor *grouped_query_forward(gra_tape *t, const struct grouped_query *l, gra_tensor *x)
{
    (void)t, (void)l;
    return x;                                           /* TO DO */
}
