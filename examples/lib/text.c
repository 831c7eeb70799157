/* text: files -> bytes -> tokens.
 *
 *     "hello"  ->  1 0 2 2 3
 */
#include "text.h"
#include "files.h"
#include "hash.h"
#include "say.h"
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------- */

typedef struct source {                 /* the bytes of all files, one after another */
    char  *bytes;
    size_t n;
} source;

static int append(source *s, const char *path)
{
    size_t n;
    char *bytes = file_read(path, &n), *more = bytes && n > 0 ? realloc(s->bytes, s->n + n) : NULL;
    if (more) {
        memcpy(more + s->n, bytes, n);
        s->bytes = more;
        s->n += n;
    } else if (bytes)
        warn("cannot learn from %s: %s", path, n > 0 ? "out of memory" : "it is empty");
    free(bytes);
    return more ? 0 : -1;
}

/* The project's own sources, sorted by name within each pattern. */
static int append_own(source *s)
{
    static const char *const own[] = { "README.md", "core/*.[ch]", "core/*/*.[ch]", "examples/*.[ch]",
                                       "examples/*/*.[ch]", "layers/*.[ch]" };
    glob_t found;
    int failed = 0, why = 0;
    for (size_t i = 0; i < sizeof own / sizeof own[0] && !why; i++)
        why = glob(own[i], GLOB_ERR | (i ? GLOB_APPEND : 0), NULL, &found);
    if (why)
        warn("cannot find the project's own sources: run this in the project's folder, or give --data FILE");
    for (size_t i = 0; i < found.gl_pathc && !why && !failed; i++)
        failed = append(s, found.gl_pathv[i]);
    globfree(&found);
    return why || failed ? -1 : 0;
}

/* Writes the tokens of the n bytes after those that are there. */
static int encode(corpus *x, text_part *part, const char *bytes, size_t n)
{
    const ptrdiff_t size = tokenizer_encode(&x->tokens, bytes, n, x->ids + x->size);
    if (size < 0)
        return -1;
    *part = (text_part){ x->ids + x->size, (size_t)size, n };
    x->size += (size_t)size;
    return 0;
}

static int tokenize(corpus *x, const source *s, int context)
{
    const size_t held = (s->n + 9) / 10, train = s->n - held, least = (size_t)context + 1;
    if (held < least)
        return warn("the text has %zu bytes; the last tenth, held out for validation, has %zu, but a window "
                    "of --context %d needs %zu: give more text or a smaller --context",
                    s->n, held, context, least);
    snprintf(x->hash, sizeof x->hash, "%016" PRIx64, hash(HASH_START, s->bytes, s->n));
    x->ids = malloc(s->n * sizeof *x->ids);
    if (!x->ids)
        return warn("out of memory");
    x->bytes = s->n;
    if (tokenizer_of_bytes(&x->tokens, s->bytes, s->n))
        return -1;
    return encode(x, &x->train, s->bytes, train) || encode(x, &x->held, s->bytes + train, held) ? -1 : 0;
}

int text_read(corpus *x, const char *path, int context)
{
    source s = { 0 };
    const int failed = (path ? append(&s, path) : append_own(&s)) || tokenize(x, &s, context);
    free(s.bytes);
    return failed ? -1 : 0;
}

void text_free(corpus *x)
{
    free(x->ids);
    tokenizer_free(&x->tokens);
    *x = (corpus){ 0 };
}

double text_bits(const corpus *x, double loss)
{
    return loss / log(2) * (double)x->held.size / (double)x->held.bytes;
}
