/* book: see book.h. Errors need no code here: a layer whose init failed has NULL parameters, and the first op
 * that gets such a NULL reports it. */
#include "book.h"
#include "../../../core/op.h"

gra_tensor *six_words(gra_tape *t)
{
    static const gra_real words[6 * 3] = {
        (gra_real)0.43, (gra_real)0.15, (gra_real)0.89,     /* Your */
        (gra_real)0.55, (gra_real)0.87, (gra_real)0.66,     /* journey */
        (gra_real)0.57, (gra_real)0.85, (gra_real)0.64,     /* starts */
        (gra_real)0.22, (gra_real)0.58, (gra_real)0.33,     /* with */
        (gra_real)0.77, (gra_real)0.25, (gra_real)0.10,     /* one */
        (gra_real)0.05, (gra_real)0.80, (gra_real)0.55,     /* step */
    };
    return gra_constant(t, words, GRA_SHAPE(6, 3));
}

/* One head that sees every position; (..., time, dim) is treated as (batch, time, dim). */
static gra_tensor *attend(gra_tape *t, gra_tensor *q, gra_tensor *k, gra_tensor *v)
{
    gra_tensor *in[] = { q, k, v };
    for (int i = 0; i < 3; i++)
        in[i] = gra_reshape(t, in[i], GRA_SHAPE(-1, gra_dim(in[i], -2), gra_dim(in[i], -1)));
    return gra_reshape(t, gra_attention(t, in[0], in[1], in[2], &(gra_attention_options){ .heads = 1 }),
                       v->shape);
}

void self_attention_v1_init(struct self_attention_v1 *a, gra_scope scope, int d_in, int d_out)
{
    a->query = gra_param(scope, "W_query", gra_init_uniform(0, 1), GRA_SHAPE(d_in, d_out));
    a->key   = gra_param(scope, "W_key",   gra_init_uniform(0, 1), GRA_SHAPE(d_in, d_out));
    a->value = gra_param(scope, "W_value", gra_init_uniform(0, 1), GRA_SHAPE(d_in, d_out));
}

gra_tensor *self_attention_v1_forward(gra_tape *t, const struct self_attention_v1 *a, gra_tensor *x)
{
    gra_tensor *q = gra_matmul(t, x, a->query);                     /* (..., time, d_out) */
    gra_tensor *k = gra_matmul(t, x, a->key);
    gra_tensor *v = gra_matmul(t, x, a->value);
    return attend(t, q, k, v);
}

void self_attention_init(struct self_attention *a, gra_scope scope, int d_in, int d_out)
{
    gra_linear_init(&a->query, gra_enter(scope, "W_query"), d_in, d_out, false);
    gra_linear_init(&a->key,   gra_enter(scope, "W_key"),   d_in, d_out, false);
    gra_linear_init(&a->value, gra_enter(scope, "W_value"), d_in, d_out, false);
}

gra_tensor *self_attention_forward(gra_tape *t, const struct self_attention *a, gra_tensor *x)
{
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = gra_linear_forward(t, &a->value, x);
    return attend(t, q, k, v);
}

void wrapper_init(struct wrapper *a, gra_scope scope, int n, const gra_attention_config *head)
{
    a->heads = gra_model_alloc(scope.model, (size_t)n * sizeof *a->heads);
    a->n = a->heads ? n : 0;
    for (int h = 0; h < a->n; h++)
        gra_causal_attention_init(&a->heads[h], gra_enter(scope, "heads.%d", h), head);
}

gra_tensor *wrapper_forward(gra_tape *t, const struct wrapper *a, gra_tensor *x)
{
    gra_tensor **y = gra_alloc(t, (size_t)a->n * sizeof *y);
    for (int h = 0; y && h < a->n; h++)
        y[h] = gra_causal_attention_forward(t, &a->heads[h], x);    /* (..., time, d_out) */
    return gra_concat(t, a->n, y, -1);                              /* (..., time, n d_out) */
}

void optimized_attention_init(struct lean_attention *a, gra_scope scope, int d, int num_heads)
{
    *a = (struct lean_attention){ .num_heads = num_heads };
    gra_linear_init(&a->query,    gra_enter(scope, "W_query"),  d, d, false);
    gra_linear_init(&a->key,      gra_enter(scope, "W_key"),    d, d, false);
    gra_linear_init(&a->out_proj, gra_enter(scope, "out_proj"), d, d, true);
}

void efficient_attention_init(struct lean_attention *a, gra_scope scope, int d, int num_heads)
{
    *a = (struct lean_attention){ .num_heads = num_heads };
    gra_linear_init(&a->query,    gra_enter(scope, "W_query"),  d, d, false);
    gra_linear_init(&a->out_proj, gra_enter(scope, "out_proj"), d, d, true);
}

gra_tensor *lean_attention_forward(gra_tape *t, const struct lean_attention *a, gra_tensor *x)
{
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (batch, time, d) */
    gra_tensor *k = a->key.weight ? gra_linear_forward(t, &a->key, x) : x;
    return gra_linear_forward(t, &a->out_proj, gra_attention(t, q, k, x, &(gra_attention_options){
                              .heads = a->num_heads, .causal = true }));
}

void positional_self_attention_init(struct positional_self_attention *a, gra_scope scope, int d_in, int d_out,
                                    int context_length)
{
    self_attention_init(&a->att, scope, d_in, d_out);
    gra_positional_embedding_init(&a->pos, gra_enter(scope, "positional_encoding"), context_length, d_in);
}

gra_tensor *positional_self_attention_forward(gra_tape *t, const struct positional_self_attention *a,
                                              gra_tensor *x)
{
    return self_attention_forward(t, &a->att, gra_positional_embedding_forward(t, &a->pos, x));
}

void positional_causal_attention_init(struct positional_causal_attention *a, gra_scope scope,
                                      const gra_attention_config *config)
{
    gra_causal_attention_init(&a->att, scope, config);
    gra_positional_embedding_init(&a->pos, gra_enter(scope, "positional_encoding"), config->context_length,
                                  config->d_in);
}

gra_tensor *positional_causal_attention_forward(gra_tape *t, const struct positional_causal_attention *a,
                                                gra_tensor *x)
{
    return gra_causal_attention_forward(t, &a->att, gra_positional_embedding_forward(t, &a->pos, x));
}

void positional_multi_head_attention_init(struct positional_multi_head_attention *a, gra_scope scope, int n,
                                          const gra_attention_config *head)
{
    a->heads = gra_model_alloc(scope.model, (size_t)n * sizeof *a->heads);
    a->n = a->heads ? n : 0;
    for (int h = 0; h < a->n; h++)
        positional_causal_attention_init(&a->heads[h], gra_enter(scope, "heads.%d", h), head);
    gra_linear_init(&a->out_proj, gra_enter(scope, "out_proj"), n * head->d_out, head->d_out, false);
}

gra_tensor *positional_multi_head_attention_forward(gra_tape *t,
                                                    const struct positional_multi_head_attention *a,
                                                    gra_tensor *x)
{
    gra_tensor **y = gra_alloc(t, (size_t)a->n * sizeof *y);
    for (int h = 0; y && h < a->n; h++)
        y[h] = positional_causal_attention_forward(t, &a->heads[h], x);         /* (..., time, d_out) */
    return gra_linear_forward(t, &a->out_proj, gra_concat(t, a->n, y, -1));
}
