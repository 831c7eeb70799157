/* MultiHeadAttention: y = concat(head_1 ... head_n) W_o^T + b_o, where
 *
 *     head_h = dropout(softmax(q_h k_h^T / sqrt(d))) v_h,   d = d_out / num_heads,
 *
 * and q_h, k_h, v_h are columns h d .. h d + d - 1 of q = x W_query^T, k = x W_key^T, v = x W_value^T.
 * Position i sees 0 .. i. Two variants learn less: one has v = x, another k = v = x. */
#include "attend.h"
#include "../core/op.h"

static void init(struct gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out, int context_length,
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
    *a = (struct gra_multi_head_attention){ .d_in = d_in, .context_length = context_length, .num_heads = num_heads,
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

void gra_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out,
                                   int context_length, double dropout, int num_heads, bool qkv_bias)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, &torch, false, false);
}

void gra_multi_head_attention_init_with(struct gra_multi_head_attention *a, gra_scope scope, int d_in, int d_out,
                                        int context_length, double dropout, int num_heads, bool qkv_bias,
                                        const gra_projections *how)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, how, false, false);
}

void gra_optimized_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope, int d_in,
                                             int d_out, int context_length, double dropout, int num_heads,
                                             bool qkv_bias)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, &torch, false, true);
}

void gra_efficient_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope, int d_in,
                                             int d_out, int context_length, double dropout, int num_heads,
                                             bool qkv_bias)
{
    init(a, scope, d_in, d_out, context_length, dropout, num_heads, qkv_bias, &torch, true, true);
}

static bool refuses_past(gra_tape *t, const struct gra_multi_head_attention *a, const gra_tensor *x,
                         const gra_past *past)
{
    const char *name = "multi_head_attention";
    if (gra_tape_mode(t) != GRA_EVAL)
        gra_fail(t, "%s: through remembered keys and values no gradient flows: begin the step as GRA_EVAL",
                 name);
    else if (x->shape.ndim != 3 || x->shape.dim[0] != 1)
        gra_fail(t, "%s: x is %s, but what is remembered is of one sequence: (1, time, %d) is wanted", name,
                 GRA_SHAPE_OF(x), a->d_in);
    else if (gra_dim(x, -2) > a->context_length - past->time)
        gra_fail(t, "%s: %d tokens after %d others, but the context length is %d", name, gra_dim(x, -2),
                 past->time, a->context_length);
    return gra_error(t) != NULL;
}

/* x's rows, put behind the remembered ones: all of them, (1, past + time, dim). */
static gra_tensor *remember(gra_tape *t, real *rows, int past, gra_tensor *x)
{
    if (gra_error(t))
        return gra_empty(t);
    const int time = gra_dim(x, -2), dim = gra_dim(x, -1);
    memcpy(rows + (size_t)past * (size_t)dim, x->data, x->size * sizeof *rows);
    return gra_borrow(t, rows, GRA_SHAPE(1, past + time, dim));
}

gra_tensor *gra_multi_head_attention_continue(gra_tape *t, const struct gra_multi_head_attention *a, gra_tensor *x,
                                              const gra_past *past)
{
    if (gra_attention_refuses(t, "multi_head_attention", x, a->d_in, a->context_length) ||
        (past && refuses_past(t, a, x, past)))
        return gra_empty(t);
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = a->keys_are_x   ? x : gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = a->values_are_x ? x : gra_linear_forward(t, &a->value, x);
    if (past) {
        k = remember(t, past->keys,   past->time, k);               /* (1, past + time, d_out) */
        v = remember(t, past->values, past->time, v);
    }
    gra_tensor *y = gra_attend(t, q, k, v, a->num_heads, true, a->dropout); /* causal; the shape of q */
    return gra_linear_forward(t, &a->out_proj, y);
}

gra_tensor *gra_multi_head_attention_forward(gra_tape *t, const struct gra_multi_head_attention *a, gra_tensor *x)
{
    return gra_multi_head_attention_continue(t, a, x, NULL);
}
