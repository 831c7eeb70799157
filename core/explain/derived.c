/* derived: values that formulas are made of and that no tensor need hold: sums, lengths and standard
 * deviations of rows and columns, softmax, products of two tensors, and how many elements an output is made
 * of. */
#include "explaining.h"
#include <stdarg.h>
#include <stdlib.h>

enum { MOST_VALUES = 4096 };            /* of one product */

/* Room for one more, of this name; NULL: there is none. */
static real *another(gra_wrong *w, size_t rows, size_t columns, const char *format, ...) GRA_PRINTF(4, 5);
static real *another(gra_wrong *w, size_t rows, size_t columns, const char *format, ...)
{
    gra_derived *d = &w->derived[w->derived_count];
    real *data = w->derived_count < GRA_MOST_DERIVED ? calloc(rows * columns, sizeof(real)) : NULL;
    va_list args;
    if (!data)
        return NULL;
    *d = (gra_derived){ .data = data, .rows = rows, .columns = columns };
    va_start(args, format);
    vsnprintf(d->name, sizeof d->name, format, args);
    va_end(args);
    w->derived_count++;
    return data;
}

/* ---- of the rows of a tensor, and of its columns ----------------------------------------------- */

typedef struct lines {                  /* `count` lines of n elements */
    const real *x;
    size_t      count, n, next, step;   /* from one line to the next, from one element to the next */
} lines;

enum { SUM, LENGTH, DEVIATION, LOG_SUM_EXP, STATISTICS };
enum { CENTRED, SOFTMAX, BEFORE };

static void statistic(const lines *l, int which, real *out)
{
    for (size_t g = 0; g < l->count; g++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < l->n; i++)
            sum += which == LOG_SUM_EXP ? exp((double)l->x[g * l->next + i * l->step])
                                        : (double)l->x[g * l->next + i * l->step];
        const double less = which == DEVIATION ? sum / (double)l->n : 0;
        for (size_t i = 0; i < l->n; i++)
            squares += pow((double)l->x[g * l->next + i * l->step] - less, 2);
        const double v[STATISTICS] = { sum, sqrt(squares), sqrt(squares / (double)l->n), log(sum) };
        out[g] = (real)v[which];
    }
}

static void each_element(const lines *l, int which, real *out)
{
    for (size_t g = 0; g < l->count; g++) {
        double sum = 0, most = -(double)INFINITY;
        for (size_t i = 0; i < l->n; i++)
            most = fmax(most, (double)l->x[g * l->next + i * l->step]);
        for (size_t i = 0; i < l->n; i++) {
            const double v = (double)l->x[g * l->next + i * l->step];
            sum += which == SOFTMAX ? exp(v - most) : v / (double)l->n;
        }
        for (size_t i = 0; i < l->n; i++) {
            const size_t at = g * l->next + i * l->step;
            const double v[] = { (double)l->x[at] - sum, exp((double)l->x[at] - most) / sum,
                                 i ? (double)l->x[at - l->step] : 0 };
            out[at] = (real)v[which];
        }
    }
}

static void of_lines(gra_wrong *w, const gra_checked *x, bool columns)
{
    static const char *const name[] = { "the sum", "the length", "the standard deviation",
                                        "the log of the sum of e to the power" };
    const int last = x->shape.ndim - 1;
    const size_t n = (size_t)x->shape.dim[last], rows = x->size / n;
    const lines l = { x->data, columns ? n : rows, columns ? rows : n, columns ? 1 : n, columns ? n : 1 };
    char along[40] = "its rows";
    if (l.n < 2 || (columns && n < 2))
        return;
    if (last < 2 || !columns)
        snprintf(along, sizeof along, "dimension %d", columns ? 0 : last);
    const char *const softmax = columns ? "the softmax of %.80s over %s" : "the softmax of %.80s";
    real *out = x == w->x ? another(w, rows, n, softmax, x->name, along) : NULL;
    if (out) {
        each_element(&l, SOFTMAX, out);
        w->derived[w->derived_count - 1].as_tensor = true;
    }
    for (int s = 0; s < STATISTICS; s++)
        if ((out = another(w, columns ? 1 : rows, columns ? n : 1, "%s of %.80s over %s", name[s], x->name,
                           along)))
            statistic(&l, s, out);
    if ((out = another(w, rows, n, "%.80s less its mean over %s", x->name, along)))
        each_element(&l, CENTRED, out);
    if ((out = another(w, rows, n, "what is one place before that of %.80s along %s:", x->name, along)))
        each_element(&l, BEFORE, out);
}

