/* npy: one tensor in NumPy's file (numpy.lib.format):
 *
 *     6 bytes         \x93NUMPY
 *     2 bytes         the version: 1.0, 2.0 or 3.0
 *     2 bytes, or 4   n, the length of the header, little-endian; 4 from version 2.0 on
 *     n bytes         {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *                     as Python writes it, with blanks and a newline at the end
 *     the rest        the values: row-major, or column-major in fortran_order
 *
 * Written is version 1.0, little-endian, row-major, padded so that the values begin at a multiple of 64. */
#include "../internal.h"
#include "json.h"
#include "values.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>

#define MAGIC "\x93NUMPY"

static const struct kind {
    const char *descr;                  /* behind its < or > */
    const char *name;                   /* as safetensors has it */
} kinds[] = { { "f4", "F32" }, { "f8", "F64" }, { "f2", "F16" } };

/* ---- reading the header ---- */

struct header {
    gra_json_text     descr;
    const gra_values *kind;
    bool              big_endian, fortran, ordered;     /* ordered: fortran_order was met */
    gra_extent        extent;           /* ndim -1: shape was not met yet */
};

static gra_json_text read_quoted(gra_json *j)           /* 'text' or "text", without escapes */
{
    const char quote = gra_json_accept(j, '\'') ? '\'' : '"';
    if (quote == '"' && !gra_json_accept(j, '"'))
        gra_json_fail(j, "there should be a string");
    const char *s = j->at;
    while (!j->wrong && j->at < j->end && *j->at != quote && *j->at != '\\')
        j->at++;
    if (!j->wrong && (j->at == j->end || *j->at == '\\'))
        gra_json_fail(j, "a string without its end");
    if (j->wrong)
        return (gra_json_text){ 0 };
    return (gra_json_text){ s, (size_t)(j->at++ - s) };
}

static bool is(gra_json_text t, const char *word)
{
    return t.n == strlen(word) && memcmp(t.s, word, t.n) == 0;
}

static bool accept_word(gra_json *j, const char *word)
{
    const size_t rest = strlen(word) - 1;
    if (!gra_json_accept(j, word[0]))
        return false;
    if ((size_t)(j->end - j->at) < rest || memcmp(j->at, word + 1, rest) != 0) {
        j->at--;
        return false;
    }
    j->at += rest;
    return true;
}

static void read_order(gra_json *j, struct header *h)
{
    h->fortran = accept_word(j, "True");
    h->ordered = true;
    if (!h->fortran && !accept_word(j, "False"))
        gra_json_fail(j, "there should be True or False");
}

static void read_shape(gra_json *j, struct header *h)   /* (), (2,), (2, 3) or (2, 3,) */
{
    h->extent.ndim = 0;
    if (!gra_json_accept(j, '('))
        gra_json_fail(j, "there should be a (");
    bool end = gra_json_accept(j, ')');
    while (!end && !j->wrong) {
        if (!gra_extent_add(&h->extent, gra_json_count(j)))
            gra_json_fail(j, "the array has more than 8 dimensions");
        bool comma = gra_json_accept(j, ',');
        end = gra_json_accept(j, ')');
        if (!comma && (!end || h->extent.ndim == 1))
            gra_json_fail(j, "there should be a ,");
    }
}

static void read_dict(gra_json *j, struct header *h)
{
    gra_json_expect(j, '{');
    bool end = gra_json_accept(j, '}');
    while (!end && !j->wrong) {
        gra_json_text key = read_quoted(j);
        gra_json_expect(j, ':');
        if (j->wrong)
            return;
        if (!h->descr.s && is(key, "descr"))
            h->descr = read_quoted(j);
        else if (!h->ordered && is(key, "fortran_order"))
            read_order(j, h);
        else if (h->extent.ndim < 0 && is(key, "shape"))
            read_shape(j, h);
        else
            gra_json_fail(j, "a header has descr, fortran_order and shape, each once, and nothing else");
        bool comma = gra_json_accept(j, ',');
        end = gra_json_accept(j, '}');
        if (!comma && !end)
            gra_json_expect(j, '}');
    }
    if (!h->descr.s || !h->ordered || h->extent.ndim < 0)
        gra_json_fail(j, "a header needs descr, fortran_order and shape");
    gra_json_finish(j);
}

