/* npy: one tensor in NumPy's file format (numpy.lib.format). Files are written in version 1.0. Versions 2.0
 * and 3.0, whose length has 4 bytes, are read too; the header's keys may be in any order, and written as
 * Python may write them:
 *
 *     6 bytes     \x93NUMPY
 *     2 bytes     the version: 1, 0
 *     2 bytes     n, the length of the header, little-endian
 *     n bytes     {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
 *                 and blanks and a newline: the values begin at a multiple of 64
 *     the rest    the values, little-endian (<) float32 (f4), row-major */
#include "../tape/tape.h"
#include "dtype.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define MAGIC "\x93NUMPY\x01"           /* the version's second byte is 0, the end of the string */
enum { START = sizeof MAGIC + 2 };      /* where the header begins */
enum { HEADER = 10001 };                /* and a 0: NumPy writes 118 bytes, and reads up to 10000 */

/* ---- reading ---- */

struct header {
    char        text[HEADER];
    const char *descr;                  /* n characters of the text */
    int         n;
    bool        fortran;
    gra_shape   shape;
    size_t      begin;                  /* of the values, from the file's beginning */
};

static bool take(const char **at, const char *word)     /* skips blanks and the word, if it comes next */
{
    *at += strspn(*at, " \t\r\n");
    const size_t n = strlen(word);
    const bool next = strncmp(*at, word, n) == 0;
    *at += next ? n : 0;
    return next;
}

static bool take_shape(const char **at, gra_shape *s)   /* (), (2,) or (2, 3) */
{
    *s = GRA_SCALAR;
    if (!take(at, "("))
        return false;
    while (!take(at, ")")) {
        char *end;
        const bool digit = **at >= '0' && **at <= '9';  /* strtoll would accept a sign too */
        const long long size = strtoll(*at, &end, 10);
        if (!digit || size > INT_MAX || s->ndim == GRA_MAX_DIMS)
            return false;
        s->dim[s->ndim++] = (int)size;
        *at = end;
        take(at, "L");                                  /* Python 2's 3L */
        if (!take(at, ",") && **at != ')')
            return false;
    }
    return true;
}

/* A text of *n characters in either kind of quotes, or NULL if there is none. */
static const char *take_string(const char **at, int *n)
{
    const char *quote = take(at, "'") ? "'" : take(at, "\"") ? "\"" : NULL, *s = *at;
    if (!quote)
        return NULL;
    *n = (int)strcspn(s, quote);
    *at += *n;
    return take(at, quote) ? s : NULL;
}

/* A dictionary of the three keys, each once, in any order: a reader must not depend on the order. */
static bool parse(const char *at, struct header *h)
{
    enum { DESCR = 1, ORDER = 2, SHAPE = 4, ALL = 7 };
    int seen = 0, n;
    bool more = take(&at, "{");
    while (more && !take(&at, "}")) {
        const char *key = take_string(&at, &n);
        const int is = !key ? 0 : n == 5 && memcmp(key, "descr", 5) == 0 ? DESCR
                       : n == 13 && memcmp(key, "fortran_order", 13) == 0 ? ORDER
                       : n == 5 && memcmp(key, "shape", 5) == 0 ? SHAPE : 0;
        if (!is || seen & is || !take(&at, ":"))
            return false;
        seen |= is;
        if (is == DESCR ? !(h->descr = take_string(&at, &h->n)) : is == SHAPE ? !take_shape(&at, &h->shape)
            : !(h->fortran = take(&at, "True")) && !take(&at, "False"))
            return false;
        more = take(&at, ",") || at[strspn(at, " \t\r\n")] == '}';
    }
    return more && seen == ALL && at[strspn(at, " \t\r\n")] == '\0';
}

