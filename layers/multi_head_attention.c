/* MultiHeadAttention: y = concat(head_1 ... head_n) W_o^T + b_o, where
 *
 *     head_h = dropout(softmax(q_h k_h^T / sqrt(d))) v_h,   d = d_out / num_heads,
 *
 * and q_h, k_h, v_h are columns h d .. h d + d - 1 of q = x W_query^T, k = x W_key^T, v = x W_value^T.
 * Position i sees 0 .. i. Two variants learn less: one has v = x, another k = v = x. */
#include "attend.h"
#include "../core/op.h"

static void init(gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out, int context_length,
                 double dropout, int num_heads, bool qkv_bias, const gra_projections *how, bool keys_are_x,
                 bool values_are_x)
{
    const char *name = "multi_head_attention";
    gra_attention_sizes(scope.model, name, d_in, d_out, context_length, num_heads, dropout);
    if (num_heads > 0 && d_out % num_heads)
        gra_model_fail(scope.model, "%s: d_out %d cannot be divided by num_heads %d", name, d_out, num_heads);
    if (values_are_x && d_in != d_out)
        gra_model_fail(scope.model, "%s: d_in is %d and d_out %d, but where values are x they must be equal",
                       name, d_in, d_out);
    *a = (gra_multi_head_attention){ .d_in = d_in, .context_length = context_length, .num_heads = num_heads,
                                     .dropout = dropout, .keys_are_x = keys_are_x,
                                     .values_are_x = values_are_x };
    gra_linear_init_with(&a->query, gra_enter(scope, "W_query"), d_in, d_out, qkv_bias, how->read);
    if (!keys_are_x)
        gra_linear_init_with(&a->key, gra_enter(scope, "W_key"), d_in, d_out, qkv_bias, how->read);
    if (!values_are_x)
        gra_linear_init_with(&a->value, gra_enter(scope, "W_value"), d_in, d_out, qkv_bias, how->read);
    gra_linear_init_with(&a->out_proj, gra_enter(scope, "out_proj"), d_out, d_out, how->bias, how->write);
}

static const gra_projections torch = { .bias = true };

void gra_multi_head_attention_init(gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out,
                                   int context_length, double dropout, int num_heads, bool qkv_bias)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, &torch, false, false);
}

void gra_multi_head_attention_init_with(gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out,
                                        int context_length, double dropout, int num_heads, bool qkv_bias,
                                        const gra_projections *how)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, how, false, false);
}

void gra_optimized_multi_head_attention_init(gra_multi_head_attention *a, gra_scope scope, int d_in,
                                             int d_out, int context_length, double dropout, int num_heads,
                                             bool qkv_bias)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, &torch, false, true);
}

void gra_efficient_multi_head_attention_init(gra_multi_head_attention *a, gra_scope scope, int d_in,
                                             int d_out, int context_length, double dropout, int num_heads,
                                             bool qkv_bias)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, &torch, true, true);
}

gra_tensor *gra_multi_head_attention_forward(gra_tape *t, const gra_multi_head_attention *a, gra_tensor *x)
{
    if (gra_attention_refuses(t, "multi_head_attention", x, a->d_in, a->context_length))
        return gra_empty(t);
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = a->keys_are_x   ? x : gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = a->values_are_x ? x : gra_linear_forward(t, &a->value, x);
    gra_tensor *y = gra_attend(t, q, k, v, a->num_heads, true, a->dropout); /* causal; the same shape */
    return gra_linear_forward(t, &a->out_proj, y);
}