/* ---- reading a file ---- */

struct file {
    gra_model  *model;
    gra_infile  in;
    uint64_t    at, n;                  /* the header: where it begins, how many bytes */
    char        why[600];
};

GRA_PRINTF(2, 3) static bool because(struct file *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->why, sizeof f->why, format, args);
    va_end(args);
    gra_legible(f->why);
    return false;
}

#define NO "it is no .npy file: "

static bool find_header(struct file *f)
{
    unsigned char first[12] = { 0 };
    const size_t n = f->in.length < sizeof first ? (size_t)f->in.length : sizeof first;
    if (!gra_infile_read(&f->in, 0, first, n))
        return because(f, "%s", f->in.why);
    if (n < 6 || memcmp(first, MAGIC, 6) != 0)
        return because(f, NO "it does not begin with \\x93NUMPY");
    if (n < sizeof first)
        return because(f, NO "it ends after %zu bytes", n);
    if (first[6] < 1 || first[6] > 3 || first[7] != 0)
        return because(f, "it has version %d.%d of the format: 1.0, 2.0 and 3.0 can be read", first[6],
                       first[7]);
    const size_t width = first[6] == 1 ? 2 : 4;
    f->at = 8 + width;
    f->n  = gra_little_endian(first + 8, width);
    if (f->n > f->in.length - f->at)
        return because(f, NO "its header would have %" PRIu64 " bytes, and there are %" PRIu64, f->n,
                       f->in.length - f->at);
    return true;
}

static bool known_kind(struct file *f, struct header *h)
{
    const gra_json_text d = h->descr;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (d.n > 1 && (d.s[0] == '<' || d.s[0] == '>') &&
            is((gra_json_text){ d.s + 1, d.n - 1 }, kinds[i].descr)) {
            h->kind = gra_values_named(kinds[i].name);
            h->big_endian = d.s[0] == '>';
            return true;
        }
    return because(f, "its values are %.*s: <f2, <f4, <f8 and the same with > can be read (in Python, "
                   "x.astype('float32') makes such)", (int)(d.n < 40 ? d.n : 40), d.s);
}

static bool check_header(struct file *f, struct header *h, char *text)
{
    gra_json j = { .at = text, .end = text + f->n };
    read_dict(&j, h);
    if (j.wrong)
        return because(f, NO "byte %zu of its header: %s", (size_t)(j.at - text), j.wrong);
    if (!known_kind(f, h))
        return false;
    const char *wrong = gra_extent_wrong(&h->extent, h->kind);
    const char *shape = gra_extent_text(&h->extent, (char[GRA_EXTENT_TEXT]){ 0 });
    if (wrong)
        return because(f, "it has the shape %s: %s", shape, wrong);
    const uint64_t needed = gra_extent_bytes(&h->extent, h->kind), there = f->in.length - f->at - f->n;
    return needed == there ||
           because(f, "its shape %s of %.*s needs %" PRIu64 " bytes, but the file has %" PRIu64
                   " behind its header", shape, (int)h->descr.n, h->descr.s, needed, there);
}

static bool read_header(struct file *f, struct header *h)
{
    if (!find_header(f))
        return false;
    char *text = malloc((size_t)f->n + 1);
    if (!text)
        return because(f, "out of memory: %" PRIu64 " bytes were wanted", f->n + 1);
    bool ok = gra_infile_read(&f->in, f->at, text, (size_t)f->n) || because(f, "%s", f->in.why);
    ok = ok && check_header(f, h, text);
    free(text);
    return ok;
}

