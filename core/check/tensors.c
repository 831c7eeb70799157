/* tensors: explanations in which a tensor is a factor: missing, too many, the wrong one, or of the wrong place. */
#include "explaining.h"

typedef struct source {                 /* a value for each entry: an element of a tensor */
    const char *name;                   /* NULL: 1 everywhere */
    const real *data;
    size_t      rows, columns;
    int         row, column;            /* which of an entry's four indices (below) leads there; -1: none */
    bool        from_one;               /* 1 - the element, or e to the power of it */
    bool        power;
    bool        both;                   /* that of x times that of the output */
} source;

enum { MOST_SOURCES = 160 };

/* Row and column of the element of x, of the output: all dimensions but the last, and the last. */
static void four(const gra_wrong *w, size_t e, size_t index[4])
{
    const gra_checking *k = w->check;
    const size_t cx = w->x->shape.ndim ? (size_t)w->x->shape.dim[w->x->shape.ndim - 1] : 1;
    const size_t cy = k->shape.ndim && gra_whole(w) ? (size_t)k->shape.dim[k->shape.ndim - 1] : 1;
    index[0] = e % w->cols / cx;
    index[1] = e % w->cols % cx;
    index[2] = e / w->cols / cy;
    index[3] = e / w->cols % cy;
}

static size_t element_of(const gra_wrong *w, const source *s, size_t e)
{
    size_t index[4];
    four(w, e, index);
    return (s->row < 0 ? 0 : index[s->row] * s->columns) + (s->column < 0 ? 0 : index[s->column]);
}

static double value_of(const gra_wrong *w, const source *s, size_t e)
{
    if (!s->name)
        return 1;
    const double v = (double)s->data[element_of(w, s, e)];
    if (s->both)
        return v * (double)s->data[e / w->cols];
    return s->from_one ? 1 - v : s->power ? exp(v) : v;
}

static bool varies(const source *s)
{
    for (size_t i = 1; i < s->rows * s->columns; i++)
        if (s->data[i] != s->data[0])
            return true;
    return false;
}

static int sources_of(const gra_wrong *w, source *list)
{
    const gra_checking *k = w->check;
    int count = 0;
    size_t last[4], extent[4];
    four(w, w->size - 1, last);
    for (int i = 0; i < 4; i++)
        extent[i] = last[i] + 1;
    list[count++] = (source){ .name = NULL };
    for (int t = 0; t < 2 * k->count + 3; t++) {        /* tensors, the output; then 1 less each; then e^y */
        const bool power = t == 2 * k->count + 2, out = power || t % (k->count + 1) == k->count;
        const gra_checked *x = out ? NULL : &k->tensor[t % (k->count + 1)];
        source s = { .name = out ? "y" : x->name, .data = out ? k->y : x->data, .from_one = t > k->count && !power,
                     .power = power };
        const int ndim = out ? k->shape.ndim : x->shape.ndim;
        const size_t size = out ? k->size : x->size;
        s.columns = ndim ? (size_t)(out ? k->shape : x->shape).dim[ndim - 1] : 1;
        s.rows = size / (s.columns ? s.columns : 1);
        if (size > 4096 || !varies(&s))
            continue;
        for (s.row = s.rows == 1 ? -1 : 0; s.row < (s.rows == 1 ? 0 : 4); s.row++)
            for (s.column = s.columns == 1 ? -1 : 0; s.column < (s.columns == 1 ? 0 : 4); s.column++)
                if ((s.row < 0 || extent[s.row] == s.rows) && (s.column < 0 || extent[s.column] == s.columns) &&
                    s.row != s.column && count < MOST_SOURCES)
                    list[count++] = s;
        if (t <= k->count && size == w->rows && gra_same_shapes(w) && count < MOST_SOURCES) {
            s.row = s.rows == 1 ? -1 : 0;
            s.column = 1;
            s.both = true;
            list[count++] = s;
        }
    }
    return count;
}

static const char *before_name(const source *s)
{
    return s->from_one ? "1 - " : s->power ? "e^" : "";
}

