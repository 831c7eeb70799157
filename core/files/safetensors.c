/* safetensors: a file opened and its header checked (save.c says how one is laid out).
 *
 * The header is read whole, and its strings are decoded in their own places, where they never get longer.
 * What is kept besides are two lists that grow with what was really read: no memory is taken for a number in
 * the file before that number was found to fit in the file. */
#include "../op.h"
#include "json.h"
#include "values.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

struct gra_file {
    gra_model       *model;             /* who keeps the sentence of an error, */
    const char      *function;          /* who speaks in it */
    gra_infile       in;
    char            *header;            /* all names and texts stand in it */
    uint64_t         length;            /* bytes behind it */
    gra_file_tensor *tensor;            /* as they lie in the file */
    const gra_file_tensor **named;      /* the same by name */
    int              count;
    const char     **meta;              /* keys, sorted; each with its value behind its 0 */
    int              nmeta;
    bool             metadata;          /* was met */
    char             path[];
};

int gra_file_fail(gra_file *f, const char *format, ...)
{
    char why[600];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    gra_legible(why);                   /* names from a file may hold anything */
    gra_model_note(f->model, f->function, f->path, why);
    return -1;
}

/* ---- one tensor of the header ---- */

struct entry {
    const char *dtype;                  /* NULL: not met yet */
    gra_extent  extent;                 /* ndim -1: not met yet */
    uint64_t    begin, end;
    bool        located;                /* they were met */
};

/* The next string, in the place where it stood in the header. */
static char *read_string(gra_file *f, gra_json *j)
{
    gra_json_text t = gra_json_string(j);
    if (!t.s)
        return NULL;
    char *s = f->header + (t.s - f->header);
    gra_json_decode(t, s);
    return s;
}

static void read_shape(gra_json *j, struct entry *e)
{
    e->extent.ndim = 0;
    gra_json_expect(j, '[');
    if (gra_json_accept(j, ']'))
        return;
    do
        if (!gra_extent_add(&e->extent, gra_json_count(j)))
            gra_json_fail(j, "a tensor has more than 8 dimensions");
    while (gra_json_accept(j, ','));
    gra_json_expect(j, ']');
}

static void read_offsets(gra_json *j, struct entry *e)
{
    gra_json_expect(j, '[');
    e->begin = gra_json_count(j);
    gra_json_expect(j, ',');
    e->end = gra_json_count(j);
    gra_json_expect(j, ']');
    e->located = true;
}

static void read_entry(gra_file *f, gra_json *j, struct entry *e)
{
    gra_json_expect(j, '{');
    do {
        const char *key = read_string(f, j);
        gra_json_expect(j, ':');
        if (j->wrong)
            return;
        if (!e->dtype && strcmp(key, "dtype") == 0)
            e->dtype = read_string(f, j);
        else if (e->extent.ndim < 0 && strcmp(key, "shape") == 0)
            read_shape(j, e);
        else if (!e->located && strcmp(key, "data_offsets") == 0)
            read_offsets(j, e);
        else
            gra_json_fail(j, "a tensor has dtype, shape and data_offsets, each once, and nothing else");
    } while (gra_json_accept(j, ','));
    if (!e->dtype || e->extent.ndim < 0 || !e->located)
        gra_json_fail(j, "a tensor needs dtype, shape and data_offsets");
    gra_json_expect(j, '}');
}

/* ---- what an entry must be ---- */

static int check_entry(gra_file *f, const char *name, struct entry *e)
{
    const uint64_t begin = e->begin, end = e->end;
    const gra_values *kind = gra_values_named(e->dtype);
    const char *shape = gra_extent_text(&e->extent, (char[GRA_EXTENT_TEXT]){ 0 });
    if (!kind)
        return gra_file_fail(f, "tensor %.100s has the dtype %.100s, which safetensors does not know", name,
                             e->dtype);
    const char *wrong = gra_extent_wrong(&e->extent, kind);
    if (wrong)
        return gra_file_fail(f, "tensor %.100s has the shape %s of %s: %s", name, shape, kind->name, wrong);
    const uint64_t needed = gra_extent_bytes(&e->extent, kind);
    if (end < begin)
        return gra_file_fail(f, "tensor %.100s ends at byte %" PRIu64 ", before it begins at byte %" PRIu64,
                             name, end, begin);
    if (end > f->length)
        return gra_file_fail(f, "tensor %.100s ends at byte %" PRIu64 ", but there are %" PRIu64 " behind "
                             "the header", name, end, f->length);
    if (end - begin != needed)
        return gra_file_fail(f, "tensor %.100s has %" PRIu64 " bytes, but its shape %s of %s needs %" PRIu64,
                             name, end - begin, shape, kind->name, needed);
    return 0;
}

/* ---- the header ---- */

/* Room behind the `count` items of a list, which doubles whenever that is a power of two. NULL: out of
 * memory, and the list is as it was. */
