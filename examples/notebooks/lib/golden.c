/* golden: see golden.h. */
#include "golden.h"
#include "../../../core/op.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

struct file {
    FILE       *f;
    const char *path;
    char       *error;                  /* the first, GOLDEN_ERROR bytes; "": none */
};

GRA_PRINTF(2, 3) static void fail(struct file *in, const char *format, ...)
{
    if (in->error[0])
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(in->error, GOLDEN_ERROR, format, args);
    va_end(args);
}

static void skip_line(FILE *f)
{
    for (int c = getc(f); c != '\n' && c != EOF; c = getc(f))
        ;
}

static bool next_word(struct file *in, char *word)
{
    while (!in->error[0] && fscanf(in->f, "%63s", word) == 1) {
        if (strlen(word) == GOLDEN_WORD - 1)
            fail(in, "%s: the word %s... is too long", in->path, word);
        if (word[0] != '#')
            return true;
        skip_line(in->f);
    }
    word[0] = 0;
    return false;
}

static void word(struct file *in, char *w)
{
    if (!next_word(in, w))
        fail(in, "%s: got the end of the file, expected a word", in->path);
}

static double number(struct file *in)
{
    char w[GOLDEN_WORD], *end;
    word(in, w);
    double x = strtod(w, &end);
    if (*end || end == w)
        fail(in, "%s: got %s, expected a number", in->path, w);
    return x;
}

static int integer(struct file *in)
{
    double x = number(in);
    if (x == floor(x) && fabs(x) <= INT_MAX)
        return (int)x;
    fail(in, "%s: got %g, expected an integer", in->path, x);
    return 0;
}

static size_t shape(struct file *in, gra_shape *s)
{
    size_t size = 0;
    s->ndim = integer(in);
    if (s->ndim < 0 || s->ndim > GRA_MAX_DIMS) {
        fail(in, "%s: got a tensor of %d dimensions, expected 0 to %d", in->path, s->ndim, GRA_MAX_DIMS);
        s->ndim = 0;
    }
    for (int d = 0; d < s->ndim; d++)
        s->dim[d] = integer(in);
    if (!gra_shape_size(*s, &size))
        fail(in, "%s: got a shape with a negative size, or too large for memory", in->path);
    return size;
}

static void read_tensor(struct file *in, golden_tensor *t)
{
    word(in, t->role);
    word(in, t->name);
    t->tol = number(in);
    t->size = shape(in, &t->shape);
    t->values = in->error[0] ? NULL : calloc(t->size + 1, sizeof *t->values);
    if (!t->values)
        fail(in, "%s: out of memory for %s", in->path, t->name);
    for (size_t i = 0; !in->error[0] && i < t->size; i++)
        t->values[i] = number(in);
}

/* Reads one entry; false after the last. */
static bool read_entry(struct file *in, golden *g)
{
    char w[GOLDEN_WORD];
    word(in, w);
    if (g->configs == GOLDEN_MAX || g->tensors == GOLDEN_MAX)
        fail(in, "%s has more entries than GOLDEN_MAX", in->path);
    if (in->error[0] || strcmp(w, "end") == 0)
        return false;
    if (strcmp(w, "source") == 0 || strcmp(w, "seed") == 0 || strcmp(w, "draw") == 0) {
        skip_line(in->f);
    } else if (strcmp(w, "system") == 0) {
        word(in, g->system);
    } else if (strcmp(w, "config") == 0) {
        word(in, g->config[g->configs].key);
        g->config[g->configs++].value = integer(in);
    } else if (strcmp(w, "tensor") == 0) {
        read_tensor(in, &g->tensor[g->tensors++]);
    } else {
        fail(in, "%s: got %s, expected source, system, config, seed, draw, tensor or end", in->path, w);
    }
    return true;
}

golden *golden_read(const char *path, char error[GOLDEN_ERROR])
{
    struct file in = { fopen(path, "r"), path, error };
    golden *g = calloc(1, sizeof *g);
    error[0] = 0;
    if (!in.f)
        fail(&in, "%s cannot be read: %s", path, strerror(errno));
    else if (!g)
        fail(&in, "%s: out of memory", path);
    else
        snprintf(g->path, sizeof g->path, "%s", path);
    while (!error[0] && read_entry(&in, g))
        ;
    if (in.f)
        fclose(in.f);
    if (!error[0])
        return g;
    golden_close(g);
    return NULL;
}

void golden_close(golden *g)
{
    for (int i = 0; g && i < g->tensors; i++)
        free(g->tensor[i].values);
    free(g);
}

const golden_tensor *golden_find(const golden *g, const char *role, const char *name)
{
    for (int i = 0; i < g->tensors; i++)
        if (strcmp(g->tensor[i].role, role) == 0 && strcmp(g->tensor[i].name, name) == 0)
            return &g->tensor[i];
    return NULL;
}

bool golden_agrees(const golden_tensor *expected, size_t i, double x)
{
    double y = expected->values[i];
    if (isnan(y) || x == y)                             /* infinities too */
        return true;
    return expected->tol == 0 ? x == (double)(real)y : fabs(x - y) <= expected->tol;
}
