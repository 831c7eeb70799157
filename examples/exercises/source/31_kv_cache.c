/* 31 kv_cache: a new token costs one row, not all of them.
 *
 * A model that generates text reads the whole text again for each new token, and computes all keys and values
 * again, although the keys and values of earlier tokens have not changed: with a causal mask, later tokens do
 * not affect them. A key-value cache keeps them. For n new tokens only n rows are computed: their queries
 * look at the keys in the cache and at the new keys.
 *
 * tiny_logits below computes the logits (n, vocabulary) of a text of n tokens. Write tiny_logits_cached. In
 * earlier calls it has seen the first cache->time tokens of a text. Given n more tokens, it returns the
 * logits (n, vocabulary) of the new tokens: the same numbers as the last n rows of tiny_logits for the whole
 * text. It appends the new keys and values to the cache (rows of dim numbers, as in tiny_logits) and adds n
 * to cache->time. n is 1 or more: a prompt can be given at once, and then one token at a time.
 *
 * Each call is a new step (the judge calls gra_begin with GRA_EVAL): the tensors of the previous call
 * are gone, and only the two arrays of the cache remain. Useful: gra_positional_embedding_forward_from, and
 * gra_constant or gra_borrow. Note that gra_causal_mask of (m, n), m <= n, aligns the last row with the last
 * column.
 */
/* 31 kv_cache, solved.
 *
 * Four things differ from the whole text: the first new token is at position cache->time; keys and values are
 * appended to the arrays; the queries of the n new tokens look at all cache->time + n keys; and the scores
 * are then (n, all), where the causal mask removes what is to the right of each query's own column, so that
 * the last row sees everything. The numbers are the same, which is the point of a causal mask: row i of y
 * needs only rows 0 ... i of k and v.
 */
#include "exercises.h"
#include <math.h>
//{
#include <string.h>
//}

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
//| (void)cache;
//| return tiny_logits(t, m, ids, n);                   /* TO DO */
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
