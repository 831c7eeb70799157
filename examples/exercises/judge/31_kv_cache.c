/* 31 kv_cache: the judge. */
#include "matrix.h"

enum { VOCABULARY = 11, DIM = 6, CONTEXT = 12 };
static const int ids[CONTEXT] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 10, 0 };

/* The tokens of a text, and what is computed from each. */
typedef double rows[CONTEXT][DIM];
struct made {
    rows x, q, k, v;
};

struct asked {
    const struct tiny_model *m;
    int                      before, n;
    bool                     no_keys;           /* the answer has no keys */
};

static void linear(const gra_tensor *w, const double *x, double *y, int out)
{
    for (int o = 0; o < out; o++)
        y[o] = mat_dot(w->data + o * DIM, x, DIM);
}

static void make(const struct asked *a, struct made *to)
{
    const int before = a->before;
    const bool afresh =
        slip("the new tokens see only one another, from position 0 on: what is in the cache is not used");
    const bool at_0 = slip("the positions of the new tokens begin at 0: the first of them is at cache->time");
    const bool later = slip("the positions are one too large: the first is cache->time before n is added");
    const bool earlier = slip("the positions are one too small: the first new token is at cache->time");
    const bool moved = slip("the positions begin at cache->time after n was added to it: they begin at "
                            "cache->time before this call");
    const int first = (at_0 || afresh ? 0 : before) + (moved ? a->n : later - (before && earlier));
    const bool none = slip("the positions are missing: add their rows to those of the tokens");
    const bool alike = slip("all new tokens have the first one's position: the others follow it");
    const bool ahead =
        slip("the ids are read from ids[cache->time]: ids holds only the new tokens, from ids[0] on");
    for (int i = 0; i < before + a->n; i++) {
        const int id = !ahead || i < before ? ids[i] : i < a->n ? ids[before + i] : 0;
        const int p = i < before ? i : alike ? first : first + i - before;
        for (int c = 0; c < DIM; c++)
            to->x[i][c] = a->m->tokens.weight->data[id * DIM + c]
                        + (none && i >= before ? 0 : a->m->positions.weight->data[p % CONTEXT * DIM + c]);
        linear(a->m->query.weight, to->x[i], to->q[i], DIM);
        linear(a->m->key.weight, to->x[i], to->k[i], DIM);
        linear(a->m->value.weight, to->x[i], to->v[i], DIM);
    }
}

