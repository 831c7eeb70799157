/* columns: values that may be part of the formula of a gradient: the tensors and the output, and what they
 * are often made into: softmax, sums, lengths and deviations of rows, the difference of two tensors. A
 * column has a value for each entry (j, i) of the Jacobian: the element that an index of x_i, or of y_j,
 * leads to. */
#include "explaining.h"
#include <stdlib.h>

/* ---- the value of a column at an entry ---------------------------------------------------------- */

bool gra_index_of_dy(int which)
{
    return (which >= GRA_OF_DY && which < GRA_ROW_OF_X) || which == GRA_ROW_OF_DY ||
           which == GRA_ELEMENT_OF_DY;
}

static size_t last_of(const gra_shape *s)               /* the size of the last dimension */
{
    return s->ndim ? (size_t)s->dim[s->ndim - 1] : 1;
}

size_t gra_index(const gra_wrong *w, int which, size_t e)
{
    const gra_shape *const s = gra_index_of_dy(which) ? &w->check->shape : &w->x->shape;
    size_t at = gra_index_of_dy(which) ? e / w->cols : e % w->cols;
    if (which >= GRA_ROW_OF_X)
        return which >= GRA_ELEMENT_OF_X ? at : at / last_of(s);
    for (int d = s->ndim - 1; d > which % GRA_MAX_DIMS; d--)
        at /= (size_t)s->dim[d];
    return at % (size_t)s->dim[which % GRA_MAX_DIMS];
}

size_t gra_extent(const gra_wrong *w, int which)
{
    const gra_shape *const s = gra_index_of_dy(which) ? &w->check->shape : &w->x->shape;
    const size_t size = !gra_index_of_dy(which) ? w->cols : w->whole ? w->rows : 0;
    if (which >= GRA_ROW_OF_X)
        return which >= GRA_ELEMENT_OF_X ? size : size / last_of(s);
    return size > 0 && which % GRA_MAX_DIMS < s->ndim ? (size_t)s->dim[which % GRA_MAX_DIMS] : 0;
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
    if (!c->data || c->gradient)
        return 1;
    return c->cost > 1 ? GRA_OF_SUMS : gra_elementwise(w) ? GRA_FUNCTIONS : GRA_COMMON;
}

/* "w (1, 2)"; of an op of single elements and one input no place, since the formula is the same everywhere.
 * A function of a long name: "1 - v, v = the softmax of x (0, 1)". */
void gra_put_term(gra_check_line *line, const gra_wrong *w, gra_term t, size_t e)
{
#define PATTERN(name, pattern, value) pattern,
    static const char *const patterns[] = { GRA_FUNCTION_TABLE(PATTERN) };
    const char *const pattern = patterns[t.f];
    const size_t at = place(w, t.c, e);
    gra_check_line name = { .at = 0 };
    gra_check_put(&name, "%s", t.c->name);
    if (t.c->data && !gra_elementwise(w) && t.c->rows > 1)
        gra_check_put(&name, " (%zu, %zu)", at / t.c->columns, at % t.c->columns);
    else if (t.c->data && !gra_elementwise(w))
        gra_check_put(&name, " (%zu)", at);
    const bool twice = strchr(name.s, ' ') && strchr(strchr(pattern, '@') + 1, '@');
    const bool letter = t.f != GRA_PLAIN && (t.c->cost > 1 || strchr(t.c->name, ' ') || twice);
    for (const char *c = pattern; *c; c++)
        gra_check_put(line, *c == '@' ? "%s" : "%.1s", *c != '@' ? c : letter ? "v" : name.s);
    if (letter)
        gra_check_put(line, ", v = %s", name.s);
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

/* c by each index that runs as far as its rows, and each that runs as far as its columns. A tensor of one row
 * may also belong to another dimension; of one with several, a backward may always take the first. */
static void add(gra_wrong *w, const gra_column *c)
{
    int index[4 + 2 * GRA_MAX_DIMS], count = 0;
    const bool vector = c->rows == 1;
    bool varies = c->rows * c->columns == 1;            /* one number everywhere proves little */
    for (size_t i = 1; i < c->rows * c->columns; i++)
        varies |= c->data[i] != c->data[0];
    for (int dy = 0; dy < (w->single ? 1 : 2); dy++) {  /* where the two are the same, those of x */
        const int ndim = dy ? w->check->shape.ndim : w->x->shape.ndim;
        index[count++] = GRA_ROW_OF_X + dy;
        for (int d = ndim - 1; d >= (vector && ndim > 2 ? 0 : ndim - 1) && d >= 0; d--)
            index[count++] = dy * GRA_OF_DY + d;
    }
    for (int r = -1; varies && r < (vector ? 0 : count); r++)
        for (int l = -1; l < (c->columns == 1 ? 0 : count); l++) {
            const bool first = (r < 0 && !vector) || (l < 0 && c->columns > 1);
            if ((!first || c->cost == 1) && (r != l || r < 0) &&
                (r < 0 || gra_extent(w, index[r]) == c->rows) &&
                (l < 0 || gra_extent(w, index[l]) == c->columns))
                push(w, c, r < 0 ? GRA_FIRST : index[r], l < 0 ? GRA_FIRST : index[l]);
        }
}

/* A column that is no tensor: room for its values. NULL: there is none. */
static real *make(gra_wrong *w, gra_column *c, size_t rows, size_t columns, int cost)
{
    real *const data = w->mades < GRA_MOST_MADE ? calloc(rows * columns + 1, sizeof(real)) : NULL;
    if (data)
        w->made[w->mades++] = data;
    *c = (gra_column){ .data = data, .rows = rows, .columns = columns, .cost = cost };
    return data;
}

enum { SUM, LENGTH, DEVIATION, STATISTICS, CENTRED = STATISTICS, SOFTMAX, MADE };

/* Of one row of n elements. */
static void of_row(const real *x, size_t n, int what, real *out)
{
    double sum = 0, exps = 0, squares = 0, centred = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i];
        exps += exp((double)x[i]);
        squares += (double)x[i] * (double)x[i];
    }
    for (size_t i = 0; i < n; i++)
        centred += pow((double)x[i] - sum / (double)n, 2);
    if (what < STATISTICS)
        *out = (real)(what == SUM ? sum : what == LENGTH ? sqrt(squares) : sqrt(centred / (double)n));
    for (size_t i = 0; what >= STATISTICS && i < n; i++)
        out[i] = (real)(what == CENTRED ? (double)x[i] - sum / (double)n : exp((double)x[i]) / exps);
}

