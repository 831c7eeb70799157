/* sample: token ~ softmax(logits / temperature), among the k most likely, and among those in the nucleus: the
 * fewest most likely ones whose probabilities sum to p or more (Holtzman et al. 2020).
 *
 * The model sees at most `context` tokens. When the window is full, only its last half is kept. The kept
 * tokens are then at different positions, with different embeddings, so the key-value cache is no longer
 * valid and is cleared. */
#include "sample.h"
#include "../../core/op.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

void sample_see(sampler *s, const int *ids, size_t n)
{
    size_t keep = n < (size_t)s->context ? n : (size_t)s->context;
    memcpy(s->ids, ids + n - keep, keep * sizeof *ids);
    s->used = (int)keep;
    if (s->cache)
        gra_kv_cache_clear(s->cache);
}

int sample_largest(const gra_real *x, int n, int *best, int k)
{
    int used = 0;
    for (int i = 0; i < n; i++) {
        int at = used < k ? used++ : k;
        for (; at > 0 && x[i] > x[best[at - 1]]; at--)
            if (at < k)
                best[at] = best[at - 1];
        if (at < k)
            best[at] = i;
    }
    return used;
}

typedef struct candidate {
    double p;
    int    id;
} candidate;

static int by_probability(const void *a, const void *b)         /* descending; equal ones by their id */
{
    const candidate *x = a, *y = b;
    return x->p < y->p ? 1 : x->p > y->p ? -1 : (x->id > y->id) - (x->id < y->id);
}

/* Sets the probabilities outside the nucleus to 0. Returns the sum of the others. */
static double keep_nucleus(double *p, int n, double least, candidate *c)
{
    double sum = 0;
    int used = 0;
    for (int i = 0; i < n; i++)
        if (p[i] > 0)
            c[used++] = (candidate){ p[i], i };
    qsort(c, (size_t)used, sizeof *c, by_probability);
    for (int i = 0; i < used; i++)
        if (i > 0 && sum >= least)
            p[c[i].id] = 0;
        else
            sum += c[i].p;
    return sum;
}

/* p: exp(logits / temperature), 0 outside the top k and the nucleus. Returns their sum; 0: out of memory. */
static double weights(const sampler *s, const gra_real *logits, double *p, int n)
{
    const bool all = s->top_k <= 0 || s->top_k >= n;
    const int k = all ? 1 : (int)s->top_k;
    int *top = gra_alloc(s->tape, (size_t)k * sizeof *top);
    candidate *sorted = gra_alloc(s->tape, (s->top_p < 1 ? (size_t)n : 1) * sizeof *sorted);
    double sum = 0;
    if (!top || !sorted)
        return 0;
    sample_largest(logits, n, top, k);
    const int best = top[0];
    const gra_real least = all ? -(gra_real)INFINITY : logits[top[k - 1]];
    for (int i = 0; i < n; i++) {
        p[i] = s->temperature <= 0 ? i == best
             : logits[i] < least ? 0 : exp(((double)logits[i] - (double)logits[best]) / s->temperature);
        sum += p[i];
    }
    return s->top_p < 1 ? keep_nucleus(p, n, s->top_p * sum, sorted) : sum;
}

static int draw(sampler *s, const gra_real *logits, int n)
{
    double *p = gra_alloc(s->tape, (size_t)n * sizeof *p), u = 0;
    const double sum = p ? weights(s, logits, p, n) : 0;
    if (sum <= 0)
        return -1;
    if (s->temperature > 0)
        gra_rand_f64(&s->rng, &u, 1);
    u *= sum;
    int id = 0, last = 0;               /* rounding may leave u above the sum of all p */
    for (; id < n && (p[id] <= 0 || (u -= p[id]) >= 0); id++)
        last = p[id] > 0 ? id : last;
    return id < n ? id : last;
}

/* If the window is full, only its last half is kept, including the new token. */
static void append(sampler *s, int id)
{
    if (s->used == s->context) {
        int keep = s->context > 1 ? s->context / 2 - 1 : 0;
        memmove(s->ids, s->ids + s->used - keep, (size_t)keep * sizeof *s->ids);
        s->used = keep;
        if (s->cache)
            gra_kv_cache_clear(s->cache);
    }
    s->ids[s->used++] = id;
}

/* The logits after ids[used - 1], computed from all ids, or only from those that are not in the cache. */
static const gra_real *last_logits(sampler *s)
{
    gra_kv_cache *c = s->cache;
    const size_t vocab = (size_t)s->gpt->config.vocab_size;
    if (c)
        return gra_gpt_forward_cached(s->tape, s->gpt, s->ids + c->time, s->used - c->time, c)->data;
    forward_fn *const forward = s->forward ? s->forward : gra_gpt_forward;
    return forward(s->tape, s->gpt, s->ids, 1, s->used)->data + (size_t)(s->used - 1) * vocab;
}

/* NULL: see gra_error. */
static const gra_real *next_logits(sampler *s)
{
    gra_begin(s->tape, GRA_EVAL, NULL);
    const gra_real *logits = last_logits(s);
    for (int i = 0; i < s->gpt->config.vocab_size && !gra_error(s->tape); i++)
        if (!isfinite(logits[i]))
            gra_fail(s->tape, "the model's logits are not finite: a parameter is NaN or infinite");
    return gra_error(s->tape) ? NULL : logits;
}

static int drawn(const sampler *s) { return s->tokens ? s->tokens : s->gpt->config.vocab_size; }

int sample_next(sampler *s)
{
    const gra_real *logits = next_logits(s);
    const int id = logits ? draw(s, logits, drawn(s)) : -1;
    if (id >= 0)
        append(s, id);
    return id;
}

int sample_shares(sampler *s, gra_real *shares)
{
    const gra_real *logits = next_logits(s);
    const int n = drawn(s);
    double *p = logits ? gra_alloc(s->tape, (size_t)n * sizeof *p) : NULL;
    const double sum = p ? weights(s, logits, p, n) : 0;
    for (int i = 0; i < n && sum > 0; i++)
        shares[i] = (gra_real)(p[i] / sum);
    return sum > 0 ? n : -1;
}
