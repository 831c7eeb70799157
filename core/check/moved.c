/* moved: explanations in which the right values stand at the wrong places. */
#include "explaining.h"
#include <stdlib.h>

/* ---- a matrix and its transpose ----------------------------------------------------------------- */

/* The last two dimensions m x k were filled as if they were k x m; or the Jacobian is the other way round. */
bool gra_transposed(gra_wrong *w)
{
    const gra_checked *x = w->x;
    const int ndim = x->shape.ndim;
    const size_t m = ndim > 1 ? (size_t)x->shape.dim[ndim - 2] : 1;
    const size_t k = ndim > 1 ? (size_t)x->shape.dim[ndim - 1] : 1;
    bool layout = m > 1 && k > 1, jacobian = w->whole && w->rows == w->cols;
    for (size_t e = 0; e < w->size && (layout || jacobian); e++) {
        const size_t i = e % w->cols, j = e / w->cols;
        layout = layout && gra_fit(w, w->a[e - i % (m * k) + i % k * m + i % (m * k) / k], w->n[e]);
        jacobian = jacobian && gra_fit(w, w->a[i * w->cols + j], w->n[e]);
    }
    if (layout)
        gra_fits(w, "transposed: %s", m == k ? "element (i, j) holds the gradient of (j, i)"
                              : "the values are those of the other order of the last two dimensions");
    else if (jacobian)
        gra_fits(w, "the places i and j are exchanged in what dy_j gives to %s_i: a matrix is taken in place "
                 "of its transpose, or a factor of place i in place of that of j", x->name);
    return layout || jacobian;
}

/* ---- rows that are shifted ---------------------------------------------------------------------- */

/* Entry e, moved so that its index along dimension d (of length n) is q. */
static size_t moved_along(const gra_wrong *w, const gra_division *v, bool dy, size_t e, size_t q)
{
    const gra_shape *s = dy ? &w->check->shape : &w->x->shape;
    size_t step = dy ? w->cols : 1;
    for (int i = s->ndim - 1; i > v->d; i--)
        step *= (size_t)s->dim[i];
    return e + (q - gra_part(w, v, e)) * step;
}

/* Does index p of a hold what index p + shift of n should, as far as there is one: at least two of them? */
static bool shifted(const gra_wrong *w, const gra_division *v, bool dy, long shift)
{
    size_t entries = 0, parts = 0, last = v->parts;
    for (size_t e = 0; e < w->size; e++) {
        const size_t p = gra_part(w, v, e), q = p + (size_t)shift;
        if (q >= v->parts)
            continue;
        const double n = w->n[moved_along(w, v, dy, e, q)];
        if (!gra_fit(w, w->a[e], n))
            return false;
        entries += !gra_none(w, n);
        parts += !gra_none(w, n) && p != last;
        last = gra_none(w, n) ? last : p;
    }
    return entries > 1 && parts > 1;
}

bool gra_shifted(gra_wrong *w)
{
    for (gra_division v = { 0 }; gra_next_division(w, &v);)
        for (long shift = 1; gra_by_index(&v) && 2 * (size_t)shift <= v.parts && (size_t)shift + 1 < v.parts;
             shift++)
            for (int sign = 1; sign >= -1; sign -= 2) {
                const bool dy = gra_of_dy(&v);
                gra_check_line s = { .at = 0 };
                if (!shifted(w, &v, dy, sign * shift))
                    continue;
                gra_put_parts(&s, w, &v, " i");
                if (dy)
                    gra_fits(w, "shifted: in place of %s that of i %c %ld is taken", s.s,
                             sign < 0 ? '+' : '-', shift);
                else
                    gra_fits(w, "shifted: %s holds the gradient of i %c %ld", s.s, sign < 0 ? '-' : '+',
                             shift);
                return true;
            }
    return false;
}

/* ---- any other places --------------------------------------------------------------------------- */

static int ascending(const void *p, const void *q)
{
    const double a = *(const double *)p, b = *(const double *)q;
    return (a > b) - (a < b);
}

/* Does each row (or column) of a hold the values of that of n, in another order? */
static bool same_values(const gra_wrong *w, bool columns, double *a, double *n)
{
    const size_t lines = columns ? w->cols : w->rows, length = columns ? w->rows : w->cols;
    for (size_t l = 0; l < lines; l++) {
        for (size_t i = 0; i < length; i++) {
            const size_t e = columns ? i * w->cols + l : l * w->cols + i;
            a[i] = w->a[e];
            n[i] = w->n[e];
        }
        qsort(a, length, sizeof *a, ascending);
        qsort(n, length, sizeof *n, ascending);
        for (size_t i = 0; i < length; i++)
            if (!gra_fit(w, a[i], n[i]))
                return false;
    }
    return true;
}

/* The first wrong entry that should be what it is not, and where in its row (or column) that value stands. */
static bool tell_moved(gra_wrong *w, bool columns)
{
    gra_check_line is = { .at = 0 }, should = { .at = 0 }, whose = { .at = 0 };
    const size_t line = columns ? w->rows : w->cols, step = columns ? w->cols : 1;
    for (size_t e = 0; e < w->size; e++) {
        if (gra_none(w, w->n[e]) || gra_fit(w, w->a[e], w->n[e]))
            continue;
        const size_t start = columns ? e % w->cols : e / w->cols * w->cols;
        for (size_t i = 0; i < line; i++) {
            const size_t at = start + i * step;
            if (!gra_fit(w, w->a[at], w->n[e]) || gra_fit(w, w->a[at], w->n[at]))
                continue;
            gra_put_element(&is, w, columns, columns ? at / w->cols : at % w->cols);
            gra_put_element(&should, w, columns, columns ? e / w->cols : e % w->cols);
            gra_put_element(&whose, w, !columns, columns ? e % w->cols : e / w->cols);
            if (columns)
                gra_fits(w, "the right factors, times the wrong dy: %s takes %s where %s is wanted", whose.s,
                         is.s, should.s);
            else
                gra_fits(w, "right values at the wrong places: what %s gives to %s belongs to %s", whose.s,
                         is.s, should.s);
            return true;
        }
    }
    return false;
}

bool gra_moved(gra_wrong *w)
{
    double *a = calloc(2 * (w->rows + w->cols), sizeof *a);
    bool fit = false;
    for (int columns = 0; a && w->whole && w->rows > 1 && columns < 2 && !fit; columns++)
        fit = same_values(w, columns, a, a + w->rows + w->cols) && tell_moved(w, columns);
    free(a);
    return fit;
}
