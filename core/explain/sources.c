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
    case GRA_AND_ONE:  return 1 + v;
    case GRA_SIZE:     return fabs(v);
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
                                          "tanh of ", "1 - t^2, t for the tanh of ", "1 plus ",
                                          "the absolute value of " };
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

static void push(gra_wrong *w, gra_source s)
{
    s.at = w->probed + (size_t)w->sources * GRA_FUNCTIONS * GRA_PROBES;
    if (w->sources < GRA_MOST_SOURCES)
        w->source[w->sources++] = s;
}

/* s by each of the four indices that runs as far as its rows, and as its columns; or (-1) its row 0 alone. */
static void add(gra_wrong *w, gra_source s)
{
    size_t extent[4];
    const int most = w->single ? 2 : 4;                 /* those of dy are those of x then */
    four(w, w->size - 1, extent);
    if (!varies(&s))
        return;
    for (s.row = s.rows == 1 || !s.derived ? -1 : 0; s.row < (s.rows == 1 ? 0 : most); s.row++)
        for (s.column = s.columns == 1 || !s.derived ? -1 : 0; s.column < (s.columns == 1 ? 0 : most);
             s.column++)
            if ((s.row < 0 || extent[s.row] + 1 == s.rows) &&
                (s.column < 0 || extent[s.column] + 1 == s.columns) &&
                (s.row != s.column || (s.row < 0 && s.rows * s.columns == 1)))
                push(w, s);
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
 * products of one at two places, the difference of two, and what is derived of them. */
void gra_sources(gra_wrong *w)
{
    const gra_checking *k = w->check;
    push(w, (gra_source){ .kind = GRA_ONE });
    push(w, (gra_source){ .kind = GRA_RIGHT });
    for (int t = 0; t <= k->count; t++) {
        const gra_source s = source_of(&k->tensor[t]);
        add(w, s);
        gra_source transposed = s;
        transposed.transposed = true;
        transposed.rows = s.columns;
        transposed.columns = s.rows;
        if (s.rows > 1 && s.columns > 1 && s.rows != s.columns)
            add(w, transposed);
        if (w->whole && !w->single && s.rows * s.columns == w->rows && varies(&s) &&
            gra_same_shape(w->x->shape, k->shape)) {
            gra_source both = s;
            both.kind = GRA_BOTH;
            both.row = s.rows == 1 ? -1 : GRA_ROW_OF_X;
            both.column = GRA_COLUMN_OF_X;
            push(w, both);
        }
    }
    for (int t = 1; t < k->count; t++) {
        gra_source s = source_of(&k->tensor[t - 1]);
        s.less = k->tensor[t].data;
        s.of_less = k->tensor[t].name;
        if (gra_same_shape(k->tensor[t - 1].shape, k->tensor[t].shape))
            add(w, s);
    }
    for (int i = 0; i < w->derived_count; i++) {
        const gra_derived *d = &w->derived[i];
        add(w, (gra_source){ .kind = GRA_VALUE, .name = d->name, .data = d->data, .rows = d->rows,
                             .columns = d->columns, .derived = !d->as_tensor });
    }
}

static int functions_of(const gra_source *s)
{
    return s->kind != GRA_VALUE && s->kind != GRA_RIGHT ? 1 : s->derived ? GRA_REST + 1 : GRA_FUNCTIONS;
}

/* Some of the wrong entries, the example first. */
static void probe(gra_wrong *w)
{
    size_t count = 0, at = 0, next = 1;
    for (size_t e = 0; e < w->size; e++)
        count += !gra_fit(w, w->a[e], w->n[e]);
    for (int i = 0; i < GRA_PROBES; i++)
        w->probe[i] = w->example;
    for (size_t e = 0; e < w->size; e++)
        if (!gra_fit(w, w->a[e], w->n[e]) && at++ == next * count / GRA_PROBES && next < GRA_PROBES)
            w->probe[next++] = e;
    for (int i = 0; i < w->sources; i++)
        for (int f = 0; f < functions_of(&w->source[i]); f++)
            for (int p = 0; p < GRA_PROBES; p++) {
                gra_source s = w->source[i];
                s.f = f;
                w->probed[(i * GRA_FUNCTIONS + f) * GRA_PROBES + p] = gra_value(w, &s, w->probe[p]);
            }
}

bool gra_each_pair(gra_wrong *w, bool functions, gra_pair *likely, gra_pair *explains, int how)
{
    probe(w);
    for (int i = 0; i < 2 * w->sources * w->sources; i++) {
        const int at = i % (w->sources * w->sources);
        gra_source p = w->source[at / w->sources], q = w->source[at % w->sources];
        p.f = q.f = 0;
        if ((p.derived || q.derived) != (at != i) || !likely(w, &p, &q, how))
            continue;
        const int of_p = functions ? functions_of(&p) : 1, of_q = functions ? functions_of(&q) : 1;
        for (p.f = 0; p.f < of_p; p.f++)
            for (q.f = 0; q.f < of_q; q.f++)
                if (explains(w, &p, &q, how))
                    return true;
    }
    return false;
}
