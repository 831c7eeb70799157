/* 31 kv_cache: the judge. */
#include "judge.h"
#include <math.h>
#include <string.h>

enum { VOCABULARY = 11, DIM = 6, CONTEXT = 12 };
static const int ids[CONTEXT] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 10, 0 };

enum slip {
    AFRESH = 1, FROM_0, LATER, EARLIER, ALL_ALIKE, FORGETS, NOT_SELF, NO_CACHED_FIRST, FUTURE,
    LIKE_A_SQUARE, NO_SOFTMAX, NO_SCALE, SCALE_D, SCALE_ALL, SCALE_NEW, EXCHANGED, K_FROM_V, V_FROM_K,
    K_FROM_X, V_FROM_X, K_FROM_Q, Q_FROM_K, NO_X, OVER_QUERIES
};

static const char *const says[] = { "",
    [AFRESH] = "the new tokens see one another alone, from position 0 on: what is in the cache is not used",
    [FROM_0] = "the positions of the new tokens begin at 0; the first of them stands at cache->time",
    [LATER] = "the positions are one too large: the first new token stands at cache->time, before n is added to it",
    [EARLIER] = "the positions are one too small: the first new token stands at cache->time",
    [ALL_ALIKE] = "all new tokens stand at the first one's position: the others follow it",
    [FORGETS] = "the new tokens do not see those in the cache",
    [NOT_SELF] = "the new tokens see the cache, but neither themselves nor one another",
    [NO_CACHED_FIRST] = "the first row of the cache is not seen",
    [FUTURE] = "a new token sees the new ones that come after it: the mask is missing",
    [LIKE_A_SQUARE] = "the mask is that of a text that begins here: row i sees columns 0 to i; it may see cache->time "
                      "more",
    [NO_SOFTMAX] = "the softmax is missing: the scores themselves are the weights",
    [NO_SCALE] = "the scores are not divided by sqrt(dim)",
    [SCALE_D] = "the scores are divided by dim: the root is missing",
    [SCALE_ALL] = "the scores are divided by the root of the number of keys; it is sqrt(dim)",
    [SCALE_NEW] = "the scores are divided by the root of n; it is sqrt(dim)",
    [EXCHANGED] = "keys and values are exchanged",
    [K_FROM_V] = "the queries are multiplied with the values: scores are made with the keys",
    [V_FROM_K] = "the weights multiply the keys: they weigh the values",
    [K_FROM_X] = "the queries are multiplied with x: scores are made with the keys",
    [V_FROM_X] = "the weights multiply x: they weigh the values",
    [K_FROM_Q] = "the queries are multiplied with queries: scores are made with the keys",
    [Q_FROM_K] = "the keys are multiplied with keys: scores are made of queries and keys",
    [NO_X] = "x is missing in what the head is given: it is x plus what attention found",
    [OVER_QUERIES] = "softmax runs over the queries; the weights of one query, over its keys, sum to 1", NULL };

#define HAS(s) ((slips >> (s) & 1) != 0)

/* The tokens of a text, and what is made of each. */
typedef double rows[CONTEXT][DIM];
struct made {
    rows x, q, k, v;
};

struct asked {
    const struct tiny_model *m;
    int                      before, n;
};

static void linear(const gra_tensor *w, const double *x, double *y, int out)
{
    for (int o = 0; o < out; o++) {
        y[o] = 0;
        for (int i = 0; i < DIM; i++)
            y[o] += w->data[o * DIM + i] * x[i];
    }
}

static void make(uint64_t slips, const struct asked *a, struct made *to)
{
    for (int i = 0; i < a->before + a->n; i++) {
        const bool new = i >= a->before;
        const int first = HAS(FROM_0) || HAS(AFRESH) ? 0 : a->before + (a->before ? HAS(LATER) - HAS(EARLIER) : 0);
        const int p = new ? first + (HAS(ALL_ALIKE) ? 0 : i - a->before) : i;
        for (int c = 0; c < DIM; c++)
            to->x[i][c] = a->m->tokens.weight->data[ids[i] * DIM + c]
                        + a->m->positions.weight->data[p % CONTEXT * DIM + c];
        linear(a->m->query.weight, to->x[i], to->q[i], DIM);
        linear(a->m->key.weight, to->x[i], to->k[i], DIM);
        linear(a->m->value.weight, to->x[i], to->v[i], DIM);
    }
}