/* Logits of the n tokens after `before`, by loops. */
static void logits(double *y, void *arg)
{
    const struct asked *a = arg;
    const int before = a->before, n = a->n, all = before + n;
    struct made of;
    make(a, &of);
    const bool afresh =
        slip("the new tokens see only one another, from position 0 on: what is in the cache is not used");
    const int from = slip("the new tokens do not see those in the cache") || afresh ? before
        : slip("the first row of the cache is not seen") && before > 1;
    const bool not_self = before && slip("the new tokens see the cache, but neither themselves nor others");
    const bool not_own =
        slip("a new token does not see itself: its own key and value belong to what it sees");
    const bool future = slip("a new token sees the new ones that come after it: the mask is missing");
    const bool square =
        slip("new token i sees only columns 0 to i: the mask is that of a text that begins here, or the "
             "cache is read as n rows. It has cache->time + n of them, and token i may see 0 to "
             "cache->time + i");
    const bool late =
        slip("the mask, -inf, is applied to the weights, after the softmax: mask the scores");
    const bool in_front = before
        && slip("the new rows come before those in the cache: they belong after them");
    const bool k_in_front = before
        && slip("the new keys come before those in the cache: they belong after them, as the values do");
    const bool plain = slip("the softmax is missing: the scores themselves are the weights");
    const double root = slip("the scores are not divided by sqrt(dim)") ? 1
        : slip("the scores are divided by dim: the root is missing") ? DIM
        : slip("the scores are multiplied by sqrt(dim): divide") ? 1 / sqrt(DIM)
        : slip("the scores are multiplied by 0 (in C, 1 / dim is 0 for an int): use 1 / sqrt(dim)")
        ? INFINITY
        : slip(before ? "the scores are divided by the root of the number of keys: use sqrt(dim)"
                      : "the scores are divided by the root of the number of tokens: use sqrt(dim)")
        ? sqrt(all)
        : before && slip("the scores are divided by the root of n: use sqrt(dim)") ? sqrt(n) : sqrt(DIM);
    const bool exchanged = slip("keys and values are exchanged");
    const bool turned = slip("k q^T is used instead of q k^T");
    const bool by_v = slip("the queries are multiplied by the values: scores need the keys") || exchanged;
    rows *k = turned ? &of.q : by_v ? &of.v
        : slip("the queries are multiplied by x: scores need the keys") ? &of.x
        : slip("the queries are multiplied by queries: scores need the keys") ? &of.q : &of.k;
    rows *v = exchanged || slip("the weights multiply the keys: they should multiply the values") ? &of.k
        : slip("the weights multiply x: they should multiply the values") ? &of.x : &of.v;
    rows *q = turned || slip("the keys are multiplied by keys: scores need the queries") ? &of.k : &of.q;
    const bool no_x = slip("x is missing from the head's input: it is x plus attention's result");
    const bool no_y = slip(a->no_keys ? "these are the logits of x alone, without keys: there are "
                                        "cache->time + n of them, with cache->time as it was before this call"
                           : "these are the logits of x alone: attention's result was not added");
    const bool over_i = slip("softmax runs over the queries: the weights of one query must sum to 1");
    for (int i = before; i < all; i++) {
        const int end = not_self ? before : not_own ? i : future ? all : square ? i - before + 1 : i + 1;
        double w[CONTEXT], sum = 0, h[DIM];
        for (int j = from; j < (late ? all : end); j++) {
            const int moved = j < n ? before + j : j - n;
            const double s = mat_dot((*q)[i], (*k)[in_front || k_in_front ? moved : j], DIM) / root;
            sum += w[j] = plain ? s : exp(s);
        }
        for (int j = end; j < all && (plain || late); j++)
            w[j] = -INFINITY;
        for (int j = 0; j < end && over_i; j++) {       /* the queries that see key j */
            double of_j = 0;
            for (int l = j > before ? j : before; l < all; l++)
                of_j += exp(mat_dot((*q)[l], (*k)[j], DIM) / root);
            w[j] *= sum / of_j;
        }
        for (int c = 0; c < DIM; c++) {
            h[c] = no_x ? 0 : of.x[i][c];
            for (int j = from; j < (plain || late ? all : end); j++)
                h[c] += w[j] / (plain ? 1 : sum) * (*v)[!in_front ? j : j < n ? before + j : j - n][c];
            h[c] = no_y ? of.x[i][c] : h[c];
        }
        linear(a->m->head.weight, h, y + (i - before) * VOCABULARY, VOCABULARY);
    }
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
                   const struct made *of, int before, int n)
{
    const double *other[] = { &of->x[0][0], &of->q[0][0], &of->k[0][0], &of->v[0][0] };
    static const char *const what[] = { "x itself", "their queries", "their keys", "their values" };
    if (before && alike(now, want + before * DIM, n))
        judge_wrong("%s: the new rows were written over the first ones: they belong after those of %d tokens",
                    name, before);
    if (before >= n && alike(now + before * DIM, want, n))
        judge_wrong("%s: the new rows hold the first rows of the cache once more: copy those of the new "
                    "tokens", name);
    const int moved = (before + n) * DIM;
    if (moved + DIM <= CONTEXT * DIM && now[before * DIM] == JUDGE_UNWRITTEN && now[moved] != JUDGE_UNWRITTEN)
        judge_wrong("%s: the new rows begin with row %d, and should begin with row %d: it is cache->time "
                    "before n is added to it", name, before + n, before);
    for (int i = 0; i < before * DIM; i++)
        if (now[i] != was[i])
            judge_wrong("%s: row %d, of a token of an earlier call, was changed: with %d tokens in the cache "
                        "the new rows begin with row %d, which is number %d * %d of the array", name, i / DIM,
                        before, before, before, DIM);
    for (int i = before * DIM; i < (before + n) * DIM; i++)
        if (now[i] == JUDGE_UNWRITTEN && (size_t)(i - before * DIM) == (size_t)(n * DIM) / sizeof *now)
            judge_wrong("%s: only %d of %d new numbers were written: memcpy counts bytes, so multiply by "
                        "sizeof(double)", name, i - before * DIM, n * DIM);
        else if (now[i] == JUDGE_UNWRITTEN)
            judge_wrong("%s: number %d of row %d was never written: %d tokens were in the cache, and %d new "
                        "ones have a row of %d numbers each", name, i % DIM, i / DIM, before, n, DIM);
    const int at = before * DIM;
    for (int k = 0; k < 4; k++)
        if (!alike(now + at, want + at, n) && alike(now + at, other[k] + at, n))
            judge_wrong("%s: the rows of new tokens hold %s", name, what[k]);
}

/* cached: the cache is right. Token 0 sees only itself: its weight is 1, whatever its score. */
static const char *otherwise(const double *got, const double *want, int before, bool cached)
{
    bool right = true;
    for (int o = 0; o < VOCABULARY; o++)
        right = right && fabs(got[o] - want[o]) < 1e-9;
    return before && right
         ? "the first new token is right: look at what differs for the others, their positions and mask"
         : before && !cached ? "what was stored for the new tokens is wrong too: look at their ids and "
                             "positions, and at what makes k and v"
         : before ? "the cache and cache->time are right: look at the keys and values that are used, all of "
                   "them and in their order, and at the scores and their mask"
         : right ? "row 0, which sees only itself, is right: so are x, values and head. Look at the keys, "
                   "the scores, their mask and softmax"
         : "row 0 is already wrong, which should see only itself, with weight 1: look at x, its position, "
           "the values, the number of keys, the mask, softmax's dimension, and the head's input";
}

