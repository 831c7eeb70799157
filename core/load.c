/* load: the parameters of a model from a safetensors file (save.c says how one is laid out).
 *
 * First the header is read and every word of it compared with the model and with the length of the file;
 * then the values are read into a buffer; only then does a parameter change. No memory is taken for a
 * number in the file before that number was found to fit in the file. */
#include "op.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER 100000000            /* the reference reader's limit */
#define WHY        600
#define SHOWN(t)   (int)((t).n < 100 ? (t).n : 100), (t).s      /* for %.*s */

/* ---- kinds of values ---- */

static uint64_t little_endian(const unsigned char *from, size_t bytes)
{
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes; i++)
        bits |= (uint64_t)from[i] << 8 * i;
    return bits;
}

static void read_f32(const unsigned char *from, size_t n, real *to)
{
    for (size_t i = 0; i < n; i++) {
        uint32_t bits = (uint32_t)little_endian(from + 4 * i, 4);
        float x;
        memcpy(&x, &bits, sizeof x);
        to[i] = (real)x;
    }
}

static void read_f64(const unsigned char *from, size_t n, real *to)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t bits = little_endian(from + 8 * i, 8);
        double x;
        memcpy(&x, &bits, sizeof x);
        to[i] = (real)x;
    }
}

struct dtype {
    const char *name;
    size_t      bytes;
    void      (*read)(const unsigned char *from, size_t n, real *to);
};

static const struct dtype dtypes[] = {
    { "F32", 4, read_f32 },
    { "F64", 8, read_f64 },
};

/* ---- what is known of the file so far ---- */

struct found {                          /* a parameter's tensor in the file */
    gra_tensor  *p;                     /* NULL: not met yet */
    const struct dtype *dtype;
    uint64_t     begin, end;            /* its bytes, counted from the end of the header */
};

struct file {
    gra_model    *model;
    struct found *found;                /* by the parameter's number */
    gra_json      json;
    uint64_t      length;               /* bytes behind the header */
    bool          metadata;             /* met */
    char          why[WHY];
};

GRA_PRINTF(2, 3) static bool because(struct file *f, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(f->why, sizeof f->why, format, args);
    va_end(args);
    return false;
}

/* ---- the header ---- */

struct entry {                          /* what the header says of one tensor */
    gra_json_text name, dtype, shape;   /* shape: "2,3" */
    int           ndim;
    uint64_t      sizes[GRA_MAX_DIMS];
    bool          fits, located;        /* the product of sizes is below 2^64; there were data_offsets */
    uint64_t      values, begin, end;
};