static void put_source(gra_check_line *line, const gra_wrong *w, const source *s, size_t e)
{
    const size_t at = element_of(w, s, e);
    const char *const of = before_name(s);
    if (s->both)
        gra_check_put(line, "%s_i %s_j", s->name, s->name);
    else if (s->rows == 1)
        gra_check_put(line, "%s%s (%zu)", of, s->name, at);
    else
        gra_check_put(line, "%s%s (%zu, %zu)", of, s->name, at / s->columns, at % s->columns);
}

/* a = k n P / Q for all entries? k is that of the largest. */
static bool quotient(const gra_wrong *w, const source *p, const source *q, size_t largest, double *k)
{
    const double np = w->n[largest] * value_of(w, p, largest);
    *k = w->a[largest] * value_of(w, q, largest) / np;
    if (!(fabs(*k) > 1e-6) || !isfinite(*k))
        return false;
    for (size_t e = 0; e < w->size; e++) {
        if (gra_none(w, w->a[e]) && gra_none(w, w->n[e]))
            continue;
        const double of_p = *k * value_of(w, p, e), of_q = value_of(w, q, e);
        if (fabs(w->a[e] * of_q - w->n[e] * of_p) >
            1e-5 * fabs(w->a[e] * of_q) + 1e-7 * w->largest * (fabs(of_q) + fabs(of_p)))
            return false;
    }
    return true;
}

static void tell_quotient(gra_wrong *w, const source *p, const source *q, double k)
{
    gra_check_line has = { .at = 0 }, wants = { .at = 0 }, at = { .at = 0 }, rest = { .at = 0 };
    size_t e = 0;
    double most = 0;
    for (size_t i = 0; i < w->size; i++)                /* an example: a large entry with distinct indices */
        if (fabs(w->n[i]) > most * 1.01 && !(i % w->cols == i / w->cols && most > 0)) {
            most = fabs(w->n[i]);
            e = i;
        }
    if (p->name)
        put_source(&has, w, p, e);
    if (q->name)
        put_source(&wants, w, q, e);
    if (gra_whole(w)) {
        gra_check_put(&at, "in what ");
        gra_put_place(&at, w, true, e / w->cols);
        gra_check_put(&at, " gives to ");
    } else
        gra_check_put(&at, "in the gradient of ");
    gra_put_place(&at, w, false, e % w->cols);
    if (!gra_equal(k, 1)) {
        gra_check_put(&rest, "; and ");
        gra_put_factor(&rest, w, k);
    }
    if (!q->name)
        gra_fits(w, "a factor too many: %s%s, as %s %s%s", before_name(p), p->name, has.s, at.s, rest.s);
    else if (!p->name)
        gra_fits(w, "a factor is missing: %s%s, as %s %s%s", before_name(q), q->name,
                 wants.s, at.s, rest.s);
    else
        gra_fits(w, "the wrong factor: %s stands where %s is wanted, %s%s", has.s, wants.s, at.s, rest.s);
}

bool gra_tensor_factor(gra_wrong *w)
{
    source list[MOST_SOURCES];
    const int count = sources_of(w, list);
    size_t entries = 0, largest = 0;
    for (size_t e = 0; e < w->size; e++) {
        entries += !gra_none(w, w->n[e]);
        if (fabs(w->n[e]) > fabs(w->n[largest]))
            largest = e;
    }
    if (entries < 4)
        return false;
    for (int pass = 0; pass < 4; pass++)                /* one tensor before two, no constant before one */
        for (int p = 0; p < count; p++)
            for (int q = 0; q < count; q++) {
                double k = 0;
                if (p == q || (pass % 2 == 0) != (p == 0 || q == 0) || !quotient(w, &list[p], &list[q], largest, &k) ||
                    (pass < 2) != gra_equal(k, 1))
                    continue;
                tell_quotient(w, &list[p], &list[q], k);
                return true;
            }
    return false;
}

/* n - a is P Q, or -P Q, where the two differ, and P or both may be 1; a constant may stand before them in a gradient
 * of a loss: one term is missing, or too many. */