static void *one_more(void *list, int count, size_t size)
{
    if (count & (count - 1))
        return list;
    return realloc(list, (count ? 2 * (size_t)count : 1) * size);
}

static int take_entry(gra_file *f, const char *name, struct entry *e)
{
    if (check_entry(f, name, e))
        return -1;
    gra_file_tensor *tensor = one_more(f->tensor, f->count, sizeof *tensor);
    if (!tensor)
        return gra_file_fail(f, "out of memory: a list of %d tensors was wanted", f->count + 1);
    f->tensor = tensor;
    gra_file_tensor *x = &f->tensor[f->count++];
    *x = (gra_file_tensor){ .name = name, .dtype = e->dtype, .begin = e->begin, .end = e->end };
    x->size = gra_extent_shape(&e->extent, &x->shape);
    return 0;
}

static int read_tensor(gra_file *f, gra_json *j, const char *name)
{
    struct entry e = { .extent.ndim = -1 };
    read_entry(f, j, &e);
    return j->wrong ? 0 : take_entry(f, name, &e);      /* what is wrong with the text is said at its end */
}

static int take_meta(gra_file *f, const char *key)
{
    const char **meta = one_more(f->meta, f->nmeta, sizeof *meta);
    if (!meta)
        return gra_file_fail(f, "out of memory: a list of %d metadata was wanted", f->nmeta + 1);
    f->meta = meta;
    f->meta[f->nmeta++] = key;
    return 0;
}

static int read_metadata(gra_file *f, gra_json *j)
{
    if (f->metadata)
        gra_json_fail(j, "there is a second __metadata__");
    f->metadata = true;
    gra_json_expect(j, '{');
    if (gra_json_accept(j, '}'))
        return 0;
    do {
        char *key = read_string(f, j);
        gra_json_expect(j, ':');
        gra_json_text value = gra_json_string(j);
        if (j->wrong)
            return 0;
        gra_json_decode(value, key + strlen(key) + 1);  /* which is in front of where it stands */
        if (take_meta(f, key))
            return -1;
    } while (gra_json_accept(j, ','));
    gra_json_expect(j, '}');
    return 0;
}

static int read_entries(gra_file *f, gra_json *j)
{
    gra_json_expect(j, '{');
    if (gra_json_accept(j, '}'))
        return 0;
    do {
        const char *name = read_string(f, j);
        gra_json_expect(j, ':');
        if (j->wrong)
            return 0;
        if (strcmp(name, "__metadata__") == 0 ? read_metadata(f, j) : read_tensor(f, j, name))
            return -1;
    } while (gra_json_accept(j, ','));
    gra_json_expect(j, '}');
    return 0;
}

#define NO "it is no safetensors file: "

static int read_header(gra_file *f, uint64_t n)
{
    const char *end = f->header + n;
    for (const char *s = f->header; s < end;)
        if (gra_utf8(&s, end) < 0)
            return gra_file_fail(f, NO "byte %zu of its header is not UTF-8", (size_t)(s - f->header));
    gra_json j = { .at = f->header, .end = end };
    if (read_entries(f, &j))
        return -1;
    gra_json_finish(&j);
    return j.wrong ? gra_file_fail(f, NO "byte %zu of its header: %s", (size_t)(j.at - f->header), j.wrong)
                   : 0;
}

/* ---- all tensors together ---- */

