/* columns: values that may be part of the formula of a gradient: the tensors and the output, the difference
 * of two tensors, and the softmax and the deviation from the mean of the explained tensor's rows. A column
 * has a value for each entry (j, i) of the Jacobian: an index of x_i or of y_j chooses the element. */
#include "explaining.h"
#include <stdlib.h>

/* ---- the value of a column at an entry ---------------------------------------------------------- */

static size_t last_of(const gra_shape *s)               /* the size of the last dimension */
{
    return s->ndim ? (size_t)s->dim[s->ndim - 1] : 1;
}

size_t gra_index(const gra_wrong *w, int index, size_t e)
{
    const gra_shape *const s = gra_index_of_dy(index) ? &w->check->shape : &w->x->shape;
    size_t at = gra_index_of_dy(index) ? e / w->cols : e % w->cols;
    if (index >= GRA_ROW_OF_X)
        return index >= GRA_ELEMENT_OF_X ? at : at / last_of(s);
    for (int d = s->ndim - 1; d > gra_dimension(index); d--)
        at /= (size_t)s->dim[d];
    return at % (size_t)s->dim[gra_dimension(index)];
}

size_t gra_extent(const gra_wrong *w, int index)
{
    const gra_shape *const s = gra_index_of_dy(index) ? &w->check->shape : &w->x->shape;
    const size_t size = !gra_index_of_dy(index) ? w->cols : w->whole ? w->rows : 0;
    if (index >= GRA_ROW_OF_X)
        return index >= GRA_ELEMENT_OF_X ? size : size / last_of(s);
    return size > 0 && gra_dimension(index) < s->ndim ? (size_t)s->dim[gra_dimension(index)] : 0;
}

static size_t place(const gra_wrong *w, const gra_column *c, size_t e)
{
    return (c->row < 0 ? 0 : gra_index(w, c->row, e) * c->columns) +
           (c->column < 0 ? 0 : gra_index(w, c->column, e));
}

static double apply(int f, double v)
{
#define VALUE(name, pattern, value) case GRA_##name: return value;
    switch (f) { GRA_FUNCTION_TABLE(VALUE) default: return v; }
}

double gra_value(const gra_wrong *w, gra_term t, size_t e)
{
    return t.c->data ? apply(t.f, (double)t.c->data[place(w, t.c, e)]) : 1;
}

int gra_functions_of(const gra_wrong *w, const gra_column *c)
{
    return !c->data || c->plain ? 1 : gra_elementwise(w) ? GRA_FUNCTIONS : GRA_COMMON;
}

/* "w (1, 2)". The place is omitted in an elementwise op of one input, whose formula is the same everywhere. A
 * long name comes after the function: "1 - v, v = the softmax of x (0, 1)". */
gra_line gra_term_at(const gra_wrong *w, gra_term t, size_t e)
{
#define PATTERN(name, pattern, value) pattern,
    static const char *const patterns[] = { GRA_FUNCTION_TABLE(PATTERN) };
    const char *const pattern = patterns[t.f];
    const size_t at = place(w, t.c, e);
    gra_line line = { .at = 0 }, name = { .at = 0 };
    gra_line_put(&name, "%s", t.c->name);
    if (t.c->data && !gra_elementwise(w) && t.c->rows > 1)
        gra_line_put(&name, " (%zu, %zu)", at / t.c->columns, at % t.c->columns);
    else if (t.c->data && !gra_elementwise(w))
        gra_line_put(&name, " (%zu)", at);
    const bool twice = strchr(name.s, ' ') && strchr(strchr(pattern, '@') + 1, '@');
    const bool letter = t.f != GRA_PLAIN && (strchr(t.c->name, ' ') || twice);
    for (const char *c = pattern; *c; c++)
        gra_line_put(&line, *c == '@' ? "%s" : "%.1s", *c != '@' ? c : letter ? "v" : name.s);
    if (letter)
        gra_line_put(&line, ", v = %s", name.s);
    return line;
}

/* ---- all columns -------------------------------------------------------------------------------- */

static void push(gra_wrong *w, const gra_column *c, int row, int column)
{
    if (w->columns == GRA_MOST_COLUMNS)
        return;
    gra_column *const to = &w->column[w->columns++];
    *to = *c;
    to->row = row;
    to->column = column;
}

/* Adds c once for each index with as many values as c has rows, and once for each index with as many values
 * as c has columns. A tensor of one row may also belong to another dimension. */