/* Of a single token after four, are its logits those of x alone too? */
static bool adds_nothing(gra_tape *t, const struct tiny_model *m)
{
    struct kv_cache cache = { judge_room(CONTEXT * DIM), judge_room(CONTEXT * DIM), 4 };
    struct made of;
    double alone[VOCABULARY];
    make(&(struct asked){ m, 4, 1, false }, &of);
    linear(m->head.weight, of.x[4], alone, VOCABULARY);
    memcpy(cache.keys, of.k, 4 * sizeof of.k[0]);
    memcpy(cache.values, of.v, 4 * sizeof of.v[0]);
    gra_begin(t, GRA_EVAL, NULL);
    const gra_tensor *y = tiny_logits_cached(t, m, judge_ids(ids + 4, 1), 1, &cache);
    return y && !gra_error(t) && fabs(y->data[0] - alone[0]) < 1e-9;
}

/* One call, in a step of its own. */
static void call(gra_tape *t, const struct tiny_model *m, struct kv_cache *cache, int before, int n)
{
    enum { ALL = CONTEXT * DIM };
    char name[80];
    double keys[ALL], values[ALL], want[CONTEXT * VOCABULARY];
    double *const was[] = { cache->keys, cache->values }, alone[VOCABULARY];
    struct asked asked = { m, before, n, false };
    struct made of;
    make(&asked, &of);
    logits(want, &asked);
    memcpy(keys, cache->keys, sizeof keys);
    memcpy(values, cache->values, sizeof values);
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = tiny_logits_cached(t, m, judge_ids(ids + before, (size_t)n), n, cache);
    snprintf(name, sizeof name, "%d new token%s after %d: logits", n, n == 1 ? "" : "s", before);
    if (y && n > 1 && !gra_error(t) && gra_same_shape(y->shape, GRA_SHAPE(1, VOCABULARY)))
        judge_wrong("%s: got one row, expected %d: a row for each new token, not only for the last", name, n);
    double got[CONTEXT * VOCABULARY];
    memcpy(got, judge_tensor(t, name, y, GRA_SHAPE(n, VOCABULARY)), y->size * sizeof *got);
    for (int k = 0; k < 2; k++)
        if ((k ? cache->values : cache->keys) != was[k])
            judge_wrong("cache->%s points to other memory now: copy the new rows into the array to which it "
                        "pointed, as tensors are gone after gra_begin", k ? "values" : "keys");
    if (cache->time != before + n)
        judge_wrong("cache->time: got %d, expected %d: %s", cache->time, before + n, cache->time == before + 1
                    ? "it moves by n, the number of new tokens, not by 1" : cache->time == n
                    ? "it is the number of all tokens so far, not that of the new ones"
                    : "it counts all tokens so far");
    stored("cache->keys", cache->keys, keys, &of.k[0][0], &of, before, n);
    stored("cache->values", cache->values, values, &of.v[0][0], &of, before, n);
    const bool cached = alike(cache->keys, &of.k[0][0], before + n)
                     && alike(cache->values, &of.v[0][0], before + n);
    linear(m->head.weight, of.x[before], alone, VOCABULARY);
    asked.no_keys = !before && fabs(got[0] - alone[0]) < 1e-9 && !adds_nothing(t, m);
    judge_clue("%s", otherwise(got, want, before, cached));
    judge_against(name, GRA_SHAPE(n, VOCABULARY), got, 1e-9, logits, &asked);
    judge_numbers("cache->keys", GRA_SHAPE(before + n, DIM), cache->keys, &of.k[0][0], 1e-9);
    judge_numbers("cache->values", GRA_SHAPE(before + n, DIM), cache->values, &of.v[0][0], 1e-9);
    judge_guarded("cache->keys", cache->keys, CONTEXT * DIM);
    judge_guarded("cache->values", cache->values, CONTEXT * DIM);
}

/* The text in calls of that many tokens each, up to a 0. */
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
    struct tiny_model m;
    gra_tape *t;
    gra_model *model = judge_open(&t, GRA_EVAL, 31);
    gra_embedding_init(&m.tokens, gra_enter(gra_root(model), "tokens"), VOCABULARY, DIM);
    gra_positional_embedding_init(&m.positions, gra_enter(gra_root(model), "positions"), CONTEXT, DIM);
    gra_linear_init(&m.query, gra_enter(gra_root(model), "query"), DIM, DIM, false);
    gra_linear_init(&m.key, gra_enter(gra_root(model), "key"), DIM, DIM, false);
    gra_linear_init(&m.value, gra_enter(gra_root(model), "value"), DIM, DIM, false);
    gra_linear_init(&m.head, gra_enter(gra_root(model), "head"), DIM, VOCABULARY, false);
    text("four tokens at once", &m, (int[]){ 4, 0 });
    text("a whole text at once", &m, (int[]){ CONTEXT, 0 });
    text("a prompt, then a token", &m, (int[]){ 4, 1, 0 });
    text("a token at a time", &m, (int[]){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0 });
    text("several tokens at a time", &m, (int[]){ 3, 2, 5, 1, 0 });
    text("the first text again, with a new cache", &m, (int[]){ 2, 3, 0 });
}
