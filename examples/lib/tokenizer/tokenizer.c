/* tokenizer: see tokenizer.h. */
#include "../files.h"
#include "../hash.h"
#include "../json_out.h"
#include "../message.h"
#include "../utf8.h"
#include "internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- building -------------------------------------------------------------------------------------- */

static size_t begin_of(const tokenizer *k, int id)
{
    return id ? k->ends[id - 1] : 0;
}

bool tokenizer_is_end_of_text(const tokenizer *k, int id)
{
    size_t n;
    const char *s = tokenizer_bytes(k, id, &n);
    return n == sizeof END_OF_TEXT - 1 && memcmp(s, END_OF_TEXT, n) == 0;
}

const char *tokenizer_bytes(const tokenizer *k, int id, size_t *n)
{
    *n = k->ends[id] - begin_of(k, id);
    return k->bytes + begin_of(k, id);
}

/* The key of a string in `known`, or the free key that it would get: while another string has the key, the
 * next number is tried. */
static uint64_t key_of(const tokenizer *k, const char *bytes, size_t n, int64_t *id)
{
    uint64_t key = hash(HASH_START, bytes, n);
    for (size_t m; (*id = map_find(&k->known, key)) >= 0; key++) {
        const char *same = tokenizer_bytes(k, (int)*id, &m);
        if (m == n && memcmp(same, bytes, n) == 0)
            break;
    }
    return key;
}

/* Adds the n bytes after the last token's bytes as a token, unless a token has these bytes already. */
static int add_next(tokenizer *k, size_t n)
{
    int64_t id;
    const size_t begin = begin_of(k, k->size);
    const uint64_t key = key_of(k, k->bytes + begin, n, &id);
    if (id >= 0)
        return (int)id;
    size_t *ends = one_more(k->ends, (size_t)k->size, sizeof *ends);
    if (ends)
        k->ends = ends;
    if (!ends || map_add(&k->known, key, (size_t)k->size))
        return -1;
    ends[k->size] = begin + n;
    return k->size++;
}

/* Makes room for n bytes after the last token's bytes. */
static char *room_for(tokenizer *k, size_t n)
{
    const size_t begin = begin_of(k, k->size);
    if (begin + n > k->room) {
        char *bytes = realloc(k->bytes, 2 * (begin + n));
        if (!bytes)
            return NULL;
        k->bytes = bytes;
        k->room = 2 * (begin + n);
    }
    return k->bytes + begin;
}

int tokenizer_add(tokenizer *k, const char *bytes, size_t n)
{
    char *to = room_for(k, n);
    if (!to)
        return -1;
    memcpy(to, bytes, n);
    return add_next(k, n);
}

int tokenizer_merge(tokenizer *k, int left, int right)
{
    size_t n, m;
    tokenizer_bytes(k, left, &n);
    tokenizer_bytes(k, right, &m);
    char *to = room_for(k, n + m);
    if (!to)
        return -1;
    memcpy(to, tokenizer_bytes(k, left, &n), n);
    memcpy(to + n, tokenizer_bytes(k, right, &m), m);
    const int id = add_next(k, n + m);
    struct merge *merges = one_more(k->merges, k->n_merges, sizeof *merges);
    if (merges)
        k->merges = merges;
    if (id < 0 || !merges || map_add(&k->ranks, merge_key(left, right), k->n_merges))
        return -1;
    merges[k->n_merges++] = (struct merge){ (uint16_t)left, (uint16_t)right, (uint16_t)id };
    return id;
}

int tokenizer_find(const tokenizer *k, const char *bytes, size_t n)
{
    int64_t id;
    key_of(k, bytes, n, &id);
    return (int)id;
}

static void set_special(tokenizer *k, int id, enum special how)
{
    size_t n;
    k->begins_special[(unsigned char)*tokenizer_bytes(k, id, &n)] = true;
    k->longest = n > k->longest ? n : k->longest;
    k->special[id] = how;
}

/* Which tokens are special. */
static int find_special(tokenizer *k)
{
    free(k->special);
    k->special = calloc((size_t)k->size + 1, sizeof *k->special);
    if (!k->special)
        return warn("out of memory");
    for (size_t i = 0; i < k->n_merges; i++)
        k->special[k->merges[i].id] = ALSO_SPECIAL;             /* a mark, for the loop below */
    for (int id = 0; id < k->size; id++) {
        size_t n;
        tokenizer_bytes(k, id, &n);
        if (n > 1 && !k->special[id])
            set_special(k, id, SPECIAL);
        else
            k->special[id] = ORDINARY;
    }
    return 0;
}

