/* text: files -> bytes -> ids -> batches of windows.
 *
 *     "hello"  ->  vocabulary e h l o  ->  1 0 2 2 3  ->  ids 1 0 2 2, next 0 2 2 3
 */
#include "text.h"
#include "files.h"
#include "hash.h"
#include "say.h"
#include <glob.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ----------------------------------------------------------------------------------- */

static int append(corpus *x, const char *path)
{
    size_t n;
    char *bytes = file_read(path, &n);
    unsigned char *more = bytes && n > 0 ? realloc(x->ids, x->size + n) : NULL;
    if (more) {
        memcpy(more + x->size, bytes, n);
        x->ids = more;
        x->size += n;
    } else if (bytes)
        warn("cannot learn from %s: %s", path, n > 0 ? "out of memory" : "it is empty");
    free(bytes);
    return more ? 0 : -1;
}

/* The project's own sources, sorted by name within each pattern. */
static int append_own(corpus *x)
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
        failed = append(x, found.gl_pathv[i]);
    globfree(&found);
    return why || failed ? -1 : 0;
}

/* Makes the vocabulary of the n bytes. */
static void vocabulary_of(vocabulary *v, const unsigned char *bytes, size_t n)
{
    bool occurs[256] = { false };
    for (size_t i = 0; i < n; i++)
        occurs[bytes[i]] = true;
    v->size = 0;
    for (int b = 0; b < 256; b++) {
        v->id[b] = occurs[b] ? v->size : -1;
        if (occurs[b])
            v->byte[v->size++] = (unsigned char)b;
    }
}

int text_read(corpus *x, const char *path, int context)
{
    if (path ? append(x, path) : append_own(x))
        return -1;
    const size_t held = (x->size + 9) / 10, train = x->size - held, least = (size_t)context + 1;
    if (held < least)
        return warn("the text has %zu bytes; the last tenth, held out for validation, has %zu, but a window "
                    "of --context %d needs %zu: give more text or a smaller --context",
                    x->size, held, context, least);
    snprintf(x->hash, sizeof x->hash, "%016" PRIx64, hash(HASH_START, x->ids, x->size));
    vocabulary_of(&x->vocab, x->ids, x->size);
    for (size_t i = 0; i < x->size; i++)
        x->ids[i] = (unsigned char)x->vocab.id[x->ids[i]];
    x->train = (text_part){ x->ids, train };
    x->held = (text_part){ x->ids + train, held };
    return 0;
}

void text_free(corpus *x)
{
    free(x->ids);
    *x = (corpus){ 0 };
}

/* ---- windows ------------------------------------------------------------------------------------ */

void text_window(text_part part, size_t at, int context, int *ids, int *next)
{
    for (int i = 0; i < context; i++) {
        ids[i] = part.ids[at + (size_t)i];
        next[i] = part.ids[at + (size_t)i + 1];
    }
}

void text_batch(text_part part, gra_rng *rng, int batch, int context, int *ids, int *next)
{
    for (size_t b = 0, at = 0; b < (size_t)batch; b++, at += (size_t)context)
        text_window(part, (size_t)gra_randint(rng, part.size - (size_t)context), context, ids + at,
                    next + at);
}

/* ---- vocabulary ---------------------------------------------------------------------------------- */

/* The printed form of a byte: "a", "\n", "\xE2". */
static char *byte_text(unsigned char byte, char name[8])
{
    if (byte == '\n' || byte == '\t')
        strcpy(name, byte == '\n' ? "\\n" : "\\t");
    else
        snprintf(name, 8, byte < 0x20 || byte >= 0x7F ? "\\x%02X" : "%c", byte);
    return name;
}

int vocabulary_encode(const vocabulary *v, const char *bytes, size_t n, int *ids)
{
    char name[8];
    for (size_t i = 0; i < n; i++) {
        ids[i] = v->id[(unsigned char)bytes[i]];
        if (ids[i] < 0)
            return warn("the model has no token for '%s', byte %zu of the prompt: it knows only the %d "
                        "different bytes of its training text", byte_text((unsigned char)bytes[i], name),
                        i + 1, v->size);
    }
    return 0;
}

int vocabulary_newline(const vocabulary *v)
{
    return v->id['\n'] < 0 ? 0 : v->id['\n'];
}

enum { VOCAB_TEXT = 256 * 16 };

static size_t print_vocabulary(const vocabulary *v, char out[VOCAB_TEXT])
{
    size_t n = 0;
    char name[8];
    for (int i = 0; i < v->size; i++)
        n += (size_t)snprintf(out + n, VOCAB_TEXT - n, "%d\t%s\n", v->byte[i], byte_text(v->byte[i], name));
    return n;
}

int vocabulary_write(const vocabulary *v, const char *path)
{
    char out[VOCAB_TEXT];
    return file_write(path, out, print_vocabulary(v, out));
}

/* The file must be exactly what vocabulary_write would write for its bytes. */
int vocabulary_read(vocabulary *v, const char *path)
{
    size_t size, n = 0;
    unsigned char bytes[256] = { 0 };
    char again[VOCAB_TEXT], *text = file_read(path, &size);
    for (char *line = text; line && *line && n < sizeof bytes; n++) {
        bytes[n] = (unsigned char)strtol(line, NULL, 10);
        line = strchr(line, '\n');
        if (line)
            line++;
    }
    vocabulary_of(v, bytes, n);
    const bool same = text && n > 0 && print_vocabulary(v, again) == size && memcmp(again, text, size) == 0;
    if (text && !same)
        warn("%s is damaged: it must list bytes in ascending order, each with its printed form", path);
    free(text);
    return same ? 0 : -1;
}
