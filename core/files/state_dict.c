/* state_dict: the values of a model from a safetensors file.
 *
 * The names and the shapes in the file must be the model's. Then the values are read into a buffer, and only
 * when all are there does the model change. */
#include "../internal.h"

#include <stdlib.h>

/* A tensor that the model wants, as the file has it: 0, or -1 after a sentence. */
static int fits(gra_file *f, const gra_tensor *p, const gra_file_tensor *x)
{
    if (gra_same_shape(x->shape, p->shape))
        return 0;
    return gra_file_fail(f, "tensor %.100s has the shape %s, but in the model it is %s", x->name,
                         GRA_SHAPE_OF(x), GRA_SHAPE_OF(p));
}

/* A further name of a parameter need not be in the file; where it is, the values must be the parameter's. */
static int alias_fits(gra_file *f, const gra_tensor *alias)
{
    const gra_file_tensor *x = gra_file_find(f, alias->name), *base = gra_file_find(f, alias->base->name);
    if (!x)
        return 0;
    if (fits(f, alias, x))
        return -1;
    const int same = gra_file_same(f, x, base);
    if (same == 0)
        gra_file_fail(f, "tensors %.100s and %.100s differ, but in the model they are one", x->name,
                      base->name);
    return same > 0 ? 0 : -1;
}

static bool wants(const gra_model *m, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(gra_owned_at(m, i)->name, name) == 0)
            return true;
    for (int i = 0; i < gra_alias_count(m); i++)
        if (strcmp(gra_alias_at(m, i)->name, name) == 0)
            return true;
    return false;
}

static int nothing_more(gra_file *f, const gra_model *m, int n)
{
    for (int i = 0; i < gra_file_count(f) && gra_file_count(f) != n; i++)
        if (!wants(m, n, gra_file_at(f, i)->name))
            return gra_file_fail(f, "the model has no parameter %.100s", gra_file_at(f, i)->name);
    for (int i = 0; i < gra_alias_count(m); i++)
        if (alias_fits(f, gra_alias_at(m, i)))
            return -1;
    return 0;
}

/* The first n tensors of the model are those of the file. */
static int compare(gra_file *f, const gra_model *m, int n)
{
    int missing = 0;
    const char *first = NULL;
    for (int i = 0; i < n; i++) {
        const gra_tensor *p = gra_owned_at(m, i);
        const gra_file_tensor *x = gra_file_find(f, p->name);
        if (x && fits(f, p, x))
            return -1;
        first = x || first ? first : p->name;
        missing += !x;
    }
    if (missing == 1)
        return gra_file_fail(f, "it has no tensor %.100s", first);
    if (missing)
        return gra_file_fail(f, "it has no tensor %.100s, and %d more of the model's are missing", first,
                             missing - 1);
    return nothing_more(f, m, n);
}

static int read_values(gra_file *f, gra_model *m, int n)
{
    size_t size = 0, at = 0;
    for (int i = 0; i < n; i++)
        size += gra_owned_at(m, i)->size;
    real *values = malloc((size + 1) * sizeof *values);         /* the model has as many */
    int status = values ? 0 : gra_file_fail(f, "out of memory: %zu values were wanted", size);
    for (int i = 0; i < n && status == 0; at += gra_owned_at(m, i++)->size)
        status = gra_file_read(f, gra_file_find(f, gra_owned_at(m, i)->name), values + at);
    at = 0;
    for (int i = 0; i < n && status == 0; at += gra_owned_at(m, i++)->size)
        memcpy(gra_owned_at(m, i)->data, values + at, gra_owned_at(m, i)->size * sizeof *values);
    free(values);
    return status;
}

static int load(gra_model *m, const char *function, const char *path, int n)
{
    gra_file *f = gra_file_open_for(m, function, path);
    int status = f && compare(f, m, n) == 0 ? read_values(f, m, n) : -1;
    gra_file_close(f);
    return status;
}

int gra_load(gra_model *m, const char *path)
{
    return load(m, "gra_load", path, gra_param_count(m));
}

int gra_load_all(gra_model *m, const char *path)
{
    return load(m, "gra_load_all", path, gra_owned_count(m));
}