bool gra_one_term(gra_wrong *w)
{
    source list[MOST_SOURCES];
    const int count = sources_of(w, list);
    size_t off = 0, most = 0, kept = 0;
    for (size_t e = 0; e < w->size; e++) {
        off += !gra_fit(w, w->a[e], w->n[e]);
        kept += !gra_none(w, w->a[e]) && !gra_none(w, w->n[e]);
        if (fabs(w->a[e] - w->n[e]) > fabs(w->a[most] - w->n[most]))
            most = e;
    }
    for (int p = 0; off >= 4 && kept >= 4 && p < count; p++)
        for (int q = p; q < count; q++) {
            const source *const s = &list[p], *const r = &list[q];
            const double one = value_of(w, s, most) * value_of(w, r, most), by = (w->n[most] - w->a[most]) / one;
            bool fit = !s->from_one && !s->both && !s->power && !r->from_one && !r->both && !r->power && isfinite(by) &&
                       (gra_whole(w) ? gra_equal(fabs(by), 1) : r->name != NULL);
            for (size_t e = 0; fit && e < w->size; e++)
                fit = gra_fit(w, w->n[e], w->a[e]) ||
                      gra_fit(w, w->n[e] - w->a[e], by * value_of(w, s, e) * value_of(w, r, e));
            if (!fit)
                continue;
            gra_check_line term = { .at = 0 }, at = { .at = 0 };
            if (!r->name)
                gra_check_put(&term, "1");
            else if (!gra_whole(w))                     /* of which a is the gradient, for this dy */
                gra_check_put(&term, "%.6g ", w->check->size == 1 ? by / (double)w->check->c[0] : by);
            if (s->name) {
                put_source(&term, w, s, most);
                gra_check_put(&term, " ");
            }
            if (r->name)
                put_source(&term, w, r, most);
            if (gra_whole(w)) {
                gra_check_put(&at, "what ");
                gra_put_place(&at, w, true, most / w->cols);
                gra_check_put(&at, " gives to ");
            } else
                gra_check_put(&at, "the gradient of ");
            gra_put_place(&at, w, false, most % w->cols);
            if (by > 0 || !gra_whole(w))
                gra_fits(w, "a term is missing: %s lacks %s, and so elsewhere: of another place where %s is used?", at.s,
                         term.s, w->x->name);
            else
                gra_fits(w, "a term too many, or one that is counted twice: %s has %s too much, and so elsewhere", at.s,
                         term.s);
            return true;
        }
    return false;
}

/* The right size is one number where a is not right, and there a is a multiple of x, or of x less a tensor. */
bool gra_sign_wanted(gra_wrong *w)
{
    const gra_checking *k = w->check;
    double size = 0;
    size_t off = 0, right = 0;
    for (size_t e = 0; e < w->size; e++) {
        if (gra_fit(w, w->a[e], w->n[e])) {
            right += !gra_none(w, w->n[e]);
            continue;
        }
        if (off++ == 0)
            size = fabs(w->n[e]);
        if (gra_none(w, w->n[e]) || !gra_fit(w, fabs(w->n[e]), size))
            return false;
    }
    for (int t = -1; off >= 4 && t < k->count; t++) {
        const real *less = t < 0 ? NULL : k->tensor[t].data;
        double by = 0;
        bool fit = t < 0 || (k->tensor[t].size == w->x->size && &k->tensor[t] != w->x);
        for (size_t e = 0; fit && e < w->size; e++) {
            const size_t i = e % w->cols;
            const double d = (double)w->x->data[i] - (less ? (double)less[i] : 0);
            if (gra_fit(w, w->a[e], w->n[e]))
                continue;
            if (by == 0)
                by = w->a[e] / d;
            fit = by != 0 && isfinite(by) && gra_fit(w, w->a[e], by * d);
        }
        if (!fit)
            continue;
        gra_check_line d = { .at = 0 };
        gra_check_put(&d, t < 0 ? "%s" : "%s - %s", w->x->name, t < 0 ? "" : k->tensor[t].name);
        gra_fits(w, "%sthe size of the gradient should not depend on that of %s: its sign is wanted, not its value%s",
                 right ? "where it is wrong, " : "", d.s, right ? " (beyond a limit?)" : "");
        return true;
    }
    return false;
}