static void read_shape(gra_json *j, struct entry *e)
{
    e->ndim = 0;
    e->values = 1;
    e->fits = true;
    gra_json_expect(j, '[');
    e->shape.s = j->at;
    if (!gra_json_accept(j, ']')) {
        do {
            uint64_t size = gra_json_count(j);
            e->fits = e->fits && (size == 0 || e->values <= UINT64_MAX / size);
            e->values *= size;
            if (e->ndim == GRA_MAX_DIMS)
                gra_json_fail(j, "a tensor has more than 8 dimensions");
            else
                e->sizes[e->ndim++] = size;
        } while (gra_json_accept(j, ','));
        gra_json_expect(j, ']');
    }
    e->shape.n = j->wrong ? 0 : (size_t)(j->at - 1 - e->shape.s);
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

static void read_entry(gra_json *j, struct entry *e)
{
    gra_json_expect(j, '{');
    do {
        gra_json_text key = gra_json_string(j);
        gra_json_expect(j, ':');
        if (!e->dtype.s && gra_json_same(key, "dtype"))
            e->dtype = gra_json_string(j);
        else if (!e->shape.s && gra_json_same(key, "shape"))
            read_shape(j, e);
        else if (!e->located && gra_json_same(key, "data_offsets"))
            read_offsets(j, e);
        else
            gra_json_fail(j, "a tensor has dtype, shape and data_offsets, each once, and nothing else");
    } while (gra_json_accept(j, ','));
    if (!e->dtype.s || !e->shape.s || !e->located)
        gra_json_fail(j, "a tensor needs dtype, shape and data_offsets");
    gra_json_expect(j, '}');
}

static bool same_shape(const struct entry *e, const gra_tensor *p)
{
    bool same = e->ndim == p->ndim;
    for (int d = 0; same && d < p->ndim; d++)
        same = e->sizes[d] == (uint64_t)p->shape[d];
    return same;
}

static const struct dtype *dtype_named(gra_json_text name)
{
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (gra_json_same(name, dtypes[i].name))
            return &dtypes[i];
    return NULL;
}

static int parameter_named(const gra_model *m, gra_json_text name)
{
    for (int i = 0; i < gra_param_count(m); i++)
        if (gra_json_same(name, gra_param_at(m, i)->name))
            return i;
    return -1;
}

/* An entry that is sound in itself and is that of a parameter not met before. */
static bool take_entry(struct file *f, const struct entry *e)
{
    const struct dtype *dtype = dtype_named(e->dtype);
    if (!dtype)
        return because(f, "tensor %.*s has the dtype %.*s: F32 and F64 can be read", SHOWN(e->name),
                       SHOWN(e->dtype));
    if (!e->fits || e->values > UINT64_MAX / dtype->bytes)
        return because(f, "tensor %.*s has the shape [%.*s]: so many values cannot be counted",
                       SHOWN(e->name), SHOWN(e->shape));
    if (e->end < e->begin || e->end > f->length)
        return because(f, "tensor %.*s is said to be bytes %" PRIu64 " to %" PRIu64 ", but there are %" PRIu64
                       " behind the header", SHOWN(e->name), e->begin, e->end, f->length);
    if (e->end - e->begin != e->values * dtype->bytes)
        return because(f, "tensor %.*s has %" PRIu64 " bytes, but its shape [%.*s] of %s needs %" PRIu64,
                       SHOWN(e->name), e->end - e->begin, SHOWN(e->shape), dtype->name,
                       e->values * dtype->bytes);

    const int number = parameter_named(f->model, e->name);
    if (number < 0)
        return because(f, "the model has no parameter %.*s", SHOWN(e->name));
    gra_tensor *p = gra_param_at(f->model, number);
    if (f->found[number].p)
        return because(f, "there are two tensors %.*s", SHOWN(e->name));
    if (!same_shape(e, p))
        return because(f, "tensor %.*s has the shape [%.*s], but in the model it is %s", SHOWN(e->name),
                       SHOWN(e->shape), GRA_SHAPE_OF(p));
    f->found[number] = (struct found){ p, dtype, e->begin, e->end };
    return true;
}

static bool read_metadata(struct file *f)       /* strings, which nobody asks for here */
{
    gra_json *j = &f->json;
    if (f->metadata)
        gra_json_fail(j, "there is a second __metadata__");
    f->metadata = true;
    gra_json_expect(j, '{');
    if (gra_json_accept(j, '}'))
        return true;
    do {
        gra_json_string(j);
        gra_json_expect(j, ':');
        gra_json_string(j);
    } while (gra_json_accept(j, ','));
    gra_json_expect(j, '}');
    return true;
}

static bool read_tensor(struct file *f, gra_json_text name)
{
    struct entry e = { .name = name };
    read_entry(&f->json, &e);
    return f->json.wrong || take_entry(f, &e);  /* what is wrong with the text is said at its end */
}

static bool read_header(struct file *f)
{
    gra_json *j = &f->json;
    const char *start = j->at;
    bool ok = true;
    if (j->at == j->end || *j->at != '{')
        gra_json_fail(j, "there should be a {");
    gra_json_expect(j, '{');
    if (!gra_json_accept(j, '}')) {
        do {
            gra_json_text name = gra_json_string(j);
            gra_json_expect(j, ':');
            ok = gra_json_same(name, "__metadata__") ? read_metadata(f) : read_tensor(f, name);
        } while (ok && gra_json_accept(j, ','));
        if (!ok)
            return false;
        gra_json_expect(j, '}');
    }
    gra_json_finish(j);
    if (j->wrong)
        return because(f, "it is no safetensors file: byte %zu of its header: %s", (size_t)(j->at - start),
                       j->wrong);
    return true;
}

/* ---- all tensors together ---- */

static bool nothing_missing(struct file *f)
{
    int missing = 0;
    const char *first = NULL;
    for (int i = 0; i < gra_param_count(f->model); i++)
        if (!f->found[i].p) {
            first = first ? first : gra_param_at(f->model, i)->name;
            missing++;
        }
    if (missing == 1)
        return because(f, "it has no tensor %.100s", first);
    return !missing || because(f, "it has no tensor %.100s, and %d more of the model's are missing", first,
                               missing - 1);
}

static int by_place(const void *a, const void *b)
{
    const struct found *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->end > y->end) - (x->end < y->end);
}

