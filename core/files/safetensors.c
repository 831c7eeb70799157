/* safetensors: named tensors in a file, read and written (https://github.com/huggingface/safetensors).
 *
 *     8 bytes      n, the length of the header, little-endian
 *     n bytes      {"__metadata__":{"key":"value"},
 *                  "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}
 *                  as JSON; the offsets are counted from the end of the header
 *     the rest     the values, little-endian: tensor after tensor, without gaps
 *
 * A file may come from anywhere, and contain anything. So the reader compares each size with the file's
 * length before it allocates memory, and a list grows only when an item has been read. Files are written as
 * the reference implementation writes them: tensors sorted by name, and blanks that make n a multiple of
 * 8. */
#include "../model/model.h"
#include "dtype.h"
#include "json.h"
#include "safetensors.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

enum { MAX_HEADER = 100000000 };        /* bytes: the reference implementation's limit */

/* ---- lists of structs that begin with a name ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Sorts a list of n structs. Returns a name that occurs twice, or NULL. */
static const char *sort_by_name(void *list, int n, size_t size)
{
    if (n)
        qsort(list, (size_t)n, size, by_name);
    for (const char *item = list; n > 1; n--, item += size)
        if (by_name(item, item + size) == 0)
            return *(const char *const *)(const void *)item;
    return NULL;
}

static const void *find_by_name(const void *list, int n, size_t size, const char *name)
{
    return n ? bsearch(&name, list, (size_t)n, size, by_name) : NULL;
}

/* ---- reading ---- */

struct found {                          /* a tensor of a file, by its name */
    const char            *name;
    const gra_file_tensor *x;
};

struct gra_file {
    gra_failure      error;
    gra_infile       in;
    char            *header;            /* names and metadata point into it */
    uint64_t         length;            /* of the values, in bytes */
    gra_file_tensor *tensor;            /* in the order of their values */
    struct found    *named;             /* the same, sorted by name */
    int              count;
    gra_meta        *meta;              /* sorted by key */
    int              nmeta;
    bool             has_metadata;
};

/* ---- reading: one tensor of the header ---- */

struct entry {
    const char *dtype;                  /* NULL: not read yet */
    gra_shape   shape;                  /* ndim -1: not read yet */
    uint64_t    begin, end;
    bool        has_offsets;
};

static void read_shape(gra_json *j, gra_shape *s)
{
    s->ndim = 0;
    gra_json_expect(j, '[');
    if (gra_json_accept(j, ']'))
        return;
    do {
        const uint64_t size = gra_json_count(j);
        if (s->ndim == GRA_MAX_DIMS)
            gra_json_fail(j, "expected at most 8 dimensions");
        else if (size > INT_MAX)
            gra_json_fail(j, "expected a dimension of at most 2147483647");
        else
            s->dim[s->ndim++] = (int)size;
    } while (gra_json_accept(j, ','));
    gra_json_expect(j, ']');
}

static void read_offsets(gra_json *j, struct entry *e)
{
    gra_json_expect(j, '[');
    e->begin = gra_json_count(j);
    gra_json_expect(j, ',');
    e->end = gra_json_count(j);
    gra_json_expect(j, ']');
    e->has_offsets = true;
}

static void read_entry(gra_json *j, struct entry *e)
{
    gra_json_expect(j, '{');
    do {
        const char *key = gra_json_string(j);
        gra_json_expect(j, ':');
        if (j->wrong)
            return;
        if (!e->dtype && strcmp(key, "dtype") == 0)
            e->dtype = gra_json_string(j);
        else if (e->shape.ndim < 0 && strcmp(key, "shape") == 0)
            read_shape(j, &e->shape);
        else if (!e->has_offsets && strcmp(key, "data_offsets") == 0)
            read_offsets(j, e);
        else
            gra_json_fail(j, "expected dtype, shape and data_offsets, each once, and nothing else");
    } while (gra_json_accept(j, ','));
    if (!e->dtype || e->shape.ndim < 0 || !e->has_offsets)
        gra_json_fail(j, "expected dtype, shape and data_offsets");
    gra_json_expect(j, '}');
}

