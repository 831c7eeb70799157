/* sources: values that may stand in a formula of a gradient. Each has a value for each entry of the Jacobian:
 * an element of a tensor, which the row and column of x's element, or of the output's, lead to. */
#include "explaining.h"

/* Row and column of the element of x, of the output: all dimensions but the last, and the last. */
static void four(const gra_wrong *w, size_t e, size_t index[4])
{
    const gra_shape *x = &w->x->shape, *y = &w->check->shape;
    const size_t cx = x->ndim ? (size_t)x->dim[x->ndim - 1] : 1;
    const size_t cy = y->ndim && w->whole ? (size_t)y->dim[y->ndim - 1] : 1;
    index[GRA_ROW_OF_X] = e % w->cols / cx;
    index[GRA_COLUMN_OF_X] = e % w->cols % cx;
    index[GRA_ROW_OF_DY] = e / w->cols / cy;
    index[GRA_COLUMN_OF_DY] = e / w->cols % cy;
}

static size_t element_of(const gra_wrong *w, const gra_source *s, size_t e)
{
    size_t index[4];
    four(w, e, index);
    return (s->row < 0 ? 0 : index[s->row] * s->columns) + (s->column < 0 ? 0 : index[s->column]);
}

double gra_value(const gra_wrong *w, const gra_source *s, size_t e)
{
    if (s->kind == GRA_ONE)
        return 1;
    if (s->kind == GRA_RIGHT)
        return w->n[e];
    const double v = (double)s->data[element_of(w, s, e)];
    return s->kind == GRA_BOTH ? v * (double)s->data[e / w->cols] : v;
}

void gra_put_source(gra_check_line *line, const gra_wrong *w, const gra_source *s, size_t e)
{
    const size_t at = element_of(w, s, e);
    if (s->kind == GRA_BOTH) {
        gra_check_put(line, "%s_i %s_j", s->name, s->name);
        return;
    }
    gra_check_put(line, "%s", s->name);
    if (s->rows == 1)
        gra_check_put(line, " (%zu)", at);
    else
        gra_check_put(line, s->transposed ? " (%zu, %zu), of its memory read as the transposed matrix,"
                      : " (%zu, %zu)", at / s->columns, at % s->columns);
}

static bool varies(const gra_source *s)
{
    for (size_t i = 1; i < s->rows * s->columns; i++)
        if (s->data[i] != s->data[0])
            return true;
    return false;
}

typedef struct sources {
    gra_source *list;
    int         count;
    size_t      extent[4];
} sources;

static void push(sources *l, gra_source s)
{
    if (l->count < GRA_MOST_SOURCES)
        l->list[l->count++] = s;
}

/* s by each of the four indices that runs as far as its rows, and as its columns. */
static void add(sources *l, gra_source s)
{
    for (s.row = s.rows == 1 ? -1 : 0; s.row < (s.rows == 1 ? 0 : 4); s.row++)
        for (s.column = s.columns == 1 ? -1 : 0; s.column < (s.columns == 1 ? 0 : 4); s.column++)
            if ((s.row < 0 || l->extent[s.row] == s.rows) &&
                (s.column < 0 || l->extent[s.column] == s.columns) &&
                s.row != s.column)
                push(l, s);
}

static gra_source source_of(const gra_checked *x)
{
    const int ndim = x->shape.ndim;
    gra_source s = { .kind = GRA_VALUE, .name = x->name, .data = x->data,
                     .columns = ndim ? (size_t)x->shape.dim[ndim - 1] : 1 };
    s.rows = x->size / (s.columns ? s.columns : 1);
    return s;
}

/* 1, the numeric entry, the tensors and the output y, their memory read as the transposed matrix, the
 * products of one at two places. */
int gra_sources(const gra_wrong *w, gra_source list[GRA_MOST_SOURCES])
{
    const gra_checking *k = w->check;
    sources l = { .list = list };
    size_t last[4];
    four(w, w->size - 1, last);
    for (int i = 0; i < 4; i++)
        l.extent[i] = last[i] + 1;
    list[l.count++] = (gra_source){ .kind = GRA_ONE };
    list[l.count++] = (gra_source){ .kind = GRA_RIGHT };
    for (int t = 0; t <= k->count; t++) {
        const gra_source s = source_of(&k->tensor[t]);
        if (!varies(&s))
            continue;
        add(&l, s);
        gra_source transposed = s;
        transposed.transposed = true;
        transposed.rows = s.columns;
        transposed.columns = s.rows;
        if (s.rows > 1 && s.columns > 1 && s.rows != s.columns)
            add(&l, transposed);
        if (w->whole && s.rows * s.columns == w->rows && gra_same_shape(w->x->shape, k->shape)) {
            gra_source both = s;
            both.kind = GRA_BOTH;
            both.row = s.rows == 1 ? -1 : GRA_ROW_OF_X;
            both.column = GRA_COLUMN_OF_X;
            push(&l, both);
        }
    }
    return l.count;
}
