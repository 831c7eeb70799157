/* columns: values that may be part of the formula of a gradient: the tensors and the output, and what they
 * are often made into: softmax, sums, lengths and deviations of rows, products of two tensors. A column has a
 * value for each entry (j, i) of the Jacobian: the element that an index of x_i, or of y_j, leads to. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST_VALUES = 4096 };            /* of a product, which costs a loop for each */

/* ---- the value of a column at an entry ---------------------------------------------------------- */

static const gra_shape *shape_of(const gra_wrong *w, int which)
{
    const bool dy = (which >= GRA_OF_DY && which < GRA_ROW_OF_X) || which == GRA_ROW_OF_DY ||
                    which == GRA_ELEMENT_OF_DY;
    return dy ? &w->check->shape : &w->x->shape;
}

static size_t last_of(const gra_shape *s)               /* the size of the last dimension */
{
    return s->ndim ? (size_t)s->dim[s->ndim - 1] : 1;
}

size_t gra_index(const gra_wrong *w, int which, size_t e)
{
    const gra_shape *const s = shape_of(w, which);
    size_t at = s == &w->x->shape ? e % w->cols : e / w->cols;
    if (which >= GRA_ELEMENT_OF_X)
        return at;
    if (which >= GRA_ROW_OF_X)
        return at / last_of(s);
    for (int d = s->ndim - 1; d > which % GRA_MAX_DIMS; d--)
        at /= (size_t)s->dim[d];
    return at % (size_t)s->dim[which % GRA_MAX_DIMS];
}

size_t gra_extent(const gra_wrong *w, int which)
{
    const gra_shape *const s = shape_of(w, which);
    const size_t size = s == &w->x->shape ? w->cols : w->whole ? w->rows : 0;
    if (which >= GRA_ELEMENT_OF_X)
        return size;
    if (which >= GRA_ROW_OF_X)
        return size / last_of(s);
    return size > 0 && which % GRA_MAX_DIMS < s->ndim ? (size_t)s->dim[which % GRA_MAX_DIMS] : 0;
}

static size_t place(const gra_wrong *w, const gra_column *c, size_t e)
{
    return (c->row < 0 ? 0 : gra_index(w, c->row, e) * c->columns) +
           (c->column < 0 ? 0 : gra_index(w, c->column, e));
}

double gra_apply(int f, double v)
{
#define VALUE(name, pattern, value) case GRA_##name: return value;
    switch (f) { GRA_FUNCTION_TABLE(VALUE) default: return v; }
}

double gra_value(const gra_wrong *w, gra_term t, size_t e)
{
    return t.c->data ? gra_apply(t.f, (double)t.c->data[place(w, t.c, e)]) : 1;
}

bool gra_is_one(gra_term t)
{
    return !t.c->data;
}

bool gra_same_column(gra_term p, gra_term q)
{
    return p.c == q.c;
}

int gra_functions_of(const gra_wrong *w, const gra_column *c)
{
    if (!c->data || c->gradient)
        return 1;
    return c->cost > 1 ? GRA_OF_SUMS : gra_elementwise(w) ? GRA_FUNCTIONS : GRA_COMMON;
}

int gra_cost(gra_term t)
{
    return t.c->cost + (t.f > GRA_PLAIN) + (t.f >= GRA_COMMON);
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
    const bool letter = t.f != GRA_PLAIN && (t.c->cost > 1 || strlen(t.c->name) > 30 || twice);
    for (const char *c = pattern; *c; c++)
        gra_check_put(line, *c == '@' ? "%s" : "%.1s", *c != '@' ? c : letter ? "v" : name.s);
    if (letter)
        gra_check_put(line, ", v = %s", name.s);
}

/* ---- all columns -------------------------------------------------------------------------------- */