static bool check_entry(gra_file *f, const char *name, const struct entry *e, size_t *size)
{
    const gra_dtype *dtype = gra_dtype_named(e->dtype);
    if (!dtype)
        return gra_failure_set(&f->error, "tensor %.100s: got the dtype %.100s, expected one of safetensors, "
                               "such as F32", name, e->dtype);
    const bool counted = gra_shape_size(e->shape, size) && *size <= UINT64_MAX / dtype->bits;
    const uint64_t bits = counted ? (uint64_t)*size * dtype->bits : 0;
    if (!counted || bits % 8 != 0)
        return gra_failure_set(&f->error, "tensor %.100s: got the shape %s of %s, expected %s", name,
                               GRA_SHAPE_STRING(e->shape), dtype->name,
                               counted ? "whole bytes" : "fewer values");
    if (e->end < e->begin || e->end > f->length)
        return gra_failure_set(&f->error, "tensor %.100s: got bytes %" PRIu64 " to %" PRIu64 ", expected a "
                               "range within 0 to %" PRIu64, name, e->begin, e->end, f->length);
    if (e->end - e->begin != bits / 8)
        return gra_failure_set(&f->error, "tensor %.100s: got %" PRIu64 " bytes, expected %" PRIu64 " for "
                               "the shape %s of %s", name, e->end - e->begin, bits / 8,
                               GRA_SHAPE_STRING(e->shape), dtype->name);
    return true;
}

/* ---- reading: the header ---- */

/* A list with room for one more item than `count`: it is doubled whenever `count` is a power of two. NULL:
 * out of memory, and the list is unchanged. */
static void *grown(void *list, int count, size_t size)
{
    if (count & (count - 1))
        return list;
    return realloc(list, (count ? 2 * (size_t)count : 1) * size);
}

static bool read_tensor(gra_file *f, gra_json *j, const char *name)
{
    struct entry e = { .shape.ndim = -1 };
    size_t size;
    read_entry(j, &e);
    if (j->wrong)
        return true;                    /* read_header reports it */
    if (!check_entry(f, name, &e, &size))
        return false;
    gra_file_tensor *tensor = grown(f->tensor, f->count, sizeof *tensor);
    if (!tensor)
        return gra_failure_set(&f->error, "out of memory: a list of %d tensors is needed", f->count + 1);
    f->tensor = tensor;
    f->tensor[f->count++] = (gra_file_tensor){ .name = name, .dtype = e.dtype, .shape = e.shape, .size = size,
                                               .begin = e.begin, .end = e.end };
    return true;
}

static bool read_metadata(gra_file *f, gra_json *j)
{
    if (f->has_metadata)
        gra_json_fail(j, "got a second __metadata__, expected one");
    f->has_metadata = true;
    gra_json_expect(j, '{');
    if (gra_json_accept(j, '}'))
        return true;
    do {
        const char *key = gra_json_string(j);
        gra_json_expect(j, ':');
        const char *value = gra_json_string(j);
        if (j->wrong)
            return true;
        gra_meta *meta = grown(f->meta, f->nmeta, sizeof *meta);
        if (!meta)
            return gra_failure_set(&f->error, "out of memory: a list of %d metadata is needed", f->nmeta + 1);
        f->meta = meta;
        f->meta[f->nmeta++] = (gra_meta){ key, value };
    } while (gra_json_accept(j, ','));
    gra_json_expect(j, '}');
    return true;
}

static bool read_entries(gra_file *f, gra_json *j)
{
    gra_json_expect(j, '{');
    if (gra_json_accept(j, '}'))
        return true;
    do {
        const char *name = gra_json_string(j);
        gra_json_expect(j, ':');
        if (j->wrong)
            return true;
        if (!(strcmp(name, "__metadata__") == 0 ? read_metadata(f, j) : read_tensor(f, j, name)))
            return false;
    } while (gra_json_accept(j, ','));
    gra_json_expect(j, '}');
    return true;
}

#define NO "not a safetensors file: "

static bool read_header(gra_file *f, uint64_t n)
{
    char *end = f->header + n;
    for (const char *s = f->header; s < end;)
        if (gra_utf8(&s, end) < 0)
            return gra_failure_set(&f->error, NO "byte %zu of the header is not UTF-8",
                                   (size_t)(s - f->header));
    gra_json j = { .at = f->header, .end = end };
    if (!read_entries(f, &j))
        return false;
    gra_json_finish(&j);
    if (j.wrong)
        return gra_failure_set(&f->error, NO "byte %zu of the header: %s", (size_t)(j.at - f->header),
                               j.wrong);
    return true;
}

/* ---- reading: all tensors together ---- */

