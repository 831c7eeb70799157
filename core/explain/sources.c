/* sources: values that may be part of the formula of a gradient. Each has a value for each entry of the
 * Jacobian: an element of a tensor, which the row and column of x's element, or of the output's, lead to. */
#include "explaining.h"

/* Row and column of the element of x, of the output: all dimensions but the last, and the last; the output */
static void indices(const gra_wrong *w, size_t e, size_t index[GRA_INDICES])
{
    const size_t cx = gra_columns(&w->x->shape), cy = w->whole ? gra_columns(&w->check->shape) : 1;
    index[GRA_ROW_OF_X] = e % w->cols / cx;
    index[GRA_COLUMN_OF_X] = e % w->cols % cx;
    index[GRA_ROW_OF_DY] = e / w->cols / cy;
    index[GRA_COLUMN_OF_DY] = e / w->cols % cy;
    index[GRA_OUTPUT] = e / w->cols;
}

static size_t element_of(const gra_wrong *w, const gra_source *s, size_t e)
{
    size_t index[GRA_INDICES];
    indices(w, e, index);
    return (s->row < 0 ? 0 : index[s->row] * s->columns) + (s->column < 0 ? 0 : index[s->column]);
}

static double apply(int f, double v)
{
#define VALUE(name, pattern, value) case GRA_##name: return value;
    switch (f) { GRA_FUNCTION_TABLE(VALUE) default: return v; }
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

/* "w (1, 2)"; of an op of single elements and one input no place, since the formula is the same
 * everywhere. */
static void put_plain(gra_check_line *line, const gra_wrong *w, const gra_source *s, size_t e)
{
    const size_t at = element_of(w, s, e);
    gra_check_put(line, "%s", s->name);
    if (s->less)
        gra_check_put(line, " - %s at", s->of_less);
    if (gra_elementwise(w))
        return;
    gra_check_put(line, s->rows == 1 ? " (%zu)" : " (%zu, %zu)", s->rows == 1 ? at : at / s->columns,
                  at % s->columns);
}

/* Its function; of a long name as "1 - v, v = the softmax of x (0, 1)". */
void gra_put_source(gra_check_line *line, const gra_wrong *w, const gra_source *s, size_t e)
{
#define PATTERN(name, pattern, value) pattern,
    static const char *const patterns[] = { GRA_FUNCTION_TABLE(PATTERN) };
    const char *const pattern = patterns[s->f];
    gra_check_line name = { .at = 0 };
    if (s->kind == GRA_BOTH)
        gra_check_put(&name, "%s_i %s_j", s->name, s->name);
    else if (s->kind == GRA_VALUE)
        put_plain(&name, w, s, e);
    else
        gra_check_put(&name, s->kind == GRA_ONE ? "1" : w->single ? "y'" : "what is right");
    const bool twice = strchr(name.s, ' ') && strchr(strchr(pattern, '@') + 1, '@');
    const bool letter = s->f != GRA_PLAIN && (s->less || s->made || twice);
    for (const char *c = pattern; *c; c++)
        gra_check_put(line, *c == '@' ? "%s" : "%.1s", *c != '@' ? c : letter ? "v" : name.s);
    if (letter)
        gra_check_put(line, ", v = %s", name.s);
}

void gra_put_in(gra_check_line *s, const gra_wrong *w, size_t e)
{
    gra_check_put(s, gra_elementwise(w) ? "" : ", in ");
    if (!gra_elementwise(w))
        gra_put_entry(s, w, e);
}

bool gra_same_source(const gra_source *p, const gra_source *q)
{
    return p->data == q->data && p->less == q->less && p->row == q->row && p->column == q->column;
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

/* s by each of the four indices that runs as far as its rows, and as its columns; or (-1) only its row 0. */
static void add(gra_wrong *w, gra_source s)
{
    size_t extent[GRA_INDICES];
    const int most = w->single ? 2 : 4;                 /* those of dy are those of x then */
    indices(w, w->size - 1, extent);
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
    const size_t columns = gra_columns(&x->shape);
    return (gra_source){ .kind = GRA_VALUE, .name = x->name, .data = x->data, .columns = columns,
                         .rows = x->size / (columns ? columns : 1) };
}

/* 1, the numeric entry, the tensors and the output y, the products of one at two places, the difference of
 * two, and what is derived of them. */
void gra_sources(gra_wrong *w)
{
    const gra_checking *k = w->check;
    push(w, (gra_source){ .kind = GRA_ONE });
    push(w, (gra_source){ .kind = GRA_RIGHT });
    for (int t = 0; t <= k->count; t++) {
        gra_source s = source_of(&k->tensor[t]);
        add(w, s);
        s.kind = GRA_BOTH;
        s.row = s.rows == 1 ? -1 : GRA_ROW_OF_X;
        s.column = GRA_COLUMN_OF_X;
        if (w->whole && !w->single && s.rows * s.columns == w->rows && varies(&s) &&
            gra_same_shape(w->x->shape, k->shape))
            push(w, s);
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
        const gra_source s = { .kind = GRA_VALUE, .name = d->name, .data = d->data, .rows = d->rows,
                               .columns = d->columns, .row = GRA_OUTPUT, .column = GRA_COLUMN_OF_X,
                               .made = true, .derived = !d->as_tensor };
        (d->jacobian ? push : add)(w, s);
    }
}

/* ---- which of them explain ------------------------------------------------------------------------- */

static int functions_of(const gra_wrong *w, const gra_source *s)
{
    if (s->kind != GRA_VALUE && s->kind != GRA_RIGHT)
        return 1;
    return s->derived ? GRA_OF_SUMS : gra_elementwise(w) && !s->made ? GRA_FUNCTIONS : GRA_COMMON;
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
        for (int f = 0; f < functions_of(w, &w->source[i]); f++)
            for (int p = 0; p < GRA_PROBES; p++) {
                gra_source s = w->source[i];
                s.f = f;
                w->probed[(i * GRA_FUNCTIONS + f) * GRA_PROBES + p] = gra_value(w, &s, w->probe[p]);
            }
}

/* Do p = u and q = v explain entry e? False, too, where there is a NaN. */
static bool agrees(const gra_wrong *w, const gra_pair *r, size_t e, double u, double v)
{
    if (r->form != GRA_QUOTIENT)
        return gra_fit(w, w->n[e] - w->a[e], r->k * (r->form == GRA_PRODUCT ? u * v : u - v));
    const double a = w->a[e] * v, n = r->k * w->n[e] * u;
    return fabs(a - n) <= 1e-5 * fabs(a) + 1e-7 * w->largest * (fabs(v) + fabs(r->k * u));
}

static bool explains(const gra_wrong *w, gra_pair *r)
{
    const double *const u = r->p.at + r->p.f * GRA_PROBES, *const v = r->q.at + r->q.f * GRA_PROBES;
    const size_t e = w->probe[0];
    const bool quotient = r->form == GRA_QUOTIENT;
    r->k = quotient ? w->a[e] * v[0] / (w->n[e] * u[0])
                    : (w->n[e] - w->a[e]) / (r->form == GRA_PRODUCT ? u[0] * v[0] : u[0] - v[0]);
    if (!r->any_constant && gra_equal(fabs(r->k), 1))
        r->k = !quotient && r->k < 0 ? -1 : 1;
    else if (!r->any_constant || !isfinite(r->k) || r->k == 0)
        return false;
    for (int i = 0; i < GRA_PROBES; i++)
        if (!agrees(w, r, w->probe[i], u[i], v[i]))
            return false;
    for (size_t i = 0; i < w->size; i++)
        if (!(quotient ? gra_zero(w, i) : gra_fit(w, w->a[i], w->n[i])) &&
            !agrees(w, r, i, gra_value(w, &r->p, i), gra_value(w, &r->q, i)))
            return false;
    return true;
}

/* Is a quotient of these functions a formula of its own, or have plainer functions the same? */
static bool of_its_own(const gra_pair *r)
{
    const int f = r->p.f, g = r->q.f;
    if (r->form != GRA_QUOTIENT || !r->functions)
        return true;
    if (f == GRA_INVERSE || g == GRA_INVERSE)
        return false;
    return r->p.kind == GRA_ONE || r->q.kind == GRA_ONE || (f == GRA_PLAIN) != (g == GRA_PLAIN) ||
           (f >= GRA_SIGMOID && g >= GRA_SIGMOID);
}

/* How unlikely it is: a tensor, made of tensors, a sum. */
static int rank(const gra_source *s)
{
    return s->made + s->derived;
}

bool gra_find_pair(gra_wrong *w, gra_pair *r)
{
    const int count = w->sources * w->sources;
    probe(w);
    for (int i = 0; i < 3 * count; i++) {
        gra_source *const p = &r->p, *const q = &r->q;
        *p = w->source[i % count / w->sources];
        *q = w->source[i % count % w->sources];
        if ((rank(p) > rank(q) ? rank(p) : rank(q)) != i / count || !r->likely(w, p, q, r->how))
            continue;
        const int of_p = r->functions ? functions_of(w, p) : 1, of_q = r->functions ? functions_of(w, q) : 1;
        for (p->f = 0; p->f < of_p; p->f++)
            for (q->f = 0; q->f < of_q; q->f++)
                if (of_its_own(r) && explains(w, r))
                    return true;
    }
    return false;
}

static bool is_multiple(const gra_wrong *w, const double *values, const gra_source *s, double k)
{
    for (size_t e = 0; e < w->size; e++) {
        const double of = k * gra_value(w, s, e);
        if (!gra_zero(w, e) && !(fabs(values[e] - of) <= 1e-5 * fabs(of)))
            return false;
    }
    return isfinite(k) && k != 0;
}

bool gra_find_formula(gra_wrong *w, const double *values, bool made, gra_source *s, double *k)
{
    size_t most = 0;
    for (size_t e = 0; e < w->size; e++)
        most = fabs(values[e]) > fabs(values[most]) ? e : most;
    for (int i = 0; i < (made ? 3 : 1) * w->sources; i++) {     /* first 1, then the tensors, y before x */
        const int at = i % w->sources;
        *s = w->source[at ? w->sources - at : 0];
        if (rank(s) != i / w->sources)
            continue;
        for (; s->f < functions_of(w, s); s->f++) {
            *k = values[most] / gra_value(w, s, most);
            const bool own = s->kind != GRA_RIGHT || s->f == GRA_INVERSE || s->f == GRA_LOG;
            if (own && is_multiple(w, values, s, *k))
                return true;
        }
    }
    return false;
}
