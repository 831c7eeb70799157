/* derived: values that formulas are made of and that no tensor need hold: sums, lengths and standard
 * deviations of rows and columns, softmax, products of two tensors, and how many elements an output is made
 * of. */
#include "explaining.h"
#include <stdlib.h>

enum { MOST_VALUES = 4096 };            /* of one product */

/* Room for one more, whose name is these four together; NULL: there is none. */
static real *another(gra_wrong *w, size_t rows, size_t columns, const char *before, const char *name,
                     const char *between, const char *more)
{
    gra_derived *d = &w->derived[w->derived_count];
    real *data = w->derived_count < GRA_MOST_DERIVED ? calloc(rows * columns, sizeof(real)) : NULL;
    if (!data)
        return NULL;
    *d = (gra_derived){ .data = data, .rows = rows, .columns = columns };
    snprintf(d->name, sizeof d->name, "%s%.60s%s%.60s", before, name, between, more);
    w->derived_count++;
    return data;
}

/* The latest is as likely in a formula as a tensor. */
static void as_tensor(gra_wrong *w, bool likely)
{
    w->derived[w->derived_count - 1].as_tensor = likely;
}

/* ---- of the rows of a tensor, and of its columns ----------------------------------------------- */

typedef struct lines {                  /* `count` lines of n elements */
    const real *x;
    size_t      count, n, next, step;   /* from one line to the next, from one element to the next */
} lines;

enum { SUM, LENGTH, DEVIATION, LOG_SUM_EXP, STATISTICS, CENTRED = STATISTICS, SOFTMAX, BEFORE };

static void of_line(const lines *l, size_t g, int which, real *out)
{
    const real *const x = l->x + g * l->next;
    const double n = (double)l->n;
    double sum = 0, exps = 0, squares = 0, centred = 0;
    for (size_t i = 0; i < l->n; i++) {
        sum += (double)x[i * l->step];
        exps += exp((double)x[i * l->step]);
        squares += pow((double)x[i * l->step], 2);
    }
    for (size_t i = 0; i < l->n; i++)
        centred += pow((double)x[i * l->step] - sum / n, 2);
    const double statistic[STATISTICS] = { sum, sqrt(squares), sqrt(centred / n), log(exps) };
    if (which < STATISTICS)
        out[g] = (real)statistic[which];
    for (size_t i = 0; which >= STATISTICS && i < l->n; i++) {
        const double v = (double)x[i * l->step], before = i ? (double)x[(i - 1) * l->step] : 0;
        const double value = which == CENTRED ? v - sum / n : which == SOFTMAX ? exp(v) / exps : before;
        out[g * l->next + i * l->step] = (real)value;
    }
}

static void of_lines(gra_wrong *w, const gra_checked *x, bool columns)
{
    static const struct {
        int         which;
        const char *before, *after;     /* the name of x */
    } made[] = {
        { SOFTMAX, "the softmax of ", " over " }, { SUM, "the sum of ", " over " },
        { LENGTH, "the length of ", " over " },
        { DEVIATION, "the standard deviation of ", " over " },
        { LOG_SUM_EXP, "the log of the sum of e to the power of ", " over " },
        { CENTRED, "", " less its mean over " }, { BEFORE, "what is one place before that of ", " along " },
    };
    const int last = x->shape.ndim - 1;
    const size_t n = gra_columns(&x->shape), rows = x->size / n;
    const lines l = { x->data, columns ? n : rows, columns ? rows : n, columns ? 1 : n, columns ? n : 1 };
    char along[40] = "its rows";
    if (l.n < 2 || (columns && n < 2))
        return;
    if (last < 2 || !columns)
        snprintf(along, sizeof along, "dimension %d", columns ? 0 : last);
    for (size_t i = x == w->x ? 0 : 1; i < sizeof made / sizeof *made; i++) {
        const bool all = made[i].which >= STATISTICS, usual = made[i].which == SOFTMAX && !columns;
        real *const out = another(w, all || !columns ? rows : 1, all || columns ? n : 1, made[i].before,
                                  x->name, usual ? "" : made[i].after, usual ? "" : along);
        for (size_t g = 0; out && g < l.count; g++)
            of_line(&l, g, made[i].which, out);
        if (out)
            as_tensor(w, made[i].which == SOFTMAX);
    }
}

/* ---- of two tensors ---------------------------------------------------------------------------- */

static void product(gra_wrong *w, const gra_checked *p, const gra_checked *q, bool transposed)
{
    const size_t n = gra_columns(&p->shape), rows = p->size / n;
    const size_t last = gra_columns(&q->shape), first = q->size / last;
    const size_t columns = transposed ? first : last;
    if ((transposed ? last : first) != n || n < 2 || rows * columns > MOST_VALUES)
        return;
    real *out = another(w, rows, columns, p->name, " ", q->name, transposed ? "^T" : "");
    if (out)
        as_tensor(w, true);
    for (size_t at = 0; out && at < rows * columns * n; at++) {
        const size_t r = at / n / columns, c = at / n % columns, i = at % n;
        out[r * columns + c] += p->data[r * n + i] * q->data[transposed ? c * n + i : i * columns + c];
    }
}

/* ---- of the Jacobian --------------------------------------------------------------------------- */

/* Of how many elements of x is each output made, and of how many outputs is each element a part? */
static void counts(gra_wrong *w)
{
    const size_t c = gra_columns(&w->check->shape), cx = gra_columns(&w->x->shape);
    real *elements = another(w, w->rows / c, c, "the number of elements of ", w->x->name,
                             " that go into y", "");
    real *outputs = another(w, w->cols / cx, cx, "the number of outputs that use ", w->x->name, "", "");
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
    const size_t n = gra_columns(&w->x->shape);
    real *out = another(w, w->cols / n, n, "y/", w->x->name, "", "");
    if (out)
        as_tensor(w, true);
    for (size_t i = 0; out && i < w->cols; i++)
        out[i] = w->check->y[i] / w->x->data[i];
}

/* What dy gives to another tensor, whose gradient is right and which runs along the columns of x: the tanh of
 * v tanh(x). */
static void jacobian(gra_wrong *w, gra_checked *x)
{
    gra_checking *const k = w->check;
    if (x == w->x || x->error > k->tolerance || x->size != gra_columns(&w->x->shape) || w->single ||
        w->rows * x->size > MOST_VALUES)
        return;
    real *const out = another(w, w->rows, x->size, "what dy_j gives to ", x->name, "_i for (j, i) =", "");
    for (size_t i = 0; out && i < x->size; i++) {
        gra_check_parts(k, x, i);
        for (size_t j = 0; j < w->rows; j++)
            out[j * x->size + i] = k->parts[j] / k->c[j];
    }
    if (out)
        as_tensor(w, w->derived[w->derived_count - 1].jacobian = true);
}

void gra_derive(gra_wrong *w)
{
    const gra_checking *k = w->check;
    for (int t = 0; t < k->count && w->whole; t++)
        jacobian(w, &k->tensor[t]);
    if (w->whole)
        counts(w);
    if (gra_elementwise(w) && has_rows(w->x) && gra_same_shape(w->x->shape, k->shape))
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