/* Logits of the n tokens after `before`, by loops. */
static void logits(uint64_t slips, double *y, void *arg)
{
    const struct asked *a = arg;
    const int before = a->before, n = a->n;
    struct made of;
    make(slips, a, &of);
    rows *k = HAS(K_FROM_V) || HAS(EXCHANGED) ? &of.v : HAS(K_FROM_X) ? &of.x : HAS(K_FROM_Q) ? &of.q : &of.k;
    rows *v = HAS(V_FROM_K) || HAS(EXCHANGED) ? &of.k : HAS(V_FROM_X) ? &of.x : &of.v;
    rows *q = HAS(Q_FROM_K) ? &of.k : &of.q;
    const double by = HAS(NO_SCALE) ? 1 : HAS(SCALE_D) ? 1.0 / DIM : HAS(SCALE_ALL) ? 1 / sqrt(before + n)
                    : HAS(SCALE_NEW) ? 1 / sqrt(n) : 1 / sqrt(DIM);
    for (int r = 0; r < n; r++) {
        double w[CONTEXT], sum = 0, h[DIM];
        const int i = before + r, from = HAS(FORGETS) || HAS(AFRESH) ? before : HAS(NO_CACHED_FIRST) && before > 1;
        const int end = HAS(NOT_SELF) && before ? before : HAS(FUTURE) ? before + n : HAS(LIKE_A_SQUARE) ? r + 1 : i + 1;
        for (int j = from; j < end; j++) {
            double s = 0;
            for (int c = 0; c < DIM; c++)
                s += (*q)[i][c] * (*k)[j][c];
            sum += w[j] = HAS(NO_SOFTMAX) ? s * by : exp(s * by);
        }
        for (int j = 0; j < end && HAS(OVER_QUERIES); j++) {       /* the queries that see key j */
            double all = 0;
            for (int l = j > before ? j : before; l < before + n; l++) {
                double s = 0;
                for (int c = 0; c < DIM; c++)
                    s += (*q)[l][c] * (*k)[j][c];
                all += exp(s * by);
            }
            w[j] *= sum / all;
        }
        for (int c = 0; c < DIM; c++) {
            h[c] = HAS(NO_X) ? 0 : of.x[i][c];
            for (int j = from; j < end; j++)
                h[c] += w[j] / (HAS(NO_SOFTMAX) ? 1 : sum) * (*v)[j][c];
        }
        linear(a->m->head.weight, h, y + r * VOCABULARY, VOCABULARY);
    }
}

static bool alike(const double *a, const double *b, int n)
{
    bool same = true;
    for (int i = 0; i < n * DIM; i++)
        same = same && fabs(a[i] - b[i]) < 1e-9;
    return same;
}

/* What is stored wrong in the cache explains wrong logits better than the logits do. */
static void stored(const char *name, const double *now, const double *was, const double *want, const struct made *of,
                   int before, int n)
{
    const double *other[] = { &of->x[0][0], &of->q[0][0], &of->k[0][0], &of->v[0][0] };
    static const char *const what[] = { "x itself", "their queries", "their keys", "their values" };
    if (before && alike(now, want + before * DIM, n))
        judge_wrong("%s: the new rows were written over the first ones; they come after those of %d tokens", name, before);
    for (int i = 0; i < before * DIM; i++)
        if (now[i] != was[i])
            judge_wrong("%s: row %d, of a token of a call before, was changed; with %d tokens in the cache the new rows "
                        "begin with row %d, which is number %d * %d of the array", name, i / DIM, before, before, before,
                        DIM);
    for (int i = before * DIM; i < (before + n) * DIM; i++)
        if (now[i] == JUDGE_UNWRITTEN)
            judge_wrong("%s: number %d of row %d was never written: %d tokens were in the cache, and %d new ones have a "
                        "row of %d numbers each", name, i % DIM, i / DIM, before, n, DIM);
    for (int k = 0; k < 4; k++)
        if (!alike(now + before * DIM, want + before * DIM, n) && alike(now + before * DIM, other[k] + before * DIM, n))
            judge_wrong("%s: the rows of new tokens hold %s", name, what[k]);
}