/* ---- of two tensors ---------------------------------------------------------------------------- */

static void product(gra_wrong *w, const gra_checked *p, const gra_checked *q, bool transposed)
{
    const size_t n = (size_t)p->shape.dim[p->shape.ndim - 1], rows = p->size / n;
    const size_t last = (size_t)q->shape.dim[q->shape.ndim - 1], first = q->size / last;
    const size_t columns = transposed ? first : last;
    if ((transposed ? last : first) != n || n < 2 || rows * columns > MOST_VALUES)
        return;
    real *out = another(w, rows, columns, "%.80s %.80s%s", p->name, q->name, transposed ? "^T" : "");
    if (out)
        w->derived[w->derived_count - 1].as_tensor = true;
    for (size_t at = 0; out && at < rows * columns * n; at++) {
        const size_t r = at / n / columns, c = at / n % columns, i = at % n;
        out[r * columns + c] += p->data[r * n + i] * q->data[transposed ? c * n + i : i * columns + c];
    }
}

/* ---- of the Jacobian --------------------------------------------------------------------------- */

/* Of how many elements of x is each output made, and of how many outputs is each element a part? */
static void counts(gra_wrong *w)
{
    const gra_shape *shape = &w->check->shape, *of_x = &w->x->shape;
    const size_t c = shape->ndim ? (size_t)shape->dim[shape->ndim - 1] : 1;
    const size_t cx = of_x->ndim ? (size_t)of_x->dim[of_x->ndim - 1] : 1;
    real *elements = another(w, w->rows / c, c, "the number of elements of %.80s that go into y", w->x->name);
    real *outputs = another(w, w->cols / cx, cx, "the number of outputs that use %.80s", w->x->name);
    for (size_t e = 0; elements && outputs && e < w->size; e++) {
        elements[e / w->cols] += !gra_none(w, w->n[e]);
        outputs[e % w->cols] += !gra_none(w, w->n[e]);
    }
}

static bool has_rows(const gra_checked *x)
{
    return x->shape.ndim > 0 && x->size > 0;
}

static void quotient(gra_wrong *w)
{
    const size_t n = (size_t)w->x->shape.dim[w->x->shape.ndim - 1];
    real *out = another(w, w->cols / n, n, "y/%.80s", w->x->name);
    if (out)
        w->derived[w->derived_count - 1].as_tensor = w->check->count == 1;
    for (size_t i = 0; out && i < w->cols; i++)
        out[i] = w->check->y[i] / w->x->data[i];
}

void gra_derive(gra_wrong *w)
{
    const gra_checking *k = w->check;
    if (w->whole)
        counts(w);
    if (w->single && has_rows(w->x) && gra_same_shape(w->x->shape, k->shape))
        quotient(w);
    for (int t = 0; t <= k->count; t++)
        for (int columns = 0; columns < 2 && has_rows(&k->tensor[t]); columns++)
            of_lines(w, &k->tensor[t], columns);
    for (int i = 0; i < k->count * k->count; i++) {
        const gra_checked *p = &k->tensor[i / k->count], *q = &k->tensor[i % k->count];
        if (!has_rows(p) || !has_rows(q))
            continue;
        for (int transposed = 0; transposed < 1 + (p < q) && q->shape.ndim < 3 && p != q; transposed++)
            product(w, p, q, transposed);
    }
}

void gra_derive_end(gra_wrong *w)
{
    while (w->derived_count)
        free(w->derived[--w->derived_count].data);
}
