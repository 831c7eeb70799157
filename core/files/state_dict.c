/* state_dict: saves the parameters and buffers of a model to a safetensors file, and loads them.
 *
 * Loading: the names and shapes in the file must be the model's. The values are read into a buffer, and the
 * model changes only when all of them have been read. */
#include "../model/model.h"
#include "safetensors.h"

#include <stdlib.h>

/* ---- loading ---- */

static int check_shape(gra_file *f, const gra_tensor *p, const gra_file_tensor *x)
{
    if (gra_same_shape(x->shape, p->shape))
        return 0;
    return gra_file_fail(f, "tensor %.100s: got the shape %s, expected %s as in the model", x->name,
                         GRA_SHAPE_STRING(x->shape), GRA_SHAPE_STRING(p->shape));
}

/* Returns 1 if both tensors have the same values, bit for bit, 0 if not, and -1 if they cannot be read. */
static int same_values(gra_file *f, const gra_file_tensor *x, const gra_file_tensor *y)
{
    real *values = malloc((2 * x->size + 1) * sizeof *values);  /* both have the shape of a parameter */
    int status = values ? 0 : gra_file_fail(f, "out of memory: twice %zu values are needed", x->size);
    if (!status && !(status = gra_file_read(f, x, values)) &&
        !(status = gra_file_read(f, y, values + x->size)))
        status = memcmp(values, values + x->size, x->size * sizeof *values) == 0;
    free(values);
    return status;
}

/* An alias may be missing from the file; otherwise its values must be the parameter's. */
static int check_alias(gra_file *f, const gra_tensor *alias)
{
    const gra_file_tensor *x = gra_file_find(f, alias->name), *base = gra_file_find(f, alias->base->name);
    if (!x)
        return 0;
    if (check_shape(f, alias, x))
        return -1;
    const int same = same_values(f, x, base);
    if (same == 0)
        gra_file_fail(f, "tensors %.100s and %.100s: got different values, expected the same: in the model "
                      "they are one parameter", x->name, base->name);
    return same > 0 ? 0 : -1;
}

static int check_no_others(gra_file *f, const gra_model *m, int n)
{
    gra_tensor *(*const find)(const gra_model *, const char *) =
        n > gra_saved_count(m) ? gra_owned_find : gra_saved_find;
    for (int i = 0; i < gra_file_count(f) && gra_file_count(f) != n; i++) {
        const char *name = gra_file_at(f, i)->name;
        if (!find(m, name) && !gra_alias_find(m, name))
            return gra_file_fail(f, "got a tensor %.100s, expected only those of the model", name);
    }
    for (int i = 0; i < gra_alias_count(m); i++)
        if (check_alias(f, gra_alias_at(m, i)))
            return -1;
    return 0;
}

/* The file must contain the first n tensors of the model, and nothing else. */
static int compare(gra_file *f, const gra_model *m, int n)
{
    int missing = 0;
    const char *first = NULL;
    for (int i = 0; i < n; i++) {
        const gra_tensor *p = gra_owned_at(m, i);
        const gra_file_tensor *x = gra_file_find(f, p->name);
        if (x && check_shape(f, p, x))
            return -1;
        first = x || first ? first : p->name;
        missing += !x;
    }
    if (missing)
        return gra_file_fail(f, "got no tensor %.100s, expected all of the model's (missing: %d)", first,
                             missing);
    return check_no_others(f, m, n);
}

static int read_values(gra_file *f, gra_model *m, int n)
{
    size_t size = 0, at = 0;
    for (int i = 0; i < n; i++)
        size += gra_owned_at(m, i)->size;
    real *values = malloc((size + 1) * sizeof *values);
    int status = values ? 0 : gra_file_fail(f, "out of memory: %zu values are needed", size);
    for (int i = 0; i < n && status == 0; at += gra_owned_at(m, i++)->size)
        status = gra_file_read(f, gra_file_find(f, gra_owned_at(m, i)->name), values + at);
    at = 0;
    for (int i = 0; i < n && status == 0; at += gra_owned_at(m, i++)->size)
        memcpy(gra_owned_at(m, i)->data, values + at, gra_owned_at(m, i)->size * sizeof *values);
    free(values);
    return status;
}

static int load(gra_model *m, const char *path, int n)
{
    if (gra_model_set_io_error(m, NULL))        /* the model has an error and remains unchanged */
        return -1;
    gra_file *f = gra_file_open(path);
    if (!gra_file_error(f) && compare(f, m, n) == 0)
        read_values(f, m, n);
    const int status = gra_model_set_io_error(m, gra_file_error(f));
    gra_file_close(f);
    return status;
}

int gra_load(gra_model *m, const char *path)
{
    gra_need_model(m, __func__);
    return load(m, path, gra_saved_count(m));
}

int gra_load_all(gra_model *m, const char *path)
{
    gra_need_model(m, __func__);
    return load(m, path, gra_owned_count(m));
}

/* ---- saving ---- */

/* The first n tensors that the model owns, and the other names of its parameters. */
static int save(gra_model *m, const char *path, int n, const gra_meta *meta, int nmeta)
{
    gra_failure error;
    const int all = n + gra_alias_count(m);
    if (gra_model_set_io_error(m, NULL))
        return -1;
    gra_named *x = malloc(((size_t)all + 1) * sizeof *x);
    gra_failure_about(&error, path);
    for (int i = 0; x && i < all; i++) {
        x[i].x    = i < n ? gra_owned_at(m, i) : gra_alias_at(m, i - n);
        x[i].name = x[i].x->name;
    }
    if (x)
        gra_file_write(path, all, x, meta, nmeta, &error);
    else
        gra_failure_set(&error, "out of memory");
    free(x);
    return gra_model_set_io_error(m, gra_failure_text(&error));
}

int gra_save(gra_model *m, const char *path, const gra_meta *meta, int nmeta)
{
    gra_need_model(m, __func__);
    return save(m, path, gra_saved_count(m), meta, nmeta);
}

int gra_save_all(gra_model *m, const char *path, const gra_meta *meta, int nmeta)
{
    gra_need_model(m, __func__);
    return save(m, path, gra_owned_count(m), meta, nmeta);
}
