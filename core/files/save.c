/* save: tensors as a safetensors file, exactly as the reference writer lays it out:
 *
 *     8 bytes      n, the length of the header, little-endian
 *     n bytes      {"__metadata__":{"key":"value"},
 *                  "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}
 *                  as JSON in one line, with blanks at the end so that n is a multiple of 8
 *     the rest     the values, little-endian, in the order of the header: tensors by name, without gaps */
#include "../internal.h"
#include "json.h"
#include "values.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#define WHY        600

/* ---- what is written ---- */

struct text {
    char  *s;
    size_t n, room;
    bool   full;                        /* out of memory: nothing more is put */
};

struct file {
    gra_named      *x;                  /* n tensors, by name */
    int             n;
    const gra_meta *meta;
    int             nmeta;
    struct text     header;
    char            why[WHY];           /* it failed */
};

GRA_PRINTF(2, 3) static bool because(struct file *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->why, sizeof f->why, format, args);
    va_end(args);
    return false;
}

static bool is_utf8(const char *s)
{
    for (const char *end = s + strlen(s); s < end;)
        if (gra_utf8(&s, end) < 0)
            return false;
    return true;
}

static bool can_be_said(struct file *f)         /* in a header */
{
    for (int i = 0; i < f->n; i++) {
        if (!is_utf8(f->x[i].name))
            return because(f, "the name of a parameter is not UTF-8: %.100s", f->x[i].name);
        if (strcmp(f->x[i].name, "__metadata__") == 0)
            return because(f, "in a safetensors file a parameter cannot be named __metadata__");
        if (i > 0 && strcmp(f->x[i - 1].name, f->x[i].name) == 0)
            return because(f, "two tensors are to have the name %.100s", f->x[i].name);
    }
    for (int i = 0; i < f->nmeta; i++) {
        if (!is_utf8(f->meta[i].key) || !is_utf8(f->meta[i].value))
            return because(f, "the metadata are not UTF-8: %.100s", f->meta[i].key);
        for (int j = 0; j < i; j++)
            if (strcmp(f->meta[i].key, f->meta[j].key) == 0)
                return because(f, "the metadata have the key %.100s twice", f->meta[i].key);
    }
    return true;
}

/* ---- the header ---- */

static void put(struct text *t, const char *s, size_t n)
{
    if (!t->full && t->room - t->n < n) {
        size_t room = 2 * (t->n + n) + 1024;
        char *grown = realloc(t->s, room);
        t->full = !grown;
        t->s    = grown ? grown : t->s;
        t->room = grown ? room : t->room;
    }
    if (!t->full && n) {
        memcpy(t->s + t->n, s, n);
        t->n += n;
    }
}

static void put_text(struct text *t, const char *s)
{
    put(t, s, strlen(s));
}

static void put_count(struct text *t, size_t value)
{
    char digits[32];
    put(t, digits, (size_t)snprintf(digits, sizeof digits, "%zu", value));
}

static void put_string(struct text *t, const char *s)
{
    static const char escaped[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
    put_text(t, "\"");
    for (; *s; s++) {
        const char *e = strchr(escaped, *s);
        char code[8];
        if (e)
            put(t, (char[]){ '\\', letter[e - escaped] }, 2);
        else if ((unsigned char)*s < 0x20)
            put(t, code, (size_t)snprintf(code, sizeof code, "\\u%04x", (unsigned)(unsigned char)*s));
        else
            put(t, s, 1);
    }
    put_text(t, "\"");
}

static void put_metadata(struct text *t, const gra_meta *meta, int nmeta)
{
    put_text(t, "\"__metadata__\":{");
    for (int i = 0; i < nmeta; i++) {
        put_text(t, i ? "," : "");
        put_string(t, meta[i].key);
        put_text(t, ":");
        put_string(t, meta[i].value);
    }
    put_text(t, "}");
}

static void put_tensor(struct text *t, const char *name, const gra_tensor *p, size_t begin)
{
    put_string(t, name);
    put_text(t, ":{\"dtype\":\"" GRA_OWN_VALUES "\",\"shape\":[");
    for (int d = 0; d < p->shape.ndim; d++) {
        put_text(t, d ? "," : "");
        put_count(t, (size_t)p->shape.dim[d]);
    }
    put_text(t, "],\"data_offsets\":[");
    put_count(t, begin);
    put_text(t, ",");
    put_count(t, begin + p->size * sizeof(real));
    put_text(t, "]}");
}

static bool make_header(struct file *f)
{
    struct text *t = &f->header;
    size_t begin = 0;
    put_text(t, "{");
    if (f->nmeta > 0)
        put_metadata(t, f->meta, f->nmeta);
    for (int i = 0; i < f->n; i++) {
        put_text(t, i || f->nmeta > 0 ? "," : "");
        put_tensor(t, f->x[i].name, f->x[i].x, begin);
        begin += f->x[i].x->size * sizeof(real);
    }
    put_text(t, "}");
    while (t->n % 8 && !t->full)
        put_text(t, " ");
    if (t->full)
        return because(f, "out of memory");
    return t->n <= GRA_MAX_HEADER ||
           because(f, "a header of %zu bytes is more than safetensors allows", t->n);
}

/* ---- the file ---- */

static bool write_file(const char *path, struct file *f)
{
    unsigned char length[8];
    gra_outfile out;
    bool ok = gra_outfile_open(&out, path);
    if (ok) {
        gra_put_little_endian(length, f->header.n, sizeof length);
        gra_outfile_write(&out, length, sizeof length);
        gra_outfile_write(&out, f->header.s, f->header.n);
        for (int i = 0; i < f->n; i++)
            gra_values_write(&out, f->x[i].x->data, f->x[i].x->size);
        ok = gra_outfile_close(&out);
    }
    return ok || because(f, "%s", strerror(errno));
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const gra_named *)a)->name, ((const gra_named *)b)->name);
}

int gra_file_write(gra_model *m, const char *function, const char *path, int n, const gra_named *x,
                   const gra_meta *meta, int nmeta)
{
    struct file f = { .n = n, .meta = meta, .nmeta = nmeta, .why = "out of memory" };
    f.x = malloc(((size_t)n + 1) * sizeof *f.x);
    if (f.x && n) {
        memcpy(f.x, x, (size_t)n * sizeof *f.x);
        qsort(f.x, (size_t)n, sizeof *f.x, by_name);
    }
    bool ok = f.x && can_be_said(&f) && make_header(&f) && write_file(path, &f);
    free(f.x);
    free(f.header.s);
    gra_model_note(m, function, path, ok ? NULL : f.why);
    return ok ? 0 : -1;
}

/* The first n tensors that the model owns, and the further names of its parameters. */
static int save(gra_model *m, const char *function, const char *path, int n, const gra_meta *meta, int nmeta)
{
    const int aliases = gra_alias_count(m);
    gra_named *x = malloc(((size_t)n + (size_t)aliases + 1) * sizeof *x);
    if (!x) {
        gra_model_note(m, function, path, "out of memory");
        return -1;
    }
    for (int i = 0; i < n + aliases; i++) {
        const gra_tensor *p = i < n ? gra_owned_at(m, i) : gra_alias_at(m, i - n);
        x[i] = (gra_named){ p->name, p };
    }
    int status = gra_file_write(m, function, path, n + aliases, x, meta, nmeta);
    free(x);
    return status;
}

int gra_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta)
{
    return save(m, "gra_save", path, gra_param_count(m), meta, nmeta);
}

int gra_save_all(gra_model *m, const char *path, const gra_meta *meta, int nmeta)
{
    return save(m, "gra_save_all", path, gra_owned_count(m), meta, nmeta);
}
