/* shards: see shards.h. */
#include "shards.h"
#include "json_members.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failed(shards *s, const char *format, ...) GRA_PRINTF(2, 3);
static int failed(shards *s, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(s->error, sizeof s->error, format, args);
    va_end(args);
    return -1;
}

/* Opens a file, which becomes s->file[s->files - 1]. */
static int open_file(shards *s, const char *path)
{
    gra_file **file = realloc(s->file, ((size_t)s->files + 1) * sizeof *file);
    if (!file)
        return failed(s, "out of memory");
    s->file = file;
    file[s->files++] = gra_file_open(path);
    const char *why = gra_file_error(file[s->files - 1]);
    return why ? failed(s, "%s", why) : 0;
}

static int add(shards *s, const gra_file_tensor *x, gra_file *file)
{
    if (!(s->count & (s->count - 1))) {         /* room doubles when the count is a power of two */
        struct shards_tensor *list = realloc(s->tensor, (s->count ? 2 * (size_t)s->count : 1) * sizeof *list);
        if (!list)
            return failed(s, "out of memory");
        s->tensor = list;
    }
    s->tensor[s->count++] = (struct shards_tensor){ x, file };
    return 0;
}

/* ---- an index ---- */

struct entry { const char *name, *file; };

static int by_file(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    const int order = strcmp(x->file, y->file);
    return order ? order : strcmp(x->name, y->name);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct shards_tensor *)a)->x->name, ((const struct shards_tensor *)b)->x->name);
}

static int read_shards(shards *s, const char *path, struct entry *entry, int n)
{
    const char *slash = strrchr(path, '/');
    char shard[4096];
    if (n)
        qsort(entry, (size_t)n, sizeof *entry, by_file);
    for (int i = 0; i < n; i++) {
        const struct entry e = entry[i];
        if (!*e.file || strpbrk(e.file, "/\\") || strcmp(e.file, ".") == 0 || strcmp(e.file, "..") == 0)
            return failed(s, "%.200s: tensor %.100s: got the file %.100s, expected one beside the index",
                          path, e.name, e.file);
        snprintf(shard, sizeof shard, "%.*s%s", slash ? (int)(slash + 1 - path) : 0, path, e.file);
        if ((i == 0 || strcmp(e.file, entry[i - 1].file) != 0) && open_file(s, shard))
            return -1;
        gra_file *file = s->file[s->files - 1];
        const gra_file_tensor *x = gra_file_find(file, e.name);
        if (!x)
            return failed(s, "%.200s: tensor %.100s is not in %.100s", path, e.name, e.file);
        if (add(s, x, file))
            return -1;
    }
    if (n)
        qsort(s->tensor, (size_t)n, sizeof *s->tensor, by_name);
    for (int i = 1; i < n; i++)
        if (by_name(&s->tensor[i - 1], &s->tensor[i]) == 0)
            return failed(s, "%.200s: tensor %.100s is there twice", path, s->tensor[i].x->name);
    return 0;
}

static int read_index(shards *s, const char *path, char *text)
{
    const gra_json map = json_member((gra_json){ .at = text, .end = text + strlen(text) }, "weight_map");
    int n = 0, room = 0, status = 0;
    for (struct json j = json_open(map, '{'); json_next(&j);)
        room++;
    struct entry *entry = malloc(((size_t)room + 1) * sizeof *entry);
    struct json j = json_open(map, '{');
    while (entry && json_next(&j)) {
        entry[n].name = gra_json_string(&j.name);
        entry[n].file = gra_json_string(&j.value);
        if (!entry[n].name || !entry[n].file)
            break;
        n++;
    }
    if (!entry)
        status = failed(s, "out of memory");
    else if (j.rest.wrong || n < room || n == 0)
        status = failed(s, "%.300s: expected a JSON object with weight_map, an object of tensors and their "
                        "files", path);
    else
        status = read_shards(s, path, entry, n);
    free(entry);
    return status;
}

/* ---- both ---- */

int shards_open(shards *s, const char *path)
{
    enum { MOST = 1 << 26 };            /* bytes of an index */
    const size_t n = strlen(path), end = strlen(SHARDS_INDEX);
    *s = (shards){ 0 };
    if (n > end && strcmp(path + n - end, SHARDS_INDEX) == 0) {
        const char *why;
        char *text = json_read_file(path, MOST, &why);
        const int status = why ? failed(s, "%.300s: %s", path, why) : read_index(s, path, text);
        free(text);
        return status;
    }
    if (open_file(s, path))
        return -1;
    for (int i = 0; i < gra_file_count(s->file[0]); i++)
        if (add(s, gra_file_at(s->file[0], i), s->file[0]))
            return -1;
    return 0;
}

const char *shards_meta(const shards *s, const char *key)
{
    const char *value = NULL;
    for (int i = 0; i < s->files && !value; i++)
        value = gra_file_meta(s->file[i], key);
    return value;
}

int shards_read(shards *s, const gra_file_tensor *x, gra_real *to)
{
    int i = 0;
    while (s->tensor[i].x != x)
        i++;
    return gra_file_read(s->tensor[i].file, x, to) ? failed(s, "%s", gra_file_error(s->tensor[i].file)) : 0;
}

void shards_close(shards *s)
{
    for (int i = 0; i < s->files; i++)
        gra_file_close(s->file[i]);
    free(s->file);
    free(s->tensor);
}
