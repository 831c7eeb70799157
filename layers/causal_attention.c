/* CausalAttention: y = dropout(softmax(q k^T / sqrt(d_out))) v, where position i sees 0 .. i;
 * q = x W_query^T, k = x W_key^T, v = x W_value^T, with biases if qkv_bias. */
#include "attend.h"
#include "../core/op.h"

void gra_causal_attention_init(struct gra_causal_attention *a, gra_scope scope, int d_in, int d_out,
                               int context_length, double dropout, bool qkv_bias)
{
    gra_attention_sizes(scope.model, "causal_attention", d_in, d_out, context_length, 1, dropout);
    *a = (struct gra_causal_attention){ .d_in = d_in, .context_length = context_length, .dropout = dropout };
    gra_linear_init(&a->query, gra_enter(scope, "W_query"), d_in, d_out, qkv_bias);
    gra_linear_init(&a->key,   gra_enter(scope, "W_key"),   d_in, d_out, qkv_bias);
    gra_linear_init(&a->value, gra_enter(scope, "W_value"), d_in, d_out, qkv_bias);
}

gra_tensor *gra_causal_attention_forward(gra_tape *t, const struct gra_causal_attention *a, gra_tensor *x)
{
    if (gra_attention_refuses(t, "causal_attention", x, a->d_in, a->context_length))
        return gra_empty(t);
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = gra_linear_forward(t, &a->value, x);
    return gra_attend(t, q, k, v, 1, true, a->dropout);             /* one head, causal */
}
