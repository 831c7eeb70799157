/* SelfAttention: y = softmax(q k^T / sqrt(d_out)) v, where every position sees every other. The two
 * kinds differ in their projections:
 *
 *     Linears          q = x W_query^T + b ...,  W (d_out, d_in)
 *     bare matrices    q = x W_query ...,        W (d_in, d_out) */
#include "attend.h"
#include "../core/op.h"

void gra_self_attention_init(struct gra_self_attention *a, gra_scope scope, int d_in, int d_out, bool qkv_bias)
{
    gra_attention_sizes(scope.model, "self_attention", d_in, d_out, INT_MAX, 1, 0);
    *a = (struct gra_self_attention){ .d_in = d_in };
    gra_linear_init(&a->query, gra_enter(scope, "W_query"), d_in, d_out, qkv_bias);
    gra_linear_init(&a->key,   gra_enter(scope, "W_key"),   d_in, d_out, qkv_bias);
    gra_linear_init(&a->value, gra_enter(scope, "W_value"), d_in, d_out, qkv_bias);
}

gra_tensor *gra_self_attention_forward(gra_tape *t, const struct gra_self_attention *a, gra_tensor *x)
{
    if (gra_attention_refuses(t, "self_attention", x, a->d_in, INT_MAX))
        return gra_empty(t);
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = gra_linear_forward(t, &a->value, x);
    return gra_attend(t, q, k, v, 1, false, 0);
}

void gra_self_attention_v1_init(struct gra_self_attention_v1 *a, gra_scope scope, int d_in, int d_out)
{
    const gra_init rand = gra_init_uniform(0, 1);
    gra_attention_sizes(scope.model, "self_attention_v1", d_in, d_out, INT_MAX, 1, 0);
    *a = (struct gra_self_attention_v1){ .d_in = d_in };
    a->query = gra_param(scope, "W_query", rand, GRA_SHAPE(d_in, d_out));
    a->key   = gra_param(scope, "W_key",   rand, GRA_SHAPE(d_in, d_out));
    a->value = gra_param(scope, "W_value", rand, GRA_SHAPE(d_in, d_out));
}

gra_tensor *gra_self_attention_v1_forward(gra_tape *t, const struct gra_self_attention_v1 *a, gra_tensor *x)
{
    if (gra_attention_refuses(t, "self_attention_v1", x, a->d_in, INT_MAX))
        return gra_empty(t);
    gra_tensor *q = gra_matmul(t, x, a->query);                     /* (..., time, d_out) */
    gra_tensor *k = gra_matmul(t, x, a->key);
    gra_tensor *v = gra_matmul(t, x, a->value);
    return gra_attend(t, q, k, v, 1, false, 0);
}
