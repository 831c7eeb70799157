/* MultiHeadAttentionWrapper: y = concat(head_1(x) ... head_n(x)), whole CausalAttentions side by side. */
#include "attend.h"
#include "../core/op.h"

void gra_multi_head_attention_wrapper_init(struct gra_multi_head_attention_wrapper *a, gra_scope scope, int d_in,
                                           int d_out, int context_length, double dropout, int num_heads,
                                           bool qkv_bias)
{
    *a = (struct gra_multi_head_attention_wrapper){ .num_heads = num_heads };
    gra_attention_sizes(scope.model, "multi_head_attention_wrapper", d_in, d_out, context_length, num_heads,
                        dropout);
    if (gra_model_error(scope.model))
        return;
    a->heads = gra_model_alloc(scope.model, (size_t)num_heads * sizeof *a->heads);
    for (int h = 0; a->heads && h < num_heads; h++)
        gra_causal_attention_init(&a->heads[h], gra_enter(scope, "heads.%d", h), d_in, d_out, context_length,
                                  dropout, qkv_bias);
}

gra_tensor *gra_multi_head_attention_wrapper_forward(gra_tape *t, const struct gra_multi_head_attention_wrapper *a,
                                                     gra_tensor *x)
{
    if (GRA_REFUSES(t, "multi_head_attention_wrapper", x))
        return gra_empty(t);
    if (!a->heads)
        return gra_fail(t, "multi_head_attention_wrapper: it was not made: gra_model_error says why");
    gra_tensor **y = gra_alloc(t, (size_t)a->num_heads * sizeof *y);
    for (int h = 0; y && h < a->num_heads; h++)
        y[h] = gra_causal_attention_forward(t, &a->heads[h], x);    /* (..., time, d_out) */
    return gra_concat(t, a->num_heads, y, -1);                      /* (..., time, num_heads d_out) */
}
