/* learn_merges: merges, learnt from a text.
 *
 * Each distinct piece of the text is a word with a count, and begins as a token for each byte. The most
 * frequent pair of neighbours becomes a token, and is replaced in all words; then this is repeated. Of
 * equally frequent pairs the one with the lower left token is first, then the one with the lower right token,
 * as in Hugging Face's tokenizers.
 *
 * Each pair has a list of the words in which it occurs, or did occur: only these words change. The pairs are
 * in a heap by count. The count of a pair that is there already only falls, so an outdated entry is found
 * when it comes first. */
#include "../hash.h"
#include "../message.h"
#include "heap.h"
#include "internal.h"
#include <stdbool.h>
#include <string.h>

enum { FEWEST = 2 };                    /* a pair that occurs only once is not a merge */

typedef struct word { const char *text; uint16_t *ids; size_t length, n; uint64_t count; } word;
typedef struct pair { uint16_t left, right; uint32_t note; uint64_t count, queued; } pair;
typedef struct note { uint32_t word, pair, before; } note;    /* the pair is in the word */

typedef struct trainer {
    tokenizer *k;
    word     *words;                    /* of `length` bytes, now `n` tokens */
    pair     *pairs;                    /* note: 1 + its last note's index; queued: its count in the heap */
    note     *notes;                    /* before: 1 + the index of the pair's note before it; 0: none */
    size_t    n_words, n_pairs, n_notes;
    size_t    old_notes;                /* those before the current merge */
    map       word_of, pair_of;
    uint16_t *ids;                      /* of all words */
    heap      queue;
} trainer;

/* ---- words ------------------------------------------------------------------------------------------ */

static int count_word(trainer *t, const char *text, size_t n)
{
    uint64_t key = hash(HASH_START, text, n);
    int64_t w;
    for (; (w = map_find(&t->word_of, key)) >= 0; key++)
        if (t->words[w].length == n && memcmp(t->words[w].text, text, n) == 0) {
            t->words[w].count++;
            return 0;
        }
    word *words = one_more(t->words, t->n_words, sizeof *words);
    if (!words)
        return -1;
    t->words = words;
    words[t->n_words] = (word){ .text = text, .length = n, .n = n, .count = 1 };
    return map_add(&t->word_of, key, t->n_words++);
}

static int count_words(trainer *t, const char *text, size_t n)
{
    size_t total = 0;
    for (size_t at = 0, special; at < n; at += special) {
        const size_t end = at + tokenizer_special(t->k, text + at, n - at, &special);
        for (size_t length; at < end; at += length) {
            length = split(text + at, end - at);
            if (count_word(t, text + at, length))
                return -1;
        }
    }
    for (size_t w = 0; w < t->n_words; w++)
        total += t->words[w].length;
    uint16_t *to = t->ids = malloc((total + 1) * sizeof *to);
    for (size_t j = 0; to && j < t->n_words; j++) {
        word *w = &t->words[j];
        w->ids = to;
        for (size_t i = 0; i < w->length; i++)
            *to++ = (uint16_t)t->k->id[(unsigned char)w->text[i]];
    }
    return t->ids ? 0 : -1;
}

/* ---- pairs ------------------------------------------------------------------------------------------ */

/* The index of a pair, a new one if there is none; -1: out of memory. */
static int64_t find_pair(trainer *t, uint16_t left, uint16_t right)
{
    const uint64_t key = merge_key(left, right);
    const int64_t known = map_find(&t->pair_of, key);
    if (known >= 0)
        return known;
    pair *pairs = one_more(t->pairs, t->n_pairs, sizeof *pairs);
    if (pairs)
        t->pairs = pairs;
    if (!pairs || map_add(&t->pair_of, key, t->n_pairs))
        return -1;
    pairs[t->n_pairs] = (pair){ .left = left, .right = right };
    return (int64_t)t->n_pairs++;
}

/* Notes that a pair is in a word, once for each merge. */
static int add_note(trainer *t, size_t p, size_t w)
{
    pair *x = &t->pairs[p];
    if (x->note > t->old_notes && t->notes[x->note - 1].word == w)
        return 0;
    note *notes = one_more(t->notes, t->n_notes, sizeof *notes);
    if (!notes)
        return -1;
    t->notes = notes;
    notes[t->n_notes] = (note){ (uint32_t)w, (uint32_t)p, x->note };
    x->note = (uint32_t)++t->n_notes;
    return 0;
}