static void add(gra_wrong *w, const gra_column *c)
{
    int index[4 + 2 * GRA_MAX_DIMS], count = 0;
    const bool vector = c->rows == 1;
    bool varies = c->rows * c->columns == 1;            /* a constant tensor proves little */
    for (size_t i = 1; i < c->rows * c->columns; i++)
        varies |= c->data[i] != c->data[0];
    for (int dy = 0; dy < (w->single ? 1 : 2); dy++) {  /* x's indices, if dy has the same */
        const int ndim = dy ? w->check->shape.ndim : w->x->shape.ndim;
        index[count++] = GRA_ROW_OF_X + dy;
        for (int d = ndim - 1; d >= (vector && ndim > 2 ? 0 : ndim - 1) && d >= 0; d--)
            index[count++] = (dy ? GRA_OF_DY : GRA_OF_X) + d;
    }
    for (int r = vector ? -1 : 0; varies && r < (vector ? 0 : count); r++)
        for (int l = c->columns == 1 ? -1 : 0; l < (c->columns == 1 ? 0 : count); l++)
            if ((r != l || r < 0) && (r < 0 || gra_extent(w, index[r]) == c->rows) &&
                (l < 0 || gra_extent(w, index[l]) == c->columns))
                push(w, c, r < 0 ? GRA_NO_INDEX : index[r], l < 0 ? GRA_NO_INDEX : index[l]);
}

static void add_tensor(gra_wrong *w, const gra_checked *x)
{
    gra_column c = { .data = x->data, .columns = last_of(&x->shape) };
    snprintf(c.name, sizeof c.name, "%.60s", x->name);
    c.rows = x->size ? x->size / c.columns : 0;
    add(w, &c);
}

/* Room for values of x's shape that are computed for this search; NULL: there is none. */
static real *make(gra_wrong *w, const gra_checked *x, gra_column *c)
{
    real *const data = w->mades < GRA_MOST_MADE && x->size ? calloc(x->size, sizeof(real)) : NULL;
    const size_t columns = last_of(&x->shape);
    if (data)
        w->made[w->mades++] = data;
    *c = (gra_column){ .data = data, .rows = x->size / (columns ? columns : 1), .columns = columns };
    return data;
}

static void add_difference(gra_wrong *w, const gra_checked *p, const gra_checked *q)
{
    gra_column c;
    real *const out = gra_same_shape(p->shape, q->shape) ? make(w, p, &c) : NULL;
    for (size_t i = 0; out && i < p->size; i++)
        out[i] = p->data[i] - q->data[i];
    if (!out)
        return;
    snprintf(c.name, sizeof c.name, "(%.60s - %.60s)", p->name, q->name);
    add(w, &c);
}

/* The softmax of each row, or each row less its mean. */
static void add_of_rows(gra_wrong *w, const gra_checked *x, bool centred)
{
    gra_column c;
    real *const out = make(w, x, &c);
    if (!out || c.columns < 2)
        return;
    c.plain = centred;
    for (size_t row = 0; row < c.rows; row++) {
        const real *const of = x->data + row * c.columns;
        double sum = 0;
        for (size_t i = 0; i < c.columns; i++)
            sum += centred ? (double)of[i] : exp((double)of[i]);
        for (size_t i = 0; i < c.columns; i++)
            out[row * c.columns + i] = (real)(centred ? (double)of[i] - sum / (double)c.columns
                                                      : exp((double)of[i]) / sum);
    }
    if (centred)
        snprintf(c.name, sizeof c.name, "%.60s less its mean over dimension %d", x->name, x->shape.ndim - 1);
    else
        snprintf(c.name, sizeof c.name, "the softmax of %.60s", x->name);
    add(w, &c);
}

bool gra_columns(gra_wrong *w)
{
    const gra_checked *const all = w->check->tensor;
    const int count = w->check->count;
    w->column = malloc(GRA_MOST_COLUMNS * sizeof *w->column);
    if (!w->column)
        return false;
    push(w, &(gra_column){ .name = "1", .rows = 1, .columns = 1 }, GRA_NO_INDEX, GRA_NO_INDEX);
    for (int t = 0; t <= count; t++)                    /* y before x: y (1 - y) is simple */
        add_tensor(w, &all[(t + count) % (count + 1)]);
    for (int t = 1; t < count; t++)
        add_difference(w, &all[t - 1], &all[t]);
    add_of_rows(w, w->x, false);
    add_of_rows(w, w->x, true);
    return true;
}

void gra_columns_end(gra_wrong *w)
{
    while (w->mades)
        free(w->made[--w->mades]);
    free(w->column);
}