/* What is made of the rows of a tensor. */
static void of_rows(gra_wrong *w, const gra_checked *x)
{
    static const char *const names[MADE] = {
        [SUM] = "the sum of %.60s over dimension %d", [LENGTH] = "the length of %.60s over dimension %d",
        [DEVIATION] = "the standard deviation of %.60s over dimension %d",
        [CENTRED] = "%.60s less its mean over dimension %d", [SOFTMAX] = "the softmax of %.60s",
    };
    const size_t n = last_of(&x->shape), rows = x->size / n;
    for (int what = 0; what < (x == w->x ? MADE : SOFTMAX) && n > 1; what++) {
        gra_column c;
        real *const out = make(w, &c, rows, what < STATISTICS ? 1 : n, what == SOFTMAX ? 1 : 2);
        for (size_t r = 0; out && r < rows; r++)
            of_row(x->data + r * n, n, what, out + r * c.columns);
        snprintf(c.name, sizeof c.name, names[what], x->name, x->shape.ndim - 1);
        if (out)
            add(w, &c);
    }
}

/* Of two tensors of one shape p - q, or of y and x in an op of single elements y/x; or where x is not the one
 * that is explained, what dy gives to it. */
enum { LESS, DIVIDED, GRADIENT };

static void of_two(gra_wrong *w, gra_checked *p, gra_checked *q, int what)
{
    gra_checking *const k = w->check;
    const size_t columns = what == GRADIENT ? w->cols : last_of(&p->shape);
    gra_column c;
    if (!gra_same_shape(p->shape, q->shape) || p == q)
        return;
    const size_t rows = what == GRADIENT ? w->rows : p->size / columns;
    real *const out = make(w, &c, rows, columns, what == DIVIDED ? 2 : 1);
    for (size_t i = 0; out && i < p->size; i++) {
        if (what == GRADIENT)
            gra_check_parts(k, p, i);
        for (size_t j = 0; what == GRADIENT && j < w->rows; j++)
            out[j * w->cols + i] = k->parts[j] / k->c[j];
        if (what != GRADIENT)
            out[i] = what == LESS ? p->data[i] - q->data[i] : p->data[i] / q->data[i];
    }
    c.gradient = what == GRADIENT;
    snprintf(c.name, sizeof c.name, what == LESS ? "(%.60s - %.60s)" : "%.60s%s%.60s", p->name,
             what == LESS ? q->name : what == DIVIDED ? "/" : "", what == DIVIDED ? q->name : "");
    if (out && c.gradient)
        push(w, &c, GRA_ELEMENT_OF_DY, GRA_ELEMENT_OF_X);
    else if (out)
        add(w, &c);
}

bool gra_columns(gra_wrong *w)
{
    const gra_checking *k = w->check;
    gra_checked *const all = k->tensor, *const y = all + k->count;
    w->column = malloc(GRA_MOST_COLUMNS * sizeof *w->column);
    if (!w->column)
        return false;
    push(w, &(gra_column){ .name = "1", .rows = 1, .columns = 1 }, GRA_FIRST, GRA_FIRST);
    for (int t = 0; t <= k->count; t++) {               /* y before x: y (1 - y) is plainer than of x */
        const gra_checked *x = &all[(t + k->count) % (k->count + 1)];
        gra_column c = { .data = x->data, .columns = last_of(&x->shape), .cost = 1 };
        snprintf(c.name, sizeof c.name, "%.60s", x->name);
        c.rows = x->size ? x->size / c.columns : 0;
        add(w, &c);
    }
    for (int t = 0; t < k->count; t++) {
        if (w->whole)
            of_two(w, &all[t], w->x, GRADIENT);
        if (t > 0 && all[t].size > 0)
            of_two(w, &all[t - 1], &all[t], LESS);
    }
    if (gra_elementwise(w))
        of_two(w, y, w->x, DIVIDED);
    for (int t = 0; t <= k->count; t++)
        if (all[t].size > 0)
            of_rows(w, &all[t]);
    return true;
}

void gra_columns_end(gra_wrong *w)
{
    while (w->mades)
        free(w->made[--w->mades]);
    free(w->column);
}