/* The first token of all sees itself alone: its weight is 1, whatever its score. */
static const char *otherwise(const double *got, const double *want, int before)
{
    bool right = true;
    for (int o = 0; o < VOCABULARY; o++)
        right = right && fabs(got[o] - want[o]) < 1e-9;
    return before && right ? "the first new token is right: look at what differs for the others, their positions and mask"
         : before ? "what is in the cache, and cache->time, is looked at and seems right: is all of it used, with the "
                    "first new token at position cache->time?"
         : right ? "row 0 is right, which sees itself alone: x, values and head are. Look at the keys, the scores, their "
                   "mask and softmax"
         : "row 0 is wrong already, which sees itself alone, so that its weight is 1: look at x, its position, the "
           "values, softmax's dimension, and at what the head is given";
}

/* One call, in a step of its own. */
static void call(gra_tape *t, const struct tiny_model *m, struct kv_cache *cache, int before, int n)
{
    enum { ALL = CONTEXT * DIM };
    char name[80];
    double keys[ALL], values[ALL], want[CONTEXT * VOCABULARY];
    struct asked asked = { m, before, n };
    struct made of;
    make(0, &asked, &of);
    logits(0, want, &asked);
    memcpy(keys, cache->keys, sizeof keys);
    memcpy(values, cache->values, sizeof values);
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = tiny_logits_cached(t, m, ids + before, n, cache);
    snprintf(name, sizeof name, "logits of %d new token%s after %d", n, n == 1 ? "" : "s", before);
    const double *got = judge_tensor(t, name, y, GRA_SHAPE(n, VOCABULARY));
    if (cache->time != before + n)
        judge_wrong("cache->time is %d after %d tokens and %d more: it counts all tokens so far", cache->time, before, n);
    stored("cache->keys", cache->keys, keys, &of.k[0][0], &of, before, n);
    stored("cache->values", cache->values, values, &of.v[0][0], &of, before, n);
    judge_slips(name, GRA_SHAPE(n, VOCABULARY), got, 1e-9, says, logits, &asked, otherwise(got, want, before));
    judge_numbers("cache->keys", GRA_SHAPE(before + n, DIM), cache->keys, &of.k[0][0], 1e-9, NULL);
    judge_numbers("cache->values", GRA_SHAPE(before + n, DIM), cache->values, &of.v[0][0], 1e-9, NULL);
    judge_guarded("cache->keys", cache->keys, CONTEXT * DIM);
    judge_guarded("cache->values", cache->values, CONTEXT * DIM);
}

/* The text in calls of so many tokens each, until 0. */
static void text(const char *part, const struct tiny_model *m, const int *sizes)
{
    struct kv_cache cache = { judge_room(CONTEXT * DIM), judge_room(CONTEXT * DIM), 0 };
    gra_tape *t = judge_tape(GRA_EVAL, NULL);
    judge_part("%s", part);
    for (int before = 0; *sizes; before += *sizes++)
        call(t, m, &cache, before, *sizes);
    gra_close(t);
}

void judge_exercise(void)
{
    gra_rng rng;
    struct tiny_model m;
    gra_manual_seed(&rng, 31);
    gra_tape *t = judge_tape(GRA_EVAL, NULL);
    gra_model *model = gra_model_open(t, &rng);
    gra_embedding_init(&m.tokens, gra_enter(gra_root(model), "tokens"), VOCABULARY, DIM);
    gra_positional_embedding_init(&m.positions, gra_enter(gra_root(model), "positions"), CONTEXT, DIM);
    gra_linear_init(&m.query, gra_enter(gra_root(model), "query"), DIM, DIM, false);
    gra_linear_init(&m.key, gra_enter(gra_root(model), "key"), DIM, DIM, false);
    gra_linear_init(&m.value, gra_enter(gra_root(model), "value"), DIM, DIM, false);
    gra_linear_init(&m.head, gra_enter(gra_root(model), "head"), DIM, VOCABULARY, false);
    text("a whole text at once", &m, (int[]){ CONTEXT, 0 });
    text("a prompt, then a token", &m, (int[]){ 4, 1, 0 });
    text("a token at a time", &m, (int[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 });
    text("several tokens at a time", &m, (int[]){ 3, 2, 5, 1, 0 });
    text("the first text again, with a new cache", &m, (int[]){ 2, 3, 0 });
}
