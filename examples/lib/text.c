/* text: files -> bytes -> ids -> batches of windows.
 *
 *     "hello"  ->  vocabulary e h l o  ->  1 0 2 2 3  ->  ids 1 0 2 2, next 0 2 2 3
 */
#include "text.h"
#include "files.h"
#include "say.h"
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- which files: the project's own sources ---------------------------------------------------- */

typedef struct names {
    char **name;
    int    n;
} names;

static void free_names(names *list)
{
    for (int i = 0; i < list->n; i++)
        free(list->name[i]);
    free(list->name);
}

static int add_name(names *list, char *name)    /* takes the name over */
{
    char **more = name ? realloc(list->name, sizeof *more * ((size_t)list->n + 1)) : NULL;
    if (!more) {
        complain("out of memory");
        free(name);
        return -1;
    }
    list->name = more;
    list->name[list->n++] = name;
    return 0;
}

static bool is_source(const char *name)
{
    size_t n = strlen(name);
    return n > 2 && name[n - 2] == '.' && (name[n - 1] == 'c' || name[n - 1] == 'h');
}

/* All sources below a folder; links are not followed, so there is an end. */
static int add_sources(names *list, const char *folder)
{
    DIR *dir = folder_open(folder);
    if (!dir) {
        complain("cannot read the project's own text: %s: %s; run this in the project's folder or give "
                 "--data FILE",
                 folder, strerror(errno));
        return -1;
    }
    int failed = 0;
    for (struct dirent *entry; !failed && (entry = readdir(dir));) {
        struct stat about;
        if (entry->d_name[0] == '.')
            continue;
        char *path = file_path(folder, entry->d_name);
        if (path && lstat(path, &about) == 0 && S_ISREG(about.st_mode) && is_source(path)) {
            failed = add_name(list, path);
            continue;
        }
        failed = !path || (lstat(path, &about) == 0 && S_ISDIR(about.st_mode) && add_sources(list, path));
        free(path);
    }
    closedir(dir);
    return failed ? -1 : 0;
}

