/* save: a model's parameters as a safetensors file, exactly as the reference writer lays it out:
 *
 *     8 bytes      n, the length of the header, little-endian
 *     n bytes      {"__metadata__":{"key":"value"},
 *                  "name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},...}
 *                  as JSON in one line, with blanks at the end so that n is a multiple of 8
 *     the rest     the values, little-endian, in the order of the header: tensors by name, without gaps
 *
 * The file appears whole or not at all: it is written under another name beside the old one, brought to
 * the disk, and then renamed. Where the path is a device or a pipe there is nothing to replace, and it is
 * written to. */
#define _XOPEN_SOURCE 700               /* realpath */
#define _DARWIN_C_SOURCE                /* F_FULLFSYNC */
#include "op.h"
#include "json.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_HEADER 100000000            /* the reference reader's limit */
#define WHY        600

/* ---- what is written ---- */

struct text {
    char  *s;
    size_t n, room;
    bool   full;                        /* out of memory: nothing more is put */
};

struct file {
    gra_tensor    **p;                  /* n parameters, by name */
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

static bool failed(struct file *f, const char *what)
{
    return because(f, "%s: %s", what, strerror(errno));
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
        if (!is_utf8(f->p[i]->name))
            return because(f, "the name of a parameter is not UTF-8: %.100s", f->p[i]->name);
        if (strcmp(f->p[i]->name, "__metadata__") == 0)
            return because(f, "in a safetensors file a parameter cannot be named __metadata__");
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

static void put_tensor(struct text *t, const gra_tensor *p, size_t begin)
{
    put_string(t, p->name);
    put_text(t, sizeof(real) == 4 ? ":{\"dtype\":\"F32\",\"shape\":[" : ":{\"dtype\":\"F64\",\"shape\":[");
    for (int d = 0; d < p->ndim; d++) {
        put_text(t, d ? "," : "");
        put_count(t, (size_t)p->shape[d]);
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
        put_tensor(t, f->p[i], begin);
        begin += f->p[i]->size * sizeof(real);
    }
    put_text(t, "}");
    while (t->n % 8 && !t->full)
        put_text(t, " ");
    if (t->full)
        return because(f, "out of memory");
    return t->n <= MAX_HEADER || because(f, "a header of %zu bytes is more than safetensors allows", t->n);
}

/* ---- writing ---- */

static bool write_all(int fd, const void *data, size_t n, struct file *f)
{
    const char *at = data;
    while (n) {
        ssize_t wrote = write(fd, at, n < (1 << 30) ? n : (1 << 30));
        if (wrote == 0 || (wrote < 0 && errno != EINTR))
            return wrote ? failed(f, "writing failed") : because(f, "writing failed: nothing more is taken");
        at += wrote > 0 ? wrote : 0;
        n  -= wrote > 0 ? (size_t)wrote : 0;
    }
    return true;
}

static void put_little_endian(unsigned char *to, uint64_t bits, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (unsigned char)(bits >> 8 * i);
}

static uint64_t bits_of(real x)
{
#ifdef GRADUS_DOUBLE
    uint64_t bits;
#else
    uint32_t bits;
#endif
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static bool write_values(int fd, const gra_tensor *p, struct file *f)
{
    unsigned char piece[8192];
    const size_t fit = sizeof piece / sizeof(real);
    for (size_t from = 0; from < p->size; from += fit) {
        size_t n = p->size - from < fit ? p->size - from : fit;
        for (size_t i = 0; i < n; i++)
            put_little_endian(piece + i * sizeof(real), bits_of(p->data[from + i]), sizeof(real));
        if (!write_all(fd, piece, n * sizeof(real), f))
            return false;
    }
    return true;
}

static bool write_model(int fd, struct file *f)
{
    unsigned char length[8];
    put_little_endian(length, f->header.n, sizeof length);
    bool ok = write_all(fd, length, sizeof length, f) && write_all(fd, f->header.s, f->header.n, f);
    for (int i = 0; ok && i < f->n; i++)
        ok = write_values(fd, f->p[i], f);
    return ok;
}

/* ---- the file ---- */

static bool to_disk(int fd, struct file *f)
{
#ifdef F_FULLFSYNC
    if (fcntl(fd, F_FULLFSYNC) == 0)    /* on macOS fsync alone stops at the disk's cache */
        return true;
#endif
    if (fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP)    /* a file system without such a thing */
        return true;
    return failed(f, "writing to the disk failed");
}

static bool close_after(int fd, bool ok, struct file *f)
{
    if (close(fd) != 0 && ok && errno != EINTR)
        return failed(f, "writing failed");
    return ok;
}

/* The new name is on the disk when its directory is. A directory that may be written to but not be read
 * cannot be opened: then that is left to the system. */
static bool directory_to_disk(char *path, struct file *f)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0';    /* "a/b" to "a", "/b" to "/" */
    int fd = open(slash ? path : ".", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno == EACCES || failed(f, "its directory cannot be opened");
    bool ok = to_disk(fd, f);
    close(fd);
    return ok;
}

/* A new file beside `path`; its name is left in temporary. */
static int open_beside(const char *path, char *temporary, size_t room)
{
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; i < 1000 && fd < 0 && errno == EEXIST; i++) {
        snprintf(temporary, room, "%s.%ld-%d.tmp", path, (long)getpid(), i);
        fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }
    return fd;
}

static bool replace(char *path, struct file *f)
{
    const size_t room = strlen(path) + 40;
    char *temporary = malloc(room);
    if (!temporary)
        return failed(f, "cannot be written");
    int fd = open_beside(path, temporary, room);
    bool ok = fd >= 0 || failed(f, "cannot be written");
    if (fd >= 0) {
        ok = close_after(fd, write_model(fd, f) && to_disk(fd, f), f);
        if (ok && rename(temporary, path) != 0)
            ok = failed(f, "the finished file cannot be renamed");
        if (!ok)
            unlink(temporary);
    }
    free(temporary);
    return ok && directory_to_disk(path, f);
}

static bool write_to_device(const char *path, struct file *f)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    return fd >= 0 ? close_after(fd, write_model(fd, f), f) : failed(f, "cannot be written");
}

static bool write_file(const char *path, struct file *f)
{
    struct stat s;
    if (!*path)
        return because(f, "this is no name of a file");
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode))
        return write_to_device(path, f);
    char *target = realpath(path, NULL);        /* where a link leads: the file is replaced, the link stays */
    if (!target)
        target = strdup(path);                  /* there is no such file yet */
    if (!target)
        return failed(f, "cannot be written");
    bool ok = replace(target, f);
    free(target);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp((*(gra_tensor *const *)a)->name, (*(gra_tensor *const *)b)->name);
}

int gra_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta)
{
    struct file f = { .n = gra_param_count(m), .meta = meta, .nmeta = nmeta, .why = "out of memory" };
    f.p = malloc(((size_t)f.n + 1) * sizeof *f.p);
    for (int i = 0; f.p && i < f.n; i++)
        f.p[i] = gra_param_at(m, i);
    if (f.p)
        qsort(f.p, (size_t)f.n, sizeof *f.p, by_name);
    bool ok = f.p && can_be_said(&f) && make_header(&f) && write_file(path, &f);
    free(f.p);
    free(f.header.s);
    gra_model_note(m, "gra_save", path, ok ? NULL : f.why);
    return ok ? 0 : -1;
}
