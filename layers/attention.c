/* Attention: q = x W_query^T, k = x W_key^T, v = x W_value^T, and in each head
 *
 *     y_h = dropout(softmax(q_h k_h^T / sqrt(d))) v_h,   d = d_out / num_heads,
 *
 * where q_h, k_h, v_h are columns h d .. h d + d - 1 of q, k, v. The causal mask lets position i see 0 .. i.
 *
 *     CausalAttention      y = y_0, the one head
 *     MultiHeadAttention   y = concat(y_0, y_1 ...) W_o^T + b_o */
#include "given.h"

/* ---- shared by both layers: the checks, the three projections, the call of the op ---- */

static int kv_heads(const gra_attention_config *c)
{
    return c->num_kv_heads ? c->num_kv_heads : c->num_heads;
}

/* Returns false, with an error of the model, if c is NULL or a field is out of range. */
static bool check_config(gra_model *m, const char *layer, const gra_attention_config *c)
{
    if (!c) {
        gra_model_fail(m, "%s: got NULL for the config, expected a gra_attention_config", layer);
        return false;
    }
    if (!gra_given_size(m, layer, "d_in", c->d_in) || !gra_given_size(m, layer, "d_out", c->d_out) ||
        !gra_given_size(m, layer, "context_length", c->context_length) ||
        !gra_given_size(m, layer, "num_heads", c->num_heads))
        return false;
    const int kv = kv_heads(c);
    if (c->d_out % c->num_heads)
        gra_model_fail(m, "%s: got num_heads %d, expected a divisor of d_out %d", layer, c->num_heads,
                       c->d_out);
    else if (kv < 1 || c->num_heads % kv)
        gra_model_fail(m, "%s: got num_kv_heads %d, expected a divisor of num_heads %d", layer, kv,
                       c->num_heads);
    else if (!(c->dropout >= 0 && c->dropout < 1))
        gra_model_fail(m, "%s: got dropout %g, expected 0 <= dropout < 1", layer, c->dropout);
    else
        return true;
    return false;
}

static void init_projections(gra_scope scope, const gra_attention_config *c, struct gra_linear *query,
                             struct gra_linear *key, struct gra_linear *value)
{
    const int kv = c->d_out / c->num_heads * kv_heads(c);
    gra_linear_init_with(query, gra_enter(scope, "W_query"), c->d_in, c->d_out, c->qkv_bias, c->qkv_init);
    gra_linear_init_with(key,   gra_enter(scope, "W_key"),   c->d_in, kv, c->qkv_bias, c->qkv_init);
    gra_linear_init_with(value, gra_enter(scope, "W_value"), c->d_in, kv, c->qkv_bias, c->qkv_init);
}

/* Returns false, with an error of the tape, if the layer is NULL (then its config c is NULL), or if x is not
 * (..., time, d_in) or has more tokens than context_length. */
static bool check_x(gra_tape *t, const char *layer, const gra_attention_config *c, gra_tensor *x)
{
    if (!gra_given_to_forward(t, layer, c) || GRA_BAD_INPUTS(t, layer, x))
        return false;
    if (!c->d_in)
        gra_fail(t, "%s: the layer was not made: call its init first (if that failed, gra_model_error "
                 "reports why)", layer);
    else if (x->shape.ndim < 2 || gra_dim(x, -1) != c->d_in)
        gra_fail(t, "%s: got x %s, expected (..., time, %d)", layer, GRA_SHAPE_OF(x), c->d_in);
    else if (gra_dim(x, -2) > c->context_length)
        gra_fail(t, "%s: got %d tokens, expected at most the context length %d", layer, gra_dim(x, -2),
                 c->context_length);
    return !gra_error(t);
}

static gra_tensor *batched(gra_tape *t, gra_tensor *x)          /* a view, (batch, time, dim) */
{
    const int batch = x->shape.ndim == 2 ? 1 : -1;
    return x->shape.ndim == 3 ? x : gra_reshape(t, x, GRA_SHAPE(batch, gra_dim(x, -2), gra_dim(x, -1)));
}

/* gra_attention of q, k, v (..., time, dim): all dimensions before time are the batch. */
static gra_tensor *attend(gra_tape *t, const gra_attention_config *c, gra_tensor *q, gra_tensor *k,
                          gra_tensor *v)
{
    gra_tensor *y = gra_attention(t, batched(t, q), batched(t, k), batched(t, v), &(gra_attention_options){
                                  .heads = c->num_heads, .causal = !c->bidirectional,
                                  .dropout = c->dropout });
    return q->shape.ndim == 3 ? y : gra_reshape(t, y, q->shape);
}

/* ---- CausalAttention ---- */

void gra_causal_attention_init(struct gra_causal_attention *a, gra_scope scope,
                               const gra_attention_config *config)
{
    const char *name = "causal_attention";
    if (!gra_given_to_init(scope, name, a))
        return;
    gra_attention_config c = config ? *config : (gra_attention_config){ 0 };
    *a = (struct gra_causal_attention){ 0 };
    c.num_heads = c.num_heads ? c.num_heads : 1;
    if (!check_config(scope.model, name, config ? &c : NULL))
        return;
    if (c.num_heads > 1)
        gra_model_fail(scope.model, "%s: got num_heads %d, expected 1: for more heads use "
                       "multi_head_attention", name, c.num_heads);
    else if (c.bias || c.bidirectional)
        gra_model_fail(scope.model, "%s: got %s true, expected false: %s", name,
                       c.bias ? "bias" : "bidirectional",
                       c.bias ? "it has no out_proj (qkv_bias is for its projections)" : "it is causal");
    else {
        a->config = c;
        init_projections(scope, &c, &a->query, &a->key, &a->value);
    }
}