void tokenizer_make_special(tokenizer *k, int id)
{
    set_special(k, id, k->special[id] == SPECIAL ? SPECIAL : ALSO_SPECIAL);
}

int tokenizer_ready(tokenizer *k)
{
    for (int b = 0; b < 256; b++)
        k->id[b] = tokenizer_find(k, &(char){ (char)b }, 1);
    const int end = tokenizer_find(k, END_OF_TEXT, strlen(END_OF_TEXT));
    k->end = end >= 0 ? end : k->id['\n'] >= 0 ? k->id['\n'] : 0;
    return find_special(k);
}

void tokenizer_free(tokenizer *k)
{
    free(k->bytes);
    free(k->ends);
    free(k->known.slots);
    free(k->special);
    free(k->merges);
    free(k->ranks.slots);
    *k = (tokenizer){ 0 };
}

/* ---- decoding -------------------------------------------------------------------------------------- */

char *tokenizer_decode(const tokenizer *k, const int *ids, size_t n, size_t *size)
{
    out o = { 0 };
    for (size_t i = 0, m; i < n; i++) {
        const char *bytes = tokenizer_bytes(k, ids[i], &m);
        out_bytes(&o, bytes, m);
    }
    *size = o.n;
    if (out_end(&o))
        return o.bytes;
    free(o.bytes);
    return warn("out of memory"), NULL;
}

/* ---- names ----------------------------------------------------------------------------------------- */

char *tokenizer_name(const tokenizer *k, int id, char name[TOKENIZER_NAME])
{
    size_t n, used = 0;
    const char *s = tokenizer_bytes(k, id, &n);
    for (size_t i = 0, length; i < n && used + 8 < TOKENIZER_NAME; i += length) {
        const unsigned char c = (unsigned char)s[i];
        const char *sign = c == '\n' ? "↵" : c == '\t' ? "→" : c == ' ' ? "·" : NULL;
        length = utf8_length((const unsigned char *)s + i, n - i);
        const bool hidden = length == 0 || c < 0x20 || c == 0x7F || (c == 0xC2 && (s[i + 1] & 0xE0) == 0x80);
        if (hidden && !sign)
            used += (size_t)sprintf(name + used, "\\x%02X", c);
        else
            used += (size_t)sprintf(name + used, "%.*s", sign ? 3 : (int)length, sign ? sign : s + i);
        length = hidden ? 1 : length;
    }
    name[used] = 0;
    return name;
}

/* ---- files ----------------------------------------------------------------------------------------- */

int tokenizer_read(tokenizer *k, const char *folder)
{
    char path[FILE_PATH], merges[FILE_PATH];
    *k = (tokenizer){ 0 };
    int failed;
    if (file_is_there(path, folder, VOCAB_TSV))
        failed = bytes_read(k, path);
    else if (file_is_there(path, folder, TOKENIZER_JSON))
        failed = tokenizer_json_read(k, path);
    else if (file_is_there(path, folder, VOCAB_JSON)) {
        failed = file_is_there(merges, folder, MERGES_TXT) ? merges_read(k, path, merges)
                 : warn("%s has no %s beside it: it lacks the merges that make its tokens", path, MERGES_TXT);
    } else if (file_is_there(path, folder, MERGES_TXT) || file_is_there(path, folder, "vocab.bpe"))
        failed = merges_read(k, NULL, path);
    else
        return 1;
    if (failed)
        tokenizer_free(k);
    return failed;
}

int tokenizer_write(const tokenizer *k, const char *folder)
{
    char path[FILE_PATH], merges[FILE_PATH];
    if (!k->n_merges)
        return bytes_write(k, file_path(path, folder, VOCAB_TSV));
    if (tokenizer_needs_json(k) && tokenizer_export(k, folder))
        return -1;
    return merges_write(k, file_path(path, folder, VOCAB_JSON), file_path(merges, folder, MERGES_TXT));
}

int tokenizer_export(const tokenizer *k, const char *folder)
{
    char path[FILE_PATH], config[FILE_PATH];
    return tokenizer_json_write(k, file_path(path, folder, TOKENIZER_JSON),
                                file_path(config, folder, TOKENIZER_CONFIG));
}

void tokenizer_hash(const tokenizer *k, char text[17])
{
    uint64_t h = hash(HASH_START, k->bytes, begin_of(k, k->size));
    h = hash(h, k->ends, (size_t)k->size * sizeof *k->ends);
    h = hash(h, k->merges, k->n_merges * sizeof *k->merges);
    snprintf(text, 17, "%016" PRIx64, h);
}