/* The header's text, *n bytes, and a 0 after them. */
static bool read_text(gra_infile *in, struct header *h, size_t *n)
{
    unsigned char start[START + 2];
    if (in->length < START + 2)
        return gra_failure_set(in->error, "got only %" PRIu64 " bytes, expected a .npy file", in->length);
    if (!gra_infile_read(in, 0, start, START + 2))
        return false;
    if (memcmp(start, MAGIC, 6) != 0)
        return gra_failure_set(in->error, "got a file that does not begin with \\x93NUMPY, expected a .npy "
                               "file");
    if (start[6] < 1 || start[6] > 3 || start[7] != 0)
        return gra_failure_set(in->error, "got version %d.%d of the .npy format, expected 1.0, 2.0 or 3.0",
                               start[6], start[7]);
    const size_t at = start[6] > 1 ? START + 2 : START;
    const uint64_t most = in->length - at < HEADER ? in->length - at : HEADER - 1;
    *n = (size_t)gra_little_endian(start + START - 2, start[6] > 1 ? 4 : 2);
    if (*n > most)
        return gra_failure_set(in->error, "got a header of %zu bytes, expected at most %" PRIu64, *n, most);
    h->text[*n] = '\0';
    h->begin = at + *n;
    return gra_infile_read(in, at, h->text, *n);
}

static bool read_header(gra_infile *in, struct header *h)
{
    size_t n = 0;
    return read_text(in, h, &n) && ((strlen(h->text) == n && parse(h->text, h)) ||
           gra_failure_set(in->error, "got a header that is not of one array of up to 8 dimensions, each at "
                           "most 2147483647: %.100s", h->text));
}

static bool is_of(const struct header *h, const char *descr)
{
    return h->n == 3 && !h->fortran && memcmp(h->descr, descr, 3) == 0;
}

/* Is the file as long as the header says? bytes: the size of a value; 0: the dtype is unexpected. */
static bool has_values(gra_infile *in, const struct header *h, size_t bytes, size_t *size,
                       const char *expected, const char *dtype)
{
    const uint64_t values = in->length - h->begin;
    if (!bytes)
        return gra_failure_set(in->error, "got values of %.*s%s, expected %s in C order: in Python, "
                               "numpy.save(path, numpy.asarray(x, dtype='%s', order='C')) writes such",
                               h->n < 40 ? h->n : 40, h->descr, h->fortran ? " in Fortran order" : "",
                               expected, dtype);
    if (!gra_shape_size(h->shape, size))            /* otherwise 8 bytes per value are less than SIZE_MAX */
        return gra_failure_set(in->error, "got the shape %s, expected fewer values",
                               GRA_SHAPE_STRING(h->shape));
    return *size * bytes == values ||
           gra_failure_set(in->error, "got %" PRIu64 " bytes of values, expected %zu for the shape %s of "
                           "%.3s", values, *size * bytes, GRA_SHAPE_STRING(h->shape), h->descr);
}

static gra_tensor *read_file(gra_tape *t, gra_infile *in)
{
    struct header h;
    size_t size;
    if (!read_header(in, &h))
        return NULL;
    const gra_dtype *dtype = is_of(&h, "<f4") ? gra_dtype_named("F32")
                             : is_of(&h, "<f8") ? gra_dtype_named("F64") : NULL;
    if (!has_values(in, &h, dtype ? dtype->bits / 8 : 0, &size, "<f4 or <f8", "<f4"))
        return NULL;
    gra_tensor *x = gra_zeros(t, h.shape);
    return gra_read_values(in, h.begin, dtype, x->size, x->data) ? x : NULL;
}

gra_tensor *gra_load_npy(gra_tape *t, const char *path)
{
    gra_failure error;
    gra_infile in;
    gra_need_tape(t, __func__);
    if (gra_error(t))
        return gra_empty(t);
    gra_failure_about(&error, path);
    gra_tensor *x = NULL;
    if (gra_infile_open(&in, path, &error)) {
        x = read_file(t, &in);
        gra_infile_close(&in);
    }
    return x ? x : gra_fail(t, "gra_load_npy: %s", error.text);
}