static bool varies(const gra_column *c)
{
    for (size_t i = 1; i < c->rows * c->columns; i++)
        if (c->data[i] != c->data[0])
            return true;
    return false;
}

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
    const gra_shape *const shape[] = { &w->x->shape, &w->check->shape };
    const bool vector = c->rows == 1;
    for (int dy = 0; dy < (w->single ? 1 : 2); dy++) {  /* where the two are the same, those of x */
        index[count++] = GRA_ROW_OF_X + dy;
        index[count++] = dy * GRA_OF_DY + shape[dy]->ndim - 1 + (shape[dy]->ndim == 0);
    }
    for (int dy = 0; dy < (w->single ? 1 : 2) && vector; dy++)
        for (int d = 0; d < shape[dy]->ndim - 1 && shape[dy]->ndim > 2; d++)
            index[count++] = dy * GRA_OF_DY + d;
    if (!varies(c) && c->rows * c->columns > 1)
        return;
    for (int r = -1; r < (vector ? 0 : count); r++)
        for (int l = -1; l < (c->columns == 1 ? 0 : count); l++) {
            if ((r < 0 && !vector && c->cost > 1) || (l < 0 && c->columns > 1 && c->cost > 1))
                continue;
            if ((r < 0 || gra_extent(w, index[r]) == c->rows) &&
                (l < 0 || gra_extent(w, index[l]) == c->columns) && (r != l || c->rows * c->columns == 1))
                push(w, c, r < 0 ? GRA_FIRST : index[r], l < 0 ? GRA_FIRST : index[l]);
        }
}

static gra_column column_of(const gra_checked *x)
{
    const size_t columns = last_of(&x->shape);
    gra_column c = { .data = x->data, .columns = columns, .rows = columns ? x->size / columns : 0, .cost = 1 };
    snprintf(c.name, sizeof c.name, "%.60s", x->name);
    return c;
}

/* A column that is no tensor: room for its values. False: there is none. */
static bool make(gra_wrong *w, gra_column *c, size_t rows, size_t columns, int cost)
{
    real *const data = w->mades < GRA_MOST_MADE ? calloc(rows * columns + 1, sizeof(real)) : NULL;
    if (data)
        w->made[w->mades++] = data;
    *c = (gra_column){ .data = data, .rows = rows, .columns = columns, .cost = cost };
    return data != NULL;
}

static real *data_of(const gra_wrong *w)                /* of what was made last */
{
    return w->made[w->mades - 1];
}

/* ---- what is made of the rows of a tensor, and of its columns ------------------------------------- */

enum { SUM, LENGTH, DEVIATION, STATISTICS, CENTRED = STATISTICS, SOFTMAX, BEFORE };

/* Of one line of n elements, `step` apart. */
static void of_line(const real *x, size_t n, size_t step, int what, real *out)
{
    double sum = 0, exps = 0, squares = 0, centred = 0;
    for (size_t i = 0; i < n; i++) {
        sum += (double)x[i * step];
        exps += exp((double)x[i * step]);
        squares += pow((double)x[i * step], 2);
    }
    for (size_t i = 0; i < n; i++)
        centred += pow((double)x[i * step] - sum / (double)n, 2);
    const double statistic[] = { sum, sqrt(squares), sqrt(centred / (double)n) };
    if (what < STATISTICS)
        *out = (real)statistic[what];
    for (size_t i = 0; what >= STATISTICS && i < n; i++) {
        const double v = (double)x[i * step], before = i ? (double)x[(i - 1) * step] : 0;
        out[i * step] = (real)(what == CENTRED ? v - sum / (double)n : what == SOFTMAX ? exp(v) / exps : before);
    }
}

static void of_lines(gra_wrong *w, const gra_checked *x, bool in_columns)
{
    static const struct {
        int         what;
        const char *before, *after;     /* the name of x */
    } made[] = {
        { SOFTMAX, "the softmax of ", " over " }, { SUM, "the sum of ", " over " },
        { LENGTH, "the length of ", " over " }, { DEVIATION, "the standard deviation of ", " over " },
        { CENTRED, "", " less its mean over " }, { BEFORE, "what is one place before that of ", " along " },
    };
    const int last = x->shape.ndim - 1;
    const size_t columns = last_of(&x->shape), rows = x->size / columns, n = in_columns ? rows : columns;
    char along[40] = "its rows";
    if (n < 2 || columns < 2)
        return;
    if (last < 2 || !in_columns)
        snprintf(along, sizeof along, "dimension %d", in_columns ? 0 : last);
    for (size_t m = 0; m < sizeof made / sizeof *made; m++) {
        const bool all = made[m].what >= STATISTICS, usual = made[m].what == SOFTMAX && !in_columns;
        gra_column c;
        if ((made[m].what == SOFTMAX && x != w->x) ||
            !make(w, &c, all || !in_columns ? rows : 1, all || in_columns ? columns : 1, usual ? 1 : 2))
            continue;
        for (size_t line = 0; line < (in_columns ? columns : rows); line++)
            of_line(x->data + (in_columns ? line : line * n), n, in_columns ? columns : 1, made[m].what,
                    data_of(w) + (all && !in_columns ? line * n : line));
        snprintf(c.name, sizeof c.name, "%s%.60s%s%s", made[m].before, x->name, usual ? "" : made[m].after,
                 usual ? "" : along);
        add(w, &c);
    }
}

