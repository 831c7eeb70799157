/* args: the constants of an op as text, such as the factor of scale. */
#include "view.h"

#include <stddef.h>

/* The next field of y->args, of this size and alignment; NULL: there is none. Moves *at past the field. */
static const void *field(const gra_tensor *y, size_t *at, size_t size, size_t align)
{
    const size_t from = (*at + align - 1) / align * align;
    *at = from + size;
    return *at <= y->op->args ? (const char *)y->args + from : NULL;
}
#define FIELD(y, at, type) field(y, at, sizeof(type), offsetof(struct { char c; type x; }, x))

/* "dimension 1", around which the input is split in this way, or "all" */
static void put_split(gra_line *o, const gra_tensor *y, const gra_dim_split *around)
{
    const gra_shape x = y->in[0]->shape;
    int d = around->n == y->in[0]->size && y->shape.ndim == 0 ? x.ndim : 0;
    for (; d < x.ndim; d++)
        if (gra_split_dim(x, d).outer == around->outer && gra_split_dim(x, d).n == around->n)
            break;
    if (d < x.ndim)
        gra_line_put(o, "dimension %d", d);
    else
        gra_line_put(o, "all");
}

static void put_dims(gra_line *o, const gra_tensor *y, size_t *at)
{
    const int *dim;
    for (int d = 0; d < y->shape.ndim && (dim = FIELD(y, at, int)) != NULL; d++)
        gra_line_put(o, d ? ", %d" : "%d", *dim);
}

static void put_field(gra_line *o, const gra_tensor *y, char how, size_t *at)
{
    const void *x = how == 'g' ? FIELD(y, at, double) : how == 'd' ? FIELD(y, at, int)
                  : how == 'T' ? FIELD(y, at, bool) : how == 'a' ? FIELD(y, at, gra_dim_split) : NULL;
    char number[40];
    if (how == 'D')
        put_dims(o, y, at);
    else if (x && how == 'g') {
        snprintf(number, sizeof number, "%.7g", *(const double *)x);
        gra_decimal_point(number);
        gra_line_put(o, "%s", number);
    } else if (x && how == 'd')
        gra_line_put(o, "%d", *(const int *)x);
    else if (x && how == 'T')
        gra_line_put(o, *(const bool *)x ? "^T" : "");
    else if (x)
        put_split(o, y, x);
}

char *gra_args_text(const gra_tensor *y, char *text)
{
    gra_line o = { .at = 0 };
    size_t at = 0;
    for (const char *c = y->op && y->op->args_text ? y->op->args_text : ""; *c; c++)
        if (*c == '%' && c[1])
            put_field(&o, y, *++c, &at);
        else
            gra_line_put(&o, "%c", *c);
    snprintf(text, GRA_ARGS_TEXT, "%.*s", GRA_ARGS_TEXT - 1, o.s);
    return text;
}