/* ---- integers ---- */

static int *convert(gra_infile *in, const struct header *h, const unsigned char *from, size_t n,
                    size_t bytes, int *to)
{
    const int shift = h->descr[1] == 'i' ? (int)(64 - 8 * bytes) : 0;   /* the sign bit comes first */
    for (size_t i = 0; i < n; i++) {
        const uint64_t bits = gra_little_endian(from + i * bytes, bytes);
        const int64_t x = (int64_t)(bits << shift) / ((int64_t)1 << shift);
        to[i] = (int)x;
        if (x != to[i]) {
            gra_failure_set(in->error, "got the value %" PRId64 " at index %zu, expected one that an int "
                            "holds", x, i);
            return NULL;
        }
    }
    return to;
}

static int *read_ints(gra_infile *in, gra_shape *shape)
{
    static const char types[][4] = { "|b1", "|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8" };
    struct header h;
    size_t bytes = 0, n;
    if (!read_header(in, &h))
        return NULL;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        bytes = is_of(&h, types[i]) ? (size_t)(types[i][2] - '0') : bytes;
    if (!has_values(in, &h, bytes, &n, "integers (b1, i1 to i8, u1 to u4)", "<i4"))
        return NULL;
    unsigned char *from = malloc(n * bytes + 1);
    int *to = malloc((n + 1) * sizeof *to), *x = NULL;
    if (!from || !to)
        gra_failure_set(in->error, "out of memory");
    else if (gra_infile_read(in, h.begin, from, n * bytes))
        x = convert(in, &h, from, n, bytes, to);
    free(from);
    if (!x)
        free(to);
    *shape = h.shape;
    return x;
}

int *gra_load_npy_ints(gra_tape *t, const char *path, gra_shape *shape)
{
    gra_failure error;
    gra_infile in;
    int *x = NULL;
    gra_need_tape(t, __func__);
    if (!shape)
        gra_fail(t, "gra_load_npy_ints: got NULL for the shape, expected the address of a gra_shape");
    if (gra_error(t))
        return NULL;
    gra_failure_about(&error, path);
    if (gra_infile_open(&in, path, &error)) {
        x = read_ints(&in, shape);
        gra_infile_close(&in);
    }
    if (!x)
        gra_fail(t, "gra_load_npy_ints: %s", error.text);
    return x;
}

/* ---- writing ---- */

/* Everything before the values; returns how many bytes. */
static size_t make_header(const gra_tensor *x, char header[static 256])
{
    const char *shape = GRA_SHAPE_STRING(x->shape); /* "(3)" is a number in Python, "(3,)" a shape */
    const int n = snprintf(header + START, 256 - START, "{'descr': '<f%zu', 'fortran_order': False, 'shape': "
                           "%.*s%s, }", sizeof *x->data, (int)strlen(shape) - 1, shape,
                           x->shape.ndim == 1 ? ",)" : ")");
    const size_t all = (START + (size_t)n + 1 + 63) / 64 * 64;
    memset(header + START + n, ' ', all - START - (size_t)n);
    header[all - 1] = '\n';
    memcpy(header, MAGIC, sizeof MAGIC);
    gra_put_little_endian((unsigned char *)header + START - 2, all - START, 2);
    return all;
}

int gra_save_npy(const char *path, const gra_tensor *x)
{
    gra_tensor *in = (gra_tensor *)x;
    gra_outfile out;
    char header[256];
    if (!x || !x->data || (x->tape && gra_bad_inputs(x->tape, "gra_save_npy", 1, &in))) {
        errno = EINVAL;
        return -1;
    }
    if (!gra_outfile_open(&out, path))
        return -1;
    gra_outfile_write(&out, header, make_header(x, header));
    gra_write_values(&out, x->data, x->size);
    return gra_outfile_close(&out) ? 0 : -1;
}
