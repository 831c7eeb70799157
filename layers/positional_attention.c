/* Attention that learns positions by itself: y = attention(x + E), E a positional embedding with a
 * row of d_in numbers for each of context_length positions. One head that sees all positions, one
 * that sees those before it (causal), and several of the second kind,
 * y = concat(head_1(x) ... head_n(x)) W_o^T + b_o. */
#include "attend.h"
#include "../core/op.h"

void gra_positional_self_attention_init(struct gra_positional_self_attention *a, gra_scope scope, int d_in,
                                        int d_out, int context_length, bool qkv_bias)
{
    gra_self_attention_init(&a->att, scope, d_in, d_out, qkv_bias);
    gra_positional_embedding_init(&a->pos, gra_enter(scope, "positional_encoding"), context_length, d_in);
}

gra_tensor *gra_positional_self_attention_forward(gra_tape *t, const struct gra_positional_self_attention *a,
                                                  gra_tensor *x)
{
    return gra_self_attention_forward(t, &a->att, gra_positional_embedding_forward(t, &a->pos, x));
}

void gra_positional_causal_attention_init(struct gra_positional_causal_attention *a, gra_scope scope, int d_in,
                                          int d_out, int context_length, double dropout, bool qkv_bias)
{
    gra_causal_attention_init(&a->att, scope, d_in, d_out, context_length, dropout, qkv_bias);
    gra_positional_embedding_init(&a->pos, gra_enter(scope, "positional_encoding"), context_length, d_in);
}

gra_tensor *gra_positional_causal_attention_forward(gra_tape *t, const struct gra_positional_causal_attention *a,
                                                    gra_tensor *x)
{
    return gra_causal_attention_forward(t, &a->att, gra_positional_embedding_forward(t, &a->pos, x));
}

void gra_positional_multi_head_attention_init(struct gra_positional_multi_head_attention *a, gra_scope scope,
                                              int d_in, int d_out, int context_length, double dropout,
                                              int num_heads, bool qkv_bias)
{
    const char *name = "positional_multi_head_attention";
    *a = (struct gra_positional_multi_head_attention){ .num_heads = num_heads };
    gra_attention_sizes(scope.model, name, d_in, d_out, context_length, num_heads, dropout);
    if (num_heads > 0 && d_out > INT_MAX / num_heads)
        gra_model_fail(scope.model, "%s: %d heads of %d columns are more than %d columns", name, num_heads,
                       d_out, INT_MAX);
    if (gra_model_error(scope.model))
        return;
    a->heads = gra_model_alloc(scope.model, (size_t)num_heads * sizeof *a->heads);
    for (int h = 0; a->heads && h < num_heads; h++)
        gra_positional_causal_attention_init(&a->heads[h], gra_enter(scope, "heads.%d", h), d_in, d_out,
                                             context_length, dropout, qkv_bias);
    gra_linear_init(&a->out_proj, gra_enter(scope, "out_proj"), num_heads * d_out, d_out, qkv_bias);
}

gra_tensor *gra_positional_multi_head_attention_forward(gra_tape *t,
                                                        const struct gra_positional_multi_head_attention *a,
                                                        gra_tensor *x)
{
    if (GRA_REFUSES(t, "positional_multi_head_attention", x))
        return gra_empty(t);
    if (!a->heads)
        return gra_fail(t, "positional_multi_head_attention: it was not made: gra_model_error says why");
    gra_tensor **y = gra_alloc(t, (size_t)a->num_heads * sizeof *y);
    for (int h = 0; y && h < a->num_heads; h++)
        y[h] = gra_positional_causal_attention_forward(t, &a->heads[h], x);         /* (..., time, d_out) */
    return gra_linear_forward(t, &a->out_proj, gra_concat(t, a->num_heads, y, -1));
}
