/* encode: cuts a text into pieces, and merges tokens in each: the lowest rank first, of equals the leftmost.
 *
 * The pairs that may merge are in a heap, by rank and place, and the tokens in a list. A merge changes the
 * pairs around it: new pairs are added, and an old pair is found to be stale when its turn comes. So a
 * piece of n bytes takes n log n steps. */
#include "../message.h"
#include "heap.h"
#include "internal.h"
#include <string.h>

typedef struct encoder {
    const tokenizer *k;
    heap      pairs;                    /* rank, and place of the left token */
    uint32_t *prev, *next;              /* of the token at each place; next 0: it was merged */
    size_t    room;
} encoder;

static int make_room(encoder *e, size_t n)
{
    if (n <= e->room)
        return 0;
    if (n > UINT32_MAX / 2 - 64)
        return -1;
    free(e->prev);
    free(e->next);
    e->room = 2 * n + 64;
    e->prev = malloc(e->room * sizeof *e->prev);
    e->next = malloc(e->room * sizeof *e->next);
    return e->prev && e->next ? 0 : -1;
}

/* Adds the pair whose left token is at `place`, if it merges. */
static int add_pair(encoder *e, const uint16_t *ids, size_t place, size_t n)
{
    const size_t next = e->next[place];
    const int64_t rank = next < n ? map_find(&e->k->ranks, merge_key(ids[place], ids[next])) : -1;
    return rank < 0 ? 0 : heap_push(&e->pairs, (heap_item){ (uint64_t)rank, place });
}

/* Merges the n tokens in ids. Returns how many are left; -1: out of memory. */
static ptrdiff_t merge(encoder *e, uint16_t *ids, size_t n)
{
    if (n == 1)
        return 1;
    int failed = make_room(e, n);
    for (size_t i = 0; i < n && !failed; i++) {
        e->prev[i] = (uint32_t)(i - 1);
        e->next[i] = (uint32_t)(i + 1);
    }
    for (size_t i = 0; i < n && !failed; i++)
        failed = add_pair(e, ids, i, n);
    while (e->pairs.n && !failed) {
        const heap_item top = heap_pop(&e->pairs);
        const struct merge *m = &e->k->merges[top.first];
        const size_t left = top.second, right = e->next[left];
        if (!right || right >= n || ids[left] != m->left || ids[right] != m->right)
            continue;                   /* stale */
        ids[left] = m->id;
        e->next[left] = e->next[right];
        e->next[right] = 0;
        if (e->next[left] < n)
            e->prev[e->next[left]] = (uint32_t)left;
        failed = add_pair(e, ids, left, n) || (left && add_pair(e, ids, e->prev[left], n));
    }
    size_t left = 0;
    for (size_t i = 0; i < n && !failed; i = e->next[i])
        ids[left++] = ids[i];
    return failed ? -1 : (ptrdiff_t)left;
}

size_t tokenizer_special(const tokenizer *k, const char *text, size_t n, size_t *length)
{
    for (size_t at = 0; at < n && k->reads_special; at++)
        for (size_t m = k->begins_special[(unsigned char)text[at]] ? k->longest : 0; m > 0; m--) {
            const int id = m <= n - at ? tokenizer_find(k, text + at, m) : -1;
            if (id >= 0 && k->special[id])
                return *length = m, at;
        }
    return *length = 0, n;
}

int tokenizer_read_special(tokenizer *k, bool special, const char *text, size_t n)
{
    size_t length;
    char name[TOKENIZER_NAME];
    k->reads_special = true;
    const size_t at = tokenizer_special(k, text, n, &length);
    k->reads_special = special;
    if (special && k->strips)
        return warn("--special: an added token of the tokenizer.json has lstrip, rstrip or single_word: "
                    "true, expected false");
    if (special && !k->longest)
        return warn("--special: the tokenizer has no special token, such as " END_OF_TEXT);
    if (!special && length)
        warn("the text contains %s, which is read as ordinary characters: --special reads it as the token",
             tokenizer_name(k, tokenizer_find(k, text + at, length), name));
    return 0;
}

/* Writes the token of each byte from `at` on. */
static int bytes_to_ids(const tokenizer *k, const char *text, size_t at, size_t n, uint16_t *ids)
{
    char name[8];
    int known = 0;
    for (size_t i = at; i < at + n; i++) {
        const unsigned char byte = (unsigned char)text[i];
        if (k->id[byte] >= 0) {
            *ids++ = (uint16_t)k->id[byte];
            continue;
        }
        for (int b = 0; b < 256; b++)
            known += k->id[b] >= 0;
        return warn("the model has no token for '%s', byte %zu of the text: it knows only the %d different "
                    "bytes of its training text", byte_name(byte, name), i + 1, known);
    }
    return 0;
}

/* Encodes the n bytes from `begin` on, without special tokens. */
static ptrdiff_t encode_ordinary(encoder *e, const char *text, size_t begin, size_t n, uint16_t *ids)
{
    if (bytes_to_ids(e->k, text, begin, n, ids))
        return -1;
    if (!e->k->n_merges)
        return (ptrdiff_t)n;
    ptrdiff_t size = 0, merged = 0;
    for (size_t at = 0, m; at < n && merged >= 0; at += m, size += merged) {
        m = split(text + begin + at, n - at);
        merged = merge(e, ids + at, m);
        if (merged > 0)
            memmove(ids + size, ids + at, (size_t)merged * sizeof *ids);
    }
    return merged < 0 ? warn("out of memory") : size;
}

ptrdiff_t tokenizer_encode(const tokenizer *k, const char *text, size_t n, uint16_t *ids)
{
    encoder e = { .k = k };
    ptrdiff_t size = 0, more = 0;
    for (size_t at = 0, length; at < n && more >= 0; at += length) {
        const size_t before = tokenizer_special(k, text + at, n - at, &length);
        more = encode_ordinary(&e, text, at, before, ids + size);
        at += before;
        size += more;
        if (more >= 0 && length)
            ids[size++] = (uint16_t)tokenizer_find(k, text + at, length);
    }
    free(e.pairs.items);
    free(e.prev);
    free(e.next);
    return more < 0 ? -1 : size;
}

ptrdiff_t tokenizer_prompt(const tokenizer *k, const char *text, size_t n, bool end, int *ids)
{
    uint16_t *tokens = malloc((n + 1) * sizeof *tokens);
    const ptrdiff_t size = tokens ? tokenizer_encode(k, text, n, tokens) : warn("out of memory");
    ids[0] = k->end;
    for (ptrdiff_t i = 0; i < size; i++)
        ids[i + end] = tokens[i];
    free(tokens);
    return size < 0 ? -1 : size + end;
}