/* Counts the pairs of a word; those that have the token `new` get a note (new -1: all). */
static int add_pairs(trainer *t, size_t w, int new)
{
    const word *x = &t->words[w];
    int failed = 0;
    for (size_t i = 0; i + 1 < x->n && !failed; i++) {
        const uint16_t left = x->ids[i], right = x->ids[i + 1];
        const int64_t p = find_pair(t, left, right);
        failed = p < 0 || ((new < 0 || left == new || right == new) && add_note(t, (size_t)p, w));
        if (!failed)
            t->pairs[p].count += x->count;
    }
    return failed;
}

static void take_pairs(trainer *t, const word *x)
{
    for (size_t i = 0; i + 1 < x->n; i++)
        t->pairs[map_find(&t->pair_of, merge_key(x->ids[i], x->ids[i + 1]))].count -= x->count;
}

/* The most frequent comes first, of equals the lowest tokens; the index is in the low 32 bits. */
static int queue(trainer *t, size_t p)
{
    pair *x = &t->pairs[p];
    if (x->count < FEWEST || x->count == x->queued)
        return 0;
    x->queued = x->count;
    return heap_push(&t->queue, (heap_item){ UINT64_MAX - x->count,
                                             merge_key(x->left, x->right) << 32 | (uint64_t)p });
}

/* Queues the pairs that have become more frequent. */
static int queue_noted(trainer *t)
{
    int failed = 0;
    for (; t->old_notes < t->n_notes && !failed; t->old_notes++)
        failed = queue(t, t->notes[t->old_notes].pair);
    return failed;
}

/* ---- merging ---------------------------------------------------------------------------------------- */

static bool has_pair(const word *x, uint16_t left, uint16_t right)
{
    for (size_t i = 0; i + 1 < x->n; i++)
        if (x->ids[i] == left && x->ids[i + 1] == right)
            return true;
    return false;
}

static void replace(word *x, uint16_t left, uint16_t right, uint16_t id)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; n++) {
        const bool both = i + 1 < x->n && x->ids[i] == left && x->ids[i + 1] == right;
        x->ids[n] = both ? id : x->ids[i];
        i += both ? 2 : 1;
    }
    x->n = n;
}

static int merge(trainer *t, size_t p)
{
    const uint16_t left = t->pairs[p].left, right = t->pairs[p].right;
    const int id = tokenizer_merge(t->k, left, right);
    int failed = id < 0;
    for (uint32_t i = t->pairs[p].note; i && !failed; i = t->notes[i - 1].before) {
        word *x = &t->words[t->notes[i - 1].word];
        if (!has_pair(x, left, right))
            continue;
        take_pairs(t, x);
        replace(x, left, right, (uint16_t)id);
        failed = add_pairs(t, t->notes[i - 1].word, id);
    }
    return failed || queue_noted(t);
}

static int merge_all(trainer *t, int size)
{
    int failed = 0;
    for (size_t w = 0; w < t->n_words && !failed; w++)
        failed = add_pairs(t, w, -1);
    failed = failed || queue_noted(t);
    while (!failed && t->queue.n && t->k->size < size) {
        const heap_item top = heap_pop(&t->queue);
        const size_t p = (size_t)(top.second & UINT32_MAX);
        t->pairs[p].queued = 0;
        failed = UINT64_MAX - top.first == t->pairs[p].count ? merge(t, p) : queue(t, p);
    }
    return failed;
}

int tokenizer_train(tokenizer *k, const char *text, size_t n, int size)
{
    *k = (tokenizer){ .reads_special = k->reads_special };
    trainer t = { .k = k };
    int failed = gpt2_bytes(k);
    if (k->reads_special && !failed)
        failed = tokenizer_add(k, END_OF_TEXT, strlen(END_OF_TEXT)) < 0;
    failed = failed || tokenizer_ready(k);
    failed = failed || count_words(&t, text, n) || merge_all(&t, size) || tokenizer_ready(k);
    if (failed)
        warn("out of memory");
    else if (!k->n_merges)
        failed = warn("the text is too short for merges: no two neighbours occur in it twice");
    free(t.words);
    free(t.pairs);
    free(t.notes);
    free(t.word_of.slots);
    free(t.pair_of.slots);
    free(t.ids);
    free(t.queue.items);
    if (failed)
        tokenizer_free(k);
    return failed ? -1 : 0;
}