static int by_place(const void *a, const void *b)
{
    const gra_file_tensor *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

static bool sort(gra_file *f)
{
    f->named = malloc(((size_t)f->count + 1) * sizeof *f->named);
    if (!f->named)
        return gra_failure_set(&f->error, "out of memory: a list of %d tensors is needed", f->count);
    for (int i = 0; i < f->count; i++)
        f->named[i] = (struct found){ f->tensor[i].name, &f->tensor[i] };
    const char *twice = sort_by_name(f->named, f->count, sizeof *f->named);
    if (twice)
        return gra_failure_set(&f->error, "got two tensors %.100s, expected one", twice);
    twice = sort_by_name(f->meta, f->nmeta, sizeof *f->meta);
    if (twice)
        return gra_failure_set(&f->error, "got the metadata key %.100s twice, expected it once", twice);
    return true;
}

static bool check_contiguous(gra_file *f)
{
    uint64_t at = 0;
    for (int i = 0; i < f->count; i++) {
        const gra_file_tensor *x = &f->tensor[i];
        if (x->begin != at)
            return gra_failure_set(&f->error, "tensor %.100s: got a beginning at byte %" PRIu64 ", expected "
                                   "byte %" PRIu64 ": tensors follow each other without gaps", x->name,
                                   x->begin, at);
        at = x->end;
    }
    if (at < f->length)
        return gra_failure_set(&f->error, "got %" PRIu64 " bytes after the header, expected %" PRIu64 ", "
                               "where the last tensor ends", f->length, at);
    return true;
}

/* ---- reading: the file ---- */

static bool read_file(gra_file *f)
{
    unsigned char first[8];
    const uint64_t length = f->in.length;
    if (length < 8)
        return gra_failure_set(&f->error, NO "got %" PRIu64 " bytes, expected 8 or more", length);
    if (!gra_infile_read(&f->in, 0, first, sizeof first))
        return false;
    const uint64_t n = gra_little_endian(first, sizeof first);
    const uint64_t most = length - 8 < MAX_HEADER ? length - 8 : MAX_HEADER;
    if (n > most)
        return gra_failure_set(&f->error, NO "got a header of %" PRIu64 " bytes, expected at most %" PRIu64,
                               n, most);
    f->length = length - 8 - n;
    f->header = malloc((size_t)n + 1);
    if (!f->header)
        return gra_failure_set(&f->error, "out of memory: the header needs %" PRIu64 " bytes", n + 1);
    if (!gra_infile_read(&f->in, 8, f->header, (size_t)n) || !read_header(f, n))
        return false;
    if (f->count)
        qsort(f->tensor, (size_t)f->count, sizeof *f->tensor, by_place);
    return sort(f) && check_contiguous(f);
}

gra_file *gra_file_open(const char *path)
{
    gra_file *f = calloc(1, sizeof *f);
    if (!f)
        return NULL;
    gra_failure_about(&f->error, path);
    if (!gra_infile_open(&f->in, path, &f->error) || !read_file(f))
        f->count = f->nmeta = 0;        /* then nothing is found in the file */
    return f;
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

const char *gra_file_error(const gra_file *f)
{
    return f ? gra_failure_text(&f->error) : "out of memory";
}

int gra_file_fail(gra_file *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    gra_failure_set_args(&f->error, format, args);
    va_end(args);
    return -1;
}

/* ---- what is in it ---- */

int gra_file_count(const gra_file *f)
{
    return f ? f->count : 0;
}

const gra_file_tensor *gra_file_at(const gra_file *f, int i)
{
    return i >= 0 && i < gra_file_count(f) ? &f->tensor[i] : NULL;
}

const gra_file_tensor *gra_file_find(const gra_file *f, const char *name)
{
    const struct found *found = f && name ? find_by_name(f->named, f->count, sizeof *f->named, name) : NULL;
    return found ? found->x : NULL;
}

const char *gra_file_meta(const gra_file *f, const char *key)
{
    const gra_meta *found = f && key ? find_by_name(f->meta, f->nmeta, sizeof *f->meta, key) : NULL;
    return found ? found->value : NULL;
}

int gra_file_read(gra_file *f, const gra_file_tensor *x, real *to)
{
    if (!f)
        return -1;
    if (f->count)                       /* otherwise nothing can be read, and the first error is kept */
        gra_failure_clear(&f->error);
    if (!x)
        return gra_file_fail(f, "gra_file_read: got NULL for the tensor, expected one of the file: "
                             "gra_file_find returns NULL for an unknown name");
    if (x->size && !to)
        return gra_file_fail(f, "gra_file_read: got NULL for the values of %.100s, expected room for %zu",
                             x->name, x->size);
    const gra_dtype *dtype = gra_dtype_named(x->dtype);
    if (!dtype->to_reals)
        return gra_file_fail(f, "tensor %.100s: got the dtype %s, expected F32, F64, F16 or BF16", x->name,
                             x->dtype);
    return gra_read_values(&f->in, f->in.length - f->length + x->begin, dtype, x->size, to) ? 0 : -1;
}

/* ---- writing ---- */

static bool is_utf8(const char *s)
{
    for (const char *end = s + strlen(s); s < end;)
        if (gra_utf8(&s, end) < 0)
            return false;
    return true;
}

static bool check_names(int n, gra_named *x, gra_failure *error)        /* this also sorts the tensors */
{
    const char *twice = sort_by_name(x, n, sizeof *x);
    for (int i = 0; i < n; i++) {
        if (!is_utf8(x[i].name))
            return gra_failure_set(error, "got the parameter name %.100s, expected UTF-8", x[i].name);
        if (strcmp(x[i].name, "__metadata__") == 0)
            return gra_failure_set(error, "got the parameter name __metadata__, expected another: "
                                   "safetensors reserves it");
    }
    if (twice)
        return gra_failure_set(error, "got two tensors %.100s, expected one", twice);
    return true;
}

static bool check_metadata(const gra_meta *meta, int nmeta, gra_failure *error)
{
    if (nmeta < 0)
        return gra_failure_set(error, "got %d for nmeta, expected 0 or more: how many metadata there are",
                               nmeta);
    if (!meta && nmeta > 0)
        return gra_failure_set(error, "got NULL for the metadata, expected %d of them (nmeta)", nmeta);
    for (int i = 0; i < nmeta; i++) {
        if (!meta[i].key || !meta[i].value)
            return gra_failure_set(error, "got NULL for the %s of metadata %d, expected a text",
                                   meta[i].key ? "value" : "key", i);
        if (!is_utf8(meta[i].key) || !is_utf8(meta[i].value))
            return gra_failure_set(error, "got the metadata %.100s, expected UTF-8", meta[i].key);
        for (int j = 0; j < i; j++)
            if (strcmp(meta[i].key, meta[j].key) == 0)
                return gra_failure_set(error, "got the metadata key %.100s twice, expected it once",
                                       meta[i].key);
    }
    return true;
}

static void put_string(gra_text *t, const char *s)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    gra_text_put(t, "\"");
    for (; *s; s++) {
        const char *e = strchr(escaped, *s);
        if (e)
            gra_text_put(t, "\\%c", letter[e - escaped]);
        else
            gra_text_put(t, (unsigned char)*s < 0x20 ? "\\u%04x" : "%c", (unsigned char)*s);
    }
    gra_text_put(t, "\"");
}

static void put_tensor(gra_text *t, const gra_named *x, size_t begin)
{
    put_string(t, x->name);
    gra_text_put(t, ":{\"dtype\":\"" GRA_OWN_DTYPE "\",\"shape\":[");
    for (int d = 0; d < x->x->shape.ndim; d++)
        gra_text_put(t, "%s%d", d ? "," : "", x->x->shape.dim[d]);
    gra_text_put(t, "],\"data_offsets\":[%zu,%zu]}", begin, begin + x->x->size * sizeof(real));
}

static void put_header(gra_text *t, int n, const gra_named *x, const gra_meta *meta, int nmeta)
{
    size_t begin = 0;
    gra_text_put(t, nmeta ? "{\"__metadata__\":{" : "{");
    for (int i = 0; i < nmeta; i++) {
        gra_text_put(t, i ? "," : "");
        put_string(t, meta[i].key);
        gra_text_put(t, ":");
        put_string(t, meta[i].value);
    }
    gra_text_put(t, nmeta ? "}" : "");
    for (int i = 0; i < n; i++) {
        gra_text_put(t, i || nmeta ? "," : "");
        put_tensor(t, &x[i], begin);
        begin += x[i].x->size * sizeof(real);
    }
    gra_text_put(t, "}");
    while (!t->failed && t->n % 8)
        gra_text_put(t, " ");
}

static bool write_file(const char *path, const gra_text *header, int n, const gra_named *x)
{
    unsigned char length[8];
    gra_outfile out;
    if (!gra_outfile_open(&out, path))
        return false;
    gra_put_little_endian(length, header->n, sizeof length);
    gra_outfile_write(&out, length, sizeof length);
    gra_outfile_write(&out, header->s, header->n);
    for (int i = 0; i < n; i++)
        gra_write_values(&out, x[i].x->data, x[i].x->size);
    return gra_outfile_close(&out);
}

bool gra_file_write(const char *path, int n, gra_named *x, const gra_meta *meta, int nmeta,
                    gra_failure *error)
{
    gra_text header = { 0 };
    gra_failure_about(error, path);
    if (!check_names(n, x, error) || !check_metadata(meta, nmeta, error))
        return false;
    put_header(&header, n, x, meta, nmeta);
    if (header.failed)
        gra_failure_set(error, "out of memory: the header needs more than %zu bytes", header.n);
    else if (header.n > MAX_HEADER)
        gra_failure_set(error, "got a header of %zu bytes, expected at most %d", header.n, MAX_HEADER);
    else if (!write_file(path, &header, n, x))
        gra_failure_set(error, "%s", strerror(errno));
    free(header.s);
    return !error->failed;
}