static int by_bytes(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int own_sources(names *list)
{
    static const char readme[] = "README.md";
    struct stat about;
    if (add_sources(list, "core") || add_sources(list, "layers") || add_sources(list, "examples"))
        return -1;
    if (stat(readme, &about) == 0 && add_name(list, strdup(readme)))
        return -1;
    qsort(list->name, (size_t)list->n, sizeof list->name[0], by_bytes);
    return 0;
}

/* ---- hashes: whether bytes are still the same ----------------------------------------------------- */

/* FNV-1a, eight bytes at a time: h = (h ^ the next eight bytes) * prime. Every step can be undone, so two texts of
 * one length that differ in one place alone never have the same hash. */
static char *hash(const void *bytes, size_t n, char text[TEXT_HASH])
{
    static const uint64_t prime = 1099511628211u;
    const unsigned char *at = bytes;
    uint64_t h = 14695981039346656037u, word;
    for (; n >= sizeof word; n -= sizeof word, at += sizeof word) {
        memcpy(&word, at, sizeof word);
        h = (h ^ word) * prime;
    }
    for (; n > 0; n--)
        h = (h ^ *at++) * prime;
    snprintf(text, TEXT_HASH, "%016" PRIx64, h);
    return text;
}

char *vocabulary_hash(const vocabulary *v, char text[TEXT_HASH])
{
    return hash(v->byte, (size_t)v->size, text);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static int append(corpus *x, const char *path)
{
    size_t n;
    char *bytes = file_read(path, &n);
    if (!bytes)
        return -1;
    if (n == 0)
        complain("cannot learn from %s: it is empty", path);
    unsigned char *more = n > 0 ? realloc(x->ids, x->size + n) : NULL;
    if (n > 0 && !more)
        complain("cannot read %s: out of memory", path);
    if (more) {
        memcpy(more + x->size, bytes, n);
        x->ids = more;
        x->size += n;
        x->files++;
    }
    free(bytes);
    return more ? 0 : -1;
}

int text_read(corpus *x, const char *const *file, int n)
{
    *x = (corpus){ 0 };
    names own = { 0 };
    int failed = n == 0 ? own_sources(&own) : 0;
    for (int i = 0; !failed && i < (n ? n : own.n); i++)
        failed = append(x, n ? file[i] : own.name[i]);
    free_names(&own);
    if (failed) {
        text_free(x);
        return -1;
    }
    hash(x->ids, x->size, x->hash);
    vocabulary_of(&x->vocab, (const char *)x->ids, x->size);
    for (size_t i = 0; i < x->size; i++)
        x->ids[i] = (unsigned char)x->vocab.id[x->ids[i]];
    x->train = x->size - (x->size + 9) / 10;
    return 0;
}

int text_suits(const corpus *x, int context)
{
    char size[COMMAS], held[COMMAS];
    size_t least = (size_t)context + 1;
    const char *s = x->size == 1 ? "" : "s";
    if (x->size < least) {
        complain("the text has %s byte%s, and a window of --context %d needs %zu: give more text or a smaller "
                 "--context", commas(x->size, size), s, context, least);
        return -1;
    }
    if (x->size - x->train < least) {
        complain("the text has %s byte%s, its last tenth, held out to validate, has %s, and a window of "
                 "--context %d needs %zu: give more text or a smaller --context",
                 commas(x->size, size), s, commas(x->size - x->train, held), context, least);
        return -1;
    }
    return 0;
}

void text_free(corpus *x)
{
    free(x->ids);
    x->ids = NULL;
}

/* ---- windows ------------------------------------------------------------------------------------ */

static void window(const unsigned char *from, int context, int *ids, int *next)
{
    for (int i = 0; i < context; i++) {
        ids[i] = from[i];
        next[i] = from[i + 1];
    }
}

static void batch_of(const unsigned char *part, size_t size, gra_rng *rng, int batch, int context, int *ids,
                     int *next)
{
    for (size_t b = 0, at = 0; b < (size_t)batch; b++, at += (size_t)context)
        window(part + gra_randint(rng, size - (size_t)context), context, ids + at, next + at);
}

void text_batch(const corpus *x, gra_rng *rng, int batch, int context, int *ids, int *next)
{
    batch_of(x->ids, x->train, rng, batch, context, ids, next);
}

void text_held_batch(const corpus *x, gra_rng *rng, int batch, int context, int *ids, int *next)
{
    batch_of(x->ids + x->train, x->size - x->train, rng, batch, context, ids, next);
}

size_t text_windows(const corpus *x, int context)
{
    return (x->size - x->train - 1) / (size_t)context;
}

void text_window(const corpus *x, size_t i, int context, int *ids, int *next)
{
    window(x->ids + x->train + i * (size_t)context, context, ids, next);
}

/* ---- vocabulary ---------------------------------------------------------------------------------- */

void vocabulary_of(vocabulary *v, const char *bytes, size_t n)
{
    bool occurs[256] = { false };
    for (size_t i = 0; i < n; i++)
        occurs[(unsigned char)bytes[i]] = true;
    v->size = 0;
    for (int b = 0; b < 256; b++) {
        v->id[b] = occurs[b] ? v->size : -1;
        if (occurs[b])
            v->byte[v->size++] = (unsigned char)b;
    }
}

void byte_text(unsigned char byte, char name[8])
{
    if (byte == '\n')
        strcpy(name, "\\n");
    else if (byte == '\t')
        strcpy(name, "\\t");
    else if (byte < 0x20 || byte >= 0x7F)
        snprintf(name, 8, "\\x%02X", byte);
    else
        snprintf(name, 8, "%c", byte);
}

/* How many of the bytes make the UTF-8 character that begins there; 1 where none does. */
static size_t character(const unsigned char *s, size_t n)
{
    size_t length = s[0] >= 0xF0 && s[0] < 0xF8   ? 4
                    : s[0] >= 0xE0 && s[0] < 0xF0 ? 3
                    : s[0] >= 0xC2 && s[0] < 0xE0 ? 2
                                                  : 1;
    for (size_t i = 1; i < length; i++)
        if (i >= n || (s[i] & 0xC0) != 0x80)
            return 1;
    return length;
}

int vocabulary_encode(const vocabulary *v, const char *bytes, size_t n, int *ids)
{
    enum { NAMED = 8 };
    char lacking[NAMED * 48] = "";
    size_t at = 0, missing = 0, length;
    const unsigned char *s = (const unsigned char *)bytes;
    for (size_t i = 0, place = 1; i < n; i += length, place++) {
        bool known = true;
        length = character(s + i, n - i);
        for (size_t j = i; j < i + length; j++) {
            ids[j] = v->id[s[j]];
            known = known && ids[j] >= 0;
        }
        if (known || missing++ >= NAMED)
            continue;
        char name[8];
        byte_text(s[i], name);
        if (length > 1)
            snprintf(name, sizeof name, "%.*s", (int)length, bytes + i);
        at += (size_t)snprintf(lacking + at, sizeof lacking - at, "%s'%s' at position %zu",
                               missing > 1 ? ", " : "", name, place);
    }
    if (missing == 0)
        return 0;
    complain("the model has no token for %s%s: it knows the %d byte%s that occur%s in the text it learned from",
             lacking, missing > NAMED ? " and more" : "", v->size, v->size == 1 ? "" : "s", v->size == 1 ? "s" : "");
    return -1;
}