static void to_row_major(const real *from, gra_tensor *x)       /* from: the first dimension runs fastest */
{
    size_t stride[GRA_MAX_DIMS], n = 1, place = 0;
    int at[GRA_MAX_DIMS] = { 0 };
    for (int d = x->shape.ndim - 1; d >= 0; n *= (size_t)x->shape.dim[d--])
        stride[d] = n;
    for (size_t i = 0; i < x->size; i++) {
        x->data[place] = from[i];
        for (int d = 0; d < x->shape.ndim; d++) {
            place += stride[d];
            if (++at[d] < x->shape.dim[d])
                break;
            place -= stride[d] * (size_t)x->shape.dim[d];
            at[d] = 0;
        }
    }
}

static bool read_values(struct file *f, const struct header *h, gra_tensor *x)
{
    const bool turn = h->fortran && x->size;
    real *to = turn ? malloc(x->size * sizeof *to) : x->data;
    if (turn && !to)
        return because(f, "out of memory: %zu values were wanted", x->size);
    bool ok = gra_values_read(h->kind, &f->in, f->at + f->n, h->big_endian, x->size, to);
    if (!ok)
        because(f, "%s", f->in.why);
    if (turn && ok)
        to_row_major(to, x);
    if (turn)
        free(to);
    return ok;
}

static gra_tensor *read_file(struct file *f, const char *path)
{
    struct header h = { .extent.ndim = -1 };
    if (!gra_infile_open(&f->in, path)) {
        because(f, "%s", f->in.why);
        return NULL;
    }
    gra_tensor *x = NULL;
    if (read_header(f, &h)) {
        gra_shape shape;
        gra_extent_shape(&h.extent, &shape);
        x = gra_model_constant(f->model, shape);
        if (!x)
            because(f, "a tensor of its shape %s cannot be made",
                    gra_extent_text(&h.extent, (char[GRA_EXTENT_TEXT]){ 0 }));
        else if (!read_values(f, &h, x))
            x = NULL;
    }
    gra_infile_close(&f->in);
    return x;
}

gra_tensor *gra_load_npy(gra_model *m, const char *path)
{
    struct file f = { .model = m };
    gra_tensor *x = read_file(&f, path);
    gra_model_note(m, "gra_load_npy", path, x ? NULL : f.why);
    return x;
}

/* ---- writing ---- */

/* All that stands before the values; returns how many bytes. */
static size_t make_header(const gra_tensor *x, char header[static 256])
{
    const size_t before = sizeof MAGIC - 1 + 4;
    const char *shape = GRA_SHAPE_OF(x);                /* "(3)" is a number in Python, "(3,)" a shape */
    int n = snprintf(header + before, 256 - before, "{'descr': '<f%zu', 'fortran_order': False, 'shape': "
                     "%.*s%s, }", sizeof *x->data, (int)strlen(shape) - 1, shape, x->shape.ndim == 1 ? ",)" : ")");
    const size_t all = (before + (size_t)n + 1 + 63) / 64 * 64;
    memset(header + before + n, ' ', all - before - (size_t)n);
    header[all - 1] = '\n';
    memcpy(header, MAGIC "\x01\x00", before - 2);
    gra_put_little_endian((unsigned char *)header + before - 2, all - before, 2);
    return all;
}

int gra_save_npy(gra_model *m, const char *path, const gra_tensor *x)
{
    gra_tensor *in = (gra_tensor *)x;
    gra_outfile out;
    char header[256];
    const char *why = NULL;
    if (!x)
        why = "there is no tensor: it is NULL";
    else if (x->tape && gra_refuses(x->tape, "gra_save_npy", 1, &in))
        why = gra_error(x->tape);
    else if (!gra_outfile_open(&out, path))
        why = strerror(errno);
    else {
        gra_outfile_write(&out, header, make_header(x, header));
        gra_values_write(&out, x->data, x->size);
        why = gra_outfile_close(&out) ? NULL : strerror(errno);
    }
    gra_model_note(m, "gra_save_npy", path, why);
    return why ? -1 : 0;
}
