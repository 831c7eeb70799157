/* sample: token ~ softmax(logits / temperature), among the k likeliest.
 *
 * The model sees at most `context` tokens. When they are full it goes on from the last half of them, so
 * that a long text moves through the window in strides: a cache of what it saw then begins anew. */
#include "sample.h"
#include "../../core/op.h"
#include <math.h>
#include <string.h>

void sample_see(sampler *s, const int *ids, size_t n)
{
    size_t keep = n < (size_t)s->context ? n : (size_t)s->context;
    memcpy(s->ids, ids + n - keep, keep * sizeof *ids);
    s->used = (int)keep;
    if (s->cache)
        gra_kv_cache_clear(s->cache);
}

/* Of equals the first is likelier. */
static bool less_likely(const gra_real *logits, int i, int j)
{
    return logits[i] < logits[j] || (logits[i] <= logits[j] && i > j);
}

/* heap[0] is to be the least likely of k, and each the less likely than its two children: moves heap[at] down. */
static void sink(const gra_real *logits, int *heap, long k, long at)
{
    for (long child; (child = 2 * at + 1) < k; at = child) {
        if (child + 1 < k && less_likely(logits, heap[child + 1], heap[child]))
            child++;
        if (less_likely(logits, heap[at], heap[child]))
            return;
        const int moved = heap[at];
        heap[at] = heap[child];
        heap[child] = moved;
    }
}

/* The last of the k likeliest of n; heap has room for k. */
static int kth(const gra_real *logits, int n, long k, int *heap)
{
    for (long i = 0; i < k; i++)
        heap[i] = (int)i;
    for (long i = k / 2; i-- > 0;)
        sink(logits, heap, k, i);
    for (int i = (int)k; i < n; i++)
        if (less_likely(logits, heap[0], i)) {
            heap[0] = i;
            sink(logits, heap, k, 0);
        }
    return heap[0];
}

static int likeliest(const gra_real *logits, int n)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        if (logits[i] > logits[best])
            best = i;
    return best;
}

static int draw(sampler *s, const gra_real *logits, int n)
{
    int best = likeliest(logits, n), last = best;
    double sum = 0, u;
    if (s->temperature <= 0)
        return best;
    double *p = gra_alloc(s->tape, (size_t)n * sizeof *p);
    int *heap = gra_alloc(s->tape, (size_t)n * sizeof *heap);
    if (!p || !heap)
        return -1;
    const int least = s->top_k > 0 && s->top_k < n ? kth(logits, n, s->top_k, heap) : -1;
    for (int i = 0; i < n; i++) {
        const bool out = least >= 0 && less_likely(logits, i, least);
        p[i] = out ? 0 : exp(((double)logits[i] - (double)logits[best]) / s->temperature);
        sum += p[i];
    }
    gra_rand_f64(&s->rng, &u, 1);
    u *= sum;
    for (int i = 0; i < n; i++) {
        if (p[i] <= 0)
            continue;
        last = i;
        if ((u -= p[i]) < 0)
            break;
    }
    return last;
}

/* A full window makes room: of the text with its new token, the last half stays. */
static void append(sampler *s, int id)
{
    if (s->used == s->context) {
        int keep = s->context > 1 ? s->context / 2 - 1 : 0;
        memmove(s->ids, s->ids + s->used - keep, (size_t)keep * sizeof *s->ids);
        s->used = keep;
        if (s->cache)                   /* a token's position is another now */
            gra_kv_cache_clear(s->cache);
    }
    s->ids[s->used++] = id;
}

/* The scores of what follows ids 0 .. used - 1, from all of them or from those the cache has not seen. */
static const gra_real *score(sampler *s)
{
    gra_kv_cache *c = s->cache;
    const size_t vocab = (size_t)s->gpt->config.vocab_size;
    if (c)
        return gra_gpt_forward_cached(s->tape, s->gpt, s->ids + c->time, s->used - c->time, c)->data;
    return gra_gpt_forward(s->tape, s->gpt, s->ids, 1, s->used)->data + (size_t)(s->used - 1) * vocab;
}

int sample_next(sampler *s)
{
    const int vocab = s->gpt->config.vocab_size;
    gra_begin(s->tape, GRA_EVAL, NULL);
    const gra_real *logits = score(s);
    if (gra_error(s->tape))
        return -1;
    for (int i = 0; i < vocab; i++)
        if (!isfinite(logits[i])) {
            gra_fail(s->tape, "the model's logits are not finite: its parameters are spoilt");
            return -1;
        }
    int id = draw(s, logits, vocab);
    if (id >= 0)
        append(s, id);
    return id;
}
