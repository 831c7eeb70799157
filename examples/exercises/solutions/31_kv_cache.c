/* 31 kv_cache, solved.
 *
 * Four things differ from the whole text: the first new token is at position cache->time; keys and values are
 * appended to the arrays; the queries of the n new tokens look at all cache->time + n keys; and the scores
 * are then (n, all), where the causal mask removes what is to the right of each query's own column, so that
 * the last row sees everything. That the numbers are the same is the point of a causal mask: row i of y needs
 * only rows 0 ... i of k and v.
 */
#include "exercises.h"
#include <math.h>
#include <string.h>

gra_tensor *tiny_logits(gra_tape *t, const struct tiny_model *m, const int *ids, int n)
{
    gra_tensor *x = gra_embedding_forward(t, &m->tokens, ids, GRA_SHAPE(n));            /* (n, dim) */
    x = gra_positional_embedding_forward(t, &m->positions, x);
    gra_tensor *q = gra_linear_forward(t, &m->query, x), *k = gra_linear_forward(t, &m->key, x);
    gra_tensor *v = gra_linear_forward(t, &m->value, x);
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(gra_dim(x, -1)));       /* (n, n) */
    gra_tensor *y = gra_matmul(t, gra_softmax(t, gra_causal_mask(t, scores), -1), v);
    return gra_linear_forward(t, &m->head, gra_add(t, x, y));
}

gra_tensor *tiny_logits_cached(gra_tape *t, const struct tiny_model *m, const int *ids, int n,
                               struct kv_cache *cache)
{
    gra_tensor *x = gra_embedding_forward(t, &m->tokens, ids, GRA_SHAPE(n));            /* (n, dim) */
    x = gra_positional_embedding_forward_from(t, &m->positions, x, cache->time);
    gra_tensor *q = gra_linear_forward(t, &m->query, x), *k = gra_linear_forward(t, &m->key, x);
    gra_tensor *v = gra_linear_forward(t, &m->value, x);
    const int dim = gra_dim(x, -1), all = cache->time + n;
    memcpy(cache->keys + cache->time * dim, k->data, k->size * sizeof *cache->keys);
    memcpy(cache->values + cache->time * dim, v->data, v->size * sizeof *cache->values);
    cache->time = all;
    k = gra_borrow(t, cache->keys, GRA_SHAPE(all, dim));
    v = gra_borrow(t, cache->values, GRA_SHAPE(all, dim));
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), 1 / sqrt(dim));                  /* (n, all) */
    gra_tensor *y = gra_matmul(t, gra_softmax(t, gra_causal_mask(t, scores), -1), v);
    return gra_linear_forward(t, &m->head, gra_add(t, x, y));
}