/* ---- functions of the right entry, and elements of a tensor ------------------------------------ */

bool gra_function_of_it(gra_wrong *w)
{
    static const char *const name[] = { "1 divided by", "the square of", "the square root of", "the logarithm of",
                                        "1 less", "p (1 - p), where p is", "e to the power of", "1" };
    bool is[8] = { true, true, true, true, true, true, true, true };
    size_t count = 0;
    double first = 0, number = 0;
    bool vary = false;
    for (size_t e = 0; e < w->size; e++) {
        const double n = w->n[e], a = w->a[e];
        if (gra_none(w, n)) {
            if (!gra_none(w, a))
                return false;
            continue;
        }
        if (count++ == 0) {
            first = n;
            number = a;
        }
        vary |= !gra_fit(w, fabs(n), fabs(first));
        const double of[] = { 1 / n, n * n, sqrt(fabs(n)), log(fabs(n)), 1 - n, n * (1 - n), exp(n), number };
        for (int i = 0; i < 8; i++)
            is[i] &= gra_fit(w, a, of[i]);
    }
    for (int i = 0; i < 8 && count >= 4 && vary; i++)
        if (is[i]) {
            if (i == 7 && gra_none(w, number))
                return false;
            if (i == 7)
                gra_fits(w, "dy is multiplied by %.6g everywhere: the local derivative, by which it is to be multiplied, "
                         "is forgotten", number);
            else
                gra_fits(w, "dy is multiplied by %s what it should be multiplied by", name[i]);
            return true;
        }
    return false;
}

/* Is each entry of m that is not zero an element of this tensor? */
static bool all_elements(const gra_wrong *w, const double *m, const real *data, size_t size)
{
    size_t count = 0;
    for (size_t e = 0; e < w->size; e++) {
        bool found = gra_none(w, m[e]);
        count += !found;
        for (size_t i = 0; !found && i < size; i++)
            found = fabs(m[e] - (double)data[i]) <= fmin(w->near, 1e-6 * w->largest);
        if (!found)
            return false;
    }
    return count >= 4;
}

static bool none_missing(const gra_wrong *w)
{
    for (size_t e = 0; e < w->size; e++)
        if (gra_none(w, w->a[e]) && !gra_none(w, w->n[e]))
            return false;
    return true;
}

/* dy is multiplied by elements of a tensor, but by the wrong ones, or of the wrong tensor. */
bool gra_values_of(gra_wrong *w)
{
    const gra_checking *k = w->check;
    const char *has = NULL, *wants = NULL;
    if (!gra_whole(w))
        return false;
    for (int t = 0; t <= k->count; t++) {
        const bool out = t == k->count;
        const real *data = out ? k->y : k->tensor[t].data;
        const size_t size = out ? k->size : k->tensor[t].size;
        if (size < 4 || size > 1024)
            continue;
        if (!has && all_elements(w, w->a, data, size) && none_missing(w))
            has = out ? "the output" : k->tensor[t].name;
        if (!wants && all_elements(w, w->n, data, size))
            wants = out ? "the output" : k->tensor[t].name;
    }
    if (!has)
        return false;
    size_t e = 0;
    while (gra_fit(w, w->a[e], w->n[e]))
        e++;
    gra_check_line s = { .at = 0 };
    gra_put_place(&s, w, true, e / w->cols);
    gra_check_put(&s, " is multiplied by %.6g for ", w->a[e]);
    gra_put_place(&s, w, false, e % w->cols);
    gra_check_put(&s, ", and %.6g is right", w->n[e]);
    if (wants == has)
        gra_fits(w, "dy is multiplied by elements of %s, but by the wrong ones: %s", has, s.s);
    else
        gra_fits(w, "dy is multiplied by elements of %s, where %s%s is wanted: %s", has,
                 wants ? "one of " : "something else", wants ? wants : "", s.s);
    return true;
}