static int by_place(const void *a, const void *b)
{
    const gra_file_tensor *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

static int by_name(const void *a, const void *b)
{
    const gra_file_tensor *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static int by_key(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

static int without_twins(gra_file *f)
{
    f->named = malloc(((size_t)f->count + 1) * sizeof *f->named);
    if (!f->named)
        return gra_file_fail(f, "out of memory: a list of %d tensors was wanted", f->count);
    for (int i = 0; i < f->count; i++)
        f->named[i] = &f->tensor[i];
    qsort(f->named, (size_t)f->count, sizeof *f->named, by_name);
    for (int i = 1; i < f->count; i++)
        if (strcmp(f->named[i - 1]->name, f->named[i]->name) == 0)
            return gra_file_fail(f, "there are two tensors %.100s", f->named[i]->name);
    if (f->nmeta)
        qsort(f->meta, (size_t)f->nmeta, sizeof *f->meta, by_key);
    for (int i = 1; i < f->nmeta; i++)
        if (strcmp(f->meta[i - 1], f->meta[i]) == 0)
            return gra_file_fail(f, "the metadata have the key %.100s twice", f->meta[i]);
    return 0;
}

static int without_gaps(gra_file *f)
{
    uint64_t at = 0;
    for (int i = 0; i < f->count; i++) {
        const gra_file_tensor *x = &f->tensor[i];
        if (x->begin > at)
            return gra_file_fail(f, "bytes %" PRIu64 " to %" PRIu64 " behind its header are in no tensor: "
                                 "the next is %.100s", at, x->begin, x->name);
        if (x->begin < at)
            return gra_file_fail(f, "tensor %.100s begins at byte %" PRIu64 ", but tensor %.100s ends at "
                                 "byte %" PRIu64, x->name, x->begin, x[-1].name, at);
        at = x->end;
    }
    if (at < f->length)
        return gra_file_fail(f, "its tensors end at byte %" PRIu64 ", but the file has %" PRIu64 " behind "
                             "its header", at, f->length);
    return 0;
}

/* ---- the file ---- */

static int check(gra_file *f)
{
    unsigned char first[8];
    const uint64_t length = f->in.length;
    if (length < 8)
        return gra_file_fail(f, NO "it has %" PRIu64 " bytes, and the length of a header alone takes 8",
                             length);
    if (!gra_infile_read(&f->in, 0, first, sizeof first))
        return gra_file_fail(f, "%s", f->in.why);
    const uint64_t n = gra_little_endian(first, sizeof first);
    if (n > GRA_MAX_HEADER)
        return gra_file_fail(f, NO "its header would have %" PRIu64 " bytes, and %d are allowed", n,
                             GRA_MAX_HEADER);
    if (n > length - 8)
        return gra_file_fail(f, NO "its header would have %" PRIu64 " bytes, and there are %" PRIu64, n,
                             length - 8);
    f->length = length - 8 - n;
    f->header = malloc((size_t)n + 1);
    if (!f->header)
        return gra_file_fail(f, "out of memory: %" PRIu64 " bytes were wanted", n + 1);
    if (!gra_infile_read(&f->in, 8, f->header, (size_t)n))
        return gra_file_fail(f, "%s", f->in.why);
    if (read_header(f, n))
        return -1;
    if (f->count)
        qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_place);
    return without_twins(f) || without_gaps(f) ? -1 : 0;
}

gra_file *gra_file_open_for(gra_model *m, const char *function, const char *path)
{
    gra_file *f = malloc(sizeof *f + strlen(path) + 1);
    if (!f) {
        gra_model_note(m, function, path, "out of memory");
        return NULL;
    }
    *f = (gra_file){ .model = m, .function = function };
    strcpy(f->path, path);
    if (!gra_infile_open(&f->in, path))
        gra_file_fail(f, "%s", f->in.why);
    else if (check(f) == 0) {
        gra_model_note(m, function, path, NULL);
        return f;
    }
    gra_file_close(f);
    return NULL;
}

gra_file *gra_file_open(gra_model *m, const char *path)
{
    return gra_file_open_for(m, "gra_file_open", path);
}

void gra_file_close(gra_file *f)
{
    if (!f)
        return;
    gra_infile_close(&f->in);
    free(f->header);
    free(f->tensor);
    free(f->named);
    free(f->meta);
    free(f);
}

/* ---- what is in it ---- */

static int name_of(const void *name, const void *item)
{
    const gra_file_tensor *const *x = item;
    return strcmp(name, (*x)->name);
}

static int key_of(const void *key, const void *item)
{
    return strcmp(key, *(const char *const *)item);
}

int gra_file_count(const gra_file *f)
{
    return f->count;
}

const gra_file_tensor *gra_file_at(const gra_file *f, int i)
{
    return i >= 0 && i < f->count ? &f->tensor[i] : NULL;
}

const gra_file_tensor *gra_file_find(const gra_file *f, const char *name)
{
    const gra_file_tensor **x = bsearch(name, f->named, (size_t)f->count, sizeof *f->named, name_of);
    return x ? *x : NULL;
}

const char *gra_file_meta(const gra_file *f, const char *key)
{
    const char **found = f->nmeta ? bsearch(key, f->meta, (size_t)f->nmeta, sizeof *f->meta, key_of) : NULL;
    return found ? *found + strlen(*found) + 1 : NULL;
}

int gra_file_read(gra_file *f, const gra_file_tensor *x, real *to)
{
    const gra_values *kind = gra_values_named(x->dtype);
    if (!kind->to_reals)
        return gra_file_fail(f, "tensor %.100s has the dtype %s: F32, F64, F16 and BF16 can be read", x->name,
                             x->dtype);
    const uint64_t at = f->in.length - f->length + x->begin;
    if (!gra_values_read(kind, &f->in, at, false, x->size, to))
        return gra_file_fail(f, "%s", f->in.why);
    return 0;
}

int gra_file_same(gra_file *f, const gra_file_tensor *x, const gra_file_tensor *y)
{
    if (x->size != y->size)
        return 0;
    real *values = x->size <= SIZE_MAX / sizeof *values / 2 ? malloc((2 * x->size + 1) * sizeof *values)
                                                            : NULL;
    int status = values ? 0 : gra_file_fail(f, "out of memory: %zu values were wanted twice", x->size);
    if (!status && !(status = gra_file_read(f, x, values)) &&
        !(status = gra_file_read(f, y, values + x->size)))
        status = memcmp(values, values + x->size, x->size * sizeof *values) == 0;
    free(values);
    return status;
}