gra_tensor *gra_causal_attention_forward(gra_tape *t, const struct gra_causal_attention *a, gra_tensor *x)
{
    if (!check_x(t, "causal_attention", a ? &a->config : NULL, x))
        return gra_empty(t);
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = gra_linear_forward(t, &a->value, x);
    return attend(t, &a->config, q, k, v);
}

/* ---- MultiHeadAttention ---- */

void gra_multi_head_attention_init(struct gra_multi_head_attention *a, gra_scope scope,
                                   const gra_attention_config *config)
{
    const gra_attention_config *c = config;
    if (!gra_given_to_init(scope, "multi_head_attention", a))
        return;
    *a = (struct gra_multi_head_attention){ 0 };
    if (!check_config(scope.model, "multi_head_attention", c))
        return;
    a->config = *c;
    init_projections(scope, c, &a->query, &a->key, &a->value);
    gra_linear_init_with(&a->out_proj, gra_enter(scope, "out_proj"), c->d_out, c->d_out, c->bias,
                         c->out_init);
}

gra_tensor *gra_multi_head_attention_forward(gra_tape *t, const struct gra_multi_head_attention *a,
                                             gra_tensor *x)
{
    if (!check_x(t, "multi_head_attention", a ? &a->config : NULL, x))
        return gra_empty(t);
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (..., time, d_out) */
    gra_tensor *k = gra_linear_forward(t, &a->key,   x);
    gra_tensor *v = gra_linear_forward(t, &a->value, x);
    gra_tensor *y = attend(t, &a->config, q, k, v);                 /* (..., time, d_out) */
    return gra_linear_forward(t, &a->out_proj, y);
}

/* ---- with a key-value cache ---- */

static bool check_cache(gra_tape *t, const gra_attention_config *c, const gra_tensor *x,
                        const gra_kv_cache *cache, int block)
{
    const char *name = "multi_head_attention";
    const int width = c->d_out / c->num_heads * kv_heads(c);
    if (gra_tape_mode(t) != GRA_EVAL)
        gra_fail(t, "%s: got a step that records, expected GRA_EVAL: no gradient flows through a key-value "
                 "cache", name);
    else if (c->bidirectional)
        gra_fail(t, "%s: got a bidirectional layer, expected a causal one: with a cache, later tokens cannot "
                 "change earlier rows", name);
    else if (x->shape.ndim != 3 || x->shape.dim[0] != 1)
        gra_fail(t, "%s: got x %s, expected (1, time, %d): a key-value cache is for one sequence", name,
                 GRA_SHAPE_OF(x), c->d_in);
    else if (!cache || !cache->rows)
        gra_fail(t, "%s: the cache is not open: call gra_kv_cache_open first, which must return 0", name);
    else if (cache->width != width || block < 0 || block >= cache->blocks)
        gra_fail(t, "%s: got block %d with keys of width %d, expected one of the cache's %d blocks of width "
                 "%d", name, block, width, cache->blocks, cache->width);
    else if (gra_dim(x, -2) > cache->context_length - cache->time)
        gra_fail(t, "%s: got %d tokens after %d others, expected at most the context length %d in all", name,
                 gra_dim(x, -2), cache->time, cache->context_length);
    return !gra_error(t);
}

/* Copies x (1, time, dim) after the first `filled` rows of the cache. Returns all these rows as one tensor
 * (1, filled + time, dim). */
static gra_tensor *append(gra_tape *t, real *rows, int filled, gra_tensor *x)
{
    if (gra_error(t))
        return gra_empty(t);
    const int time = gra_dim(x, -2), dim = gra_dim(x, -1);
    memcpy(rows + (size_t)filled * (size_t)dim, x->data, x->size * sizeof *rows);
    return gra_borrow(t, rows, GRA_SHAPE(1, filled + time, dim));
}

gra_tensor *gra_multi_head_attention_forward_cached(gra_tape *t, const struct gra_multi_head_attention *a,
                                                    gra_tensor *x, const gra_kv_cache *cache, int block)
{
    if (!check_x(t, "multi_head_attention", a ? &a->config : NULL, x) ||
        !check_cache(t, &a->config, x, cache, block))
        return gra_empty(t);
    const size_t size = (size_t)cache->context_length * (size_t)cache->width;
    real *keys = cache->rows + 2 * (size_t)block * size, *values = keys + size;
    gra_tensor *q = gra_linear_forward(t, &a->query, x);            /* (1, time, d_out) */
    gra_tensor *k = gra_linear_forward(t, &a->key,   x);            /* (1, time, width) */
    gra_tensor *v = gra_linear_forward(t, &a->value, x);
    k = append(t, keys,   cache->time, k);                          /* (1, cache->time + time, width) */
    v = append(t, values, cache->time, v);
    gra_tensor *y = attend(t, &a->config, q, k, v);                 /* (1, time, d_out) */
    return gra_linear_forward(t, &a->out_proj, y);
}
