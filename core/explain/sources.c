/* sources: values that may stand in a formula of a gradient. Each has a value for each entry of the Jacobian:
 * an element of a tensor, which the row and column of x's element, or of the output's, lead to. */
#include "explain.h"

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

static double apply(int f, double v)
{
    const double sigmoid = 1 / (1 + exp(-v)), t = tanh(v);
    switch (f) {
    case GRA_INVERSE:  return 1 / v;
    case GRA_SQUARE:   return v * v;
    case GRA_REST:     return 1 - v;
    case GRA_REST_INVERSE: return 1 / (1 - v);
    case GRA_SIGMOID:  return sigmoid;
    case GRA_SIGMOID_REST:  return 1 - sigmoid;
    case GRA_SIGMOID_SLOPE: return sigmoid * (1 - sigmoid);
    case GRA_SILU_SLOPE:    return sigmoid * (1 + v * (1 - sigmoid));
    case GRA_TANH:     return t;
    case GRA_TANH_SLOPE:    return 1 - t * t;
    case GRA_VARIANCE: return v * (1 - v);
    case GRA_LOG:      return log(v);
    case GRA_EXP:      return exp(v);
    default:           return v;
    }
}

double gra_value(const gra_wrong *w, const gra_source *s, size_t e)
{
    if (s->kind == GRA_ONE)
        return 1;
    if (s->kind == GRA_RIGHT)
        return apply(s->f, w->n[e]);
    const size_t at = element_of(w, s, e);
    const double v = (double)s->data[at] - (s->less ? (double)s->less[at] : 0);
    return s->kind == GRA_BOTH ? v * (double)s->data[e / w->cols] : apply(s->f, v);
}

void gra_put_source(gra_check_line *line, const gra_wrong *w, const gra_source *s, size_t e)
{
    static const char *const before[] = { "", "1 over ", "the square of ", "1 minus ", "v (1 - v) for v = ",
                                          "1/(1 - v) for v = ", "the log of ", "e to the power of ",
                                          "the sigmoid of ", "1 minus the sigmoid of ",
                                          "s (1 - s), s for the sigmoid of ", "the derivative of silu at ",
                                          "tanh of ", "1 - t^2, t for the tanh of " };
    if (s->kind == GRA_BOTH)
        gra_check_put(line, "%s_i %s_j", s->name, s->name);
    else
        gra_check_put(line, "%s%s", before[s->f], s->kind == GRA_ONE ? "1" : s->kind == GRA_VALUE ? s->name
                                                                                          : "what is right");
    if (s->kind != GRA_VALUE)
        return;
    const size_t at = element_of(w, s, e);
    if (s->less)
        gra_check_put(line, " - %s at", s->of_less);
    if (s->rows == 1)
        gra_check_put(line, " (%zu)", at);
    else
        gra_check_put(line, s->transposed ? " (%zu, %zu), of its memory read as the transposed matrix,"
                      : " (%zu, %zu)", at / s->columns, at % s->columns);
}

bool gra_same_source(const gra_source *p, const gra_source *q)
{
    return p->data == q->data && p->less == q->less && p->row == q->row && p->column == q->column &&
           p->transposed == q->transposed;
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
 * products of one at two places, the difference of two, the softmax of x. */
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
        if (w->whole && !w->single && s.rows * s.columns == w->rows &&
            gra_same_shape(w->x->shape, k->shape)) {
            gra_source both = s;
            both.kind = GRA_BOTH;
            both.row = s.rows == 1 ? -1 : GRA_ROW_OF_X;
            both.column = GRA_COLUMN_OF_X;
            push(&l, both);
        }
    }
    gra_source softmax = source_of(w->x);
    softmax.name = w->softmax_name;
    softmax.data = w->softmax;
    if (softmax.columns > 1)
        add(&l, softmax);
    for (int t = 1; t < k->count; t++) {
        gra_source s = source_of(&k->tensor[t - 1]);
        s.less = k->tensor[t].data;
        s.of_less = k->tensor[t].name;
        if (gra_same_shape(k->tensor[t - 1].shape, k->tensor[t].shape))
            add(&l, s);
    }
    return l.count;
}

static int functions_of(const gra_source *s)
{
    return s->kind == GRA_VALUE || s->kind == GRA_RIGHT ? GRA_FUNCTIONS : 1;
}

bool gra_each_pair(gra_wrong *w, bool functions, gra_pair *explains, int how)
{
    gra_source list[GRA_MOST_SOURCES];
    const int count = gra_sources(w, list);
    for (int i = 0; i < count * count; i++) {
        gra_source p = list[i / count], q = list[i % count];
        const int of_p = functions ? functions_of(&p) : 1, of_q = functions ? functions_of(&q) : 1;
        for (int f = 0; f < of_p * of_q; f++) {
            p.f = f / of_q;
            q.f = f % of_q;
            if (explains(w, &p, &q, how))
                return true;
        }
    }
    return false;
}