/* ---- what is made of two tensors ---------------------------------------------------------------- */

static void product(gra_wrong *w, const gra_checked *p, const gra_checked *q, bool transposed)
{
    const size_t n = last_of(&p->shape), rows = p->size / n, last = last_of(&q->shape), first = q->size / last;
    const size_t columns = transposed ? first : last;
    gra_column c;
    if ((transposed ? last : first) != n || n < 2 || rows * columns > MOST_VALUES ||
        !make(w, &c, rows, columns, 2))
        return;
    for (size_t at = 0; at < rows * columns * n; at++) {
        const size_t r = at / n / columns, l = at / n % columns, i = at % n;
        data_of(w)[r * columns + l] += p->data[r * n + i] * q->data[transposed ? l * n + i : i * columns + l];
    }
    snprintf(c.name, sizeof c.name, "%.60s %.60s%s", p->name, q->name, transposed ? "^T" : "");
    add(w, &c);
}

/* p - q, or of an op of single elements p/q: y/x. */
static void element_by_element(gra_wrong *w, const gra_checked *p, const gra_checked *q, bool quotient)
{
    gra_column c;
    const size_t columns = last_of(&p->shape);
    if (!gra_same_shape(p->shape, q->shape) || !make(w, &c, p->size / columns, columns, quotient ? 2 : 1))
        return;
    for (size_t i = 0; i < p->size; i++)
        data_of(w)[i] = quotient ? p->data[i] / q->data[i] : p->data[i] - q->data[i];
    snprintf(c.name, sizeof c.name, quotient ? "%.60s/%.60s" : "(%.60s - %.60s)", p->name, q->name);
    add(w, &c);
}

/* What dy gives to another tensor of x's shape. */
static void gradient_of(gra_wrong *w, gra_checked *x)
{
    gra_checking *const k = w->check;
    gra_column c;
    if (!gra_same_shape(x->shape, w->x->shape) || !make(w, &c, w->rows, w->cols, 1))
        return;
    for (size_t i = 0; i < x->size; i++) {
        gra_check_parts(k, x, i);
        for (size_t j = 0; j < w->rows; j++)
            data_of(w)[j * w->cols + i] = k->parts[j] / k->c[j];
    }
    snprintf(c.name, sizeof c.name, "%.60s", x->name);
    c.gradient = true;
    push(w, &c, GRA_ELEMENT_OF_DY, GRA_ELEMENT_OF_X);
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
        const gra_column c = column_of(&all[(t + k->count) % (k->count + 1)]);
        if (c.rows)
            add(w, &c);
    }
    for (int t = 0; t < k->count && w->whole; t++)
        if (&all[t] != w->x)
            gradient_of(w, &all[t]);
    if (gra_elementwise(w))
        element_by_element(w, y, w->x, true);
    for (int t = 1; t < k->count; t++)
        if (all[t].size > 0)
            element_by_element(w, &all[t - 1], &all[t], false);
    for (int t = 0; t <= k->count; t++)
        for (int in_columns = 0; in_columns < 2 && all[t].size > 0; in_columns++)
            of_lines(w, &all[t], in_columns);
    for (int i = 0; i < k->count * k->count; i++) {
        const gra_checked *p = &all[i / k->count], *q = &all[i % k->count];
        for (int transposed = 0; transposed < 1 + (p < q) && p != q && p->size > 0 && q->size > 0 &&
             q->shape.ndim < 3; transposed++)
            product(w, p, q, transposed);
    }
    return true;
}

void gra_columns_end(gra_wrong *w)
{
    while (w->mades)
        free(w->made[--w->mades]);
    free(w->column);
}