static bool without_gaps(struct file *f)
{
    const int n = gra_param_count(f->model);
    uint64_t at = 0;
    qsort(f->found, (size_t)n, sizeof *f->found, by_place);
    for (int i = 0; i < n; i++) {
        if (f->found[i].begin != at)
            return because(f, "tensor %.100s begins at byte %" PRIu64 ", but the one before it ends at byte %"
                           PRIu64, f->found[i].p->name, f->found[i].begin, at);
        at = f->found[i].end;
    }
    return at == f->length || because(f, "its tensors end at byte %" PRIu64 ", but there are %" PRIu64
                                      " bytes behind the header", at, f->length);
}

/* ---- the file ---- */

static bool read_all(struct file *f, int fd, void *data, size_t n)
{
    char *at = data;
    while (n) {
        ssize_t got = read(fd, at, n < (1 << 30) ? n : (1 << 30));
        if (got == 0)
            return because(f, "it ended while it was read");
        if (got < 0 && errno != EINTR)
            return because(f, "reading failed: %s", strerror(errno));
        at += got > 0 ? got : 0;
        n  -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* A buffer for the next n bytes, of which the file has that many. NULL: f->why. */
static unsigned char *read_bytes(struct file *f, int fd, uint64_t n)
{
    unsigned char *bytes = n < SIZE_MAX ? malloc((size_t)n + 1) : NULL;
    if (!bytes)
        because(f, "out of memory: %" PRIu64 " bytes were wanted", n);
    else if (!read_all(f, fd, bytes, (size_t)n)) {
        free(bytes);
        return NULL;
    }
    return bytes;
}

/* How many bytes there are, or -1. */
static int64_t length_of(struct file *f, int fd)
{
    struct stat s;
    if (fstat(fd, &s) != 0)
        because(f, "%s", strerror(errno));
    else if (!S_ISREG(s.st_mode))
        because(f, S_ISDIR(s.st_mode) ? "it is a directory" : "it is not a regular file");
    else
        return (int64_t)s.st_size;
    return -1;
}

static bool read_header_at(struct file *f, int fd)
{
    unsigned char first[8];
    const int64_t length = length_of(f, fd);
    if (length < 0)
        return false;
    if (length < 8)
        return because(f, "it is no safetensors file: it has %" PRId64 " bytes", length);
    if (!read_all(f, fd, first, sizeof first))
        return false;
    const uint64_t n = little_endian(first, 8), rest = (uint64_t)length - 8;
    if (n > rest || n > MAX_HEADER)
        return because(f, "it is no safetensors file: a header of %" PRIu64 " bytes cannot be in a file of %"
                       PRId64, n, length);
    unsigned char *header = read_bytes(f, fd, n);
    if (!header)
        return false;
    f->json   = (gra_json){ .at = (const char *)header, .end = (const char *)header + n };
    f->length = rest - n;
    bool ok = read_header(f);
    free(header);
    return ok;
}

static bool read_values(struct file *f, int fd)
{
    unsigned char *bytes = read_bytes(f, fd, f->length);
    if (!bytes)
        return false;
    for (int i = 0; i < gra_param_count(f->model); i++) {
        const struct found *x = &f->found[i];
        x->dtype->read(bytes + x->begin, x->p->size, x->p->data);
    }
    free(bytes);
    return true;
}

static bool load(struct file *f, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);     /* a pipe must not hold us up */
    if (fd < 0)
        return because(f, "%s", strerror(errno));
    bool ok = read_header_at(f, fd) && nothing_missing(f) && without_gaps(f) && read_values(f, fd);
    close(fd);
    return ok;
}

int gra_load(gra_model *m, const char *path)
{
    struct file f = { .model = m, .why = "out of memory" };
    f.found = calloc((size_t)gra_param_count(m) + 1, sizeof *f.found);
    bool ok = f.found && load(&f, path);
    free(f.found);
    gra_model_note(m, "gra_load", path, ok ? NULL : f.why);
    return ok ? 0 : -1;
}
