/* 31 kv_cache: the judge. The judge computes the whole text with the library, on a separate tape. */
#include "comparison.h"
#include <math.h>

enum { VOCABULARY = 11, DIM = 6, CONTEXT = 12, ALL = CONTEXT * DIM };
static const int ids[CONTEXT] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 10, 0 };

/* The mistakes of n new tokens after `before`. */
enum { AT_0 = 1, NO_POSITIONS, AHEAD, ALONE, CACHE_ONLY, NO_MASK, SQUARE, NO_ROOT, DIVIDED_BY_DIM, ZERO, NO_X,
       NO_Y, MISTAKES };
static const char *const says[MISTAKES] = {
    [AT_0] = "the positions of the new tokens begin at 0: let them begin at cache->time",
    [NO_POSITIONS] = "the positions are missing: add their rows to the rows of the tokens",
    [AHEAD] = "the ids are read from ids[cache->time] on, but ids holds only the new tokens, from ids[0] on",
    [ALONE] = "the new tokens do not see the tokens in the cache",
    [CACHE_ONLY] = "the new tokens see only the cache: let them see the new tokens up to themselves too",
    [NO_MASK] = "a new token sees the new tokens that come after it: the mask is missing",
    [SQUARE] = "new token i sees only columns 0 to i, but should see columns 0 to cache->time + i",
    [NO_ROOT] = "the scores are not divided by sqrt(dim)",
    [DIVIDED_BY_DIM] = "the scores are divided by dim: the root is missing",
    [ZERO] = "the scores are multiplied by 0 (in C, 1 / dim is 0 for an int): use 1 / sqrt(dim)",
    [NO_X] = "x is missing from the head's input: add x to attention's result",
    [NO_Y] = "these are the logits of x alone: attention's result was not added" };

struct made {
    const double *k, *v, *logits;       /* of all tokens; of the new ones */
};

static struct made text_of(const struct tiny_model *m, int before, int n, int mistake)
{
    const int all = before + n;
    int id[CONTEXT] = { 0 }, position[CONTEXT] = { 0 };
    gra_tape *t = judge_tape(GRA_EVAL, NULL);
    gra_tensor *hidden = gra_zeros(t, GRA_SHAPE(all, all));
    for (int i = 0; i < all; i++) {
        id[i] = mistake != AHEAD || i < before ? ids[i] : i < n ? ids[before + i] : 0;
        position[i] = mistake == AT_0 && i >= before ? i - before : i;
        for (int j = 0; j < all; j++)
            hidden->data[i * all + j] = mistake == NO_MASK ? false : mistake == ALONE ? j < before || j > i
                : mistake == CACHE_ONLY ? j >= before && i >= before : mistake == SQUARE && i >= before
                ? j > i - before : j > i;
    }
    gra_tensor *x = gra_embedding(t, m->tokens.weight, id, GRA_SHAPE(all));
    gra_tensor *p = gra_embedding(t, m->positions.weight, position, GRA_SHAPE(all));
    x = mistake == NO_POSITIONS ? x : gra_add(t, x, p);
    gra_tensor *q = gra_linear_forward(t, &m->query, x), *k = gra_linear_forward(t, &m->key, x);
    gra_tensor *v = gra_linear_forward(t, &m->value, x);
    gra_tensor *scores = gra_scale(t, gra_matmul_nt(t, q, k), mistake == ZERO ? 0 : mistake == NO_ROOT
                                   ? 1 : mistake == DIVIDED_BY_DIM ? 1.0 / DIM : 1 / sqrt(DIM));
    gra_tensor *y = gra_matmul(t, gra_softmax(t, gra_masked_fill(t, scores, hidden, -INFINITY), -1), v);
    y = gra_linear_forward(t, &m->head, mistake == NO_X ? y : mistake == NO_Y ? x : gra_add(t, x, y));
    return (struct made){ k->data, v->data, y->data + before * VOCABULARY };
}

static bool alike(const double *a, const double *b, int n)
{
    bool same = true;
    for (int i = 0; i < n * DIM; i++)
        same = same && fabs(a[i] - b[i]) < 1e-9;
    return same;
}

/* What is wrong in the cache explains wrong logits better than the logits do. */
static void stored(const char *name, const double *now, const double *was, const double *want,
                   const double *other, int before, int n)
{
    const int at = before * DIM;
    if (before && !alike(now, was, before) && alike(now, want + at, n))
        judge_wrong("%s\nlikely: the new rows were written over the first ones: write them after the rows of "
                    "%d tokens", name, before);
    for (int i = 0; i < at; i++)
        if (now[i] != was[i])
            judge_wrong("%s: row %d, of a token of an earlier call, was changed: with %d tokens in the "
                        "cache, begin the new rows with row %d, at element %d * %d of the array", name,
                        i / DIM, before, before, before, DIM);
    if (at + n * DIM < ALL && now[at] == JUDGE_UNWRITTEN && now[at + n * DIM] != JUDGE_UNWRITTEN)
        judge_wrong("%s\nlikely: the new rows begin with row %d, but should begin with row %d, which is "
                    "cache->time before n is added to it", name, before + n, before);
    if (!alike(now + at, want + at, n) && alike(now + at, other + at, n))
        judge_wrong("%s\nlikely: keys and values are exchanged", name);
    for (int i = at; i < at + n * DIM; i++)
        if (now[i] == JUDGE_UNWRITTEN)
            judge_wrong("%s: number %d of row %d was never written: %d tokens were in the cache, and %d new "
                        "ones have %d numbers each\nmemcpy counts bytes, so multiply by sizeof(double)",
                        name, i % DIM, i / DIM, before, n, DIM);
}

