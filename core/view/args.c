/* args: the constants of an op as text, such as the factor of scale. */
#include "view.h"

#include <stddef.h>
#include <stdlib.h>

/* The next field of y->args, of this size and alignment, which moves *at past it; NULL: there is none. */
static const void *field(const gra_tensor *y, size_t *at, size_t size, size_t align)
{
    const size_t from = (*at + align - 1) / align * align;
    *at = from + size;
    return *at <= y->op->args ? (const char *)y->args + from : NULL;
}
#define FIELD(y, at, type) ((const type *)field(y, at, sizeof(type), offsetof(struct { char c; type x; }, x)))

/* "dimension 1": the one around which the input is split so; "all" */
static void put_split(gra_text *o, const gra_tensor *y, const gra_dim_split *around)
{
    const gra_shape x = y->in[0]->shape;
    int d = around->n == y->in[0]->size && y->shape.ndim == 0 ? x.ndim : 0;
    for (; d < x.ndim; d++)
        if (gra_split_dim(x, d).outer == around->outer && gra_split_dim(x, d).n == around->n)
            break;
    if (d < x.ndim)
        gra_text_put(o, "dimension %d", d);
    else
        gra_text_put(o, "all");
}

static void put_dims(gra_text *o, const gra_tensor *y, size_t *at)
{
    const int *dim;
    for (int d = 0; d < y->shape.ndim && (dim = FIELD(y, at, int)) != NULL; d++)
        gra_text_put(o, d ? ", %d" : "%d", *dim);
}

static void put_field(gra_text *o, const gra_tensor *y, char how, size_t *at)
{
    const double *number = how == 'g' ? FIELD(y, at, double) : NULL;
    const int *integer = how == 'd' ? FIELD(y, at, int) : NULL;
    const bool *transposed = how == 'T' ? FIELD(y, at, bool) : NULL;
    const gra_dim_split *around = how == 'a' ? FIELD(y, at, gra_dim_split) : NULL;
    char text[40];
    if (number) {
        snprintf(text, sizeof text, "%.7g", *number);
        gra_decimal_point(text);
        gra_text_put(o, "%s", text);
    } else if (integer)
        gra_text_put(o, "%d", *integer);
    else if (transposed)
        gra_text_put(o, *transposed ? "^T" : "");
    else if (around)
        put_split(o, y, around);
    else if (how == 'D')
        put_dims(o, y, at);
}

char *gra_args_text(const gra_tensor *y, char *text)
{
    gra_text o = { 0 };
    size_t at = 0;
    for (const char *c = y->op && y->op->args_text ? y->op->args_text : ""; *c; c++)
        if (*c == '%' && c[1])
            put_field(&o, y, *++c, &at);
        else
            gra_text_put(&o, "%c", *c);
    snprintf(text, GRA_ARGS_TEXT, "%s", o.s ? o.s : "");
    free(o.s);
    return text;
}
