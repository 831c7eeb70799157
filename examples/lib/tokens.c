/* tokens: bytes -> tokens.
 *
 *     "hello"  ->  1 0 2 2 3
 */
#include "tokens.h"
#include "hash.h"
#include "lines.h"
#include "message.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writes the tokens of the n bytes after those that are there. */
static int encode(corpus *x, text_part *part, const char *bytes, size_t n)
{
    const ptrdiff_t size = tokenizer_encode(&x->tokens, bytes, n, x->ids + x->size);
    if (size < 0)
        return -1;
    *part = (text_part){ .ids = x->ids + x->size, .size = (size_t)size, .bytes = n };
    x->size += (size_t)size;
    return 0;
}

/* The same for lines: end line end line end. The first end counts as a byte, like the others. */
static int encode_lines(corpus *x, text_part *part, const char *bytes, size_t n)
{
    uint16_t *ids = x->ids + x->size;
    *part = (text_part){ .ids = ids, .bytes = n + 1 };
    for (size_t i = 0; i < n; i++)
        part->lines += bytes[i] == '\n';
    part->end = malloc((part->lines + 1) * sizeof *part->end);
    if (!part->end)
        return warn("out of memory");
    for (size_t i = 0; i <= part->lines; i++) {
        part->end[i] = part->size;
        ids[part->size++] = (uint16_t)x->tokens.end;
        if (i == part->lines)
            break;
        const size_t length = (size_t)((const char *)memchr(bytes, '\n', n) - bytes);
        const ptrdiff_t size = tokenizer_encode(&x->tokens, bytes, length, ids + part->size);
        if (size < 0)
            return -1;
        part->size += (size_t)size;
        bytes += length + 1;
        n -= length + 1;
    }
    x->size += part->size;
    return 0;
}

/* Merges are learnt from the training part only: merges of the held-out text would flatter its loss. */
static int make_tokenizer(corpus *x, const options *o, const char *bytes, size_t n, size_t train)
{
    if (x->tokens.size > 0)
        return 0;
    x->tokens.reads_special = o->special;
    return o->tokenizer ? tokenizer_train(&x->tokens, bytes, train, (int)o->vocab)
                        : tokenizer_of_bytes(&x->tokens, bytes, n);
}

/* A window needs a token more than the context. */
static int check_size(const corpus *x, const options *o)
{
    const size_t least = (size_t)o->context + 1;
    if (o->lines || (x->train.size >= least && x->held.size >= least))
        return 0;
    return warn("the text has %zu %s; the last tenth, held out for validation, has %zu, but a window of "
                "--context %ld needs %zu: give more text or a smaller --context", x->size,
                x->tokens.n_merges ? "tokens" : "bytes", x->held.size, o->context, least);
}

/* Where the training part ends: not inside a special token. */
static size_t whole(const tokenizer *k, const char *bytes, size_t n, size_t train)
{
    for (size_t at = 0, length; at < train; at += length) {
        at += tokenizer_special(k, bytes + at, n - at, &length);
        if (at < train && at + length > train)
            return at + length;
    }
    return train;
}

static int tokenize(corpus *x, const options *o, char **bytes, size_t *n)
{
    int (*const into)(corpus *, text_part *, const char *, size_t) = o->lines ? encode_lines : encode;
    size_t train = *n - (*n + 9) / 10;
    if (o->lines && lines_shuffle(bytes, n, (uint64_t)o->seed, &train))
        return -1;
    snprintf(x->hash, sizeof x->hash, "%016" PRIx64, hash(HASH_START, *bytes, *n));
    x->bytes = *n;
    x->ids = malloc((*n + 2) * sizeof *x->ids);         /* 2: the ends before the first lines */
    if (!x->ids)
        return warn("out of memory");
    if (make_tokenizer(x, o, *bytes, *n, train) || tokenizer_read_special(&x->tokens, o->special, *bytes, *n))
        return -1;
    train = whole(&x->tokens, *bytes, *n, train);
    const int failed = into(x, &x->train, *bytes, train) || into(x, &x->held, *bytes + train, *n - train);
    return failed ? -1 : check_size(x, o);
}

int text_take(corpus *x, const options *o, char *bytes, size_t n)
{
    x->returns = memchr(bytes, '\r', n) != NULL;
    const int failed = tokenize(x, o, &bytes, &n);
    free(bytes);
    return failed;
}

void text_free(corpus *x)
{
    free(x->ids);
    free(x->train.end);
    free(x->held.end);
    tokenizer_free(&x->tokens);
    *x = (corpus){ 0 };
}

size_t text_cut(text_part part, long context)
{
    size_t n = 0;
    for (size_t i = 0; i < part.lines; i++)
        n += part.end[i + 1] - part.end[i] > (size_t)context;
    return n;
}

double text_bits(const corpus *x, double loss)
{
    return loss / log(2) * (double)x->held.size / (double)x->held.bytes;
}