/* One call, in a separate step. */
static void call(gra_tape *t, const struct tiny_model *m, struct kv_cache *cache, int before, int n)
{
    struct judge_mistake mistakes[MISTAKES + 1] = { { "", NULL } };
    char name[80];
    double keys[ALL], values[ALL], *const was[] = { cache->keys, cache->values };
    const struct made want = text_of(m, before, n, 0);
    memcpy(keys, cache->keys, sizeof keys);
    memcpy(values, cache->values, sizeof values);
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = tiny_logits_cached(t, m, judge_ids(ids + before, (size_t)n), n, cache);
    snprintf(name, sizeof name, "%d new token%s after %d: logits", n, n == 1 ? "" : "s", before);
    double got[CONTEXT * VOCABULARY];
    memcpy(got, judge_tensor(t, name, y, GRA_SHAPE(n, VOCABULARY)), y->size * sizeof *got);
    if (cache->keys != was[0] || cache->values != was[1])
        judge_wrong("cache->%s points to other memory now\nlikely: to a tensor, which is gone after "
                    "gra_begin: copy the new rows into the array", cache->keys != was[0] ? "keys" : "values");
    if (cache->time != before + n)
        judge_wrong("cache->time: got %d, expected %d\nlikely: %s", cache->time, before + n,
                    cache->time == before + 1 ? "1 was added: add n, the number of new tokens"
                    : cache->time == n ? "the number of new tokens was stored: add it to cache->time"
                    : "n, the number of new tokens, was not added exactly once");
    stored("cache->keys", cache->keys, keys, want.k, want.v, before, n);
    stored("cache->values", cache->values, values, want.v, want.k, before, n);
    const struct comparison c = judge_comparison(GRA_SHAPE(n, VOCABULARY), got, want.logits, 1e-9);
    for (int k = 1; k < MISTAKES && !judge_agrees(&c); k++)
        mistakes[k] = (struct judge_mistake){ says[k], text_of(m, before, n, k).logits };
    judge_clue("the rows stored for the new tokens are %s", alike(cache->keys, want.k, before + n)
               && alike(cache->values, want.v, before + n) ? "right: look at the keys and values that are "
               "used, their order, the scores and their mask" : "wrong too: look at ids, positions, k and v");
    judge_explained(&c, name, mistakes);
    judge_numbers("cache->keys", GRA_SHAPE(before + n, DIM), cache->keys, want.k, 1e-9);
    judge_numbers("cache->values", GRA_SHAPE(before + n, DIM), cache->values, want.v, 1e-9);
    judge_guarded("cache->keys", cache->keys, ALL);
    judge_guarded("cache->values", cache->values, ALL);
}

void judge_exercise(void)
{
    static const struct { const char *part; int size[CONTEXT + 1]; } texts[] = {
        { "four tokens at once", { 4 } }, { "a whole text at once", { CONTEXT } },
        { "a prompt, then a token", { 4, 1 } },
        { "a token at a time", { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
        { "several tokens at a time", { 3, 2, 5, 1 } },
        { "the first text again, with a new cache", { 2, 3 } } };
    struct tiny_model m;
    gra_tape *t;
    gra_scope root = gra_root(judge_open(&t, GRA_EVAL, 31));
    gra_embedding_init(&m.tokens, gra_enter(root, "tokens"), VOCABULARY, DIM);
    gra_positional_embedding_init(&m.positions, gra_enter(root, "positions"), CONTEXT, DIM);
    gra_linear_init(&m.query, gra_enter(root, "query"), DIM, DIM, false);
    gra_linear_init(&m.key, gra_enter(root, "key"), DIM, DIM, false);
    gra_linear_init(&m.value, gra_enter(root, "value"), DIM, DIM, false);
    gra_linear_init(&m.head, gra_enter(root, "head"), DIM, VOCABULARY, false);
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        struct kv_cache cache = { judge_room(ALL), judge_room(ALL), 0 };
        t = judge_tape(GRA_EVAL, NULL);
        judge_part("%s", texts[k].part);
        for (int i = 0, before = 0; texts[k].size[i]; before += texts[k].size[i++])
            call(t, &m, &cache, before, texts[k].size[i]);
        gra_close(t);
    }
}
