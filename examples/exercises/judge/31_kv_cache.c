/* 31 kv_cache: the judge. */
#include "judge.h"
#include <math.h>
#include <string.h>

enum { VOCABULARY = 11, DIM = 6, CONTEXT = 12 };
static const int ids[CONTEXT] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 10, 0 };

/* What a mistake changes for `n` tokens after `before`; all zeros: right. */
struct form {
    bool first_position;                /* positions begin at 0 in each call */
    bool forgets;                       /* looks at the new tokens alone */
    bool not_self;                      /* looks at the cache alone, where something is in it */
    bool future;                        /* new tokens see all new tokens */
    bool like_a_square;                 /* mask aligned at the first column: row i sees columns 0 ... i */
    bool later;                         /* position one too large */
    bool no_scale;
    bool exchanged;                     /* keys weigh, values are weighed with */
};

static void linear(const gra_tensor *w, const double *x, double *y, int out)
{
    for (int o = 0; o < out; o++) {
        y[o] = 0;
        for (int i = 0; i < DIM; i++)
            y[o] += w->data[o * DIM + i] * x[i];
    }
}

/* Logits of the n tokens after `before`, by loops. keys and values, unless NULL: rows of all of them. */
static double *logits(const struct tiny_model *m, int before, int n, struct form f, double *keys, double *values)
{
    double x[CONTEXT][DIM], k[CONTEXT][DIM], v[CONTEXT][DIM];
    double *y = judge_room((size_t)(n * VOCABULARY));
    for (int i = 0; i < before + n; i++) {
        const int p = (f.first_position && i >= before ? i - before : i) + (f.later && i >= before && before ? 1 : 0);
        for (int c = 0; c < DIM; c++)
            x[i][c] = m->tokens.weight->data[ids[i] * DIM + c] + m->positions.weight->data[p % CONTEXT * DIM + c];
        linear(m->key.weight, x[i], k[i], DIM);
        linear(m->value.weight, x[i], v[i], DIM);
    }
    for (int r = 0; r < n; r++) {
        double q[DIM], w[CONTEXT], sum = 0, h[DIM];
        const int i = before + r, from = f.forgets ? before : 0;
        const int end = f.not_self && before ? before : f.future ? before + n : f.like_a_square ? r + 1 : i + 1;
        linear(m->query.weight, x[i], q, DIM);
        for (int j = from; j < end; j++) {
            double s = 0;
            for (int c = 0; c < DIM; c++)
                s += q[c] * (f.exchanged ? v : k)[j][c];
            sum += w[j] = exp(f.no_scale ? s : s / sqrt(DIM));
        }
        for (int c = 0; c < DIM; c++) {
            h[c] = x[i][c];
            for (int j = from; j < end; j++)
                h[c] += w[j] / sum * (f.exchanged ? k : v)[j][c];
        }
        linear(m->head.weight, h, y + r * VOCABULARY, VOCABULARY);
    }
    if (keys)
        memcpy(keys, k, (size_t)(before + n) * sizeof *k), memcpy(values, v, (size_t)(before + n) * sizeof *v);
    return y;
}

#define FORM(...) logits(m, before, n, (struct form){ __VA_ARGS__ }, NULL, NULL)

/* New rows that were written over the first ones explain wrong logits better than the logits do. */
static void over_first(const char *name, const double *rows, const double *want, int before, int n)
{
    bool over = true;
    for (int i = 0; i < n * DIM; i++)
        over = over && fabs(rows[i] - want[before * DIM + i]) < 1e-9;
    if (over)
        judge_wrong("%s: the new rows were written over the first ones; they come after those of %d tokens", name, before);
}

/* One call, in a step of its own. */
static void call(gra_tape *t, const struct tiny_model *m, struct kv_cache *cache, int before, int n)
{
    char name[80];
    double *keys = judge_room(CONTEXT * DIM), *values = judge_room(CONTEXT * DIM);
    const double *want = logits(m, before, n, (struct form){ .forgets = false }, keys, values);
    gra_begin(t, GRA_EVAL, NULL);
    gra_tensor *y = tiny_logits_cached(t, m, ids + before, n, cache);
    snprintf(name, sizeof name, "logits of %d new token%s after %d", n, n == 1 ? "" : "s", before);
    const double *got = judge_tensor(t, name, y, GRA_SHAPE(n, VOCABULARY));
    if (before && cache->time == before + n)            /* these explain wrong logits better than the logits do */
        over_first("cache->keys", cache->keys, keys, before, n), over_first("cache->values", cache->values, values, before, n);
    judge_numbers(name, GRA_SHAPE(n, VOCABULARY), got, want, 1e-9, JUDGE_MISTAKES(
        { "the new tokens see one another alone, from position 0 on: what is in the cache is not used",
          FORM(.forgets = true, .first_position = true) },
        { "the positions of the new tokens begin at 0; the first of them stands at cache->time", FORM(.first_position = true) },
        { "the positions are one too large: take cache->time before n is added to it", FORM(.later = true) },
        { "the new tokens do not see those in the cache", FORM(.forgets = true) },
        { "the new tokens see the cache, but neither themselves nor one another", FORM(.not_self = true) },
        { "a new token sees the new ones that come after it: the mask is missing", FORM(.future = true) },
        { "the mask is that of a text that begins here: row i sees columns 0 to i; it may see cache->time more",
          FORM(.like_a_square = true) },
        { "keys and values are exchanged", FORM(.exchanged = true) },
        { "the scores are not divided by sqrt(dim)", FORM(.no_scale = true) }));
    if (cache->time != before + n)
        judge_wrong("cache->time is %d after %d tokens and %d more: it counts all tokens so far", cache->time, before, n);
    judge_numbers("cache->keys", GRA_SHAPE(before + n, DIM), cache->keys, keys, 1e-9, NULL);
    judge_numbers("cache->values", GRA_SHAPE(before + n, DIM), cache->values, values, 1e-9, NULL);
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
